"""The parallel engine: draw for draw its twin's, the same bits for any number of threads."""

import math
import time
import tracemalloc
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from franchise import Chain, Priors, SplitMerge
from franchise.corpus import planted
from franchise.engines import ENGINES, EngineKind, kinds
from franchise.engines.engine import EngineSettings
from franchise.engines.instantiation import Instantiator, epsilon_at, epsilon_for
from franchise.engines.kinds import KINDS
from franchise.engines.partitions import host
from franchise.engines.pools import local
from franchise.engines.pools.ray.actors import _BYTES_A_WORD_AND_CHAIN
from franchise.engines.starts.em import first_topics
from franchise.engines.threads import Threads, falling_ranges
from franchise.model import broken_invariants, joint
from franchise.model.measure import FREE, new_measure
from franchise.model.state import BORN, TOPICS
from franchise.moves.instantiation import instantiate_weights
from franchise.moves.shared.seats import _before_next
from franchise.random import (
    DOCUMENTS,
    TOPIC_WEIGHTS,
    Key,
    gamma_variate,
    log_gamma_variate,
    start_stream,
    uniform,
)
from franchise.sampling import Timetable
from tests.reference.choices import Drawn
from tests.reference.documents import Revealed, update
from tests.reference.enumeration import Concentrations
from tests.reference.franchise import corpus_of, plain
from tests.reference.parallel import Parallel, instantiated
from tests.reference.statistics import FALSE_FAIL_RATE
from tests.reference.strategies import CONCENTRATIONS, SEEDS, corpora


def engine_of(documents, n_terms, at, **settings):
    corpus = corpus_of(documents, n_terms)
    return Parallel(corpus, EngineSettings(Priors(**at._asdict()), capacity=1, **settings))


# ---------------------------------------------------------------- the pass


@pytest.mark.nojit
@given(corpora(), CONCENTRATIONS, SEEDS, st.sampled_from([0.3, 0.05, 0.001]))
def test_the_pass_is_that_of_its_twin(corpus, at, seed, epsilon):
    documents, n_terms = corpus
    engine = engine_of(documents, n_terms, at)
    engine._epsilon = epsilon
    engine.start(Key(seed, 0, 0, 0), "sequential")
    for sweep in (1, 2, 3):
        before, arrays = engine.state, engine._corpus.arrays
        old_names = dict(zip(engine.names().tolist(), before.live[: before.totals[TOPICS]].tolist()))
        born, seated = int(before.totals[BORN]), plain(arrays, before)
        key = Key(seed, 0, sweep, 0)
        measure = instantiated(engine, key)
        moving, n_columns = measure.sizes.tolist()
        number = measure.number[:n_columns].tolist()
        revealed = Revealed(
            moving,
            (at.alpha * measure.beta[:n_columns]).tolist(),
            measure.phi[:, :moving].T.astype(float).tolist(),
        )
        k_jt = [measure.column[own].tolist() for own in seated.k_jt]
        choose = Drawn((seed, 0, sweep, DOCUMENTS))
        passes = engine._passes(measure)
        tables, columns_of_tables = update(documents, seated.t_ji, k_jt, revealed, choose, passes)
        info = engine._update_documents(key)
        found = plain(arrays, engine.state)
        assert found.t_ji == tables
        assert broken_invariants(arrays, engine.state) == []
        # Topics in use keep names and order, born ones come behind them as they were revealed.
        used = {c for own in columns_of_tables for c in own}
        expected = [name for name, k in old_names.items() if number.index(k) in used]
        new = [c for c in range(moving) if number[c] == FREE and c in used]
        expected += range(born, born + len(new))
        assert engine.names().tolist() == expected
        assert (info.births, info.deaths) == (len(new), len(old_names) - len(expected) + len(new))
        place = {number.index(k): expected.index(name) for name, k in old_names.items() if name in expected}
        place |= {c: len(expected) - len(new) + i for i, c in enumerate(new)}
        assert found.k_jt == [[place[c] for c in own] for own in columns_of_tables]


