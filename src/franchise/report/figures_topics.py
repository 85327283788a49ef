"""Figures of topics: their terms as dots and as bars."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from franchise._arrays import Floats
from franchise._settings import whole_number
from franchise._text import shortened
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
    round_below,
    small,
    text_width,
    topic_ticks,
    whole_ticks,
)

_LONGEST_TERM = 25  # characters, the rest is cut: a web address would leave no room for the drawing
_ROW = 0.17  # inches from dot to dot, or from bar to bar
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
