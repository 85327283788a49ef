"""A pool in this process: partitions in memory, or on its GPU."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from franchise._draws import DrawPart, PartsOfDraw, write_part
from franchise.engines.coordinator import Coordinator
from franchise.engines.partitions.partition import Partition, Passed, totals
from franchise.engines.pools.partitions import Factory, new_factory
from franchise.engines.pools.pool import Chain, Snapshot
from franchise.engines.pools.ranges import Assigned
from franchise.engines.pools.seating_files import read_seating, write_seating
from franchise.errors import ModelError
from franchise.model import State
from franchise.model.state import Array

T = TypeVar("T")


class LocalPool:
    """Holds partitions in this process.

    Parameters
    ----------
    kind
        What the partitions are (`kinds.Kind.partition`).
    documents
        Those of each partition.
    threads
        How many to work in; they change no bit.
    is_whole
        Whether there are no documents elsewhere.
    """

    def __init__(self, kind: str, documents: list[Assigned], threads: int, is_whole: bool = True) -> None:
        self._documents = documents
        self._factory: Factory = new_factory(kind, documents, threads, is_whole)
        self._partitions: list[Partition] = []
        self.size = len(documents)
        self.first_words = [own.place.first_word for own in documents]

    def serve(self, chain: Chain) -> None:
        """Hold the partitions of this chain."""
        self._chain = chain

    @property
    def partitions(self) -> list[Partition]:
        """The partitions, made when first asked for: their words sit nowhere then."""
        if not self._partitions:
            self._partitions = [self._factory.make(own) for own in self._documents]
        return self._partitions

    @property
    def progress(self) -> float:
        """The share of the pass under way that is done."""
        words = [max(1, own.n_words) for own in self._documents]
        done = [one.progress for one in self._partitions]
        return float(np.average(done, weights=words)) if done else 0.0

    @property
    def n_bytes(self) -> int:
        """Memory that partitions take, about."""
        return sum(one.n_bytes for one in self.partitions)

    def all(self, method: Callable[..., T], *arguments: Any) -> list[T]:
        """Let all partitions do the same."""
        return [getattr(one, method.__name__)(*arguments) for one in self.partitions]

    def each(self, method: Callable[..., T], arguments: Sequence[tuple[Any, ...]]) -> list[T]:
        """Let every partition do something, each with its own arguments."""
        both = zip(self.partitions, arguments, strict=True)
        return [getattr(one, method.__name__)(*own) for one, own in both]

    def first(self, method: Callable[..., T], *arguments: Any) -> T:
        """Let the first partition do something."""
        found: T = getattr(self.partitions[0], method.__name__)(*arguments)
        return found

    def share(self, value: T) -> T:
        """Return the value: nothing is sent."""
        return value

    def counts_to_send(self, coordinator: Coordinator) -> State:
        """Return the coordinator's own."""
        return coordinator.state

    def complete(self, step: Callable[[], T]) -> T:
        """Take a step."""
        return step()

    def ask(self, question: Callable[[], T]) -> T:
        """Ask something."""
        return question()

    def use_threads(self, number: int) -> None:
        """Work in so many threads from now on."""
        self._factory.use_threads(number)
        for one in self._partitions:
            one.use_threads(number)

    def use_workers(self, workers: Any, number: int) -> None:
        """Go on in this process."""

    def rest(self) -> None:
        """Leave to other chains what they may need."""
        for one in self._partitions:
            one.rest()

    # ------------------------------------------------------------ what is kept

    def take_up(self, snapshot: Snapshot) -> None:
        """Take up the seating of a snapshot."""
        source = snapshot.seating
        self._chain.check_recount(self.seat(source, self._chain.n_topics), source)

    def seat(self, source: Path | Sequence[dict[str, Array]], n_topics: int) -> Passed:
        """Take up the seating of every shard; return the words and tables of each topic."""
        self._partitions.clear()  # their memory first
        try:
            given = iter(()) if isinstance(source, Path) else iter(source)
            for partition, own in zip(self.partitions, self._documents, strict=True):
                for shard, bounds in own.bounds():
                    arrays = read_seating(source, shard) if isinstance(source, Path) else next(given)
                    partition.seat(*bounds, arrays)
            return totals(self.all(Partition.recount, n_topics))
        except (KeyError, TypeError, ValueError) as error:
            where = f"{source}: " if isinstance(source, Path) else ""
            raise ModelError(
                f"{where}the files do not hold who sits where in these documents ({error}); restore them "
                "from a copy",
                code="damaged-file",
            ) from error

    def seating(self) -> list[dict[str, Array]]:
        """Return the seating of every shard."""
        both = zip(self.partitions, self._documents, strict=True)
        return [one.seating(*bounds) for one, own in both for _, bounds in own.bounds()]

    def write_seating(self, folder: Path, stays: bool = True) -> None:
        """Write the seating of every shard, each as a file that is whole or not there."""
        for one, own in zip(self.partitions, self._documents, strict=True):
            for shard, bounds in own.bounds():
                write_seating(folder, shard, one.seating(*bounds))

    def document_topics(self, rank: Array, n_topics: int) -> sp.csr_array:
        """Return n_j.k of all documents; topic k is column rank[k]."""
        found = self.all(Partition.document_topics, rank, n_topics)
        return found[0] if len(found) == 1 else sp.vstack(found, format="csr")

    def write_document_topics(self, folder: Path, sweep: int, rank: Array, n_topics: int) -> PartsOfDraw:
        """Write n_j.k of all documents into a folder of draws."""
        return PartsOfDraw(folder, sweep, self.write_parts(folder, sweep, rank, n_topics), n_topics)

    def write_parts(self, folder: Path, sweep: int, rank: Array, n_topics: int) -> list[DrawPart]:
        """Write n_j.k of the documents that are here."""
        found = self.all(Partition.document_topics, rank, n_topics)
        both = zip(found, self._documents, strict=True)
        return [write_part(folder, sweep, own.place.first_document, counts) for counts, own in both]
