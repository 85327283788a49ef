import itertools
import math

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from scipy.optimize import brentq
from scipy.stats import norm, ttest_1samp

from franchise.errors import SettingsError
from franchise.report.figures import plot_acceptance, plot_mode_difference
from tests.raising import raises
from tests.unit.report.drawn import legend_of, trials

# ---------------------------------------------------------------- the race of two samplers


def test_mean_and_interval_are_those_of_the_runs(ax):
    runs = np.random.default_rng(5).normal(size=(6, 4))
    plot_mode_difference([1, 2, 5, 9], runs, ax=ax)
    mean = ax.get_lines()[-1].get_xydata()
    np.testing.assert_allclose(mean, np.column_stack([[1, 2, 5, 9], runs.mean(axis=0)]))
    (band,) = ax.collections
    outline = band.get_paths()[0].vertices
    for x, values in zip([1, 2, 5, 9], runs.T, strict=True):
        bounds = outline[outline[:, 0] == x][:, 1]
        interval = ttest_1samp(values, 0.0).confidence_interval(0.95)
        np.testing.assert_allclose([bounds.min(), bounds.max()], interval)
    drawn = [line.get_ydata() for line in ax.get_lines()]
    for run in runs:
        assert any(np.array_equal(run, line) for line in drawn)
    assert legend_of(ax) == ["mean", "6 runs", "95% interval"]


def test_runs_that_end_early_count_as_long_as_they_last(ax):
    nan = math.nan
    plot_mode_difference([1, 2, 3, 4], [[1, 2, 4, nan], [3, 4, nan, nan]], ax=ax)
    np.testing.assert_allclose(ax.get_lines()[-1].get_ydata(), [2, 3, 4, nan])


def test_one_run_is_a_line(ax):
    plot_mode_difference([1, 10, 100], [0.1, 0.3, 0.2], log=True, x_label="seconds", ax=ax)
    zero, line = ax.get_lines()
    assert set(zero.get_ydata()) == {0.0}
    np.testing.assert_allclose(line.get_xydata(), [[1, 0.1], [10, 0.3], [100, 0.2]])
    assert not ax.collections
    assert ax.get_legend() is None
    assert (ax.get_xscale(), ax.get_xlabel()) == ("log", "seconds")


def test_one_time_can_be_seen(ax):
    plot_mode_difference([3], [[0.1], [0.2]], ax=ax)
    assert ax.get_lines()[-1].get_marker() == "o"


@pytest.mark.parametrize(
    ("arguments", "code", "facts"),
    [
        ({"times": [0, 1], "log": True}, "not-a-positive-number", ["times", "0", "log=False"]),
        ({"times": [1, 2, 3]}, "wrong-shape", ["differences", "(1, 2)", "3 times"]),
        ({"times": [2, 1]}, "not-increasing", ["times"]),
        ({"times": []}, "wrong-shape", ["times", "(0,)"]),
        ({"differences": [math.nan, math.nan]}, "not-finite", ["differences"]),
        ({"differences": [math.inf, 1]}, "not-finite", ["differences"]),
    ],
)
def test_differences_that_cannot_be_drawn_are_refused_in_words(arguments, code, facts):
    with raises(SettingsError, code, *facts):
        plot_mode_difference(**{"times": [1, 2], "differences": [0.1, 0.2]} | arguments)


# ---------------------------------------------------------------- accepted trials


def wilson(yes, n):
    """The shares that a test of their score would not refuse."""
    z = norm.ppf(0.975)

    def score(p):
        return (yes / n - p) ** 2 - z**2 * p * (1 - p) / n

    # No share but its own explains a rate of 0, or of 1: a root that is not the one looked for.
    tiny = 1e-12
    low = 0.0 if yes == 0 else brentq(score, 0.0, min(yes / n, 1 - tiny))
    high = 1.0 if yes == n else brentq(score, max(yes / n, tiny), 1.0)
    return low, high


