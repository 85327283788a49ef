"""The figure on acceptance: which trials are made, and which succeed."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.acceptance import TITLES
from experiments.claim import rate
from experiments.figures import entitle, panels, save
from experiments.tables import read
from franchise.report.figures_style import COLOURS, percent_ticks

_KINDS = {"splits": (COLOURS[0], "^", -0.12), "merges": (COLOURS[1], "v", 0.12)}


def draw_all(folder: Path) -> None:
    """Draw the figure from the table in a folder."""
    save(variants(read(folder, "acceptance_trials")), folder / "acceptance_variants.png")


def variants(table: pd.DataFrame) -> Figure:
    """Draw the share of splits and merges accepted by each variant, over all corpora and values of eta."""
    phases = list(table["sweeps"].unique())
    figure, axes = panels(1, len(phases), (2.9, 2.3), sharey=True, sharex=True)
    for ax, phase in zip(axes[0], phases, strict=True):
        own = table[table["sweeps"] == phase].groupby("variant").sum(numeric_only=True)
        for place, variant in enumerate(TITLES):
            for kind, (colour, marker, shift) in _KINDS.items():
                tried = int(own.loc[variant, f"{kind}_tried"])
                one = rate(variant, kind, int(own.loc[variant, kind]), tried)
                ax.plot([one.low, one.high], 2 * [place + shift], color=colour, linewidth=1.0)
                ax.plot(one.mean, place + shift, marker, color=colour, markersize=4)
                where = {"xytext": (6, 0), "textcoords": "offset points", "va": "center"}
                ax.annotate(f"{tried:,} {kind}", (one.high, place + shift), color=colour, fontsize=6, **where)
        entitle(ax, f"sweeps {phase}")
        ax.set_xlabel("accepted")
        percent_ticks(ax.xaxis)
        ax.set_xlim(left=0)
    axes[0][0].set_yticks(np.arange(len(TITLES)), TITLES.values())
    axes[0][0].invert_yaxis()
    return figure
