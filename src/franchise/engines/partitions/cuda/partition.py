"""A partition on a GPU; between sweeps, or when just restored, its seating may be in the host's memory."""

from collections.abc import Callable
from weakref import WeakSet

import numpy as np
import scipy.sparse as sp

from franchise._arrays import Array, CorpusArrays
from franchise.engines.partitions.cuda.device import Device, memory_in_words
from franchise.engines.partitions.cuda.documents import GpuDocuments, blocks_for
from franchise.engines.partitions.host import HostSeating
from franchise.engines.partitions.partition import Passed, Range, SeatedDocuments, joined
from franchise.engines.starts.starting_topics import StartingTopics, number_of_topics
from franchise.engines.table_source import Tables
from franchise.engines.table_source import joined as joined_tables
from franchise.engines.threads import Threads
from franchise.model.measure import FREE, Measure
from franchise.model.rows import Rows, rows_of
from franchise.model.state import ALPHA, ETA, State
from franchise.random import Key


class MemoryShare:
    """The share of a GPU's memory that each of several partitions may use.

    It is set when the first partition comes to the GPU, and holds until all have left. The free memory would
    say little later, because most of the time a partition uses less than its peak.

    Parameters
    ----------
    partitions
        Number of partitions.
    """

    def __init__(self, partitions: int) -> None:
        self._partitions, self._bytes = partitions, 0
        self.there: WeakSet[GpuDocuments] = WeakSet()  # documents on the GPU

    def of(self, device: Device) -> int:
        """Return the bytes for each partition."""
        if not self.there:
            self._bytes = device.free_bytes() // self._partitions
        return self._bytes

    def __reduce__(self) -> tuple[type["MemoryShare"], tuple[int]]:
        return MemoryShare, (self._partitions,)  # copies of partitions are not on the GPU


