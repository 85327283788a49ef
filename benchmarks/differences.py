"""Do the intervals of `prevalence_difference` cover planted differences as often as they say?

    python -m benchmarks.differences                  (100 corpora per row: 25 minutes of CPU time)
    python -m benchmarks.differences --corpora 20

Documents of two groups are drawn from planted topics; each group has its own mean shares, around which the
shares of its documents vary. A model is fitted, its topics are matched with the planted ones (cosine of 0.9
or more), and each matched topic counts: is the planted difference inside the 95% interval? Topics of one
corpus are not independent, so the error of the coverage is that between corpora.

* *distinct*: 40 words per document, topics with few terms in common.
* *short*: 12 words per document.
* *alike*: topics are pairs that have half of their terms in common.
* *columns*: within each of three months groups differ by the same amount, and months differ more; one group
  has most of its documents in the first month, the other in the last. *together* is the row of all months;
  *apart* is what comes out if months are ignored.

*bias* is the mean of estimated minus planted difference, in the direction of the planted one, as a share of
the mean planted difference: below 0 where groups look more alike than they are.
"""

import argparse
import time
import warnings
from typing import NamedTuple

import numpy as np

from benchmarks.tables import console, show
from franchise import Corpus, HDPTopicModel

K, TERMS, LEVEL, SAME = 6, 150, 0.95, 0.9
PER_GROUP, MONTHS = 60, 3
_SPREAD = 6.0  # how little documents of a group vary around its mean


class Case(NamedTuple):
    """How documents are drawn."""

    words: int = 40
    overlap: float = 0.0
    months: bool = False


CASES = {
    "distinct": Case(),
    "short": Case(words=12),
    "alike": Case(overlap=0.5),
    "columns": Case(months=True),
}


class Planted(NamedTuple):
    """A corpus with groups, and the differences between them that were planted."""

    corpus: Corpus
    topics: np.ndarray
    difference: np.ndarray


def plant(case: Case, seed: int) -> Planted:
    """Draw documents of two groups, in three months or one."""
    rng = np.random.default_rng([20_26, seed])
    topics = rng.dirichlet(np.full(TERMS, 0.05), K)
    if case.overlap:
        common = np.repeat(rng.dirichlet(np.full(TERMS, 0.05), K // 2), 2, axis=0)
        topics = case.overlap * common + (1 - case.overlap) * topics
    base = rng.dirichlet(np.full(K, 4.0), MONTHS if case.months else 1)
    other = rng.dirichlet(np.full(K, 4.0))
    # Both groups mix their month's shares with shares of their own, so all months have one difference.
    own = np.array([other, rng.permutation(other)])
    counts = np.array([[70, 30, 10], [10, 30, 70]]) if case.months else np.full((2, 1), PER_GROUP)
    group, month = (axis.ravel().repeat(counts.ravel()) for axis in np.indices(counts.shape))
    means = 0.6 * base[month] + 0.4 * own[group]
    theta = np.array([rng.dirichlet(_SPREAD * mean) for mean in means])
    z = [rng.choice(K, case.words, p=one) for one in theta]
    x = [rng.choice(TERMS, p=topics[k]) for one in z for k in one]
    ends = np.arange(0, len(x) + 1, case.words)
    corpus = Corpus(x, ends, [f"t{v}" for v in range(TERMS)])
    corpus = corpus.with_metadata({"party": [f"party {g}" for g in group], "month": month})
    return Planted(corpus, topics, 0.4 * (own[0] - own[1]))


def matched(phi: np.ndarray, topics: np.ndarray) -> dict[int, int]:
    """Return the fitted topic that each planted one is, for those that one is."""
    cosines = (topics / np.linalg.norm(topics, axis=1)[:, None]) @ (
        phi / np.linalg.norm(phi, axis=1)[:, None]
    ).T
    best = cosines.argmax(axis=1)
    is_one = cosines.max(axis=1) >= SAME
    return {k: int(best[k]) for k in range(len(topics)) if is_one[k] and (best[is_one] == best[k]).sum() == 1}


def of_corpus(case: Case, seed: int) -> list[dict[str, float]]:
    """Return what is found of each planted topic of one corpus."""
    made = plant(case, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = HDPTopicModel(
            eta=0.1, sweeps=100, chains=2, init="fitted", n_jobs=1, random_state=seed, verbose=0
        ).fit(made.corpus)
    tables = {"interval": model.prevalence_difference("party", interval=LEVEL)}
    if case.months:
        together = model.prevalence_difference(["party", "month"], interval=LEVEL)
        tables = {"together": together[together["within"] == "(all)"], "apart": tables["interval"]}
    found = []
    for name, table in tables.items():
        rows = table.set_index("topic")
        for planted, topic in matched(model.components_, made.topics).items():
            row, truth = rows.loc[topic], made.difference[planted]
            found.append(
                {
                    "what": name,
                    "corpus": seed,
                    "covers": row["low"] <= truth <= row["high"],
                    "width": row["high"] - row["low"],
                    "towards": np.sign(truth) * (row["difference"] - truth),
                    "truth": abs(truth),
                    "sure": max(row["probability"], 1 - row["probability"]),
                    "right": (row["difference"] > 0) == (truth > 0),
                }
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpora", type=int, default=100)
    parser.add_argument("--cases", nargs="*", default=list(CASES))
    options = parser.parse_args()
    rows = []
    for name in options.cases:
        start, found = time.process_time(), []
        for seed in range(options.corpora):
            found += of_corpus(CASES[name], seed)
        for what in dict.fromkeys(row["what"] for row in found):
            rows.append(
                [name, what, *_summary([row for row in found if row["what"] == what], options.corpora)]
            )
        console.print(f"{name}: {time.process_time() - start:.0f} s of CPU time")
    columns = [
        "documents",
        "row",
        "topics found",
        "covered by 95%",
        "error",
        "width",
        "bias",
        "sign right if P > 0.95",
    ]
    show("How often intervals cover planted differences", columns, rows)


def _summary(found: list[dict[str, float]], corpora: int) -> list[object]:
    covers, truth = (np.array([row[name] for row in found], float) for name in ("covers", "truth"))
    by_corpus = [
        np.mean([row["covers"] for row in found if row["corpus"] == seed])
        for seed in {row["corpus"] for row in found}
    ]
    sure = [row["right"] for row in found if row["sure"] > LEVEL]
    return [
        f"{len(found)} of {K * corpora}",
        f"{covers.mean():.3f}",
        f"{np.std(by_corpus, ddof=1) / np.sqrt(len(by_corpus)):.3f}",
        f"{np.mean([row['width'] for row in found]):.3f}",
        f"{np.mean([row['towards'] for row in found]) / truth.mean():+.2f}",
        f"{np.mean(sure):.3f} of {len(sure)}",
    ]


if __name__ == "__main__":
    main()
