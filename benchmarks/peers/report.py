"""The tables of the comparison: scores against CPU seconds, and ratios to this library."""

from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.agreement import matched
from benchmarks.peers.registry import OURS
from benchmarks.peers.runs import Run
from benchmarks.refits import WAYS
from benchmarks.replicability import Fit
from benchmarks.tables import console, show

MEGA = 1e6


def show_all(found: dict[str, Any]) -> None:
    """Print a pair of tables for each corpus, and what peers cost before they do any work."""
    runs = [Run(**run) for run in found["runs"]]
    for corpus, about in found["corpora"].items():
        by_peer: dict[str, list[Run]] = {}
        for run in runs:
            if run.corpus == corpus:
                by_peer.setdefault(run.peer, []).append(run)
        for name, own in list(by_peer.items()):
            problems = {run.problem for run in own if run.problem}
            if problems:
                console.print(f"{corpus}: {name} failed: {'; '.join(sorted(problems))}")
                by_peer[name] = [run for run in own if not run.problem]
        by_peer = {name: own for name, own in by_peer.items() if own}
        if by_peer:
            _show_scores(corpus, about, by_peer, about.get("moments", found["options"]["moments"]))
            _show_ratios(corpus, by_peer, found["replicated"].get(corpus, {}))
    _show_startup(found["startup"])


def replicated(fits: dict[str, list[Fit]]) -> dict[str, float | None]:
    """Return the share of words whose topic has a match in a second fit, for each way the mean over pairs."""
    of_seeds = fits.get("seed", [])
    pairs = {way: [(first, other) for first in of_seeds[:1] for other in fits.get(way, [])] for way in WAYS}
    pairs["seed"] = list(combinations(of_seeds, 2))
    return {
        way: float(np.mean([matched(*pair)[0] for pair in own])) if own else None
        for way, own in pairs.items()
    }


def mean_score(runs: list[Run], moment: float) -> float | None:
    """Return the mean over seeds, None if a run has nothing yet."""
    scores = [run.score_at(moment) for run in runs]
    return None if None in scores else float(np.mean(scores))


def seconds_to(runs: list[Run], level: float) -> float | None:
    """Return when runs are as good, to stay: the mean of the seeds in CPU seconds, None if one never is."""
    first = []
    for run in runs:
        below = [place for place, score in enumerate(run.scores) if score < level]
        place = below[-1] + 1 if below else 0
        if place == len(run.scores):
            return None
        first.append(run.seconds[place])
    return float(np.mean(first))


def final(runs: list[Run]) -> float:
    """Return the last score, mean over seeds."""
    return float(np.mean([run.scores[-1] for run in runs]))


def _show_scores(
    corpus: str, about: dict[str, Any], by_peer: dict[str, list[Run]], moments: list[float]
) -> None:
    ours = by_peer.get(OURS)
    rows = []
    for name, runs in by_peer.items():
        scores = [mean_score(runs, moment) for moment in moments]
        last = [run.scores[-1] for run in runs]
        rows.append(
            [name]
            + ["-" if score is None else f"{score:.3f}" for score in scores]
            + [f"{max(last) - min(last):.3f}", f"{final(runs) - final(ours):+.3f}" if ours else "-"]
        )
    truth = "" if about["truth"] is None else f", of the planted topics {about['truth']:.3f}"
    show(
        f"{corpus}: {about['words']:,} training words, {about['terms']:,} terms. Held-out score in nats per "
        f"word after CPU seconds, mean of the seeds; without topics {about['floor']:.3f}{truth}",
        ["peer", *(f"{moment:g} s" for moment in moments), "seeds apart", f"end, beside {OURS}"],
        rows,
    )


def _show_ratios(
    corpus: str, by_peer: dict[str, list[Run]], shares: dict[str, dict[str, float | None]]
) -> None:
    ours = by_peer.get(OURS)
    rows = []
    for name, runs in by_peer.items():
        speed, peak = (_mean(runs, what) for what in ("words_per_second", "peak_bytes"))
        row = [name, f"{_mean(runs, 'topics'):.0f}", f"{_mean(runs, 'effective_topics'):.0f}"]
        row += [f"{speed / MEGA:.2f}", _ratio(speed, ours, "words_per_second")]
        row += [f"{peak / MEGA:.0f}", _ratio(peak, ours, "peak_bytes")]
        again = [shares.get(name, {}).get(way) for way in WAYS]
        row += ["-" if share is None else f"{share:.0%}" for share in again]
        row += _sooner(runs, ours)
        rows.append(row)
    columns = ["peer", "topics", "effective", "M words/s", f"x {OURS}", "peak MB", f"x {OURS}", *WAYS]
    columns += [f"s until {OURS} is as good", "times sooner"]
    show(f"{corpus}: at the end, and ratios to {OURS}", columns, rows)


def _sooner(runs: list[Run], ours: list[Run] | None) -> list[str]:
    """Say when we are as good as a peer is at its end, and how many times sooner than the peer itself is."""
    if ours is None or runs is ours:
        return ["-", "-"]
    level = final(runs)
    needed = seconds_to(ours, level)
    if needed is None:
        return ["never", "-"]
    # Not the end of its budget: it may have been as good long before.
    itself = np.mean([seconds_to([run], min(level, run.scores[-1]) - 0.005) for run in runs])
    return [f"{needed:.1f}", f"{itself / needed:.1f}"]


def _mean(runs: list[Run], what: str) -> float:
    return float(np.mean([getattr(run, what) for run in runs]))


def _ratio(value: float, ours: list[Run] | None, what: str) -> str:
    return "-" if ours is None else f"{value / _mean(ours, what):.2f}"


def _show_startup(startup: list[dict[str, Any]]) -> None:
    if not startup:
        return
    rows = [
        [
            one["peer"],
            one["version"],
            f"{one['import_seconds']:.2f}",
            f"{one['until_first_seconds']:.2f}",
            "-" if one["first_ever_seconds"] is None else f"{one['first_ever_seconds']:.1f}",
            f"{one['peak_bytes'] / MEGA:.0f}",
        ]
        for one in startup
    ]
    columns = ["peer", "version", "import", "a tiny fit", "the first one ever (compiles)", "MB then"]
    alone = startup[0]["alone_bytes"] / MEGA
    show(f"Before any work: CPU seconds, and memory (Python with NumPy: {alone:.0f} MB)", columns, rows)
