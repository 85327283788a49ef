"""A figure of topics beside reference topics: how similar, how sure, and what has no match."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from franchise._settings import whole_number
from franchise._text import shortened
from franchise.report.figures_style import COLOURS, COLUMN, GREY, axes_or_new, documented, finished, small

if TYPE_CHECKING:
    from franchise.posterior.reference_topics import TopicComparison

_CHARACTERS = 28  # of a name


@documented
def plot_reference(
    comparison: TopicComparison, *, one_to_one: bool = False, most: int = 40, ax: Axes | None = None
) -> Figure:
    """Draw how similar each topic is to its reference, with intervals; then references without a topic.

    Filled dots are matches, hollow ones are below the threshold (dashed). Each row names the topic and its
    reference.

    Parameters
    ----------
    comparison
        What `HDPTopicModel.compare_topics` returns.
    one_to_one
        Draw the one-to-one partners instead of the most similar references.
    most
        How many topics, and how many references without a topic, at most.
    <ax>

    <figure>

    Examples
    --------
    ::

        comparison = model.compare_topics("signatures.csv")
        plot_reference(comparison).savefig("signatures.pdf")
    """
    most = whole_number("most", most, 1)
    topics = comparison.as_frame(one_to_one=one_to_one).head(most)
    others = comparison.references()
    others = others[~others["matched"]].head(most)
    rows = [
        (f"{r.topic} {r.label}", r.reference or "none", r.cosine, r.low, r.high, r.matched)
        for r in topics.itertuples()
    ]
    rows += [
        (f"nearest: {r.topic}", r.reference, r.cosine, r.low, r.high, False) for r in others.itertuples()
    ]
    ax = axes_or_new(ax, 0.8 + 0.16 * len(rows), 1.7 * COLUMN)
    colours = [COLOURS[0]] * len(topics) + [GREY] * len(others)
    for y, ((_, _, cosine, low, high, matched), colour) in enumerate(zip(rows, colours, strict=True)):
        if np.isnan(cosine):
            continue
        ax.hlines(y, low, high, color=colour, linewidth=1.2)
        ax.plot(cosine, y, "o", markersize=3.5, color=colour, markerfacecolor=colour if matched else "white")
    ax.axvline(comparison.threshold, color=GREY, linewidth=0.7, linestyle="--", zorder=0)
    if len(others):
        ax.axhline(len(topics) - 0.5, color=GREY, linewidth=0.5)
    names = [f"{shortened(name, _CHARACTERS)} – {shortened(to, _CHARACTERS)}" for name, to, *_ in rows]
    ax.set_yticks(range(len(rows)), names, fontsize=small(ax))
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlim(0.0, 1.02)
    shown: dict[str, dict[str, str]] = {
        "topic and its reference": {"color": COLOURS[0]},
        **({"reference without a topic": {"color": GREY, "markerfacecolor": "white"}} if len(others) else {}),
    }
    handles = [Line2D([], [], marker="o", markersize=3.5, label=name, **look) for name, look in shown.items()]  # type: ignore[arg-type]
    return finished(ax, f"cosine, with its {comparison.level:.0%} interval", handles=handles)
