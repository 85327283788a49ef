"""The workers that hold the documents of a run, whoever they are, and how the heads of its chains ask them.

A crew is shared by all chains of a run: the documents are there once, and while one chain's head is at work
the workers can be at another's. A worker that is lost takes the seats of all chains with it. The crew then
has another one in its place and is of another `generation`; every chain takes up its last snapshot again.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import accumulate
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from franchise.corpus import Corpus, CorpusArrays, ShardedCorpus, shards_of
from franchise.corpus.shards import Shard
from franchise.engines.worker import Worker
from franchise.errors import ClusterError

_SHARDS = 64  # of a corpus in memory
_MOST_REPAIRS = 20  # in a row, without a sweep between them


class WorkersLostError(Exception):
    """A worker does not answer any more, or is new and knows nothing of the chain."""


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
        self._lock = Lock()
        self._repairs = 0

    @property
    def size(self) -> int:
        """How many workers there are."""
        return len(self.jobs)

    @abstractmethod
    def call(self, what: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call a method of all workers, each with its own arguments; WorkersLostError if one is gone."""

    @abstractmethod
    def share(self, value: Any) -> Any:
        """Return what to give to all workers in place of a large value that is the same for all."""

    @abstractmethod
    def replace_lost(self) -> None:
        """Put new workers in the places of those that are gone, with their documents."""

    def shared_by_neighbours(self, chain: int, what: str, *arguments: Any) -> list[tuple[Any, ...]]:
        """Let workers of one machine share some work: each does one of the shares, and is given all of them.

        Returns what to give to each worker; nothing to one who has no neighbours, and does it alone.
        """
        return [()] * self.size

    def progress(self, chain: int) -> float:
        """Return the share of the pass under way that is done, about."""
        return 0.0

    def ask(self, chain: int, what: str, *arguments: Any) -> list[Any]:
        """Let all workers do the same in a chain; return what each answers, in the order of documents."""
        return self.each(chain, what, [arguments] * self.size)

    def each(self, chain: int, what: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Let every worker do something in a chain, each with its own arguments."""
        return self.call("ask", [(chain, what, *own) for own in arguments])

    def repair(self, generation: int) -> bool:
        """Replace those who are gone; return whether that was to be done still since that generation."""
        with self._lock:
            if self.generation != generation:
                return False
            self._repairs += 1
            if self._repairs > _MOST_REPAIRS:
                raise ClusterError(
                    f"workers were lost {_MOST_REPAIRS} times without a sweep between: look at the memory of "
                    "the machines and at Ray's logs; what was saved is whole, and `resume` continues it"
                )
            self.replace_lost()
            self.generation += 1
            return True

    def went_well(self) -> None:
        """Note that a sweep was made: losses are counted anew."""
        self._repairs = 0


class CrewInProcess(Crew):
    """Workers in this process, one after another: for tests, and to see that nothing depends on who works."""

    def __init__(self, corpus: Corpus, workers: int, threads: int = 1) -> None:
        super().__init__(corpus, workers)
        self._threads = threads
        self.workers: list[Worker | None] = [None] * self.size
        self.replace_lost()

    def call(self, what: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call a method of all workers."""
        if any(worker is None for worker in self.workers):
            raise WorkersLostError
        return [getattr(worker, what)(*own) for worker, own in zip(self.workers, arguments, strict=True)]

    def share(self, value: Any) -> Any:
        """Return the value."""
        return value

    def shared_by_neighbours(self, chain: int, what: str, *arguments: Any) -> list[tuple[Any, ...]]:
        """Share work among all."""
        shares = self.each(chain, what, [(*arguments, i, self.size) for i in range(self.size)])
        return [tuple(shares)] * self.size

    def replace_lost(self) -> None:
        """Put new workers where there are none."""
        for i, worker in enumerate(self.workers):
            if worker is None:
                self.workers[i] = new = Worker(self._threads)
                new.load(*self.jobs[i])
