import doctest
import importlib
import io
import itertools
import math
import subprocess
import sys
from collections import Counter
from fractions import Fraction

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure
from matplotlib.text import Text
from scipy.optimize import brentq
from scipy.stats import norm, ttest_1samp

from franchise.errors import SettingsError
from franchise.report import figures
from franchise.report.figures import (
    plot_acceptance,
    plot_mode_difference,
    plot_n_topics,
    plot_similarity,
    plot_topic_bars,
    plot_topic_mass,
    plot_topics,
    plot_trace,
)
from franchise.sampling import Draw, Event, Trace, Trial


@pytest.fixture
def ax():
    return Figure().add_subplot()


def traces(n_chains, n_sweeps=30, start=5, seed=1):
    rng = np.random.default_rng(seed)
    walks = start + np.abs(np.cumsum(rng.integers(-1, 2, (n_chains, n_sweeps)), axis=1))
    return [{"sweep": np.arange(n_sweeps), "n_topics": walk} for walk in walks]


def topics(n_topics, n_terms, seed=1):
    return np.random.default_rng(seed).dirichlet(np.full(n_terms, 0.05), n_topics)


def terms(n):
    return [f"term{v}" for v in range(n)]


def trials(n, seed=1, largest=1000):
    rng = np.random.default_rng(seed)
    words = np.exp(rng.uniform(0, np.log(largest), n)).astype(int)
    kinds = rng.choice(["split", "merge", "none"], n)
    return [
        Trial(1, 0, kind, bool(accepted), 0.0, 0, 1, max(1, w // 3), w, 0)
        for kind, accepted, w in zip(kinds.tolist(), rng.random(n) < 0.1, words.tolist(), strict=True)
    ]


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def data_lines(ax):
    return [line.get_xydata() for line in ax.get_lines()]


# ---------------------------------------------------------------- all of them


def small_and_large():
    rng = np.random.default_rng(3)
    mixed = [rng.multinomial(5000, rng.dirichlet(np.full(k, 0.3))) for k in rng.integers(450, 500, 40)]
    wide = {"kind": ["split", "merge"] * 200, "accepted": [True] + [False] * 399}
    return {
        "trace of one sweep": lambda ax: plot_trace([{"sweep": [5], "n_topics": [3]}], ax=ax),
        "trace of a chain": lambda ax: plot_trace(
            traces(1), burn_in=10, events=[Event(4, "split", 1, 0)], ax=ax
        ),
        "trace of 7 chains": lambda ax: plot_trace(traces(7), burn_in=10, ax=ax),
        "trace of 20 chains": lambda ax: plot_trace(traces(20, 2000, 480), burn_in=500, ax=ax),
        "trace of large numbers": lambda ax: plot_trace(
            {"sweep": range(9), "log_joint": np.linspace(-1.8e6, -1.07e6, 9)}, "log_joint", ax=ax
        ),
        "mass of one topic": lambda ax: plot_topic_mass([[7]], ax=ax),
        "mass of 500 topics": lambda ax: plot_topic_mass(mixed, ax=ax),
        "one topic": lambda ax: plot_topics([[0.5, 0.3, 0.2]], ["dog", "bone", "cat"], ax=ax),
        "12 terms": lambda ax: plot_topics(topics(5, 12), ax=ax),
        "40 terms": lambda ax: plot_topics(topics(30, 2000), terms(2000), ax=ax),
        "500 topics": lambda ax: plot_topics(topics(500, 300), ax=ax),
        "difference": lambda ax: plot_mode_difference(range(9), rng.normal(size=(20, 9)), ax=ax),
        "difference, log": lambda ax: plot_mode_difference(
            np.geomspace(0.1, 1e5, 9), rng.normal(size=(3, 9)), log=True, ax=ax
        ),
        "difference, a third of a decade": lambda ax: plot_mode_difference(
            np.linspace(20, 45, 9), rng.normal(size=9), log=True, ax=ax
        ),
        "similarity": lambda ax: plot_similarity({f"method {i}": rng.random(40) for i in range(9)}, ax=ax),
        "similarity of many": lambda ax: plot_similarity({"a": rng.random(9000), "none": []}, ax=ax),
        "one number of topics": lambda ax: plot_n_topics([5], ax=ax),
        "numbers of topics": lambda ax: plot_n_topics(rng.normal(480, 30, 900).round(), ax=ax),
        "acceptance": lambda ax: plot_acceptance(trials(900), ax=ax),
        "acceptance of one": lambda ax: plot_acceptance([trials(1, seed=2)[0]._replace(kind="merge")], ax=ax),
        "acceptance, wide": lambda ax: plot_acceptance(
            wide | {"words": np.geomspace(1, 9e5, 400).round()}, ax=ax
        ),
        "bars": lambda ax: plot_topic_bars(
            topics(3, 30), terms(30), topics=[1], axes=None if ax is None else [ax]
        ),
    }


CASES = small_and_large()
each = pytest.mark.parametrize("draw", CASES.values(), ids=CASES.keys())


@each
def test_draws_into_the_axes_given_and_returns_their_figure(draw, ax):
    assert draw(ax) is ax.figure
    assert ax.figure.axes == [ax]
    assert ax.has_data()
    assert ax.get_xlabel()


@each
def test_no_setting_of_matplotlib_is_changed(draw):
    before = dict(mpl.rcParams)
    draw(None)
    assert dict(mpl.rcParams) == before


def seen_texts(figure):
    """All texts that are drawn, with their places; ticks out of view are not drawn."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    hidden = set()
    for ax, name in itertools.product(figure.axes, ("xaxis", "yaxis")):
        axis = getattr(ax, name)
        low, high = sorted(axis.get_view_interval())
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            slack = 1e-9 * (high - low)
            if not low - slack <= tick.get_loc() <= high + slack:
                hidden |= {tick.label1, tick.label2}
    texts = figure.findobj(lambda one: isinstance(one, Text) and one.get_visible() and one.get_text().strip())
    return [(text.get_text(), text.get_window_extent(renderer)) for text in texts if text not in hidden]


@each
def test_a_new_figure_is_in_print_size_and_no_text_is_cut_or_covered(draw):
    figure = draw(None)
    assert 3.0 <= figure.get_figwidth() <= 7.0
    assert figure.get_figheight() <= 9.5
    texts = seen_texts(figure)
    for name, box in texts:
        assert figure.bbox.x0 - 1 <= box.x0 <= box.x1 <= figure.bbox.x1 + 1, name
        assert figure.bbox.y0 - 1 <= box.y0 <= box.y1 <= figure.bbox.y1 + 1, name
    for (name, box), (other, its) in itertools.combinations(texts, 2):
        across = min(box.x1, its.x1) - max(box.x0, its.x0)
        along = min(box.y1, its.y1) - max(box.y0, its.y0)
        assert min(across, along) <= 1.0, f"{name!r} covers {other!r}"


@pytest.mark.parametrize("kind", ["pdf", "svg"])
def test_figures_are_saved_as_vectors(kind):
    for draw in (CASES["trace of 7 chains"], CASES["similarity of many"], CASES["40 terms"]):
        file = io.BytesIO()
        draw(None).savefig(file, format=kind)
        assert file.getbuffer().nbytes > 1000


def test_the_whole_figure_is_returned_for_axes_in_a_subfigure():
    figure = Figure()
    ax = figure.subfigures(1, 2)[0].add_subplot()
    assert plot_n_topics([3, 4], ax=ax) is figure


def test_axes_of_the_caller_keep_their_style(ax):
    ax.tick_params(labelsize=13)
    ax.xaxis.label.set_fontsize(15)
    plot_n_topics([3, 4], ax=ax)
    assert ax.get_xticklabels()[0].get_fontsize() == 13
    assert ax.xaxis.label.get_fontsize() == 15
    assert ax.spines["top"].get_visible()


def answer_of(code):
    """What a new interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_figures_need_no_pyplot():
    drawn = "from franchise.report.figures import plot_n_topics; plot_n_topics([3, 4])"
    assert answer_of(f"import sys; {drawn}; print('matplotlib.pyplot' in sys.modules)") == "False"


@pytest.mark.parametrize("error", ["FranchiseError", "ImportError"])
def test_without_matplotlib_the_error_says_what_to_install(error):
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from franchise.errors import FranchiseError\n"
        f"try: import franchise.report.figures\nexcept {error} as error: print(error)"
    )
    assert answer_of(code) == (
        'franchise.report.figures needs matplotlib, which is not installed: pip install "franchise[plot]"'
    )


@pytest.mark.parametrize("name", ["samplers", "terms", "topics", "traces"])
def test_examples_in_the_docstrings_run(name):
    result = doctest.testmod(importlib.import_module(f"franchise.report.figures_{name}"))
    assert result.failed == 0
    assert result.attempted > 0


def test_all_public_names_are_functions_with_examples():
    for name in figures.__all__:
        assert "Examples\n" in getattr(figures, name).__doc__


# ---------------------------------------------------------------- traces


def test_each_chain_is_a_line(ax):
    chains = traces(3)
    plot_trace(chains, ax=ax)
    assert len(ax.get_lines()) == 3
    for line, chain in zip(data_lines(ax), chains, strict=True):
        np.testing.assert_array_equal(line, np.column_stack([chain["sweep"], chain["n_topics"]]))
    assert legend_of(ax) == ["chain 0", "chain 1", "chain 2"]
    assert len({line.get_color() for line in ax.get_lines()}) == 3
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("sweep", "number of topics")
    (low, high), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    assert low <= 0
    assert high >= 29
    assert bottom <= min(chain["n_topics"].min() for chain in chains)
    assert top >= max(chain["n_topics"].max() for chain in chains)


def test_many_chains_are_drawn_alike(ax):
    plot_trace(traces(20), ax=ax)
    assert len(ax.get_lines()) == 20
    assert len({line.get_color() for line in ax.get_lines()}) == 1
    assert legend_of(ax) == ["20 chains"]


def test_a_trace_a_frame_and_a_dictionary_are_the_same():
    trace = Trace.from_array(np.array([[0, 4.0], [1, 6.0]]), ["sweep", "n_topics"])
    frame = pd.DataFrame({"sweep": [0, 1], "n_topics": [4, 6]}, index=[7, 8])
    for one in (trace, frame, {"sweep": [0, 1], "n_topics": [4, 6]}):
        (ax,) = plot_trace(one).axes
        np.testing.assert_array_equal(data_lines(ax), [[[0, 4], [1, 6]]])
        assert ax.get_legend() is None


def test_sweeps_without_a_number_are_left_out(ax):
    plot_trace(
        {"sweep": [0, 1, 2, 3], "split_merge.splits": [math.nan, 1, math.nan, 2]}, "split_merge.splits", ax=ax
    )
    np.testing.assert_array_equal(data_lines(ax), [[[1, 1], [3, 2]]])
    assert ax.get_ylabel() == "split merge: splits"


def test_a_lone_sweep_can_be_seen(ax):
    plot_trace([{"sweep": [5], "n_topics": [3]}], ax=ax)
    assert ax.get_lines()[0].get_marker() == "o"


def test_large_numbers_are_written_in_full(ax):
    plot_trace({"sweep": range(9), "log_joint": np.linspace(-1.8e6, -1.07e6, 9)}, "log_joint", ax=ax)
    seen_texts(ax.figure)
    assert "−1,200,000" in [label.get_text() for label in ax.get_yticklabels()]
    assert ax.get_ylabel() == "log joint probability"


def test_the_burn_in_is_shaded_up_to_its_last_sweep(ax):
    plot_trace(traces(2), burn_in=12, ax=ax)
    (shade,) = ax.patches
    assert shade.get_x() == 0
    assert shade.get_x() + shade.get_width() == 12
    assert legend_of(ax)[-1] == "burn-in"
    plot_trace(traces(1), burn_in=0, ax=ax)
    assert len(ax.patches) == 1


def test_accepted_splits_and_merges_are_marked_on_their_lines(ax):
    chains = [
        {"sweep": [0, 1, 2, 3], "n_topics": [4, 5, 6, 5]},
        {"sweep": [0, 1, 2, 3], "n_topics": [9, 8, 8, 8]},
    ]
    first = [
        Event(1, "born", 7, -1),
        Event(2, "split", 8, 7),
        Event(2, "split", 9, 7),
        Event(3, "merged", 7, 8),
    ]
    second = [Event(1, "merged", 3, 2), Event(50, "split", 3, 2)]
    plot_trace(chains, events=[first, second], ax=ax)
    marks = {
        (line.get_marker(), line.get_color()): line.get_xydata().tolist()
        for line in ax.get_lines()
        if line.get_linestyle() == "None"
    }
    own, other = (line.get_color() for line in ax.get_lines()[:2])
    assert marks == {("^", own): [[2, 6]], ("v", own): [[3, 5]], ("v", other): [[1, 8]]}
    assert legend_of(ax) == ["chain 0", "chain 1", "split", "merge"]


@pytest.mark.parametrize("events", [[], [Event(2, "born", 1, -1)], [[Event(2, "died", 1, -1)]]])
def test_without_splits_nothing_is_marked(events, ax):
    plot_trace(traces(1), events=events, ax=ax)
    assert len(ax.get_lines()) == 1
    assert ax.get_legend() is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"traces": []}, "at least one trace"),
        ({"traces": traces(1), "column": "topics"}, "column='topics': trace 0 has only sweep, n_topics"),
        (
            {"traces": [Trace.from_array(np.array([[0, 4.0]]), ["sweep", "n_topics"])], "column": "x"},
            "has only sweep, n_topics",
        ),
        ({"traces": {"sweep": [0, 1], "n_topics": [math.nan] * 2}}, "no number in it"),
        ({"traces": {"sweep": [], "n_topics": []}}, "no number in it"),
        ({"traces": {"sweep": [0, 1], "n_topics": [3]}}, "one number a sweep"),
        ({"traces": {"sweep": [0, 1, 0, 1], "n_topics": [3] * 4}}, "one trace a chain"),
        ({"traces": traces(2), "events": [[]]}, "those of 1 chains and traces of 2"),
        ({"traces": traces(2), "burn_in": -1}, "burn_in=-1"),
    ],
)
def test_traces_that_cannot_be_drawn_are_refused_in_words(arguments, words):
    with pytest.raises(SettingsError, match=words):
        plot_trace(**arguments)


