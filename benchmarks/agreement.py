"""Do chains agree, and where do they end? Starts and moves compared, with and without a known truth.

    python -m benchmarks.agreement                                  (shipped and planted corpora, 20 minutes)
    python -m benchmarks.agreement --data FOLDER --corpora FOLDER   (also Reuters, AP and the paper-like ones)
    python -m benchmarks.agreement --only "abstracts 500" --methods default gibbs --sweeps 300

`--data` is a folder with reuters.npz and ap.npz (see `benchmarks.mixing`), `--corpora` one with mlir/ and
nips/ (see `experiments`).

For each corpus, eta and method: four chains from starts that are far apart (one topic, sequential, 50 and 200
random topics; without a warm-up), and four from the method's own start, with two seeds. After the
burn-in (half of the sweeps) the four chains are compared by the mean log p(x | c) per word (its spread, from
the lowest chain to the highest), R-hat of several numbers, and the share of words in topics that all chains
have. *Replicated* is the share of words whose reported topic has a match in the fit with the other seed
(cosine 0.8 or more), the mean of both directions. Held-out completion is that of the last state of each
chain, mean and worst. For a planted corpus, the rows "truth" are chains started at the truth. CPU seconds are
those of one set of four chains.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.progress import Progress

from benchmarks.completion import completion
from benchmarks.mixing import read_split
from benchmarks.planted_start import planted_state
from benchmarks.tables import console, show
from experiments.corpora import NAMES as PAPER_LIKE
from experiments.corpora import read_split as read_paper_like
from franchise import Chain, Corpus, Priors, Schedule, SplitMerge, from_texts
from franchise.corpus.synthetic import Planted, planted
from franchise.datasets import arxiv_abstracts
from franchise.posterior.diagnostics import diagnose
from franchise.posterior.estimates import Posterior

FAR_APART = ("one", "sequential", 50, 200)
ALIKE = 0.8  # cosine of two topics that are the same
DRAWS = 20  # kept of each chain
WARM_UP, ADAPT = 40, 100  # sweeps, as in `franchise.sampling.plan`


class Method(NamedTuple):
    """How chains are started and run."""

    start: str | int
    split_merge: SplitMerge | None = SplitMerge(adapt=ADAPT)
    warm_up: int = 0
    engine: str = "collapsed"

    def schedule(self, sweeps: int, burn_in: int, thin: int = 1) -> Schedule:
        """Return the schedule of so many sweeps."""
        trials = self.split_merge
        if trials:
            trials = replace(trials, adapt=min(trials.adapt, burn_in))
        warm_up = min(self.warm_up, burn_in // 2)
        return Schedule(sweeps=sweeps, burn_in=burn_in, thin=thin, split_merge=trials, warm_up=warm_up)


METHODS = {
    "default": Method("fitted", warm_up=WARM_UP),
    "parallel": Method("fitted", warm_up=WARM_UP, engine="parallel"),
    "gibbs": Method("fitted", None, WARM_UP),
    "not warmed": Method("fitted"),
    "sequential": Method("sequential", SplitMerge()),
    "sequential, gibbs": Method("sequential", None),
    "paper": Method("sequential", SplitMerge.paper()),
    "300 random": Method(300),
    "300 random, warmed": Method(300, warm_up=WARM_UP),
}


class Case(NamedTuple):
    """A corpus, and documents to predict."""

    name: str
    corpus: Corpus
    test: list[np.ndarray]
    etas: tuple[float, ...]
    truth: Planted | None = None


def less_a_tenth(name: str, corpus: Corpus, etas: tuple[float, ...], z: np.ndarray | None = None) -> Case:
    """Leave out every tenth document for prediction; `z` is the planted topic of every word."""
    is_test = np.arange(corpus.n_documents) % 10 == 9
    test = [corpus.document(j) for j in np.flatnonzero(is_test) if corpus.document(j).size > 1]
    training = corpus.select(np.flatnonzero(~is_test))
    if z is None:
        return Case(name, training, test, etas)
    kept = z[~np.repeat(is_test, corpus.document_lengths)]
    return Case(name, training, test, etas, Planted(training, np.zeros((0, 0)), kept))


def zipf_planted(n_words: int, seed: int = 1) -> tuple[Corpus, np.ndarray]:
    """Draw 100 topics over terms whose frequencies fall as in text; return corpus and topics of words."""
    rng = np.random.default_rng(seed)
    n_terms, n_topics, length = 10_000, 100, 100
    base = 1.0 / (np.arange(n_terms) + 2.7)
    phi = [rng.dirichlet(40.0 * base / base.sum() + 1e-12) for _ in range(n_topics)]
    cumulated = np.cumsum(phi, axis=1)
    weights = rng.dirichlet(np.full(n_topics, 2.0))
    theta = rng.dirichlet(3.0 * weights, n_words // length)
    z = np.concatenate([rng.choice(n_topics, length, p=row) for row in theta])
    x = np.zeros(z.size, np.int64)
    for k in range(n_topics):
        own = np.flatnonzero(z == k)
        x[own] = np.minimum(np.searchsorted(cumulated[k], rng.random(own.size)), n_terms - 1)
    used, x = np.unique(x, return_inverse=True)
    return Corpus(x, np.arange(0, z.size + 1, length), [f"w{v}" for v in used]), z


def cases(data: Path | None, corpora: Path | None, zipf_words: Sequence[int] = (100_000,)) -> Iterator[Case]:
    """Yield the corpora."""
    texts = arxiv_abstracts()
    yield less_a_tenth("abstracts 500", from_texts(texts[:500]), (0.1, 0.3, 0.5))
    yield less_a_tenth("abstracts 2000", from_texts(texts, min_df=8), (0.1, 0.3, 0.5))
    sizes = {"n_topics": 30, "n_terms": 3_000, "n_documents": 2_000, "document_length": 50}
    truth = planted(**sizes, seed=1, topic_concentration=0.05, document_concentration=1.0)
    yield less_a_tenth("planted 30", truth.corpus, (0.1,), truth.z)
    for n_words in zipf_words:
        zipf, z = zipf_planted(n_words)
        yield less_a_tenth(f"zipf {n_words:,}", zipf, (0.1,), z)
    for name in PAPER_LIKE if corpora else ():
        split = read_paper_like(name, corpora)
        test = [split.test.document(j) for j in range(split.test.n_documents)]
        yield Case(name, split.training, [one for one in test if one.size > 1], (0.1, 0.2, 0.5))
    for name in ("reuters", "ap") if data else ():
        corpus, documents = read_split(data / f"{name}.npz")
        yield Case(name, corpus, [one for one in documents if one.size > 1], (0.1,))


def run(case: Case, eta: float, method: Method, starts: tuple, sweeps: int, seed: int) -> tuple:
    """Run chains in two threads; return them and their CPU seconds."""
    schedule = method.schedule(sweeps, sweeps // 2, max(1, sweeps // 2 // DRAWS))
    priors = Priors(alpha=(1.0, 1.0), gamma=(1.0, 1.0), eta=eta)

    def work(numbered: tuple[int, str | int]) -> tuple[Chain, float]:
        number, start = numbered
        began = time.thread_time()
        from_truth = start == "truth"
        chain = Chain(
            case.corpus,
            priors,
            schedule,
            seed=seed,
            number=number,
            start="one" if from_truth else start,
            engine=method.engine,
        )
        if from_truth:
            chain.start_at(planted_state(case.truth, priors))
        chain.run()
        return chain, time.thread_time() - began

    with ThreadPoolExecutor(2) as pool:
        chains, seconds = zip(*pool.map(work, enumerate(starts)), strict=True)
    return list(chains), sum(seconds)


def posterior_of(chains: list[Chain]) -> Posterior:
    return Posterior(chains[0].corpus, [chain.draws for chain in chains], [chain.trace for chain in chains])


def alike(one: Posterior, other: Posterior) -> np.ndarray:
    """Return which topics of one fit (rows) are the same as which of another."""
    unit = [p.phi / np.linalg.norm(p.phi, axis=1, keepdims=True) for p in (one, other)]
    return unit[0] @ unit[1].T >= ALIKE


def matched(one: Posterior, other: Posterior) -> tuple[float, int]:
    """Return the share of words whose topic has a match, mean of both directions, and the topics matched."""
    same = alike(one, other)
    shares = one.weights @ same.any(axis=1), other.weights @ same.any(axis=0)
    return float(np.mean(shares)), int(same.any(axis=1).sum())


def row(case: Case, eta: float, name: str, kind: str, sweeps: int, seeds: int) -> list[str]:
    """Measure one method from one kind of start."""
    method = METHODS[name]
    starts = {"far apart": FAR_APART, "own": (method.start,) * 4, "truth": ("truth",) * 4}[kind]
    if kind == "far apart":
        method = method._replace(warm_up=0)
    fits = [run(case, eta, method, starts, sweeps, seed) for seed in range(seeds)]
    chains, spent = fits[0]
    posteriors = [posterior_of(chains) for chains, _ in fits]
    n_words, burn_in = case.corpus.n_words, sweeps // 2
    log_p = [chain.trace["log_p_words"][burn_in + 1 :].mean() / n_words for chain in chains]
    table = diagnose(posteriors[0], [chain.trace for chain in chains], chains[0].schedule).table["r_hat"]
    names = ("number of topics", "number of topics of 1% or more", "entropy of topic sizes")
    r_hats = [f"{table[name]:.2f}" for name in (*names, "log probability of the words", "alpha")]
    shared = posteriors[0].weights[posteriors[0].chain_support >= 1.0 - 1e-9]
    scores = [completion(chain.draw(), case.test) for chain in chains]
    again = "-"
    if seeds > 1:
        share, number = matched(*posteriors[:2])
        again = f"{share:.0%} ({number} of {posteriors[0].n_topics})"
    n_topics = [int(np.median(chain.trace["n_topics"][burn_in + 1 :])) for chain in chains]
    return [
        case.name,
        f"{eta:g}",
        name,
        kind,
        f"{spent:.0f}",
        " ".join(map(str, n_topics)),
        f"{np.mean(log_p):.3f}",
        f"{max(log_p) - min(log_p):.3f}",
        *r_hats,
        f"{shared.sum():.0%} ({shared.size})",
        again,
        f"{np.mean(scores):.3f} ({min(scores):.3f})",
    ]


COLUMNS = ["corpus", "eta", "method", "starts", "CPU s", "K", "log p", "spread", "R K", "R K 1%", "R entropy"]
COLUMNS += ["R log p", "R alpha", "in all chains", "replicated", "completion (worst)"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--corpora", type=Path)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--etas", nargs="*", type=float)
    parser.add_argument("--methods", nargs="*", default=["default", "sequential"], choices=METHODS)
    parser.add_argument("--kinds", nargs="*", default=["far apart", "own"], choices=["far apart", "own"])
    parser.add_argument("--sweeps", type=int, default=200)
    parser.add_argument(
        "--zipf-words", nargs="*", type=int, default=[100_000], help="sizes of the Zipf corpus"
    )
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    jobs = [
        (case, eta, name, kind)
        for case in cases(options.data, options.corpora, options.zipf_words)
        if not options.only or case.name in options.only
        for eta in case.etas
        if not options.etas or eta in options.etas
        for name in options.methods
        for kind in (*options.kinds, *(["truth"] if case.truth and name == options.methods[0] else []))
    ]
    Chain(Corpus([0, 1], [0, 2], ["a", "b"])).run(2)  # compiles, if need be
    rows = []
    with Progress(console=console, transient=True) as progress:
        for job in progress.track(jobs):
            rows.append(row(*job, options.sweeps, options.seeds))
            console.print("  ".join(rows[-1]))
    show(f"Agreement of four chains, {options.sweeps} sweeps, half of them burn-in", COLUMNS, rows)


if __name__ == "__main__":
    main()
