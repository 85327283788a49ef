"""Quality against CPU seconds, a panel for each corpus."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.registry import OURS

COLOURS = ["#c2410c", "#f59e0b", "#0369a1", "#0d9488", "#7c3aed", "#a78bfa", "#c4b5fd", "#475569", "#94a3b8"]
COLOURS += ["#be185d", "#65a30d"]
MARKS = "osD^vvvPPXh"


def draw(found: dict[str, Any], paths: list[Path]) -> None:
    """Draw the scores of all runs, their mean as a line, and write the picture to each of the paths."""
    import matplotlib.pyplot as plt

    corpora = list(found["corpora"])
    figure, axes = plt.subplots(1, len(corpora), figsize=(4.6 * len(corpora), 4.4), squeeze=False)
    names = list(dict.fromkeys(run["peer"] for run in found["runs"] if not run["problem"]))
    for axis, corpus in zip(axes[0], corpora, strict=True):
        about = found["corpora"][corpus]
        for number, name in enumerate(names):
            runs = [r for r in found["runs"] if (r["corpus"], r["peer"]) == (corpus, name) and r["scores"]]
            _lines(axis, runs, name, COLOURS[number % len(COLOURS)], MARKS[number % len(MARKS)])
        axis.axhline(about["floor"], color="0.5", linestyle=":", linewidth=1)
        axis.text(0.01, about["floor"], "no topics", transform=axis.get_yaxis_transform(), **_SMALL)
        if about["truth"] is not None:
            axis.axhline(about["truth"], color="0.5", linestyle="--", linewidth=1)
            axis.text(0.01, about["truth"], "planted topics", transform=axis.get_yaxis_transform(), **_SMALL)
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.set_title(f"{corpus}: {about['words']:,} words", fontsize=11)
        axis.set_xlabel("CPU seconds")
        axis.grid(alpha=0.25, which="major")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0][0].set_ylabel("held-out score, nats per word (higher is better)")
    handles, labels = axes[0][0].get_legend_handles_labels()
    columns = min(len(labels), 2 * len(corpora), 4)
    figure.legend(handles, labels, loc="lower center", ncols=columns, frameon=False, fontsize=9)
    rows = -(-len(labels) // columns)
    figure.tight_layout(rect=(0, 0.03 + 0.05 * rows, 1, 1))
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=120, facecolor="white")
    plt.close(figure)


_SMALL: dict[str, Any] = {"ha": "left", "va": "bottom", "fontsize": 8, "color": "0.4"}


def _lines(axis: Any, runs: list[dict[str, Any]], name: str, colour: str, mark: str) -> None:
    if not runs:
        return
    ours = name.startswith(OURS)
    fewest = min(len(run["scores"]) for run in runs)
    seconds = np.mean([run["seconds"][:fewest] for run in runs], axis=0)
    scores = np.mean([run["scores"][:fewest] for run in runs], axis=0)
    style = {"color": colour, "linewidth": 2.4 if ours else 1.3, "markersize": 4, "zorder": 2 + ours}
    axis.plot(seconds, scores, mark + "-", label=name, **style)
    for run in runs:
        axis.plot(run["seconds"], run["scores"], ".", color=colour, alpha=0.35, markersize=3)
