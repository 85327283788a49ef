import math
from collections import Counter

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection

from franchise.errors import SettingsError
from franchise.report.figures import plot_n_topics, plot_similarity
from tests.raising import raises
from tests.unit.report.drawn import legend_of

# ---------------------------------------------------------------- similarities


def test_every_similarity_is_a_dot_in_its_strip(ax):
    rng = np.random.default_rng(6)
    strips = {"Gibbs": rng.random(30), "split-merge": rng.random((5, 5)), "alone": []}
    plot_similarity(strips, ax=ax)
    dots = [one for one in ax.collections if isinstance(one, PathCollection)]
    for row, (strip, values) in enumerate(zip(dots, strips.values(), strict=True)):
        np.testing.assert_array_equal(strip.get_offsets()[:, 0], np.ravel(values))
        assert np.all(np.abs(strip.get_offsets()[:, 1] - row) < 0.5)
    medians = [one.get_segments()[0][0, 0] for one in ax.collections if isinstance(one, LineCollection)]
    np.testing.assert_allclose(medians, [np.median(strips["Gibbs"]), np.median(strips["split-merge"])])
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["Gibbs (30)", "split-merge (25)", "alone (0)"]
    assert ax.get_xlim()[0] <= 0
    assert ax.get_xlim()[1] >= 1


def test_the_same_similarities_give_the_same_picture():
    pictures = [
        plot_similarity({"a": [0.1, 0.5, 0.7]}).axes[0].collections[0].get_offsets() for _ in range(2)
    ]
    np.testing.assert_array_equal(*pictures)


@pytest.mark.parametrize(
    ("similarities", "code", "facts"),
    [
        ({}, "empty-setting", ["similarities"]),
        ({"a": []}, "empty-setting", ["similarities"]),
        ({"a": [0.5, math.nan]}, "not-finite", ["similarities['a'][1]", "nan"]),
        ({"a": [0.5, 1.5]}, "out-of-range", ["similarities['a']", "0.5 to 1.5", "0 to 1"]),
        ({"a": ["x"]}, "wrong-type", ["similarities['a']", "list of numbers"]),
    ],
)
def test_similarities_that_cannot_be_drawn_are_refused_in_words(similarities, code, facts):
    with raises(SettingsError, code, *facts):
        plot_similarity(similarities)


# ---------------------------------------------------------------- how many topics


def first_with(draws, share):
    """The smallest value that at least this share of the draws does not exceed."""
    return next(v for v in sorted(draws) if sum(d <= v for d in draws) >= share * len(draws))


@pytest.mark.parametrize("n", [1, 2, 7, 200])
def test_bars_are_shares_of_the_draws_and_the_interval_is_theirs(n, ax):
    draws = np.random.default_rng(n).poisson(12, n).tolist()
    plot_n_topics(draws, ax=ax)
    bars = {bar.get_x() + bar.get_width() / 2: bar for bar in ax.patches}
    assert {round(x): bar.get_height() for x, bar in bars.items()} == pytest.approx(
        {k: times / n for k, times in Counter(draws).items()}
    )
    low, median, high = (first_with(draws, share) for share in (0.025, 0.5, 0.975))
    assert legend_of(ax) == [f"median {median}, 95% interval {low} to {high}"]
    (line,) = (one for one in ax.collections if isinstance(one, LineCollection))
    assert line.get_segments()[0][:, 0].tolist() == [low, high]
    inside = {bar.get_facecolor() for x, bar in bars.items() if low <= round(x) <= high}
    outside = {bar.get_facecolor() for x, bar in bars.items() if not low <= round(x) <= high}
    assert len(inside) == 1
    assert not inside & outside


@pytest.mark.parametrize(
    ("draws", "code"),
    [
        ([], "wrong-shape"),
        ([1.5], "not-a-whole-number"),
        ([-1], "not-a-whole-number"),
        ([math.nan], "not-finite"),
        ([[3, 4]], "wrong-shape"),
        ("many", "wrong-type"),
    ],
)
def test_numbers_of_topics_that_cannot_be_drawn_are_refused_in_words(draws, code):
    with raises(SettingsError, code, "n_topics_draws"):
        plot_n_topics(draws)
