"""Split-merge trials made at once in threads, against the same trials one after another.

    python -m benchmarks.trials                                     (5 million planted words, a minute)
    python -m benchmarks.trials --words 20e6 --terms 50000 --topics 500 --trials 10
    python -m benchmarks.trials --words 3e6 --united                (pairs of topics as one: splits succeed)

The trials of one sweep, from the planted truth. Shown is processor time, of several threads that of the
slowest: what it takes where every thread has a core, about; so other work on the machine counts little. The
kernel that makes them one after another needs the words of all documents laid out by table: that is counted.
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
from franchise._jit import kernel
from franchise.engines import Trials
from franchise.engines.threads import Range, Threads
from franchise.engines.workbench import Workbench
from franchise.model import State, copy_state
from franchise.moves.shared.table_index import lay_out_document
from franchise.random import SPLIT_MERGE, Key

KEY = Key(3, 0, 1, SPLIT_MERGE)
TIMES = 3


@kernel
def lay_out(corpus, state, tables):
    """Lay out the words of all documents by table."""
    for j in range(state.m_j.size):
        lay_out_document(corpus, state, tables, j)


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


def one_after_another(corpus: Corpus, state: State, trials: Trials) -> tuple[float, bytes]:
    """Return the seconds and the records of trials made by one kernel."""
    bench = Workbench(corpus.arrays, copy_state(state))
    began = time.thread_time()
    lay_out(corpus.arrays, bench.state, bench._scratch.tables)
    bench._laid_out = True
    _, records = bench.try_splits_and_merges(KEY, trials)
    return time.thread_time() - began, records.tobytes()


def at_once(corpus: Corpus, state: State, trials: Trials, threads: int) -> tuple[float, bytes]:
    """Return the seconds and the records of trials made in threads."""
    bench = Workbench(corpus.arrays, copy_state(state))
    bench.threads = meter = Metered(threads)
    began = time.thread_time()
    _, records = bench.try_splits_and_merges(KEY, trials)
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
    ways = {"one after another": lambda: one_after_another(corpus, state, trials)}
    ways |= {f"at once, threads: {n}": lambda n=n: at_once(corpus, state, trials, n) for n in options.threads}
    found = {name: [way() for _ in range(TIMES + 1)][1:] for name, way in ways.items()}  # the first compiles
    if len({records for runs in found.values() for _, records in runs}) != 1:
        raise SystemExit("the trials differ")
    first = median(seconds for seconds, _ in found["one after another"])
    rows = []
    for name, runs in found.items():
        seconds = median(seconds for seconds, _ in runs)
        rows.append([name, f"{seconds:.3f}", f"{first / seconds:.2f}"])
    title = f"{options.trials} trials, {options.words:,.0f} words, {options.topics:,} planted topics"
    show(title, ["way", "seconds", "times as fast"], rows)


if __name__ == "__main__":
    main()
