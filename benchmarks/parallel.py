"""The parallel engine: its speed by number of threads, and the time until it is as good as the collapsed one.

    python -m benchmarks.parallel speed                        (20 million planted words, 3 GB, a few minutes)
    python -m benchmarks.parallel speed --words 10e6 --terms 50000 --topics 1000 --threads 1 16
    python -m benchmarks.parallel quality --corpus ap.ldac nips.ldac     (and 10 million planted words)
    python -m benchmarks.parallel quality --words 0 --corpus ap.ldac --seconds 60

Speed: chains start at the planted truth and make sweeps without and with split-merge trials, the collapsed
engine for comparison; all figures of a table are from one run. Quality: both engines from the fitted start
with the default schedule, at the same number of threads; log p(x | c) per word against seconds, and how long
each takes until it stays within 0.005 of what the collapsed engine has in the end.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.planted_start import planted_state
from benchmarks.tables import console, show
from benchmarks.trajectories import compare
from franchise import Chain, Corpus, Priors, SplitMerge
from franchise.corpus import read_corpus
from franchise.corpus.synthetic import Planted
from franchise.model import State, copy_state
from franchise.sampling import Timetable

PRIORS = Priors(alpha=(1.0, 1.0), gamma=(1.0, 1.0), eta=0.1)
LENGTH, TOPICS_A_DOCUMENT = 100, 6
SETTLE, TIMED = 2, 10  # sweeps before the clock starts, and then: trials come in every tenth


def large_planted(n_words: int, n_terms: int, n_topics: int, seed: int = 0) -> Planted:
    """Draw documents of 100 words with up to six topics each."""
    rng = np.random.default_rng(seed)
    n_documents = n_words // LENGTH
    cumulated = np.cumsum(rng.dirichlet(np.full(n_terms, 0.05), n_topics), axis=1)
    z = np.zeros((n_documents, LENGTH), np.int32)
    for begin in range(0, n_documents, 10_000):
        rows = slice(begin, min(begin + 10_000, n_documents))
        n = rows.stop - begin
        here = rng.integers(0, n_topics, (n, TOPICS_A_DOCUMENT))
        ends = np.cumsum(rng.dirichlet(np.full(TOPICS_A_DOCUMENT, 0.5), n), axis=1)
        chosen = (rng.random((n, LENGTH, 1)) > ends[:, None, :-1]).sum(axis=2)
        z[rows] = np.take_along_axis(here, chosen, axis=1)
    x = np.zeros(z.size, np.int32)
    order = np.argsort(z, axis=None, kind="stable")
    for k, own in enumerate(np.split(order, np.searchsorted(z.ravel()[order], np.arange(1, n_topics)))):
        x[own] = np.minimum(np.searchsorted(cumulated[k], rng.random(own.size)), n_terms - 1)
    corpus = Corpus(x, np.arange(0, x.size + 1, LENGTH), [f"w{v}" for v in range(n_terms)])
    return Planted(corpus, np.zeros((0, 0)), z.ravel())


class Clock:
    """Adds up the seconds of calls."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def on(self, owner: Any, name: str) -> None:
        """Count the time of a method of an object."""
        method = getattr(owner, name)
        setattr(owner, name, self._timed(method, lambda *_: name))

    def on_work(self, threads: Any) -> None:
        """Count the time of each kind of work that is shared out to threads."""
        threads.each = self._timed(threads.each, lambda work, *_: work.__name__)

    def _timed(self, call: Callable[..., Any], name_of: Callable[..., str]) -> Callable[..., Any]:
        def timed(*arguments: Any) -> Any:
            began, name = time.perf_counter(), name_of(*arguments)
            result = call(*arguments)
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began
            return result

        return timed


def speed_row(truth: Planted, state: State, engine: str, threads: int, trials: int) -> list[str]:
    """Time a few sweeps."""
    schedule = Timetable(sweeps=100, burn_in=50, split_merge=SplitMerge(trials=trials) if trials else None)
    chain = Chain(truth.corpus, PRIORS, schedule, random_state=1, engine=engine, n_jobs=threads)
    chain.start_at(copy_state(state))
    chain.run(SETTLE)
    clock = Clock()
    if engine == "parallel":
        (partition,), sampler = chain.engine._pool.partitions, chain.engine._coordinator.sampler
        clock.on_work(partition._threads)
        clock.on(partition._instantiator, "terms")
    else:
        sampler = chain.engine.sampler
    clock.on(sampler, "gibbs")
    clock.on(sampler, "try_splits_and_merges")
    clock.on(chain.engine, "numbers")
    began = time.perf_counter()
    chain.run(TIMED)
    seconds = (time.perf_counter() - began) / TIMED
    parts = {name: part / TIMED for name, part in clock.seconds.items()}
    millions = truth.corpus.n_words / 1e6
    shown = ("terms", "update", "gibbs", "try_splits_and_merges", "numbers")
    return [
        engine,
        str(threads),
        str(trials),
        str(int(chain.trace.last["n_topics"])),
        f"{seconds:.3f}",
        f"{millions / seconds:.1f}",
        f"{millions / parts['update']:.1f}" if "update" in parts else "-",
        *(f"{1e3 * parts[name]:.0f}" if name in parts else "-" for name in shown),
    ]


def speed(options: argparse.Namespace) -> None:
    """Print how fast sweeps are."""
    console.print("drawing the corpus ...")
    truth = large_planted(int(options.words), options.terms, options.topics)
    state = planted_state(truth, PRIORS)
    kinds = [("parallel", n, trials) for trials in options.trials for n in options.threads]
    if not options.only_parallel:
        kinds = [("collapsed", 1, 0), *kinds]
    rows = []
    for kind in kinds:
        rows.append(speed_row(truth, state, *kind))
        console.print("  ".join(rows[-1]))
    columns = ["engine", "threads", "trials", "K", "s/sweep", "M words/s", "pass alone"]
    columns += ["terms ms", "pass ms", "some words ms", "trials ms", "joint ms"]
    title = f"{options.words:,.0f} words, {options.terms:,} terms, {options.topics:,} topics, from the truth"
    show(title, columns, rows)


def quality(options: argparse.Namespace) -> None:
    """Print how good both engines are after how long."""
    corpora = {Path(path).name: read_corpus(path) for path in options.corpus}
    if options.words:
        corpora["planted"] = large_planted(int(options.words), options.terms, options.topics).corpus
    for name, corpus in corpora.items():
        engines = ("collapsed", "parallel")
        compare(name, corpus, engines, options.threads[0], options.sweeps, options.seconds)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=["speed", "quality"])
    parser.add_argument("--words", type=float, help="planted words  [20 million, or 10 million]")
    parser.add_argument("--terms", type=int, default=10_000)
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--trials", type=int, nargs="*", default=[0, 1, 10])
    parser.add_argument("--only-parallel", action="store_true")
    parser.add_argument("--corpus", nargs="*", default=[], help="files of corpora")
    parser.add_argument("--sweeps", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=200.0)
    options = parser.parse_args()
    for engine in ("collapsed", "parallel"):  # compiles, if need be
        Chain(Corpus([0, 1], [0, 2], ["a", "b"]), engine=engine, init="fitted", random_state=0).run(2)
    if options.words is None:
        options.words = 20e6 if options.what == "speed" else 10e6
    {"speed": speed, "quality": quality}[options.what](options)


if __name__ == "__main__":
    main()
