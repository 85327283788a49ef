"""Methods against Gibbs sampling: means over runs, and equal CPU times."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from experiments.claim import CONFIRMED, DEPENDS, REFUTED, better_and_worse, case, rate, verdict
from experiments.compare import at_times, bands, differences, interval


def test_the_interval_is_students():
    values = np.array([0.3, 0.1, 0.5, 0.2])
    low, high = stats.t.interval(0.95, 3, values.mean(), stats.sem(values))
    assert interval(values) == pytest.approx((values.mean(), low, high, 4))
    assert interval(values).sign == 1
    assert interval(-values).sign == -1


def test_one_run_has_no_finite_interval():
    assert interval(np.array([2.0])) == (2.0, -np.inf, np.inf, 1)
    assert interval(np.array([2.0])).sign == 0


def test_bands_are_intervals_of_columns():
    runs = np.array([[1.0, 2.0], [3.0, 5.0], [2.0, 2.0]])
    mean, low, high = bands(runs)
    assert mean.tolist() == pytest.approx([2.0, 3.0])
    assert (low[1], high[1]) == pytest.approx(interval(runs[:, 1])[1:3])


def table(rows):
    return pd.DataFrame(rows, columns=["method", "run", "sweep", "seconds", "y"])


def test_differences_are_of_the_runs_that_both_have():
    rows = [("gibbs", 1, 1, 0.0, 5.0), ("paper", 1, 1, 0.0, 7.0), ("paper", 2, 1, 0.0, 9.0)]
    assert differences(table(rows), "paper", "y", "sweep").to_dict() == {1: {1: 2.0}}


def test_equal_times_have_the_slower_method_behind():
    # y is the logarithm of the sweeps made; the paper's sweeps take twice as long
    rows = [("gibbs", 1, n, float(n), np.log(n)) for n in range(1, 101)]
    rows += [("paper", 1, n, 2.0 * n, np.log(n)) for n in range(1, 101)]
    timed = at_times(table(rows), "y")
    wide = timed.pivot(index="time", columns="method", values="y")
    assert wide.index.min() == pytest.approx(2.0)
    assert wide.index.max() == pytest.approx(100.0)
    assert np.allclose(wide["gibbs"], np.log(wide.index))
    assert np.allclose(wide["paper"], np.log(wide.index / 2))


def test_verdicts():
    assert [verdict(x) for x in ([True, True], [True, False], [False])] == [CONFIRMED, DEPENDS, REFUTED]


def test_cases_in_words():
    good, bad, none = (
        case(name, "", interval(np.array(x))) for name, x in zip("abc", ([1, 2], [-1, -1.01], [-1, 1]))
    )
    good = good._replace(low=0.1)
    assert better_and_worse([good, bad, none]) == (
        "of 3 settings, better in 1 (a), worse in 1 (b), no difference seen in 1"
    )


def test_a_rate_has_wilsons_interval():
    one = rate("here", "accepted", 3, 100)
    low, high = stats.binomtest(3, 100).proportion_ci(method="wilson")
    assert (one.mean, one.low, one.high, one.n) == (0.03, low, high, 100)
    assert rate("here", "accepted", 0, 0).n == 0
