"""A pool whose partitions stay with the workers of a cluster.

When a worker is lost, the chain returns to its last snapshot and repeats the steps since then: the same keys
make the same sweeps.
"""

import warnings
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from franchise._arrays import Array
from franchise._draws import PartsOfDraw
from franchise.corpus import Corpus
from franchise.engines.coordinator import Coordinator
from franchise.engines.partitions.partition import Partition, totals
from franchise.engines.pools.local import LocalPool
from franchise.engines.pools.pool import Chain, Snapshot
from franchise.engines.pools.ranges import assigned, in_ranges, local_job, shards_for
from franchise.engines.pools.seating_files import check_seating, read_seating, write_seating
from franchise.engines.pools.worker import WorkersLostError
from franchise.engines.pools.workers import Workers, worker_replaced
from franchise.errors import ClusterError
from franchise.model.rows import Rows, rows_of

T = TypeVar("T")


class ClusterPool:
    """Holds the partitions of one chain on workers.

    Without workers it can be made and restored, but sweeps need them (`use_workers`).

    Parameters
    ----------
    corpus
        The documents.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._workers: Workers | None = None
        self._number = 0  # of the chain
        self._generation: int | None = (
            None  # of the workers that have the seating; None: it must be sent first
        )
        self._snapshot: Snapshot | None = None
        self._since: list[Callable[[], object]] = []  # the steps since the snapshot

    def serve(self, chain: Chain) -> None:
        """Hold the partitions of this chain."""
        self._chain = chain

    def use_threads(self, number: int) -> None:
        """Do nothing: workers use as many threads as they have."""

    def use_workers(self, workers: Workers | None, number: int) -> None:
        """Let these workers hold the partitions; `number` is the chain's number. None: no workers.

        The previous workers are first asked for the seating, unless the snapshot is up to date. If they are
        gone, the new workers repeat the steps since the snapshot.
        """
        try:
            if self._since and self._workers is not None:
                seating = self.seating()  # first, as workers may be lost
                self._snapshot, self._since = Snapshot(self._chain.arrays_of_coordinator(), seating), []
        except ClusterError:
            if workers is None:
                raise
        finally:
            self._workers, self._number, self._generation = workers, number, None

    # ------------------------------------------------------------ calls

    n_bytes = 0  # in this process

    @property
    def size(self) -> int:
        """Number of partitions."""
        return sum(self._present().partitions_each)

    @property
    def first_words(self) -> list[int]:
        """The number of the first word of each partition."""
        found = []
        for job in self._present().jobs:
            found += [shards[0].first_word for shards in in_ranges(job.shards)]
        return found

    @property
    def progress(self) -> float:
        """The completed share of the present pass."""
        return self._workers.progress(self._number) if self._workers is not None else 0.0

    def all(self, method: Callable[..., T], *arguments: Any) -> list[T]:
        """Call a method of all partitions with the same arguments."""
        return [one for own in self._call("all", method.__name__, *arguments) for one in own]

    def each(self, method: Callable[..., T], arguments: Sequence[tuple[Any, ...]]) -> list[T]:
        """Call a method of every partition, each with its own arguments."""
        workers = self._present()
        cuts = np.cumsum([0, *workers.partitions_each])
        own = [arguments[a:b] for a, b in pairwise(cuts)]
        given = [(self._number, method.__name__, one) for one in own]
        return [one for of_worker in workers.call(self._here(), "each", given) for one in of_worker]

    def first(self, method: Callable[..., T], *arguments: Any) -> T:
        """Call a method of the first partition."""
        given = [(self._number, method.__name__, *arguments)]
        found: T = self._present().call(self._here(), "first", given)[0]
        return found

    def _call(self, what: str, *arguments: Any) -> list[Any]:
        workers = self._present()
        return workers.call(self._here(), what, [(self._number, *arguments)] * workers.size)

    def _here(self) -> int:
        """Return the generation of the workers that have the seating."""
        assert self._generation is not None
        return self._generation

    def _present(self) -> Workers:
        if self._workers is None:
            raise ClusterError(
                f"engine={self._chain.name!r}: the chain has no workers; fit or resume its model",
                code="no-workers",
            )
        return self._workers

    def share(self, value: T) -> T:
        """Return what to send to all workers in place of a large value."""
        shared: T = self._present().share(value)
        return shared

    def counts_to_send(self, coordinator: Coordinator) -> Rows:
        """Return the rows of terms; each machine receives them once."""
        return self.share(rows_of(coordinator.state))

    # ------------------------------------------------------------ lost workers

    def complete(self, step: Callable[[], T]) -> T:
        """Take a step, and remember it until the next snapshot."""
        done = self.ask(step)
        self._since.append(step)
        self._present().went_well(self._number)
        return done

    def ask(self, question: Callable[[], T]) -> T:
        """Ask something; whenever workers are lost, return to the last snapshot and ask again."""
        workers = self._present()
        while True:
            generation = workers.generation if self._generation is None else self._generation
            try:
                if self._generation is None:
                    self._generation = generation
                    self._catch_up()
                return question()
            except WorkersLostError:
                self._generation = None
                if workers.repair(generation, self._number):
                    warnings.warn(worker_replaced(), stacklevel=2)
            except BaseException:
                self._generation = None  # the state of the workers is unknown
                raise

    def _catch_up(self) -> None:
        """Restore the coordinator and the workers from the snapshot, and repeat the steps since then."""
        if self._snapshot is None:
            self._chain.forget()
        else:
            self._chain.restore_coordinator(self._snapshot.arrays)
            self._send(self._snapshot.seating)
        for step in self._since:
            step()

    def _send(self, seating: Path | list[dict[str, Array]]) -> None:
        n_topics, workers = self._chain.n_topics, self._present()
        given: list[Any] = []
        for job in workers.jobs:
            first, last = job.shards[0].number, job.shards[-1].number
            own = seating.resolve() if isinstance(seating, Path) else seating[first : last + 1]
            given.append((self._number, own, n_topics))
        self._chain.check_recount(totals(workers.call(self._here(), "seat", given)), seating)

    def rest(self) -> None:
        """Free the memory of the workers' GPUs for other chains; lost workers need nothing."""
        if self._generation is None:
            return
        try:
            self.all(Partition.rest)
        except (WorkersLostError, ClusterError):
            self._generation = None  # the next sweep, if any, replaces them

    # ------------------------------------------------------------ storing and restoring

    def restore(self, snapshot: Snapshot) -> None:
        """Restore a snapshot as soon as there are workers."""
        self._snapshot, self._since, self._generation = snapshot, [], None

    def seating(self) -> list[dict[str, Array]]:
        """Return the seating of every shard."""
        if self._since and self._workers is not None:
            return [own for of_worker in self.ask(lambda: self._call("seating")) for own in of_worker]
        if self._snapshot is None or self._since:
            name = self._chain.name
            raise ClusterError(f"engine={name!r}: the seating is lost; call resume", code="seating-lost")
        seating = self._snapshot.seating
        if isinstance(seating, Path):
            return [read_seating(seating, shard) for shard in shards_for(self._corpus)]
        return seating

    def write_seating(self, folder: Path, stays: bool) -> None:
        """Let the workers write the seating of every shard, or write what was gathered or saved."""
        if self._since and self._workers is not None:
            self.ask(lambda: self._call("write_seating", folder.resolve()))
            check_seating(folder, shards_for(self._corpus))
            if stays:
                self._snapshot, self._since = Snapshot(self._chain.arrays_of_coordinator(), folder), []
        else:
            for shard, arrays in zip(shards_for(self._corpus), self.seating(), strict=True):
                write_seating(folder, shard, arrays)

    def document_topics(self, rank: Array, n_topics: int) -> sp.csr_array:
        """Return n_j.k of all documents; topic k is column rank[k]."""
        if self._workers is None:
            here = LocalPool("host", assigned(local_job(self._corpus, has_counts=False)), threads=1)
            here.seat(self.seating(), n_topics)
            return here.document_topics(rank, n_topics)
        found = self.ask(lambda: self.all(Partition.document_topics, rank, n_topics))
        return sp.vstack(found, format="csr")

    def write_document_topics(self, folder: Path, sweep: int, rank: Array, n_topics: int) -> PartsOfDraw:
        """Let the workers write n_j.k of their documents into a folder of draws."""
        parts = self.ask(lambda: self._call("write_parts", folder, sweep, rank, n_topics))
        return PartsOfDraw(folder, sweep, [one for own in parts for one in own], n_topics)
