"""Work on ranges of documents or terms, in threads: compiled kernels let each other run.

What a range is given depends on the range alone, so the number of threads changes no bit.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from franchise.model.state import Array

T = TypeVar("T")
Range = tuple[int, int]


class Threads:
    """Makes calls for ranges, each thread with working memory of its own.

    Parameters
    ----------
    number
        How many threads.
    """

    def __init__(self, number: int = 1) -> None:
        self.number = number

    def each(self, work: Callable[[Range, T], Any], ranges: Sequence[Range], memory: Sequence[T]) -> None:
        """Call ``work(range, own memory)`` for all ranges; there is memory for every thread."""
        n = min(self.number, len(ranges))
        if n <= 1:
            for one in ranges:
                work(one, memory[0])
            return
        waiting = iter(ranges)  # whoever is done takes the next: next() of a list's iterator is atomic

        def take(own: T) -> None:
            for one in waiting:
                work(one, own)

        with ThreadPoolExecutor(n) as pool:
            for done in [pool.submit(take, memory[i]) for i in range(n)]:
                done.result()


def equal_ranges(n: int, size: int) -> list[Range]:
    """Cut 0, ..., n - 1 into ranges of `size`."""
    return [(begin, min(begin + size, n)) for begin in range(0, n, size)]


def balanced_ranges(ends: Array, size: int) -> list[Range]:
    """Cut items into ranges with about `size` of what `ends` counts: ends[i] of it before item i."""
    n, total = ends.size - 1, int(ends[-1])
    cuts = np.unique(np.searchsorted(ends, np.arange(0, total, size)))
    cuts = np.unique(np.concatenate([[0], cuts, [n]]))
    return list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))
