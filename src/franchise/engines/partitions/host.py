"""A partition of words in memory."""

import numpy as np

from franchise._arrays import places_of
from franchise.corpus import CorpusArrays
from franchise.engines.instantiation import Instantiator
from franchise.engines.partitions.document_pass import DocumentPass
from franchise.engines.partitions.host_seating import HostSeating, no_seating
from franchise.engines.partitions.partition import Passed, Range, SeatedDocuments, has_changed, turns
from franchise.engines.starts import StartingTopics, draw_first_topics
from franchise.engines.table_source import HeldTables, Tables
from franchise.engines.threads import Threads
from franchise.model.measure import Measure
from franchise.model.rows import Rows, rows_of
from franchise.model.state import Array, State, state_of_counts
from franchise.random import Key


class HostPartition(HostSeating):
    """Documents in memory, gone through in threads.

    Parameters
    ----------
    corpus
        The documents.
    place
        Which of the whole corpus they are.
    threads
        How many; they change no bit.
    instantiator
        What samples the terms of topics, for all partitions of this process.
    """

    def __init__(self, corpus: CorpusArrays, place: Range, threads: int, instantiator: Instantiator) -> None:
        super().__init__(corpus)
        self._place, self._instantiator = place, instantiator
        self._turns: list[Array] = []
        self.progress = 0.0
        self._columns = np.zeros(0, np.int64)  # of each topic, in the last pass
        self.use_threads(threads)

    @property
    def n_bytes(self) -> int:
        """Memory of the seating, of weights and topics, and of what words are counted in."""
        measure = sum(array.nbytes for array in self._instantiator.measure or ())
        return sum(array.nbytes for array in self.state) + int(measure) + self._pass.n_bytes

    def use_threads(self, number: int) -> None:
        """Work in so many threads from now on; it changes no bit."""
        self._threads = Threads(number)
        self._pass = DocumentPass(self.corpus, number, self._place.first_document)

    # ------------------------------------------------------------ a start and a pass

    def start(self, key: Key, start: int | StartingTopics) -> Passed:
        """Sample the first topic of every word: from so many, or from fitted ones."""
        corpus = self.corpus
        del self.state  # its memory first
        self.state = no_seating(corpus)
        columns = draw_first_topics(key, corpus, self.state, start, self._threads, self._place.first_document)
        z = np.empty(corpus.x.size, np.int32)
        for words, slots in self._count_words(0, corpus.doc_ptr.size - 1):
            z[words] = self.state.k_jt[words][slots]
        self._pass.take_up(z)
        return self.recount(columns)

    def update(
        self, key: Key, counts: State | Rows | None, weights: Measure, concentrations: Array, passes: int
    ) -> Passed:
        """Sample the terms of topics, then topics and tables of all documents; tables have columns then."""
        assert counts is not None
        self.progress, concentrations = 0.0, concentrations.copy()
        measure = self._instantiator.terms(key, counts, concentrations, weights)
        self.state = self.state._replace(concentrations=concentrations)
        return Passed(*self._pass.update(key, self.state, measure, passes, self._note))

    def _note(self, share: float) -> None:
        self.progress += share

    def name(self, columns: Array, with_rows: bool) -> Rows | None:
        """Take note of the topics that there are now: topic k has column columns[k]."""
        self._columns = columns.copy()  # what was sent is read-only
        self._pass.number(self.state, columns)
        return self.rows() if with_rows else None

    def fill_rows(self, state: State) -> None:
        """Fill in the rows of a state from these documents alone."""
        self._pass.count(state, self._columns)

    def rows(self) -> Rows:
        """Return the counts of every term by topic."""
        state = state_of_counts(self._pass.term_counts, 0, self._columns.size)
        self.fill_rows(state)
        return rows_of(state)

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
        """Take documents back, seated in another way."""
        here, state = documents.numbers - self._place.first_document, self.state
        places = self._words_of(here)
        state.m_j[here] = documents.m_j
        state.t_ji[places], state.n_jt[places] = documents.t_ji, documents.n_jt
        state.k_jt[places] = documents.k_jt

    def _words_of(self, documents: Array) -> Array:
        """Return the places of the words of documents."""
        return places_of(self.corpus.doc_ptr[documents], np.diff(self.corpus.doc_ptr)[documents])

    def merge(self, into: Array) -> None:
        """Give the words and tables of each topic k to topic into[k]."""
        self._pass.renumber(self.state, into.astype(np.int32))

    def finish(self, order: Array | None) -> tuple[Array, Array]:
        """End the sweep; return the different sizes of tables, and how many tables have each."""
        if order is not None and has_changed(order):
            self._pass.number(self.state, order)
        self.progress = 0.0  # of the next sweep
        times = self._pass.table_sizes(self.state)
        sizes = np.flatnonzero(times)
        return sizes, times[sizes]

    def rest(self) -> None:
        """Keep all: there is room for it in this process."""

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
