"""Topics are renumbered without gaps; nothing else about the franchise changes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from franchise import Chain, Corpus, Priors
from franchise.model import broken_invariants, empty_state
from franchise.model.capacity import close_topic, compact, grown, is_full, open_topic
from franchise.model.state import BORN, DEAD, NUMBERED, TOPICS
from franchise.random import TABLE_TOPICS, WORD_TABLES
from tests.reference.enumeration import Concentrations
from tests.reference.franchise import corpus_of
from tests.reference.kernels import Kernels
from tests.reference.strategies import CONCENTRATIONS, SEEDS, corpora

pytestmark = pytest.mark.nojit


def described(kernels):
    """Return the state with topics called by their names, orders included."""
    state, own = kernels.state, kernels.plain()
    name = state.name_k.tolist()
    live = [name[k] for k in own.live]
    sizes = {name[k]: (int(state.n_k[k]), int(state.m_k[k])) for k in own.live}
    rows = [[name[k] for k in row] for row in own.topics_of_term]
    return own.t_ji, [[name[k] for k in topics] for topics in own.k_jt], live, sizes, rows


@given(corpora(), CONCENTRATIONS, SEEDS, st.integers(0, 3))
def test_the_franchise_stays_and_the_numbers_have_no_gaps(corpus, at, seed, sweeps):
    kernels = Kernels(*corpus, at)
    kernels.start_sequential(seed)
    for sweep in range(1, sweeps + 1):
        kernels.make(WORD_TABLES, seed, sweep)
        kernels.make(TABLE_TOPICS, seed, sweep)
    before, born = described(kernels), kernels.state.totals[BORN]
    had_gaps = kernels.state.totals[DEAD] > 0
    compact(kernels.corpus, kernels.state)
    assert described(kernels) == before
    n_topics = kernels.state.totals[TOPICS]
    assert sorted(kernels.plain().live) == list(range(n_topics))
    assert not had_gaps or kernels.plain().live == list(range(n_topics))
    assert kernels.state.totals[[DEAD, NUMBERED, BORN]].tolist() == [0, n_topics, born]
    assert broken_invariants(kernels.corpus, kernels.state) == []


@given(st.lists(st.one_of(st.none(), st.integers(0, 20)), max_size=40))
def test_names_follow_any_order_of_births_and_deaths(steps):
    """A step opens a topic (None) or closes one."""
    corpus = corpus_of([[0]], 1).arrays
    state = empty_state(corpus, 1)
    for step in steps:
        if step is None:
            state = grown(state) if is_full(state) else state
            k = open_topic(state)
            state.n_k[k], state.m_k[k] = 10 * state.name_k[k], 100 * state.name_k[k]
        elif state.totals[TOPICS]:
            close_topic(state, state.live[step % state.totals[TOPICS]])
    n_topics = state.totals[TOPICS]
    names = state.name_k[state.live[:n_topics]].tolist()
    compact(corpus, state)
    live = state.live[:n_topics]
    assert sorted(live.tolist()) == list(range(n_topics))
    assert state.place[live].tolist() == list(range(n_topics))
    assert state.name_k[live].tolist() == names
    assert state.n_k[live].tolist() == [10 * name for name in names]
    assert state.m_k[live].tolist() == [100 * name for name in names]
    assert (state.totals[DEAD], state.totals[NUMBERED]) == (0, n_topics)


def test_a_chain_pays_for_living_topics_only():
    """Many random topics die in the first sweeps; after each sweep no number of theirs is left."""
    words = np.random.default_rng(0).integers(0, 8, 600)
    corpus = Corpus(words, np.arange(0, 601, 30), [f"w{v}" for v in range(8)])
    chain = Chain(corpus, Priors(alpha=0.5, gamma=0.5), init=200, random_state=0)
    for _ in range(5):
        chain.sweep()
        assert chain.state.totals[NUMBERED] == chain.state.totals[TOPICS]
        assert chain.state.totals[DEAD] == 0
        assert broken_invariants(corpus.arrays, chain.state) == []
    assert chain.trace["n_topics"][0] > 5 * chain.trace["n_topics"][-1]


@pytest.mark.parametrize("capacity", [1, 64])
def test_room_is_found_again_after_compaction(capacity):
    kernels = Kernels([[0, 1, 2, 0, 1], [2, 1]], 3, Concentrations(9.0, 9.0, 9.0), capacity)
    kernels.start_sequential(1)
    for sweep in range(1, 30):
        kernels.make(WORD_TABLES, 1, sweep)
        compact(kernels.corpus, kernels.state)
        assert broken_invariants(kernels.corpus, kernels.state) == []
