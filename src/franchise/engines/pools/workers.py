"""The workers that hold the documents of a run: what all kinds of workers share.

They are shared by all chains of a run: the documents are there once, and while one chain's coordinator is at
work they can be at another's. A worker that is lost takes the seating of all chains with it. The workers then
have another one in its place and are of another `generation`; every chain takes up its last snapshot again.
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

_MOST_LOSSES = 20  # that a chain may have in a row, without a sweep between them


class Workers(ABC):
    """Workers, each with a range of the documents.

    Parameters
    ----------
    corpus
        The documents.
    number
        How many are to share them.
    """

    def __init__(self, corpus: Corpus, number: int) -> None:
        self.jobs = jobs_for(corpus, number)
        self.partitions_each = [len(in_ranges(job.shards)) for job in self.jobs]
        self.generation = 0
        self.sent = 0  # bytes of arrays, to workers and from them
        self.received = 0
        self.lock = Lock()  # who the workers are, and counters
        self._repairing = Lock()
        self._losses: Counter[int | None] = Counter()  # of each chain since its last sweep
        self._failed: ClusterError | None = None  # why there will be no more repairs

    @property
    def size(self) -> int:
        """How many workers there are."""
        return len(self.jobs)

    @abstractmethod
    def call(self, generation: int, what: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call a method of `Worker` of the first workers, one for each tuple of arguments.

        WorkersLostError if one is gone, or they are not those of that generation.
        """

    @abstractmethod
    def share(self, value: Any) -> Any:
        """Return what to give to all workers in place of a large value that is the same for all."""

    @abstractmethod
    def replace_lost(self) -> list[Any]:
        """Make new workers for those that are gone, with their documents; return all, for `use`."""

    @abstractmethod
    def use(self, workers: list[Any]) -> None:
        """Let these be the workers."""

    def progress(self, chain: int) -> float:
        """Return the share of the pass under way that is done, about."""
        return 0.0

    def repair(self, generation: int, chain: int | None = None) -> bool:
        """Replace the workers of that generation that a chain has lost; None: before there are chains.

        Returns False if they were replaced already. Losses are counted per chain, or a chain that always
        kills its worker would be repaired for as long as another makes sweeps.
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
                    self._failed = error  # other chains need not find out for themselves
                    raise
                with self.lock:
                    self.use(workers)
                    self.generation += 1
                return True

    def went_well(self, chain: int) -> None:
        """Take note that a chain has completed a sweep: its losses are counted from 0 again."""
        self._losses[chain] = 0


def worker_replaced() -> FranchiseWarning:
    """Return the warning for a worker that was lost and replaced."""
    return FranchiseWarning(
        "a worker was lost and another has taken its place; what each chain did since its last checkpoint is "
        "done again",
        code="worker-lost",
    )
