"""A partition of words in memory: its seating, the pass over documents given G_0, and the counts of words."""

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from franchise._arrays import Array, CorpusArrays, count_terms, narrow, offsets_of, places_of, ranges_of
from franchise.engines.collapsed import document_topics_of
from franchise.engines.instantiation import Instantiator
from franchise.engines.partitions.partition import (
    Passed,
    Range,
    SeatedDocuments,
    has_changed,
    numbers_for,
    recounted,
    totals,
    turns,
)
from franchise.engines.starts.starting_topics import StartingTopics, draw_first_topics
from franchise.engines.table_source import HeldTables, Tables
from franchise.engines.threads import Range as Documents
from franchise.engines.threads import Threads, falling_ranges
from franchise.model.joint import count_table_sizes
from franchise.model.measure import Measure
from franchise.model.packing import gathered
from franchise.model.recount import add_up_counts, list_places, number_tables, recount_terms
from franchise.model.rows import Rows, rows_of
from franchise.model.state import State, state_of_counts
from franchise.moves.documents import DocumentScratch, new_document_scratch, update_documents
from franchise.random import DOCUMENTS, Key

_WORDS_AT_ONCE = 1 << 20  # NumPy needs about ten times as much memory for what it counts
_BYTES_TO_COUNT = 10  # per word: limit on the separate counts of all threads together


class HostSeating:
    """The seating of a range of documents.

    Parameters
    ----------
    corpus
        The documents.
    """

    def __init__(self, corpus: CorpusArrays) -> None:
        self.corpus, self.state = corpus, no_seating(corpus)

    def seating(self, begin: int, end: int) -> dict[str, Array]:
        """Return the seating of documents `begin` to `end`, as a checkpoint stores it."""
        words, state = slice(*self.corpus.doc_ptr[[begin, end]]), self.state
        first = self.corpus.doc_ptr[begin:end].copy()
        return {
            "t_ji": narrow(state.t_ji[words]),
            "n_jt": gathered(first, state.m_j[begin:end], state.n_jt),
            "k_jt": gathered(first, state.m_j[begin:end], state.k_jt),
            "m_j": narrow(state.m_j[begin:end]),
        }

    def seat(self, begin: int, end: int, arrays: dict[str, Array]) -> None:
        """Set the seating of documents `begin` to `end`; ValueError and KeyError say what is wrong."""
        first, last = self.corpus.doc_ptr[[begin, end]]
        lengths, state = np.diff(self.corpus.doc_ptr[begin : end + 1]), self.state
        t_ji, m_j, k_jt = (arrays[name].astype(np.int32) for name in ("t_ji", "m_j", "k_jt"))
        if t_ji.size != last - first or m_j.size != end - begin or k_jt.size != m_j.sum(dtype=np.int64):
            raise ValueError("the seating does not match these documents")
        if np.any(m_j > lengths):
            raise ValueError("a document has more tables than words")
        if np.any(m_j < (lengths > 0)) or np.any(t_ji < 0) or np.any(t_ji >= np.repeat(m_j, lengths)):
            raise ValueError("a word sits at a table that does not exist")
        state.t_ji[first:last], state.m_j[begin:end] = t_ji, m_j
        for _ in self._count_words(begin, end):
            pass
        slots = places_of(self.corpus.doc_ptr[begin:end], m_j)
        if np.any(state.n_jt[slots] == 0):
            raise ValueError("there is a table without words")
        state.k_jt[slots] = k_jt

    def _count_words(self, begin: int, end: int) -> Iterator[tuple[slice, Array]]:
        """Count the words at the tables of documents `begin` to `end`, in blocks.

        Yields the words of each block, and the slot of each word's table, counted from its first slot.
        """
        doc_ptr, state = self.corpus.doc_ptr[begin : end + 1], self.state
        for a, b in ranges_of(doc_ptr, _WORDS_AT_ONCE):
            words = slice(doc_ptr[a], doc_ptr[b])
            slots = np.repeat(doc_ptr[a:b] - doc_ptr[a], np.diff(doc_ptr[a : b + 1])) + state.t_ji[words]
            state.n_jt[words] = np.bincount(slots, minlength=slots.size)
            yield words, slots

    def recount(self, n_topics: int) -> Passed:
        """Count the words and tables of each topic; ValueError if a topic is out of range."""
        doc_ptr, state, nothing = self.corpus.doc_ptr, self.state, np.zeros(n_topics, np.int64)
        counted = [Passed(nothing, nothing)]
        for begin, end in ranges_of(doc_ptr, _WORDS_AT_ONCE):
            in_use = places_of(doc_ptr[begin:end], state.m_j[begin:end])
            counted.append(recounted(state.n_jt[in_use], state.k_jt[in_use], n_topics))
        return totals(counted)

    def document_topics(self, rank: Array, n_topics: int) -> sp.csr_array:
        """Return n_j.k of the documents; topic k is column rank[k]."""
        return document_topics_of(self.corpus, self.state, rank.copy(), n_topics)


