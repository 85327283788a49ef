"""Are topics of different chains matched rightly? `posterior.align` against corpora whose truth is known.

    python -m benchmarks.matching                          (planted corpora: 10 minutes on two cores)
    python -m benchmarks.matching --data FOLDER            (also abstracts, Reuters and Cora)
    python -m benchmarks.matching --fits FOLDER            (chains are kept there, and made once)

Four chains from starts that are far apart run 200 sweeps, half of them burn-in; 20 draws of each are kept.
They are matched all together, and two and two.

A topic of a draw *is* a planted topic if more than half of its words are from that one, and it has more than
half of that one's words: at most one topic of a draw is. In tables of counts, where words have no planted
topic, it is the one with the highest cosine, if that is 0.9 or more and no other topic of the draw is.

* *K*: topics listed. *planted*: planted topics that two chains or more have in a tenth of their draws.
* *split*: clusters, of those listed, that mostly are a planted topic which a larger cluster is already.
* *together*: of two draws that have a planted topic, how often both are in one cluster; mean over topics.
* *mixed*: clusters, of those listed, a tenth of whose known topics are another planted topic than the rest.
* *copies*: listed pairs that look the same (cosine 0.8 of their means, or 7 of 10 leading terms) but are
  together in at most 5% of the draws that have either.
* *torn*: listed clusters whose means in two of their chains have a cosine below 0.5.
* *in all*: share of the words in listed topics that all chains have.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import joblib
import numpy as np

from benchmarks.cases import zipf_planted
from benchmarks.defaults import cosines, counts
from benchmarks.planted_corpora import like_pubmed
from benchmarks.tables import console, show
from franchise import Chain, Corpus, Priors, SplitMerge, from_texts, read_ldac
from franchise.corpus.synthetic import Planted, planted
from franchise.datasets import arxiv_abstracts
from franchise.model import word_topics
from franchise.posterior.estimates import Posterior
from franchise.sampling import Draw, Timetable

Array = np.ndarray
STARTS = ("one", "sequential", 50, 200)
SWEEPS, DRAWS = 200, 20
UNKNOWN = -1
SAME, ALIKE, UNLIKE = 0.9, 0.8, 0.5  # cosines: a planted topic, a copy, different topics
LEADING, IN_COMMON = 10, 7
RARELY, SOMETIMES = 0.05, 0.1


class Truth(NamedTuple):
    """A corpus and what it was drawn from, as far as that is known."""

    corpus: Corpus
    z: Array | None = None  # planted topic of each word
    topics: Array | None = None  # planted topics by terms


class Fit(NamedTuple):
    """Draws of several chains."""

    corpus: Corpus
    draws: list[list[Draw]]
    known: list[list[Array]] | None  # for each draw, the planted topic of each of its topics, -1 for none


class Case(NamedTuple):
    """A corpus to fit."""

    name: str
    truth: Callable[[], Truth]
    eta: float = 0.1


def of_words(drawn: Planted) -> Truth:
    """Return a truth in which every word has its topic."""
    return Truth(drawn.corpus, np.unique(drawn.z, return_inverse=True)[1])


def even(n_topics: int, n_documents: int, length: int, seed: int) -> Truth:
    """Draw topics without a common part."""
    sizes = {"n_topics": n_topics, "n_terms": 2_000, "n_documents": n_documents, "document_length": length}
    return of_words(planted(**sizes, seed=seed, topic_concentration=0.05, document_concentration=0.5))


def table(n_signatures: int, n_tumours: int, mean_counts: float, seed: int) -> Truth:
    """Draw a table of counts."""
    drawn = counts(n_signatures, n_tumours, mean_counts)(seed)
    return Truth(drawn.corpus, topics=drawn.topics)


def cases(data: Path | None) -> Iterator[Case]:
    """Yield the corpora."""
    for seed in (1, 2):
        yield Case(f"even {seed}", lambda seed=seed: even(40, 800, 30, seed))
        yield Case(f"pubmed 2e4 {seed}", lambda seed=seed: of_words(like_pubmed(20_000, 2_000, 40, seed)))
        yield Case(f"pubmed 6e4 {seed}", lambda seed=seed: of_words(like_pubmed(60_000, 3_000, 40, seed)))
        yield Case(f"zipf 5e4 {seed}", lambda seed=seed: Truth(*zipf_planted(50_000, seed)))
        yield Case(f"counts 10 {seed}", lambda seed=seed: table(10, 100, 500, seed))
        yield Case(f"counts 25 {seed}", lambda seed=seed: table(25, 300, 500, seed))
    if data:
        yield Case("abstracts 800", lambda: Truth(from_texts(arxiv_abstracts()[:800], min_df=2)))
        sentences = [text.split(". ")[0] for text in arxiv_abstracts()[:1_600]]
        yield Case("sentences", lambda: Truth(from_texts(sentences, min_df=2)))
        for name in ("reuters395", "cora"):
            yield Case(name, lambda name=name: Truth(read_ldac(data / name / f"{name}.ldac")))


# ---------------------------------------------------------------- chains


def fit(case: Case, sweeps: int = SWEEPS, starts: tuple[str | int, ...] = STARTS) -> Fit:
    """Run the chains of a case, two at a time."""
    truth = case.truth()
    burn_in = sweeps // 2
    schedule = Timetable(
        sweeps=sweeps,
        burn_in=burn_in,
        thin=max(1, burn_in // DRAWS),
        split_merge=SplitMerge(adapt=burn_in),
    )
    priors = Priors(alpha=(1.0, 1.0), gamma=(1.0, 1.0), eta=case.eta)

    def work(numbered: tuple[int, str | int]) -> tuple[list[Draw], list[Array]]:
        number, start = numbered
        chain = Chain(truth.corpus, priors, schedule, random_state=1, number=number, init=start)
        known: list[Array] = []

        def look(chain: Chain) -> None:
            if len(chain.draws) > len(known):
                known.append(known_topics(truth, chain))

        chain.run(callback=look)
        return chain.draws, known

    with ThreadPoolExecutor(2) as pool:
        draws, known = zip(*pool.map(work, enumerate(starts)), strict=True)
    has_truth = truth.z is not None or truth.topics is not None
    return Fit(truth.corpus, list(draws), list(known) if has_truth else None)


def known_topics(truth: Truth, chain: Chain) -> Array:
    """Return which planted topic each topic of the last draw is."""
    draw = chain.draws[-1]
    if truth.z is not None:
        names = chain.state.name_k[word_topics(truth.corpus.arrays, chain.state)]
        order = np.argsort(draw.names)
        place = order[np.searchsorted(draw.names[order], names)]
        both = np.zeros((draw.names.size, int(truth.z.max()) + 1), np.int64)
        np.add.at(both, (place, truth.z), 1)
        return same_words(both)
    if truth.topics is None:
        return np.full(draw.names.size, UNKNOWN)
    return same_terms(cosines(draw.topic_terms.toarray(), truth.topics))


def same_terms(near: Array) -> Array:
    """Return the planted topic of each topic, from cosines; none where several topics are the same one."""
    best = near.argmax(axis=1)
    is_same = near.max(axis=1) >= SAME
    is_alone = np.bincount(best[is_same], minlength=near.shape[1])[best] == 1
    return np.where(is_same & is_alone, best, UNKNOWN)


def same_words(both: Array) -> Array:
    """Return the planted topic of each topic, from the words that they have in common."""
    best = both.argmax(axis=1)
    own = both[np.arange(len(both)), best]
    is_known = (2 * own > both.sum(axis=1)) & (2 * own > both.sum(axis=0)[best])
    return np.where(is_known, best, UNKNOWN)


# ---------------------------------------------------------------- what is measured


class Measured(NamedTuple):
    """What a matching gives; None where the truth is not known."""

    n_listed: int
    n_planted: int | None
    split: int | None
    together: float | None
    mixed: int | None
    copies: int
    torn: int
    in_all: float
    seconds: float


def measure(corpus: Corpus, draws: list[list[Draw]], known: list[list[Array]] | None) -> Measured:
    """Match the topics of some chains."""
    posterior = Posterior(corpus, draws, [])
    began = time.perf_counter()
    columns = posterior.columns
    seconds = time.perf_counter() - began
    n_planted = split = together = mixed = None
    if known is not None:
        n_planted, split, together, mixed = against_truth(posterior, known)
    chains = np.repeat(np.arange(len(draws)), [len(chain) for chain in draws])
    shared = posterior.chain_support >= 1.0 - 1e-9
    return Measured(
        posterior.n_topics,
        n_planted,
        split,
        together,
        mixed,
        len(copies(posterior.phi, having(columns, posterior.n_topics))),
        torn(posterior, chains),
        float(posterior.weights[shared].sum()),
        seconds,
    )


def against_truth(posterior: Posterior, known: list[list[Array]]) -> tuple[int, int, float, int]:
    """Return how many planted topics several chains have, and *split*, *together* and *mixed*."""
    flat = [one for chain in known for one in chain]
    n_planted = 1 + max(int(one.max()) for one in flat)
    clusters = posterior.alignment.clusters
    times = np.zeros((n_planted, posterior.alignment.support.size), np.int64)
    for own, cluster in zip(flat, clusters, strict=True):
        np.add.at(times, (own[own != UNKNOWN], cluster[own != UNKNOWN]), 1)
    in_chains = sum(
        np.mean([np.isin(np.arange(n_planted), one) for one in chain], axis=0) >= SOMETIMES for chain in known
    )
    several = np.flatnonzero(in_chains >= 2)
    total = times.sum(axis=1)
    pairs = (times * (times - 1)).sum(axis=1)[several] / (total * (total - 1))[several]
    listed = times[:, : posterior.n_topics]
    listed = listed[:, listed.any(axis=0)]
    mostly = np.bincount(listed.argmax(axis=0), minlength=n_planted)
    others = listed.sum(axis=0) - listed.max(axis=0)
    return (
        several.size,
        int(np.maximum(mostly[several] - 1, 0).sum()),
        float(pairs.mean()) if several.size else 1.0,
        int((others >= SOMETIMES * listed.sum(axis=0)).sum()),
    )


def having(columns: list[Array], n_topics: int) -> Array:
    """Return which draw has which listed topic."""
    return np.array([np.isin(np.arange(n_topics), column) for column in columns])


def copies(phi: Array, have: Array) -> list[tuple[int, int]]:
    """Return the pairs of listed topics that look the same but are hardly ever in one draw."""
    near = cosines(phi, phi)
    leading = [set(row[:LEADING].tolist()) for row in np.argsort(-phi, axis=1, kind="stable")]
    return [
        (a, b)
        for a, b in combinations(range(len(phi)), 2)
        if (near[a, b] >= ALIKE or len(leading[a] & leading[b]) >= IN_COMMON)
        and (have[:, a] & have[:, b]).sum() <= RARELY * (have[:, a] | have[:, b]).sum()
    ]


def torn(posterior: Posterior, chains: Array) -> int:
    """Return how many listed clusters are different topics in two chains."""
    n_chains = int(chains.max()) + 1
    means = np.zeros((n_chains, posterior.n_topics + 1, posterior.corpus.n_terms))
    for chain, draw, column in zip(chains, posterior.flat_draws, posterior.columns, strict=True):
        shares = draw.topic_terms / draw.topic_terms.sum(axis=1)[:, None]
        np.add.at(means[chain], column, shares.toarray())
    number = 0
    for k in range(posterior.n_topics):
        own = means[means[:, k].any(axis=1), k]
        number += bool((cosines(own, own) < UNLIKE).any())
    return number


# ---------------------------------------------------------------- the table

COLUMNS = ["corpus", "chains", "K", "planted", "split", "together", "mixed", "copies", "torn", "in all", "s"]


def row(name: str, chains: str, measured: list[Measured]) -> list[str]:
    """Return a row of sums of counts and means of shares."""

    def total(values: list) -> str:
        return "-" if None in values else f"{sum(values)}"

    def mean(values: list) -> str:
        return "-" if None in values else f"{np.mean(values):.3f}"

    how = [total, total, total, mean, total, total, total, mean, mean]
    return [name, chains, *(one(list(values)) for one, values in zip(how, zip(*measured), strict=True))]


def rows(name: str, found: Fit) -> Iterator[list[str]]:
    """Yield the rows of a fit: all chains together, and two and two."""
    n_chains = len(found.draws)
    yield row(name, f"{n_chains}", [measure(*found)])
    pairs = []
    for pair in combinations(range(n_chains), 2):
        draws, known = ([of[i] for i in pair] if of else None for of in (found.draws, found.known))
        pairs.append(measure(found.corpus, draws, known))
    yield row(name, "2", pairs)


def kept_fit(case: Case, folder: Path | None) -> Fit:
    """Return the fit of a case, from the folder if it is there."""
    path = folder / f"{case.name.replace(' ', '-')}.joblib" if folder else None
    if path is None:
        return fit(case)
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        joblib.dump(fit(case), path)
    return joblib.load(path)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path)
    parser.add_argument("--fits", type=Path)
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    table = []
    for case in cases(options.data):
        if not options.only or case.name in options.only:
            table.extend(rows(case.name, kept_fit(case, options.fits)))
            for one in table[-2:]:
                console.print("  ".join(one))
    show("Topics matched across chains", COLUMNS, table)


if __name__ == "__main__":
    main()
