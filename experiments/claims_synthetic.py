"""The paper's claims on its synthetic corpus."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.claim import (
    CONFIRMED,
    REFUTED,
    Claim,
    better_and_worse,
    case,
    frame,
    rate,
    sign,
    verdict,
)
from experiments.compare import interval
from experiments.runs import Array
from experiments.tables import TIMINGS, read

_SMALL_COST, _RARE = 0.10, 0.05
MEASURES = {
    "mode_log_joint": "best log joint a word (the paper's)",
    "log_p_words": "log p(words | topics) a word",
    "completion": "completion, last state",
    "completion_of_mode": "completion, best mode",
    "all_five": "share of states with all five topics",
    "n_topics": "topics",
}


def check(folder: Path) -> list[Claim]:
    """Return the claims of section 4.1, checked."""
    runs = read(folder, "synthetic_runs")
    own = runs[runs["start"] == "sequential"]
    return [
        _better_mode(own),
        _finds_five(own),
        _reversals(runs),
        _cost(read(folder, f"{TIMINGS}/synthetic_seconds")),
    ]


def comparison(folder: Path) -> pd.DataFrame:
    """Return each method minus Gibbs by several measures."""
    runs = read(folder, "synthetic_runs")
    own = runs[runs["start"] == "sequential"]
    rows = []
    for (mixed, twin), group in own.groupby(["mixed", "twin"]):
        for method in ("paper", "default"):
            for column, label in MEASURES.items():
                wide = _paired(group, column)
                facts = {"mixed": mixed, "twin": twin, "method": method, "measure": label}
                level = {"gibbs": wide["gibbs"].mean(), "gibbs_spread": wide["gibbs"].std()}
                rows.append(facts | level | interval(_gain(wide, method))._asdict())
    return pd.DataFrame(rows)


def _better_mode(runs: pd.DataFrame) -> Claim:
    measure = "best joint a word, paper's move minus Gibbs"
    cases = [
        case(where, measure, interval(_gain(_paired(own, "mode_log_joint"))))
        for where, own in _settings(runs)
    ]
    return Claim(
        "4.1 better mode",
        "With split-merge the chain explores to a better mode (figure 'synthetic' a).",
        better_and_worse(cases),
        verdict([sign(one) > 0 for one in cases]),
        frame(cases),
    )


def _finds_five(runs: pd.DataFrame) -> Claim:
    cases, words = [], []
    for where, own in _settings(runs):
        wide = _paired(own, "all_five")
        cases.append(
            case(where, "share of states with all five, paper's move minus Gibbs", interval(_gain(wide)))
        )
        words.append(f"{where}: {wide['gibbs'].mean():.0%} and {wide['paper'].mean():.0%}")
    return Claim(
        "4.1 five topics",
        "Gibbs gets trapped with four topics, split-merge finds all five (b, c, d).",
        f"later states with all five topics, Gibbs and the paper's move: {'; '.join(words)}",
        verdict([sign(one) > 0 for one in cases]),
        frame(cases),
    )


def _reversals(runs: pd.DataFrame) -> Claim:
    cases = []
    for where, group in _settings(runs):
        for method in ("paper", "default"):
            own = group[group["method"] == method]
            undone, splits = int(own["undone"].sum()), int(own["splits"].sum())
            cases.append(rate(f"{where}, {method}", "splits merged again", undone, splits))
    tried = [one for one in cases if one.n]
    shares = [f"{one.where}: {round(one.mean * one.n)} of {one.n} ({one.mean:.0%})" for one in tried]
    return Claim(
        "4.1 reverse moves",
        "Reverse moves (a split undone by a merge) are not seen.",
        f"accepted splits whose halves were merged again within the run: {'; '.join(shares)}",
        verdict([one.mean < _RARE for one in tried]),
        frame(cases),
    )


def _cost(seconds: pd.DataFrame) -> Claim:
    cases = []
    for method in ("paper", "default"):
        ratios = _ratios(seconds, method)
        cases.append(case(method, "CPU time of a run, of Gibbs' minus 1", interval(ratios - 1)))
    paper = cases[0]
    return Claim(
        "4.1 cost",
        "The additional expense is negligible.",
        "; ".join(
            f"{one.where}: {one.mean:+.0%} CPU time [{one.low:+.0%}, {one.high:+.0%}]" for one in cases
        ),
        CONFIRMED if paper.mean < _SMALL_COST else REFUTED,
        frame(cases),
        timed=True,
    )


def _ratios(seconds: pd.DataFrame, method: str) -> Array:
    wide = seconds.pivot(
        index=["mixed", "twin", "start", "seed"], columns="method", values="seconds"
    ).dropna()
    return (wide[method] / wide["gibbs"]).to_numpy()


def _settings(runs: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the name and the runs of each kind of corpus."""
    for (mixed, twin), own in runs.groupby(["mixed", "twin"]):
        yield f"{mixed}% mixed, twins {twin:.2f}", own


def _paired(runs: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return the numbers of one kind of corpus, a row a seed, a column a method."""
    return runs.pivot(index="seed", columns="method", values=column).dropna().astype(float)


def _gain(wide: pd.DataFrame, method: str = "paper") -> Array:
    return np.asarray(wide[method] - wide["gibbs"])
