"""alpha, gamma and eta: the density that is sampled, and that it is what is sampled.

The density is compared with the enumeration's joint times prior; draws with its cumulative distribution on
a grid. Draws are independent: each ends a run of its own from one value that is far out in a tail.
"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from franchise import Chain, Priors, from_tokens
from franchise._jit import kernel
from franchise.model.likelihood import log_rise as log_rise_of
from franchise.model.state import ALPHA, ETA, GAMMA
from franchise.moves import concentrations as module
from franchise.moves.concentrations import (
    HIGHEST,
    LOWEST,
    auxiliary_concentrations,
    slice_concentrations,
)
from franchise.random import CONCENTRATIONS as MOVE
from franchise.random import Key
from franchise.sampling import Timetable
from tests.reference.enumeration import Concentrations, Seating, log_joint
from tests.reference.kernels import Kernels
from tests.reference.statistics import assert_distribution
from tests.reference.strategies import CONCENTRATIONS, SEEDS, corpora

DOCUMENTS = [[0, 0, 1, 3, 3], [1, 1, 2], [], [2, 2, 2, 0], [3]], 5
PRIORS = np.array([[1.5, 0.5], [2.0, 1.0], [0.8, 2.0]])  # shape and rate of alpha, gamma, eta
FIXED = np.zeros((3, 2))
FAR = 40.0
NAMES = {ALPHA: "alpha", GAMMA: "gamma", ETA: "eta"}
# Flat over all of the range, flat below 1e-4, rising to 1e8, sharp there, at 1, and at 1e-8.
ODD_PRIORS = [(1e-4, 1e-4), (1e-3, 1e4), (0.02, 1e-8), (1e4, 1e-4), (1e4, 1e4), (1.0, 1e8)]
concentrations = pytest.mark.parametrize("which", NAMES, ids=NAMES.values())
moves = pytest.mark.parametrize(
    "move", [slice_concentrations, auxiliary_concentrations], ids=["slice", "auxiliary"]
)


def log_target(kernels, corpus, which, prior):
    """Return log x -> its log density by the enumeration's joint: joint, prior, and dx / d log x."""
    at, seating = Concentrations(*kernels.state.concentrations), kernels.plain().seating
    shape, rate = prior

    def log_density(log_x):
        x = math.exp(log_x)
        return log_joint(*corpus, seating, at._replace(**{NAMES[which]: x})) + shape * log_x - rate * x

    return log_density


def log_density_of(kernels, which, prior):
    """Return the function of log x that the move slices, caught on its way there."""
    priors = FIXED.copy()
    priors[which] = prior
    caught = []

    def catch(stream, given, x):
        caught.append(given)
        return x, 0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_slice", catch)
        move = getattr(slice_concentrations, "py_func", slice_concentrations)
        move(Key(0, 0, 0, MOVE), kernels.corpus, kernels.state, kernels.scratch.concentrations, priors)
    (given,) = caught
    return lambda log_x: module._log_density(given, log_x)


@pytest.mark.nojit
@concentrations
@given(
    corpora(),
    CONCENTRATIONS,
    SEEDS,
    st.tuples(st.floats(0.1, 9.0), st.floats(0.1, 9.0)),
)
def test_density_is_joint_times_prior(which, corpus, at, seed, prior):
    kernels = Kernels(*corpus, at)
    kernels.start_sequential(seed)
    log_density, expected = log_density_of(kernels, which, prior), log_target(kernels, corpus, which, prior)
    grid = np.log(np.geomspace(0.01, 50.0, 8))
    difference = [log_density(log_x) - expected(log_x) for log_x in grid]
    assert difference == pytest.approx([difference[0]] * len(grid), rel=1e-9, abs=1e-9)


def seated(seed):
    kernels = Kernels(*DOCUMENTS, Concentrations(alpha=2.0, gamma=1.5, eta=0.3))
    kernels.start_sequential(seed)
    return kernels


