"""alpha, gamma and eta: the density that is sampled, and that it is what is sampled.

The density is compared with the enumeration's joint times prior; draws with its cumulative distribution on
a grid. Draws are independent: each ends a run of its own from one value that is far out in a tail.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import gamma as gamma_distribution

from franchise.model.state import ALPHA, ETA, GAMMA
from franchise.moves import concentrations as module
from franchise.moves.concentrations import auxiliary_concentrations, slice_concentrations
from franchise.random import CONCENTRATIONS as MOVE
from franchise.random import Key
from tests.reference.enumeration import Concentrations, log_joint
from tests.reference.kernels import Kernels
from tests.reference.statistics import assert_distribution
from tests.reference.strategies import CONCENTRATIONS, SEEDS, corpora

DOCUMENTS = [[0, 0, 1, 3, 3], [1, 1, 2], [], [2, 2, 2, 0], [3]], 5
PRIORS = np.array([[1.5, 0.5], [2.0, 1.0], [0.8, 2.0]])  # shape and rate of alpha, gamma, eta
FIXED = np.zeros((3, 2))
FAR = 40.0
NAMES = {ALPHA: "alpha", GAMMA: "gamma", ETA: "eta"}
concentrations = pytest.mark.parametrize("which", NAMES, ids=NAMES.values())


def log_target(kernels, corpus, which, x, prior):
    """Return the log density of log x by the enumeration's joint: joint, prior, and dx / d log x."""
    at = Concentrations(*kernels.state.concentrations)._replace(**{NAMES[which]: x})
    shape, rate = prior
    log_prior = gamma_distribution.logpdf(x, shape, scale=1 / rate)
    return log_joint(*corpus, kernels.plain().seating, at) + log_prior + math.log(x)


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
    log_density = log_density_of(kernels, which, prior)
    grid = np.geomspace(0.01, 50.0, 8)
    difference = [log_density(math.log(x)) - log_target(kernels, corpus, which, x, prior) for x in grid]
    assert difference == pytest.approx([difference[0]] * len(grid), rel=1e-9, abs=1e-9)


def seated(seed):
    kernels = Kernels(*DOCUMENTS, Concentrations(alpha=2.0, gamma=1.5, eta=0.3))
    kernels.start_sequential(seed)
    return kernels


def cumulative(kernels, which):
    """Return the posterior's cumulative distribution of one concentration, the others fixed."""
    grid = np.linspace(-14.0, 6.0, 4_001)
    logs = np.array([log_target(kernels, DOCUMENTS, which, math.exp(g), PRIORS[which]) for g in grid])
    ends = np.cumsum(np.exp(logs - logs.max()))
    # Half of a cell's weight on either side of its grid point: the trapezoidal rule.
    ends = (ends - 0.5 * np.exp(logs - logs.max())) / ends[-1]
    return lambda x: np.interp(np.log(x), grid, ends)


def draws_from_afar(move, kernels, which, n, calls, seed):
    """Run the move n times from the same tail, `calls` times each; return where it ended."""
    priors = FIXED.copy()
    priors[which] = PRIORS[which]
    draws = []
    for chain in range(n):
        kernels.state.concentrations[which] = FAR
        for sweep in range(calls):
            key = Key(seed, chain, sweep, MOVE)
            move(key, kernels.corpus, kernels.state, kernels.scratch.concentrations, priors)
        draws.append(kernels.state.concentrations[which])
    return draws


def assert_samples_posterior(move, which, n, calls, seed):
    kernels = seated(seed)
    cdf = cumulative(kernels, which)
    assert cdf(FAR) > 0.999
    assert_distribution(draws_from_afar(move, kernels, which, n, calls, seed), cdf)


@concentrations
def test_slice_sampling_draws_from_the_posterior(which, seed):
    """1,000 draws see a distance of 0.11 in the cumulative distribution."""
    assert_samples_posterior(slice_concentrations, which, 1_000, 25, seed)


@pytest.mark.parametrize("which", [ALPHA, GAMMA], ids=["alpha", "gamma"])
def test_auxiliary_variables_draw_from_the_posterior(which, seed):
    """3,000 draws see a distance of 0.06; a call is 20 rounds."""
    assert_samples_posterior(auxiliary_concentrations, which, 3_000, 3, seed)


@pytest.mark.statistical
@concentrations
def test_slice_sampling_draws_from_the_posterior_to_two_percent(which, seed):
    """30,000 draws see a distance of 0.02."""
    assert_samples_posterior(slice_concentrations, which, 30_000, 30, seed)


@pytest.mark.statistical
@pytest.mark.parametrize("which", [ALPHA, GAMMA], ids=["alpha", "gamma"])
def test_auxiliary_variables_draw_from_the_posterior_to_two_percent(which, seed):
    """30,000 draws see a distance of 0.02."""
    assert_samples_posterior(auxiliary_concentrations, which, 30_000, 6, seed)


@pytest.mark.nojit
@pytest.mark.parametrize("move", [slice_concentrations, auxiliary_concentrations])
def test_fixed_concentrations_stay(move, seed):
    kernels = seated(seed)
    before = kernels.state.concentrations.copy()
    move(Key(seed, 0, 0, MOVE), kernels.corpus, kernels.state, kernels.scratch.concentrations, FIXED)
    assert kernels.state.concentrations.tolist() == before.tolist()


@pytest.mark.nojit
def test_auxiliary_variables_leave_eta(seed):
    kernels = seated(seed)
    before = kernels.state.concentrations.copy()
    auxiliary_concentrations(
        Key(seed, 0, 0, MOVE), kernels.corpus, kernels.state, kernels.scratch.concentrations, PRIORS
    )
    changed = kernels.state.concentrations != before
    assert changed.tolist() == [True, True, False]


@pytest.mark.nojit
def test_slice_sampling_changes_all(seed):
    kernels = seated(seed)
    before = kernels.state.concentrations.copy()
    own = kernels.scratch.concentrations
    slice_concentrations(Key(seed, 0, 0, MOVE), kernels.corpus, kernels.state, own, PRIORS)
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
