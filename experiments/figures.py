"""What the figures have in common: the look of methods, grids of panels, files."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from experiments.compare import by_run, differences
from experiments.measure import TITLES
from franchise.report.figures_comparisons import mean_and_interval
from franchise.report.figures_style import COLOURS, GREY, dressed

COLOUR = {"gibbs": GREY, "paper": COLOURS[1], "default": COLOURS[0]}
LINE = {"gibbs": (0, (4, 3)), "paper": "-", "default": "-"}
_SPREAD = (10, 90)  # percentiles of the runs
_PANEL = (2.35, 1.75)  # inches


def panels(
    rows: int, columns: int, size: tuple[float, float] = _PANEL, **options: Any
) -> tuple[Figure, list]:
    """Return a figure and its axes, row by row."""
    figure = Figure(figsize=(columns * size[0], rows * size[1] + 0.3), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    for ax in axes.flat:
        dressed(ax)
    return figure, axes.tolist()


def entitle(ax: Axes, title: str) -> None:
    """Give a panel its title, no larger than the names of its axes."""
    ax.set_title(title, fontsize=ax.xaxis.label.get_fontsize())


def grid(
    table: pd.DataFrame,
    draw: Callable[[Axes, pd.DataFrame], None],
    x_label: str,
    y_label: str,
    *,
    by: tuple[str, str],
    title: Callable[[Any, Any], str],
    **look: Any,
) -> Figure:
    """Draw a panel for every value of one column (a row of panels) and of another (a column)."""
    rows, columns = table[by[0]].unique(), sorted(table[by[1]].unique())
    figure, axes = panels(len(rows), len(columns), **look)
    for row, one in zip(axes, rows, strict=True):
        for ax, other in zip(row, columns, strict=True):
            draw(ax, table[(table[by[0]] == one) & (table[by[1]] == other)])
            entitle(ax, title(one, other))
        row[0].set_ylabel(y_label)
    for ax in axes[-1]:
        ax.set_xlabel(x_label)
    return figure


def draw_gains(ax: Axes, gains: Mapping[str, pd.DataFrame]) -> None:
    """Draw methods minus Gibbs, runs by times: the mean, its 95% interval, and where most runs lie."""
    ax.axhline(0.0, color="black", linewidth=0.6)
    for method, values in gains.items():
        _draw_spread(ax, values, method)
        _, low, high = mean_and_interval(values.to_numpy())
        ax.fill_between(values.columns, low, high, color=COLOUR[method], alpha=0.3, linewidth=0)
    _log_scale(ax)


def draw_differences(ax: Axes, table: pd.DataFrame, column: str, along: str, unit: str = "run") -> None:
    """Draw both methods minus Gibbs after equal sweeps."""
    draw_gains(ax, {name: differences(table, name, column, along, unit) for name in ("default", "paper")})


def draw_levels(ax: Axes, table: pd.DataFrame, column: str, along: str) -> None:
    """Draw the numbers of all methods: the mean, and between which most runs lie."""
    for method in ("default", "paper", "gibbs"):
        values = by_run(table[table["method"] == method], column, along)
        _draw_spread(ax, values, method, fill=True)
    _log_scale(ax)


def _draw_spread(ax: Axes, values: pd.DataFrame, method: str, *, fill: bool = False) -> None:
    x, look = values.columns, {"color": COLOUR[method]}
    low, high = np.percentile(values, _SPREAD, axis=0)
    if fill:
        ax.fill_between(x, low, high, alpha=0.18, linewidth=0, **look)
    else:
        ax.plot(x, np.array([low, high]).T, linewidth=0.6, linestyle=(0, (1, 1.5)), **look)
    # Gibbs and Gibbs+SM are often the same line.
    ax.plot(x, values.mean(axis=0), linewidth=1.2, linestyle=LINE[method], **look)


def _log_scale(ax: Axes) -> None:
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:g}")


def legend(figure: Figure, methods: Sequence[str], *more: Artist) -> None:
    """Name the methods under the panels."""
    handles = [
        Line2D([], [], color=COLOUR[name], linestyle=LINE[name], linewidth=1.2, label=TITLES[name])
        for name in methods
    ]
    figure.legend(handles=[*handles, *more], loc="outside lower center", ncols=5, frameon=False, fontsize=7)


SPREAD_LINE = Line2D([], [], color="black", linewidth=0.6, linestyle=(0, (1, 1.5)), label="80% of the runs")
MEAN_BAND = Patch(color=GREY, alpha=0.3, linewidth=0, label="95% interval of the mean")
SPREAD_BAND = Patch(color=GREY, alpha=0.18, linewidth=0, label="80% of the runs")


def save(figure: Figure, path: Path) -> None:
    """Write a figure, the same bytes for the same picture."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=160, metadata={"Software": None})
