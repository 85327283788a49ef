"""The engine on a GPU: how fast it is, how soon it finds planted topics, how soon it is as good as others.

    python -m benchmarks.gpu speed                              (200 million planted words, 10 GB)
    python -m benchmarks.gpu speed --topics 128 --kind pubmed --terms 141000
    python -m benchmarks.gpu planted --start fitted 200         (700 million words like PubMed's, 40 GB)
    python -m benchmarks.gpu planted --start 1000 --sample 0.1:400:0.02:2 --merges
    python -m benchmarks.gpu text --corpus ap.ldac nips.ldac

Speed: chains start at the planted truth and make sweeps without split-merge trials; every tenth sweep is one
in which some documents are drawn word by word, and counts come to the processor. Planted: a chain that starts
at the truth says which log p(x | c) per word there is to reach; then come chains from each start, with all
defaults; with --sample, from the topics that such a chain has found in some of the documents, or several in
more and more of them; with --merges, all trials are of the kind that merges large topics that are alike. With
too many topics log p(x | c) is too high, so a chain has arrived when log p(x | c) and the log joint, both per
word, have been no more than 0.01 below the truth's for ten sweeps. Text: this engine and those without a GPU
from the fitted start with all defaults, as in `benchmarks.parallel quality`. Any engine can be measured so
(--engine parallel).
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.gpu_report import Report, free_memory, gpu_bytes
from benchmarks.parallel import PRIORS
from benchmarks.planted_corpora import even, like_pubmed
from benchmarks.planted_start import planted_state_of_many
from benchmarks.tables import console, show
from benchmarks.trajectories import compare, default_chain, time_to
from franchise import Chain, Corpus, Proposal, Schedule, SplitMerge
from franchise.corpus import read_corpus
from franchise.corpus.synthetic import Planted
from franchise.engines import TOPICS, GivenTopics
from franchise.errors import FranchiseError

KINDS = {"even": even, "pubmed": like_pubmed}
WITHOUT_GPU = ("collapsed", "parallel")
TEN = 10  # every so many sweeps one does more than the others
ENOUGH = 100_000  # sweeps of a schedule whose burn-in never ends: no draws are kept
SAY = 100  # sweeps of a sample between lines
WITHIN, STAYS = 0.01, 10  # nats per word of the truth's score, for so many sweeps


# ---------------------------------------------------------------- how fast


def speed(options: argparse.Namespace, report: Report) -> None:
    """Print how fast sweeps are."""
    rows = []
    for n_topics in options.topics:
        truth = drawn(options, n_topics)
        found = speed_from_truth(truth, options)
        found |= {"topics_planted": n_topics, "words": truth.corpus.n_words, "terms": truth.corpus.n_terms}
        report.add(found)
        rows.append(
            [
                f"{n_topics:,}",
                f"{found['topics']:,}",
                *(_millions(found[name]) for name in ("plain", "plain_best", "full", "ten", "ten_best")),
                f"{1e3 * found['plain_seconds']:.1f}",
                f"{1e3 * found['full_seconds']:.1f}",
                f"{found['start_seconds']:.1f}",
                "-" if found["gpu_bytes"] is None else f"{found['gpu_bytes'] / 1e9:.1f}",
            ]
        )
        del truth
        free_memory()
    columns = ["planted", "K", "M words/s, plain", "best", "every tenth", "ten together", "best"]
    columns += ["ms plain", "ms tenth", "start s", "GPU GB"]
    title = f"{options.engine}: {options.words:,.0f} words ({options.kind}), {options.terms:,} terms, "
    show(title + f"threads {options.threads}, trials {options.trials}, from the truth", columns, rows)


def speed_from_truth(truth: Planted, options: argparse.Namespace) -> dict[str, Any]:
    """Time some tens of sweeps of a chain that starts at the truth."""
    trials = SplitMerge(trials=options.trials) if options.trials else None
    schedule = Schedule(sweeps=ENOUGH, burn_in=ENOUGH, split_merge=trials)
    chain = Chain(
        truth.corpus, PRIORS, schedule, seed=1, start="one", engine=options.engine, threads=options.threads
    )
    start = start_at_truth(chain, truth, options.threads)
    chain.run(TEN)  # of both kinds, so that all is compiled
    before = dict(getattr(chain.engine, "seconds", {}))
    seconds = np.array([_sweep_seconds(chain) for _ in range(TEN * options.tens)]).reshape(-1, TEN)
    parts = {
        name: (value - before.get(name, 0.0)) / seconds.size
        for name, value in getattr(chain.engine, "seconds", {}).items()
    }
    words, plain, full, tens = truth.corpus.n_words, seconds[:, :-1], seconds[:, -1], seconds.sum(axis=1)
    found = {
        "topics": int(chain.trace.last["n_topics"]),
        "plain": words / float(np.median(plain)),
        "plain_best": words / float(plain.min()),
        "full": words / float(np.median(full)),
        "ten": TEN * words / float(np.median(tens)),
        "ten_best": TEN * words / float(tens.min()),
        "plain_seconds": float(np.median(plain)),
        "full_seconds": float(np.median(full)),
        "start_seconds": start,
        "gpu_bytes": gpu_bytes(),
        "log_p_per_word": _score(chain),
        "seconds": seconds.tolist(),
        "parts": parts,
    }
    console.print(
        f"{found['topics']:,} topics: {_millions(found['plain'])} million words a second in plain sweeps, "
        f"{_millions(found['full'])} in every tenth, {_millions(found['ten'])} in ten"
    )
    if parts:
        named = sorted(parts.items(), key=lambda part: -part[1])
        console.print("  ms a sweep: " + ", ".join(f"{name} {1e3 * value:.2f}" for name, value in named))
    return found


def _sweep_seconds(chain: Chain) -> float:
    began = time.perf_counter()
    chain.sweep()
    return time.perf_counter() - began


# ---------------------------------------------------------------- from where to the truth


class At(NamedTuple):
    """Where a chain is."""

    seconds: float
    sweeps: int
    topics: int
    score: float  # log p(x | c) per word
    joint: float  # log joint per word

    def __str__(self) -> str:
        return (
            f"  {self.seconds:7.1f} s, {self.sweeps:4d} sweeps, {self.topics:5,} topics, log p(x | c) "
            f"{self.score:.4f}, log joint {self.joint:.4f} per word"
        )


class Arrival:
    """Notes since when a chain has been, sweep after sweep, no worse than a level."""

    def __init__(self) -> None:
        self._near: list[At] = []

    @property
    def where(self) -> At | None:
        """Where that began, once it has lasted."""
        return self._near[0] if len(self._near) >= STAYS else None

    def note(self, at: At, is_near: bool) -> None:
        """Take the next sweep."""
        self._near = [*self._near, at] if is_near else []

    def __str__(self) -> str:
        return "no" if self.where is None else f"{self.where.seconds:.1f} ({self.where.sweeps:,} sweeps)"


def planted(options: argparse.Namespace, report: Report) -> None:
    """Print how long chains take from their starts to the score of the truth."""
    truth = drawn(options, options.topics)
    corpus = truth.corpus
    level, at_truth = score_of_truth(truth, options)
    report.add({"start": "truth", "level": level._asdict(), "words": corpus.n_words, "path": at_truth})
    del truth
    free_memory()
    rows = []
    for start in options.start:
        path, score, both = until_arrived(corpus, start, level, options)
        last = path[-1]
        found = {"start": start, "gpu_bytes": gpu_bytes(), "last": last._asdict()}
        for name, arrival in (("score", score), ("score_and_joint", both)):
            found[name] = arrival.where and arrival.where._asdict()
        report.add(found | {"path": path})
        free_memory()
        rows.append([str(start), f"{path[0].seconds:.1f}", str(score), str(both), f"{last.seconds:.1f}"])
        rows[-1] += [f"{last.sweeps:,}", f"{last.topics:,}", f"{last.score:.4f}"]
        rows[-1] += [f"{last.score - level.score:+.4f}", f"{last.joint - level.joint:+.4f}"]
    title = (
        f"{options.engine}: {corpus.n_words:,} words, {corpus.n_terms:,} terms, {options.topics:,} topics; "
    )
    title += f"a chain from the truth: log p(x | c) {level.score:.4f} per word, {level.topics:,} topics"
    columns = ["start", "start s", f"s to within {WITHIN}", "and log joint", "in the end: s", "sweeps", "K"]
    show(title, [*columns, "log p(x | c)", "less truth's", "log joint"], rows)


def score_of_truth(truth: Planted, options: argparse.Namespace) -> tuple[At, list[At]]:
    """Run a chain from the truth; return the mean of its last sweeps, and its path."""
    console.print(f"a chain that starts at the truth, {options.truth_sweeps} sweeps")
    chain = default_chain(truth.corpus, options.engine, options.threads, ENOUGH, "one")
    start_at_truth(chain, truth, options.threads)
    began, printed, path = time.perf_counter(), -np.inf, [_at(chain, 0.0)]
    for sweep in range(1, options.truth_sweeps + 1):
        chain.sweep()
        path.append(_at(chain, time.perf_counter() - began))
        if path[-1].seconds - printed >= options.every or sweep == options.truth_sweeps:
            console.print(str(path[-1]))
            printed = path[-1].seconds
    last = np.mean(path[-max(1, options.truth_sweeps // 5) :], axis=0)
    return path[-1]._replace(score=float(last[-2]), joint=float(last[-1])), path


def until_arrived(
    corpus: Corpus, start: str | int, level: At, options: argparse.Namespace
) -> tuple[list[At], Arrival, Arrival]:
    """Run a chain until it is as good as a level; return its path, and since when score, and all, are."""
    console.print(
        f"a chain from start {start}, to {level.score:.4f} (log joint {level.joint:.4f}) less {WITHIN}"
    )
    began, printed, path = time.perf_counter(), -np.inf, []
    score, both = Arrival(), Arrival()
    begin: Any = start
    for sample in options.sample:
        begin = topics_of_sample(corpus, begin, sample, options)
    trials = _trials(options.trials, options.merges)
    chain = default_chain(corpus, options.engine, options.threads, ENOUGH, begin, split_merge=trials)
    while both.where is None and (not path or path[-1].seconds < options.seconds):
        chain.sweep() if path else chain.start()
        at = _at(chain, time.perf_counter() - began)
        path.append(at)
        # Scores of the warm-up, with its smaller eta, are those of another model.
        counts = at.sweeps > chain.schedule.warm_up
        is_near = counts and at.score >= level.score - WITHIN
        score.note(at, is_near)
        both.note(at, is_near and at.joint >= level.joint - WITHIN)
        if at.seconds - printed >= options.every or both.where:
            less = f"; less the truth's {at.score - level.score:+.4f}, {at.joint - level.joint:+.4f}"
            console.print(f"{at}{less}{'' if counts else ' (warm-up)'}")
            printed = at.seconds
    return path, score, both


class Sample(NamedTuple):
    """Some of the documents, and how a chain goes through them."""

    share: float
    sweeps: int = 400
    eta: float = PRIORS.eta
    trials: int = SplitMerge().trials

    @classmethod
    def of(cls, value: str) -> "Sample":
        """Read SHARE:SWEEPS:ETA:TRIALS, or the first of these."""
        parts: Any = zip((float, int, float, int), value.split(":", 3), strict=False)
        return cls(*(kind(part) for kind, part in parts))


def topics_of_sample(corpus: Corpus, start: Any, sample: Sample, options: argparse.Namespace) -> GivenTopics:
    """Run a chain on some of the documents; return its topics."""
    began = time.perf_counter()
    some = corpus.select(np.arange(0, corpus.n_documents, round(1.0 / sample.share)))
    settings = {"eta": sample.eta, "split_merge": _trials(sample.trials, options.merges)}
    chain = default_chain(some, options.engine, options.threads, ENOUGH, start, **settings)
    while chain.sweeps_done < sample.sweeps:
        chain.run(min(SAY, sample.sweeps - chain.sweeps_done))
        console.print(f"a sample of {some.n_words:,} words:{_at(chain, time.perf_counter() - began)}")
    phi = chain.draw().topic_terms.toarray() + sample.eta
    return GivenTopics(TOPICS, phi / phi.sum(axis=1, keepdims=True))


def _trials(number: int, only_merges: bool) -> str | SplitMerge:
    """Return the setting of split-merge."""
    if only_merges:
        return SplitMerge(trials=number, proposals=(Proposal(anchors="similar"),))
    return "always" if number == SplitMerge().trials else SplitMerge(trials=number)


def _at(chain: Chain, seconds: float) -> At:
    topics, joint = int(chain.trace.last["n_topics"]), float(chain.trace.last["log_joint"])
    return At(seconds, chain.sweeps_done, topics, _score(chain), joint / chain.corpus.n_words)


# ---------------------------------------------------------------- text


def text(options: argparse.Namespace, report: Report) -> None:
    """Print how good the engines are after how long."""
    engines = dict.fromkeys([*options.beside, options.engine])
    measure = next(iter(engines))
    for name, corpus in {Path(path).name: read_corpus(path) for path in options.corpus}.items():
        found = compare(name, corpus, engines, options.threads, options.sweeps, options.seconds, measure)
        level = float(found[measure][-1, 1])
        for engine, path in found.items():
            report.add(
                {
                    "corpus": name,
                    "engine": engine,
                    "words": corpus.n_words,
                    "seconds_to_the_same": time_to(path, level),
                    "path": path.tolist(),
                }
            )


# ---------------------------------------------------------------- what they share


def drawn(options: argparse.Namespace, n_topics: int) -> Planted:
    """Draw the corpus."""
    began = time.perf_counter()
    truth = KINDS[options.kind](int(options.words), options.terms, n_topics)
    took = time.perf_counter() - began
    console.print(f"{truth.corpus}, {n_topics:,} topics, drawn in {took:.1f} s")
    return truth


def start_at_truth(chain: Chain, truth: Planted, threads: int) -> float:
    """Start a chain at the truth; return the seconds that it took, the making of the state included."""
    began = time.perf_counter()
    chain.start_at(planted_state_of_many(truth, PRIORS, threads))
    return time.perf_counter() - began


def _score(chain: Chain) -> float:
    return float(chain.trace.last["log_p_words"]) / chain.corpus.n_words


def _millions(rate: float) -> str:
    return f"{rate / 1e6:,.1f}"


def compile_all(engines: Sequence[str], threads: int) -> None:
    """Make a few sweeps on a few words, which also tells at once if an engine cannot be used here."""
    few = even(2_000, 50, 4, xp=np)
    planted_state_of_many(few, PRIORS, threads)
    for engine in engines:
        default_chain(few.corpus, engine, threads, 20).run(12)


def _start(value: str) -> str | int:
    if value in ("fitted", "one"):
        return value
    try:
        number = int(value)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{value}: give fitted, one, or a number of random topics")
    return number


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--engine", default="gpu")
    common.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="beside the GPU")
    common.add_argument("--out", type=Path, help="a JSON file for all figures")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)
    one = commands.add_parser("speed", parents=[common], help="words a second")
    one.add_argument("--words", type=float, default=200e6)
    one.add_argument("--terms", type=int, default=50_000)
    one.add_argument("--topics", type=int, nargs="+", default=[128, 256, 512, 1024])
    one.add_argument("--kind", choices=KINDS, default="even", help="of corpus")
    one.add_argument("--tens", type=int, default=3, help="of sweeps that are timed")
    one.add_argument("--trials", type=int, default=0, help="split-merge trials a sweep")
    one = commands.add_parser("planted", parents=[common], help="from a start to the score of the truth")
    one.add_argument("--words", type=float, default=700e6)
    one.add_argument("--terms", type=int, default=141_000)
    one.add_argument("--topics", type=int, default=500)
    one.add_argument("--kind", choices=KINDS, default="pubmed", help="of corpus")
    one.add_argument("--start", type=_start, nargs="+", default=["fitted"], help="fitted, one, or a number")
    one.add_argument(
        "--sample",
        type=Sample.of,
        nargs="*",
        default=[],
        metavar="SHARE:SWEEPS:ETA:TRIALS",
        help="start from topics of so much of the documents",
    )
    one.add_argument("--trials", type=int, default=SplitMerge().trials, help="split-merge trials a sweep")
    one.add_argument("--merges", action="store_true", help="only trials that merge large topics well")
    one.add_argument("--truth-sweeps", type=int, default=100)
    one.add_argument("--seconds", type=float, default=600.0, help="the most for each start")
    one.add_argument("--every", type=float, default=5.0, help="seconds between lines")
    one = commands.add_parser("text", parents=[common], help="against engines without a GPU")
    one.add_argument("--corpus", nargs="+", required=True, help="files of corpora")
    one.add_argument("--beside", nargs="*", default=[*WITHOUT_GPU], help="first the measure")
    one.add_argument("--sweeps", type=int, default=500)
    one.add_argument("--seconds", type=float, default=200.0, help="the most for each engine")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    options = _options(arguments)
    report = Report(options)
    try:
        beside = options.beside if options.what == "text" else []
        compile_all([*dict.fromkeys([*beside, options.engine])], options.threads)
        {"speed": speed, "planted": planted, "text": text}[options.what](options, report)
    except FranchiseError as error:
        sys.exit(f"benchmarks.gpu: {error}")


if __name__ == "__main__":
    main()
