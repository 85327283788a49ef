"""Topics that are copies of each other are merged by the exact change of the log joint, in the burn-in."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import gammaln

from franchise import Chain, Corpus, Priors
from franchise.corpus import planted
from franchise.engines.collapsed import topic_terms_of
from franchise.engines.copies import changes_of, merge_copies, merged_into, near_pairs
from franchise.model import broken_invariants, empty_state, joint
from franchise.model.capacity import compact
from franchise.model.state import ETA, GAMMA, TOPICS, copy_state, topic_term_counts
from franchise.sampling import Timetable
from franchise.storage.chain import load_chain, save_chain
from tests.golden.fingerprint import arithmetic_corpus
from tests.reference import merging
from tests.reference.chains import ALONE

SCHEDULE = Timetable(sweeps=8, burn_in=5, thin=1, merges=(2, 4))
PRIORS = Priors(eta=0.3)


@cache
def corpus():
    return planted(n_topics=5, n_terms=60, n_documents=80, document_length=40, seed=2).corpus


def new_chain(engine="collapsed", schedule=SCHEDULE, start=20, of=None, seed=4, **settings):
    return Chain(of or corpus(), PRIORS, schedule, random_state=seed, init=start, engine=engine, **settings)


def state_after(sweeps, start=6):
    """Return a state with several topics, and numbers that no topic has."""
    chain = new_chain(schedule=Timetable(sweeps=9, burn_in=9), start=start, of=arithmetic_corpus())
    chain.run(sweeps)
    return copy_state(chain.state)


def in_bits(chain):
    """Return where a chain of any engine is and how it came there, but for the time that it took."""
    arrays = {name: array.tobytes() for name, array in chain.engine.arrays().items()}
    return (
        arrays
        | {name: chain.trace[name].tobytes() for name in chain.trace.columns if name != "seconds"}
        | {"events": chain.events}
    )


def counts_of_topics(state):
    live = np.sort(state.live[: state.totals[TOPICS]])
    return live, topic_terms_of(state, live)


def doubled(state, k, of):
    """Return the state in which every second table of topic k belongs to a new topic: a copy of it."""
    slots = np.flatnonzero((state.n_jt > 0) & (state.k_jt == k))[::2]
    other = copy_state(state)
    other.k_jt[slots] = new = int(state.totals[TOPICS])
    live = {int(one): int(one) for one in (*state.live[:new], new)}
    return merging.with_topics(of.arrays, other, live)


# ---------------------------------------------------------------- what is decided


@pytest.mark.nojit
@pytest.mark.parametrize("sweeps", [0, 1, 5])
def test_changes_are_those_of_the_log_joint(sweeps):
    state, arrays = state_after(sweeps), arithmetic_corpus().arrays
    live, counts = counts_of_topics(state)
    assert live.size > 2
    pairs = np.array(merging.all_pairs(state))
    eta, gamma = (float(state.concentrations[i]) for i in (ETA, GAMMA))
    rows = np.searchsorted(live, pairs)
    found = changes_of(counts.astype(np.int64), state.n_k[live], state.m_k[live], eta, gamma, rows)
    expected = [merging.change(arrays, state, a, b) for a, b in pairs]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_changes_of_large_counts():
    """Beyond what is tabulated."""
    counts = np.array([[300_000, 5, 70_000], [200_000, 0, 80_000]])
    n_k, m_k, eta, gamma = counts.sum(axis=1), np.array([9_000, 8_000]), 0.1, 2.0
    found = changes_of(sp.csr_array(counts), n_k, m_k, eta, gamma, np.array([[0, 1]]))
    a, b = counts
    expected = (gammaln(a + b + eta) - gammaln(a + eta) - gammaln(b + eta) + gammaln(eta)).sum()
    v_eta = 3 * eta
    sizes = gammaln(n_k.sum() + v_eta) - gammaln(n_k + v_eta).sum() + gammaln(v_eta)
    expected += -sizes + gammaln(m_k.sum()) - gammaln(m_k).sum() - np.log(gamma)
    np.testing.assert_allclose(found, [expected], rtol=1e-9)


@pytest.mark.parametrize("least", [0.0, 20.0])
@pytest.mark.parametrize("seed", range(6))
def test_the_same_as_with_sets(seed, least):
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(12, 0.2), 4)
    counts = np.array([rng.multinomial(n, phi[k % 4]) for k, n in enumerate(rng.integers(20, 300, 14))])
    m_k = rng.integers(1, 20, 14)
    found = merged_into(sp.csr_array(counts), counts.sum(axis=1), m_k, 0.3, 1.5, least)
    assert found.tolist() == merging.greedy(counts, m_k.tolist(), 0.3, 1.5, nearest=6, least=least)
    assert len(set(found.tolist())) < 14


def test_equals_go_by_number():
    counts = np.tile([[500, 0, 300]], (5, 1))
    found = merged_into(sp.csr_array(counts), counts.sum(axis=1), np.full(5, 90), 0.1, 1.0)
    assert found.tolist() == [0] * 5


@pytest.mark.parametrize("n_topics", [0, 1])
def test_nothing_to_compare(n_topics):
    counts = sp.csr_array(np.full((n_topics, 3), 2))
    n_k = np.full(n_topics, 6)
    assert near_pairs(counts, n_k).shape == (0, 2)
    assert merged_into(counts, n_k, n_k, 0.1, 1.0).tolist() == list(range(n_topics))


@pytest.mark.parametrize("at_once", [1, 7, 1 << 22])
def test_affinities_in_blocks_change_nothing(monkeypatch, at_once):
    counts = sp.csr_array(np.random.default_rng(1).poisson(1.0, (20, 30)))
    n_k = counts.sum(axis=1)
    whole = near_pairs(counts, n_k)
    monkeypatch.setattr("franchise.engines.copies._AT_ONCE", at_once)
    assert near_pairs(counts, n_k).tolist() == whole.tolist()


# ---------------------------------------------------------------- what is done


@pytest.mark.nojit
def test_the_state_is_that_of_its_tables():
    of = arithmetic_corpus()
    state = doubled(doubled(state_after(3), 0, of), 1, of)
    before, (live, counts) = copy_state(state), counts_of_topics(state)
    into = merge_copies(state, live, counts)
    compact(of.arrays, state)
    assert broken_invariants(of.arrays, state) == []
    assert state.totals[TOPICS] == len(set(into.tolist())) < live.size
    expected = merging.with_topics(of.arrays, before, {int(k): int(into[k]) for k in live})
    assert state.t_ji.tolist() == before.t_ji.tolist()
    same, found = (joint(of.arrays, one, PRIORS) for one in (expected, state))
    np.testing.assert_allclose(found, same, rtol=1e-12)
    assert found.log_joint > joint(of.arrays, before, PRIORS).log_joint
    by_name = dict(zip(before.name_k[live].tolist(), topic_term_counts(before, live), strict=True))
    for k in range(int(state.totals[TOPICS])):
        members = [one for one in live if before.name_k[into[one]] == state.name_k[k]]
        summed = sum(by_name[int(before.name_k[one])] for one in members)
        assert topic_term_counts(state, np.array([k]))[0].tolist() == summed.tolist()


@pytest.mark.parametrize("engine", ALONE)
def test_every_state_is_whole(engine):
    chain = new_chain(engine, seed=5)
    for sweep in range(1, SCHEDULE.sweeps + 1):
        chain.sweep()
        assert chain.state.totals[TOPICS] == chain.trace.last["n_topics"]
        if engine != "cells":
            assert broken_invariants(corpus().arrays, chain.state) == []
            parts = joint(corpus().arrays, chain.state, PRIORS)
            assert chain.trace.last["log_joint"] == pytest.approx(parts.log_joint, rel=1e-9)
        else:
            state = chain.state
            assert np.bincount(state.k_jt).tolist() == state.m_k[: state.totals[TOPICS]].tolist()
            words = np.bincount(state.k_jt, weights=state.n_jt)
            assert words.tolist() == state.n_k[: state.totals[TOPICS]].tolist()
            chain.engine.restore(chain.engine.arrays())  # which refuses what does not add up
        gone = [event for event in chain.events if event.sweep == sweep and event.kind == "merged"]
        if sweep == 2:
            assert len(gone) > 2  # how many depends on the seed; there must be some to look at
    alive = set(chain.engine.names().tolist())
    ended = {event.topic for event in chain.events if event.kind in ("merged", "died")}
    began = {event.topic for event in chain.events if event.kind in ("born", "split")}
    assert (set(range(20)) | began) - ended == alive


@pytest.mark.parametrize("engine", ["parallel", "cells"])
def test_threads_change_nothing(engine):
    one, three = (new_chain(engine, n_jobs=threads) for threads in (1, 3))
    one.run()
    three.run()
    assert in_bits(one) == in_bits(three)


@pytest.mark.parametrize("engine", ALONE)
def test_resumed_at_every_sweep(engine, tmp_path):
    whole = new_chain(engine)
    whole.run()
    for sweeps in range(SCHEDULE.sweeps):
        first = new_chain(engine)
        first.run(sweeps)
        save_chain(first, tmp_path / str(sweeps))
        chain = load_chain(tmp_path / str(sweeps), corpus())
        assert chain.schedule == SCHEDULE
        chain.run()
        assert in_bits(chain) == in_bits(whole)


@pytest.mark.parametrize("engine", ALONE)
def test_nothing_is_left_of_them_after_the_last(engine, tmp_path):
    """From the state after the last merge on, a chain without merges makes the same sweeps."""
    chain = new_chain(engine)
    chain.run(SCHEDULE.merges[-1])
    save_chain(chain, tmp_path / "m")
    without = load_chain(tmp_path / "m", corpus(), replace(SCHEDULE, merges=()))
    for one in (chain, without):
        one.run(SCHEDULE.sweeps - SCHEDULE.merges[-1])
    assert in_bits(chain) == in_bits(without)


# ---------------------------------------------------------------- what it is for


def test_duplicates_go():
    """Every planted topic three times: a chain without merges keeps some of the copies for long."""
    truth = planted(n_topics=5, n_terms=60, n_documents=400, document_length=60, seed=5)
    k_of = 3 * truth.z + np.arange(truth.z.size) // 20 % 3  # copies in other places of a document
    k = {}
    for merges in ((), (3,)):
        chain = Chain(
            truth.corpus,
            PRIORS,
            Timetable(sweeps=3, burn_in=3, merges=merges, split_merge=None),
            random_state=1,
            init="one",
            engine="parallel",
        )
        chain.start_at(state_of(truth.corpus, k_of, chain))
        chain.run()
        k[merges] = chain.trace["n_topics"].tolist()
    assert min(k[()]) >= 15
    assert k[(3,)][:3] == k[()][:3]
    assert k[(3,)][3] <= 7


def state_of(of: Corpus, z, chain):
    """Return the state in which the words of each topic of a document share a table."""
    arrays, state = of.arrays, empty_state(of.arrays, int(z.max()) + 1)
    state.concentrations[:] = chain.priors.initial()
    for begin, end in zip(arrays.doc_ptr[:-1], arrays.doc_ptr[1:], strict=True):
        topics = list(dict.fromkeys(z[begin:end].tolist()))
        state.t_ji[begin:end] = [topics.index(one) for one in z[begin:end].tolist()]
        state.k_jt[begin : begin + len(topics)] = topics
    merging.seat_all(arrays, state, int(z.max()) + 1)
    return state
