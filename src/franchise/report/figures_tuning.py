"""What several values of eta come to, in one picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from franchise._arrays import Floats
from franchise._settings import is_positive
from franchise.errors import SettingsError
from franchise.report.figures_style import (
    COLOURS,
    COLUMN,
    GREY,
    dressed,
    numbers,
    percent_ticks,
    small,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NEEDED = ("eta", "per_word", "behind_error", "n_topics", "coherence", "shared")


def plot_eta(table: Any, *, recommended: float | None = None) -> Figure:
    """Draw what values of eta come to: held-out score, number of topics, shared topics, coherence.

    Parameters
    ----------
    table
        A DataFrame or a dictionary of columns: ``tune_eta(...).table``. The bars of the score are standard
        errors of its distance from the best, paired by document; the best has none.
    recommended
        A value to mark with a line.

    Returns
    -------
    matplotlib.figure.Figure
        A new figure.

    Examples
    --------
    >>> columns = {"eta": [0.1, 1.0], "per_word": [-6.9, -7.0], "behind_error": [0.0, 0.01]}
    >>> columns |= {"n_topics": [180, 30], "coherence": [0.1, 0.2], "shared": [0.7, 0.9]}
    >>> fig = plot_eta(columns, recommended=0.1)
    >>> fig.savefig("eta.svg")  # doctest: +SKIP
    """
    missing = [name for name in _NEEDED if name not in table]
    if missing:
        raise SettingsError(
            f"table has no {', '.join(missing)}: give tune_eta(...).table", code="missing-column"
        )
    # One chain shares with nobody; without texts of two terms nothing coheres.
    columns = {name: np.asarray(table[name], float) for name in ("shared", "coherence")}
    columns |= {name: numbers(f"table[{name!r}]", table[name], 1) for name in _NEEDED[:4]}
    panels = ["per_word", "n_topics"]
    panels += [name for name in ("shared", "coherence") if np.isfinite(columns[name]).any()]
    figure = Figure(figsize=(COLUMN, 1.15 * len(panels) + 0.4), layout="constrained")
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for ax, name in zip(axes, panels, strict=True):
        _draw(dressed(ax), name, columns)
        if recommended is not None and is_positive(recommended):
            ax.axvline(recommended, color=GREY, linewidth=0.8, linestyle=(0, (4, 3)), zorder=0)
    _label_etas(axes[-1], columns["eta"])
    if recommended is not None and is_positive(recommended):
        title = f"orange: best; dashed: recommended, η = {recommended:g}"
        axes[0].set_title(title, fontsize=small(axes[0]), color=GREY, loc="left")
    return figure


def _draw(ax: Axes, name: str, columns: dict[str, Floats]) -> None:
    values, etas = columns[name], columns["eta"]
    errors = columns["behind_error"] if name == "per_word" else None
    ax.errorbar(
        etas, values, yerr=errors, color=COLOURS[0], marker="o", markersize=3.5, linewidth=0.9, capsize=2
    )
    if name == "per_word":
        best = int(np.argmax(values))
        ax.plot(etas[best], values[best], marker="o", markersize=6.5, color=COLOURS[1], zorder=3)
    if name == "n_topics":
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter(lambda n, _: f"{n:,.0f}")
        ax.yaxis.set_minor_formatter(NullFormatter())
    if name == "shared":
        percent_ticks(ax.yaxis)
    words = {
        "per_word": "nats per word",
        "n_topics": "topics",
        "shared": "words in topics\nof all chains",
        "coherence": "coherence",
    }
    ax.set_ylabel(words[name])


def _label_etas(ax: Axes, etas: Floats) -> None:
    ax.set_xscale("log")
    ax.set_xticks(etas, [f"{eta:g}" for eta in etas])
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.minorticks_off()
    ax.set_xlabel("η")
