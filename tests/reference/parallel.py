"""The parallel engine on tiny corpora, and errors in it that are made from outside."""

import itertools
from collections.abc import Sequence

import numpy as np

from franchise._arrays import CorpusArrays
from franchise.corpus import Corpus
from franchise.engines import EngineSettings, Trials
from franchise.engines.instantiation import Instantiator
from franchise.engines.kinds import KINDS, Kind
from franchise.engines.partially_collapsed import PartiallyCollapsedEngine
from franchise.model import Priors, State
from franchise.model.measure import FREE, Measure
from franchise.model.state import TOPICS, word_topics
from franchise.moves.instantiation import finish_terms
from franchise.moves.shared.seats import fill_survival
from franchise.random import Key
from franchise.sampling.trials import Proposal, SplitMerge
from tests.reference.enumeration import Posterior, Seating, seating_of
from tests.reference.franchise import corpus_of
from tests.reference.given_measure import Given

NOW_AND_THEN = 4  # sweeps from one with collapsed moves to the next


class Parallel(PartiallyCollapsedEngine):
    """The engine "parallel"."""

    def __init__(self, corpus: Corpus, settings: EngineSettings, kind: Kind = KINDS["parallel"]) -> None:
        super().__init__(kind, corpus, settings)


class _Seldom(Kind):
    """Collapsed moves every few sweeps."""

    def is_due(self, sweep, n_words):
        return sweep % NOW_AND_THEN == 0

    def turn(self, sweep, n_words, n_cells):
        return sweep // NOW_AND_THEN % n_words, n_words


class OneByOne(Parallel):
    """Collapsed moves of about one document every few sweeps, another each time.

    A tiny corpus is otherwise visited as a whole in every sweep, which would hide errors of the pass.
    """

    def __init__(self, corpus: Corpus, settings: EngineSettings) -> None:
        super().__init__(corpus, settings, _Seldom(*KINDS["parallel"]))


class FewestTables(OneByOne):
    """Known to be wrong: weights are sampled as if each document had one table of a topic."""

    def _update_documents(self, key, with_rows=True):
        m_k, seated = self._coordinator.state.m_k, seated_in(self)
        m_k[:] = 0
        for begin, m_j in zip(self._corpus.doc_ptr, seated.m_j):
            m_k[np.unique(seated.k_jt[begin : begin + m_j])] += 1
        return super()._update_documents(key)


class EpsilonByState(OneByOne):
    """Known to be wrong: which topics rest depends on how many there are."""

    def _update_documents(self, key, with_rows=True):
        self._epsilon = 0.5 if self._coordinator.state.totals[TOPICS] == 1 else 0.02
        return super()._update_documents(key)


class HeldMeasure(Instantiator):
    """Gives a G_0 that is held, whatever the counts."""

    def __init__(self, n_terms: int, longest: int, threads: int, g: Given, numbers: Sequence[int]) -> None:
        super().__init__(n_terms, longest, threads)
        self._given, self._numbers = g, numbers

    def weights(self, key, state, epsilon):
        measure, n_columns = super().weights(key, state, epsilon), len(self._numbers)
        measure.sizes[:] = self._given.moving, n_columns
        measure.number[:n_columns] = self._numbers
        measure.beta[:n_columns] = self._given.beta
        for c, k in enumerate(self._numbers):
            if k != FREE:
                measure.column[k] = c
        return measure

    def terms(self, key, counts, concentrations, weights):
        measure, g = super().terms(key, counts, concentrations, weights), self._given
        state = counts._replace(concentrations=concentrations)
        measure.phi[:, : g.moving] = np.transpose(g.phi[: g.moving])
        finish_terms(state, measure, np.ones(g.moving), 0, len(measure.phi))
        fill_survival(state, measure)
        return measure


class Held(Parallel):
    """An engine with G_0 held fixed: passes are made given the G_0 that it receives."""

    def hold(self, g: Given, numbers: Sequence[int], passes: int = 1) -> None:
        """Take columns, the numbers of their topics, and how often to go through the words."""
        self._instantiator, self._n_passes = HeldMeasure(0, 0, 1, g, numbers), passes
        longest, threads = self._facts.longest, self._threads.number
        self._pool._instantiator = HeldMeasure(self._facts.n_terms, longest, threads, g, numbers)

    def _passes(self, weights):
        return self._n_passes


def seated_in(engine: PartiallyCollapsedEngine) -> State:
    """Return the seating of the only partition, where it lies."""
    return engine._pool.partitions[0].state


def instantiated(engine: PartiallyCollapsedEngine, key: Key) -> Measure:
    """Return G_0 as the pass with this key samples it."""
    state, facts = engine._coordinator.state, engine._facts
    weights = engine._instantiator.weights(key, state, engine._epsilon)
    return Instantiator(facts.n_terms, facts.longest, 1).terms(key, state, state.concentrations, weights)


def pass_once(engine: PartiallyCollapsedEngine, key: Key) -> None:
    """Make the pass over all documents, and nothing else."""
    engine._update_documents(key)


def engine_at(posterior: Posterior, engine_class: type[Parallel], epsilon: float) -> Parallel:
    """Return an engine with the concentrations of a posterior."""
    corpus = corpus_of(posterior.documents, posterior.n_terms)
    engine = engine_class(corpus, EngineSettings(Priors(**posterior.at._asdict()), capacity=1))
    engine._epsilon = epsilon
    return engine


def trials_of(kinds: tuple[Proposal, ...], number: int = 3) -> Trials | None:
    """Return the settings for this number of split-merge trials per sweep, of these kinds."""
    return Trials(number, SplitMerge(proposals=kinds).as_array()) if kinds else None


def visited(
    posterior: Posterior,
    engine: PartiallyCollapsedEngine,
    seed: int,
    sweeps: int,
    burn_in: int,
    kinds: tuple[Proposal, ...] = (),
) -> np.ndarray:
    """Make sweeps, some with trials; return the number in `Posterior.seatings` of each state visited."""
    engine.start(Key(seed, 0, 0, 0), "sequential")
    arrays, trials, states = engine._corpus.arrays, trials_of(kinds), []
    for sweep in range(1, burn_in + sweeps + 1):
        engine.sweep(Key(seed, 0, sweep, 0), trials if sweep % NOW_AND_THEN == 0 else None)
        if sweep > burn_in:
            seated = seated_in(engine)
            states.append(np.concatenate([seated.t_ji, word_topics(arrays, seated)]))
    kinds_of_states, which = np.unique(states, axis=0, return_inverse=True)
    numbers = [posterior.number[seating(arrays, *np.split(row, 2))] for row in kinds_of_states]
    return np.array(numbers)[which]


def seating(corpus: CorpusArrays, t_ji: np.ndarray, z: np.ndarray) -> Seating:
    """Forget the labels of tables and topics."""
    ends = list(itertools.pairwise(corpus.doc_ptr))
    tables = [t_ji[first:end].tolist() for first, end in ends]
    topics = [dict(zip(own, z[first:end].tolist())) for own, (first, end) in zip(tables, ends)]
    return seating_of(tables, topics)
