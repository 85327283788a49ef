"""Do the intervals of `compare_topics` cover? Planted topics, and references made of them, against fits.

    python -m benchmarks.reference_topics                    (20 fits, some minutes on two cores)
    python -m benchmarks.reference_topics --only counts --seeds 1 2 3

Every planted topic phi has five references, (1 - w) phi + w q with q drawn as phi was: w = 0 is the
topic itself, w = 1 has nothing to do with it. A topic of the fit is the planted topic that is its one-to-one
partner at cosine 0.8 or more, with at least 0.5% of the words.

* *cosine*: mean of cos(phi, reference), which the interval is about.
* *covered*: how often the 95% interval contains it.
* *bias*: mean of the estimated cosine minus this one.
* *width*: mean width of the interval.
* *reaches 1*: how often the interval does, so that the documents cannot tell the reference from the topic.

The error of a share of n topics is about sqrt(p (1 - p) / n), if the topics of one fit are as good as
independent.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from benchmarks.defaults import Truth, counts, text
from benchmarks.tables import show
from franchise import HDPTopicModel
from franchise.posterior.reference_tables import from_array
from franchise.posterior.reference_topics import compare_topics

Array = np.ndarray
MIXED = (0.0, 0.05, 0.2, 0.5, 1.0)
LEAST = 0.005  # share of the words


class Case(NamedTuple):
    """A way to draw a corpus, and its planted topics."""

    name: str
    draw: Callable[[int], Truth]
    spread: float  # of the Dirichlet distribution that references are mixed with
    eta: float | str = "auto"


CASES = [
    Case("counts", counts(10, 200, 1_000), 0.15),
    Case("counts, eta 0.15", counts(10, 200, 1_000), 0.15, 0.15),
    Case("counts, noise", counts(10, 200, 2_000, noise=300.0), 0.15),
    Case("text", text(60_000, 2_000, 20), 0.05),
]


def checked(case: Case, seed: int) -> dict[float, list[tuple[float, ...]]]:
    """Fit once; return for each w: the true cosines, the estimates, the intervals, whether these reach 1."""
    truth = case.draw(seed)
    rng = np.random.default_rng([seed, 77])
    model = HDPTopicModel(eta=case.eta, sweeps=200, chains=2, random_state=seed, verbose=0)
    posterior = model.fit(truth.corpus).posterior_
    vocabulary, labels = truth.corpus.vocabulary, [""] * posterior.n_topics
    planted = from_array(truth.topics, vocabulary)
    partners = compare_topics(posterior, labels, planted).as_frame(one_to_one=True)
    found: dict[float, list[tuple[float, ...]]] = defaultdict(list)
    other = rng.dirichlet(np.full(truth.corpus.n_terms, case.spread), len(truth.topics))
    for w in MIXED:
        references = (1.0 - w) * truth.topics + w * other
        compared = compare_topics(posterior, labels, from_array(references, vocabulary))
        exact = np.sum(truth.topics * references, axis=1) / (
            np.linalg.norm(truth.topics, axis=1) * np.linalg.norm(references, axis=1)
        )
        for row in partners[partners["matched"] & (partners["weight"] >= LEAST)].itertuples():
            k, r = row.topic, int(row.reference.split()[1])
            cosine, low, high = (table[k, r] for table in (compared.cosines, compared.low, compared.high))
            found[w].append((exact[r], cosine, low, high, high >= 1.0))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--seeds", nargs="*", type=int, default=list(range(1, 6)))
    options = parser.parse_args()
    rows = []
    for case in CASES:
        if options.only and case.name not in options.only:
            continue
        of_mix: dict[float, list[tuple[float, ...]]] = defaultdict(list)
        for seed in options.seeds:
            for w, some in checked(case, seed).items():
                of_mix[w] += some
        for w, some in of_mix.items():
            exact, cosine, low, high, one = np.array(some).T
            covered = np.mean((low <= exact + 1e-12) & (exact - 1e-12 <= high))
            numbers = [np.mean(cosine - exact), np.mean(high - low)]
            shown = [
                f"{exact.mean():.3f}",
                f"{covered:.1%}",
                *(f"{x:+.4f}" for x in numbers),
                f"{one.mean():.1%}",
            ]
            rows.append([case.name, f"{w:g}", f"{len(some)}", *shown])
    show(
        "Cosines with reference topics",
        ["corpus", "w", "topics", "cosine", "covered", "bias", "width", "reaches 1"],
        rows,
    )


if __name__ == "__main__":
    main()
