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
