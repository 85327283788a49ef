"""Figures of topics in groups of documents: their shares, and how much they differ between two groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from franchise._arrays import Floats
from franchise._text import shortened
from franchise.corpus.groups import MISSING
from franchise.corpus.metadata import column_of, kind_of
from franchise.posterior.differences import ALL
from franchise.report.figures_style import (
    COLOURS,
    COLUMN,
    GREY,
    PAGE,
    NotebookFigure,
    axes_or_new,
    check,
    documented,
    dressed,
    figure_of,
    finished,
    legend_above,
    new_panels,
    percent_ticks,
    small,
    whole_ticks,
)

_COLUMNS = ("group", "topic", "terms", "share", "low", "high", "n_documents")
_OF_DIFFERENCES = ("first", "second", "topic", "terms", "difference", "low", "high")
_MOST_TOPICS = 6  # at once, unless more are asked for: bands that overlap hide each other
_MOST_COMPARED = 15  # topics in rows
_TERMS = 3  # of a topic, in the legend
_LONGEST_TITLE = 28  # characters, above a panel
_LONGEST_NAME = 30  # characters of a group's name
_BAR, _TALLEST = 0.13, 9.3  # inches: the height of a bar and its gap, and of a page
_MOST_ROWS = 15  # groups of bars, which fit on a page


@documented
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
    documents are drawn. Of groups by two columns, there is a panel for each topic, with the second column on
    its axis and a line for each group of the first.

    Parameters
    ----------
    frame
        What `HDPTopicModel.prevalence` returns.
    topics
        Which topics to draw; by default the first six.
    name
        What the groups are, for the axis: ``"year"``.
    <ax> Of groups by two columns, axes for one topic.

    <figure>

    Examples
    --------
    >>> import pandas as pd
    >>> row = {"topic": 0, "terms": "ant, bee", "share": 0.2, "low": 0.1, "high": 0.3, "n_documents": 9}
    >>> fig = plot_prevalence(pd.DataFrame([{"group": 2019, **row}, {"group": 2020, **row}]), name="year")
    """
    is_one = len(frame) and all(column in frame for column in _COLUMNS)
    check(is_one, "give the table that prevalence() returns, with at least one row", "wrong-table")
    parts = _of_topics(frame, topics)
    if "within" in frame:
        return _panels(parts, name, None if ax is None else [ax])
    labels = list(dict.fromkeys(frame["group"]))
    ordered = column_of("group", [None if label == MISSING else label for label in labels])
    if kind_of(ordered) != "text" and ordered.count() > 1:
        return _lines(parts, ordered, name, ax)
    return _bars(parts, name, ax)


def _of_topics(frame: pd.DataFrame, topics: Sequence[int] | None) -> dict[int, pd.DataFrame]:
    present = [int(topic) for topic in dict.fromkeys(frame["topic"])]
    chosen = present[:_MOST_TOPICS] if topics is None else [int(topic) for topic in topics]
    for topic in chosen:
        there = topic in present
        check(there, f"topics: there is no topic {topic} in the table; it has {present}", "unknown-topic")
    check(chosen, "topics is empty: give at least one", "empty-setting")
    return {topic: frame[frame["topic"] == topic] for topic in chosen}


def _title(topic: int, part: pd.DataFrame) -> str:
    if "label" in part:
        return f"{topic}: {part['label'].iloc[0]}"
    return f"{topic}: {', '.join(str(part['terms'].iloc[0]).split(', ')[:_TERMS])}"


def _bounds(part: pd.DataFrame, chosen: Any) -> tuple[Floats, Floats, Floats]:
    """Return the share of a topic in chosen groups, and how far its interval reaches down and up."""
    share, low, high = (part[column].to_numpy(float)[chosen] for column in ("share", "low", "high"))
    return share, share - low, high - share


