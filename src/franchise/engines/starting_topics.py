"""Topics that the words of a corpus are first seated by, as every engine takes them."""

from typing import NamedTuple

from franchise.model.state import Array

STEPS_PER_DOCUMENT = 5


class StartingTopics(NamedTuple):
    """Topics of a plain mixture: word i of document j is term v with a probability proportional to

    common_v + sum_k theta_jk phi_vk.

    An engine fits theta_j to the words of each document, and draws their topics (`moves.fit_topics`).
    """  # noqa: D400

    phi: Array  # (row, topic): terms that no topic has share one row, so that rare terms need no room
    row: Array  # of each term in phi
    common: Array  # of each term: its words that belong to no topic in particular get a topic of their own
    steps: int = STEPS_PER_DOCUMENT


def number_of_topics(start: int | StartingTopics) -> int:
    """Return how many topics words may begin with; common words have one of their own, the last."""
    return start if isinstance(start, int) else start.phi.shape[1] + 1


def words_begin_with(start: str | int | StartingTopics) -> int | StartingTopics:
    """Return the topics, or their number, of a start at which words are not seated one after another."""
    if isinstance(start, StartingTopics):
        return start
    return 1 if start == "one" else int(start)
