"""Threads for work on ranges of documents or terms: compiled kernels run at the same time.

The result for a range depends only on the range, so results do not depend on the number of threads.
"""

import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import pairwise
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from franchise._arrays import Array

T = TypeVar("T")
Range = tuple[int, int]


class Threads:
    """Calls functions for ranges; each thread has its own working memory.

    Parameters
    ----------
    number
        Number of threads.
    """

    def __init__(self, number: int = 1) -> None:
        self.number = number
        # Kept, because starting threads can take as long as the work. A forked child has none of them.
        self._pool: ThreadPoolExecutor | None = None
        self._process = os.getpid()

    def __reduce__(self) -> tuple[type["Threads"], tuple[int]]:
        return Threads, (self.number,)  # a copy starts its own threads

    def each(
        self,
        work: Callable[[Range, T], Any],
        ranges: Sequence[Range],
        memory: Sequence[T],
        done: Callable[[Range], Any] = lambda one: None,
    ) -> None:
        """Call ``work(range, own memory)`` for all ranges; `own` has memory for every thread.

        Afterwards `done` is called with the range, by one thread at a time.
        """
        waiting, lock = deque(ranges), Lock()

        def take(own: T) -> None:
            while True:
                try:
                    one = waiting.popleft()  # safe in threads, with and without the interpreter's lock
                except IndexError:
                    return
                work(one, own)
                with lock:
                    done(one)

        n = min(self.number, len(ranges))
        if n <= 1:
            take(memory[0])
            return
        if self._pool is None or self._process != os.getpid():
            self._pool = ThreadPoolExecutor(self.number, "franchise-documents")
            self._process = os.getpid()
        threads = [self._pool.submit(take, memory[i]) for i in range(n)]
        wait(threads)
        for thread in threads:
            thread.result()  # raises the thread's exception


def falling_ranges(ends: Array, threads: int, block: int = 1, each: int = 12) -> list[Range]:
    """Cut items into ranges for threads: large ones first, small ones for threads that finish early.

    Parameters
    ----------
    ends
        The cumulated work of the items: ends[i] before item i.
    threads
        Number of threads.
    block
        Ranges begin at multiples of this number.
    each
        The most ranges per thread, about; 1 for work that takes no longer than a call.
    """
    n, total = ends.size - 1, int(ends[-1])
    smallest = total / (threads * each)
    cuts, done = [0], 0.0
    while done < total:
        done += max((total - done) / (2 * threads), smallest)
        cuts.append(int(np.searchsorted(ends, min(done, total))))
    inside = np.unique(np.array(cuts[1:-1], np.int64) // block * block)
    marks = [0, *inside[(inside > 0) & (inside < n)].tolist(), n]
    return [*pairwise(marks)] if n else []
