"""A partition of counts: all words of one term in one document are sampled at once.

Given G_0, the weights of a document's topics are sampled, then the topics of its cells, then the seating of
its words (`moves.cells`). Time and memory grow with the number of cells and topics, not of words.
"""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from franchise._arrays import Array, CellArrays, offsets_of, places_of
from franchise.engines.collapsed import document_topics_of
from franchise.engines.instantiation import Instantiator
from franchise.engines.partitions.partition import (
    Passed,
    Range,
    SeatedDocuments,
    has_changed,
    numbers_for,
    recounted,
    turns,
)
from franchise.engines.starts.starting_topics import StartingTopics, number_of_topics
from franchise.engines.table_source import CountedTables, Tables
from franchise.engines.threads import Range as Documents
from franchise.engines.threads import Threads, falling_ranges
from franchise.model.cell_tables import CellTables, no_tables, slots_as_corpus, term_counts
from franchise.model.measure import Measure
from franchise.model.recount import recount_cells
from franchise.model.rows import Rows, rows_of
from franchise.model.state import State, state_of_counts
from franchise.moves.cells import CellScratch, new_cell_scratch, room_for, start_cells, update_cells
from franchise.random import CELLS, Key

_ROOM = 1 << 12  # initial room for tables and pairs of a range of documents
Sample = Callable[[CellScratch, Array, int, int], int]