@given(corpora(), CONCENTRATIONS, SEEDS)
def test_what_is_revealed_adds_up(corpus, at, seed):
    engine = engine_of(*corpus, at)
    engine.start(Key(seed, 0, 0, 0), 3)
    measure = instantiated(engine, Key(seed, 0, 1, 0))
    moving, n_columns = measure.sizes.tolist()
    assert np.all(measure.beta[:moving] >= engine._epsilon)
    assert np.all(measure.beta[moving:n_columns] < engine._epsilon)
    assert measure.beta[:n_columns].sum() <= 1.0 + 1e-12
    in_use = engine.state.live[: engine.state.totals[TOPICS]]
    assert sorted(measure.number[:n_columns][measure.number[:n_columns] != FREE]) == sorted(in_use)
    assert np.array_equal(measure.number[measure.column[in_use]], in_use)
    np.testing.assert_allclose(measure.phi[:, :moving].sum(axis=0), 1.0, rtol=1e-5)
    parts = at.alpha * measure.beta[:moving] * measure.phi[:, :moving].astype(float)
    np.testing.assert_allclose(measure.rest[:, :moving], np.cumsum(parts, axis=1))


@pytest.mark.parametrize("eta", [0.05, 0.7, 1.5])
def test_terms_are_drawn_given_the_counts(eta, seed):
    """Shares of a term in a topic are Beta(eta + n_kv, the rest); 4,000 of each see a distance of 0.045."""
    engine = engine_of([[0, 1, 1, 1, 1], [1, 0, 2]], 4, Concentrations(1.0, 1.0, eta))
    engine.start(Key(seed, 0, 0, 0), "one")
    shares = []
    for sweep in range(4_000):
        measure = instantiated(engine, Key(seed, 0, sweep, 0))
        shares.append(measure.phi[:, measure.column[engine._coordinator.state.live[0]]].astype(float))
    for v, n in enumerate([2, 5, 1, 0]):
        law, share = stats.beta(eta + n, 3 * eta + 8 - n), np.transpose(shares)[v]
        assert stats.kstest(share, law.cdf).pvalue > FALSE_FAIL_RATE


def test_the_order_of_topics_in_a_row_changes_no_bit(seed):
    """A chain that is restored lists them in another order."""
    engine = engine_of([[0, 1, 2, 3] * 5, [1, 0, 2]], 4, Concentrations(1.0, 1.0, 0.1))
    engine.start(Key(seed, 0, 0, 0), 9)
    state, found = engine._coordinator.state, []
    for _ in range(2):
        found.append(instantiated(engine, Key(seed, 0, 1, 0)).phi.tobytes())
        for first, length in zip(state.row_ptr, state.row_len):
            for array in (state.row_k, state.row_n):
                array[first : first + length] = array[first : first + length][::-1].copy()
    assert found[0] == found[1]


def test_an_eta_so_small_that_all_gammas_vanish():
    engine = engine_of([[0, 1], [1]], 2, Concentrations(1.0, 1.0, 1e-100))
    engine.start(Key(0, 0, 0, 0), "one")
    for sweep in range(1, 20):
        engine._update_documents(Key(0, 0, sweep, 0))
        assert broken_invariants(engine._corpus.arrays, engine.state) == []


@pytest.mark.parametrize("gamma", [0.5, 36.0, 38.0, 1_000.0, 30_000.0])
def test_weights_are_those_of_sticks_broken_off_to_the_end(gamma, seed):
    """Also where the kernel stops before, as no topic still to come can weigh enough."""
    engine = engine_of([[0, 1, 1], [1, 0]], 2, Concentrations(1.0, gamma, 0.5))
    engine.start(Key(seed, 0, 0, 0), "one")
    state, epsilon, room = engine.state, 1e-4, 5_000
    measure, stream = new_measure(2, room, state.n_k.size, 3), np.zeros(4, np.uint64)
    assert not instantiate_weights(
        Key(seed, 0, 1, TOPIC_WEIGHTS), state, measure, epsilon, np.zeros(1), stream
    )
    start_stream(stream, Key(seed, 0, 1, TOPIC_WEIGHTS), 0)
    used, rest = (log_gamma_variate(stream, one) for one in (float(state.m_k[0]), gamma))
    rest -= np.logaddexp(used, rest)
    expected = []
    while rest >= math.log(epsilon):
        left = math.log(1.0 - uniform(stream)) / gamma
        expected.append(-math.expm1(left) * math.exp(rest))
        rest += left
    expected = [beta for beta in expected if beta >= epsilon]
    free = measure.number[: measure.sizes[1]] == FREE
    np.testing.assert_allclose(measure.beta[: measure.sizes[1]][free], expected, rtol=1e-9)


