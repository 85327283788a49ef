"""The paper's claims on text corpora."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from experiments import compare
from experiments.claim import (
    CONFIRMED,
    DEPENDS,
    ENOUGH,
    REFUTED,
    UNDECIDED,
    Case,
    Claim,
    better_and_worse,
    case,
    frame,
    rarity,
    rate,
    sign,
    verdict,
)
from experiments.compare import gains, gains_over_time, interval, paired, with_seconds
from experiments.corpora import TITLES
from experiments.tables import TIMINGS, read
from experiments.text import UNTIL

_BETTER = {("mlir", 0.2), ("mlir", 0.5), ("nips", 0.2)}  # where the paper saw split-merge ahead
_RANKING = ("mlir", "nips", "arxiv")  # from many similar topics to few, in the paper
_ABOUT_3 = (0.02, 0.04)
_SMALL_COST, _RARE = 0.10, 0.05
_LEAST = 0.01  # nats per word, 1% of perplexity: at equal CPU times, less is the noise of the clock
SETTINGS = ["corpus", "eta"]
MEASURES = {
    "mode_log_joint": "best log joint per word (the paper's)",
    "log_p_words": "log p(words given topics) per word",
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
    training, held_out = (with_seconds(table, seconds) for table in (curves, held_out))
    return [
        _never_worse(training, "best_joint", "training", "best joint per word"),
        _faster_where_similar(training),
        _never_worse(held_out, "paper_held_out", "held-out", "the paper's held-out number"),
        _never_worse(held_out, "completion", "completion", "document completion"),
        _same_at_the_end(runs),
        _accepted(runs),
        _reversals(runs),
        _similarity(runs),
        _more_topics(runs),
        _more_tables(runs),
        _cost(seconds),
    ]


def comparison(folder: Path) -> pd.DataFrame:
    """Return each method minus Gibbs after the last sweep by several measures."""
    return compare.comparison(read(folder, "text_runs"), SETTINGS, MEASURES, "run")


Gains = dict[tuple[str, float], Case]


def _gains(table: pd.DataFrame, column: str, along: str) -> Gains:
    """Return, for each setting, the gain of the paper's move, averaged over log time (or log sweeps)."""
    settings = list(table.assign(seconds=table[along]).groupby(["corpus", "eta"], sort=False))
    measure = f"{column}, paper's move minus Gibbs, mean over log {along}"
    return {
        setting: case(
            _where(*setting),
            measure,
            interval(gains_over_time(own, column, "paper").mean(axis=1).to_numpy(), len(settings)),
        )
        for setting, own in settings
    }


def _never_worse(table: pd.DataFrame, column: str, name: str, measure: str) -> Claim:
    after, at = (list(_gains(table, column, along).values()) for along in ("sweep", "seconds"))
    worse = {one.where for one in after if sign(one) < 0} | {one.where for one in at if sign(one, _LEAST) < 0}
    return Claim(
        f"4.2 at least as good, {name}",
        f"Gibbs + split-merge is at least as good as Gibbs everywhere ({measure}).",
        f"after equal sweeps, {better_and_worse(after)}, mean gains {_range(after)} nats per word; at equal "
        f"CPU times, counting from {_LEAST:g} on, {better_and_worse(at, _LEAST)}, mean gains {_range(at)}",
        verdict(after, lambda one: one.where not in worse),
        frame([*after, *at]),
        timed=True,
    )


def _range(cases: list[Case]) -> str:
    means = [one.mean for one in cases]
    return f"{min(means):+.3f} to {max(means):+.3f}"


def _faster_where_similar(table: pd.DataFrame) -> Claim:
    gain = _gains(table, "best_joint", "seconds")
    promised = [one for setting, one in gain.items() if setting in _BETTER]
    others = [one for setting, one in gain.items() if setting not in _BETTER]
    ahead, also = (sum(sign(one, _LEAST) > 0 for one in some) for some in (promised, others))
    told = (
        f"at equal CPU times, ahead by {_LEAST:g} nats per word or more in {ahead} of the {len(promised)} "
        f"settings named, in {also} of the {len(others)} others"
    )
    result = verdict(promised, lambda one: sign(one, _LEAST) > 0)
    return Claim(
        "4.2 faster where topics are similar",
        "Better modes faster on ML+IR at eta 0.2 and 0.5 and on NIPS at 0.2; no difference elsewhere.",
        told if promised else "ML+IR and NIPS were not run",
        DEPENDS if result == CONFIRMED and also else result,
        frame(list(gain.values())),
        timed=True,
    )


