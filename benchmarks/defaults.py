"""Are the default settings right? `HDPTopicModel()` and nothing else, against corpora whose truth is known.

    python -m benchmarks.defaults                          (all that takes minutes: an hour on two cores)
    python -m benchmarks.defaults --only counts-4 text-1e5 --seeds 1 2
    python -m benchmarks.defaults --gpu                    (10^8 and 7 x 10^8 words, on a GPU)

Text-like corpora are draws from the HDP like PubMed's abstracts (`benchmarks.planted_corpora`); count tables
are drawn like mutations of tumours: signatures from Dirichlet(0.15) over 96 terms, mixtures from
Dirichlet(0.5), counts per tumour log-normal. With *noise*, the term distribution p of each tumour is replaced
by a draw from Dirichlet(c p), which no mixture of signatures explains.

Each row is one fit with default settings, beside a fit that starts at the planted topics:

* *large*: reported topics with at least 0.1% of the words; planted topics of that size are *planted*. The fit
  from the truth has *from truth*: small planted topics are lost even if a chain starts at them.
* *matched*: planted topics with a reported topic at cosine 0.9 or more; *missing*: words of the others.
* *doubled*: large topics whose cosine with a larger one is 0.9 or more.
* *log p*, *joint*, *held-out*: nats per word, minus those of the fit from the truth (higher is better).
* *interval*: of the number of topics; *covers*: whether it overlaps that of the fit from the truth.

Seeds from 100 on are held back: tune on others, report these (`--report`).
"""

import argparse
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from benchmarks.completion import of_posterior
from benchmarks.planted_corpora import like_pubmed
from benchmarks.tables import console, show
from franchise import Corpus, HDPTopicModel, Schedule, from_counts

Array = np.ndarray
LARGE, SAME = 0.001, 0.9
HELD_BACK = 100  # the first seed that nothing is tuned on
HELD_OUT = 0.05  # share of the documents, up to a limit
MOST_HELD_OUT = 500


class Truth(NamedTuple):
    """A corpus and what it was drawn from."""

    corpus: Corpus
    test: list[Array]
    topics: Array  # planted topics by terms, of the words of the training documents
    weights: Array  # their shares of the words


class Case(NamedTuple):
    """A way to draw a corpus."""

    name: str
    draw: Callable[[int], Truth]
    needs_gpu: bool = False


def text(n_words: int, n_terms: int, n_topics: int) -> Callable[[int], Truth]:
    """Return what draws a text-like corpus from a seed."""

    def draw(seed: int) -> Truth:
        planted = like_pubmed(n_words, n_terms, n_topics, seed)
        corpus = planted.corpus
        number = min(int(HELD_OUT * corpus.n_documents), MOST_HELD_OUT)
        training = corpus.select(np.arange(corpus.n_documents - number))
        z = planted.z[: training.n_words]
        test = [corpus.document(j) for j in range(training.n_documents, corpus.n_documents)]
        used, weights = np.unique(z, return_counts=True)
        return Truth(training, _enough(test), planted.topics[used], weights / z.size)

    return draw


def counts(
    n_signatures: int, n_tumours: int, mean_counts: float, noise: float | None = None
) -> Callable[[int], Truth]:
    """Return what draws a table of counts from a seed; the smaller `noise`, the more overdispersed."""

    def draw(seed: int) -> Truth:
        rng = np.random.default_rng([seed, n_signatures, n_tumours])
        topics = rng.dirichlet(np.full(96, 0.15), n_signatures)
        theta = rng.dirichlet(np.full(n_signatures, 0.5), n_tumours)
        p = theta @ topics
        if noise is not None:
            p = np.array([rng.dirichlet(noise * row + 1e-6) for row in p])
        sizes = np.rint(rng.lognormal(np.log(mean_counts) - 0.5, 1.0, n_tumours)).astype(int) + 50
        table = np.array([rng.multinomial(size, row) for size, row in zip(sizes, p, strict=True)])
        number = max(10, int(HELD_OUT * n_tumours))
        training = from_counts(table[:-number], vocabulary=[f"term {v}" for v in range(96)])
        test = [np.repeat(np.arange(96), row) for row in table[-number:]]
        weights = sizes[:-number] @ theta[:-number]
        return Truth(training, _enough(test), topics, weights / weights.sum())

    return draw


CASES = [
    Case("text-1e5", text(100_000, 3_000, 20)),
    Case("text-1e6", text(1_000_000, 10_000, 60)),
    Case("text-1e7", text(10_000_000, 30_000, 150)),
    Case("text-1e8", text(100_000_000, 100_000, 300), needs_gpu=True),
    Case("text-7e8", text(700_000_000, 141_000, 500), needs_gpu=True),
    Case("counts-4", counts(4, 300, 7_000)),
    Case("counts-4-noise", counts(4, 300, 7_000, noise=300.0)),
    Case("counts-10", counts(10, 300, 7_000)),
    Case("counts-10-small", counts(10, 100, 500)),
    Case("counts-10-noise", counts(10, 1_000, 2_000, noise=300.0)),
    Case("counts-25", counts(25, 1_000, 2_000)),
    Case("counts-25-large", counts(25, 300, 50_000)),
    Case("counts-50", counts(50, 3_000, 2_000)),
    Case("counts-50-noise", counts(50, 3_000, 2_000, noise=300.0)),
]


