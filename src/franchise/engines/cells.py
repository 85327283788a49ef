"""The engine for counts: the words of one term in one document are drawn at once, however many they are.

A sweep draws G_0 given the franchise, as the parallel engine does; then, document by document, in threads,
the weights of its topics, the topics of its cells and the seats of its words (`moves.cells`); then, on the
franchise that this leaves, the topics of tables, of some documents in every sweep, split-merge trials and
concentrations. Time and memory go with the number of cells and topics, not with that of words.
"""

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import numpy as np

from franchise._arrays import offsets_of
from franchise.corpus.cells import CellArrays
from franchise.engines.cell_bench import CellBench
from franchise.engines.collapsed import counts_of
from franchise.engines.engine import Counts, EngineSettings, Swept, Trials
from franchise.engines.revealing import DocumentsInfo, RevealingEngine, number_of_turns, renumber, turns
from franchise.engines.starting_topics import StartingTopics
from franchise.engines.threads import Range, falling_ranges
from franchise.errors import SettingsError
from franchise.model.cell_packing import packed_cells, unpacked_cells
from franchise.model.cell_tables import CellTables, empty_cell_state, no_tables
from franchise.model.joint import Joint, log_p_tables_of_counts, log_p_topics
from franchise.model.likelihood import log_p_words
from franchise.model.measure import FREE
from franchise.model.state import ALPHA, ETA, GAMMA, Array, State
from franchise.moves.cells import CellScratch, new_cell_scratch, room_for, start_cells, update_cells
from franchise.random import CELLS, INITIALIZE, Key

_ROOM = 1 << 12  # for tables and pairs of a run of documents, to begin with
_TABLE_CELLS = 10_000  # in a sweep, of documents whose tables are drawn one by one


