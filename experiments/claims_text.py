"""The paper's claims on text corpora."""

from pathlib import Path

import numpy as np
import pandas as pd

from experiments.claim import (
    CONFIRMED,
    DEPENDS,
    REFUTED,
    Case,
    Claim,
    better_and_worse,
    case,
    frame,
    rate,
    sign,
    verdict,
)
from experiments.compare import at_times, differences, interval
from experiments.corpora import TITLES
from experiments.runs import Array
from experiments.tables import TIMINGS, read
from experiments.text import UNTIL

_KEYS = ["corpus", "eta", "method", "run"]
_BETTER = {("mlir", 0.2), ("mlir", 0.5), ("nips", 0.2)}  # where the paper saw split-merge ahead
_RANKING = ("mlir", "nips", "arxiv")  # from many similar topics to few, in the paper
_ABOUT_3 = (0.02, 0.04)
_SMALL_COST, _RARE = 0.10, 0.05
MEASURES = {
    "mode_log_joint": "best log joint a word (the paper's)",
    "log_p_words": "log p(words | topics) a word",
    "paper_held_out": "the paper's held-out number, best mode",
    "completion": "completion, last state",
    "completion_of_mode": "completion, best mode",
    "n_topics": "topics",
    "n_tables": "tables",
    "alpha": "alpha",
}


def check(folder: Path) -> list[Claim]:
    """Return the claims of section 4.2, checked."""
    runs, curves, held_out = (read(folder, f"text_{name}") for name in ("runs", "curves", "held_out"))
    seconds = read(folder, f"{TIMINGS}/text_seconds")
    training = _gains_over_time(curves, seconds, "best_joint")
    return [
        _never_worse(training, "training", "best joint a word"),
        _faster_where_similar(training),
        _never_worse(
            _gains_over_time(held_out, seconds, "paper_held_out"), "held-out", "the paper's held-out number"
        ),
        _never_worse(_gains_over_time(held_out, seconds, "completion"), "completion", "document completion"),
        _same_at_the_end(runs),
        _accepted(runs),
        _reversals(runs),
        _similarity(runs),
        _more_topics(runs),
        _cost(seconds),
    ]


def comparison(folder: Path) -> pd.DataFrame:
    """Return each method minus Gibbs after the last sweep by several measures."""
    runs = read(folder, "text_runs")
    rows = []
    for (corpus, eta), own in runs.groupby(["corpus", "eta"], sort=False):
        for method in ("paper", "default"):
            for column, label in MEASURES.items():
                wide = own.pivot(index="run", columns="method", values=column).dropna().astype(float)
                gain = interval((wide[method] - wide["gibbs"]).to_numpy())
                level = {"gibbs": wide["gibbs"].mean(), "gibbs_spread": wide["gibbs"].std()}
                rows.append(
                    {"corpus": corpus, "eta": eta, "method": method, "measure": label}
                    | level
                    | gain._asdict()
                )
    return pd.DataFrame(rows)


Gains = dict[tuple[str, float], Array]


def _gains_over_time(table: pd.DataFrame, seconds: pd.DataFrame, column: str) -> Gains:
    """Return, for each setting, every run's gain over Gibbs at equal CPU times, averaged over log time."""
    timed = table.merge(seconds, on=[*_KEYS, "sweep"])
    return {
        setting: differences(at_times(own, column), "paper", column, "time").mean(axis=1).to_numpy()
        for setting, own in timed.groupby(["corpus", "eta"], sort=False)
    }


def _never_worse(gains: Gains, name: str, measure: str) -> Claim:
    cases = [
        case(_where(*setting), f"{measure}, paper's move minus Gibbs", interval(gain))
        for setting, gain in gains.items()
    ]
    return Claim(
        f"4.2 at least as good, {name}",
        f"Gibbs + split-merge is at least as good as Gibbs everywhere ({measure}, over CPU time).",
        better_and_worse(cases),
        verdict([sign(one) >= 0 for one in cases]),
        frame(cases),
        timed=True,
    )


def _faster_where_similar(gains: Gains) -> Claim:
    cases = {
        setting: case(_where(*setting), "best joint a word, minus Gibbs", interval(gain))
        for setting, gain in gains.items()
    }
    promised = [one for setting, one in cases.items() if setting in _BETTER]
    others = [one for setting, one in cases.items() if setting not in _BETTER]
    ahead, also = (sum(sign(one) > 0 for one in some) for some in (promised, others))
    if not promised:
        told, result = "ML+IR and NIPS were not run", DEPENDS
    else:
        told = (
            f"ahead in {ahead} of the {len(promised)} settings named, in {also} of the {len(others)} others"
        )
        as_told = ahead == len(promised) and also == 0
        result = CONFIRMED if as_told else DEPENDS if ahead else REFUTED
    return Claim(
        "4.2 faster where topics are similar",
        "Better modes faster on ML+IR at eta 0.2 and 0.5 and on NIPS at 0.2; no difference elsewhere.",
        told,
        result,
        frame(list(cases.values())),
        timed=True,
    )


def _same_at_the_end(runs: pd.DataFrame) -> Claim:
    cases, small = [], []
    for setting, own in runs.groupby(["corpus", "eta"], sort=False):
        wide = own.pivot(index="run", columns="method", values="mode_log_joint").dropna()
        gain = interval((wide["paper"] - wide["gibbs"]).to_numpy())
        cases.append(case(_where(*setting), "best joint a word after the last sweep, minus Gibbs", gain))
        small.append(abs(gain.mean) < wide["gibbs"].std())
    largest = max(cases, key=lambda one: abs(one.mean))
    return Claim(
        "4.2 same at the end",
        "Towards the end of the runs the two are not too different.",
        f"largest mean difference {largest.mean:+.4f} nats a word ({largest.where}); smaller than the spread "
        f"of Gibbs runs in {sum(small)} of {len(small)} settings",
        verdict(small),
        frame(cases),
    )


