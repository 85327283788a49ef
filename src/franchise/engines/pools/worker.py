"""One process of a cluster: it holds some documents, with their seating in every chain."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from franchise._arrays import Array
from franchise._draws import DrawPart
from franchise.engines.partitions.partition import Partition, Passed
from franchise.engines.pools.local import LocalPool
from franchise.engines.pools.ranges import Assigned, Job, assigned

# Methods that begin the seating of a chain. For all others, a worker without a seating is new, and must
# receive it first.
_STARTS = (Partition.start.__name__,)


class WorkersLostError(Exception):
    """A worker no longer answers, or is new and knows nothing about the chain."""


class Worker:
    """Holds documents, and runs requested steps in any chain.

    Parameters
    ----------
    threads
        Number of threads.
    kind
        The kind of its partitions (`kinds.Kind.partition`).
    """

    def __init__(self, threads: int, kind: str) -> None:
        self._threads, self._kind = threads, kind
        self._documents: list[Assigned] = []
        self._is_whole = False
        self._chains: dict[int, LocalPool] = {}

    def load(self, job: Job, is_whole: bool) -> None:
        """Receive documents; `is_whole` means that no other worker has any."""
        self._documents, self._is_whole = assigned(job), is_whole
        for own in self._documents:
            own.documents  # noqa: B018 (reads them, so that the worker fails now if it cannot)
        self._chains.clear()

    def all(self, chain: int, method: str, *arguments: Any) -> list[Any]:
        """Call a method of all partitions of a chain with the same arguments."""
        pool = self._begin(chain) if method in _STARTS else self._pool(chain)
        return pool.all(getattr(Partition, method), *arguments)

    def each(self, chain: int, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call a method of every partition of a chain, each with its own arguments."""
        return self._pool(chain).each(getattr(Partition, method), arguments)

    def first(self, chain: int, method: str, *arguments: Any) -> Any:
        """Call a method of the first partition of a chain."""
        return getattr(self._pool(chain).partitions[0], method)(*arguments)

    def progress(self, chain: int) -> float:
        """Return the completed share of the present pass."""
        return self._chains[chain].progress if chain in self._chains else 0.0

    def _pool(self, chain: int) -> LocalPool:
        if chain not in self._chains:
            raise WorkersLostError
        return self._chains[chain]

    def _begin(self, chain: int) -> LocalPool:
        self._chains.pop(chain, None)  # frees its memory first
        self._chains[chain] = LocalPool(self._kind, self._documents, self._threads, self._is_whole)
        return self._chains[chain]

    # ------------------------------------------------------------ on disk

    def write_parts(self, chain: int, folder: Path, sweep: int, rank: Array, n_topics: int) -> list[DrawPart]:
        """Write the counts by document of a draw."""
        return self._pool(chain).write_parts(folder, sweep, rank, n_topics)

    def write_seating(self, chain: int, folder: Path) -> None:
        """Write the seating of every shard, each file complete or not at all."""
        self._pool(chain).write_seating(folder)

    def seating(self, chain: int) -> list[dict[str, Array]]:
        """Return the seating of every shard."""
        return self._pool(chain).seating()

    def seat(self, chain: int, source: Path | Sequence[dict[str, Array]], n_topics: int) -> Passed:
        """Restore the seating of every shard, from a folder or from arrays.

        Returns the words and tables of each topic.
        """
        return self._begin(chain).seat(source, n_topics)
