"""Figures of topics: their terms as dots and as bars, and their shares in groups of documents."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from franchise._arrays import Floats
from franchise._settings import whole_number
from franchise._text import shortened
from franchise.corpus.groups import MISSING
from franchise.corpus.metadata import column_of, kind_of
from franchise.posterior.coherence import top_terms
from franchise.report.figures_style import (
    COLOURS,
    COLUMN,
    GREY,
    MOST_SHAPES,
    PAGE,
    PALE,
    axes_or_new,
    check,
    documented,
    extent,
    figure_of,
    finished,
    is_model,
    legend_above,
    new_panels,
    numbers,
    percent_ticks,
    round_below,
    small,
    text_width,
    topic_ticks,
    whole_ticks,
)

_LONGEST_TERM = 25  # characters, the rest is cut: a web address would leave no room for the drawing
_ROW = 0.17  # inches from dot to dot, or from bar to bar
_COLUMNS = ("group", "topic", "terms", "share", "low", "high", "n_documents")
_MOST_TOPICS = 6  # at once, unless more are asked for: bands that overlap hide each other
_TERMS = 3  # of a topic, in the legend
_LONGEST_NAME = 30  # characters of a group's name
_BAR, _TALLEST = 0.13, 9.3  # inches: the height of a bar and its gap, and of a page
_MOST_ROWS = 15  # groups of bars, which fit on a page
# Points across, of the dot of the largest probability; many topics overlap rather than be too small to see.
_SMALLEST_DOT, _LARGEST_DOT = 4.0, 13.0

# ---------------------------------------------------------------- topics by terms


@documented
def plot_topics(
    phi: Any,
    vocabulary: Sequence[str] | None = None,
    *,
    labels: Mapping[int, str] | None = None,
    n_terms: int = 40,
    ax: Axes | None = None,
) -> Figure:
    """Draw topics by terms, with dots as large as the terms are probable.

    The paper's picture of topics. Topics are numbered from 0, from top to bottom.

    Parameters
    ----------
    <topics>
    n_terms
        If there are more terms than this, only this many are drawn: the most probable terms of the topics,
        taken from each topic in turn.
    <ax> Dots fit the axes as large as they are now.

    <figure>

    Examples
    --------
    >>> fig = plot_topics([[0.5, 0.4, 0.1], [0.1, 0.1, 0.8]], ["dog", "bone", "cat"])
    """
    phi, vocabulary, labels, _ = _of_model(phi, vocabulary, labels)
    topics, terms = _topics_of(phi, vocabulary)
    called = [shortened(name, _LONGEST_TERM) for name in topic_ticks(len(topics), labels)]
    chosen = _chosen_terms(topics, whole_number("n_terms", n_terms, 1))
    shown, names = topics[:, chosen], [terms[v] for v in chosen]
    ax = axes_or_new(ax, *_size_of_dots(shown.shape, names, called))
    ax.set_xlim(-0.5, shown.shape[1] - 0.5)
    ax.set_ylim(shown.shape[0] - 0.5, -0.5)
    _name_terms(ax, names, in_order=vocabulary is None and len(chosen) == topics.shape[1])
    _name_topics(ax, called)
    _draw_dots(ax, shown)
    return finished(ax, "term", "topic")


def _of_model(
    given: Any,
    vocabulary: Sequence[str] | None,
    labels: Mapping[int, str] | None,
    interval: Callable[[int, Any], Any] | None = None,
) -> tuple[Any, Sequence[str] | None, Mapping[int, str], Callable[[int, Any], Any] | None]:
    """Return topics that are given as they are, or as a model; what is given with them goes first."""
    if not is_model(given):
        return given, vocabulary, labels or {}, interval
    posterior = given.posterior_
    vocabulary = given.corpus_.vocabulary if vocabulary is None else vocabulary
    labels = given.named_topics_ if labels is None else labels
    return posterior.phi, vocabulary, labels, interval or posterior.phi_interval


def _draw_dots(ax: Axes, shown: Floats) -> None:
    """Draw a dot for each probability above 0, and the key to their sizes."""
    k, v = np.nonzero(shown > 0)
    few = len(shown) <= len(COLOURS)
    colours = [COLOURS[topic] for topic in k] if few else COLOURS[0]
    look: dict[str, Any] = {"linewidths": 0, "clip_on": False, "rasterized": k.size > MOST_SHAPES}
    dots = ax.scatter(v, k, c=colours, zorder=2, **look)
    values = round_below(shown.max())
    look = {"marker": "o", "linestyle": "", "color": GREY, "markeredgewidth": 0}
    keys = [Line2D([], [], label=f"{value:g}", **look) for value in values]
    wide = _LARGEST_DOT / small(ax)
    look = {"handlelength": wide, "handleheight": wide, "handletextpad": 0.3}
    key = legend_above(ax, keys, title="probability", alignment="left", **look)
    room = min(extent(ax)[0] / shown.shape[1], extent(ax)[1] / shown.shape[0])
    scale = np.clip(0.95 * room, _SMALLEST_DOT, _LARGEST_DOT) ** 2 / shown.max()
    dots.set_sizes(scale * shown[k, v])
    for dot, value in zip(key.legend_handles, values, strict=True):
        dot.set_markersize(math.sqrt(scale * value))


def _topics_of(phi: npt.ArrayLike, vocabulary: Sequence[str] | None) -> tuple[Floats, list[str]]:
    topics = numbers("phi", phi, 2)
    are_shares = topics.min() >= 0 and topics.max() > 0
    check(are_shares, "phi: give probabilities, none below 0 and not all 0", "invalid-weights")
    n_terms = topics.shape[1]
    terms = [shortened(str(v), _LONGEST_TERM) for v in (range(n_terms) if vocabulary is None else vocabulary)]
    check(
        len(terms) == n_terms,
        f"vocabulary has {len(terms)} terms and phi {n_terms} columns: give as many of each",
        "wrong-length",
    )
    return topics, terms


def _chosen_terms(topics: Floats, most: int) -> list[int]:
    """Return all terms if they are few; else the first terms of the topics, each with the topic it is of."""
    if topics.shape[1] <= most:
        return list(range(topics.shape[1]))
    in_turn = list(dict.fromkeys(top_terms(topics, most).T.ravel().tolist()))[:most]
    return sorted(in_turn, key=lambda term: (np.argmax(topics[:, term]), -topics[:, term].max()))


def _size_of_dots(shape: tuple[int, ...], names: Sequence[str], topics: Sequence[str]) -> tuple[float, float]:
    """Return height and width of a figure in which the dots stand in squares, within a page."""
    for_names, for_topics = (max(map(len, texts)) * 0.065 for texts in (names, topics))
    width = min(max(COLUMN, 0.8 + for_topics + _ROW * shape[1]), PAGE)
    return min(max(1.5, 0.8 + for_names + _ROW * shape[0]), 9.0), width


def _name_terms(ax: Axes, names: Sequence[str], in_order: bool) -> None:
    room = extent(ax)[0] / len(names)
    if in_order and text_width(ax, names) > room:
        whole_ticks(ax.xaxis)
        return
    ax.set_xticks(range(len(names)), names, parse_math=False)  # a term may have dollar signs
    if text_width(ax, names) + 2 > room:
        ax.tick_params(axis="x", labelrotation=90)


def _name_topics(ax: Axes, names: Sequence[str]) -> None:
    if extent(ax)[1] / len(names) >= small(ax):
        ax.set_yticks(range(len(names)), names, parse_math=False)
        ax.grid(axis="y", color=PALE, linewidth=0.5, zorder=0)
        ax.set_axisbelow(True)
    else:
        whole_ticks(ax.yaxis)


# ---------------------------------------------------------------- top terms


@documented
def plot_topic_bars(
    phi: Any,
    vocabulary: Sequence[str] | None = None,
    *,
    topics: Sequence[int] | None = None,
    labels: Mapping[int, str] | None = None,
    n_terms: int = 10,
    interval: Callable[[int, npt.NDArray[np.int64]], npt.ArrayLike] | None = None,
    axes: Sequence[Axes] | None = None,
) -> Figure:
    """Draw the most probable terms of topics as bars, one panel per topic, all to one scale.

    Parameters
    ----------
    <topics>
    topics
        Which topics, by their numbers from 0; by default the first six.
    n_terms
        Bars per topic.
    interval
        A function from a topic's number and numbers of terms to their lower and upper bounds (terms, 2), such
        as `Posterior.phi_interval`; drawn as lines on the bars. By default that of the model.
    axes
        Axes to draw in, one per topic; None for a new figure.

    <figure>

    Examples
    --------
    >>> fig = plot_topic_bars([[0.5, 0.4, 0.1], [0.1, 0.1, 0.8]], ["dog", "bone", "cat"], n_terms=2)
    """
    phi, vocabulary, labels, interval = _of_model(phi, vocabulary, labels, interval)
    probabilities, terms = _topics_of(phi, vocabulary)
    n_topics = len(probabilities)
    chosen = range(min(6, n_topics)) if topics is None else topics
    chosen = [whole_number("topics", topic, 0, n_topics - 1) for topic in chosen]
    check(chosen, "topics is empty: give the numbers of topics, or None for the first six", "empty-setting")
    called = topic_ticks(n_topics, labels)
    best = top_terms(probabilities, n_terms)[chosen]
    panels = list(axes) if axes is not None else new_panels(len(chosen), 0.42 + 0.15 * best.shape[1])
    fits = len(panels) == len(chosen)
    check(fits, f"there are {len(panels)} axes for {len(chosen)} topics: give one per topic", "wrong-length")
    ends = [1e-9]
    for panel, topic, own in zip(panels, chosen, best, strict=True):
        heights = probabilities[topic, own]
        bounds = None if interval is None else np.asarray(interval(topic, own), float)
        _draw_bars(panel, [terms[v] for v in own], heights, bounds)
        title = shortened(f"topic {called[topic]}", _LONGEST_TERM)
        panel.set_title(title, fontsize=panel.xaxis.label.get_fontsize(), parse_math=False)
        ends += [heights.max(), 0.0 if bounds is None else bounds.max()]
    for panel in panels:
        panel.set_xlim(0.0, 1.05 * max(ends))
    if axes is None:
        panels[0].figure.supxlabel("probability", size=panels[0].xaxis.label.get_fontsize())
    else:
        panels[-1].set_xlabel("probability")
    return figure_of(panels[0])


def _draw_bars(ax: Axes, names: Sequence[str], heights: Floats, bounds: Floats | None) -> None:
    rows = np.arange(len(names))
    ax.barh(rows, heights, height=0.7, color=COLOURS[5])
    if bounds is not None:
        fits = bounds.shape == (rows.size, 2)
        check(fits, f"interval gave shape {bounds.shape}: it must give ({rows.size}, 2)", "wrong-shape")
        ax.hlines(rows, bounds[:, 0], bounds[:, 1], color="black", linewidth=0.8)
    ax.set_yticks(rows, names, parse_math=False)
    ax.set_ylim(rows.size - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.locator_params(axis="x", nbins=4)


# ---------------------------------------------------------------- groups of documents


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
    documents are drawn.

    Parameters
    ----------
    frame
        What `HDPTopicModel.prevalence` returns.
    topics
        Which topics to draw; by default the first six.
    name
        What the groups are, for the axis: ``"year"``.
    <ax>

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