def _lines(parts: dict[int, pd.DataFrame], groups: pd.Series, name: str, ax: Axes | None) -> Figure:
    ax = axes_or_new(ax, 2.6 if len(parts) < 4 else 3.0, COLUMN if len(parts) < 4 else 1.4 * COLUMN)
    there = groups.notna().to_numpy()
    at: Any = groups.to_numpy()[there]
    handles = []
    for i, (topic, part) in enumerate(parts.items()):
        look: dict[str, Any] = {"color": COLOURS[i % len(COLOURS)], "linewidth": 1.3}
        share, below, above = _bounds(part, there)
        ax.fill_between(at, share - below, share + above, color=look["color"], alpha=0.18, linewidth=0)
        ax.plot(at, share, marker="o", markersize=2.5, **look)
        handles.append(Line2D([], [], label=_title(topic, part), **look))
    if kind_of(groups) == "date":
        locator = AutoDateLocator(maxticks=8)
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    elif np.all(at == np.rint(at)):
        whole_ticks(ax.xaxis)
    if not there.all():
        _draw_missing(ax, parts, ~there)
    ax.set_ylim(bottom=0.0)
    percent_ticks(ax.yaxis)
    return finished(ax, name, "share of the group", handles)


def _draw_missing(ax: Axes, parts: dict[int, pd.DataFrame], missing: Any) -> None:
    """Draw the group of missing values to the right of the others, apart from their axis."""
    left, right = ax.get_xlim()
    width = right - left
    for i, part in enumerate(parts.values()):
        share, below, above = _bounds(part, missing)
        x = right + width * (0.05 + 0.1 * (i + 0.5) / len(parts))
        colour = COLOURS[i % len(COLOURS)]
        ax.errorbar(x, share, yerr=[below, above], fmt="o", color=colour, markersize=2.5, linewidth=1.0)
    ax.axvline(right + 0.03 * width, color=GREY, linewidth=0.6, linestyle=":")
    ax.set_xlim(left, right + 0.18 * width)
    look: dict[str, Any] = {"ha": "center", "va": "top", "fontsize": small(ax), "color": GREY}
    ax.annotate("missing", (right + 0.105 * width, 1.0), xycoords=("data", "axes fraction"), **look)


def _bars(parts: dict[int, pd.DataFrame], name: str, ax: Axes | None) -> Figure:
    first = next(iter(parts.values()))
    # Sorted again, the groups that are left stay in their order.
    shown = np.sort(np.argsort(-first["n_documents"].to_numpy(), kind="stable")[:_MOST_ROWS])
    names = [str(first["group"].iloc[i]) for i in shown]
    labels = [one if len(one) <= _LONGEST_NAME else f"{one[: _LONGEST_NAME - 3]}..." for one in names]
    height = min(0.8 + _BAR * (len(parts) + 1) * len(labels), _TALLEST)
    is_new = ax is None
    ax = axes_or_new(ax, height, COLUMN if len(labels) * len(parts) <= 12 else 1.4 * COLUMN)
    rows, thickness, handles = np.arange(len(labels)), 0.8 / len(parts), []
    for i, (topic, part) in enumerate(parts.items()):
        share, *reach = _bounds(part, shown)
        at = rows + (i - (len(parts) - 1) / 2) * thickness
        handles.append(Patch(color=COLOURS[i % len(COLOURS)], label=_title(topic, part)))
        ax.barh(at, share, height=0.9 * thickness, color=COLOURS[i % len(COLOURS)])
        ax.errorbar(share, at, xerr=reach, fmt="none", ecolor="black", elinewidth=0.7, capsize=1.5)
    ax.set_yticks(rows, labels)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.set_xlim(left=0.0)
    percent_ticks(ax.xaxis)
    few = "" if len(shown) == len(first) else f" ({len(shown)} of {len(first)} groups)"
    finished(ax, f"share of the group{few}", name)
    if is_new:
        figure_of(ax).draw_without_rendering()  # names of groups take room that a legend then does not have
    legend_above(ax, handles)
    return figure_of(ax)


# ---------------------------------------------------------------- two columns