def classes_of(ax):
    """What is drawn: for each kind, (low end of the class, rate, bounds); and the numbers under the axis."""
    edges = ax.get_xticks().tolist()
    lines = [one for one in ax.collections if isinstance(one, LineCollection)]
    drawn = []
    for points, bounds in zip(ax.get_lines(), lines, strict=True):
        rows = []
        for (x, rate), segment in zip(points.get_xydata(), bounds.get_segments(), strict=True):
            assert np.all(segment[:, 0] == x)
            rows.append((max(edge for edge in edges if edge <= x), rate, *segment[:, 1]))
        drawn.append(rows)
    counts = [int(text.get_text()) for text in ax.texts if text.get_text().isdigit()]
    half = len(counts) // 2
    return edges, drawn, [counts[:half], counts[half:]]


@pytest.mark.parametrize("size", ["words", "tables"])
def test_rates_intervals_and_numbers_are_those_of_the_trials(size, ax):
    made = trials(800)
    ax.figure.set_size_inches(12, 4)
    plot_acceptance(made, size=size, ax=ax)
    edges, drawn, counts = classes_of(ax)
    assert edges[:4] == [1, 2, 5, 10]
    for kind, rows, numbers in zip(("split", "merge"), drawn, counts, strict=True):
        expected, n_expected = [], []
        for low, high in itertools.pairwise(edges):
            own = [
                trial.accepted for trial in made if trial.kind == kind and low <= getattr(trial, size) < high
            ]
            n_expected.append(len(own))
            if own:
                expected.append((low, sum(own) / len(own), *wilson(sum(own), len(own))))
        np.testing.assert_allclose(rows, expected, atol=1e-9)
        assert numbers == n_expected
    assert sum(map(sum, counts)) == sum(trial.kind != "none" for trial in made)
    assert legend_of(ax) == ["split", "merge"]


def test_arrays_and_trials_are_the_same(ax):
    made = trials(300)
    columns = pd.DataFrame(made)[["kind", "accepted", "words"]]
    plot_acceptance(made, ax=ax)
    for same in (columns, columns.to_dict("list")):
        other = Figure().add_subplot()
        plot_acceptance(same, ax=other)
        assert classes_of(other) == classes_of(ax)


def test_sizes_on_the_ends_of_a_wide_range_are_counted(ax):
    words = [1, 10, 99, 100, 10**6, 10**7]
    plot_acceptance({"kind": ["split"] * 6, "accepted": [True] * 6, "words": words}, ax=ax)
    edges, _, counts = classes_of(ax)
    assert edges == [10.0**power for power in range(9)]
    assert counts == [[1, 2, 1, 0, 0, 0, 1, 1], [0] * 8]


def test_a_few_trials_do_not_stretch_the_scale(ax):
    kinds = ["split"] * 1002
    plot_acceptance({"kind": kinds, "accepted": [False] * 1002, "words": [30] * 1000 + [900] * 2}, ax=ax)
    assert ax.get_ylim()[1] < 0.05 < wilson(0, 2)[1]


def test_only_merges_are_drawn_without_splits(ax):
    plot_acceptance([trial._replace(kind="merge") for trial in trials(50)], ax=ax)
    assert [len(rows) > 0 for rows in (ax.texts, ax.get_lines(), ax.collections)] == [True] * 3
    assert len(ax.get_lines()) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "facts"),
    [
        ({"trials": []}, "no-trials-kept", ["keep_trials=True"]),
        (
            {"trials": [trial._replace(kind="none") for trial in trials(3)]},
            "no-trials-kept",
            ["keep_trials=True"],
        ),
        (
            {"trials": trials(9), "size": "documents"},
            "unknown-choice",
            ["size='documents'", "'words'", "'tables'"],
        ),
        (
            {"trials": {"kind": ["split"], "accepted": [True], "words": [0]}},
            "out-of-range",
            ["words", "size 0"],
        ),
        ({"trials": {"kind": ["split"], "accepted": [True], "words": [math.nan]}}, "not-finite", ["words"]),
        (
            {"trials": {"kind": ["split"], "accepted": [True, False], "words": [1]}},
            "wrong-length",
            ["kind", "accepted", "words"],
        ),
    ],
)
def test_trials_that_cannot_be_drawn_are_refused_in_words(arguments, code, facts):
    with raises(SettingsError, code, *facts):
        plot_acceptance(**arguments)
