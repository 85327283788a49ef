"""The workers that hold the documents of a run, whoever they are, and how the heads of its chains ask them.

A crew is shared by all chains of a run: the documents are there once, and while one chain's head is at work
the workers can be at another's. A worker that is lost takes the seats of all chains with it. The crew then
has another one in its place and is of another `generation`; every chain takes up its last snapshot again.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from franchise.corpus import Corpus, CorpusArrays, ShardedCorpus, shards_of
from franchise.corpus.shards import Shard
from franchise.engines.part import NewPart, Part
from franchise.engines.worker import Worker, WorkersLostError
from franchise.errors import ClusterError, FranchiseWarning

_SHARDS = 64  # of a corpus in memory
_MOST_LOSSES = 20  # that a chain may have in a row, without a sweep between them


class Job(NamedTuple):
    """The documents of one worker."""

    shards: tuple[Shard, ...]
    source: str | CorpusArrays
    longest: int

    @property
    def first_document(self) -> int:
        """The number of its first document in the whole corpus."""
        return self.shards[0].first_document

    @property
    def first_word(self) -> int:
        """The number of its first word."""
        return self.shards[0].first_word


def jobs_for(corpus: Corpus, workers: int) -> list[Job]:
    """Share out the documents: to each worker some shards that follow on each other.

    There are no more workers than shards; what each gets changes no bit.
    """
    shards = shards_for(corpus)
    longest = corpus.documents_of_length.size - 1
    workers = min(workers, len(shards))
    ends = list(accumulate(one.n_words for one in shards))
    # A shard goes to the worker in whose share of the words its middle lies; everyone gets one.
    middles = [(end - one.n_words / 2) * workers / ends[-1] for end, one in zip(ends, shards)]
    cuts = [0]
    for w in range(1, workers):
        cut = int(np.searchsorted(middles, w))
        cuts.append(min(max(cut, cuts[-1] + 1), len(shards) - (workers - w)))
    groups = [shards[a:b] for a, b in zip(cuts, [*cuts[1:], len(shards)])]
    return [Job(group, _source(corpus, group), longest) for group in groups]


def shards_for(corpus: Corpus) -> tuple[Shard, ...]:
    """Return the shards of a corpus: those in which it lies, or, in memory, always the same."""
    return corpus.shards if isinstance(corpus, ShardedCorpus) else shards_of(corpus, _SHARDS)


def _source(corpus: Corpus, shards: tuple[Shard, ...]) -> str | CorpusArrays:
    if isinstance(corpus, ShardedCorpus):
        return str(corpus.folder.resolve())
    first, last = shards[0], shards[-1]
    doc_ptr = corpus.doc_ptr[first.first_document : last.first_document + last.n_documents + 1]
    x = corpus.x[doc_ptr[0] : doc_ptr[-1]]
    return CorpusArrays(x, doc_ptr - doc_ptr[0], corpus.n_terms)


class Crew(ABC):
    """Workers, each with a range of the documents.

    Parameters
    ----------
    corpus
        The documents.
    workers
        How many are to share them.
    """

    def __init__(self, corpus: Corpus, workers: int) -> None:
        self.jobs = jobs_for(corpus, workers)
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
        """Call a method of all workers, each with its own arguments.

        WorkersLostError if one is gone, or they are not those of that generation.
        """

    @abstractmethod
    def share(self, value: Any) -> Any:
        """Return what to give to all workers in place of a large value that is the same for all."""

    @abstractmethod
    def replace_lost(self) -> Any:
        """Make new workers for those that are gone, with their documents; return all, for `take_on`."""

    @abstractmethod
    def take_on(self, workers: Any) -> None:
        """Let these be the workers."""

    def shared_by_neighbours(
        self, generation: int, chain: int, what: str, *arguments: Any
    ) -> list[tuple[Any, ...]]:
        """Let workers of one machine share some work: each does one of the shares, and is given all of them.

        Returns what to give to each worker; nothing to one who has no neighbours, and does it alone.
        """
        return [()] * self.size

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
                    self.take_on(workers)
                    self.generation += 1
                return True

    def went_well(self, chain: int) -> None:
        """Note that a chain has completed a sweep: its losses are counted from 0 again."""
        self._losses[chain] = 0


def worker_replaced() -> FranchiseWarning:
    """Return the warning for a worker that was lost and replaced."""
    return FranchiseWarning(
        "a worker was lost and another has taken its place; what each chain did since its last checkpoint is "
        "done again",
        code="worker-lost",
    )


class Hands:
    """The workers of a crew as one chain has them: those of one generation, which have its seats.

    Parameters
    ----------
    crew
        The workers.
    chain
        The number of the chain.
    """

    def __init__(self, crew: Crew, chain: int) -> None:
        self.crew, self.chain, self.generation = crew, chain, crew.generation
        self.jobs, self.size, self.share = crew.jobs, crew.size, crew.share

    def call(self, what: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call a method of every worker (`Worker`), each with its own arguments."""
        return self.crew.call(self.generation, what, arguments)

    def call_all(self, what: str, *arguments: Any) -> list[Any]:
        """Call a method of every worker that takes the chain, and the same arguments."""
        return self.call(what, [(self.chain, *arguments)] * self.size)

    def ask(self, what: str, *arguments: Any) -> list[Any]:
        """Let all workers do the same (`Part`); return what each answers, in the order of documents."""
        return self.each(what, [arguments] * self.size)

    def each(self, what: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Let every worker do something, each with its own arguments."""
        return self.call("ask", [(self.chain, what, *own) for own in arguments])

    def shared_by_neighbours(self, what: str, *arguments: Any) -> list[tuple[Any, ...]]:
        """Let workers of one machine share some work (`Crew`)."""
        return self.crew.shared_by_neighbours(self.generation, self.chain, what, *arguments)


class CrewInProcess(Crew):
    """Workers in this process, one after another: for tests, and to see that nothing depends on who works."""

    def __init__(self, corpus: Corpus, workers: int, threads: int = 1, new_part: NewPart = Part) -> None:
        super().__init__(corpus, workers)
        self._threads, self._new_part = threads, new_part
        self.workers: list[Worker | None] = [None] * self.size
        self.take_on(self.replace_lost())

    def call(self, generation: int, what: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call a method of all workers."""
        with self.lock:
            workers = list(self.workers)
            if generation != self.generation or None in workers:
                raise WorkersLostError
        return [getattr(worker, what)(*own) for worker, own in zip(workers, arguments, strict=True)]

    def share(self, value: Any) -> Any:
        """Return the value."""
        return value

    def shared_by_neighbours(
        self, generation: int, chain: int, what: str, *arguments: Any
    ) -> list[tuple[Any, ...]]:
        """Share work among all."""
        asked = [(chain, what, *arguments, i, self.size) for i in range(self.size)]
        return [tuple(self.call(generation, "ask", asked))] * self.size

    def replace_lost(self) -> list[Worker]:
        """Make new workers where there are none."""
        workers = []
        for worker, job in zip(self.workers, self.jobs, strict=True):
            if worker is None:
                worker = Worker(self._threads, self._new_part)
                worker.load(*job)
            workers.append(worker)
        return workers

    def take_on(self, workers: list[Worker]) -> None:
        """Let these be the workers."""
        self.workers = list(workers)