class CellsPartition:
    """Documents as cells (document, term, count), updated in threads.

    Parameters
    ----------
    cells
        The documents.
    place
        The range of the corpus that they are.
    threads
        Number of threads; results do not depend on it.
    instantiator
        Samples the terms of topics, for all partitions of this process.
    """

    def __init__(self, cells: CellArrays, place: Range, threads: int, instantiator: Instantiator) -> None:
        self._cells, self._place, self._instantiator = cells, place, instantiator
        n_documents = cells.doc_ptr.size - 1
        self._turns: list[Array] = []
        self.progress = 0.0
        self.state = state_of_counts(np.zeros(cells.n_terms, np.int64), n_documents, 0)
        self.tables = no_tables(n_documents)
        self._n_topics = 0
        self.use_threads(threads)

    @property
    def n_bytes(self) -> int:
        """Memory of the seating and of the contents of tables."""
        return sum(array.nbytes for array in (*self.state, *self.tables))

    def use_threads(self, number: int) -> None:
        """Use this number of threads from now on; results stay the same."""
        self._threads = Threads(number)
        self._ranges = falling_ranges(self._cells.cell_ptr, number)
        self._own: list[CellScratch] = []

    # ------------------------------------------------------------ a start and a pass

    def start(self, key: Key, start: int | StartingTopics) -> Passed:
        """Sample the topic of every word for the first time; the last column is for common words."""
        cells, columns, first = self._cells, number_of_topics(start), self._place.first_document
        if isinstance(start, int):
            phi, steps = np.ones((cells.n_terms, columns + 1)), 0
            phi[:, -1] = 0.0
        else:
            phi = np.ascontiguousarray(np.column_stack([start.phi[start.row], start.common]))
            steps = start.steps

        def draw(own: CellScratch, m_j: Array, begin: int, end: int) -> int:
            return int(start_cells(key, cells, phi, steps, own, m_j, first, begin, end))

        return self._seat_again(draw, phi.shape[1])

    def update(
        self, key: Key, counts: State | Rows | None, weights: Measure, concentrations: Array, passes: int
    ) -> Passed:
        """Sample the terms of topics, then topics and tables of all documents; tables then have columns."""
        assert counts is not None
        self.progress, concentrations = 0.0, concentrations.copy()
        measure = self._instantiator.terms(key, counts, concentrations, weights)
        self.state = self.state._replace(concentrations=concentrations)
        cells, state, tables, first = self._cells, self.state, self.tables, self._place.first_document
        key = key._replace(move=CELLS)

        def draw(own: CellScratch, m_j: Array, begin: int, end: int) -> int:
            return int(update_cells(key, cells, state, tables, measure, own, m_j, first, begin, end))

        return self._seat_again(draw, int(measure.sizes[1]))

    def _seat_again(self, draw: Sample, columns: int) -> Passed:
        """Sample topics and tables of all documents, and replace the present ones."""
        self._make_room_for_entries(columns)
        m_j = np.zeros(self._cells.doc_ptr.size - 1, np.int32)
        parts: list[list[Array]] = [[] for _ in self._ranges]
        place = {one: i for i, one in enumerate(self._ranges)}
        cell_ptr, n_cells = self._cells.cell_ptr, max(1, self._cells.terms.size)

        def update(one: Documents, number: int) -> None:
            begin, end = one
            while True:
                own = self._own[number]
                own.used[:] = 0
                first, begin = begin, draw(own, m_j, begin, end)
                parts[place[one]] += _taken(own)
                if begin == end:
                    return
                if begin == first:  # no room even for one document
                    self._own[number] = own._replace(**room_for(2 * own.term.size))

        def note(one: Documents) -> None:
            self.progress += (cell_ptr[one[1]] - cell_ptr[one[0]]) / n_cells

        self._threads.each(update, self._ranges, range(self._threads.number), note)
        every = [part for own in parts for part in own]
        n_jt, k_jt, n_pairs, term, count = (
            np.concatenate([np.zeros(0, np.int32), *every[i::5]]) for i in range(5)
        )
        self.tables = CellTables(offsets_of(m_j), offsets_of(n_pairs), term, count)
        self.state = self.state._replace(m_j=m_j, n_jt=n_jt, k_jt=k_jt)
        return self.recount(columns)

    def _make_room_for_entries(self, columns: int) -> None:
        """Make room for a document's terms in every column that may have them, and in resting columns."""
        cells, tables, threads = self._cells, self.tables, self._threads.number
        if not self._own or self._own[0].theta.size < columns:
            wider = columns + columns // 4
            self._own = [new_cell_scratch(wider, cells.n_terms, 0, _ROOM) for _ in range(threads)]
        drawn = offsets_of(np.minimum(cells.counts, columns))[cells.cell_ptr]
        resting = tables.pair_ptr[tables.slot_ptr]
        most = int((np.diff(drawn) + np.diff(resting)).max(initial=0))
        for i, own in enumerate(self._own):
            if own.entry_c.size < most:
                names = ("entry_c", "entry_v", "entry_n", "sorted_v", "sorted_n")
                room = {name: np.zeros(most + most // 4, np.int32) for name in names}
                self._own[i] = own._replace(**room)

    def name(self, columns: Array, with_rows: bool) -> Rows | None:
        """Receive the present topics: topic k has column columns[k]."""
        self._n_topics = columns.size
        self.merge(numbers_for(columns))
        return self.rows() if with_rows else None

    def fill_rows(self, state: State) -> None:
        """Fill in the rows of a state from these documents only."""
        counts = np.zeros((self._cells.n_terms, self._n_topics), np.uint32)
        recount_cells(state, self.state.k_jt, self.tables, counts)

    def rows(self) -> Rows:
        """Return the counts of every term by topic."""
        state = state_of_counts(term_counts(self._cells), 0, self._n_topics)
        self.fill_rows(state)
        return rows_of(state)

    # ------------------------------------------------------------ collapsed moves

    def take(self, room: int, turn: int, n_turns: int) -> SeatedDocuments:
        """Return the documents whose turn it is."""
        first, state, tables = self._place.first_document, self.state, self.tables
        if len(self._turns) != n_turns:
            self._turns = turns(self._cells.doc_ptr.size - 1, n_turns, first)
        documents, nothing = self._turns[turn], np.zeros(0, np.int32)
        slots = self._slots_of(documents)
        n_pairs = np.diff(tables.pair_ptr)[slots]
        pairs = places_of(tables.pair_ptr[slots], n_pairs)
        m_j = state.m_j[documents]
        return SeatedDocuments(
            first + documents, m_j.astype(np.int64), m_j, nothing, nothing, state.n_jt[slots],
            state.k_jt[slots], tables.term[pairs], tables.words[pairs], offsets_of(n_pairs),
        )  # fmt: skip

    def put(self, documents: SeatedDocuments) -> None:
        """Take documents back with new topics of their tables."""
        here = documents.numbers - self._place.first_document
        self.state.k_jt[self._slots_of(here)] = documents.k_jt

    def _slots_of(self, documents: Array) -> Array:
        return places_of(self.tables.slot_ptr[documents], np.diff(self.tables.slot_ptr)[documents])

    def tables_of_words(self, words: Array) -> tuple[Array, Array]:
        """Return the slot of the table of each of these words, and its topic."""
        return self._tables().tables_of_words(words)

    def tables_of(self, topics: Array) -> list[Tables]:
        """Return the tables of each of these topics."""
        return self._tables().tables_of(topics)

    def relabel(self, slots: Array, topic: int) -> None:
        """Give the tables at these slots to a topic."""
        self._tables().relabel(slots, topic)

    def _tables(self) -> CountedTables:
        return CountedTables(self.tables, self.state, self._place.first_word)

    def merge(self, into: Array) -> None:
        """Give the words and tables of each topic k to topic into[k]."""
        self.state.k_jt[:] = into[self.state.k_jt]

    def finish(self, order: Array | None) -> tuple[Array, Array]:
        """End the sweep; return the sizes of tables and the number of tables of each size."""
        self.progress = 0.0  # of the next sweep
        if order is not None and has_changed(order):
            self.merge(numbers_for(order))
        return np.unique(self.state.n_jt, return_counts=True)

    def rest(self) -> None:
        """Do nothing: no other chain needs this memory."""

    # ------------------------------------------------------------ storing and restoring

    def seating(self, begin: int, end: int) -> dict[str, Array]:
        """Return the seating of documents `begin` to `end`, as a checkpoint stores it."""
        slots = slice(*self.tables.slot_ptr[[begin, end]])
        pairs = slice(*self.tables.pair_ptr[[slots.start, slots.stop]])
        return {
            "m_j": self.state.m_j[begin:end].copy(),
            "n_jt": self.state.n_jt[slots].copy(),
            "k_jt": self.state.k_jt[slots].copy(),
            "n_pairs": np.diff(self.tables.pair_ptr)[slots].astype(np.int32),
            "term": self.tables.term[pairs].copy(),
            "count": self.tables.words[pairs].copy(),
        }

    def seat(self, begin: int, end: int, arrays: dict[str, Array]) -> None:
        """Set the seating of documents `begin` to `end`; documents before `begin` already have theirs."""
        state, tables = self.state, self.tables
        state.m_j[begin:end] = arrays["m_j"]
        k_jt, n_jt = (np.concatenate([getattr(state, name), arrays[name]]) for name in ("k_jt", "n_jt"))
        n_pairs = np.concatenate([np.diff(tables.pair_ptr), arrays["n_pairs"]])
        term, count = (
            np.concatenate([tables.term, arrays["term"]]),
            np.concatenate([tables.words, arrays["count"]]),
        )
        self.state = state._replace(k_jt=k_jt, n_jt=n_jt)
        self.tables = CellTables(offsets_of(state.m_j), offsets_of(n_pairs), term, count)

    def recount(self, n_topics: int) -> Passed:
        """Count the words and tables of each topic; ValueError if a topic is out of range."""
        return recounted(self.state.n_jt, self.state.k_jt, n_topics)

    def document_topics(self, rank: Array, n_topics: int) -> sp.csr_array:
        """Return n_j.k of the documents; topic k is column rank[k]."""
        return document_topics_of(
            slots_as_corpus(self._cells, self.tables), self.state, rank.copy(), n_topics
        )


def _taken(own: CellScratch) -> list[Array]:
    """Return copies of the results for a range of documents."""
    n_tables, n_pairs = own.used.tolist()
    by_table = [values[:n_tables].copy() for values in (own.n_jt, own.k_jt, own.n_pairs)]
    return [*by_table, own.term[:n_pairs].copy(), own.number[:n_pairs].copy()]
