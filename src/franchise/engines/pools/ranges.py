"""The documents of each worker, and how they are divided into partitions.

A corpus consists of shards: those on disk or, in memory, a fixed number of ranges.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from threading import Lock
from typing import NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from franchise._arrays import CellArrays, CorpusArrays, offsets_of
from franchise.corpus import Corpus, ShardedCorpus, shards_of
from franchise.corpus.shards import Shard, read_shard
from franchise.engines.partitions.partition import Range
from franchise.errors import CorpusError

_SHARDS = 64  # of a corpus in memory
# The most words of a partition, whose arrays count in 32 bits.
MOST_WORDS = 2**31 - 1

Documents = CorpusArrays | CellArrays


class Job(NamedTuple):
    """The documents of one process."""

    shards: tuple[Shard, ...]
    source: str | Documents  # the folder of the shards, or their documents
    longest: int  # words of the longest document of the whole corpus
    n_terms: int

    @property
    def n_words(self) -> int:
        """Number of words of its documents."""
        return sum(shard.n_words for shard in self.shards)


class Assigned:
    """The documents of one partition, read on first use.

    Parameters
    ----------
    read
        Returns the documents.
    n_terms
        Size of the vocabulary.
    place
        The range of the corpus that they are.
    shards
        The shards that contain them.
    """

    def __init__(
        self, read: Callable[[], Documents], n_terms: int, place: Range, shards: tuple[Shard, ...]
    ) -> None:
        self._read, self.n_terms, self.place, self.shards = read, n_terms, place, shards
        self._documents: Documents | None = None

    @property
    def documents(self) -> Documents:
        """Their arrays."""
        with _READING:
            if self._documents is None:
                documents = self._read()
                for array in documents:
                    if isinstance(array, np.ndarray) and array.flags.writeable:
                        array.flags.writeable = False  # as in every corpus: another type for kernels
                self._documents = documents
            return self._documents

    @property
    def n_words(self) -> int:
        """Number of words of the documents."""
        return sum(shard.n_words for shard in self.shards)

    def bounds(self) -> list[tuple[Shard, tuple[int, int]]]:
        """Return the shards, and where the documents of each begin and end here."""
        first = self.place.first_document
        begins = [shard.first_document - first for shard in self.shards]
        return [
            (one, (begin, begin + one.n_documents)) for one, begin in zip(self.shards, begins, strict=True)
        ]


_READING = Lock()
_IN_FOLDERS: WeakValueDictionary[tuple[str, tuple[Shard, ...], Range], Assigned] = WeakValueDictionary()


def shards_for(corpus: Corpus) -> tuple[Shard, ...]:
    """Return the shards of a corpus: those on disk, or, in memory, always the same ranges."""
    return shards_of(corpus, _SHARDS)


def jobs_for(corpus: Corpus, workers: int) -> list[Job]:
    """Divide the documents among workers: consecutive shards for each.

    There are no more workers than shards. Results do not depend on the division.
    """
    shards = shards_for(corpus)
    longest = corpus.documents_of_length.size - 1
    workers = min(workers, len(shards))
    ends = list(accumulate(one.n_words for one in shards))
    # A shard goes to the worker in whose share of the words its middle lies; every worker gets one.
    middles = [(end - one.n_words / 2) * workers / ends[-1] for end, one in zip(ends, shards, strict=True)]
    cuts = [0]
    for w in range(1, workers):
        cut = int(np.searchsorted(middles, w))
        cuts.append(min(max(cut, cuts[-1] + 1), len(shards) - (workers - w)))
    groups = [shards[a:b] for a, b in zip(cuts, [*cuts[1:], len(shards)], strict=True)]
    return [Job(group, _source(corpus, group), longest, corpus.n_terms) for group in groups]


def local_job(corpus: Corpus, has_counts: bool) -> Job:
    """Return the job of this process: all documents."""
    longest, shards = corpus.documents_of_length.size - 1, shards_for(corpus)
    if has_counts:
        return Job(shards, corpus.cells, longest, corpus.n_terms)
    if isinstance(corpus, ShardedCorpus) and corpus.n_words > MOST_WORDS:
        return Job(shards, str(corpus.folder.resolve()), longest, corpus.n_terms)
    return Job(shards, corpus.arrays, longest, corpus.n_terms)


def _source(corpus: Corpus, shards: tuple[Shard, ...]) -> str | Documents:
    if isinstance(corpus, ShardedCorpus):
        return str(corpus.folder.resolve())
    return some_documents(corpus.arrays, shards)


def in_ranges(shards: Sequence[Shard]) -> list[tuple[Shard, ...]]:
    """Divide consecutive shards among as few partitions as can count their words."""
    groups: list[list[Shard]] = []
    words = 0
    for shard in shards:
        if shard.n_words > MOST_WORDS:
            raise CorpusError(
                f"shard {shard.number} has {shard.n_words:,} words, more than the {MOST_WORDS:,} that 32 "
                "bits can count; write the corpus in more shards (`franchise shard --shards`)",
                code="too-many-words",
            )
        if not groups or words + shard.n_words > MOST_WORDS:
            groups.append([])
            words = 0
        groups[-1].append(shard)
        words += shard.n_words
    return [tuple(group) for group in groups]


def assigned(job: Job) -> list[Assigned]:
    """Return the documents of each partition of a job."""
    return [_assigned(job, shards) for shards in in_ranges(job.shards)]


def _assigned(job: Job, shards: tuple[Shard, ...]) -> Assigned:
    """Return some documents of a job; chains share the arrays of those in a folder."""
    place = Range(shards[0].first_document, shards[0].first_word, job.longest)
    if not isinstance(job.source, str):
        read = partial(some_documents, job.source, shards, job.shards[0].first_document)
        return Assigned(read, job.n_terms, place, shards)
    own = Assigned(partial(_read, job.source, shards), job.n_terms, place, shards)
    return _IN_FOLDERS.setdefault((job.source, shards, place), own)


def some_documents(source: Documents, shards: Sequence[Shard], first_document: int = 0) -> Documents:
    """Return the documents of consecutive shards from a source that begins at `first_document`."""
    first, last = shards[0], shards[-1]
    begin = first.first_document - first_document
    end = last.first_document + last.n_documents - first_document
    if end - begin == source.doc_ptr.size - 1:
        return source
    doc_ptr = source.doc_ptr[begin : end + 1]
    if isinstance(source, CorpusArrays):
        return CorpusArrays(source.x[doc_ptr[0] : doc_ptr[-1]], doc_ptr - doc_ptr[0], source.n_terms)
    cell_ptr = source.cell_ptr[begin : end + 1]
    cells = slice(cell_ptr[0], cell_ptr[-1])
    return CellArrays(
        doc_ptr - doc_ptr[0],
        cell_ptr - cell_ptr[0],
        source.terms[cells],
        source.counts[cells],
        source.n_terms,
    )


def _read(folder: str, shards: Sequence[Shard]) -> CorpusArrays:
    read = [read_shard(folder, one) for one in shards]
    if len(read) == 1:
        return read[0]
    lengths = np.concatenate([np.diff(one.doc_ptr) for one in read])
    return CorpusArrays(np.concatenate([one.x for one in read]), offsets_of(lengths), read[0].n_terms)
