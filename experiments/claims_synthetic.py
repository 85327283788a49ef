"""The paper's claims on its synthetic corpus."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from experiments import compare
from experiments.claim import (
    Case,
    Claim,
    better_and_worse,
    case,
    frame,
    rate,
    sign,
    verdict,
)
from experiments.compare import gains, interval, paired
from experiments.tables import TIMINGS, read

_SMALL_COST, _RARE, _NEARLY_ALL = 0.10, 0.05, 0.95
_SOON = 100  # sweeps; the paper's figure ends there
SETTINGS = ["mixed", "twin"]
MEASURES = {
    "mode_log_joint": "best log joint per word (the paper's)",
    "log_p_words": "log p(words given topics) per word",
    "completion": "completion, last state",
    "completion_of_mode": "completion, best mode",
    "all_five": "share of states with all five topics",
    "n_topics": "topics",
}


def check(folder: Path) -> list[Claim]:
    """Return the claims of section 4.1, checked."""
    runs = read(folder, "synthetic_runs")
    own = runs[runs["start"] == "sequential"]
    seconds = read(folder, f"{TIMINGS}/synthetic_seconds")
    return [
        _better_mode(own),
        _easy_three(own),
        _finds_five(own),
        _soon(own),
        _reversals(runs),
        _cost(seconds),
    ]


def comparison(folder: Path) -> pd.DataFrame:
    """Return each method minus Gibbs by several measures."""
    runs = read(folder, "synthetic_runs")
    own = runs[runs["start"] == "sequential"]
    return compare.comparison(own, SETTINGS, MEASURES, "seed")


def _better_mode(runs: pd.DataFrame) -> Claim:
    cases = _gains(runs, "mode_log_joint", "best joint per word, paper's move minus Gibbs")
    return Claim(
        "4.1 better mode",
        "With split-merge the chain explores to a better mode (figure 'synthetic' a).",
        better_and_worse(cases),
        verdict(cases, lambda one: sign(one) > 0),
        frame(cases),
    )


def _easy_three(runs: pd.DataFrame) -> Claim:
    cases = [
        case(
            f"{where}, {method}", "share of states with the three easy topics", interval(group["easy_three"])
        )
        for where, own in _settings(runs)
        for method, group in own.groupby("method", sort=False)
    ]
    return Claim(
        "4.1 easy topics",
        "With and without split-merge the three easy topics are found.",
        f"later states that hold all three: {min(one.mean for one in cases):.0%} to "
        f"{max(one.mean for one in cases):.0%} over settings and methods",
        verdict(cases, lambda one: one.mean > _NEARLY_ALL),
        frame(cases),
    )


def _finds_five(runs: pd.DataFrame) -> Claim:
    cases = _gains(runs, "all_five", "share of states with all five, paper's move minus Gibbs")
    shares = runs.groupby(["mixed", "twin", "method"])["all_five"].mean().unstack()
    words = [
        f"{mixed}% mixed: Gibbs {_percents(own['gibbs'])}, paper's move {_percents(own['paper'])}, "
        f"default {_percents(own['default'])}"
        for mixed, own in shares.groupby("mixed")
    ]
    twins = ", ".join(f"{twin:.2f}" for twin in sorted(runs["twin"].unique()))
    return Claim(
        "4.1 five topics",
        "Gibbs gets trapped with four topics, split-merge finds all five (b, c, d).",
        f"later states with all five topics, for twins {twins}: {'; '.join(words)}",
        verdict(cases, lambda one: sign(one) > 0),
        frame(cases),
    )


def _percents(shares: pd.Series) -> str:
    return ", ".join(f"{share:.0%}" for share in shares)


def _soon(runs: pd.DataFrame) -> Claim:
    measure = f"runs with all five topics by sweep {_SOON}"
    by_method = {
        method: [
            rate(
                f"{where}, {method}",
                measure,
                int(group["first_with_five"].between(1, _SOON).sum()),
                len(group),
            )
            for where, group in _settings(own)
        ]
        for method, own in runs.groupby("method", sort=False)
    }
    words = [
        f"{method} {sum(round(one.mean * one.n) for one in cases)} of {sum(one.n for one in cases)}"
        for method, cases in by_method.items()
    ]
    both = zip(by_method["gibbs"], by_method["paper"], strict=True)
    ahead = [paper.where for gibbs, paper in both if paper.low > gibbs.high]
    return Claim(
        "4.1 several iterations",
        "Split-merge finds the five topics after several iterations (of the 100 drawn), Gibbs does not.",
        f"runs that have held all five topics by sweep {_SOON}: {'; '.join(words)}; clearly more of the "
        f"paper's move than of Gibbs in {len(ahead)} of {len(by_method['paper'])} settings",
        verdict(by_method["paper"], lambda one: one.where in ahead),
        frame([one for cases in by_method.values() for one in cases]),
    )


def _reversals(runs: pd.DataFrame) -> Claim:
    measure = "splits merged again"
    cases, words = {}, []
    for method, all_own in runs[runs["splits"] > 0].groupby("method", sort=False):
        own = [
            rate(f"{where}, {method}", measure, int(group["undone"].sum()), int(group["splits"].sum()))
            for where, group in _settings(all_own)
        ]
        cases[method] = own
        words.append(
            f"{method} {all_own['undone'].sum():,} of {all_own['splits'].sum():,} "
            f"({min(own, key=_mean).mean:.0%} to {max(own, key=_mean).mean:.0%} over the settings)"
        )
    paper = cases.get("paper", [])
    return Claim(
        "4.1 reverse moves",
        "Reverse moves (a split undone by a merge) are not seen.",
        f"accepted splits whose halves were merged again within the run: {'; '.join(words)}; paper's move "
        f"{sum(one.mean < _RARE for one in paper)} of {len(paper)} settings below {_RARE:.0%}",
        verdict(paper, lambda one: one.mean < _RARE),
        frame([one for own in cases.values() for one in own]),
    )


def _mean(one: Case) -> float:
    return one.mean


def _cost(seconds: pd.DataFrame) -> Claim:
    cases, words = [], []
    for method in ("paper", "default"):
        wide = paired(seconds, "seconds", method, ["mixed", "twin", "start", "seed"])
        more = case(
            method,
            "CPU time of a run, of Gibbs' minus 1",
            interval((wide[method] / wide["gibbs"] - 1).to_numpy()),
        )
        cases.append(more)
        words.append(f"{method} {more.mean:+.0%} CPU time [{more.low:+.0%}, {more.high:+.0%}]")
    gibbs = seconds[seconds["method"] == "gibbs"]["seconds"].median()
    return Claim(
        "4.1 cost",
        "The additional expense is negligible.",
        f"{'; '.join(words)}; a run of Gibbs takes {gibbs:.1f} s",
        verdict(cases[:1], lambda one: one.mean < _SMALL_COST),
        frame(cases),
        timed=True,
    )


def _gains(runs: pd.DataFrame, column: str, measure: str) -> list[Case]:
    """Return the gain of the paper's move over Gibbs on each kind of corpus."""
    kinds = list(_settings(runs))
    return [
        case(where, measure, interval(gains(own, column, "paper", "seed"), len(kinds)))
        for where, own in kinds
    ]


def _settings(runs: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the name and the runs of each kind of corpus."""
    for (mixed, twin), own in runs.groupby(["mixed", "twin"]):
        yield f"{mixed}% mixed, twins {twin:.2f}", own
