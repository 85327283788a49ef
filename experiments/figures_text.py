"""Figures of the text experiment: the paper's, and those that it leaves out."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.claim import rate
from experiments.compare import gains_over_time, with_seconds
from experiments.corpora import TITLES as CORPORA
from experiments.figures import (
    COLOUR,
    MEAN_BAND,
    SPREAD_BAND,
    SPREAD_LINE,
    draw_differences,
    draw_gains,
    draw_levels,
    entitle,
    grid,
    legend,
    panels,
    save,
)
from experiments.measure import METHODS
from experiments.tables import TIMINGS, read
from franchise.report.figures import plot_similarity
from franchise.report.figures_style import percent_ticks

_ETA = 0.2  # of the curves that the paper shows
_LEVELS = {
    "log_joint": "log joint per word\n(the paper's likelihood)",
    "log_p_words": "log p(words given\ntopics) per word",
    "completion": "document completion\n(held out)",
    "n_topics": "topics",
}


def _title(corpus: str, eta: float) -> str:
    return f"{CORPORA.get(corpus, corpus)}, eta {eta:g}"


_each_setting = partial(grid, by=("corpus", "eta"), title=_title)


def draw_all(folder: Path) -> None:
    """Draw every figure of the text experiment from the tables in a folder."""
    runs, curves, held_out = (read(folder, f"text_{name}") for name in ("runs", "curves", "held_out"))
    seconds = read(folder, f"{TIMINGS}/text_seconds")
    timings = folder / TIMINGS
    save(levels(curves, held_out), folder / "likelihood.png")
    save(by_sweep(curves, "n_topics", "topics"), folder / "n_topics.png")
    save(acceptance(runs), folder / "acceptance.png")
    save(similarity(read(folder, "text_similarity")), folder / "similarity.png")
    save(modes(runs), folder / "modes.png")
    words = "log p(words given\ntopics) per word,\nminus Gibbs"
    save(gain_by_sweep(curves, "log_p_words", words), folder / "words_difference.png")
    save(
        gain_by_time(curves, seconds, "best_joint", "best log joint per word,\nminus Gibbs"),
        timings / "training_difference.png",
    )
    paper = "the paper's held-out number\na word, minus Gibbs"
    save(gain_by_time(held_out, seconds, "paper_held_out", paper), timings / "held_out_difference.png")
    completion = "document completion\na word, minus Gibbs"
    save(gain_by_time(held_out, seconds, "completion", completion), timings / "completion_difference.png")


def levels(curves: pd.DataFrame, held_out: pd.DataFrame) -> Figure:
    """Draw the numbers themselves over sweeps, for the eta that the paper shows."""
    corpora = list(curves["corpus"].unique())
    figure, axes = panels(len(_LEVELS), len(corpora), (2.6, 1.5), sharex="col")
    for row, (column, label) in zip(axes, _LEVELS.items(), strict=True):
        table = held_out if column == "completion" else curves
        for ax, corpus in zip(row, corpora, strict=True):
            own = table[(table["corpus"] == corpus) & (table["eta"] == _ETA) & (table["sweep"] > 0)]
            draw_levels(ax, own, column, "sweep")
        row[0].set_ylabel(label)
    for top, bottom, corpus in zip(axes[0], axes[-1], corpora, strict=True):
        entitle(top, _title(corpus, _ETA))
        bottom.set_xlabel("sweep")
    legend(figure, METHODS, SPREAD_BAND)
    return figure


def by_sweep(table: pd.DataFrame, column: str, label: str) -> Figure:
    """Draw a number of every method over sweeps."""
    draw = partial(draw_levels, column=column, along="sweep")
    figure = _each_setting(table[table["sweep"] > 0], draw, "sweep", label)
    legend(figure, METHODS, SPREAD_BAND)
    return figure


def gain_by_sweep(table: pd.DataFrame, column: str, label: str) -> Figure:
    """Draw a number minus that of Gibbs after equal sweeps."""
    draw = partial(draw_differences, column=column, along="sweep")
    figure = _each_setting(table[table["sweep"] > 0], draw, "sweep", label)
    legend(figure, METHODS[1:], MEAN_BAND, SPREAD_LINE)
    return figure


def gain_by_time(table: pd.DataFrame, seconds: pd.DataFrame, column: str, label: str) -> Figure:
    """Draw a number minus that of Gibbs at equal CPU times."""
    timed = with_seconds(table, seconds)

    def draw(ax: Axes, own: pd.DataFrame) -> None:
        draw_gains(ax, {name: gains_over_time(own, column, name) for name in ("default", "paper")})

    figure = _each_setting(timed, draw, "CPU seconds", label)
    legend(figure, METHODS[1:], MEAN_BAND, SPREAD_LINE)
    return figure


def acceptance(runs: pd.DataFrame) -> Figure:
    """Draw the share of splits and of merges that are accepted, with 95% intervals."""
    corpora, etas = list(runs["corpus"].unique()), sorted(runs["eta"].unique())
    figure, axes = panels(1, len(corpora), (2.5, 2.1), sharey=True)
    for ax, corpus in zip(axes[0], corpora, strict=True):
        for method, side in (("paper", -0.2), ("default", 0.1)):
            own = (
                runs[(runs["corpus"] == corpus) & (runs["method"] == method)]
                .groupby("eta")
                .sum(numeric_only=True)
            )
            for kind, marker, shift in (("splits", "^", 0.0), ("merges", "v", 0.12)):
                x = np.arange(len(etas)) + side + shift
                _draw_rates(ax, x, own[kind], own[f"{kind}_tried"], color=COLOUR[method], marker=marker)
        ax.axhline(0.03, color="black", linewidth=0.6, linestyle="--")
        ax.set_xticks(range(len(etas)), [f"{eta:g}" for eta in etas])
        entitle(ax, CORPORA.get(corpus, corpus))
        ax.set_xlabel("eta")
        ax.set_ylim(bottom=0)
        percent_ticks(ax.yaxis)
    axes[0][0].set_ylabel("accepted\n(▲ splits, ▼ merges; dashed: 3%)")
    legend(figure, METHODS[1:])
    return figure


def _draw_rates(
    ax: Axes, x: np.ndarray, yes: pd.Series, tried: pd.Series, *, color: str, marker: str
) -> None:
    for place, accepted, n in zip(x, yes.astype(int), tried.astype(int), strict=True):
        if n:
            share = rate("", "", accepted, n)
            ax.plot([place, place], [share.low, share.high], color=color, linewidth=1.0)
            ax.plot(place, share.mean, marker, color=color, markersize=4)


def similarity(table: pd.DataFrame) -> Figure:
    """Draw the paper's similarities: the cosine of each pair of topics of a Gibbs run at eta 0.5."""
    own = table[table["method"] == "gibbs"]
    return plot_similarity(
        {
            CORPORA.get(name, name): group["similarity"].to_numpy()
            for name, group in own.groupby("corpus", sort=False)
        }
    )


def modes(runs: pd.DataFrame) -> Figure:
    """Draw the held-out score of the paper's mode against that of the last state, run by run."""

    def draw(ax: Axes, own: pd.DataFrame) -> None:
        ends = [
            min(own["completion"].min(), own["completion_of_mode"].min()) - 0.005,
            max(own["completion"].max(), own["completion_of_mode"].max()) + 0.005,
        ]
        ax.plot(ends, ends, color="black", linewidth=0.6)
        ax.locator_params(nbins=4)
        for method in METHODS:
            mine = own[own["method"] == method]
            ax.plot(
                mine["completion"],
                mine["completion_of_mode"],
                "o",
                markersize=2.5,
                alpha=0.7,
                color=COLOUR[method],
            )

    figure = _each_setting(runs, draw, "completion, last state", "completion, best mode")
    legend(figure, METHODS)
    return figure