# ---------------------------------------------------------------- shares of the largest topics


def test_lines_are_the_shares_of_the_largest_topics(ax):
    rng = np.random.default_rng(4)
    rows = [rng.integers(1, 50, rng.integers(2, 7)).tolist() for _ in range(20)]
    plot_topic_mass(rows, ax=ax)
    assert len(ax.get_lines()) == max(map(len, rows))
    for rank, line in enumerate(data_lines(ax), 1):
        for (x, y), row, sweep in zip(line, rows, itertools.count(1), strict=False):
            assert x == sweep
            share = Fraction(sum(sorted(row)[-rank:]), sum(row))
            assert math.isnan(y) if rank > len(row) else math.isclose(y, share)
    assert legend_of(ax) == [str(rank) for rank in range(max(map(len, rows)), 0, -1)]


def test_draws_of_a_chain_are_taken_as_they_are(ax):
    def draw(sweep, counts):
        return Draw(sweep, np.arange(len(counts)), sp.csr_array(counts), None, None, None)

    plot_topic_mass([draw(10, [[3, 1], [0, 4]]), draw(15, [[6, 0], [1, 1]])], ax=ax)
    np.testing.assert_allclose(data_lines(ax), [[[10, 0.5], [15, 0.75]], [[10, 1], [15, 1]]])