def _enough(documents: list[Array]) -> list[Array]:
    return [one for one in documents if one.size > 1]


class Measured(NamedTuple):
    """What one fit gives."""

    model: HDPTopicModel
    log_p: float
    log_joint: float
    held_out: float
    seconds: float


def measure(truth: Truth, **settings: object) -> Measured:
    """Fit a model, and score it."""
    began = time.perf_counter()
    model = HDPTopicModel(verbose=0, **settings).fit(truth.corpus)
    seconds = time.perf_counter() - began
    n_words, half = truth.corpus.n_words, model.chains_[0].sweeps_done // 2
    traces = [chain.trace for chain in model.chains_]
    log_p, joint = (
        float(np.mean([trace[name][half:].mean() for trace in traces])) / n_words
        for name in ("log_p_words", "log_joint")
    )
    return Measured(model, log_p, joint, of_posterior(model.posterior_, truth.test), seconds)


def cosines(one: Array, other: Array) -> Array:
    """Return the cosines of the rows of two tables."""
    unit = [table / np.linalg.norm(table, axis=1, keepdims=True) for table in (one, other)]
    return unit[0] @ unit[1].T


class Found(NamedTuple):
    """How many topics a fit has, and which of the planted ones."""

    large: int
    matched: int
    missing: float
    doubled: int


def compared(truth: Truth | None, phi: Array, weights: Array) -> Found:
    """Compare topics by terms, the largest first, with the planted ones; without a truth, count them."""
    phi = phi[weights >= LARGE * weights.sum()]
    among = np.tril(cosines(phi, phi) >= SAME, -1)
    matched, missing = 0, 0.0
    if truth is not None:
        is_matched = (cosines(truth.topics, phi) >= SAME).any(axis=1)
        matched = int((is_matched & (truth.weights >= LARGE)).sum())
        missing = float(truth.weights[~is_matched].sum())
    return Found(len(phi), matched, missing, int(among.any(axis=1).sum()))


def row(case: Case, seed: int, truth: Truth, found: Measured, reference: Measured) -> list[str]:
    """Compare a fit with the truth."""
    posterior = found.model.posterior_
    topics = compared(truth, posterior.phi, posterior.weights)
    its_weights = reference.model.posterior_.weights
    low, high = found.model.n_topics_interval_
    its_low, its_high = reference.model.n_topics_interval_
    return [
        case.name,
        str(seed),
        f"{int((truth.weights >= LARGE).sum())}",
        f"{int(np.sum(its_weights >= LARGE * its_weights.sum()))}",
        f"{topics.large}",
        f"{topics.matched}",
        f"{topics.missing:.1%}",
        f"{topics.doubled}",
        f"{found.log_p - reference.log_p:+.4f}",
        f"{found.log_joint - reference.log_joint:+.4f}",
        f"{found.held_out - reference.held_out:+.4f}",
        f"{low:.0f} to {high:.0f}",
        "yes" if low <= its_high and its_low <= high else f"no ({its_low:.0f} to {its_high:.0f})",
        f"{found.seconds:.0f}",
    ]


COLUMNS = [
    "corpus",
    "seed",
    "planted",
    "from truth",
    "large",
    "matched",
    "missing",
    "doubled",
    "log p",
    "joint",
    "held-out",
]
COLUMNS += ["interval", "covers", "s"]


def rows(cases: list[Case], seeds: list[int], reference_sweeps: int) -> Iterator[list[str]]:
    """Yield a row for each case and seed."""
    for case in cases:
        for seed in seeds:
            truth = case.draw(seed)
            found = measure(truth, random_state=seed)
            at_truth = {"init": truth.topics, "chains": 2, "sweeps": reference_sweeps}
            at_truth["schedule"] = Schedule(warm_up=0)
            reference = measure(truth, random_state=seed, **at_truth)
            yield row(case, seed, truth, found, reference)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*", choices=[case.name for case in CASES], metavar="NAME")
    parser.add_argument("--seeds", nargs="*", type=int, default=[1])
    parser.add_argument("--report", action="store_true", help="the seeds that nothing was tuned on")
    parser.add_argument("--gpu", action="store_true", help="the corpora that need a GPU too")
    parser.add_argument("--reference-sweeps", type=int, default=200, help="of the fit from the truth")
    options = parser.parse_args()
    seeds = [HELD_BACK + seed for seed in options.seeds] if options.report else options.seeds
    if max(seeds) >= HELD_BACK and not options.report:
        parser.error(f"--seeds: those from {HELD_BACK} on are held back; give --report to use them")
    chosen = [
        case
        for case in CASES
        if (case.name in options.only if options.only else options.gpu or not case.needs_gpu)
    ]
    table = []
    for one in rows(chosen, seeds, options.reference_sweeps):
        table.append(one)
        console.print("  ".join(one))
    show("Default settings against planted truths", COLUMNS, table)


if __name__ == "__main__":
    main()
