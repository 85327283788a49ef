"""The concentrations' priors: values, densities, and what is refused."""

import math

import numpy as np
import pytest
from scipy.stats import gamma

from franchise import Chain, Corpus, Priors, Proposal, SettingsError, SplitMerge
from franchise.model import broken_invariants
from franchise.sampling import Timetable
from tests.raising import raises

pytestmark = pytest.mark.nojit

REFUSED = [
    0,
    -1.0,
    math.nan,
    math.inf,
    "1",
    None,
    (),
    (1.0,),
    (1.0, 1.0, 1.0),
    (0.0, 1.0),
    (1.0, -2.0),
    (1.0, math.inf),
    ("1", 1.0),
    True,
    (True, 1.0),
    1j,
    np.complex128(1),
    10**400,
]


@pytest.mark.parametrize("name", ["alpha", "gamma", "eta"])
def test_no_positive_number_and_no_pair_is_refused(name):
    for setting in REFUSED:
        with raises(SettingsError, "not-a-prior", f"{name}={setting!r}", "(shape, rate)"):
            Priors(**{name: setting})


def test_positions_are_not_accepted():
    with pytest.raises(TypeError):
        Priors(1.0, 1.0, 1.0)


@pytest.mark.parametrize("number", [1, 0.5, np.float32(0.5), np.int64(2)])
def test_numbers_of_any_kind_fix_a_concentration(number):
    priors = Priors(alpha=number, gamma=number, eta=number)
    assert priors.initial().tolist() == [float(number)] * 3
    assert priors.initial().dtype == float
    assert priors.as_array().tolist() == [[0.0, 0.0]] * 3
    assert priors.log_density(priors.initial()) == 0.0


def test_pairs_start_at_their_mean():
    priors = Priors(alpha=(3, 2), gamma=0.7, eta=(1.0, 4.0))
    assert priors.initial().tolist() == [1.5, 0.7, 0.25]
    assert priors.as_array().tolist() == [[3.0, 2.0], [0.0, 0.0], [1.0, 4.0]]
    assert priors.as_array().dtype == float


@pytest.mark.parametrize("value", [1e-6, 0.3, 1.0, 25.0])
@pytest.mark.parametrize(("shape", "rate"), [(1.0, 1.0), (0.1, 3.0), (7.5, 0.2)])
def test_log_density_is_that_of_the_gamma_distribution(shape, rate, value):
    expected = gamma.logpdf(value, shape, scale=1 / rate)
    values = np.array([value, 5.0, value])
    alone = Priors(alpha=(shape, rate), gamma=1.0, eta=1.0).log_density(values)
    assert alone == pytest.approx(expected, rel=1e-12)
    two = Priors(alpha=(shape, rate), gamma=1.0, eta=(shape, rate)).log_density(values)
    assert two == pytest.approx(2 * expected, rel=1e-12)


def test_the_numbers_of_numpy_become_plain():
    priors = Priors(alpha=np.float32(0.5), gamma=(np.int64(2), np.float64(1)), eta=3)
    assert [type(priors.alpha), *map(type, priors.gamma), type(priors.eta)] == [float] * 4
    assert priors == Priors(alpha=0.5, gamma=(2.0, 1.0), eta=3.0)


@pytest.mark.parametrize("value", [1e-101, 1e101, 1e-300])
def test_fixed_values_beyond_the_ends_of_all_priors_are_refused(value):
    with raises(SettingsError, "out-of-range", f"eta={value}", "1e-100 to 1e+100"):
        Priors(eta=value)


@pytest.mark.parametrize("pair", [(1e-200, 1.0), (1.0, 1e-200)])
def test_a_start_is_between_the_ends(pair):
    assert np.all((Priors(gamma=pair).initial() >= 1e-100) & (Priors(gamma=pair).initial() <= 1e100))


@pytest.mark.parametrize("eta", [1e-100, 1e-30, 1e30, 1e100])
@pytest.mark.parametrize("concentration", [1e-100, 1e100])
def test_chains_run_at_the_ends(eta, concentration):
    """Words, tables, trials of every kind and their ratios stay within doubles."""
    proposals = tuple(
        Proposal(anchors=anchors, scans=scans) for anchors in ("uniform", "similar") for scans in (0, 1)
    )
    schedule = Timetable(sweeps=6, burn_in=0, split_merge=SplitMerge(proposals=proposals, keep_trials=True))
    documents = Corpus(list(range(12)) * 20, range(0, 241, 24), [f"w{v}" for v in range(12)])
    chain = Chain(
        documents, Priors(alpha=1.0, gamma=concentration, eta=eta), schedule, init=3, random_state=0
    )
    chain.run()
    assert np.all(np.isfinite(chain.trace["log_joint"]))
    made = [trial for trial in chain.trials if trial.kind != "none"]
    assert made
    assert not any(np.isnan(trial.log_acceptance) for trial in made)
    assert broken_invariants(documents.arrays, chain.state) == []
