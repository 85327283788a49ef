"""Figures of runs: traces, the share of the largest topics, and the number of topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from franchise._arrays import Floats
from franchise._settings import whole_number
from franchise.errors import SettingsError
from franchise.report.figures_style import (
    COLOURS,
    GREY,
    LEVEL,
    PALE,
    axes_or_new,
    check,
    documented,
    finished,
    is_model,
    numbers,
    percent_ticks,
    small,
    whole_ticks,
)
from franchise.sampling import Event

_IN_WORDS = {
    "n_topics": "number of topics",
    "n_tables": "number of tables",
    "log_joint": "log joint probability",
    "log_p_tables": "log probability of the tables",
    "log_p_topics": "log probability of the topics",
    "log_p_words": "log probability of the words",
    "log_prior": "log prior of the concentrations",
    "alpha": "concentration of documents, α",
    "gamma": "concentration of topics, γ",
    "eta": "concentration of terms, η",
    "seconds": "seconds per sweep",
}
_MARKS = {"split": ("^", "split"), "merged": ("v", "merge")}

# ---------------------------------------------------------------- traces


@documented
def plot_trace(
    traces: Any,
    column: str = "n_topics",
    *,
    burn_in: int | None = None,
    events: Sequence[Any] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw a column of the trace, one line per chain.

    Up to seven chains have a colour each; more are drawn alike, to show how far they spread.

    Parameters
    ----------
    traces
        A trace, or a list of them, one per chain: `Trace`, DataFrames, or dictionaries of arrays with
        ``"sweep"`` and the column; or a fitted model. Sweeps without a number (NaN) are left out.
    column
        What to draw.
    burn_in
        Shade the sweeps up to this one, which are not kept; by default those of the model.
    events
        For each chain, its events (`Chain.events`): accepted splits and merges are marked on the line, in
        the sweeps that the trace has.
    <ax>

    <figure>

    Examples
    --------
    >>> trace = {"sweep": [0, 1, 2, 3], "n_topics": [1, 4, 5, 5]}
    >>> fig = plot_trace([trace, trace], burn_in=1)
    >>> fig.savefig("trace.pdf")  # doctest: +SKIP
    """
    if is_model(traces):
        started = [chain for chain in traces.chains_ if len(chain.trace)]
        traces = [chain.trace for chain in started]
        burn_in = started[0].schedule.burn_in if burn_in is None else burn_in
    several = list(traces) if isinstance(traces, list | tuple) else [traces]
    check(several, "traces is empty: give at least one trace", "empty-setting")
    chains = [_column_of(trace, column, number) for number, trace in enumerate(several)]
    families = _events_of(events, len(chains))
    ax = axes_or_new(ax, 2.4)
    few = len(chains) <= len(COLOURS)
    handles: list[Any] = []
    for number, (sweeps, values) in enumerate(chains):
        line = Line2D(
            sweeps,
            values,
            color=COLOURS[number] if few else COLOURS[0],
            linewidth=0.9 if few else 0.6,
            alpha=0.9 if few else 0.45,
            marker="o" if sweeps.size == 1 else "",
            markersize=3,
            label=f"chain {number}" if few else f"{len(chains)} chains",
        )
        ax.add_line(line)
        handles.append(line)
    ax.autoscale_view()
    handles = [] if len(chains) == 1 else handles if few else handles[:1]
    handles += _mark_events(ax, chains, families)
    handles += _shade_burn_in(ax, burn_in, min(sweeps[0] for sweeps, _ in chains))
    whole_ticks(ax.xaxis)
    if all(np.all(values == np.round(values)) for _, values in chains):
        whole_ticks(ax.yaxis)
    _write_in_full(ax)
    name = _IN_WORDS.get(column, column.replace(".", ": ").replace("_", " "))
    return finished(ax, "sweep", name, handles)


def _write_in_full(ax: Axes) -> None:
    """Write large numbers with commas: a factor such as 1e6 in the corner is easily overlooked."""
    low, high = ax.get_ylim()
    if max(-low, high) >= 1e5 and high - low >= 10.0:
        ax.yaxis.set_major_formatter("{x:,.0f}")
        ax.locator_params(axis="y", nbins=6)
    else:
        ax.ticklabel_format(axis="y", useOffset=False, style="plain")


