"""Figures of the synthetic experiment: the paper's 'groundtruth' and 'synthetic' (a) to (d)."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.figures import (
    COLOUR,
    MEAN_BAND,
    SPREAD_LINE,
    draw_differences,
    entitle,
    grid,
    legend,
    panels,
    save,
)
from experiments.measure import METHODS
from experiments.runs import Array
from experiments.synthetic import STARTS
from experiments.tables import example, read, telling
from franchise.corpus import five_topics
from franchise.report.figures import plot_topic_mass, plot_topics
from franchise.report.figures_style import percent_ticks

_TERMS = [str(term) for term in range(1, 13)]
_LARGE = 0.01  # of all words, for a topic to be drawn
SHORT = {"gibbs": "Gibbs", "paper": "Gibbs+SM", "default": "default"}


def _title(mixed: int, twin: float) -> str:
    return f"{mixed}% mixed, twins {twin:.2f}"


_each_corpus = partial(grid, by=("mixed", "twin"), title=_title, size=(2.5, 1.9), sharey=True)


def draw_all(folder: Path) -> None:
    """Draw every figure of the synthetic experiment from the tables in a folder."""
    runs, curves = read(folder, "synthetic_runs"), read(folder, "synthetic_curves")
    sizes, topics = read(folder, "synthetic_sizes"), read(folder, "synthetic_topics")
    save(ground_truth(sorted(runs["twin"].unique())), folder / "groundtruth.png")
    save(best_joint(curves), folder / "synthetic_a_best_joint.png")
    save(found(runs), folder / "synthetic_topics_found.png")
    for mixed, own in runs.groupby("mixed"):
        save(topic_traces(own, sizes), folder / f"synthetic_b_topic_traces_{mixed}_mixed.png")
        save(topics_at_mode(own, topics), folder / f"synthetic_cd_topics_at_mode_{mixed}_mixed.png")


def ground_truth(twins: list[float]) -> Figure:
    """Draw the planted topics of each difficulty."""
    figure, axes = panels(1, len(twins), (2.9, 1.7))
    for ax, twin in zip(axes[0], twins, strict=True):
        plot_topics(five_topics(1, twin=twin).topics, _TERMS, ax=ax)
        _plain(ax, f"own word of the twins: {twin:.2f}")
    return figure


def best_joint(curves: pd.DataFrame) -> Figure:
    """Draw panel (a): the best joint per word minus that of Gibbs, over sweeps."""

    def draw(ax: Axes, own: pd.DataFrame) -> None:
        draw_differences(ax, own[own["sweep"] > 0], "best_joint", "sweep", unit="seed")

    figure = _each_corpus(curves, draw, "sweep", "best log joint per word,\nminus Gibbs")
    legend(figure, ["paper", "default"], MEAN_BAND, SPREAD_LINE)
    return figure


def found(runs: pd.DataFrame) -> Figure:
    """Draw, for every data set, how often the states after half of the run hold all five topics."""

    def draw(ax: Axes, own: pd.DataFrame) -> None:
        for place, (method, start) in enumerate([(m, s) for m in METHODS for s in STARTS]):
            shares = own[(own["method"] == method) & (own["start"] == start)]["all_five"].to_numpy()
            across = place + np.random.default_rng(place).uniform(-0.22, 0.22, shares.size)
            ax.plot(across, shares, "o", markersize=2.5, color=COLOUR[method], alpha=0.6, clip_on=False)
            ax.plot([place - 0.35, place + 0.35], 2 * [shares.mean()], color="black", linewidth=1.0)
        ax.set_xticks(range(6), 3 * ["seq.", "truth"], fontsize=6)
        ax.set_xlim(-0.6, 5.6)
        ax.set_ylim(0, 1)
        percent_ticks(ax.yaxis)

    figure = _each_corpus(runs, draw, "start", "states with all five topics")
    legend(figure, METHODS)
    return figure


def topic_traces(runs: pd.DataFrame, sizes: pd.DataFrame) -> Figure:
    """Draw panel (b): cumulative shares of the largest topics, on the data set that `example` picks."""
    figure, axes = panels(runs["twin"].nunique(), len(METHODS), (2.6, 1.6), sharey=True)
    for row, (twin, own) in zip(axes, runs.groupby("twin"), strict=True):
        for ax, method in zip(row, METHODS, strict=True):
            shown = _of_example(sizes, own, method)
            masses = [group["words"].to_numpy() for _, group in shown.groupby("sweep")]
            plot_topic_mass(masses[1:], sweeps=np.arange(1, len(masses)), ranks=[1, 2, 3, 4, 5], ax=ax)
            _plain(ax, f"{SHORT[method]}, twins {twin:.2f}, data set {example(own)}")
    _caption(figure, runs)
    return figure


def topics_at_mode(runs: pd.DataFrame, topics: pd.DataFrame) -> Figure:
    """Draw panels (c) and (d): the topics at the best mode, on the data set that `example` picks."""
    figure, axes = panels(runs["twin"].nunique(), len(METHODS), (2.9, 1.7))
    for row, (twin, own) in zip(axes, runs.groupby("twin"), strict=True):
        for ax, method in zip(row, METHODS, strict=True):
            counts = _counts(_of_example(topics, own, method))
            plot_topics(counts / counts.sum(axis=1, keepdims=True), _TERMS, ax=ax)
            _plain(ax, f"{SHORT[method]}, twins {twin:.2f}, data set {example(own)}: {len(counts)} topics")
    _caption(figure, runs)
    return figure


def _caption(figure: Figure, runs: pd.DataFrame) -> None:
    """Say how common the examples are."""
    counts = [
        f"{telling(own).sum()} of {own['seed'].nunique()} at {twin:.2f}" for twin, own in runs.groupby("twin")
    ]
    text = "Data sets on which Gibbs+SM has all five topics at its mode and Gibbs has not: " + ", ".join(
        counts
    )
    figure.supxlabel(f"{text}.\nShown is the first of them, or the first of all.", fontsize=7)


def _of_example(table: pd.DataFrame, runs: pd.DataFrame, method: str) -> pd.DataFrame:
    """Return the rows of the example of some runs, all of one corpus."""
    mixed, twin = runs[["mixed", "twin"]].iloc[0]
    is_corpus = (table["mixed"] == mixed) & (table["twin"] == twin)
    return table[is_corpus & (table["method"] == method) & (table["seed"] == example(runs))]


def _counts(topics: pd.DataFrame) -> Array:
    """Return topics by terms, of the topics that are not negligible."""
    counts = np.zeros((topics["topic"].max() + 1, len(_TERMS)))
    counts[topics["topic"], topics["term"]] = topics["words"]
    return counts[counts.sum(axis=1) >= _LARGE * counts.sum()]


def _plain(ax: Axes, title: str) -> None:
    """Give a panel its title in place of a legend."""
    if ax.get_legend():
        ax.get_legend().remove()
    entitle(ax, title)
