"""Figures for those who write papers.

Each function takes plain data or a fitted model, draws into the axes given, or into a new figure as wide as a
column (or a page, where that is not enough), and returns the figure::

    fig = plot_trace(traces)
    fig.savefig("trace.pdf")

A model has them as methods too: ``model.plot_trace()``.

New figures have text of 8 and 7 points, and colours that the colour-blind can tell apart; axes of the caller
keep the caller's style. Nothing is shown on a screen and no setting of matplotlib is changed; a notebook
shows the figure that a cell ends with. Legends stand above the axes: give a title
room (``ax.set_title(..., pad=20)``).

They need matplotlib: ``pip install "franchise[plot]"``. A journal that refuses fonts of Type 3 takes a PDF
saved after ``matplotlib.rcParams["pdf.fonttype"] = 42``.
"""

from franchise._extras import needed

with needed("franchise.report.figures", "plot"):
    from franchise.report.figures_comparisons import (
        plot_acceptance,
        plot_eta,
        plot_mode_difference,
        plot_similarity,
    )
    from franchise.report.figures_groups import plot_prevalence, plot_prevalence_difference
    from franchise.report.figures_reference import plot_reference
    from franchise.report.figures_runs import plot_n_topics, plot_topic_mass, plot_trace
    from franchise.report.figures_topics import plot_topic_bars, plot_topics

__all__ = [
    "plot_acceptance",
    "plot_eta",
    "plot_mode_difference",
    "plot_n_topics",
    "plot_prevalence",
    "plot_prevalence_difference",
    "plot_reference",
    "plot_similarity",
    "plot_topic_bars",
    "plot_topic_mass",
    "plot_topics",
    "plot_trace",
]
