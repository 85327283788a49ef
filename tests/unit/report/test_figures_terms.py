import itertools
import math

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure
from matplotlib.text import Text

from franchise.errors import SettingsError
from franchise.report.figures import plot_topic_bars, plot_topics
from tests.raising import raises
from tests.unit.report.drawn import seen_texts, terms, topics

# ---------------------------------------------------------------- topics by terms


def dots_of(ax):
    (dots,) = (one for one in ax.collections if isinstance(one, PathCollection))
    return dots


def test_areas_of_dots_are_as_the_probabilities(ax):
    phi = np.array([[0.5, 0.0, 0.5], [0.2, 0.7, 0.1]])
    plot_topics(phi, ["a", "b", "c"], ax=ax)
    dots = dots_of(ax)
    offsets, areas = dots.get_offsets(), dots.get_sizes()
    assert offsets.tolist() == [[0, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
    np.testing.assert_allclose(areas / areas.sum(), [0.25, 0.25, 0.1, 0.35, 0.05])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b", "c"]
    assert ax.yaxis_inverted()  # topic 0 on top
    for key in ax.get_legend().legend_handles:
        np.testing.assert_allclose(key.get_markersize() ** 2 / areas.max(), float(key.get_label()) / 0.7)


@pytest.mark.parametrize(
    ("shape", "vocabulary"),
    [
        ((5, 12), None),
        ((1, 6), ["LATENT DIRICHLET ALLOCATION"] * 6),
        ((9, 30), ["LATENT DIRICHLET ALLOCATION"] * 30),
        ((60, 40), ["LATENT DIRICHLET ALLOCATION"] * 40),
    ],
)
def test_dots_do_not_touch_in_a_new_figure(shape, vocabulary):
    figure = plot_topics(np.full(shape, 0.1), vocabulary)
    seen_texts(figure)  # draws it
    (ax,) = figure.axes
    at = ax.transData.transform([(0, 0), (1, 0), (0, 1)]) * 72 / figure.dpi
    apart = min(np.abs(at[1] - at[0]).max(), np.abs(at[2] - at[0]).max())
    assert 0.5 * min(apart, 13) < np.sqrt(dots_of(ax).get_sizes().max()) <= apart


def test_of_many_terms_the_topics_first_ones_are_drawn(ax):
    phi = topics(6, 300)
    plot_topics(phi, terms(300), n_terms=15, ax=ax)
    expected = []
    for rank, row in itertools.product(range(300), phi):
        term = sorted(range(300), key=lambda v, row=row: -row[v])[rank]
        if term not in expected and len(expected) < 15:
            expected.append(term)
        if len(expected) == 15:
            break
    owner = [max(range(6), key=lambda k, v=v: phi[k, v]) for v in expected]
    shown = [label.get_text() for label in ax.get_xticklabels()]
    assert sorted(shown) == sorted(f"term{v}" for v in expected)
    order = [(owner[expected.index(int(name[4:]))], -phi[:, int(name[4:])].max()) for name in shown]
    assert order == sorted(order)
    areas = {
        tuple(at): area for at, area in zip(dots_of(ax).get_offsets(), dots_of(ax).get_sizes(), strict=True)
    }
    chosen = [int(name[4:]) for name in shown]
    for (v, k), area in areas.items():
        share = phi[int(k), chosen[int(v)]] / phi[:, chosen].max()
        np.testing.assert_allclose(area / max(areas.values()), share)


def test_long_terms_are_cut():
    vocabulary = ["https://example.org/very/long", "x" * 25]
    for axis in (
        plot_topics([[0.5, 0.5]], vocabulary).axes[0].xaxis,
        plot_topic_bars([[0.5, 0.5]], vocabulary).axes[0].yaxis,
    ):
        names = [label.get_text() for label in axis.get_ticklabels()]
        assert names == ["https://example.org/very…", "x" * 25]


def test_terms_are_written_as_they_are():
    odd = ["$$", "a$b_{c$", "$x$"]
    for draw in (plot_topics, plot_topic_bars):
        figure = draw([[0.4, 0.3, 0.3]], odd)
        assert [name for name, _ in seen_texts(figure) if name in odd] == odd
        labels = figure.findobj(lambda one: isinstance(one, Text) and one.get_text() in odd)
        assert not any(label.get_parse_math() for label in labels)


@pytest.mark.parametrize(
    ("arguments", "code", "facts"),
    [
        ({"phi": []}, "wrong-shape", ["phi", "table of numbers"]),
        ({"phi": [0.5, 0.5]}, "wrong-shape", ["phi", "table of numbers"]),
        ({"phi": [[0.5, math.nan]]}, "not-finite", ["phi[0, 1]", "nan"]),
        ({"phi": [[0.0, 0.0]]}, "invalid-weights", ["phi"]),
        ({"phi": [[1.5, -0.5]]}, "invalid-weights", ["phi"]),
        ({"phi": [["a", "b"]]}, "wrong-type", ["phi", "table of numbers"]),
        (
            {"phi": [[0.5, 0.5]], "vocabulary": ["a"]},
            "wrong-length",
            ["vocabulary", "1 terms", "phi 2 columns"],
        ),
        ({"phi": [[0.5, 0.5]], "n_terms": 0}, "not-a-whole-number", ["n_terms=0"]),
    ],
)
def test_topics_that_cannot_be_drawn_are_refused_in_words(arguments, code, facts):
    with raises(SettingsError, code, *facts):
        plot_topics(**arguments)


# ---------------------------------------------------------------- top terms


def test_bars_are_the_most_probable_terms():
    phi = topics(9, 40)
    figure = plot_topic_bars(phi, terms(40), topics=[7, 2], n_terms=4)
    assert [ax.get_title() for ax in figure.axes] == ["topic 7", "topic 2"]
    for ax, topic in zip(figure.axes, [7, 2], strict=True):
        best = sorted(range(40), key=lambda v, topic=topic: -phi[topic, v])[:4]
        assert [label.get_text() for label in ax.get_yticklabels()] == [f"term{v}" for v in best]
        assert [bar.get_width() for bar in ax.patches] == [phi[topic, v] for v in best]
        assert ax.yaxis_inverted()
    assert figure.axes[0].get_xlim() == figure.axes[1].get_xlim()


def test_intervals_are_lines_on_the_bars():
    phi = np.array([[0.1, 0.6, 0.3]])
    bounds = np.array([[[0.05, 0.2], [0.5, 0.9], [0.1, 0.4]]])
    (ax,) = plot_topic_bars(
        phi, ["a", "b", "c"], n_terms=2, interval=lambda topic, terms: bounds[topic, terms]
    ).axes
    (lines,) = (one for one in ax.collections if isinstance(one, LineCollection))
    np.testing.assert_allclose(lines.get_segments(), [[[0.5, 0], [0.9, 0]], [[0.1, 1], [0.4, 1]]])
    assert ax.get_xlim()[1] > 0.9


@pytest.mark.parametrize(("n_topics", "panels"), [(1, 1), (2, 2), (4, 4), (50, 6)])
def test_by_default_the_first_six_topics_have_panels(n_topics, panels):
    figure = plot_topic_bars(topics(n_topics, 8), terms(8))
    assert [ax.get_title() for ax in figure.axes] == [f"topic {k}" for k in range(panels)]


def test_bars_go_into_the_axes_given():
    figure = Figure()
    axes = figure.subplots(1, 2)
    assert plot_topic_bars(topics(2, 8), terms(8), axes=axes) is figure
    assert [len(ax.patches) for ax in axes] == [8, 8]


@pytest.mark.parametrize(
    ("arguments", "code", "facts"),
    [
        ({"topics": [2]}, "not-a-whole-number", ["topics=2", "0 to 1"]),
        ({"topics": []}, "empty-setting", ["topics"]),
        ({"n_terms": 0}, "not-a-whole-number", ["n=0"]),
        ({"interval": lambda topic, terms: [0.1, 0.2]}, "wrong-shape", ["interval", "(2,)"]),
        ({"axes": []}, "wrong-length", ["0 axes", "2 topics"]),
        ({"vocabulary": terms(3)}, "wrong-length", ["vocabulary", "3 terms"]),
    ],
)
def test_bars_that_cannot_be_drawn_are_refused_in_words(arguments, code, facts):
    with raises(SettingsError, code, *facts):
        plot_topic_bars(**{"phi": topics(2, 8), "vocabulary": terms(8)} | arguments)
