"""The library's moves on the library's state, one at a time, without the chain that drives them."""

from collections.abc import Sequence
from importlib import import_module

import numpy as np

from franchise._jit import kernel
from franchise.engines.engine import Trials
from franchise.engines.starts.starting_topics import draw_topics, number_as_they_appear, shuffle_documents
from franchise.engines.table_source import HeldTables
from franchise.engines.trials import TrialMaker
from franchise.model import State, empty_state
from franchise.model.seating import seat_all
from franchise.model.state import GAMMA
from franchise.moves import complete_move
from franchise.moves.shared.scratch import follow_eta, new_scratch
from franchise.moves.split_merge import RECORD
from franchise.moves.table_topics import table_topics
from franchise.moves.word_tables import word_tables
from franchise.random import INITIALIZE, SPLIT_MERGE, TABLE_TOPICS, WORD_TABLES, Key
from franchise.sampling.trials import Proposal, SplitMerge
from tests.reference.enumeration import Concentrations, Documents, Seating
from tests.reference.franchise import Plain, corpus_of, plain
from tests.reference.one_after_another import new_one_by_one, one_after_another

MOVES = {
    INITIALIZE: "word_tables",  # on words that sit nowhere yet
    WORD_TABLES: "word_tables",
    TABLE_TOPICS: "table_topics",
}
OWN = {"word_tables": "words", "table_topics": "tables"}  # which part of the scratch a move uses


def module_of(move: int):
    """Return the module of a move."""
    return import_module(f"franchise.moves.{MOVES[move]}")


class Kernels:
    """A state and the means to change it."""

    def __init__(self, documents: Documents, n_terms: int, at: Concentrations, capacity: int = 64) -> None:
        self.corpus = corpus_of(documents, n_terms).arrays
        self._renew(empty_state(self.corpus, capacity))
        self.set(at)

    @classmethod
    def seated(cls, documents: Documents, n_terms: int, at: Concentrations, seating: Seating) -> "Kernels":
        """Return the state of a seating."""
        kernels = cls(documents, n_terms, at)
        first = 0
        for own, slot in zip(seating.t, kernels.corpus.doc_ptr):
            n_tables = len(set(own))
            kernels.state.t_ji[slot : slot + len(own)] = own
            kernels.state.k_jt[slot : slot + n_tables] = seating.k[first : first + n_tables]
            first += n_tables
        seat_all(kernels.corpus, kernels.state, seating.n_topics)
        return kernels

    def _renew(self, state: State) -> None:
        self.state, self.scratch = state, new_scratch(self.corpus, state)
        tables = self.scratch.tables
        self.trials = TrialMaker(self.corpus.n_terms, tables.lg, tables.lgv)

    def set(self, at: Concentrations) -> None:
        """Change the concentrations."""
        self.state.concentrations[:] = at
        follow_eta(self.state, self.scratch.tables)

    def plain(self) -> Plain:
        return plain(self.corpus, self.state)

    def start_sequential(self, seed: int) -> None:
        words = self.scratch.words
        shuffle_documents(Key(seed, 0, 0, INITIALIZE), words.stream, words.documents)
        words.numbers[:] = words.documents
        self.make(INITIALIZE, seed, sweep=0)
        for order in (self.scratch.words.documents, self.scratch.words.numbers):
            order.sort()

    def start_random(self, seed: int, n_topics: int) -> None:
        number, table = np.full((2, n_topics), -1, np.int32)
        key = Key(seed, 0, 0, INITIALIZE)
        draw_topics(key, self.corpus, self.state, self.scratch.words.stream, table, 0)
        used = number_as_they_appear(self.corpus, self.state, number)
        state = empty_state(self.corpus, max(used, self.state.n_k.size))
        for name in ("t_ji", "k_jt", "concentrations"):
            getattr(state, name)[:] = getattr(self.state, name)
        seat_all(self.corpus, state, used)
        self._renew(state)

    def make(self, move: int, seed: int, sweep: int = 1, chain: int = 0):
        """Make one Gibbs move over the whole corpus and return its Info."""
        key = Key(seed, chain, sweep, move)
        kernel = getattr(module_of(move), MOVES[move])
        own = OWN[MOVES[move]]
        self.state, self.scratch, info = complete_move(
            kernel, key, self.corpus, self.state, self.scratch, own
        )
        return info

    def sweep_often(
        self,
        n: int,
        seed: int,
        *,
        chain: int = 0,
        table_move: bool = True,
        kinds: Sequence[Proposal] = (),
        trials: int = 3,
        error: float = 1.0,
    ) -> np.ndarray:
        """Make n sweeps; return t_ji and the words' topics after each, a row a sweep.

        The same moves, by the same keys, as `make` and `split_merge` in turn, but without Python between
        them, which takes a hundred times as long. With `error`, the trials use gamma times that. There
        must be room for as many topics as words.
        """
        n_words = self.corpus.x.size
        assert self.state.n_k.size >= n_words
        proposals = SplitMerge(proposals=tuple(kinds)).as_array() if kinds else np.zeros((0, 5))
        records = np.zeros((trials if kinds else 0, len(RECORD)))
        seats = np.empty((n, 2 * n_words), np.int8)
        tables = self.scratch.tables
        one = new_one_by_one(self.corpus, self.state, tables.lg, tables.lgv)
        own = self.scratch.words, tables, one
        _sweep_often(seed, chain, self.corpus, self.state, *own, proposals, records, table_move, error, seats)
        return seats

    def split_merge(self, kinds: Sequence[Proposal], trials: int, seed: int, sweep: int = 1):
        """Make split-merge trials and return their records and Info."""
        proposals = SplitMerge(proposals=tuple(kinds)).as_array()
        source, key = HeldTables(self.corpus, self.state), Key(seed, 0, sweep, SPLIT_MERGE)
        self.state, info, records = self.trials.make(self.state, source, key, Trials(trials, proposals))
        return records, info


@kernel
def _sweep_often(
    seed, chain, corpus, state, words, tables, one, proposals, records, table_move, error, seats
):
    gamma = state.concentrations[GAMMA]
    for i in range(seats.shape[0]):
        word_tables(Key(seed, chain, i + 1, WORD_TABLES), corpus, state, words)
        if table_move:
            table_topics(Key(seed, chain, i + 1, TABLE_TOPICS), corpus, state, tables)
        if records.shape[0] > 0:
            state.concentrations[GAMMA] = gamma * error
            one_after_another(Key(seed, chain, i + 1, SPLIT_MERGE), corpus, state, one, proposals, records)
            state.concentrations[GAMMA] = gamma
        for j in range(state.m_j.size):
            first = corpus.doc_ptr[j]
            for place in range(first, corpus.doc_ptr[j + 1]):
                seats[i, place] = state.t_ji[place]
                seats[i, corpus.x.size + place] = state.k_jt[first + state.t_ji[place]]
