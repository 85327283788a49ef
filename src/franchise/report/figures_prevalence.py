"""The figure of topics in groups of documents: lines over years and dates, bars over categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from franchise.corpus.groups import MISSING
from franchise.corpus.metadata import column_of, kind_of
from franchise.errors import SettingsError
from franchise.report.figures_style import (
    COLOURS,
    COLUMN,
    GREY,
    axes_or_new,
    figure_of,
    legend_above,
    percent_ticks,
    whole_ticks,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLUMNS = ("group", "topic", "terms", "share", "low", "high", "n_documents")
_MOST_TOPICS = 6  # at once, unless more are asked for: bands that overlap hide each other
_TERMS = 3  # of a topic, in the legend
_LONGEST_NAME = 30  # characters of a group's name
_BAR, _TALLEST = 0.13, 9.3  # inches: the height of a bar and its gap, and of a page
_MOST_ROWS = 15  # groups of bars, which fit on a page


def plot_prevalence(
    frame: pd.DataFrame,
    topics: Sequence[int] | None = None,
    *,
    name: str = "group",
    ax: Axes | None = None,
) -> Figure:
    """Draw the shares of topics in groups of documents, with their intervals.

    Groups that are numbers or dates lie on an axis, and each topic is a line in a band; a missing value is
    drawn apart, at the right. Groups of other kinds are rows of bars; of more than 15, those with the most
    documents are drawn.

    Parameters
    ----------
    frame
        What `HDPTopicModel.prevalence` returns.
    topics
        Which topics to draw; by default the first six.
    name
        What the groups are, for the axis: ``"year"``.
    ax
        Axes to draw in; None for a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure drawn in.

    Examples
    --------
    >>> import pandas as pd
    >>> row = {"topic": 0, "terms": "ant, bee", "share": 0.2, "low": 0.1, "high": 0.3, "n_documents": 9}
    >>> fig = plot_prevalence(pd.DataFrame([{"group": 2019, **row}, {"group": 2020, **row}]), name="year")
    """
    absent = [column for column in _COLUMNS if column not in frame]
    if absent or not len(frame):
        raise SettingsError(
            "give the table that prevalence() returns, with at least one row", code="wrong-table"
        )
    parts = _of_topics(frame, topics)
    labels = list(dict.fromkeys(frame["group"]))
    ordered = column_of("group", [None if label == MISSING else label for label in labels])
    if kind_of(ordered) != "text" and ordered.count() > 1:
        return _lines(parts, ordered, name, ax)
    return _bars(parts, name, ax)


def _of_topics(frame: pd.DataFrame, topics: Sequence[int] | None) -> dict[int, pd.DataFrame]:
    present = [int(topic) for topic in dict.fromkeys(frame["topic"])]
    chosen = present[:_MOST_TOPICS] if topics is None else [int(topic) for topic in topics]
    for topic in chosen:
        if topic not in present:
            raise SettingsError(
                f"topics: there is no topic {topic} in the table; it has {present}", code="unknown-topic"
            )
    if not chosen:
        raise SettingsError("topics is empty: give at least one", code="empty-setting")
    return {topic: frame[frame["topic"] == topic] for topic in chosen}


def _title(topic: int, part: pd.DataFrame) -> str:
    if "label" in part:
        return f"{topic}: {part['label'].iloc[0]}"
    return f"{topic}: {', '.join(str(part['terms'].iloc[0]).split(', ')[:_TERMS])}"


def _colour(i: int) -> str:
    return COLOURS[i % len(COLOURS)]


# ---------------------------------------------------------------- lines


def _lines(parts: dict[int, pd.DataFrame], groups: pd.Series, name: str, ax: Axes | None) -> Figure:
    ax = axes_or_new(ax, 2.6 if len(parts) < 4 else 3.0, COLUMN if len(parts) < 4 else 1.4 * COLUMN)
    there = groups.notna().to_numpy()
    at: Any = groups.to_numpy()[there]
    handles = []
    for i, (topic, part) in enumerate(parts.items()):
        share, low, high = (part[column].to_numpy(float) for column in ("share", "low", "high"))
        ax.fill_between(at, low[there], high[there], color=_colour(i), alpha=0.18, linewidth=0)
        ax.plot(at, share[there], color=_colour(i), linewidth=1.3, marker="o", markersize=2.5)
        handles.append(Line2D([], [], color=_colour(i), linewidth=1.3, label=_title(topic, part)))
    if kind_of(groups) == "date":
        locator = AutoDateLocator(maxticks=8)
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    elif np.all(at == np.rint(at)):
        whole_ticks(ax.xaxis)
    if not there.all():
        _draw_missing(ax, parts, there)
    ax.set_ylim(bottom=0.0)
    percent_ticks(ax.yaxis)
    ax.set_ylabel("share of the group")
    ax.set_xlabel(name)
    legend_above(ax, handles)
    return figure_of(ax)


def _draw_missing(ax: Axes, parts: dict[int, pd.DataFrame], there: Any) -> None:
    """Draw the group of missing values to the right of the others, apart from their axis."""
    left, right = ax.get_xlim()
    width = right - left
    for i, part in enumerate(parts.values()):
        share, low, high = (part[column].to_numpy(float)[~there][0] for column in ("share", "low", "high"))
        x = right + width * (0.05 + 0.1 * (i + 0.5) / len(parts))
        whiskers = [[share - low], [high - share]]
        ax.errorbar(x, share, yerr=whiskers, color=_colour(i), fmt="o", markersize=2.5, linewidth=1.0)
    ax.axvline(right + 0.03 * width, color=GREY, linewidth=0.6, linestyle=":")
    ax.set_xlim(left, right + 0.18 * width)
    ax.annotate(
        "missing",
        (right + 0.105 * width, 1.0),
        xycoords=("data", "axes fraction"),
        ha="center",
        va="top",
        fontsize=0.875 * float(ax.xaxis.label.get_fontsize()),
        color=GREY,
    )


# ---------------------------------------------------------------- bars


def _bars(parts: dict[int, pd.DataFrame], name: str, ax: Axes | None) -> Figure:
    first = next(iter(parts.values()))
    # Sorted again, the groups that are left stay in their order.
    shown = np.sort(np.argsort(-first["n_documents"].to_numpy(), kind="stable")[:_MOST_ROWS])
    labels = [first["group"].iloc[i] for i in shown]
    height = min(0.8 + _BAR * (len(parts) + 1) * len(labels), _TALLEST)
    is_new = ax is None
    ax = axes_or_new(ax, height, COLUMN if len(labels) * len(parts) <= 12 else 1.4 * COLUMN)
    rows, thickness, handles = np.arange(len(labels)), 0.8 / len(parts), []
    for i, (topic, part) in enumerate(parts.items()):
        share, low, high = (part[column].to_numpy(float)[shown] for column in ("share", "low", "high"))
        at = rows + (i - (len(parts) - 1) / 2) * thickness
        ax.barh(at, share, height=0.9 * thickness, color=_colour(i))
        ax.errorbar(
            share,
            at,
            xerr=[share - low, high - share],
            fmt="none",
            ecolor="black",
            elinewidth=0.7,
            capsize=1.5,
        )
        handles.append(Patch(color=_colour(i), label=_title(topic, part)))
    ax.set_yticks(rows, [_short(str(label)) for label in labels])
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.set_xlim(left=0.0)
    percent_ticks(ax.xaxis)
    few = "" if len(shown) == len(first) else f" ({len(shown)} of {len(first)} groups)"
    ax.set_xlabel(f"share of the group{few}")
    ax.set_ylabel(name)
    if is_new:
        figure_of(ax).draw_without_rendering()  # names of groups take room that a legend then does not have
    legend_above(ax, handles)
    return figure_of(ax)


def _short(label: str) -> str:
    return label if len(label) <= _LONGEST_NAME else label[: _LONGEST_NAME - 3] + "..."