def _accepted(runs: pd.DataFrame) -> Claim:
    def tried(own: pd.DataFrame, where: str) -> Case:
        sums = own[["splits", "merges", "splits_tried", "merges_tried"]].sum()
        yes, all_tried = sums["splits"] + sums["merges"], sums["splits_tried"] + sums["merges_tried"]
        return rate(where, "trials accepted", int(yes), int(all_tried))

    by_method = [tried(runs[runs["method"] == method], method) for method in ("paper", "default")]
    paper = runs[runs["method"] == "paper"]
    cells = [tried(own, _where(*setting)) for setting, own in paper.groupby(["corpus", "eta"], sort=False)]
    sums = paper[["splits", "merges", "splits_tried", "merges_tried"]].sum().astype(int)
    near = [_ABOUT_3[0] <= one.mean <= _ABOUT_3[1] for one in (by_method[0], *cells)]
    return Claim(
        "4.2 acceptance",
        "On average about 3% of the trials are accepted.",
        f"paper's move {by_method[0].mean:.1%} ({sums['splits']} of {sums['splits_tried']:,} splits, "
        f"{sums['merges']} of {sums['merges_tried']:,} merges), from {min(one.mean for one in cells):.1%} to "
        f"{max(one.mean for one in cells):.1%} over the settings; default {by_method[1].mean:.1%}",
        CONFIRMED if near[0] else DEPENDS if any(near) else REFUTED,
        frame([*by_method, *cells]),
    )


def _reversals(runs: pd.DataFrame) -> Claim:
    cases = []
    for method in ("paper", "default"):
        own = runs[runs["method"] == method]
        cases.append(rate(method, "splits merged again", int(own["undone"].sum()), int(own["splits"].sum())))
        cases.append(
            rate(method, "merges split again", int(own["split_again"].sum()), int(own["merges"].sum()))
        )
    undone = cases[::2]
    again = cases[1::2]
    return Claim(
        "4.2 reverse moves",
        "It is difficult for split-merge to make reverse moves.",
        "; ".join(
            f"{one.where}: {round(one.mean * one.n) if one.n else 0} of {one.n:,} splits merged again, "
            f"{round(two.mean * two.n) if two.n else 0} of {two.n:,} merged topics split again in some way"
            for one, two in zip(undone, again, strict=True)
        ),
        verdict([one.mean < _RARE for one in undone if one.n]),
        frame(cases),
    )


def _similarity(runs: pd.DataFrame) -> Claim:
    own = runs[(runs["eta"] == 0.5) & (runs["method"] == "gibbs")]
    shares = {
        name: (100 * group["similar_pairs"] / group["pairs"]).to_numpy()
        for name, group in own.groupby("corpus")
    }
    cases = [
        case(TITLES.get(name, name), "percent of topic pairs with cosine over 0.5", interval(x))
        for name, x in shares.items()
    ]
    told = ", ".join(f"{one.where} {one.mean:.2f}% [{one.low:.2f}, {one.high:.2f}]" for one in cases)
    ranked = [shares[name].mean() for name in _RANKING if name in shares]
    complete = len(ranked) == len(_RANKING)
    right = ranked == sorted(ranked, reverse=True)
    return Claim(
        "4.2 similar topics",
        "Similar topics: ML+IR has more than NIPS, NIPS more than ARXIV (eta 0.5).",
        f"pairs with cosine over 0.5: {told}",
        (CONFIRMED if right else REFUTED) if complete else DEPENDS,
        frame(cases),
    )


def _more_topics(runs: pd.DataFrame) -> Claim:
    own = runs[runs["method"] == "gibbs"]
    cases, falls, told = [], [], []
    for corpus, group in own.groupby("corpus", sort=False):
        means = group.groupby("eta")["n_topics"]
        cases += [case(_where(corpus, eta), "topics", interval(x.to_numpy())) for eta, x in means]
        levels = means.mean().to_numpy()
        falls.append(bool(np.all(np.diff(levels) < 0)))
        told.append(f"{TITLES.get(corpus, corpus)} {', '.join(f'{x:.0f}' for x in levels)}")
    return Claim(
        "4.2 eta and topics",
        "A smaller eta leads to more topics.",
        f"mean number of topics of Gibbs at eta 0.1, 0.2, 0.5: {'; '.join(told)}",
        verdict(falls),
        frame(cases),
    )


def _cost(seconds: pd.DataFrame) -> Claim:
    last = int(seconds["sweep"].max())
    cases = []
    for method, sweep in (("paper", UNTIL), ("paper", last), ("default", last)):
        table = seconds[seconds["sweep"] == sweep]
        wide = table.pivot(index=["corpus", "eta", "run"], columns="method", values="seconds").dropna()
        ratios = (wide[method] / wide["gibbs"] - 1).to_numpy()
        cases.append(case(f"{method}, {sweep} sweeps", "CPU time, of Gibbs' minus 1", interval(ratios)))
    return Claim(
        "4.2 cost",
        "The extra cost of split-merge is small.",
        "; ".join(
            f"{one.where}: {one.mean:+.0%} CPU time [{one.low:+.0%}, {one.high:+.0%}]" for one in cases
        ),
        CONFIRMED if cases[0].mean < _SMALL_COST else REFUTED,
        frame(cases),
        timed=True,
    )


def _where(corpus: str, eta: float) -> str:
    return f"{TITLES.get(corpus, corpus)} {eta:g}"
