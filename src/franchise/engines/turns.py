"""Which documents take their turn in a sweep: a few at a time, other ones in every sweep."""

import math

import numpy as np

from franchise.model.state import Array

_GOLDEN_RATIO = (np.sqrt(5.0) - 1.0) / 2.0


def turns(n_documents: int, n_turns: int, first: int = 0) -> list[Array]:
    """Return the documents of the sweeps that take turns: spread over the corpus, each in one of them.

    By its number alone, so a range of the documents may be asked for, which begins at `first`.
    """
    places = np.arange(first, first + n_documents) * _GOLDEN_RATIO % 1.0
    turn = np.minimum((places * n_turns).astype(np.int64), n_turns - 1)
    ends = np.cumsum(np.bincount(turn, minlength=n_turns))
    return np.split(np.argsort(turn, kind="stable"), ends[:-1])


def number_of_turns(cost: int, at_once: float) -> int:
    """Return in how many sweeps all documents are visited, about `at_once` of their cost in one."""
    return max(1, math.ceil(cost / at_once))