@pytest.mark.parametrize("gamma", [1e4, 1e6, 1e8, 1e21, 1e100])
@pytest.mark.parametrize("n_documents", [60, 10**7])
def test_the_work_does_not_grow_with_gamma(gamma, n_documents):
    """Neither the topics that are broken off G_0, nor those that words may move to."""
    epsilon = epsilon_at(gamma, epsilon_for(np.array([20]), np.array([n_documents])))
    broken_off = gamma * max(0.0, -math.log(epsilon * max(1.0, gamma / 37.0)))
    assert broken_off < 1_000_000
    assert gamma * special.exp1(gamma * epsilon) < 70_000


@pytest.mark.parametrize("gamma", [1e8, 1e100, (10.0, 1e-7)])
def test_sweeps_with_a_large_gamma(gamma):
    corpus = planted(n_topics=5, n_terms=40, n_documents=60, document_length=20, seed=3).corpus
    Chain(corpus, random_state=2, engine="parallel").run(1)  # compiles
    chain, began = Chain(corpus, Priors(gamma=gamma), random_state=2, engine="parallel"), time.monotonic()
    chain.run(2)
    assert time.monotonic() - began < 10  # of which it takes a hundredth
    assert broken_invariants(corpus.arrays, chain.state) == []


@pytest.mark.parametrize("shape", [0.01, 0.1, 0.5, 0.99, 1.0, 1.7, 30.0])
def test_gammas(shape, seed):
    stream = np.zeros(4, np.uint64)
    start_stream(stream, Key(seed, 0, 0, 0), 1)
    drawn = [gamma_variate(stream, shape) for _ in range(4_000)]
    assert stats.kstest(drawn, stats.gamma(shape).cdf).pvalue > 1e-4


# ---------------------------------------------------------------- threads


def test_the_number_of_threads_changes_no_bit(monkeypatch):
    monkeypatch.setattr(local, "Instantiator", partial(Instantiator, block=7))
    monkeypatch.setattr(kinds, "COLLAPSED_WORDS", 300)
    corpus = planted(n_topics=5, n_terms=40, n_documents=60, document_length=20, seed=3).corpus
    found = []
    for threads in (1, 2, 3, 16):
        schedule = Timetable(sweeps=6, burn_in=3)
        chain = Chain(corpus, schedule=schedule, random_state=2, engine="parallel", n_jobs=threads)
        chain.run()
        assert broken_invariants(corpus.arrays, chain.state) == []
        numbers = [chain.trace[name].tobytes() for name in ("n_topics", "n_tables", "log_joint", "alpha")]
        found.append((chain.state.t_ji.tobytes(), chain.state.k_jt.tobytes(), *numbers))
    assert len(set(found)) == 1


def test_how_words_are_counted_changes_no_bit(monkeypatch):
    corpus = planted(n_topics=5, n_terms=40, n_documents=60, document_length=20, seed=3).corpus
    found = []
    for budget in (0, 1_000):
        monkeypatch.setattr(host, "_BYTES_TO_COUNT", budget)
        chain = Chain(
            corpus, schedule=Timetable(sweeps=6, burn_in=3), random_state=2, engine="parallel", n_jobs=2
        )
        chain.run()
        assert bool(chain.engine._pool.partitions[0]._counts.size) == bool(budget)
        assert broken_invariants(corpus.arrays, chain.state) == []
        found.append((chain.state.t_ji.tobytes(), chain.state.k_jt.tobytes()))
    assert found[0] == found[1]


def test_the_joint_is_that_of_the_collapsed_engine():
    corpus = planted(n_topics=5, n_terms=200, n_documents=60, document_length=20, seed=3).corpus
    chain = Chain(
        corpus, schedule=Timetable(sweeps=3, burn_in=1), random_state=2, engine="parallel", n_jobs=2
    )
    chain.run()
    np.testing.assert_allclose(
        chain.engine._joint(), joint(corpus.arrays, chain.state, chain.priors), rtol=1e-12
    )


