"""The engine for cells visits every state as often as the enumerated posterior says.

Words of one term in one document are not told apart, so states are compared by what they have in common:
numbers of topics and tables, the log joint, and how often a word of one cell shares its topic, or its table,
with one of another.
"""

import itertools

import numpy as np
import pytest

from franchise.engines.engine import EngineSettings, Trials
from franchise.engines.instantiation import Instantiator
from franchise.engines.kinds import KINDS
from franchise.engines.partially_collapsed import PartiallyCollapsedEngine
from franchise.model import Priors
from franchise.model.measure import FREE
from franchise.random import Key
from franchise.sampling.schedule import Timetable
from tests.reference.enumeration import Concentrations, Posterior
from tests.reference.franchise import corpus_of
from tests.statistical.means import assert_means

pytestmark = pytest.mark.slow  # the short runs too

CORPORA = {
    "overlap": Posterior([[0, 0, 0, 1], [1, 1, 2]], 3, Concentrations(alpha=1.3, gamma=0.9, eta=0.4)),
    "edges": Posterior([[0, 0, 3, 3], [], [1, 1], [3]], 4, Concentrations(alpha=0.6, gamma=2.0, eta=0.15)),
}
BURN_IN = 200
RAREST = 0.01


class Cells(PartiallyCollapsedEngine):
    """The engine for cells."""

    def __init__(self, corpus, settings):
        super().__init__(KINDS["cells"], corpus, settings)


class NoneBorn(Instantiator):
    """Gives unused topics no terms."""

    def terms(self, key, counts, concentrations, weights):
        measure = super().terms(key, counts, concentrations, weights)
        measure.phi[:, np.flatnonzero(measure.number[: measure.sizes[0]] == FREE)] = 0.0
        return measure


class Restricted(Cells):
    """Known to be wrong: topics die in the pass, but none is born."""

    def __init__(self, corpus, settings):
        super().__init__(corpus, settings)
        self._pool._instantiator = NoneBorn(self._facts.n_terms, 0, 1)


class TooLight(Instantiator):
    """Gives weights that are too small."""

    def weights(self, key, state, epsilon):
        measure = super().weights(key, state, epsilon)
        measure.beta[: measure.sizes[1]] *= 0.8
        return measure


class OneTable(Cells):
    """Known to be wrong: the words of documents sit at tables that are too few."""

    def __init__(self, corpus, settings):
        super().__init__(corpus, settings)
        self._instantiator = TooLight(0, 0, 1)


@pytest.fixture(params=CORPORA)
def name(request):
    return request.param


def cells_in(documents):
    return [(j, v) for j, words in enumerate(documents) for v in sorted(set(words))]


def statistics_of(cells, n_topics, n_tables, log_joint, tables):
    """Return the statistics of a state; `tables` are (topic, {cell: words}) of all documents."""
    words_of = {}
    for k, words in tables:
        for cell, n in words.items():
            words_of.setdefault(k, dict.fromkeys(cells, 0))[cell] += n
    row = [n_topics, n_topics == 1, n_topics == 2, n_tables, n_tables**2, log_joint]
    for a, b in itertools.combinations_with_replacement(cells, 2):
        row.append(sum(own[a] * own[b] for own in words_of.values()))
        if a[0] == b[0]:
            row.append(sum(words.get(a, 0) * words.get(b, 0) for _, words in tables))
    return row


def expected_of(posterior):
    cells, rows = cells_in(posterior.documents), []
    for seating, log_joint in zip(posterior.seatings, posterior.log_joints):
        tables, first = [], 0
        for j, own in enumerate(seating.t):
            of_table = [{} for _ in set(own)]
            for t, v in zip(own, posterior.documents[j]):
                of_table[t][j, v] = of_table[t].get((j, v), 0) + 1
            tables += [(seating.k[first + t], words) for t, words in enumerate(of_table)]
            first += len(of_table)
        rows.append(statistics_of(cells, seating.n_topics, seating.n_tables, log_joint, tables))
    return np.array(rows, float)


def state_of(engine, cells):
    (partition,) = engine._pool.partitions
    state, tables, listed = partition.state, partition.tables, []
    term, count = tables.term.tolist(), tables.words.tolist()
    slot_ptr, pair_ptr = tables.slot_ptr.tolist(), tables.pair_ptr.tolist()
    for j, m in enumerate(state.m_j.tolist()):
        for slot in range(slot_ptr[j], slot_ptr[j] + m):
            words = {(j, term[p]): count[p] for p in range(pair_ptr[slot], pair_ptr[slot + 1])}
            listed.append((int(state.k_jt[slot]), words))
    return listed


def visited(name, seed, sweeps, epsilon, engine_class=Cells, whole=False):
    """Make passes over all documents, or whole sweeps; return the statistics of every state visited."""
    posterior = CORPORA[name]
    cells = cells_in(posterior.documents)
    corpus = corpus_of(posterior.documents, posterior.n_terms)
    engine = engine_class(corpus, EngineSettings(Priors(**posterior.at._asdict()), capacity=1))
    engine._epsilon = epsilon
    engine.start(Key(seed, 0, 0, 0), 2)
    trials = Trials(2, Timetable().split_merge.as_array())
    rows = []
    for sweep in range(1, BURN_IN + sweeps + 1):
        key = Key(seed, 0, sweep, 0)
        if whole or engine_class is Restricted:  # births elsewhere, by exact moves, do not make it right
            engine.sweep(key, trials)
        else:
            engine._update_documents(key)
            engine._finish(None)
        if sweep > BURN_IN:
            n, tables = engine.numbers(), state_of(engine, cells)
            rows.append(statistics_of(cells, n["n_topics"], n["n_tables"], n["log_joint"], tables))
    return np.array(rows, float)


def compare(name, found):
    posterior = CORPORA[name]
    values = expected_of(posterior)
    # Of every statistic, the state that it has most often must not be all but certain.
    often = [max(posterior.probabilities @ (own == value) for value in np.unique(own)) for own in values.T]
    kept = np.flatnonzero(np.array(often) < 1.0 - RAREST)
    assert_means([str(i) for i in kept], found[:, kept], (posterior.probabilities @ values)[kept])


@pytest.mark.parametrize("epsilon", [0.05, 0.01])  # with much more, hundreds of passes are alike
def test_short_run_of_passes(name, seed, epsilon):
    compare(name, visited(name, seed, 8_000, epsilon))


def test_short_run_of_sweeps(name, seed):
    compare(name, visited(name, seed, 8_000, 0.05, whole=True))


@pytest.mark.parametrize("wrong", [Restricted, OneTable])
def test_it_sees_what_is_wrong(name, seed, wrong):
    with pytest.raises(AssertionError, match="standard errors off"):
        compare(name, visited(name, seed, 8_000, 0.02, wrong))


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", [0.05, 1e-4])
@pytest.mark.parametrize("whole", [False, True])
def test_long_run(name, seed, epsilon, whole):
    compare(name, visited(name, seed, 60_000, epsilon, whole=whole))
