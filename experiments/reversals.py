"""Moves that undo each other: a topic split whose halves are merged again."""

from typing import NamedTuple

from experiments.measure import TRIALS
from experiments.runs import Array

_IS_SPLIT, _ACCEPTED, _TOPIC, _OTHER = (
    TRIALS.index(name) for name in ("is_split", "accepted", "topic", "other")
)


class Trials(NamedTuple):
    """How many trials there were of each kind, and what became of them."""

    splits_tried: int
    splits: int
    merges_tried: int
    merges: int
    undone: int  # splits whose two topics were merged with each other later
    split_again: int  # merges whose topic was split later, into whatever


def count(trials: Array) -> Trials:
    """Count the trials of one chain (rows of `TRIALS`).

    Topics keep their names for life, so a merge undoes a split if it unites the topic that was split and the
    one that came of it, whatever else has happened in between. Whether a later split restores two topics
    that had been merged cannot be told by names; `split_again` counts more than that.
    """
    is_split, accepted = trials[:, _IS_SPLIT] == 1, trials[:, _ACCEPTED] == 1
    apart: set[frozenset[int]] = set()
    united: set[int] = set()
    undone = split_again = 0
    for row in trials[accepted]:
        topic, other = int(row[_TOPIC]), int(row[_OTHER])
        pair = frozenset((topic, other))
        if row[_IS_SPLIT]:
            split_again += topic in united
            united.discard(topic)
            apart.add(pair)
        else:
            undone += pair in apart
            apart.discard(pair)
            united.discard(other)
            united.add(topic)
    return Trials(
        splits_tried=int(is_split.sum()),
        splits=int((is_split & accepted).sum()),
        merges_tried=int((~is_split).sum()),
        merges=int((~is_split & accepted).sum()),
        undone=undone,
        split_again=split_again,
    )