def no_seating(corpus: CorpusArrays) -> State:
    """Return a state of documents without any seated word or topic."""
    n_words = corpus.x.size
    state = state_of_counts(np.zeros(corpus.n_terms, np.int64), corpus.doc_ptr.size - 1, 0)
    return state._replace(
        t_ji=np.full(n_words, -1, np.int32),
        n_jt=np.zeros(n_words, np.int32),
        k_jt=np.zeros(n_words, np.int32),
    )


class HostPartition(HostSeating):
    """Documents in memory, updated in threads.

    Parameters
    ----------
    corpus
        The documents.
    place
        The range of the corpus that they are.
    threads
        Number of threads; results do not depend on it.
    instantiator
        Samples the terms of topics, for all partitions of this process.
    """

    def __init__(self, corpus: CorpusArrays, place: Range, threads: int, instantiator: Instantiator) -> None:
        super().__init__(corpus)
        self._place, self._instantiator = place, instantiator
        self._term_ptr = offsets_of(count_terms(corpus.x, corpus.n_terms))
        self._longest = int(np.diff(corpus.doc_ptr).max(initial=0))
        self._turns: list[Array] = []
        self.progress = 0.0
        self._columns = np.zeros(0, np.int64)  # of each topic, in the last pass
        self.use_threads(threads)

    @property
    def n_bytes(self) -> int:
        """Memory of the seating, of weights and topics, and of the counts of words."""
        arrays = *self.state, *(self._instantiator.measure or ()), self._counts, self._z, self._places
        return sum(array.nbytes for array in arrays)

    def use_threads(self, number: int) -> None:
        """Use this number of threads from now on; results stay the same."""
        doc_ptr, self._threads = self.corpus.doc_ptr, Threads(number)
        self._ranges = falling_ranges(doc_ptr, number)
        self._few_ranges = falling_ranges(doc_ptr, number, each=1)  # for short work
        self._terms = falling_ranges(np.arange(self.corpus.n_terms + 1), number, each=1)
        self._own: list[DocumentScratch] = []
        self._counts = np.zeros((number, 0, 0), np.int32)
        self._z, self._places = np.zeros(0, np.int32), np.zeros(0, np.uint32)

    # ------------------------------------------------------------ a start and a pass

    def start(self, key: Key, start: int | StartingTopics) -> Passed:
        """Sample the first topic of every word, from this number of topics or from fitted ones."""
        corpus = self.corpus
        del self.state  # frees its memory first
        self.state = no_seating(corpus)
        columns = draw_first_topics(key, corpus, self.state, start, self._threads, self._place.first_document)
        z = np.empty(corpus.x.size, np.int32)
        for words, slots in self._count_words(0, corpus.doc_ptr.size - 1):
            z[words] = self.state.k_jt[words][slots]
        self._count_words_by_place(z, self._listed_places())
        return self.recount(columns)

    def update(
        self, key: Key, counts: State | Rows | None, weights: Measure, concentrations: Array, passes: int
    ) -> Passed:
        """Sample the terms of topics, then topics and tables of all documents; tables then have columns."""
        assert counts is not None
        self.progress, concentrations = 0.0, concentrations.copy()
        measure = self._instantiator.terms(key, counts, concentrations, weights)
        self.state = state = self.state._replace(concentrations=concentrations)
        corpus, columns, first = self.corpus, int(measure.sizes[1]), self._place.first_document
        self._make_room(columns)
        key, z, n_words = key._replace(move=DOCUMENTS), self._z, max(1, corpus.x.size)
        for own in self._own:
            own.words_c[:columns] = 0
            own.tables_c[:columns] = 0

        def update(one: Documents, own: tuple[DocumentScratch, Array]) -> None:
            update_documents(key, corpus, state, measure, passes, *own, z, first, *one)

        def note(one: Documents) -> None:
            self.progress += (corpus.doc_ptr[one[1]] - corpus.doc_ptr[one[0]]) / n_words

        self._threads.each(update, self._ranges, [*zip(self._own, self._counts, strict=True)], note)
        words = np.sum([own.words_c[:columns] for own in self._own], axis=0)
        return Passed(words, np.sum([own.tables_c[:columns] for own in self._own], axis=0))

    def name(self, columns: Array, with_rows: bool) -> Rows | None:
        """Receive the present topics: topic k has column columns[k]."""
        self._columns = columns.copy()  # received arrays are read-only
        self.merge(numbers_for(columns))
        return self.rows() if with_rows else None

    def merge(self, into: Array) -> None:
        """Give the words and tables of each topic k to topic into[k]."""
        corpus, state, number = self.corpus, self.state, into.astype(np.int32)

        def name(one: Documents, own: None) -> None:
            number_tables(corpus, state, number, *one)

        self._threads.each(name, self._few_ranges, [None] * self._threads.number)

    # ------------------------------------------------------------ counts of terms by topic

    def fill_rows(self, state: State) -> None:
        """Fill in the rows of a state from these documents only."""
        counts, z, places, term_ptr = self._counts, self._z, self._places, self._term_ptr
        columns = self._columns

        def add_up(one: Documents, own: DocumentScratch) -> None:
            add_up_counts(state, counts, columns, *one)

        def recount(one: Documents, own: DocumentScratch) -> None:
            recount_terms(state, term_ptr, z, places, columns, own.words_c, *one)

        self._make_scratch(int(columns.max(initial=-1)) + 1)
        for own in self._own:
            own.words_c[:] = 0
        if counts.size:
            self._threads.each(add_up, self._terms, self._own)
        else:
            self._threads.each(recount, falling_ranges(term_ptr, self._threads.number), self._own)

    def rows(self) -> Rows:
        """Return the counts of every term by topic."""
        state = state_of_counts(np.diff(self._term_ptr), 0, self._columns.size)
        self.fill_rows(state)
        return rows_of(state)

    def _make_room(self, columns: int) -> None:
        """Allocate working memory for every thread, and counts by term and column if these are small."""
        threads, n_terms, n_words = self._threads.number, self.corpus.n_terms, self.corpus.x.size
        self._make_scratch(columns)
        if threads * n_terms * columns * 4 > _BYTES_TO_COUNT * n_words:
            z = self._z if self._z.size == n_words else np.zeros(n_words, np.int32)
            self._count_words_by_place(z, self._listed_places())
            return
        self._z, self._places = np.zeros(0, np.int32), np.zeros(0, np.uint32)
        if self._counts.shape[2] < columns:
            self._counts = np.zeros((threads, n_terms, columns + columns // 8), np.int32)

    def _make_scratch(self, columns: int) -> None:
        if not self._own or self._own[0].slot.size < columns:
            room = columns + columns // 4
            self._own = [new_document_scratch(self._longest, room) for _ in range(self._threads.number)]

    def _count_words_by_place(self, z: Array, places: Array) -> None:
        """Count words by their columns `z`, term by term, after the documents are sampled.

        `places` lists the words of each term.
        """
        self._counts = np.zeros((self._threads.number, 0, 0), np.int32)
        self._z, self._places = z, places

    def _listed_places(self) -> Array:
        if self._places.size == self.corpus.x.size:
            return self._places
        places = np.zeros(self.corpus.x.size, np.uint32)
        list_places(self.corpus.x, self._term_ptr[:-1].copy(), places)
        return places

    # ------------------------------------------------------------ collapsed moves

    def take(self, room: int, turn: int, n_turns: int) -> SeatedDocuments:
        """Return the documents whose turn it is."""
        first = self._place.first_document
        if len(self._turns) != n_turns:
            self._turns = turns(self.corpus.doc_ptr.size - 1, n_turns, first)
        documents, state = self._turns[turn], self.state
        places = self._words_of(documents)
        return SeatedDocuments(
            first + documents,
            np.diff(self.corpus.doc_ptr)[documents],
            state.m_j[documents],
            self.corpus.x[places],
            *(array[places] for array in (state.t_ji, state.n_jt, state.k_jt)),
        )

    def put(self, documents: SeatedDocuments) -> None:
        """Take documents back with another seating."""
        here, state = documents.numbers - self._place.first_document, self.state
        places = self._words_of(here)
        state.m_j[here] = documents.m_j
        state.t_ji[places], state.n_jt[places] = documents.t_ji, documents.n_jt
        state.k_jt[places] = documents.k_jt

    def _words_of(self, documents: Array) -> Array:
        """Return the places of the words of documents."""
        return places_of(self.corpus.doc_ptr[documents], np.diff(self.corpus.doc_ptr)[documents])

    def finish(self, order: Array | None) -> tuple[Array, Array]:
        """End the sweep; return the sizes of tables and the number of tables of each size."""
        if order is not None and has_changed(order):
            self.merge(numbers_for(order))
        self.progress = 0.0  # of the next sweep
        corpus, state = self.corpus, self.state
        counts = [np.zeros(self._longest + 1, np.int64) for _ in range(self._threads.number)]

        def count(one: Documents, own: Array) -> None:
            count_table_sizes(corpus, state, own, *one)

        self._threads.each(count, self._few_ranges, counts)
        times = np.sum(counts, axis=0)
        sizes = np.flatnonzero(times)
        return sizes, times[sizes]

    def rest(self) -> None:
        """Do nothing: no other chain needs this memory."""

    def tables_of_words(self, words: Array) -> tuple[Array, Array]:
        """Return the slot of the table of each of these words, and its topic."""
        return self._tables().tables_of_words(words)

    def tables_of(self, topics: Array) -> list[Tables]:
        """Return the tables of each of these topics."""
        return self._tables().tables_of(topics)

    def relabel(self, slots: Array, topic: int) -> None:
        """Give the tables at these slots to a topic."""
        self._tables().relabel(slots, topic)

    def _tables(self) -> HeldTables:
        return HeldTables(self.corpus, self.state, self._threads, self._place.first_word)
