"""The parallel engine on tiny corpora, and errors in it that are made from outside."""

import itertools
from collections.abc import Sequence

import numpy as np

from franchise.corpus import CorpusArrays
from franchise.engines import EngineSettings, Trials
from franchise.engines.parallel import ParallelEngine
from franchise.model import Priors
from franchise.model.measure import FREE
from franchise.model.state import TOPICS, word_topics
from franchise.moves.reveal import finish_terms
from franchise.moves.shared.seats import fill_survival
from franchise.random import Key
from franchise.sampling.trials import Proposal, SplitMerge
from tests.reference.enumeration import Posterior, Seating, seating_of
from tests.reference.franchise import corpus_of
from tests.reference.given_measure import Given

NOW_AND_THEN = 4  # sweeps from one with collapsed moves to the next


class OneByOne(ParallelEngine):
    """Collapsed moves of one document every few sweeps, another each time.

    A tiny corpus is otherwise visited as a whole in every sweep, which would hide errors of the pass.
    """

    def __init__(self, corpus: CorpusArrays, settings: EngineSettings) -> None:
        super().__init__(corpus, settings)
        none = [np.zeros(0, np.int64)] * (NOW_AND_THEN - 1)
        self._turns = [turn for j in range(corpus.doc_ptr.size - 1) for turn in (np.array([j]), *none)]


class FewestTables(OneByOne):
    """Known to be wrong: weights are drawn as if each document had one table of a topic."""

    def _update_documents(self, key):
        state = self.state
        state.m_k[:] = 0
        for begin, m_j in zip(self._corpus.doc_ptr, state.m_j):
            state.m_k[np.unique(state.k_jt[begin : begin + m_j])] += 1
        return super()._update_documents(key)


class EpsilonByState(OneByOne):
    """Known to be wrong: which topics rest depends on how many there are."""

    def _update_documents(self, key):
        self._epsilon = 0.5 if self.state.totals[TOPICS] == 1 else 0.02
        return super()._update_documents(key)


class Held(ParallelEngine):
    """An engine for which G_0 is held, that is, passes are made given what it is told."""

    def hold(self, g: Given, numbers: Sequence[int], passes: int = 1) -> None:
        """Take columns, the numbers of their topics, and how often to go through the words."""
        self._given, self._numbers, self._n_passes = g, numbers, passes

    def _passes(self, measure):
        return self._n_passes

    def _reveal(self, key):
        measure, g, n_columns = super()._reveal(key), self._given, len(self._numbers)
        measure.sizes[:] = g.moving, n_columns
        measure.number[:n_columns] = self._numbers
        measure.beta[:n_columns] = g.beta
        for c, k in enumerate(self._numbers):
            if k != FREE:
                measure.column[k] = c
        measure.phi[:, : g.moving] = np.transpose(g.phi[: g.moving])
        finish_terms(self.state, measure, np.ones(g.moving), 0, self._corpus.n_terms)
        fill_survival(self.state, measure)
        return measure


def engine_at(posterior: Posterior, engine_class: type[ParallelEngine], epsilon: float) -> ParallelEngine:
    """Return an engine with the concentrations of a posterior."""
    arrays = corpus_of(posterior.documents, posterior.n_terms).arrays
    engine = engine_class(arrays, EngineSettings(Priors(**posterior.at._asdict()), capacity=1))
    engine._epsilon = epsilon
    return engine


def trials_of(kinds: tuple[Proposal, ...], number: int = 3) -> Trials | None:
    """Return so many split-merge trials a sweep, of these kinds."""
    return Trials(number, SplitMerge(proposals=kinds).as_array()) if kinds else None


def visited(
    posterior: Posterior,
    engine: ParallelEngine,
    seed: int,
    sweeps: int,
    burn_in: int,
    kinds: tuple[Proposal, ...] = (),
) -> np.ndarray:
    """Make sweeps, some with trials; return the number in `Posterior.seatings` of each state visited."""
    engine.start(Key(seed, 0, 0, 0), "sequential")
    arrays, trials, states = engine._corpus, trials_of(kinds), []
    for sweep in range(1, burn_in + sweeps + 1):
        engine.sweep(Key(seed, 0, sweep, 0), trials if sweep % NOW_AND_THEN == 0 else None)
        if sweep > burn_in:
            states.append(np.concatenate([engine.state.t_ji, word_topics(arrays, engine.state)]))
    kinds_of_states, which = np.unique(states, axis=0, return_inverse=True)
    numbers = [posterior.number[seating(arrays, *np.split(row, 2))] for row in kinds_of_states]
    return np.array(numbers)[which]


def seating(corpus: CorpusArrays, t_ji: np.ndarray, z: np.ndarray) -> Seating:
    """Forget the labels of tables and topics."""
    ends = list(itertools.pairwise(corpus.doc_ptr))
    tables = [t_ji[first:end].tolist() for first, end in ends]
    topics = [dict(zip(own, z[first:end].tolist())) for own, (first, end) in zip(tables, ends)]
    return seating_of(tables, topics)
