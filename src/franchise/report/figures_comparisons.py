"""Figures that compare: methods, samplers, kinds of trials, values of eta."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, LogFormatter, NullFormatter, NullLocator
from scipy.stats import binomtest
from scipy.stats import t as student_t

from franchise._arrays import Floats
from franchise._settings import is_positive
from franchise.report.figures_style import (
    COLOURS,
    COLUMN,
    GREY,
    LEVEL,
    MOST_SHAPES,
    axes_or_new,
    check,
    documented,
    dressed,
    extent,
    finished,
    is_model,
    numbers,
    percent_ticks,
    small,
    text_width,
)
from franchise.sampling import Trial

Counts = npt.NDArray[np.int64]
_NEEDED = ("eta", "per_word", "behind_error", "n_topics", "coherence", "shared")  # columns
_ENOUGH = 20  # trials, for the scale to make room for their interval

# ---------------------------------------------------------------- how similar topics are


@documented
def plot_similarity(similarities: Any, *, ax: Axes | None = None) -> Figure:
    """Draw similarities of topics, a dot each, one strip per method (or corpus).

    The paper's picture of topic similarities: many dots on the right are many topics that are hard to tell
    apart. Within a strip, up and down has no meaning; a line marks the median.

    Parameters
    ----------
    similarities
        For each method, numbers from 0 to 1: of each topic to its nearest in another run, say, or of the
        pairs of topics within a run. Or a fitted model: of each topic to its nearest, and of each two.
    <ax>

    <figure>

    Examples
    --------
    >>> fig = plot_similarity({"Gibbs": [0.3, 0.9, 0.8], "split-merge": [0.2, 0.5, 0.4]})
    """
    if is_model(similarities):
        similarities = _similarities_of(similarities.posterior_)
    strips = {str(name): _shares(name, values) for name, values in similarities.items()}
    are_some = any(values.size for values in strips.values())
    check(are_some, "similarities is empty: give numbers from 0 to 1 for a method or more", "empty-setting")
    ax = axes_or_new(ax, 0.7 + 0.42 * len(strips))
    for row, values in enumerate(strips.values()):
        dots = max(1.5, min(12.0, 1500.0 / max(values.size, 1)))
        ax.scatter(
            values,
            row + np.random.default_rng(values.size).uniform(-0.32, 0.32, values.size),
            s=dots,
            color=COLOURS[row % len(COLOURS)],
            alpha=min(0.6, max(0.03, 1000.0 / max(values.size, 1))),
            linewidths=0,
            rasterized=values.size > MOST_SHAPES,
        )
        if values.size:
            ax.vlines(np.median(values), row - 0.4, row + 0.4, color="black", linewidth=1.2)
    ax.set_yticks(range(len(strips)), [f"{name} ({values.size:,})" for name, values in strips.items()])
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(strips) - 0.5, -0.5)
    ax.set_xlim(-0.02, 1.02)
    return finished(ax, "similarity of topics (1: the same)")


def _similarities_of(posterior: Any) -> dict[str, Any]:
    """Return how similar topics of a model are: each to its nearest, and each two."""
    n = posterior.n_topics
    check(n > 1, "the model has one topic; there is nothing that it could be like", "too-few-topics")
    pairs = posterior.similarity[np.triu_indices(n, 1)]
    return {"each topic and its nearest": posterior.nearest_similarity, "each two topics": pairs}


def _shares(name: str, values: npt.ArrayLike) -> Floats:
    if not np.size(values):
        return np.zeros(0)  # one topic alone has no other to be like
    array = numbers(f"similarities[{name!r}]", np.ravel(values), 1)
    low, high = array.min(), array.max()
    fits = low >= -1e-6 and high <= 1 + 1e-6
    check(fits, f"similarities[{name!r}] goes from {low:g} to {high:g}: give 0 to 1", "out-of-range")
    return array


# ---------------------------------------------------------------- the race of two samplers


@documented
def plot_mode_difference(
    times: npt.ArrayLike,
    differences: npt.ArrayLike,
    *,
    log: bool = False,
    x_label: str = "sweep",
    ax: Axes | None = None,
) -> Figure:
    """Draw by how much split-merge is ahead of Gibbs sampling, over time.

    The paper's comparison of modes: the best log joint per word that the split-merge sampler has found up
    to a time, minus the best of the sampler without. Thin lines are runs, the thick line is their mean, with
    its 95% interval (Student's t over the runs).

    Parameters
    ----------
    times
        Sweeps or seconds at which runs are compared.
    differences
        Runs by times, or those of one run; NaN where a run has no number.
    log
        Draw time in log scale; all times must be above 0.
    x_label
        What the times are, such as ``"CPU time (seconds)"``.
    <ax>

    <figure>

    Examples
    --------
    >>> fig = plot_mode_difference([1, 10, 100], [[0.0, 0.3, 0.1], [0.1, 0.2, 0.1]], log=True)
    """
    when = numbers("times", times, 1)
    runs = np.atleast_2d(np.asarray(differences, float))
    _check_race(when, runs, log)
    mean, low, high = mean_and_interval(runs)
    ax = axes_or_new(ax, 2.4)
    ax.axhline(0.0, color="black", linewidth=0.6)
    handles: list[Any] = []
    if len(runs) > 1:
        ax.plot(when, runs.T, color=GREY, linewidth=0.5, alpha=0.35)
        handles = [Line2D([], [], color=GREY, linewidth=0.5, label=f"{len(runs)} runs")]
        band: dict[str, Any] = {"color": COLOURS[0], "alpha": 0.25, "linewidth": 0, "label": "95% interval"}
        handles += [ax.fill_between(when, low, high, **band)]
    (thick,) = ax.plot(when, mean, color=COLOURS[0], linewidth=1.4, label="mean")
    if when.size == 1:
        thick.set_marker("o")
    if log:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
        ax.xaxis.set_minor_formatter(LogFormatter(labelOnlyBase=False, minor_thresholds=(1.0, 0.4)))
    name = "best log joint per word,\nsplit-merge − Gibbs"
    return finished(ax, x_label, name, [thick, *handles] if handles else [])


def _check_race(when: Floats, runs: Floats, log: bool) -> None:
    check(
        runs.ndim == 2 and runs.shape[1] == when.size,
        f"differences has shape {runs.shape} and there are {when.size} times: give runs by times",
        "wrong-shape",
    )
    rise = np.all(np.diff(when) > 0)
    check(rise, "the times do not increase: give them in order, none twice", "not-increasing")
    check(
        not log or when[0] > 0,
        f"times begins with {when[0]:g}, which has no logarithm: leave it out, or log=False",
        "not-a-positive-number",
    )
    are_numbers = np.isfinite(runs).any() and not np.isinf(runs).any()
    check(are_numbers, "differences must be finite numbers, or NaN where a run has none", "not-finite")


def mean_and_interval(runs: Floats, level: float = LEVEL) -> tuple[Floats, Floats, Floats]:
    """Return, for each time, the mean over the runs that have a number, and the ends of its interval.

    The interval is Student's t. NaN stands where no run has a number; an interval needs two.
    """
    known = np.isfinite(runs)
    n = known.sum(axis=0)
    mean, half = np.full((2, n.size), np.nan)
    total = np.where(known, runs, 0.0).sum(axis=0)
    mean[n > 0] = total[n > 0] / n[n > 0]
    several = n > 1
    squares = np.where(known, runs - mean, 0.0)[:, several] ** 2
    error = np.sqrt(squares.sum(axis=0) / (n[several] - 1) / n[several])
    half[several] = student_t.ppf((1 + level) / 2, n[several] - 1) * error
    return mean, mean - half, mean + half


# ---------------------------------------------------------------- accepted trials


@documented
def plot_acceptance(
    trials: Sequence[Trial] | Mapping[str, Any], *, size: str = "words", ax: Axes | None = None
) -> Figure:
    """Draw how often splits and merges are accepted, by the size of the topics concerned.

    Lines are 95% Wilson intervals, of few trials they may run off the top; the numbers under the axis say how
    many trials there were.

    Parameters
    ----------
    trials
        Trials (`Chain.trials`, of a schedule with ``SplitMerge(keep_trials=True)``), or a DataFrame or
        dictionary of arrays with ``"kind"``, ``"accepted"`` and the size.
    size
        ``"words"`` or ``"tables"`` of the topics concerned.
    <ax>

    <figure>

    Examples
    --------
    >>> kinds, accepted, words = ["split", "merge", "split"], [True, False, False], [20, 30, 400]
    >>> fig = plot_acceptance({"kind": kinds, "accepted": accepted, "words": words})
    """
    kind, accepted, sizes = _made(trials, size)
    ax = axes_or_new(ax, 2.6)
    edges = _edges(sizes, most=int(extent(ax)[0] / (text_width(ax, [f"{sizes.max():.0f}0"]) + 4.0)))
    middle = np.sqrt(edges[:-1] * edges[1:])
    apart = (edges[-1] / edges[0]) ** 0.012
    line = 1.25 * small(ax)
    handles, tops = [], []
    for row, (name, marker, side) in enumerate([("split", "o", 1 / apart), ("merge", "s", apart)]):
        own = kind == name
        n, yes = (np.histogram(sizes[which], edges)[0] for which in (own, own & accepted))
        look: dict[str, Any] = {"color": COLOURS[row], "marker": marker, "markersize": 4, "linestyle": ""}
        tops.append(_draw_rates(ax, middle * side, n, yes, look))
        handles.append(Line2D([], [], label=name, **look))
        _write_counts(ax, middle, n, f"{name}s", COLOURS[row], -(row + 1.9) * line)
    ax.set_xscale("log")
    ax.set_xlim(edges[0], edges[-1])
    ax.xaxis.set_major_locator(FixedLocator(edges.tolist()))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter("{x:.0f}")
    ax.set_ylim(0.0, max(1.08 * max(tops), 0.01))
    percent_ticks(ax.yaxis)
    ax.xaxis.labelpad = 2.7 * line
    return finished(ax, f"{size} of the topics concerned", "accepted", handles)


def _made(trials: Any, size: str) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_], Floats]:
    """Return kind, acceptance and size of the trials that were made."""
    check(size in ("words", "tables"), f"size={size!r}: give 'words' or 'tables'", "unknown-choice")
    names = ("kind", "accepted", size)
    if isinstance(trials, Sequence):
        fields = [np.array([getattr(trial, name) for trial in trials]) for name in names]
    else:
        fields = [np.asarray(trials[name]) for name in names]
    fits = len({field.size for field in fields}) == 1
    check(fits, f"{', '.join(names)} differ in length: give one of each per trial", "wrong-length")
    # Where the state allowed no trial of the kind wanted, there was none.
    made = np.isin(fields[0], ["split", "merge"])
    check(
        made.any(), "there are no trials: run the chain with SplitMerge(keep_trials=True)", "no-trials-kept"
    )
    sizes = numbers(size, fields[2][made], 1)
    least = sizes.min()
    check(least >= 1, f"{size}: a trial has size {least:g}; give sizes from 1", "out-of-range")
    return fields[0][made], fields[1][made].astype(bool), sizes


def _edges(sizes: Floats, most: int) -> Floats:
    """Return the ends of classes of sizes: 1, 2, 5, 10, ..., or 1, 10, 100, ... if these are too many."""
    fine = np.array([step * 10.0**power for power in range(18) for step in (1, 2, 5)])
    for series in (fine, fine[::3]):
        first = np.searchsorted(series, sizes.min(), "right") - 1
        last = np.searchsorted(series, sizes.max(), "right")
        edges = series[first : last + 1]
        if edges.size <= most:
            break
    return edges


def _draw_rates(ax: Axes, x: Floats, n: Counts, yes: Counts, look: Mapping[str, Any]) -> float:
    """Draw rates and their intervals; return up to where there is something to see."""
    tried = np.flatnonzero(n)
    if not tried.size:
        return 0.0
    x, n, rates = x[tried], n[tried], yes[tried] / n[tried]
    both = [binomtest(round(n_ * rate), n_).proportion_ci(LEVEL, "wilson") for n_, rate in zip(n, rates)]
    low, high = np.array(both).T
    ax.vlines(x, low, high, color=look["color"], linewidth=1.0)
    ax.plot(x, rates, clip_on=False, zorder=3, **look)
    # A handful of trials would stretch the scale until nothing else could be read.
    enough = n >= _ENOUGH
    return float(max(rates.max(), high[enough].max(initial=0.0) if enough.any() else high.max()))


def _write_counts(ax: Axes, x: Floats, n: Counts, name: str, colour: str, below: float) -> None:
    """Write a row of numbers under the axis, `below` points away."""
    look: dict[str, Any] = {"textcoords": "offset points", "va": "top", "color": colour}
    look["fontsize"] = small(ax)
    for place, number in zip(x, n, strict=True):
        at = ("data", "axes fraction")
        ax.annotate(f"{number}", (place, 0), xycoords=at, xytext=(0, below), ha="center", **look)
    ax.annotate(name, (0, 0), xycoords="axes fraction", xytext=(-4, below), ha="right", **look)


# ---------------------------------------------------------------- eta


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
    check(not missing, f"table has no {', '.join(missing)}: give tune_eta(...).table", "missing-column")
    # One chain shares nothing; without texts of two terms there is no coherence.
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
