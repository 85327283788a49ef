"""Methods against Gibbs sampling: means over runs, and equal CPU times."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from experiments.claim import (
    CONFIRMED,
    DEPENDS,
    REFUTED,
    UNDECIDED,
    better_and_worse,
    case,
    rarity,
    rate,
    sign,
    verdict,
)
from experiments.compare import comparison, differences, gains, gains_over_time, interval


def test_the_interval_is_students():
    values = np.array([0.3, 0.1, 0.5, 0.2])
    low, high = stats.t.interval(0.95, 3, values.mean(), stats.sem(values))
    assert interval(values) == pytest.approx((values.mean(), low, high, 4))
    assert sign(case("", "", interval(values - 0.2))) == 0
    assert sign(case("", "", interval(values + 1))) == 1
    assert sign(case("", "", interval(values - 1))) == -1


def test_intervals_of_several_settings_hold_at_once():
    values = np.array([0.3, 0.1, 0.5, 0.2])
    low, high = stats.t.interval(1 - 0.05 / 9, 3, values.mean(), stats.sem(values))
    assert interval(values, 9)[1:3] == pytest.approx((low, high))


def test_one_run_has_no_finite_interval():
    assert interval(np.array([2.0])) == (2.0, -np.inf, np.inf, 1)


def table(rows):
    return pd.DataFrame(rows, columns=["method", "run", "sweep", "seconds", "y"])


def test_differences_are_of_the_runs_that_both_have():
    rows = [("gibbs", 1, 1, 0.0, 5.0), ("paper", 1, 1, 0.0, 7.0), ("paper", 2, 1, 0.0, 9.0)]
    assert differences(table(rows), "paper", "y", "sweep").to_dict() == {1: {1: 2.0}}


def test_equal_times_have_the_slower_method_behind():
    # y is the logarithm of the sweeps made; the paper's sweeps take twice as long
    sweeps = range(1, 101)
    rows = [("gibbs", run, n, float(n), np.log(n)) for run in (1, 2) for n in sweeps]
    rows += [("paper", run, n, 2.0 * n, np.log(n)) for run in (1, 2) for n in sweeps]
    gain = gains_over_time(table(rows), "y", "paper")
    assert gain.shape[0] == 2
    assert (gain.columns[0], gain.columns[-1]) == pytest.approx((2.0, 100.0))
    assert np.allclose(gain, -np.log(2))


def test_the_noise_of_a_clock_makes_no_difference_between_equal_runs():
    slow = [1.0, 1.4, 1.0]  # the second run was disturbed, in one method only
    rows = [("gibbs", run, n, float(n), n) for run in (1, 2, 3) for n in range(1, 50)]
    rows += [("paper", run, n, n * slow[run - 1], n) for run in (1, 2, 3) for n in range(1, 50)]
    assert np.allclose(gains_over_time(table(rows), "y", "paper"), 0.0)


def test_comparison_has_gains_and_the_level_of_gibbs():
    rows = [("gibbs", run, 1, 0.0, 5.0 + run) for run in (1, 2)]
    rows += [(method, run, 1, 0.0, 5.5 + run) for run in (1, 2) for method in ("paper", "default")]
    made = comparison(table(rows).assign(eta=0.1), ["eta"], {"y": "why"}, "run")
    assert made[["eta", "method", "measure", "gibbs", "mean", "n"]].to_numpy().tolist() == [
        [0.1, "paper", "why", 6.5, 0.5, 2],
        [0.1, "default", "why", 6.5, 0.5, 2],
    ]
    assert gains(table(rows), "y", "paper").tolist() == [0.5, 0.5]


def test_verdicts():
    cases = [case(name, "", interval(np.arange(5.0))) for name in "ab"]
    assert verdict(cases, lambda _: True) == CONFIRMED
    assert verdict(cases, lambda one: one.where == "a") == DEPENDS
    assert verdict(cases, lambda _: False) == REFUTED
    assert verdict([], lambda _: True) == UNDECIDED
    assert verdict([case("a", "", interval(np.arange(3.0)))], lambda _: True) == UNDECIDED


def test_a_share_is_rare_if_its_interval_is():
    assert rarity(rate("", "", 0, 1000), 0.05) == CONFIRMED
    assert rarity(rate("", "", 200, 1000), 0.05) == REFUTED
    assert rarity(rate("", "", 0, 8), 0.05) == UNDECIDED
    assert rarity(rate("", "", 0, 0), 0.05) == UNDECIDED


def test_cases_in_words():
    good, bad, none = (
        case(name, "", interval(np.array(x))) for name, x in zip("abc", ([1, 2], [-1, -1.01], [-1, 1]))
    )
    good = good._replace(low=0.1)
    assert better_and_worse([good, bad, none]) == (
        "of 3 settings, better in 1 (a), worse in 1 (b), no difference seen in 1"
    )


def test_small_differences_can_be_left_out():
    small = case("a", "", interval(np.array([0.001, 0.0011, 0.0012])))
    assert (sign(small), sign(small, 0.01)) == (1, 0)


def test_a_rate_has_wilsons_interval():
    one = rate("here", "accepted", 3, 100)
    low, high = stats.binomtest(3, 100).proportion_ci(method="wilson")
    assert (one.mean, one.low, one.high, one.n) == (0.03, low, high, 100)
    assert rate("here", "accepted", 0, 0).n == 0
