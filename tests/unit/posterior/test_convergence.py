"""R-hat and effective sample sizes of numbers, and whether numbers drift."""

import numpy as np
import pytest
from arviz_stats.base import array_stats

from franchise.posterior.convergence import drift_of, r_hat_by_chance, standard_error
from franchise.posterior.diagnostics import diagnose
from franchise.sampling import Timetable
from tests.unit.posterior.made import posterior_of_counts, trace_of
from tests.unit.posterior.made_diagnoses import (
    asked,
    autoregressive,
    diagnosis_of,
    numbers_of,
    posterior_of_sizes,
)


@pytest.fixture
def rng(seed):
    return np.random.default_rng(seed)


# ---------------------------------------------------------------- numbers


def test_the_table_is_what_arviz_says(rng):
    posterior = posterior_of_sizes(rng, 3, 25)
    n_topics = autoregressive(rng, 3, 120, 0.8, 3.0)
    words, alpha = rng.normal(-50, 4, (3, 120)), rng.gamma(3, 1, (3, 120))
    traces = [trace_of(*row[:1], log_p_words=row[1], alpha=row[2]) for row in zip(n_topics, words, alpha)]
    table = diagnose(posterior, traces, Timetable(sweeps=120, burn_in=0)).table
    shares = [[draw.topic_terms.toarray().sum(axis=1) for draw in chain] for chain in posterior.draws]
    shares = np.array([[sizes / sizes.sum() for sizes in chain] for chain in shares])
    expected = {
        "number of topics": n_topics,
        "log probability of the words": words,
        "alpha": alpha,
        "number of topics of 1% or more": (shares >= 0.01).sum(axis=2),
        "entropy of topic sizes": [[-sum(p * np.log(p) for p in draw) for draw in chain] for chain in shares],
        "share of the largest topic": shares.max(axis=2),
    }
    for name, numbers in expected.items():
        numbers = np.asarray(numbers, float)
        assert table.loc[name, "mean"] == pytest.approx(numbers.mean())
        assert table.loc[name, "sd"] == pytest.approx(numbers.std())
        if np.ptp(numbers):
            assert table.loc[name, "r_hat"] == pytest.approx(array_stats.rhat(numbers))
            assert table.loc[name, "ess_bulk"] == pytest.approx(array_stats.ess(numbers, method="bulk"))
            tail = array_stats.ess(numbers, method="tail", prob=(0.05, 0.95))
            assert table.loc[name, "ess_tail"] == pytest.approx(tail)
    assert np.ptp(expected["entropy of topic sizes"]) > 0


def test_topics_of_one_percent_are_counted(rng):
    posterior = posterior_of_counts([[np.diag([98, 1, 1]), np.diag([989, 9, 2])]])
    table = diagnosis_of(np.full((1, 20), 3), rng, posterior).table
    assert table.loc["number of topics of 1% or more", "mean"] == (3 + 1) / 2
    assert table.loc["share of the largest topic", "mean"] == pytest.approx((0.98 + 0.989) / 2)


def test_concentrations_that_are_fixed_are_left_out(rng):
    n_topics = autoregressive(rng, 2, 50, 0.5, 3.0)
    named = set(diagnosis_of(n_topics, rng).table.index)  # alpha is sampled
    assert {"alpha"} == named & {"alpha", "gamma", "eta"}
    columns = {"alpha": np.full(50, 0.3), "gamma": rng.random(50), "eta": rng.random(50)}
    named = set(diagnosis_of(n_topics, rng, **columns).table.index)
    assert {"gamma", "eta"} == named & {"alpha", "gamma", "eta"}


def test_of_longer_chains_the_last_numbers_are_compared(rng):
    long, short = autoregressive(rng, 1, 300, 0.5, 3.0)[0], autoregressive(rng, 1, 200, 0.5, 3.0)[0]
    found = diagnosis_of([np.concatenate([np.full(100, 500), long[100:]]), short], rng, n_draws=20)
    both = np.stack([long[100:], short])
    assert found.table.loc["number of topics", "r_hat"] == pytest.approx(array_stats.rhat(both))


# ---------------------------------------------------------------- few draws


@pytest.mark.parametrize(("n_chains", "length"), [(2, 8), (4, 25)])
def test_independent_draws_seldom_exceed_the_r_hat_of_chance(rng, n_chains, length):
    # The larger of two R-hats (of the values, and folded), each more once in a thousand times. More than 12
    # of 600 fail a right program once in 10^6 seeds.
    limit = r_hat_by_chance((n_chains, length))
    r_hats = array_stats.rhat(rng.normal(size=(600, n_chains, length)))
    assert np.sum(r_hats > limit) <= 12
    # Nor is the limit far too large: of R-hats a third as far above 1 there are 10% or more (measured); fewer
    # than 20 fail a right program once in 10^6 seeds.
    assert np.sum(r_hats > 1 + (limit - 1) / 3) >= 20


