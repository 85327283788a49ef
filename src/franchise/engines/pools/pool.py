"""A pool: it holds the partitions of one chain, and runs the steps of the chain's sweeps on them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import scipy.sparse as sp

from franchise._arrays import Array
from franchise._draws import PartsOfDraw
from franchise.engines.coordinator import Coordinator
from franchise.engines.partitions.partition import Partition, Passed
from franchise.engines.table_source import Tables, joined
from franchise.model import State
from franchise.model.rows import Rows

T = TypeVar("T")


class Snapshot(NamedTuple):
    """A state from which a chain can continue."""

    arrays: dict[str, Array]  # of the coordinator
    seating: Path | list[dict[str, Array]]  # of every shard: the arrays, or where they were written


class Chain(Protocol):
    """The methods that a pool needs of the engine whose partitions it holds."""

    name: str

    def arrays_of_coordinator(self) -> dict[str, Array]:
        """Return the arrays of the coordinator."""

    def restore_coordinator(self, arrays: dict[str, Array]) -> None:
        """Restore the coordinator from its arrays."""

    def forget(self) -> None:
        """Remove all topics."""

    def check_recount(self, counted: Passed, source: Any) -> None:
        """Refuse a seating that does not match the counts."""

    @property
    def n_topics(self) -> int:
        """The number of topics."""


class Pool(Protocol):
    """Holds the partitions of one chain.

    A method is passed as that of `Partition`; the partition's own method of that name is called.
    """

    def serve(self, chain: Chain) -> None:
        """Hold the partitions of this chain."""

    @property
    def size(self) -> int:
        """Number of partitions."""

    @property
    def first_words(self) -> list[int]:
        """The number of the first word of each partition."""

    @property
    def progress(self) -> float:
        """The completed share of the present pass."""

    @property
    def n_bytes(self) -> int:
        """Approximate memory of the partitions in this process."""

    def all(self, method: Callable[..., T], *arguments: Any) -> list[T]:
        """Call a method of all partitions with the same arguments; return the results in document order."""

    def each(self, method: Callable[..., T], arguments: Sequence[tuple[Any, ...]]) -> list[T]:
        """Call a method of every partition, each with its own arguments."""

    def first(self, method: Callable[..., T], *arguments: Any) -> T:
        """Call a method of the first partition."""

    def share(self, value: T) -> T:
        """Return what to send to all partitions in place of a large value."""

    def counts_to_send(self, coordinator: Coordinator) -> State | Rows:
        """Return the counts of all documents in the form that partitions receive."""

    def complete(self, step: Callable[[], T]) -> T:
        """Complete a step that changes partitions and coordinator."""

    def ask(self, question: Callable[[], T]) -> T:
        """Ask partitions something that changes neither."""

    # ------------------------------------------------------------ threads and workers

    def use_threads(self, number: int) -> None:
        """Use this number of threads from now on; results stay the same."""

    def use_workers(self, workers: Any, number: int) -> None:
        """Let these workers hold the partitions; `number` is the chain's number. None: no workers."""

    def rest(self) -> None:
        """Free memory that other chains may need, as no sweep follows for a while."""

    # ------------------------------------------------------------ storing and restoring

    def restore(self, snapshot: Snapshot) -> None:
        """Restore the seating of a snapshot, after the coordinator."""

    def seating(self) -> list[dict[str, Array]]:
        """Return the seating of every shard."""

    def write_seating(self, folder: Path, stays: bool) -> None:
        """Write the seating of every shard into a folder; `stays` says whether it can be read there later."""

    def document_topics(self, rank: Array, n_topics: int) -> sp.csr_array:
        """Return n_j.k of all documents; topic k is column rank[k]."""

    def write_document_topics(self, folder: Path, sweep: int, rank: Array, n_topics: int) -> PartsOfDraw:
        """Write n_j.k of all documents into a folder of draws."""


class PooledTables:
    """The tables of all documents, from the partitions of a pool.

    Parameters
    ----------
    pool
        The pool of the partitions.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def tables_of_words(self, words: Array) -> tuple[Array, Array]:
        """Return the slot of the table of each of these words, and its topic."""
        slots, topics = np.max(
            self._pool.all(Partition.tables_of_words, words), axis=0
        )  # -1 from all partitions but one
        return slots, topics

    def tables_of(self, topics: Array) -> list[Tables]:
        """Return the tables of each of these topics."""
        found = self._pool.all(Partition.tables_of, topics)
        return [joined([Tables(*part) for part in of_topic]) for of_topic in zip(*found, strict=True)]

    def relabel(self, slots: Array, topic: int) -> None:
        """Give the tables at these slots, in increasing order, to a topic."""
        cuts = np.searchsorted(slots, self._pool.first_words[1:])
        self._pool.each(Partition.relabel, [(part, topic) for part in np.split(slots, cuts)])
