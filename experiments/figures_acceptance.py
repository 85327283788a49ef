"""The figure on acceptance: how it falls as chains run, by how trials are made."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.acceptance import TITLES
from experiments.claim import rate
from experiments.figures import entitle, panels, save
from experiments.tables import read
from franchise.report.figures_style import COLOURS, percent_ticks

_OF = {"all trials": ("splits", "merges"), "splits": ("splits",), "merges": ("merges",)}
_LEAST = 2e-4  # the lower end of the scale


def draw_all(folder: Path) -> None:
    """Draw the figure from the table in a folder."""
    save(variants(read(folder, "acceptance_trials")), folder / "acceptance_variants.png")


def variants(table: pd.DataFrame) -> Figure:
    """Draw the shares of trials accepted by each variant, over all corpora and values of eta."""
    figure, axes = panels(1, len(_OF), (2.9, 2.5), sharey=True)
    for ax, (title, kinds) in zip(axes[0], _OF.items(), strict=True):
        _draw(ax, table, kinds)
        entitle(ax, title)
        ax.set_xlabel("sweeps")
    axes[0][0].set_ylabel("accepted (dashed: 3%)")
    handles = axes[0][0].get_legend_handles_labels()[0]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=7)
    return figure


def _draw(ax: Axes, table: pd.DataFrame, kinds: tuple[str, ...]) -> None:
    sums = table.groupby(["variant", "first", "last"]).sum(numeric_only=True)
    ranges = sorted(set(zip(table["first"], table["last"], strict=True)))
    for number, (variant, title) in enumerate(TITLES.items()):
        shares = []
        for first, last in ranges:
            own = sums.loc[variant, first, last]
            yes, tried = (sum(int(own[f"{kind}{end}"]) for kind in kinds) for end in ("", "_tried"))
            shares.append(rate(variant, "accepted", yes, tried))
        x = np.arange(len(ranges)) + 0.1 * (number - 1.5)
        low, mean, high = (
            np.array([getattr(one, name) for one in shares]) for name in ("low", "mean", "high")
        )
        ax.vlines(x, np.maximum(low, _LEAST), high, color=COLOURS[number], linewidth=0.8)
        ax.plot(
            x,
            np.where(mean > 0, mean, np.nan),
            "o-",
            color=COLOURS[number],
            markersize=3,
            linewidth=0.8,
            label=title,
        )
    ax.axhline(0.03, color="black", linewidth=0.6, linestyle="--")
    ax.set_yscale("log")
    ax.set_ylim(_LEAST, 1)
    percent_ticks(ax.yaxis)
    ax.set_xticks(range(len(ranges)), [f"{a}" if a == b else f"{a} to {b}" for a, b in ranges])