class CellsEngine(RevealingEngine):
    """Makes sweeps of a franchise of cells, in threads."""

    name: ClassVar[str] = "cells"
    takes_cells: ClassVar[bool] = True
    seats_in_turn: ClassVar[bool] = False

    def __init__(self, cells: CellArrays, settings: EngineSettings) -> None:
        self._cells = cells
        super().__init__(cells, settings)
        self._bench: CellBench | None = None
        n_turns = number_of_turns(cells.terms.size, _TABLE_CELLS)
        self._turns = turns(cells.doc_ptr.size - 1, n_turns)

    @property
    def n_bytes(self) -> int:
        """Memory of the state and of what tables hold."""
        return sum(array.nbytes for array in (*self.state, *self.tables))

    def use_threads(self, number: int) -> None:
        """Make sweeps in so many threads from now on; it changes no bit."""
        super().use_threads(number)
        self._documents = falling_ranges(self._cells.cell_ptr, number)
        self._own: list[CellScratch] = []

    @property
    def workbench(self) -> CellBench:
        """The state and its working memory, made when first asked for."""
        if self._bench is None:
            state = self._empty_state(self._settings.capacity)
            self._bench = CellBench(self._cells, state, no_tables(state.m_j.size))
        return self._bench

    @property
    def tables(self) -> CellTables:
        """What the tables of the current state hold."""
        return self.workbench.tables

    def seat(self, state: State) -> None:
        """Refuse a state of words."""
        raise SettingsError(
            "engine='cells': a state of words cannot be taken up; start from topics", code="unsupported-start"
        )

    def start(self, key: Key, start: str | int | StartingTopics) -> None:
        """Seat every word by topics, or by random ones."""
        if isinstance(start, StartingTopics):
            phi = np.ascontiguousarray(np.column_stack([start.phi[start.row], start.common]))
            self._start(key, phi, start.steps)
        elif start == "sequential":
            raise SettingsError(
                "start='sequential': the words of a cell are seated at once, not one after another; start "
                "from 'fitted', 'one' or a number of random topics",
                code="conflicting-settings",
            )
        else:
            phi = np.ones((self._cells.n_terms, (1 if start == "one" else int(start)) + 1))
            phi[:, -1] = 0.0
            self._start(key, phi, 0)

    def _start(self, key: Key, phi: Array, steps: int) -> None:
        """Draw topics of all words; the last column of phi is for words that fit no other topic."""
        cells, columns = self._cells, phi.shape[1]
        key = key._replace(move=INITIALIZE)
        measure = self._revealer.room(columns, self.state.n_k.size)
        measure.number[:columns], measure.sizes[:] = FREE, columns

        def draw(own: CellScratch, m_j: Array, begin: int, end: int) -> int:
            return int(start_cells(key, cells, phi, steps, own, m_j, begin, end))

        self._reseat(draw, columns)

    def sweep(self, key: Key, trials: Trials | None, eta: float | None = None, merge: bool = False) -> Swept:
        """Make one sweep, with `eta` held at a value where one is given; then `merge` copies of topics."""
        if eta is not None:
            self.workbench.set_eta(eta)
        documents = self._update_documents(key)
        self.workbench.visit(self._turns[key.sweep % len(self._turns)])
        swept = super().sweep(key, trials, eta, merge)
        return swept._replace(infos={"documents": documents, **swept.infos})

    def _joint(self) -> Joint:
        state = self.state
        alpha, gamma, eta = (float(state.concentrations[i]) for i in (ALPHA, GAMMA, ETA))
        return Joint(
            float(log_p_tables_of_counts(self._cells.doc_ptr, state, alpha)),
            float(log_p_topics(state, gamma)),
            float(log_p_words(state, eta)),
            self._settings.priors.log_density(state.concentrations),
        )

    def counts(self) -> Counts:
        """Return the counts of the current state."""
        return counts_of(self.workbench.corpus, self.state)

    def arrays(self) -> dict[str, Array]:
        """Return what the state is made of; the rest follows."""
        return packed_cells(self.state, self.tables)

    def restore(self, arrays: dict[str, Array], seats: Path | None = None) -> None:
        """Take up a state; one that does not add up is refused before compiled code sees it."""
        state, tables = unpacked_cells(self._cells, arrays)
        bench = CellBench(self._cells, state, tables)
        bench.seat(tables, state.m_j, state.n_jt, state.k_jt)
        self._bench = bench

    def _empty_state(self, capacity: int) -> State:
        state = empty_cell_state(self._cells, capacity)
        state.concentrations[:] = self._settings.priors.initial()
        return state

    # ------------------------------------------------------------ the pass over all documents

    def _update_documents(self, key: Key) -> DocumentsInfo:
        measure = self._reveal(key)
        cells, state, tables = self._cells, self.state, self.tables
        key = key._replace(move=CELLS)

        def draw(own: CellScratch, m_j: Array, begin: int, end: int) -> int:
            return int(update_cells(key, cells, state, tables, measure, own, m_j, begin, end))

        return self._reseat(draw, int(measure.sizes[1]))

    def _reseat(self, draw: Callable[[CellScratch, Array, int, int], int], columns: int) -> DocumentsInfo:
        """Draw topics and tables of all documents, and take them up."""
        self._make_room_for_entries(columns)
        m_j = np.zeros(self._cells.doc_ptr.size - 1, np.int32)
        parts: list[list[Array]] = [[] for _ in self._documents]
        place = {one: i for i, one in enumerate(self._documents)}
        cell_ptr, n_cells = self._cells.cell_ptr, max(1, self._cells.terms.size)

        def update(one: Range, number: int) -> None:
            begin, end = one
            while True:
                own = self._own[number]
                own.used[:] = 0
                first, begin = begin, draw(own, m_j, begin, end)
                parts[place[one]] += _taken(own)
                if begin == end:
                    return
                if begin == first:  # not even one document
                    self._own[number] = own._replace(**room_for(2 * own.term.size))

        def note(one: Range) -> None:
            self.progress += (cell_ptr[one[1]] - cell_ptr[one[0]]) / n_cells

        self._threads.each(update, self._documents, range(self._threads.number), note)
        every = [part for own in parts for part in own]
        n_jt, k_jt, n_pairs, term, count = (
            np.concatenate([np.zeros(0, np.int32), *every[i::5]]) for i in range(5)
        )
        words = np.bincount(k_jt, weights=n_jt, minlength=columns).astype(np.int64)
        assert self._revealer.measure is not None
        n_tables = np.bincount(k_jt, minlength=columns)
        number, info = renumber(self.workbench, self._revealer.measure, words, n_tables)
        tables = CellTables(offsets_of(m_j), offsets_of(n_pairs), term, count)
        self.workbench.seat(tables, m_j, n_jt, number[k_jt])
        return info

    def _longest(self) -> int:
        return 0  # none are

    def _make_room_for_entries(self, columns: int) -> None:
        """Make room for a document's terms in every column that may have them, and in those that rest."""
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


def _taken(own: CellScratch) -> list[Array]:
    """Return copies of what a run of documents has left."""
    n_tables, n_pairs = own.used.tolist()
    by_table = [values[:n_tables].copy() for values in (own.n_jt, own.k_jt, own.n_pairs)]
    return [*by_table, own.term[:n_pairs].copy(), own.number[:n_pairs].copy()]
