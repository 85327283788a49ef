"""Figures of how well samplers do: the race of two of them, and how often trials are accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, LogFormatter, NullLocator
from scipy.stats import binomtest
from scipy.stats import t as student_t

from franchise._arrays import Floats
from franchise.errors import SettingsError
from franchise.report.figures_style import (
    COLOURS,
    GREY,
    LEVEL,
    axes_or_new,
    extent,
    figure_of,
    legend_above,
    numbers,
    percent_ticks,
    small,
    text_width,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from franchise.sampling import Trial

Counts = npt.NDArray[np.int64]
_ENOUGH = 20  # trials, for the scale to make room for their interval

# ---------------------------------------------------------------- the race of two samplers


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
    ax
        Axes to draw in; None for a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure drawn in.

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
    handles = []
    if len(runs) > 1:
        thin = ax.plot(when, runs.T, color=GREY, linewidth=0.5, alpha=0.35)
        band = ax.fill_between(when, low, high, color=COLOURS[0], alpha=0.25, linewidth=0)
        band.set_label("95% interval")
        handles = [
            Line2D([], [], color=GREY, linewidth=thin[0].get_linewidth(), label=f"{len(runs)} runs"),
            band,
        ]
    (thick,) = ax.plot(when, mean, color=COLOURS[0], linewidth=1.4, label="mean")
    if when.size == 1:
        thick.set_marker("o")
    if log:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
        ax.xaxis.set_minor_formatter(LogFormatter(labelOnlyBase=False, minor_thresholds=(1.0, 0.4)))
    ax.set_xlabel(x_label)
    ax.set_ylabel("best log joint per word,\nsplit-merge − Gibbs")
    if handles:
        legend_above(ax, [thick, *handles])
    return figure_of(ax)


def _check_race(when: Floats, runs: Floats, log: bool) -> None:
    if runs.ndim != 2 or runs.shape[1] != when.size:
        raise SettingsError(
            f"differences has shape {runs.shape} and there are {when.size} times: give runs by times",
            code="wrong-shape",
        )
    if np.any(np.diff(when) <= 0):
        raise SettingsError(
            "the times do not increase: give them in order, none twice", code="not-increasing"
        )
    if log and when[0] <= 0:
        raise SettingsError(
            f"times begins with {when[0]:g}, which has no logarithm: leave it out, or log=False",
            code="not-a-positive-number",
        )
    if not np.isfinite(runs).any() or np.isinf(runs).any():
        raise SettingsError(
            "differences must be finite numbers, or NaN where a run has none", code="not-finite"
        )


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
    ax
        Axes to draw in; None for a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure drawn in.

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
    _draw_classes(ax, edges)
    ax.set_ylim(0.0, max(1.08 * max(tops), 0.01))
    percent_ticks(ax.yaxis)
    ax.set_xlabel(f"{size} of the topics concerned", labelpad=2.7 * line)
    ax.set_ylabel("accepted")
    legend_above(ax, handles)
    return figure_of(ax)


def _made(trials: Any, size: str) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_], Floats]:
    """Return kind, acceptance and size of the trials that were made."""
    if size not in ("words", "tables"):
        raise SettingsError(f"size={size!r}: give 'words' or 'tables'", code="unknown-choice")
    names = ("kind", "accepted", size)
    if isinstance(trials, Sequence):
        fields = [np.array([getattr(trial, name) for trial in trials]) for name in names]
    else:
        fields = [np.asarray(trials[name]) for name in names]
    if len({field.size for field in fields}) > 1:
        raise SettingsError(
            f"{', '.join(names)} differ in length: give one of each per trial", code="wrong-length"
        )
    # Where the state allowed no trial of the kind wanted, there was none.
    made = np.isin(fields[0], ["split", "merge"])
    if not made.any():
        raise SettingsError(
            "there are no trials: run the chain with SplitMerge(keep_trials=True)", code="no-trials-kept"
        )
    sizes = numbers(size, fields[2][made], 1)
    if sizes.min() < 1:
        raise SettingsError(
            f"{size}: a trial has size {sizes.min():g}; give sizes from 1", code="out-of-range"
        )
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


def _draw_classes(ax: Axes, edges: Floats) -> None:
    ax.set_xscale("log")
    ax.set_xlim(edges[0], edges[-1])
    ax.xaxis.set_major_locator(FixedLocator(edges.tolist()))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter("{x:.0f}")


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
    look: dict[str, Any] = {
        "textcoords": "offset points",
        "fontsize": small(ax),
        "color": colour,
        "va": "top",
    }
    for place, number in zip(x, n, strict=True):
        at = ("data", "axes fraction")
        ax.annotate(f"{number}", (place, 0), xycoords=at, xytext=(0, below), ha="center", **look)
    ax.annotate(name, (0, 0), xycoords="axes fraction", xytext=(-4, below), ha="right", **look)
