"""Words are seated again as in a Chinese restaurant, in documents of any length, with any concentration."""

import numpy as np
import pytest
from scipy.stats import norm

from franchise.corpus import Corpus
from franchise.engines import EngineSettings
from franchise.model import Priors, broken_invariants, empty_state
from franchise.model.seating import seat_all
from franchise.model.state import ALPHA, tables_in_use
from franchise.random import Key
from tests.reference.given_measure import Given
from tests.reference.parallel import Held
from tests.reference.statistics import FALSE_FAIL_RATE, assert_frequencies


def new_tables(mass, n):
    """Return the probability that word i of a topic opens a table, for i < n."""
    return mass / (mass + np.arange(n))


def distribution_of_sum(chances):
    p = np.ones(1)
    for chance in chances:
        p = np.convolve(p, [1 - chance, chance])
    return p


def seated(length, n_documents, mass, seed):
    """Seat documents of one topic; return the corpus and the state."""
    x = np.zeros(length * n_documents, np.int32)
    corpus = Corpus(x, np.arange(0, x.size + 1, length), ["a"])
    state = empty_state(corpus.arrays)
    state.t_ji[:] = 0
    state.concentrations[ALPHA] = mass
    seat_all(corpus.arrays, state, 1)
    engine = Held(corpus, EngineSettings(Priors(alpha=mass, gamma=1.0, eta=0.5)))
    engine.hold(Given(1, mass, (1.0,), ((1.0,),)), [0])
    engine.seat(state)
    engine._update_documents(Key(seed, 0, 1, 0))
    assert broken_invariants(corpus.arrays, engine.state) == []
    return corpus.arrays, engine.state


@pytest.mark.parametrize(
    ("length", "mass"), [(5, 0.3), (5, 20.0), (250, 20.0), (250, 5_000.0), (1_200, 0.3), (1_200, 400.0)]
)
def test_numbers_and_sizes_of_tables(length, mass, seed):
    """The product of all chances to join a table is far below the smallest double for some of these."""
    corpus, state = seated(length, 2_000, mass, seed)
    p = distribution_of_sum(new_tables(mass, length))
    chances = {m: float(chance) for m, chance in enumerate(p) if chance > 0}
    assert_frequencies(state.m_j.tolist(), chances)
    # Two words share a table with probability 1 / (1 + mass).
    n_jt = np.where(tables_in_use(corpus, state), state.n_jt, 0).astype(float).reshape(-1, length)
    pairs = (n_jt * (n_jt - 1)).sum(axis=1)
    off = (pairs.mean() - length * (length - 1) / (1 + mass)) / (pairs.std(ddof=1) / np.sqrt(pairs.size))
    assert abs(off) < norm.isf(FALSE_FAIL_RATE / 2)


@pytest.mark.parametrize("mass", [0.3, 400.0])
def test_where_tables_are_opened(mass, seed):
    """Word i is the first of its table with probability mass / (mass + i), each apart from the others."""
    length = 400
    _, state = seated(length, 2_000, mass, seed)
    t = state.t_ji.reshape(-1, length)
    newest = np.maximum.accumulate(t, axis=1)
    opens = np.column_stack([np.ones(len(t), bool), newest[:, 1:] > newest[:, :-1]])
    expected = new_tables(mass, length)
    # In blocks of words, or there would be too few of the rare ones.
    for block in np.array_split(np.arange(1, length), 10):
        variance = np.sum(expected[block] * (1 - expected[block])) * len(t)
        off = (opens[:, block].sum() - expected[block].sum() * len(t)) / np.sqrt(variance)
        assert abs(off) < norm.isf(FALSE_FAIL_RATE / 2), block