def cumulative(kernels, corpus, which, prior):
    """Return the posterior's cumulative distribution of one concentration, the others fixed."""
    log_density = log_target(kernels, corpus, which, prior)
    grid = np.linspace(math.log(LOWEST), math.log(HIGHEST), 4_001)
    logs = np.array([log_density(log_x) for log_x in grid])
    inside = np.flatnonzero(logs > logs.max() - 40.0)
    grid = np.linspace(grid[max(inside[0] - 1, 0)], grid[min(inside[-1] + 1, 4_000)], 4_001)
    logs = np.array([log_density(log_x) for log_x in grid])
    density = np.exp(logs - logs.max())
    # The trapezoidal rule.
    ends = np.concatenate([[0.0], np.cumsum(density[1:] + density[:-1])])
    return lambda x: np.interp(np.log(x), grid, ends / ends[-1])


def draws_from_afar(move, kernels, which, prior, n, calls, seed):
    """Run the move n times from the same tail, `calls` times each; return where it ended."""
    priors, draws = FIXED.copy(), np.empty(n)
    priors[which] = prior
    on = kernels.corpus, kernels.state, kernels.scratch.concentrations
    run_often(move is slice_concentrations, seed, *on, priors, which, calls, draws)
    return draws


@kernel
def run_often(by_slice, seed, corpus, state, scratch, priors, which, calls, draws):
    for chain in range(draws.size):
        state.concentrations[which] = FAR
        for sweep in range(calls):
            key = Key(seed, chain, sweep, MOVE)
            if by_slice:
                slice_concentrations(key, corpus, state, scratch, priors)
            else:
                auxiliary_concentrations(key, corpus, state, scratch, priors)
        draws[chain] = state.concentrations[which]


def assert_samples_posterior(move, which, n, calls, seed):
    kernels = seated(seed)
    cdf = cumulative(kernels, DOCUMENTS, which, PRIORS[which])
    assert cdf(FAR) > 0.999
    assert_distribution(draws_from_afar(move, kernels, which, PRIORS[which], n, calls, seed), cdf)


@concentrations
def test_slice_sampling_draws_from_the_posterior(which, seed):
    """1,000 draws see a distance of 0.11 in the cumulative distribution."""
    assert_samples_posterior(slice_concentrations, which, 1_000, 25, seed)


@concentrations
def test_auxiliary_variables_draw_from_the_posterior(which, seed):
    """3,000 draws see a distance of 0.06; a call is 20 rounds, but for eta, which is drawn by slice."""
    assert_samples_posterior(auxiliary_concentrations, which, 3_000, 25 if which == ETA else 3, seed)


@pytest.mark.statistical
@concentrations
def test_slice_sampling_draws_from_the_posterior_to_two_percent(which, seed):
    """30,000 draws see a distance of 0.02."""
    assert_samples_posterior(slice_concentrations, which, 30_000, 30, seed)


@pytest.mark.statistical
@concentrations
def test_auxiliary_variables_draw_from_the_posterior_to_two_percent(which, seed):
    """30,000 draws see a distance of 0.02."""
    assert_samples_posterior(auxiliary_concentrations, which, 30_000, 30 if which == ETA else 6, seed)


# ---------------------------------------------------------------- vague and sharp priors


def in_one_topic(documents, n_terms):
    """Return a state of one topic, and one table a document that has words."""
    tables = tuple((0,) * len(own) for own in documents)
    seating = Seating(tables, (0,) * sum(map(bool, documents)))
    return Kernels.seated(documents, n_terms, Concentrations(alpha=2.0, gamma=1.5, eta=0.3), seating)


def assert_samples_posterior_of_one_topic(move, which, prior, n, seed):
    """Of one topic of one term the data put no bound on a small concentration: the prior must."""
    documents = [[0, 0, 0], [0, 0]], 2
    kernels = in_one_topic(*documents)
    cdf = cumulative(kernels, documents, which, prior)
    # From far out in the tail of a sharp prior a slice halves the way: hundreds of standard deviations.
    calls = 6 if move is auxiliary_concentrations and which != ETA else 40 if prior[0] > 1 else 10
    assert_distribution(draws_from_afar(move, kernels, which, prior, n, calls, seed), cdf)


