"""The workers that hold the documents of a run: the shared base of all kinds of workers.

All chains of a run share them: the documents are there once, and while the coordinator of one chain works,
the workers can serve another chain. A lost worker takes the seating of all chains with it. It is replaced,
the workers get a new `generation`, and every chain returns to its last snapshot.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from threading import Lock
from typing import Any

from franchise.corpus import Corpus
from franchise.engines.pools.ranges import in_ranges, jobs_for
from franchise.engines.pools.worker import WorkersLostError
from franchise.errors import ClusterError, FranchiseWarning

_MOST_LOSSES = 20  # the most losses of a chain in a row without a completed sweep


class Workers(ABC):
    """Workers, each with a range of the documents.

    Parameters
    ----------
    corpus
        The documents.
    number
        Number of workers to share them.
    """

    def __init__(self, corpus: Corpus, number: int) -> None:
        self.jobs = jobs_for(corpus, number)
        self.partitions_each = [len(in_ranges(job.shards)) for job in self.jobs]
        self.generation = 0
        self.sent = 0  # bytes of arrays, to and from workers
        self.received = 0
        self.lock = Lock()  # protects the list of workers and counters
        self._repairing = Lock()
        self._losses: Counter[int | None] = Counter()  # of each chain since its last sweep
        self._failed: ClusterError | None = None  # why there will be no more repairs

    @property
    def size(self) -> int:
        """Number of workers."""
        return len(self.jobs)

    @abstractmethod
    def call(self, generation: int, what: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call a method of the first workers, one for each tuple of arguments.

        WorkersLostError if one is lost, or if the workers are of another generation.
        """

    @abstractmethod
    def share(self, value: Any) -> Any:
        """Return what to send to all workers in place of a large value."""

    @abstractmethod
    def replace_lost(self) -> list[Any]:
        """Start new workers, with documents, in place of lost ones; return all, for `use`."""

    @abstractmethod
    def use(self, workers: list[Any]) -> None:
        """Use these workers from now on."""

    def progress(self, chain: int) -> float:
        """Return the approximate completed share of the present pass."""
        return 0.0

    def repair(self, generation: int, chain: int | None = None) -> bool:
        """Replace the workers of that generation that a chain has lost; None: before there are chains.

        Returns False if they are already replaced. Losses are counted per chain, as otherwise a chain that
        always kills its worker would be repaired for as long as another makes sweeps.
        """
        with self._repairing:
            while True:
                if self._failed is not None:
                    raise self._failed
                self._losses[chain] += 1
                try:
                    if self._losses[chain] > _MOST_LOSSES:
                        raise ClusterError(
                            f"a chain lost its workers {_MOST_LOSSES} times without completing a sweep; "
                            "check the memory of the machines and Ray's logs, then continue with `resume`",
                            code="workers-lost-repeatedly",
                        )
                    if self.generation != generation:
                        return False
                    workers = self.replace_lost()
                except WorkersLostError:
                    continue
                except ClusterError as error:
                    self._failed = error  # other chains need not find out themselves
                    raise
                with self.lock:
                    self.use(workers)
                    self.generation += 1
                return True

    def went_well(self, chain: int) -> None:
        """Note that a chain has completed a sweep: its losses are counted from 0 again."""
        self._losses[chain] = 0


def worker_replaced() -> FranchiseWarning:
    """Return the warning about a lost and replaced worker."""
    return FranchiseWarning(
        "a worker was lost and has been replaced; what each chain did since its last checkpoint is "
        "done again",
        code="worker-lost",
    )