def _same_at_the_end(runs: pd.DataFrame) -> Claim:
    cases, spreads, same = [], {}, 0
    settings = list(runs.groupby(["corpus", "eta"], sort=False))
    for setting, own in settings:
        gain = gains(own, "mode_log_joint", "paper")
        measure = "best joint per word after the last sweep, paper's move minus Gibbs"
        cases.append(case(_where(*setting), measure, interval(gain, len(settings))))
        spreads[_where(*setting)] = paired(own, "mode_log_joint", "paper")["gibbs"].std()
        same += int((gain == 0).sum())
    largest = max(cases, key=lambda one: abs(one.mean))
    return Claim(
        "4.2 same at the end",
        "Towards the end of the runs the two are not too different.",
        f"largest mean difference {largest.mean:+.4f} nats per word ({largest.where}), where Gibbs runs "
        f"spread by {spreads[largest.where]:.4f}; {same} of {sum(one.n for one in cases)} pairs of runs are "
        "the same to the last bit, no trial having been accepted",
        verdict(cases, lambda one: abs(one.mean) < spreads[one.where]),
        frame(cases),
    )


def _accepted(runs: pd.DataFrame) -> Claim:
    def accepted(own: pd.DataFrame, where: str) -> Case:
        sums = own[["splits", "merges", "splits_tried", "merges_tried"]].sum().astype(int)
        tried = sums["splits_tried"] + sums["merges_tried"]
        return rate(where, "trials accepted", int(sums["splits"] + sums["merges"]), int(tried))

    by_method = [accepted(runs[runs["method"] == method], method) for method in ("paper", "default")]
    paper = runs[runs["method"] == "paper"]
    cells = [accepted(own, _where(*setting)) for setting, own in paper.groupby(["corpus", "eta"], sort=False)]
    sums = paper[["splits", "merges", "splits_tried", "merges_tried"]].sum().astype(int)
    low, high = min(one.mean for one in cells), max(one.mean for one in cells)
    near = [_ABOUT_3[0] <= one.mean <= _ABOUT_3[1] for one in (by_method[0], *cells)]
    return Claim(
        "4.2 acceptance",
        "On average about 3% of the trials are accepted.",
        f"paper's move {by_method[0].mean:.1%} ({sums['splits']} of {sums['splits_tried']:,} splits, "
        f"{sums['merges']} of {sums['merges_tried']:,} merges), from {low:.1%} to {high:.1%} over the "
        f"settings; default {by_method[1].mean:.1%}",
        CONFIRMED if near[0] else DEPENDS if any(near) else REFUTED,
        frame([*by_method, *cells]),
    )


def _reversals(runs: pd.DataFrame) -> Claim:
    cases, words = [], []
    for method in ("paper", "default"):
        sums = runs[runs["method"] == method][["undone", "splits", "split_again", "merges"]].sum().astype(int)
        cases.append(rate(method, "splits merged again", sums["undone"], sums["splits"]))
        cases.append(rate(method, "merges split again", sums["split_again"], sums["merges"]))
        words.append(
            f"{method}: {sums['undone']} of {sums['splits']:,} splits merged again, "
            f"{sums['split_again']:,} of {sums['merges']:,} merged topics split again in some way"
        )
    undone, splits = (int(runs[column].sum()) for column in ("undone", "splits"))
    both = rate("both", "splits merged again", undone, splits)
    return Claim(
        "4.2 reverse moves",
        "It is difficult for split-merge to make reverse moves.",
        "; ".join(words),
        rarity(both, _RARE),
        frame([*cases, both]),
    )


