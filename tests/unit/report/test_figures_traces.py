import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from franchise.errors import SettingsError
from franchise.report.figures import plot_topic_mass, plot_trace
from franchise.sampling import Draw, Event, Trace
from tests.raising import raises
from tests.unit.report.drawn import data_lines, legend_of, seen_texts, traces

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
    ("arguments", "code", "facts"),
    [
        ({"traces": []}, "empty-setting", ["traces"]),
        (
            {"traces": traces(1), "column": "topics"},
            "unknown-column",
            ["column='topics'", "trace 0", "sweep, n_topics"],
        ),
        (
            {"traces": [Trace.from_array(np.array([[0, 4.0]]), ["sweep", "n_topics"])], "column": "x"},
            "unknown-column",
            ["column='x'", "sweep, n_topics"],
        ),
        (
            {"traces": {"sweep": [0, 1], "n_topics": [math.nan] * 2}},
            "empty-column",
            ["column='n_topics'", "trace 0"],
        ),
        ({"traces": {"sweep": [], "n_topics": []}}, "empty-column", ["column='n_topics'", "trace 0"]),
        ({"traces": {"sweep": [0, 1], "n_topics": [3]}}, "wrong-shape", ["trace 0", "(2,)", "(1,)"]),
        ({"traces": {"sweep": [0, 1, 0, 1], "n_topics": [3] * 4}}, "not-increasing", ["trace 0"]),
        ({"traces": traces(2), "events": [[]]}, "wrong-length", ["events", "1 chains", "traces of 2"]),
        ({"traces": traces(2), "burn_in": -1}, "not-a-whole-number", ["burn_in=-1"]),
    ],
)
def test_traces_that_cannot_be_drawn_are_refused_in_words(arguments, code, facts):
    with raises(SettingsError, code, *facts):
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
    ("arguments", "code", "facts"),
    [
        ({"sizes": []}, "empty-setting", ["sizes"]),
        ({"sizes": [[1, 2], []]}, "wrong-shape", ["sizes[1]"]),
        ({"sizes": [[1, -2]]}, "invalid-weights", ["sizes[0]"]),
        ({"sizes": [[0, 0]]}, "invalid-weights", ["sizes[0]"]),
        ({"sizes": [[1, math.nan]]}, "not-finite", ["sizes[0][1]"]),
        ({"sizes": ["words"]}, "wrong-type", ["sizes[0]", "list of numbers"]),
        ({"sizes": [[1]], "sweeps": [1, 2]}, "wrong-length", ["sweeps", "2 numbers", "1 rows"]),
        ({"sizes": [[1], [1]], "sweeps": [2, 2]}, "not-increasing", ["sweeps"]),
        ({"sizes": [[1]], "ranks": [2]}, "not-a-whole-number", ["ranks=2"]),
    ],
)
def test_sizes_that_cannot_be_drawn_are_refused_in_words(arguments, code, facts):
    with raises(SettingsError, code, *facts):
        plot_topic_mass(**arguments)
