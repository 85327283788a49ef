"""Given G_0 the pass over a tiny document is a matrix that keeps p(z, t | G_0, x); the kernel is that matrix.

All documents of a corpus have the same words. Given G_0 they are independent, so that one pass over many of
them is as many independent transitions.
"""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose

from franchise.corpus import Corpus
from franchise.engines import EngineSettings
from franchise.model import Priors, broken_invariants, empty_state
from franchise.model.measure import FREE
from franchise.model.seating import seat_all
from franchise.model.state import ALPHA, BORN
from franchise.random import Key
from tests.reference.enumeration import by_first_appearance
from tests.reference.given_measure import ERRORS, Given, PassOfDocument
from tests.reference.parallel import Held
from tests.reference.statistics import assert_frequencies

TOLERANCE = 1e-12  # of probabilities
IN_USE = 3  # topics; columns behind them that move are free
ALPHA_0 = 1.7


def given(beta, phi, moving):
    # The kernel's phi has single precision: the matrix is that of the same numbers.
    phi = np.float32(phi / np.sum(phi, axis=1, keepdims=True)).astype(float)
    return Given(moving, ALPHA_0, tuple(beta), tuple(map(tuple, phi.tolist())))


PHI = [[6, 3, 1], [1, 1, 1], [1, 5, 2], [2, 1, 7]]
CASES = {
    # Words, and G_0: weights, terms, how many columns move. Those behind rest.
    "all move": ((0, 1, 0, 2), given([0.4, 0.3, 0.2], PHI[:3], 3)),
    "one is free": ((0, 1, 0), given([0.4, 0.25, 0.05, 0.2], PHI, 4)),
    "one rests": ((0, 1, 0, 2), given([0.5, 0.3, 0.15], PHI[:3], 2)),
    "one is free, two rest": ((0, 1, 0), given([0.5, 0.25, 0.12, 0.1], PHI, 2)),
    "a term that a topic does not have": ((0, 1, 0), given([0.4, 0.3, 0.2], [[0, 3, 1], PHI[0], PHI[1]], 3)),
}


@pytest.fixture(params=CASES)
def name(request):
    return request.param


def numbers_of(g):
    """Return the topic numbers of the columns: those in use, but the last that moves may be free."""
    n_columns = len(g.beta)
    numbers = list(range(n_columns))
    if n_columns > IN_USE:
        numbers[g.moving - 1 :] = [FREE, *range(g.moving - 1, IN_USE)]
    return numbers


def starts_of(words, g):
    """Return states whose columns are all in use."""
    numbers, states = numbers_of(g), PassOfDocument(words, g).states()
    return [(z, t) for z, t in states if FREE not in {numbers[c] for c in z}]


def transitions(name, copies, seed, threads=1, passes=1):
    """Make a pass over `n` documents from each state; return the starts and the states that they lead to."""
    words, g = CASES[name]
    starts, numbers = starts_of(words, g), numbers_of(g)
    n, n_documents = len(words), copies * len(starts)
    x = np.tile(np.array(words, np.int32), n_documents)
    corpus = Corpus(x, np.arange(0, x.size + 1, n), ["a", "b", "c"])
    state = empty_state(corpus.arrays)
    state.concentrations[ALPHA] = g.alpha
    state.t_ji[:] = np.tile(np.concatenate([t for _, t in starts]), copies)
    tables = np.zeros((len(starts), n), np.int32)
    for own, (z, t) in zip(tables, starts):
        own[list(t)] = [numbers[c] for c in z]
    state.k_jt[:] = np.tile(tables.ravel(), copies)
    seat_all(corpus.arrays, state, IN_USE)
    engine = Held(corpus, EngineSettings(Priors(alpha=g.alpha, gamma=1.0, eta=0.5), threads=threads))
    engine.hold(g, numbers, passes)
    engine.seat(state)
    engine._update_documents(Key(seed, 0, 1, 0))
    assert broken_invariants(corpus.arrays, engine.state) == []
    return starts, ends_of(engine, numbers, n).reshape(copies, len(starts), 2, n)


def ends_of(engine, numbers, n):
    """Return columns and tables of the words of every document."""
    state = engine.state
    column_of_name = {k: c for c, k in enumerate(numbers) if k != FREE}
    if FREE in numbers and state.totals[BORN] > IN_USE:
        column_of_name[IN_USE] = numbers.index(FREE)
    columns = np.array([column_of_name.get(name, -1) for name in state.name_k.tolist()])
    t = state.t_ji.reshape(-1, n)
    topics = np.take_along_axis(state.k_jt.reshape(-1, n), t, axis=1)
    return np.stack([columns[topics], t], axis=1)


def as_state(found):
    z, t = found.tolist()
    return tuple(z), by_first_appearance(t)


def test_it_keeps_the_posterior_given_g_0(name):
    words, g = CASES[name]
    one = PassOfDocument(words, g)
    states = one.states()
    matrix, weights = one.matrix(states), np.array([one.weight(state) for state in states])
    posterior = weights / weights.sum()
    assert_allclose(matrix.sum(axis=1), 1.0, rtol=0, atol=TOLERANCE)
    assert_allclose(posterior @ matrix, posterior, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("error", ERRORS)
def test_errors_do_not_keep_it(error):
    words, g = CASES["one is free, two rest"]
    one = error(words, g)
    states = one.states()
    weights = np.array([one.weight(state) for state in states])
    posterior = weights / weights.sum()
    assert np.abs(posterior @ one.matrix(states) - posterior).sum() > 0.01


def compare(one, starts, ends, passes=1):
    """Test where words go from each start, and how they are seated there; each time all documents at once."""
    moves = [(z, as_state(end)) for i, (z, _) in enumerate(starts) for end in ends[:, i]]
    n_from, n_to = Counter(z for z, _ in moves), Counter(z for _, (z, _) in moves)
    chances = {z: one.leads_to(z, passes) for z in n_from}
    assert_frequencies(
        [(z, after) for z, (after, _) in moves],
        {(z, after): p * n / len(moves) for z, n in n_from.items() for after, p in chances[z].items()},
    )
    assert_frequencies(
        [state for _, state in moves],
        {(z, t): p * n / len(moves) for z, n in n_to.items() for t, p in one.seatings(z).items()},
    )


@pytest.mark.parametrize(("threads", "passes"), [(1, 1), (2, 1), (1, 3)])
def test_the_kernel_is_the_matrix(name, seed, threads, passes):
    """300 transitions from each state see one probability off by 0.15, or all by 0.02."""
    compare(PassOfDocument(*CASES[name]), *transitions(name, 300, seed, threads, passes), passes)


@pytest.mark.parametrize("error", ERRORS)
def test_the_kernel_is_told_from_errors(seed, error):
    name = "one is free, two rest"
    starts, ends = transitions(name, 300, seed)
    with pytest.raises(AssertionError):
        compare(error(*CASES[name]), starts, ends)