def _panels(
    parts: dict[int, pd.DataFrame],
    name: str,
    axes: Sequence[Axes] | None,
    said: Mapping[int, list[str]] = MappingProxyType({}),
    note: str = "",
) -> Figure:
    """Draw a panel for each topic: the second column on the axis, and a line for each group of the first.

    `said` is written below the name of a topic, and `note` beside the legend.
    """
    panels = list(axes) if axes is not None else new_panels(len(parts), 1.9 if note else 1.75)
    fits = len(panels) == len(parts)
    check(fits, f"there are {len(panels)} axes for {len(parts)} topics: give one per topic", "wrong-length")
    handles: list[Any] = []
    longest = _LONGEST_TITLE if len(panels) > 1 else 2 * _LONGEST_TITLE
    for panel, (topic, part) in zip(panels, parts.items(), strict=True):
        handles = _groups_within(panel, part)
        panel.set_ylim(bottom=0.0)
        percent_ticks(panel.yaxis)
        title = "\n".join([shortened(_title(topic, part), longest), *said.get(topic, [])])
        panel.set_title(title, fontsize=panel.xaxis.label.get_fontsize(), loc="left", parse_math=False)
    if note:
        handles.append(Line2D([], [], linestyle="", label=note))
    figure = figure_of(panels[0])
    if axes is not None:
        return finished(panels[-1], name, "share of the group", handles)
    size = panels[0].xaxis.label.get_fontsize()
    figure.supxlabel(name, size=size)
    figure.supylabel("share of the group", size=size)
    look: dict[str, Any] = {"frameon": False, "fontsize": small(panels[0])}
    figure.legend(handles=handles, loc="outside upper left", ncols=len(handles), **look)
    return figure


def _groups_within(ax: Axes, part: pd.DataFrame) -> list[Any]:
    """Draw the shares of one topic, and return the entries of a legend."""
    labels = [one for one in dict.fromkeys(part["within"]) if one != MISSING]
    at = column_of("within", labels)
    is_ordered = kind_of(at) != "text" and len(labels) > 1
    if not is_ordered:
        sizes = part.groupby("within", sort=False)["n_documents"].sum()
        largest = set(sizes[labels].nlargest(_MOST_ROWS).index)
        labels = [one for one in labels if one in largest]
        at = pd.Series(np.arange(len(labels), dtype=float))
    place = dict(zip(labels, at))
    sizes = part.groupby("group", sort=False)["n_documents"].sum()
    groups = [one for one in sizes.index if one in set(sizes.nlargest(len(COLOURS)).index)]
    handles = []
    for i, label in enumerate(groups):
        rows = part[(part["group"] == label) & part["within"].isin(labels)]
        x: Any = np.array([place[one] for one in rows["within"]])
        share, *reach = _bounds(rows, slice(None))
        look: dict[str, Any] = {"color": COLOURS[i], "linewidth": 1.2, "marker": "o", "markersize": 2.5}
        if is_ordered:
            ax.fill_between(x, share - reach[0], share + reach[1], color=COLOURS[i], alpha=0.18, linewidth=0)
            ax.plot(x, share, **look)
        else:
            shift = (i - (len(groups) - 1) / 2) * 0.6 / len(groups)
            ax.errorbar(x + shift, share, yerr=reach, linestyle="", elinewidth=0.9, **look)
        handles.append(Line2D([], [], label=shortened(str(label), _LONGEST_NAME), **look))
    _name_places(ax, at, labels, is_ordered)
    return handles


def _name_places(ax: Axes, at: pd.Series, labels: Sequence[Any], is_ordered: bool) -> None:
    if not is_ordered:
        names = [shortened(str(one), _LONGEST_NAME) for one in labels]
        ax.set_xticks(range(len(names)), names, parse_math=False)
        if sum(map(len, names)) > 24:
            ax.tick_params(axis="x", labelrotation=90)
    elif kind_of(at) == "date":
        locator = AutoDateLocator(maxticks=5)
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    elif np.all(at == np.rint(at)):
        whole_ticks(ax.xaxis)


# ---------------------------------------------------------------- differences


