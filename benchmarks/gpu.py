"""The GPU engine: its speed, and the time until it finds planted topics and is as good as other engines.

    python -m benchmarks.gpu speed                              (200 million planted words, 10 GB)
    python -m benchmarks.gpu speed --topics 128 --kind pubmed --terms 141000
    python -m benchmarks.gpu planted --start fitted 200         (700 million words like PubMed's, 40 GB)
    python -m benchmarks.gpu planted --start documents:1000 --sample 0.25:250:0.02:0:400
    python -m benchmarks.gpu text --corpus ap.ldac nips.ldac

Speed: chains start at the planted truth and make sweeps without split-merge trials; every tenth sweep is one
in which some documents are drawn word by word, and counts come to the processor. Planted: a chain that
starts at the truth says which log p(x | c) per word there is to reach; then come chains from each start,
with all defaults: random topics, or topics begun at documents. With --sample they start from what such a
chain has found in some of the documents, or several in more and more of them, and beside these from topics
begun at the documents that those explain worst; with --merges, all trials are of the kind that merges large
topics that are alike. With too many topics log p(x | c) is too high, so a chain has arrived when it and the
log joint, both per word, have been no more than 0.01 below the truth's for ten sweeps. Text: this engine and
those without a GPU from the fitted start with all defaults, as in `benchmarks.parallel quality`. Any engine
can be measured so (--engine parallel).
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from benchmarks.gpu_report import Report, free_memory, gpu_bytes
from benchmarks.parallel import PRIORS
from benchmarks.planted_corpora import even
from benchmarks.planted_search import (
    DOCUMENTS,
    ENOUGH,
    KINDS,
    Sample,
    drawn,
    planted,
    score_per_word,
    start_at_truth,
)
from benchmarks.planted_start import planted_state_of_many
from benchmarks.tables import console, show
from benchmarks.trajectories import compare, default_chain, time_to
from franchise import Chain, SplitMerge
from franchise.corpus import read_corpus
from franchise.corpus.synthetic import Planted
from franchise.errors import FranchiseError
from franchise.sampling import Timetable

WITHOUT_GPU = ("collapsed", "parallel")
TEN = 10  # every tenth sweep does more than the others


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
    schedule = Timetable(sweeps=ENOUGH, burn_in=ENOUGH, split_merge=trials)
    chain = Chain(
        truth.corpus,
        PRIORS,
        schedule,
        random_state=1,
        init="one",
        engine=options.engine,
        n_jobs=options.threads,
    )
    start = start_at_truth(chain, truth, options.threads)
    chain.run(TEN)  # of both kinds, so that all is compiled
    seconds = np.array([_sweep_seconds(chain) for _ in range(TEN * options.tens)]).reshape(-1, TEN)
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
        "log_p_per_word": score_per_word(chain),
        "seconds": seconds.tolist(),
    }
    console.print(
        f"{found['topics']:,} topics: {_millions(found['plain'])} million words per second in plain sweeps, "
        f"{_millions(found['full'])} in every tenth, {_millions(found['ten'])} in ten"
    )
    return found


def _sweep_seconds(chain: Chain) -> float:
    began = time.perf_counter()
    chain.sweep()
    return time.perf_counter() - began


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
        number = int(value.removeprefix(DOCUMENTS))
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(
            f"{value}: give fitted, one, a number of random topics, or {DOCUMENTS}NUMBER"
        )
    return value if value.startswith(DOCUMENTS) else number


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--engine", default="gpu")
    common.add_argument("--threads", type=int, default=joblib.cpu_count(), help="beside the GPU")
    common.add_argument("--out", type=Path, help="a JSON file for all figures")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)
    one = commands.add_parser("speed", parents=[common], help="words a second")
    one.add_argument("--words", type=float, default=200e6)
    one.add_argument("--terms", type=int, default=50_000)
    one.add_argument("--topics", type=int, nargs="+", default=[128, 256, 512, 1024])
    one.add_argument("--kind", choices=KINDS, default="even", help="of corpus")
    one.add_argument("--tens", type=int, default=3, help="of sweeps that are timed")
    one.add_argument("--trials", type=int, default=0, help="split-merge trials per sweep")
    one = commands.add_parser("planted", parents=[common], help="from a start to the score of the truth")
    one.add_argument("--words", type=float, default=700e6)
    one.add_argument("--terms", type=int, default=141_000)
    one.add_argument("--topics", type=int, default=500)
    one.add_argument("--kind", choices=KINDS, default="pubmed", help="of corpus")
    one.add_argument("--start", type=_start, nargs="+", default=["fitted"])
    one.add_argument(
        "--sample",
        type=Sample.of,
        nargs="*",
        default=[],
        metavar="SHARE:SWEEPS:ETA:TRIALS:NEW",
        help="start from topics of this SHARE of the documents, and NEW ones begun where those explain least",
    )
    one.add_argument("--warm-up", type=int, help="sweeps in which eta rises")
    one.add_argument("--trials", type=int, default=SplitMerge().trials, help="split-merge trials per sweep")
    one.add_argument("--merges", action="store_true", help="only trials that merge large topics well")
    one.add_argument("--truth-sweeps", type=int, default=100)
    one.add_argument(
        "--level",
        type=float,
        nargs=2,
        metavar=("SCORE", "JOINT"),
        help="what an earlier run found for the truth, per word, instead of a chain from there",
    )
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
