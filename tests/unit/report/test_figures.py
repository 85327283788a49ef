import doctest
import importlib
import io
import itertools
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from franchise.report import figures
from franchise.report.figures import (
    plot_acceptance,
    plot_mode_difference,
    plot_n_topics,
    plot_prevalence,
    plot_similarity,
    plot_topic_bars,
    plot_topic_mass,
    plot_topics,
    plot_trace,
)
from franchise.sampling import Event
from tests.unit.report.drawn import prevalence_table, seen_texts, terms, topics, traces, trials


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
        "prevalence over years": lambda ax: plot_prevalence(prevalence_table(range(1990, 2020), 9), ax=ax),
        "prevalence over months, some missing": lambda ax: plot_prevalence(
            prevalence_table([*(f"2020-{m:02}" for m in range(1, 13)), "(missing)"], 3), name="month", ax=ax
        ),
        "prevalence over numbers": lambda ax: plot_prevalence(prevalence_table([0.1, 2.5, 40.25], 1), ax=ax),
        "prevalence in one group": lambda ax: plot_prevalence(prevalence_table(["all"], 1), ax=ax),
        "prevalence in 30 groups": lambda ax: plot_prevalence(
            prevalence_table([f"a group with a long name, number {i}" for i in range(30)], 9), ax=ax
        ),
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


def test_draws_into_the_axes_given_and_returns_their_figure():
    for name, draw in CASES.items():
        ax = Figure().add_subplot()
        assert draw(ax) is ax.figure, name
        assert ax.figure.axes == [ax], name
        assert ax.has_data(), name
        assert ax.get_xlabel(), name


@pytest.mark.parametrize("draw", CASES.values(), ids=CASES.keys())
def test_a_new_figure_is_in_print_size_and_no_text_is_cut_or_covered(draw):
    before = dict(mpl.rcParams)
    figure = draw(None)
    assert dict(mpl.rcParams) == before  # other figures do not change
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


@pytest.mark.parametrize("name", ["comparisons", "runs", "topics"])
def test_examples_in_the_docstrings_run(name):
    result = doctest.testmod(importlib.import_module(f"franchise.report.figures_{name}"))
    assert result.failed == 0
    assert result.attempted > 0


def test_all_public_names_are_functions_with_examples():
    for name in figures.__all__:
        assert "Examples\n" in getattr(figures, name).__doc__


def test_documentation_that_figures_share_is_filled_in():
    for name in figures.__all__:
        text = getattr(figures, name).__doc__
        assert "matplotlib.figure.Figure\n" in text
        assert not [line for line in text.splitlines() if line.startswith("<")]