def test_a_topic_of_a_single_sweep_can_be_seen(ax):
    plot_topic_mass([[5], [4, 1], [5], [4, 1], [3, 2]], ax=ax)
    assert [line.get_markevery() for line in ax.get_lines()] == [[], [1]]


def test_topics_without_words_are_none(ax):
    plot_topic_mass([[5, 0, 5], [0, 0, 1]], ax=ax)
    assert len(ax.get_lines()) == 2


def test_of_many_topics_some_ranks_are_drawn(ax):
    plot_topic_mass([np.ones(230)], ax=ax)
    ranks = [1, 2, 3, 4, 5, 10, 20, 50, 100, 200]
    np.testing.assert_allclose([line[0, 1] for line in data_lines(ax)], np.array(ranks) / 230)
    assert legend_of(ax) == [str(rank) for rank in ranks[::-1]]
    (other,) = plot_topic_mass([np.ones(230)], ranks=[7, 230]).axes
    np.testing.assert_allclose([line[0, 1] for line in data_lines(other)], [7 / 230, 1])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"sizes": []}, "sizes is empty"),
        ({"sizes": [[1, 2], []]}, r"sizes\[1\]"),
        ({"sizes": [[1, -2]]}, "none below 0"),
        ({"sizes": [[0, 0]]}, "not all 0"),
        ({"sizes": [[1, math.nan]]}, "finite"),
        ({"sizes": ["words"]}, "list of numbers"),
        ({"sizes": [[1]], "sweeps": [1, 2]}, "sweeps has 2 numbers"),
        ({"sizes": [[1], [1]], "sweeps": [2, 2]}, "one chain"),
        ({"sizes": [[1]], "ranks": [2]}, "ranks=2"),
    ],
)
def test_sizes_that_cannot_be_drawn_are_refused_in_words(arguments, words):
    with pytest.raises(SettingsError, match=words):
        plot_topic_mass(**arguments)


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
    seen_texts(plot_topics([[0.5, 0.5]], ["$$", "a$b_{c$"]))
    seen_texts(plot_topic_bars([[0.5, 0.5]], ["$$", "a$b_{c$"]))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"phi": []}, "table of numbers"),
        ({"phi": [0.5, 0.5]}, "table of numbers"),
        ({"phi": [[0.5, math.nan]]}, r"phi\[0, 1\] is nan"),
        ({"phi": [[0.0, 0.0]]}, "not all 0"),
        ({"phi": [[1.5, -0.5]]}, "none below 0"),
        ({"phi": [["a", "b"]]}, "table of numbers"),
        ({"phi": [[0.5, 0.5]], "vocabulary": ["a"]}, "1 terms and phi 2 columns"),
        ({"phi": [[0.5, 0.5]], "n_terms": 0}, "n_terms=0"),
    ],
)
def test_topics_that_cannot_be_drawn_are_refused_in_words(arguments, words):
    with pytest.raises(SettingsError, match=words):
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
    ("arguments", "words"),
    [
        ({"topics": [2]}, "topics=2: give a whole number, from 0 to 1"),
        ({"topics": []}, "topics is empty"),
        ({"n_terms": 0}, "give a whole number"),
        ({"interval": lambda topic, terms: [0.1, 0.2]}, r"interval gave shape \(2,\)"),
        ({"axes": []}, "0 axes for 2 topics"),
        ({"vocabulary": terms(3)}, "3 terms"),
    ],
)
def test_bars_that_cannot_be_drawn_are_refused_in_words(arguments, words):
    with pytest.raises(SettingsError, match=words):
        plot_topic_bars(**{"phi": topics(2, 8), "vocabulary": terms(8)} | arguments)


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
    ("arguments", "words"),
    [
        ({"times": [0, 1], "log": True}, "no logarithm"),
        ({"times": [1, 2, 3]}, "runs by times"),
        ({"times": [2, 1]}, "do not rise"),
        ({"times": []}, "times has shape"),
        ({"differences": [math.nan, math.nan]}, "finite"),
        ({"differences": [math.inf, 1]}, "finite"),
    ],
)
def test_differences_that_cannot_be_drawn_are_refused_in_words(arguments, words):
    with pytest.raises(SettingsError, match=words):
        plot_mode_difference(**{"times": [1, 2], "differences": [0.1, 0.2]} | arguments)


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
    ("similarities", "words"),
    [
        ({}, "similarities is empty"),
        ({"a": []}, "similarities is empty"),
        ({"a": [0.5, math.nan]}, r"similarities\['a'\]\[1\] is nan"),
        ({"a": [0.5, 1.5]}, "from 0.5 to 1.5: give 0 to 1"),
        ({"a": ["x"]}, "list of numbers"),
    ],
)
def test_similarities_that_cannot_be_drawn_are_refused_in_words(similarities, words):
    with pytest.raises(SettingsError, match=words):
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


@pytest.mark.parametrize("draws", [[], [1.5], [-1], [math.nan], [[3, 4]], "many"])
def test_numbers_of_topics_that_cannot_be_drawn_are_refused_in_words(draws):
    with pytest.raises(SettingsError, match="n_topics_draws"):
        plot_n_topics(draws)


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
    ("arguments", "words"),
    [
        ({"trials": []}, "keep_trials=True"),
        ({"trials": [trial._replace(kind="none") for trial in trials(3)]}, "keep_trials=True"),
        ({"trials": trials(9), "size": "documents"}, "size='documents'"),
        ({"trials": {"kind": ["split"], "accepted": [True], "words": [0]}}, "give sizes from 1"),
        ({"trials": {"kind": ["split"], "accepted": [True], "words": [math.nan]}}, "finite"),
        ({"trials": {"kind": ["split"], "accepted": [True, False], "words": [1]}}, "differ in length"),
    ],
)
def test_trials_that_cannot_be_drawn_are_refused_in_words(arguments, words):
    with pytest.raises(SettingsError, match=words):
        plot_acceptance(**arguments)
