"""How well chains mix: Gibbs alone, the paper's split-merge, and this library's default.

    python -m benchmarks.mixing planted cost                 (about five minutes on two cores)
    python -m benchmarks.mixing text --data FOLDER           (Reuters and AP: reuters.npz, ap.npz)
    python -m benchmarks.mixing planted --quick              (fewer seeds)

FOLDER holds .npz files with `train`, `test` (term ids, documents end to end), `train_ptr`, `test_ptr`
(offsets of the documents) and `vocab_size`. The paper's own experiments are in `experiments`.
"""

import argparse
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import Progress

from benchmarks.completion import completion
from benchmarks.planted_start import started
from benchmarks.tables import console, show
from franchise import Chain, Corpus, Priors
from franchise.corpus.synthetic import Planted, planted
from franchise.engines import Trials
from franchise.engines.collapsed_sampler import CollapsedSampler
from franchise.model import copy_state
from franchise.moves.split_merge import RECORD
from franchise.random import SPLIT_MERGE, Key
from franchise.sampling import Proposal, SplitMerge, Timetable

_CALLS = 30
METHODS = {"Gibbs": None, "paper": SplitMerge.paper(), "default": SplitMerge()}
VARIANTS = METHODS | {
    "paper x 10": SplitMerge.paper(trials=10),
    "balanced": SplitMerge(proposals=(Proposal(anchors="balanced"),)),
    "similar": SplitMerge(proposals=(Proposal(anchors="similar"),)),
    "1 scan": SplitMerge(proposals=(Proposal(anchors="balanced", scans=1),)),
    "3 scans": SplitMerge(proposals=(Proposal(anchors="balanced", scans=3),)),
    "uniform, 3 scans": SplitMerge(trials=10, proposals=(Proposal(scans=3),)),
}


def schedule_with(method: str) -> Timetable:
    """Return the schedule of a chain that keeps no draws."""
    return Timetable(sweeps=10**6, burn_in=10**6, split_merge=VARIANTS[method])