def test_short_chains_of_one_distribution_are_not_said_to_disagree(rng):
    # Without regard to chance, half of these would.
    agree = [diagnosis_of(autoregressive(rng, 2, 10, 0.0, 3.0), rng, n_draws=10).agree for _ in range(30)]
    # Each fails at most once in a hundred times (four numbers): 5 of 30, once in 10^5 seeds.
    assert agree.count(False) < 5


def test_a_large_r_hat_of_few_draws_still_counts(rng):
    found = diagnosis_of(autoregressive(rng, 2, 12, 0.0, 1.0) + np.array([[0], [30]]), rng, n_draws=12)
    assert found.agree is False
    assert found.table.loc["number of topics", "r_hat"] > 1.1


# ---------------------------------------------------------------- drift


@pytest.mark.parametrize("curve", ["straight", "bending"])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("n_chains", [2, 4])
@pytest.mark.parametrize("length", [250, 400])
def test_drift_is_found(rng, curve, sign, n_chains, length):
    t = np.linspace(0, 1, length)
    course = sign * (30 * t if curve == "straight" else 50 * (1 - np.exp(-3 * t)))
    n_topics = autoregressive(rng, n_chains, length, 0.5, 1.5, mean=100 + course)
    found = diagnosis_of(n_topics, rng)
    third = length // 3
    rise = abs(n_topics[:, -third:].mean() - n_topics[:, :third].mean())
    assert found.drifting is True
    assert (found.settled, asked(found)) == (True, [])
    assert numbers_of(found, "drift") == {"by": pytest.approx(sign * rise)}


@pytest.mark.parametrize("sd", [1.0, 3.0, 10.0])
@pytest.mark.parametrize("n_chains", [1, 2, 4])
@pytest.mark.parametrize("length", [100, 250])
def test_slow_chains_that_go_nowhere_seldom_seem_to_drift(rng, length, n_chains, sd):
    # Measured: at most 1.5%. More than 5% of 300 then fail a right program about once in 10^5 seeds.
    alarms = [drift_of(list(autoregressive(rng, n_chains, length, 0.95, sd))) != 0.0 for _ in range(300)]
    assert np.mean(alarms) <= 0.05


@pytest.mark.parametrize(
    ("n_chains", "length", "sd", "low", "high"),
    # Measured: 1.2 (two thirds of that if rounding were overlooked), and 0.75 (0.6 without Kendall's bias).
    [(1, 250, 1.0, 0.85, 1.7), (4, 250, 1.0, 0.85, 1.7), (4, 100, 5.0, 0.66, 1.2)],
)
def test_the_standard_error_of_a_slow_chain_is_about_right(rng, n_chains, length, sd, low, high):
    third, phi = length // 3, 0.95
    weights = np.concatenate([np.full(third, -1), np.zeros(length - 2 * third), np.full(third, 1)]) / third
    covariance = sd**2 * phi ** np.abs(np.subtract.outer(np.arange(length), np.arange(length)))
    right = np.sqrt(weights @ covariance @ weights / n_chains)
    found = [standard_error(autoregressive(rng, n_chains, length, phi, sd), weights) for _ in range(300)]
    assert low < np.median(found) / right < high


def test_a_small_drift_that_r_hat_does_not_see(rng):
    n_topics = autoregressive(rng, 4, 250, 0.0, 3.0, mean=50 + np.linspace(0, 3.0, 250))
    found = diagnosis_of(n_topics, rng)
    assert found.table.loc["number of topics", "r_hat"] < 1.05
    assert (found.agree, found.converged, found.drifting) == (True, True, True)


def test_one_step_of_one_topic_is_no_drift():
    assert drift_of([np.repeat([10, 11], 100)]) == 0.0
    assert drift_of([np.repeat([10, 11], 100), np.full(200, 10)]) == 0.0


def test_a_rise_without_noise_is_drift():
    assert drift_of([np.arange(30)]) == pytest.approx(20.0)


def test_chains_that_go_opposite_ways_do_not_drift_together():
    assert drift_of([np.arange(60), 59 - np.arange(60)]) == 0.0
    assert drift_of([np.arange(60), 30 - np.arange(60) // 2]) == 0.0