@moves
@pytest.mark.parametrize("prior", ODD_PRIORS, ids=str)
@concentrations
def test_vague_and_sharp_priors(move, which, prior, seed):
    """500 draws see a distance of 0.15."""
    assert_samples_posterior_of_one_topic(move, which, prior, 500, seed)


@pytest.mark.statistical
@moves
@pytest.mark.parametrize("prior", ODD_PRIORS, ids=str)
@concentrations
def test_vague_and_sharp_priors_to_four_percent(move, which, prior, seed):
    """8,000 draws see a distance of 0.04."""
    assert_samples_posterior_of_one_topic(move, which, prior, 8_000, seed)


@pytest.mark.nojit
@moves
@concentrations
@pytest.mark.parametrize("corpus", [([[0]], 1), ([[0, 0, 0, 1]], 3), ([[0], [], [0, 0]], 1)], ids=str)
def test_every_prior_gives_numbers_in_range(corpus, which, move, seed):
    kernels = in_one_topic(*corpus)
    sizes = (1e-300, 1e-100, 1e-4, 1e-2, 1.0, 1e2, 1e4, 1e100, 1e300)
    for prior in itertools.product(sizes, sizes):
        priors = FIXED.copy()
        priors[which] = prior
        with np.errstate(over="ignore", under="ignore"):
            kernels.state.concentrations[which] = np.divide(*prior)  # the mean, where chains start
        for sweep in range(3):
            own = kernels.scratch.concentrations
            move(Key(seed, 0, sweep, MOVE), kernels.corpus, kernels.state, own, priors)
            assert LOWEST / 1.01 < kernels.state.concentrations[which] < HIGHEST * 1.01


@pytest.mark.parametrize("method", ["slice", "auxiliary"])
@pytest.mark.parametrize("words", [[["a"] * 6, ["a"] * 5], [["a"]]], ids=["one topic", "one word"])
def test_a_chain_under_vague_priors_goes_on(words, method, seed):
    vague = (0.001, 0.001)
    schedule = Timetable(sweeps=300, burn_in=0, concentrations=method)
    chain = Chain(
        from_tokens(words), Priors(alpha=vague, gamma=vague, eta=vague), schedule, random_state=seed
    )
    chain.run()
    for name in ("alpha", "gamma", "eta", "log_joint", "log_prior"):
        assert np.all(np.isfinite(chain.trace[name]))


@pytest.mark.nojit
@given(st.floats(-230.0, 230.0).map(math.exp), st.integers(1, 60))
def test_log_rise_keeps_its_digits(x, n):
    log_rise = log_rise_of(x, math.lgamma(x), n)
    assert log_rise == pytest.approx(math.fsum(math.log(x + i) for i in range(n)), rel=1e-13, abs=1e-12)


# ---------------------------------------------------------------- what changes


@pytest.mark.nojit
@moves
def test_fixed_concentrations_stay(move, seed):
    kernels = seated(seed)
    before = kernels.state.concentrations.copy()
    move(Key(seed, 0, 0, MOVE), kernels.corpus, kernels.state, kernels.scratch.concentrations, FIXED)
    assert kernels.state.concentrations.tolist() == before.tolist()


@pytest.mark.nojit
@moves
def test_concentrations_with_a_prior_change(move, seed):
    kernels = seated(seed)
    before = kernels.state.concentrations.copy()
    move(Key(seed, 0, 0, MOVE), kernels.corpus, kernels.state, kernels.scratch.concentrations, PRIORS)
    assert np.all(kernels.state.concentrations != before)


@pytest.mark.nojit
@given(corpora(), CONCENTRATIONS, SEEDS)
def test_seating_is_left_alone(corpus, at, seed):
    kernels = Kernels(*corpus, at)
    kernels.start_sequential(seed)
    before = kernels.plain()
    for move in (slice_concentrations, auxiliary_concentrations):
        move(Key(seed, 0, 0, MOVE), kernels.corpus, kernels.state, kernels.scratch.concentrations, PRIORS)
        assert kernels.plain() == before
        assert np.all(np.isfinite(kernels.state.concentrations))
        assert np.all(kernels.state.concentrations > 0)