@given(st.floats(1e-3, 20.0), st.integers(1, 30), st.integers(1, 30), st.floats(1e-9, 1.0))
def test_the_next_table_beyond_what_is_tabulated(mass, seated, more, u):
    def survivals(n):
        return np.cumprod([1.0, 1.0, *(other / (mass + other) for other in range(1, n))])

    n = seated + more
    found = [_before_next(survivals(known), mass, seated, n, u) for known in (1, 2, 10, 100)]
    alive = survivals(n)
    later = [before for before in range(seated, n) if alive[before + 1] < u * alive[seated]]
    assert found == [later[0] if later else n] * 4


@given(st.lists(st.integers(0, 9), max_size=300), st.integers(1, 12), st.integers(1, 5))
def test_ranges_have_every_item_once(lengths, threads, block):
    ends = np.cumsum([0, *lengths])
    ranges = falling_ranges(ends, threads, block)
    assert [i for begin, end in ranges for i in range(begin, end)] == list(range(len(lengths)))
    assert all(begin < end and begin % block == 0 for begin, end in ranges)


def test_work_is_shared_evenly():
    work = [end - begin for begin, end in falling_ranges(np.arange(100_001), 16)]
    assert max(work) <= 100_000 / 16 / 2 + 1
    assert len(work) <= 16 * 12
    assert sum(work[-16:]) <= 100_000 / 10


def test_an_error_in_a_thread_is_raised():
    def fail(one, own):
        raise ValueError(one)

    with pytest.raises(ValueError, match=r"\(0, 1\)"):
        Threads(2).each(fail, [(0, 1), (1, 2)], [None, None])


def test_every_range_is_taken_once_without_an_atomic_iterator():
    class Slow(list):
        def __iter__(self):
            for i in range(len(self)):
                time.sleep(0.001)
                yield self[i]

    taken, ranges = [], Slow((i, i + 1) for i in range(50))
    Threads(4).each(lambda one, own: taken.append(one), ranges, [None] * 4)
    assert sorted(taken) == [(i, i + 1) for i in range(50)]


# ---------------------------------------------------------------- trials


@pytest.mark.parametrize(
    ("many", "most", "expected"),
    [
        (10**6, 10**7, [2] * 20),
        (100, 2_000, ([0] * 9 + [20]) * 2),
        (100, 600, ([0] * 9 + [6]) * 2),
        (100, 10, ([0] * 9 + [2]) * 2),
    ],
)
def test_trials_of_ten_sweeps_come_together_where_words_are_many(monkeypatch, many, most, expected):
    """There are 200 words."""
    monkeypatch.setattr(kinds, "MANY_WORDS", many)
    new = partial(Parallel, kind=KINDS["parallel"]._replace(most_at_once=most))
    monkeypatch.setitem(ENGINES, "parallel", EngineKind("parallel", new))
    corpus = planted(n_topics=3, n_terms=20, n_documents=20, document_length=10, seed=3).corpus
    schedule = Timetable(sweeps=20, burn_in=10, split_merge=SplitMerge(trials=2, keep_trials=True))
    chain = Chain(corpus, schedule=schedule, random_state=2, engine="parallel")
    chain.run()
    made = [sum(trial.sweep == sweep for trial in chain.trials) for sweep in range(1, 21)]
    assert made == expected


@pytest.mark.parametrize("start", [20, "fitted"])
def test_a_start_takes_no_more_memory_than_workers_are_asked_for(start, monkeypatch):
    monkeypatch.setattr(host, "_WORDS_AT_ONCE", 1 << 14)
    corpus = planted(n_topics=3, n_terms=50, n_documents=2_000, document_length=200, seed=3).corpus
    first = first_topics(start, corpus, Priors(), 0)
    engine = ENGINES["parallel"].new(corpus, EngineSettings(Priors()))
    engine.start(Key(0, 0, 0, 0), first)  # compiles
    engine = ENGINES["parallel"].new(corpus, EngineSettings(Priors()))
    tracemalloc.start()
    engine.start(Key(0, 0, 0, 0), first)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < _BYTES_A_WORD_AND_CHAIN * corpus.n_words