def _column_of(trace: Any, column: str, number: int) -> tuple[Floats, Floats]:
    """Return the sweeps and numbers of a chain, without those that are NaN."""
    try:
        sweeps, values = np.asarray(trace["sweep"], float), np.asarray(trace[column], float)
    except KeyError:
        names = ", ".join(map(str, getattr(trace, "columns", trace)))
        message = f"column={column!r}: trace {number} has only {names}"
        raise SettingsError(message, code="unknown-column") from None
    check(
        sweeps.ndim == 1 and sweeps.shape == values.shape,
        f"trace {number} has sweeps of shape {sweeps.shape} and {column} of shape {values.shape}: "
        "give one number per sweep",
        "wrong-shape",
    )
    rise = np.all(np.diff(sweeps) > 0)
    check(rise, f"the sweeps of trace {number} do not increase: give one trace per chain", "not-increasing")
    known = np.isfinite(values)
    check(
        known.any(),
        f"column={column!r}: trace {number} has no number in it; choose another column",
        "empty-column",
    )
    return sweeps[known], values[known]


def _events_of(events: Sequence[Any] | None, n_chains: int) -> list[Sequence[Event]]:
    if events is None:
        return [[]] * n_chains
    is_one = n_chains == 1 and (not events or hasattr(events[0], "kind"))
    families = [events] if is_one else list(events)
    check(
        len(families) == n_chains,
        f"events are those of {len(families)} chains and traces of {n_chains}: give as many of each",
        "wrong-length",
    )
    return families


def _mark_events(
    ax: Axes, chains: Sequence[tuple[Floats, Floats]], families: Sequence[Sequence[Event]]
) -> list[Line2D]:
    """Mark accepted splits and merges on the lines; return what the legend needs."""
    handles = []
    for kind, (marker, name) in _MARKS.items():
        look: dict[str, Any] = {"marker": marker, "linestyle": "", "markersize": 4.5}
        look |= {"markeredgecolor": "white", "markeredgewidth": 0.4}
        found = False
        for number, ((sweeps, values), events) in enumerate(zip(chains, families, strict=True)):
            marked = np.isin(sweeps, [event.sweep for event in events if event.kind == kind])
            if marked.any():
                found = True
                colour = COLOURS[number] if len(chains) <= len(COLOURS) else COLOURS[0]
                ax.plot(sweeps[marked], values[marked], color=colour, zorder=3, **look)
        if found:
            handles.append(Line2D([], [], color=GREY, label=name, **look))
    return handles


def _shade_burn_in(ax: Axes, burn_in: int | None, first: float) -> list[Patch]:
    if burn_in is None or whole_number("burn_in", burn_in, 0) <= first:
        return []
    ax.axvspan(first, burn_in, color=PALE, linewidth=0, zorder=0)
    return [Patch(color=PALE, label="burn-in")]


# ---------------------------------------------------------------- shares of the largest topics