@documented
def plot_prevalence_difference(
    differences: pd.DataFrame,
    shares: pd.DataFrame,
    topics: Sequence[int] | None = None,
    *,
    name: str = "group",
    axes: Sequence[Axes] | None = None,
) -> Figure:
    """Draw the shares of topics in two groups side by side, and the difference with its interval.

    There is a row for each topic: at the left the two shares, at the right their difference, which is
    certain where its interval does not meet the line at 0. Of groups by two columns, there is a panel for
    each topic, with the second column on its axis, and the difference of all together in its title.

    Parameters
    ----------
    differences
        What `HDPTopicModel.prevalence_difference` returns.
    shares
        What `HDPTopicModel.prevalence` returns of the same groups.
    topics
        Which topics to draw, in this order; by default the 15 largest, in the order of their differences (of
        groups by two columns, the first six).
    name
        What is on the axis of groups by two columns: ``"year"``.
    axes
        Axes to draw in: two, or, of groups by two columns, one per topic; None for a new figure.

    <figure>

    Examples
    --------
    >>> import pandas as pd
    >>> row = {"topic": 0, "terms": "ant, bee", "low": 0.1, "high": 0.3}
    >>> shares = pd.DataFrame([{"group": g, "share": 0.2, "n_documents": 9, **row} for g in ("D", "R")])
    >>> difference = pd.DataFrame([{"first": "D", "second": "R", "difference": 0.2, **row}])
    >>> fig = plot_prevalence_difference(difference, shares)
    """
    is_one = len(differences) and all(column in differences for column in _OF_DIFFERENCES)
    check(is_one, "give the table that prevalence_difference() returns, with a row or more", "wrong-table")
    is_one = len(shares) and all(column in shares for column in _COLUMNS)
    is_one = is_one and ("within" in shares) == ("within" in differences)
    check(is_one, "shares: give the table that prevalence() returns of the same groups", "wrong-table")
    if "within" in differences:
        return _panels_with_differences(differences, shares, topics, name, axes)
    if topics is None:
        largest = differences[differences["topic"].isin(differences["topic"].unique()[:_MOST_COMPARED])]
        topics = largest.sort_values("difference", ascending=False, kind="stable")["topic"].tolist()
    of_shares, of_differences = _of_topics(shares, topics), _of_topics(differences, topics)
    left, right = _two_axes(axes, len(topics))
    rows = np.arange(len(topics))
    handles = []
    first = differences.iloc[0]
    for i, label in enumerate((first["first"], first["second"])):
        table = pd.concat([part[part["group"] == label] for part in of_shares.values()])
        fits = len(table) == len(rows)
        check(fits, f"shares: the table has no group {label!r} of every topic", "wrong-table")
        share, *reach = _bounds(table, slice(None))
        look: dict[str, Any] = {"color": COLOURS[i], "marker": "os"[i], "markersize": 3.0, "linewidth": 1.0}
        left.errorbar(share, rows + 0.3 * i - 0.15, xerr=reach, linestyle="", **look)
        handles.append(Line2D([], [], label=shortened(str(label), _LONGEST_NAME), linestyle="", **look))
    table = pd.concat(of_differences.values())
    share, *reach = _bounds(table.assign(share=table["difference"]), slice(None))
    right.axvline(0.0, color=GREY, linewidth=0.6)
    right.errorbar(share, rows, xerr=reach, fmt="o", color="black", markersize=3.0, elinewidth=1.0)
    names = [shortened(_title(topic, part), 40) for topic, part in of_shares.items()]
    left.set_yticks(rows, names, parse_math=False)
    right.set_yticks(rows, [""] * len(rows))
    for panel in (left, right):
        panel.tick_params(axis="y", length=0)
        panel.set_ylim(len(rows) - 0.4, -0.6)
    left.set_xlim(left=0.0)
    percent_ticks(left.xaxis)
    right.xaxis.set_major_formatter(lambda x, _: f"{100 * x:+g}" if x else "0")
    titles = [shortened(str(first[which]), 14) for which in ("first", "second")]
    right.set_xlabel(f"{titles[0]} minus {titles[1]},\npercentage points", parse_math=False)
    return finished(left, "share of the group", None, handles)


def _two_axes(axes: Sequence[Axes] | None, n_rows: int) -> list[Axes]:
    if axes is not None:
        check(len(axes) == 2, f"there are {len(axes)} axes: give two", "wrong-length")
        return list(axes)
    height = min(0.9 + 0.24 * n_rows, _TALLEST)
    figure = NotebookFigure(figsize=(0.88 * PAGE, height), layout="constrained")
    return [dressed(panel) for panel in figure.subplots(1, 2, width_ratios=(1.15, 1.0))]


def _panels_with_differences(
    differences: pd.DataFrame,
    shares: pd.DataFrame,
    topics: Sequence[int] | None,
    name: str,
    axes: Sequence[Axes] | None,
) -> Figure:
    parts = _of_topics(shares, topics)
    together = differences[differences["within"] == ALL]
    said = {}
    for topic, part in _of_topics(together, list(parts)).items():
        points = [f"{100 * part[column].iloc[0]:+.1f}" for column in ("difference", "low", "high")]
        said[topic] = [f"{points[0]} points ({points[1]} to {points[2]})"]
    first, second = (shortened(str(differences[which].iloc[0]), 14) for which in ("first", "second"))
    return _panels(parts, name, axes, said, f"points: {first} minus {second}, with interval")
