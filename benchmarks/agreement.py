"""Do chains agree, and where do they end? Starts and moves compared, with and without a known truth.

    python -m benchmarks.agreement                                  (shipped and planted corpora)
    python -m benchmarks.agreement --data FOLDER --corpora FOLDER   (also Reuters, AP and the paper-like ones)
    python -m benchmarks.agreement --corpora FOLDER --only arxiv cora reuters395
    python -m benchmarks.agreement --only "abstracts 500" --methods default gibbs --sweeps 60 --chains 2

`benchmarks.cases` says which corpora there are.

Each row is one corpus, eta, method and kind of start. *Far apart*: one topic, sequential, 50 and 200 random
topics, without a warm-up. *Own*: the method's own start. *Truth*: the planted topics. Four chains run, and
the first half of their sweeps is burn-in. The columns:

* *log p*: the mean log p(x | c) per word; *spread*: its range over the chains. *R*: R-hat of several numbers.
* *in all chains*: the share of words in topics that all four chains have, and the number of these topics.
* *seed*, *order*, *90%*: the share of words whose reported topic has a match in a second fit (cosine 0.8 or
  more), the mean of both directions. The second fit has another seed; another seed and another order of the
  documents; another seed and a random 90% of the documents (`benchmarks.refits`). *seed* also has the number
  of topics matched. With more than two `--seeds`, these are means over several second fits.
* *completion*: the held-out score of each chain's last state, mean and worst. *CPU s*: of the first fit.
"""

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import cycle, islice
from typing import NamedTuple

import numpy as np
from rich.progress import Progress

from benchmarks.cases import Case, add_options, chosen
from benchmarks.completion import completion
from benchmarks.planted_start import planted_state
from benchmarks.refits import WAYS, refits
from benchmarks.tables import console, show
from franchise import Chain, Corpus, Priors, SplitMerge
from franchise.posterior.diagnostics import diagnose
from franchise.posterior.estimates import Posterior
from franchise.sampling import Timetable

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

    def schedule(self, sweeps: int, burn_in: int, thin: int = 1) -> Timetable:
        """Return the schedule of a run with this number of sweeps."""
        trials = self.split_merge
        if trials:
            trials = replace(trials, adapt=min(trials.adapt, burn_in))
        warm_up = min(self.warm_up, burn_in // 2)
        return Timetable(sweeps=sweeps, burn_in=burn_in, thin=thin, split_merge=trials, warm_up=warm_up)


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
            random_state=seed,
            number=number,
            init="one" if from_truth else start,
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


def row(case: Case, eta: float, name: str, kind: str, sweeps: int, seeds: int, n_chains: int) -> list[str]:
    """Measure one method from one kind of start."""
    method = METHODS[name]
    kinds = {"far apart": FAR_APART, "own": (method.start,), "truth": ("truth",)}
    starts = tuple(islice(cycle(kinds[kind]), n_chains))
    if kind == "far apart":
        method = method._replace(warm_up=0)
    chains, spent = run(case, eta, method, starts, sweeps, seed=0)
    posterior = posterior_of(chains)
    again: dict[str, list[tuple[float, int]]] = {way: [] for way in WAYS}
    for number in range(1, seeds):
        for way, other in refits(case, number).items():
            others, _ = run(other, eta, method, starts, sweeps, seed=number)
            again[way].append(matched(posterior, posterior_of(others)))
    n_words, burn_in = case.corpus.n_words, sweeps // 2
    log_p = [chain.trace["log_p_words"][burn_in + 1 :].mean() / n_words for chain in chains]
    table = diagnose(posterior, [chain.trace for chain in chains], chains[0].schedule).table["r_hat"]
    names = ("number of topics", "number of topics of 1% or more", "entropy of topic sizes")
    r_hats = [f"{table[name]:.2f}" for name in (*names, "log probability of the words", "alpha")]
    shared = posterior.weights[posterior.chain_support >= 1.0 - 1e-9]
    scores = [completion(chain.draw(), case.test) for chain in chains]
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
        *found_again(again, posterior.n_topics),
        f"{np.mean(scores):.3f} ({min(scores):.3f})",
    ]


def found_again(again: dict[str, list[tuple[float, int]]], n_topics: int) -> list[str]:
    """Format the share of words that the second fits of each way match, for the first way also the topics."""
    if not again["seed"]:
        return ["-"] * len(again)
    shares = [f"{np.mean([share for share, _ in pairs]):.0%}" for pairs in again.values()]
    number = np.mean([number for _, number in again["seed"]])
    return [f"{shares[0]} ({number:.0f} of {n_topics})", *shares[1:]]


NAMING = ["corpus", "eta", "method", "starts"]
COLUMNS = [*NAMING, "CPU s", "K", "log p", "spread", "R K", "R K 1%", "R entropy", "R log p", "R alpha"]
COLUMNS += ["in all chains", *WAYS, "completion (worst)"]


def main(arguments: list[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_options(parser)
    parser.add_argument("--etas", nargs="*", type=float)
    parser.add_argument("--methods", nargs="*", default=["default", "sequential"], choices=METHODS)
    parser.add_argument("--kinds", nargs="*", default=["far apart", "own"], choices=["far apart", "own"])
    parser.add_argument("--sweeps", type=int, default=200)
    parser.add_argument(
        "--zipf-words", nargs="*", type=int, default=[100_000], help="sizes of the Zipf corpus"
    )
    parser.add_argument("--seeds", type=int, default=2, help="1: no second fits")
    parser.add_argument("--chains", type=int, default=len(FAR_APART))
    options = parser.parse_args(arguments)
    jobs = [
        (case, eta, name, kind)
        for case in chosen(parser, options, options.zipf_words)
        for eta in case.etas
        if not options.etas or eta in options.etas
        for name in options.methods
        for kind in (*options.kinds, *(["truth"] if case.truth and name == options.methods[0] else []))
    ]
    Chain(Corpus([0, 1], [0, 2], ["a", "b"]), random_state=0).run(2)  # compiles, if need be
    rows = []
    with Progress(console=console, transient=True) as progress:
        for job in progress.track(jobs):
            rows.append(row(*job, options.sweeps, options.seeds, options.chains))
            console.print("  ".join(rows[-1]))
    title = f"{options.chains} chains, {options.sweeps} sweeps, half of them burn-in"
    split, first = COLUMNS.index("in all chains"), len(NAMING)  # one table would be too wide
    show(f"Where chains end: {title}", COLUMNS[:split], [own[:split] for own in rows])
    show(
        f"Words in topics that all chains and second fits have: {title}",
        COLUMNS[:first] + COLUMNS[split:],
        [own[:first] + own[split:] for own in rows],
    )


if __name__ == "__main__":
    main()
