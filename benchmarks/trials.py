"""How long the split-merge trials of a sweep take, in one thread and in several.

    python -m benchmarks.trials                                     (5 million planted words, a minute)
    python -m benchmarks.trials --words 20e6 --terms 50000 --topics 500 --trials 10
    python -m benchmarks.trials --words 3e6 --united                (pairs of topics as one: splits succeed)

The trials of one sweep, from the planted truth. Shown is processor time, of several threads that of the
slowest: what it takes where every thread has a core, about; so other work on the machine counts little.
"""

import argparse
import threading
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from benchmarks.parallel import PRIORS, large_planted
from benchmarks.planted_start import planted_state
from benchmarks.tables import console, show
from franchise import Corpus, SplitMerge
from franchise.engines import Trials
from franchise.engines.collapsed_sampler import CollapsedSampler
from franchise.engines.threads import Range, Threads
from franchise.model import State, copy_state
from franchise.random import SPLIT_MERGE, Key

KEY = Key(3, 0, 1, SPLIT_MERGE)
TIMES = 3


class Metered(Threads):
    """Adds up the processor time of the slowest thread of every call."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.slowest, self.here = 0.0, 0.0  # and what the calling thread spent meanwhile

    def each(self, work: Callable[[Range, Any], Any], ranges: Sequence[Range], memory: Sequence[Any]) -> None:
        spent: dict[int, float] = {}

        def metered(one: Range, own: Any) -> None:
            began, thread = time.thread_time(), threading.get_ident()
            work(one, own)
            spent[thread] = spent.get(thread, 0.0) + time.thread_time() - began

        began = time.thread_time()
        super().each(metered, ranges, memory)
        self.here += time.thread_time() - began
        self.slowest += max(spent.values(), default=0.0)


def at_once(corpus: Corpus, state: State, trials: Trials, threads: int) -> tuple[float, bytes]:
    """Return the seconds and the records of the trials."""
    sampler, meter = CollapsedSampler(corpus.arrays, copy_state(state)), Metered(threads)
    began = time.thread_time()
    _, records = sampler.try_splits_and_merges(KEY, trials, threads=meter)
    return time.thread_time() - began - meter.here + meter.slowest, records.tobytes()


def main() -> None:
    """Print how long the trials of a sweep take."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--words", type=float, default=5e6)
    parser.add_argument("--terms", type=int, default=20_000)
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--united", action="store_true", help="begin with pairs of planted topics as one")
    options = parser.parse_args()
    console.print("drawing the corpus ...")
    truth = large_planted(int(options.words), options.terms, options.topics)
    if options.united:
        truth = truth._replace(z=truth.z // 2)
    corpus, state = truth.corpus, planted_state(truth, PRIORS)
    trials = Trials(options.trials, SplitMerge().as_array())
    found = {}
    for n in options.threads:
        runs = [at_once(corpus, state, trials, n) for _ in range(TIMES + 1)]
        found[n] = runs[1:]  # the first may compile
    if len({records for runs in found.values() for _, records in runs}) != 1:
        raise SystemExit("the trials differ")
    medians = {n: median(seconds for seconds, _ in runs) for n, runs in found.items()}
    first = medians[options.threads[0]]
    rows = [[str(n), f"{seconds:.3f}", f"{first / seconds:.2f}"] for n, seconds in medians.items()]
    title = f"{options.trials} trials, {options.words:,.0f} words, {options.topics:,} planted topics"
    show(title, ["threads", "seconds", "times as fast"], rows)


if __name__ == "__main__":
    main()
