"""A pool: holds the partitions of one chain, and lets them do what the chain's sweeps ask for."""

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
    """What a chain can be taken up from."""

    arrays: dict[str, Array]  # of the coordinator
    seating: Path | list[dict[str, Array]]  # of every shard: where it was written, or itself


class Chain(Protocol):
    """What a pool asks of the engine whose partitions it holds."""

    name: str

    def arrays_of_coordinator(self) -> dict[str, Array]:
        """Return what the coordinator is made of."""

    def take_up_coordinator(self, arrays: dict[str, Array]) -> None:
        """Make the coordinator of such arrays."""

    def forget(self) -> None:
        """Begin again without topics."""

    def check_recount(self, counted: Passed, source: Any) -> None:
        """Refuse a seating that does not belong to the counts."""

    @property
    def n_topics(self) -> int:
        """How many topics there are."""


class Pool(Protocol):
    """Holds the partitions of one chain.

    A method is given as that of `Partition`; the partition's own method of that name is called.
    """

    def serve(self, chain: Chain) -> None:
        """Hold the partitions of this chain."""

    @property
    def size(self) -> int:
        """How many partitions there are."""

    @property
    def first_words(self) -> list[int]:
        """The number of the first word of each partition."""

    @property
    def progress(self) -> float:
        """The share of the pass under way that is done."""

    @property
    def n_bytes(self) -> int:
        """Memory that partitions take in this process, about."""

    def all(self, method: Callable[..., T], *arguments: Any) -> list[T]:
        """Let all partitions do the same; return what each returns, in the order of documents."""

    def each(self, method: Callable[..., T], arguments: Sequence[tuple[Any, ...]]) -> list[T]:
        """Let every partition do something, each with its own arguments."""

    def first(self, method: Callable[..., T], *arguments: Any) -> T:
        """Let the first partition do something."""

    def share(self, value: T) -> T:
        """Return what to give to all partitions in place of a large value that is the same for all."""

    def counts_to_send(self, coordinator: Coordinator) -> State | Rows:
        """Return the counts of all documents as partitions receive them."""

    def complete(self, step: Callable[[], T]) -> T:
        """Take a step that changes partitions and coordinator, to its end."""

    def ask(self, question: Callable[[], T]) -> T:
        """Ask partitions something that changes neither."""

    # ------------------------------------------------------------ who works, and where

    def use_threads(self, number: int) -> None:
        """Use this number of threads from now on; results stay the same."""

    def use_workers(self, workers: Any, number: int) -> None:
        """Let these workers hold the partitions; they know the chain by this number. None: no workers."""

    def rest(self) -> None:
        """Free memory that other chains may need: no sweep follows for a while."""

    # ------------------------------------------------------------ what is kept

    def take_up(self, snapshot: Snapshot) -> None:
        """Restore the seating of a snapshot; the coordinator has been restored."""

    def seating(self) -> list[dict[str, Array]]:
        """Return the seating of every shard."""

    def write_seating(self, folder: Path, stays: bool) -> None:
        """Write the seating of every shard into a folder, where it may stay."""

    def document_topics(self, rank: Array, n_topics: int) -> sp.csr_array:
        """Return n_j.k of all documents; topic k is column rank[k]."""

    def write_document_topics(self, folder: Path, sweep: int, rank: Array, n_topics: int) -> PartsOfDraw:
        """Write n_j.k of all documents into a folder of draws."""


class PooledTables:
    """Knows the tables of all documents by asking the partitions.

    Parameters
    ----------
    pool
        Who holds them.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def tables_of_words(self, words: Array) -> tuple[Array, Array]:
        """Return the slot of the table of each of these words, and its topic."""
        slots, topics = np.max(
            self._pool.all(Partition.tables_of_words, words), axis=0
        )  # -1 from all but one
        return slots, topics

    def tables_of(self, topics: Array) -> list[Tables]:
        """Return the tables of each of these topics."""
        found = self._pool.all(Partition.tables_of, topics)
        return [joined([Tables(*part) for part in of_topic]) for of_topic in zip(*found, strict=True)]

    def relabel(self, slots: Array, topic: int) -> None:
        """Give the tables at these slots, in increasing order, to a topic."""
        cuts = np.searchsorted(slots, self._pool.first_words[1:])
        self._pool.each(Partition.relabel, [(part, topic) for part in np.split(slots, cuts)])