@documented
def plot_topic_mass(
    sizes: Any,
    *,
    chain: int = 0,
    sweeps: npt.ArrayLike | None = None,
    ranks: Sequence[int] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw the share of all words that the largest topic, the two largest, ... have, sweep by sweep.

    The paper's trace of topics (section 4.1): as many lines as topics, and a line for rank r only while there
    are r topics. A split of a large topic shows as a step down.

    Parameters
    ----------
    sizes
        The draws of one chain; or for each sweep the number of words of each topic, in any order; or a
        fitted model.
    chain
        Which chain of the model.
    sweeps
        The sweeps of these; by default those of the draws, or 1, 2, ...
    ranks
        How many largest topics each line takes together; by default 1, 2, 3, ... up to ten topics, and
        1, 2, 3, 4, 5, 10, 20, 50, ... for more.
    <ax>

    <figure>

    Examples
    --------
    >>> fig = plot_topic_mass([[50, 50], [60, 30, 10], [40, 30, 30]])
    """
    if is_model(sizes):
        chains = sizes.chains_
        sizes = chains[whole_number("chain", chain, 0, len(chains) - 1)].draws
        check(sizes, f"chain {chain} has kept no draws yet; run it past its burn-in", "no-draws")
    counts, when = _sizes_of(sizes, sweeps)
    most = max(row.size for row in counts)
    chosen = _series(most) if ranks is None else [whole_number("ranks", r, 1, most) for r in ranks]
    shares = np.full((len(counts), most), np.nan)
    for row, own in zip(shares, counts, strict=True):
        row[: own.size] = np.cumsum(np.sort(own)[::-1]) / own.sum()
    ax = axes_or_new(ax, 2.4)
    shades = colormaps["viridis"](np.linspace(0.0, 0.85, len(chosen)))
    for rank, shade in zip(chosen, shades, strict=True):
        share = shares[:, rank - 1]
        look = {"color": shade, "linewidth": 0.9, "marker": ".", "markersize": 3}
        ax.plot(when, share, markevery=_alone(share), **look)
    ax.set_ylim(0.0, 1.03)
    whole_ticks(ax.xaxis)
    # The lines lie one above another, and so do their names.
    handles = [
        Line2D([], [], color=shade, linewidth=1.2, label=f"{rank}") for rank, shade in zip(chosen, shades)
    ][::-1]
    look = {"frameon": False, "fontsize": small(ax), "title_fontsize": small(ax), "handlelength": 1.2}
    place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    ax.legend(handles=handles, title="largest\ntopics", **place, **look)
    return finished(ax, "sweep", "share of the words")


def _sizes_of(sizes: Any, sweeps: npt.ArrayLike | None) -> tuple[list[Floats], Floats]:
    """Return the words of each topic that has some, and the sweep, for each draw or row."""
    rows = list(sizes)
    check(
        rows,
        "sizes is empty: give the draws of a chain, or the sizes of its topics per sweep",
        "empty-setting",
    )
    if all(hasattr(row, "topic_terms") for row in rows):
        sweeps = [row.sweep for row in rows] if sweeps is None else sweeps
        rows = [row.topic_terms.sum(axis=1) for row in rows]
    counts = [numbers(f"sizes[{i}]", row, 1) for i, row in enumerate(rows)]
    for i, row in enumerate(counts):
        are_sizes = row.min() >= 0 and row.sum() > 0
        check(are_sizes, f"sizes[{i}]: give numbers of words, none below 0 and not all 0", "invalid-weights")
    when = np.arange(1.0, len(rows) + 1) if sweeps is None else numbers("sweeps", sweeps, 1)
    check(
        when.size == len(rows),
        f"sweeps has {when.size} numbers and sizes {len(rows)} rows: give as many of each",
        "wrong-length",
    )
    rise = np.all(np.diff(when) > 0)
    check(rise, "the sweeps do not increase: give the draws of one chain, in order", "not-increasing")
    return [row[row > 0] for row in counts], when


def _alone(share: Floats) -> list[int]:
    """Return the numbers without neighbours, which a line alone would not show."""
    known = np.pad(np.isfinite(share), 1)
    return [int(i) for i in np.flatnonzero(known[1:-1] & ~known[:-2] & ~known[2:])]


def _series(most: int) -> list[int]:
    """Return 1, 2, 3, ... if there are few, else 1, 2, 3, 4, 5, 10, 20, 50, ..."""
    if most <= 10:
        return list(range(1, most + 1))
    tens = [step * 10**power for power in range(1, len(str(most))) for step in (1, 2, 5)]
    return [1, 2, 3, 4, 5, *(rank for rank in tens if rank <= most)]


# ---------------------------------------------------------------- how many topics


@documented
def plot_n_topics(n_topics_draws: Any, *, ax: Axes | None = None) -> Figure:
    """Draw how probable each number of topics is, with the median and the central 95%.

    Parameters
    ----------
    n_topics_draws
        The number of topics in each draw (`Posterior.n_topics_draws`), or a fitted model; of chains that do
        not agree, give those of one.
    <ax>

    <figure>

    Examples
    --------
    >>> fig = plot_n_topics([11, 12, 12, 13, 12, 11])
    """
    if is_model(n_topics_draws):
        n_topics_draws = n_topics_draws.posterior_.n_topics_draws
    draws = numbers("n_topics_draws", n_topics_draws, 1)
    check(
        np.all(draws == np.round(draws)) and draws.min() >= 0,
        "n_topics_draws: give the number of topics in each draw, whole numbers from 0",
        "not-a-whole-number",
    )
    tails = [(1 - LEVEL) / 2, 0.5, (1 + LEVEL) / 2]
    low, median, high = np.quantile(draws, tails, method="inverted_cdf").astype(int)
    values, times = np.unique(draws.astype(int), return_counts=True)
    inside = (values >= low) & (values <= high)
    ax = axes_or_new(ax, 2.2)
    colours = np.where(inside, COLOURS[0], COLOURS[5])
    width = 0.8 if np.ptp(values) <= 60 else 1.0
    ax.bar(values, times / draws.size, width=width, color=colours)
    top = 1.06 * times.max() / draws.size
    look: dict[str, Any] = {"markersize": 3.5, "color": "black", "linewidth": 1.0}
    ax.errorbar(median, top, xerr=[[median - low], [high - median]], fmt="D", capsize=2.5, **look)
    ax.set_ylim(0.0, 1.08 * top)
    beyond = max(1.0 + 0.03 * np.ptp(values), 3.0 - 0.5 * np.ptp(values))  # few bars should not be huge
    ax.set_xlim(values[0] - beyond, values[-1] + beyond)
    whole_ticks(ax.xaxis)
    percent_ticks(ax.yaxis)
    label = f"median {median}, 95% interval {low} to {high}"
    key = Line2D([], [], label=label, marker="D", **look)
    return finished(ax, "number of topics", "share of the draws", [key])
