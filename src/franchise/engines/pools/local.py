"""A pool in this process: partitions in memory, or on its GPU."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from franchise._arrays import Array, CellArrays, CorpusArrays
from franchise._draws import DrawPart, PartsOfDraw, write_part
from franchise.engines.coordinator import Coordinator
from franchise.engines.instantiation import Instantiator
from franchise.engines.partitions.cells import CellsPartition
from franchise.engines.partitions.cuda.device import Device, gpu
from franchise.engines.partitions.cuda.partition import CudaPartition, MemoryShare
from franchise.engines.partitions.host import HostPartition
from franchise.engines.partitions.partition import Partition, Passed, Range, totals
from franchise.engines.pools.pool import Chain, Snapshot
from franchise.engines.pools.ranges import Assigned
from franchise.engines.pools.seating_files import read_seating, write_seating
from franchise.errors import ModelError
from franchise.model import State

T = TypeVar("T")


class LocalPool:
    """Holds partitions in this process.

    Parameters
    ----------
    kind
        What the partitions are (`kinds.Kind.partition`).
    documents
        The documents of each partition.
    threads
        Number of threads; results do not depend on it.
    is_whole
        Whether there are no documents elsewhere.
    """

    def __init__(self, kind: str, documents: list[Assigned], threads: int, is_whole: bool = True) -> None:
        self._kind, self._documents, self._threads, self._is_whole = kind, documents, threads, is_whole
        n_terms = documents[0].n_terms
        longest = documents[0].place.longest if kind == "host" else 0  # whose words are seated one by one
        self._instantiator = Instantiator(n_terms, longest, threads, partitions=len(documents))
        self._gpu_share = MemoryShare(len(documents))
        self._partitions: list[Partition] = []
        self.size = len(documents)
        self.first_words = [own.place.first_word for own in documents]

    def serve(self, chain: Chain) -> None:
        """Hold the partitions of this chain."""
        self._chain = chain

    @property
    def partitions(self) -> list[Partition]:
        """The partitions, made on first use, with no word seated."""
        if not self._partitions:
            self._partitions = [self._new_partition(own.documents, own.place) for own in self._documents]
        return self._partitions

    def _new_partition(self, own: CorpusArrays | CellArrays, place: Range) -> Partition:
        if self._kind == "cells":
            assert isinstance(own, CellArrays)
            return CellsPartition(own, place, self._threads, self._instantiator)
        assert isinstance(own, CorpusArrays)
        if self._kind == "host":
            return HostPartition(own, place, self._threads, self._instantiator)
        is_alone = self._is_whole and self.size == 1
        return CudaPartition(
            own, place, self._threads, is_alone=is_alone, share=self._gpu_share, device=_present_gpu
        )

    @property
    def progress(self) -> float:
        """The completed share of the present pass."""
        words = [max(1, own.n_words) for own in self._documents]
        done = [one.progress for one in self._partitions]
        return float(np.average(done, weights=words)) if done else 0.0

    @property
    def n_bytes(self) -> int:
        """Approximate memory of the partitions."""
        return sum(one.n_bytes for one in self.partitions)

    def all(self, method: Callable[..., T], *arguments: Any) -> list[T]:
        """Call a method of all partitions with the same arguments."""
        return [getattr(one, method.__name__)(*arguments) for one in self.partitions]

    def each(self, method: Callable[..., T], arguments: Sequence[tuple[Any, ...]]) -> list[T]:
        """Call a method of every partition, each with its own arguments."""
        both = zip(self.partitions, arguments, strict=True)
        return [getattr(one, method.__name__)(*own) for one, own in both]

    def first(self, method: Callable[..., T], *arguments: Any) -> T:
        """Call a method of the first partition."""
        found: T = getattr(self.partitions[0], method.__name__)(*arguments)
        return found

    def share(self, value: T) -> T:
        """Return the value: nothing is sent."""
        return value

    def counts_to_send(self, coordinator: Coordinator) -> State:
        """Return the coordinator's own counts."""
        return coordinator.state

    def complete(self, step: Callable[[], T]) -> T:
        """Take a step."""
        return step()

    def ask(self, question: Callable[[], T]) -> T:
        """Ask something."""
        return question()

    def use_threads(self, number: int) -> None:
        """Use this number of threads from now on."""
        self._threads = number
        self._instantiator.use_threads(number)
        for one in self._partitions:
            one.use_threads(number)

    def use_workers(self, workers: Any, number: int) -> None:
        """Do nothing: all work is done in this process."""

    def rest(self) -> None:
        """Free memory that other chains may need."""
        for one in self._partitions:
            one.rest()

    # ------------------------------------------------------------ storing and restoring

    def restore(self, snapshot: Snapshot) -> None:
        """Restore the seating of a snapshot."""
        source = snapshot.seating
        self._chain.check_recount(self.seat(source, self._chain.n_topics), source)

    def seat(self, source: Path | Sequence[dict[str, Array]], n_topics: int) -> Passed:
        """Restore the seating of every shard; return the words and tables of each topic."""
        self._partitions.clear()  # frees their memory first
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
                f"{where}the files do not hold the seating of these documents ({error}); restore them "
                "from a copy",
                code="damaged-file",
            ) from error

    def seating(self) -> list[dict[str, Array]]:
        """Return the seating of every shard."""
        both = zip(self.partitions, self._documents, strict=True)
        return [one.seating(*bounds) for one, own in both for _, bounds in own.bounds()]

    def write_seating(self, folder: Path, stays: bool = True) -> None:
        """Write the seating of every shard, each file complete or not at all."""
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


def _present_gpu() -> Device:
    """Return the GPU of this process."""
    return gpu()