def _similarity(runs: pd.DataFrame) -> Claim:
    own = runs[(runs["eta"] == 0.5) & (runs["method"] == "gibbs")]
    shares = {
        name: interval((100 * group["similar_pairs"] / group["pairs"]).to_numpy())
        for name, group in own.groupby("corpus", sort=False)
    }
    measure = "percent of topic pairs with cosine over 0.5"
    told = ", ".join(
        f"{TITLES.get(name, name)} {one.mean:.2f}% [{one.low:.2f}, {one.high:.2f}]"
        for name, one in shares.items()
    )
    medians = ", ".join(
        f"{TITLES.get(name, name)} {value:.3f}"
        for name, value in own.groupby("corpus", sort=False)["median_similarity"].mean().items()
    )
    ranked = [shares[name] for name in _RANKING if name in shares]
    pairs = list(pairwise(ranked))
    if len(ranked) < len(_RANKING) or min(one.n for one in ranked) < ENOUGH:
        result = UNDECIDED
    elif any(more.mean <= less.mean for more, less in pairs):
        result = REFUTED
    else:
        result = CONFIRMED if all(more.low > less.high for more, less in pairs) else UNDECIDED
    return Claim(
        "4.2 similar topics",
        "Similar topics: ML+IR has more than NIPS, NIPS more than ARXIV (eta 0.5).",
        f"pairs with cosine over 0.5: {told}; median cosine: {medians}",
        result,
        frame([case(TITLES.get(name, name), measure, one) for name, one in shares.items()]),
    )


def _more_topics(runs: pd.DataFrame) -> Claim:
    own = runs[runs["method"] == "gibbs"]
    return _trend(
        own.assign(number=own["n_topics"]),
        "4.2 eta and topics",
        "A smaller eta leads to more topics.",
        "topics",
        rises=False,
    )


def _more_tables(runs: pd.DataFrame) -> Claim:
    own = runs[runs["method"] == "gibbs"]
    return _trend(
        own.assign(number=own["n_tables"] / own["n_topics"]),
        "4.2 eta and tables",
        "At a larger eta each topic has more tables, so that two informative ones are picked more easily.",
        "tables per topic",
        rises=True,
    )


def _trend(runs: pd.DataFrame, name: str, says: str, measure: str, *, rises: bool) -> Claim:
    """Check that the column `number` rises, or falls, from each eta to the next."""
    cases, steps, words = [], [], []
    for corpus, group in runs.groupby("corpus", sort=False):
        levels = [interval(own["number"]) for _, own in group.groupby("eta")]
        cases += [
            case(_where(corpus, eta), measure, one) for eta, one in zip(sorted(group["eta"].unique()), levels)
        ]
        change = np.diff([one.mean for one in levels])
        steps.append(bool(np.all(change > 0 if rises else change < 0)))
        words.append(f"{TITLES.get(corpus, corpus)} {', '.join(f'{one.mean:,.0f}' for one in levels)}")
    return Claim(
        name,
        says,
        f"mean {measure} of Gibbs at eta 0.1, 0.2, 0.5: {'; '.join(words)}",
        CONFIRMED if all(steps) else DEPENDS if any(steps) else REFUTED,
        frame(cases),
    )


def _cost(seconds: pd.DataFrame) -> Claim:
    last = int(seconds["sweep"].max())
    cases = []
    for method, sweep in (("paper", UNTIL), ("paper", last), ("default", last)):
        wide = paired(seconds[seconds["sweep"] == sweep], "seconds", method, ["corpus", "eta", "run"])
        more = (wide[method] / wide["gibbs"] - 1).to_numpy()
        cases.append(case(f"{method}, {sweep} sweeps", "CPU time, of Gibbs' minus 1", interval(more)))
    return Claim(
        "4.2 cost",
        "The extra cost is small (expected in section 4.1, checked here on text).",
        "; ".join(
            f"{one.where}: {one.mean:+.0%} CPU time [{one.low:+.0%}, {one.high:+.0%}]" for one in cases
        ),
        verdict(cases[:1], lambda one: one.mean < _SMALL_COST),
        frame(cases),
        timed=True,
    )


def _where(corpus: str, eta: float) -> str:
    return f"{TITLES.get(corpus, corpus)} {eta:g}"