class CudaPartition:
    """Documents on a GPU.

    Parameters
    ----------
    corpus
        The documents.
    place
        The range of the corpus that they are.
    threads
        Number of threads on the host; results do not depend on it.
    is_alone
        Whether there are no documents elsewhere: then the counts of these documents are those of all.
    share
        The share of the GPU's memory for this partition.
    device
        Returns the GPU when it is needed.
    """

    progress = 0.0  # not tracked: a pass is short

    def __init__(
        self,
        corpus: CorpusArrays,
        place: Range,
        threads: int,
        is_alone: bool,
        share: MemoryShare,
        device: Callable[[], Device],
    ) -> None:
        self._corpus, self._place, self._threads = corpus, place, Threads(threads)
        self._is_alone, self._share, self._device = is_alone, share, device
        # The seating is in one of these or, the same, in both.
        self._host: HostSeating | None = HostSeating(corpus)
        self._there: GpuDocuments | None = None
        self._rows: Rows | None = None  # of documents not on the GPU, if no other process needs them
        self._taken: list[SeatedDocuments] = []

    @property
    def n_bytes(self) -> int:
        """Memory of the seating, if it is on the host."""
        return 0 if self._host is None else sum(array.nbytes for array in self._host.state)

    def use_threads(self, number: int) -> None:
        """Use this number of threads on the host from now on."""
        self._threads = Threads(number)

    # ------------------------------------------------------------ on the host and on the GPU

    def _on_gpu(self) -> GpuDocuments:
        """Return the documents on the GPU."""
        assert self._there is not None
        return self._there

    def _to_gpu(self, n_topics: int) -> GpuDocuments:
        """Return the documents on the GPU, with their seating; the copy on the host is dropped."""
        if self._there is None:
            assert self._host is not None
            there = self._new_documents(n_topics)
            there.load(self._host.state, n_topics)
            self._there = there
        self._host = self._rows = None
        return self._there

    def _new_documents(self, n_topics: int) -> GpuDocuments:
        device = self._device()
        share = self._share.of(device)
        blocks = blocks_for(share, self._corpus, n_topics, with_others=not self._is_alone)
        documents = GpuDocuments(device, self._corpus, *blocks, *self._place)
        self._share.there.add(documents)
        return documents

    def _on_host(self) -> HostSeating:
        """Return the documents on the host, with their seating."""
        if self._host is None:
            self._host = HostSeating(self._corpus)
            self._host.state = self._host.state._replace(**self._on_gpu().seating())
        return self._host

    def rest(self) -> None:
        """Copy the seating to the host, and free the memory of the GPU for other chains."""
        if self._there is not None:
            self._on_host()
            self._rows, self._there = self._known_rows(), None

    def _known_rows(self) -> Rows | None:
        """Return the counts of these documents, if no other process needs them."""
        return self.rows() if self._is_alone and self._there is not None else self._rows

    def __getstate__(self) -> dict[str, object]:
        """Return the state of a copy, for this or another process."""
        return self.__dict__ | {"_host": self._on_host(), "_rows": self._known_rows(), "_there": None}

    # ------------------------------------------------------------ a start and a pass

    @memory_in_words()
    def start(self, key: Key, start: int | StartingTopics) -> Passed:
        """Sample the first topic of every word, from this number of topics or from fitted ones."""
        self._host, self._there = None, None  # frees its memory first
        self._there = self._new_documents(number_of_topics(start))
        return self._there.start(key, start)

    @memory_in_words()
    def update(
        self, key: Key, counts: State | Rows | None, weights: Measure, concentrations: Array, passes: int
    ) -> Passed:
        """Sample the terms of topics, then topics and tables of all documents; tables then have columns."""
        n_topics = int((weights.number[: weights.sizes[1]] != FREE).sum())
        alpha, eta = float(concentrations[ALPHA]), float(concentrations[ETA])
        return self._to_gpu(n_topics).update(key, weights, alpha, eta, passes, self._of_others_too(counts))

    def _of_others_too(self, counts: State | Rows | None) -> Rows | None:
        """Return the counts of all documents, None if these are all."""
        if counts is None or self._is_alone:
            return None
        return counts if isinstance(counts, Rows) else rows_of(counts)

    def name(self, columns: Array, with_rows: bool) -> Rows | None:
        """Receive the present topics: topic k has column columns[k]."""
        self._on_gpu().name(columns)
        return self.rows() if with_rows else None

    def rows(self) -> Rows:
        """Return the counts of every term by topic."""
        if self._there is None and self._rows is not None:
            return self._rows
        return self._on_gpu().rows()

    def log_p_terms(self, eta: float, counts: State | Rows | None) -> float:
        """Return the terms' contribution to log p(x | c); None means that the counts here are all."""
        return self._on_gpu().log_p_terms(eta, self._of_others_too(counts))

    # ------------------------------------------------------------ collapsed moves

    @memory_in_words()
    def take(self, room: int, turn: int, n_turns: int) -> SeatedDocuments:
        """Store topics under their numbers, with room for `room`; return the documents whose turn it is."""
        documents = self._on_gpu()
        documents.open(room)
        self._taken = documents.take(turn, n_turns)
        return joined(self._taken)

    def put(self, documents: SeatedDocuments) -> None:
        """Take documents back with another seating."""
        self._on_gpu().put(documents, self._taken)
        self._taken = []

    def tables_of_words(self, words: Array) -> tuple[Array, Array]:
        """Return the slot of the table of each of these words, and its topic."""
        found = [tables.tables_of_words(words) for tables in self._on_gpu().tables(self._threads)]
        slots, topics = np.max(found, axis=0)  # -1 in all blocks but one
        return slots, topics

    def tables_of(self, topics: Array) -> list[Tables]:
        """Return the tables of each of these topics."""
        found = [tables.tables_of(topics) for tables in self._on_gpu().tables(self._threads)]
        return [joined_tables(of_topic) for of_topic in zip(*found, strict=True)]

    def relabel(self, slots: Array, topic: int) -> None:
        """Give the tables at these slots to a topic; slots that are not here are skipped."""
        self._on_gpu().relabel(slots, topic, self._threads)

    def merge(self, into: Array) -> None:
        """Give the words and tables of each topic k to topic into[k]."""
        self._on_gpu().merge(into)

    def finish(self, order: Array | None) -> tuple[Array, Array]:
        """End the sweep; return the sizes of tables and the number of tables of each size."""
        documents = self._on_gpu()
        if order is not None:
            documents.close(order)
        sizes = np.flatnonzero(documents.table_sizes)
        return sizes, documents.table_sizes[sizes]

    # ------------------------------------------------------------ storing and restoring

    def seating(self, begin: int, end: int) -> dict[str, Array]:
        """Return the seating of documents `begin` to `end`, as a checkpoint stores it."""
        return self._on_host().seating(begin, end)

    def seat(self, begin: int, end: int, arrays: dict[str, Array]) -> None:
        """Set the seating of documents `begin` to `end`; ValueError and KeyError say what is wrong."""
        self._on_host().seat(begin, end, arrays)

    def recount(self, n_topics: int) -> Passed:
        """Count the words and tables of each topic; ValueError if a topic is out of range."""
        return self._on_host().recount(n_topics)

    def document_topics(self, rank: Array, n_topics: int) -> sp.csr_array:
        """Return n_j.k of the documents; topic k is column rank[k]."""
        holds = self._on_host() if self._there is None else self._there
        return holds.document_topics(rank, n_topics)
