"""Figures of topics as a whole: how many there are, and how similar they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib.lines import Line2D

from franchise._arrays import Floats
from franchise.errors import SettingsError
from franchise.report.figures_model import is_model, similarities_of
from franchise.report.figures_style import (
    COLOURS,
    LEVEL,
    MOST_SHAPES,
    axes_or_new,
    figure_of,
    legend_above,
    numbers,
    percent_ticks,
    whole_ticks,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# ---------------------------------------------------------------- how many topics


def plot_n_topics(n_topics_draws: Any, *, ax: Axes | None = None) -> Figure:
    """Draw how probable each number of topics is, with the median and the central 95%.

    Parameters
    ----------
    n_topics_draws
        The number of topics in each draw (`Posterior.n_topics_draws`), or a fitted model; of chains that do
        not agree, give those of one.
    ax
        Axes to draw in; None for a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure drawn in.

    Examples
    --------
    >>> fig = plot_n_topics([11, 12, 12, 13, 12, 11])
    """
    if is_model(n_topics_draws):
        n_topics_draws = n_topics_draws.posterior_.n_topics_draws
    draws = numbers("n_topics_draws", n_topics_draws, 1)
    if np.any(draws != np.round(draws)) or draws.min() < 0:
        raise SettingsError(
            "n_topics_draws: give the number of topics in each draw, whole numbers from 0",
            code="not-a-whole-number",
        )
    tails = [(1 - LEVEL) / 2, 0.5, (1 + LEVEL) / 2]
    low, median, high = np.quantile(draws, tails, method="inverted_cdf").astype(int)
    values, times = np.unique(draws.astype(int), return_counts=True)
    inside = (values >= low) & (values <= high)
    ax = axes_or_new(ax, 2.2)
    colours = np.where(inside, COLOURS[0], COLOURS[5])
    width = 0.8 if np.ptp(values) <= 60 else 1.0
    ax.bar(values, times / draws.size, width=width, color=colours)
    top = 1.06 * times.max() / draws.size
    ax.errorbar(
        median,
        top,
        xerr=[[median - low], [high - median]],
        fmt="D",
        color="black",
        markersize=3.5,
        linewidth=1.0,
        capsize=2.5,
    )
    ax.set_ylim(0.0, 1.08 * top)
    beyond = max(1.0 + 0.03 * np.ptp(values), 3.0 - 0.5 * np.ptp(values))  # few bars should not be huge
    ax.set_xlim(values[0] - beyond, values[-1] + beyond)
    ax.set_xlabel("number of topics")
    ax.set_ylabel("share of the draws")
    whole_ticks(ax.xaxis)
    percent_ticks(ax.yaxis)
    label = f"median {median}, 95% interval {low} to {high}"
    look: dict[str, Any] = {"marker": "D", "markersize": 3.5, "color": "black", "linewidth": 1.0}
    legend_above(ax, [Line2D([], [], label=label, **look)])
    return figure_of(ax)


# ---------------------------------------------------------------- how alike topics are


def plot_similarity(similarities: Any, *, ax: Axes | None = None) -> Figure:
    """Draw similarities of topics, a dot each, one strip per method (or corpus).

    The paper's picture of topic similarities: many dots on the right are many topics that are hard to tell
    apart. Within a strip, up and down has no meaning; a line marks the median.

    Parameters
    ----------
    similarities
        For each method, numbers from 0 to 1: of each topic to its nearest in another run, say, or of the
        pairs of topics within a run. Or a fitted model: of each topic to its nearest, and of each two.
    ax
        Axes to draw in; None for a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure drawn in.

    Examples
    --------
    >>> fig = plot_similarity({"Gibbs": [0.3, 0.9, 0.8], "split-merge": [0.2, 0.5, 0.4]})
    """
    if is_model(similarities):
        similarities = similarities_of(similarities)
    strips = {str(name): _shares(name, values) for name, values in similarities.items()}
    if not any(values.size for values in strips.values()):
        raise SettingsError(
            "similarities is empty: give numbers from 0 to 1 for at least one method", code="empty-setting"
        )
    ax = axes_or_new(ax, 0.7 + 0.42 * len(strips))
    for row, values in enumerate(strips.values()):
        dots = max(1.5, min(12.0, 1500.0 / max(values.size, 1)))
        ax.scatter(
            values,
            row + _jitter(values.size),
            s=dots,
            color=COLOURS[row % len(COLOURS)],
            alpha=min(0.6, max(0.03, 1000.0 / max(values.size, 1))),
            linewidths=0,
            rasterized=values.size > MOST_SHAPES,
        )
        if values.size:
            ax.vlines(np.median(values), row - 0.4, row + 0.4, color="black", linewidth=1.2)
    ax.set_yticks(range(len(strips)), [f"{name} ({values.size:,})" for name, values in strips.items()])
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(strips) - 0.5, -0.5)
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel("similarity of topics (1: the same)")
    return figure_of(ax)


def _shares(name: str, values: npt.ArrayLike) -> Floats:
    if not np.size(values):
        return np.zeros(0)  # one topic alone has no other to be like
    array = numbers(f"similarities[{name!r}]", np.ravel(values), 1)
    if array.min() < -1e-6 or array.max() > 1 + 1e-6:
        raise SettingsError(
            f"similarities[{name!r}] goes from {array.min():g} to {array.max():g}: give 0 to 1",
            code="out-of-range",
        )
    return array


def _jitter(n: int) -> Floats:
    """Return random offsets, the same in every drawing."""
    return np.random.default_rng(n).uniform(-0.32, 0.32, n)