def in_parallel(work: Callable[..., Any], jobs: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Run the jobs in two threads, with progress."""
    jobs = list(jobs)
    with Progress(console=console, transient=True) as progress, ThreadPoolExecutor(2) as pool:
        task = progress.add_task(work.__name__, total=len(jobs))

        def run(job: tuple[Any, ...]) -> Any:
            result = work(*job)
            progress.advance(task)
            return result

        return list(pool.map(run, jobs))


def accepted(chain: Chain) -> tuple[float, ...]:
    """Return splits tried and accepted, merges tried and accepted, words moved."""
    names = ("splits_tried", "splits", "merges_tried", "merges", "words_moved")
    if "split_merge.splits" not in chain.trace.columns:
        return (0.0,) * len(names)
    return tuple(float(np.nansum(chain.trace[f"split_merge.{name}"])) for name in names)


def show_accepted(numbers: np.ndarray) -> list[str]:
    """Format what `accepted` returns, added up over chains."""
    splits_tried, splits, merges_tried, merges, moved = numbers
    if splits_tried + merges_tried == 0:
        return ["-", "-", "-", "-"]
    rate = (splits + merges) / (splits_tried + merges_tried)
    return [
        f"{splits:.0f} of {splits_tried:,.0f}",
        f"{merges:.0f} of {merges_tried:,.0f}",
        f"{rate:.1%}",
        f"{moved:,.0f}",
    ]


ACCEPTED = ["splits", "merges", "accepted", "words moved"]


# ---------------------------------------------------------------- planted corpora


def planted_corpus(which: str, seed: int) -> Planted:
    """Draw one of the two corpora."""
    if which == "30 topics":
        sizes = {"n_topics": 30, "n_terms": 3_000, "n_documents": 2_000, "document_length": 50}
        return planted(**sizes, seed=seed, topic_concentration=0.05, document_concentration=1.0)
    sizes = {"n_topics": 80, "n_terms": 2_000, "n_documents": 800, "document_length": 120}
    return planted(**sizes, seed=seed, topic_concentration=0.05, document_concentration=1.0, overlap=0.7)


def escape(which: str, start: str, method: str, seed: int) -> tuple[dict[int, float], float, int, Any]:
    """Run 200 sweeps; return log p(x | c) per word at three of them, CPU seconds, topics and trials."""
    truth = planted_corpus(which, seed)
    priors = Priors(alpha=(1.0, 1.0), gamma=(1.0, 1.0), eta=0.1)
    chain = started(truth, priors, schedule_with(method), seed, start)
    began = time.thread_time()
    for _ in range(200):
        chain.sweep()
    seconds = time.thread_time() - began
    words = chain.trace["log_p_words"] / truth.corpus.n_words
    return (
        {sweep: words[sweep] for sweep in (50, 100, 200)},
        seconds,
        chain.trace.last["n_topics"],
        accepted(chain),
    )


def show_planted(seeds: int, methods: list[str]) -> None:
    """Print the gap to the planted truth from two bad starts."""
    corpora, starts = ("30 topics", "40 pairs"), ("one", "sequential")
    jobs = [(which, "truth", "Gibbs", seed) for which in corpora for seed in range(seeds)]
    jobs += [
        (which, start, method, seed)
        for which in corpora
        for start in starts
        for method in methods
        for seed in range(seeds)
    ]
    results = dict(zip(jobs, in_parallel(escape, jobs), strict=True))

    def gap(which: str, start: str, method: str, sweep: int) -> np.ndarray:
        own = [results[which, start, method, seed][0][sweep] for seed in range(seeds)]
        truth = [results[which, "truth", "Gibbs", seed][0][200] for seed in range(seeds)]
        return np.array(truth) - np.array(own)

    rows = []
    for which in corpora:
        for start in starts:
            for method in methods:
                own = [results[which, start, method, seed] for seed in range(seeds)]
                closed = 1 - gap(which, start, method, 200).mean() / gap(which, start, "Gibbs", 200).mean()
                rows.append(
                    [
                        which,
                        start,
                        method,
                        *(f"{gap(which, start, method, sweep).mean():.3f}" for sweep in (50, 100, 200)),
                        f"{closed:.0%}",
                        f"{np.mean([one[2] for one in own]):.0f}",
                        f"{np.mean([one[1] for one in own]):.1f}",
                        *show_accepted(np.sum([one[3] for one in own], axis=0)),
                    ]
                )
    show(
        f"Planted corpora, {seeds} seeds: log p(x | c) per word below a chain from the planted truth, "
        "after 50, 100 and 200 sweeps",
        ["corpus", "start", "method", "50", "100", "200", "closed", "K", "CPU s", *ACCEPTED],
        rows,
    )


# ---------------------------------------------------------------- text


def read_split(path: Path) -> tuple[Corpus, list[np.ndarray]]:
    """Read the training corpus and the test documents."""
    with np.load(path) as data:
        vocabulary = tuple(map(str, range(int(data["vocab_size"]))))
        corpus = Corpus(data["train"], data["train_ptr"], vocabulary)
        return corpus, np.split(data["test"], data["test_ptr"][1:-1])


def text(path: Path, eta: float, start: str, method: str, seed: int) -> tuple[Any, Any, float, Any]:
    """Run 60 sweeps; return scores and CPU seconds every ten of them, topics, trials."""
    corpus, test = read_split(path)
    priors = Priors(alpha=(1.0, 1.0), gamma=(1.0, 1.0), eta=eta)
    chain = Chain(corpus, priors, schedule_with(method), random_state=seed, init=start)
    began = time.thread_time()
    chain.start()
    seconds, scores, spent = [], [], time.thread_time() - began
    for sweep in range(1, 61):
        began = time.thread_time()
        chain.sweep()
        spent += time.thread_time() - began
        if sweep % 10 == 0:
            scores.append(completion(chain.draw(), test))
            seconds.append(spent)
    return np.array(scores), np.array(seconds), chain.trace.last["n_topics"], accepted(chain)


def show_text(folder: Path, seeds: int, methods: list[str]) -> None:
    """Print held-out scores against CPU time."""
    corpora = [path for name in ("reuters", "ap") if (path := folder / f"{name}.npz").exists()]
    if not corpora:
        raise SystemExit(f"no reuters.npz or ap.npz in {folder}: give the folder that holds them with --data")
    cases = [(path, eta, start) for path in corpora for eta in (0.1, 0.5) for start in ("sequential", "one")]
    jobs = [(*case, method, seed) for case in cases for method in methods for seed in range(seeds)]
    results = dict(zip(jobs, in_parallel(text, jobs), strict=True))
    rows = []
    for case in cases:
        goal = np.mean([results[(*case, "Gibbs", seed)][0][-1] for seed in range(seeds)])
        for method in methods:
            own = [results[(*case, method, seed)] for seed in range(seeds)]
            scores, seconds = (
                np.mean([one[0] for one in own], axis=0),
                np.mean([one[1] for one in own], axis=0),
            )
            reached = np.flatnonzero(scores >= goal)
            rows.append(
                [
                    case[0].stem,
                    str(case[1]),
                    case[2],
                    method,
                    *(f"{scores[sweep // 10 - 1]:.3f}" for sweep in (10, 30, 60)),
                    f"{seconds[reached[0]]:.1f}" if reached.size else "-",
                    f"{seconds[-1]:.1f}",
                    f"{np.mean([one[2] for one in own]):.0f}",
                    *show_accepted(np.sum([one[3] for one in own], axis=0)),
                ]
            )
    show(
        f"Text, {seeds} seeds: held-out completion (nats per word) after 10, 30, 60 sweeps; CPU seconds to "
        "Gibbs' score at 60 sweeps, and for all 60",
        ["corpus", "eta", "start", "method", "10", "30", "60", "s to goal", "s", "K", *ACCEPTED],
        rows,
    )


# ---------------------------------------------------------------- cost


def cost(n_topics: int) -> list[list[str]]:
    """Time sweeps, and many trials at once, on a planted corpus of a million words at the planted state."""
    truth = planted(n_topics=n_topics, n_terms=10_000, n_documents=10_000, document_length=100, seed=1)
    priors = Priors(alpha=(1.0, 1.0), gamma=(1.0, 1.0), eta=0.1)
    chain = started(truth, priors, schedule_with("Gibbs"), 1, "truth")
    sweeps = []
    for _ in range(6):
        began = time.thread_time()
        chain.sweep()
        sweeps.append(time.thread_time() - began)
    sweep = np.median(sweeps[2:])
    rows = []
    for method in ("paper", "default"):
        setting = VARIANTS[method]
        trials = Trials(10, setting.as_array())
        sampler = CollapsedSampler(truth.corpus.arrays, copy_state(chain.state))
        spent, words = [], []
        for sweep_number in range(_CALLS + 1):  # the first compiles
            key = Key(1, 0, sweep_number, SPLIT_MERGE)
            began = time.thread_time()
            _, records = sampler.try_splits_and_merges(key, trials)
            spent.append(time.thread_time() - began)
            words.append(records[:, RECORD.index("words")].mean())
        each = np.mean(spent[1:]) / 10
        words = np.mean(words[1:])
        rows.append(
            [
                str(n_topics),
                f"{truth.corpus.n_words / n_topics:,.0f}",
                method,
                f"{words:,.0f}",
                f"{1e6 * each:,.0f}",
                f"{1e9 * each / words:.0f}",
                f"{1 / each:,.0f}",
                f"{10 * each / sweep:.0%}",
            ]
        )
    return rows


def show_cost() -> None:
    """Print what trials cost."""
    show(
        f"Cost of a trial, one million words, ten per call with the index of tables, {_CALLS} calls",
        [
            "K",
            "words per topic",
            "method",
            "words per trial",
            "us",
            "ns per word",
            "trials/s",
            "ten, of a sweep",
        ],
        [row for n_topics in (100, 1_000) for row in cost(n_topics)],
    )


def main() -> None:
    """Print the tables asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", nargs="+", choices=["planted", "text", "cost"])
    parser.add_argument("--data", type=Path, help="folder with reuters.npz and ap.npz, for text")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--quick", action="store_true", help="few seeds")
    parser.add_argument("--variants", action="store_true", help="all variants, not only the three methods")
    arguments = parser.parse_args()
    methods = list(VARIANTS if arguments.variants else METHODS)
    if "planted" in arguments.what:
        show_planted(arguments.seeds or (1 if arguments.quick else 3), methods)
    if "text" in arguments.what:
        if arguments.data is None:
            parser.error("text needs --data FOLDER with reuters.npz and ap.npz")
        show_text(arguments.data, arguments.seeds or (1 if arguments.quick else 3), methods)
    if "cost" in arguments.what:
        show_cost()


if __name__ == "__main__":
    main()
