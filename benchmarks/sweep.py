"""How fast a sweep is: against a plain dense kernel, against the size of the corpus, and in memory.

    python -m benchmarks.sweep            (about five minutes on one core)
    python -m benchmarks.sweep --quick    (smaller corpora, about one minute)

Every table is measured in one run, the programs compared taking turns, so its ratios bear the
machine's noise; figures from different machines are not comparable.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.dense import dense_from, dense_word_tables
from benchmarks.planted_start import planted_state, started
from benchmarks.tables import show
from franchise import Chain
from franchise.corpus.synthetic import Planted, planted
from franchise.engines.collapsed_sampler import CollapsedSampler
from franchise.model import Priors, copy_state, joint
from franchise.model.state import NUMBERED, TOPICS
from franchise.moves import complete_move
from franchise.moves.concentrations import slice_concentrations
from franchise.moves.shared.scratch import new_scratch
from franchise.moves.table_topics import table_topics
from franchise.moves.word_tables import word_tables
from franchise.random import CONCENTRATIONS, TABLE_TOPICS, WORD_TABLES, Key
from franchise.sampling import Timetable
from franchise.storage.chain import ChainWriter

PRIORS = Priors(alpha=(1.0, 1.0), gamma=(1.0, 1.0), eta=0.1)
SETTLE = 3  # sweeps before the clock starts


class Sweeper:
    """A chain's moves, each with its own clock (CPU seconds of this thread)."""

    def __init__(self, corpus: Planted) -> None:
        self.arrays = corpus.corpus.arrays
        self.state = planted_state(corpus, PRIORS)
        self.scratch = new_scratch(self.arrays, self.state)
        self.priors = PRIORS.as_array()
        self.sweep = 0

    def _key(self, move: int) -> Key:
        return Key(0, 0, self.sweep, move)

    def words(self) -> None:
        self.sweep += 1
        key = self._key(WORD_TABLES)
        self.state, self.scratch, _ = complete_move(
            word_tables, key, self.arrays, self.state, self.scratch, "words"
        )

    def tables(self) -> None:
        key = self._key(TABLE_TOPICS)
        self.state, self.scratch, _ = complete_move(
            table_topics, key, self.arrays, self.state, self.scratch, "tables"
        )

    def rest(self) -> None:
        slice_concentrations(
            self._key(CONCENTRATIONS), self.arrays, self.state, self.scratch.concentrations, self.priors
        )
        joint(self.arrays, self.state, PRIORS)


def seconds(work: Callable[..., Any], *arguments: Any) -> float:
    """Return the CPU seconds that a call takes."""
    began = time.thread_time()
    work(*arguments)
    return time.thread_time() - began


def against_dense(n_topics: int, n_documents: int, sweeps: int) -> list[str]:
    """Compare the word move with the dense kernel, and look at the parts of a sweep."""
    corpus = planted(n_topics=n_topics, n_terms=10_000, n_documents=n_documents, document_length=100, seed=1)
    sweeper = Sweeper(corpus)
    dense = dense_from(sweeper.state)
    times = []
    for i in range(SETTLE + sweeps):
        times.append(
            (
                seconds(sweeper.words),
                seconds(sweeper.tables),
                seconds(sweeper.rest),
                seconds(dense_word_tables, Key(0, 0, i, 0), sweeper.arrays, dense),
            )
        )
    words, tables, rest, yardstick = np.median(np.array(times[SETTLE:]), axis=0)
    ratio = np.median([row[3] / row[0] for row in times[SETTLE:]])
    n_words = corpus.corpus.n_words
    whole = words + tables + rest
    terms_topics = sweeper.state.row_len[corpus.corpus.x].mean()
    return [
        str(n_topics),
        f"{terms_topics:.0f}",
        f"{n_words / yardstick / 1e6:.1f}",
        f"{n_words / words / 1e6:.1f}",
        f"{ratio:.1f}",
        f"{n_words / whole / 1e6:.1f}",
        f"{yardstick / whole:.2f}",
        f"{tables / whole:.0%}",
    ]


def growth(sizes: list[int], sweeps: int, vocabulary: Callable[[int], int]) -> tuple[list[list[str]], float]:
    """Time a sweep on corpora of growing size; return rows and the exponent of growth."""
    rows, measured = [], []
    for n_words in sizes:
        n_terms = vocabulary(n_words)
        corpus = planted(
            n_topics=100, n_terms=n_terms, n_documents=n_words // 100, document_length=100, seed=1
        )
        sweeper = Sweeper(corpus)
        times = []
        for _ in range(SETTLE + sweeps):
            times.append(seconds(sweeper.words) + seconds(sweeper.tables) + seconds(sweeper.rest))
        measured.append(np.median(times[SETTLE:]))
        rows.append(
            [
                f"{n_words:,}",
                f"{n_terms:,}",
                f"{measured[-1]:.3f}",
                f"{n_words / measured[-1] / 1e6:.2f}",
                f"{sweeper.state.row_len[corpus.corpus.x].mean():.0f}",
                f"{bytes_beyond_counts(sweeper) / n_words:.1f}",
            ]
        )
    exponent = float(np.polyfit(np.log(sizes), np.log(measured), 1)[0])
    return rows, exponent


def bytes_beyond_counts(sweeper: Sweeper) -> int:
    """Return the bytes of corpus, state and working memory, term-topic counts left out."""
    counts = {"row_k", "row_n"}
    state = sweeper.state._asdict()
    arrays = [array for name, array in state.items() if name not in counts]
    arrays += [array for own in sweeper.scratch for array in own]
    arrays += [sweeper.arrays.x, sweeper.arrays.doc_ptr]
    once = {id(array): array.nbytes for array in arrays}  # moves share some of their memory
    return sum(once.values())


def beside_a_sweep(n_documents: int) -> list[list[str]]:
    """Compare with a sweep what is done after it: a draw, numbers without gaps, a checkpoint."""
    corpus = planted(n_topics=100, n_terms=10_000, n_documents=n_documents, document_length=100, seed=1)
    chain = started(corpus, PRIORS, Timetable(sweeps=10**6, burn_in=10**6, split_merge=None), 0, "truth")
    sampler = chain.engine.sampler
    rows = {"a draw": chain.draw, "compaction": sampler.compact, "a checkpoint's arrays": chain.engine.arrays}
    times = [[seconds(chain.sweep), *map(seconds, rows.values())] for _ in range(SETTLE + 5)]
    sweep, *others = np.median(np.array(times[SETTLE:]), axis=0)
    return [
        [name, f"{1e3 * own:.2f}", f"{1e3 * sweep:.1f}", f"{own / sweep:.1%}"]
        for name, own in zip(rows, others, strict=True)
    ]


def dead_numbers() -> list[str]:
    """Time the Gibbs moves with the numbers of many dead topics, and without.

    Of 5,000 random topics most die in the first sweeps; documents have many tables.
    """
    corpus = planted(n_topics=100, n_terms=5_000, n_documents=1_000, document_length=100, seed=1)
    chain = Chain(corpus.corpus, Priors(alpha=20.0, gamma=5.0, eta=0.1), init=5_000, random_state=0)
    chain.start()
    uneven = chain.engine.sampler  # no sweep of a chain, whose topics are numbered without gaps
    sweep = 0
    while 4 * uneven.state.totals[TOPICS] > uneven.state.totals[NUMBERED]:
        sweep += 1
        uneven.gibbs(Key(0, 0, sweep, WORD_TABLES))
    even = CollapsedSampler(uneven.corpus, copy_state(uneven.state))
    even.compact()
    numbered, topics = int(uneven.state.totals[NUMBERED]), int(uneven.state.totals[TOPICS])
    times = []
    for i in range(sweep + 1, sweep + 6):
        times.append([seconds(sampler.gibbs, Key(0, 0, i, WORD_TABLES)) for sampler in (uneven, even)])
    each = np.median(np.array(times), axis=0) / corpus.corpus.n_words * 1e9
    return [f"{numbered:,}", f"{topics:,}", f"{each[0]:.0f}", f"{each[1]:.0f}", f"{each[0] / each[1]:.1f}"]


def checkpoints() -> list[list[str]]:
    """Time a checkpoint of a short trace and of a long one."""
    corpus = planted(n_topics=10, n_terms=500, n_documents=100, document_length=50, seed=1)
    chain = started(corpus, PRIORS, Timetable(sweeps=10**6, burn_in=10**6), 0, "truth")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        writer = ChainWriter(Path(folder))
        for sweeps in (100, 4_000):
            chain.run(sweeps - 10 - chain.sweeps_done)
            writer.save(chain)
            spent = []
            for _ in range(10):
                chain.sweep()
                spent.append(seconds(writer.save, chain))
            rows.append([f"{sweeps:,}", f"{len(chain.events):,}", f"{1e3 * np.median(spent):.2f}"])
    return rows


_FIRST_CALL = """
import time
began = time.perf_counter()
import franchise
imported = time.perf_counter() - began
from franchise.corpus.synthetic import five_topics
chain = franchise.Chain(five_topics(0).corpus, random_state=1)
chain.run(2)
print(imported, time.perf_counter() - began)
"""


def start_up() -> list[list[str]]:
    """Time the import, the first run with an empty cache, and the next process."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        rows = []
        for name in ("empty cache", "next process"):
            command = [sys.executable, "-c", _FIRST_CALL]
            answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            imported, ready = map(float, answer.stdout.split())
            rows.append([name, f"{imported:.3f}", f"{ready:.2f}"])
    return rows


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick

    n_documents, sweeps = (2_000, 5) if quick else (10_000, 9)
    show(
        f"Planted corpus, {100 * n_documents:,} words, V = 10,000, at the planted state; millions of words "
        "a second on one core",
        [
            "K",
            "topics per term",
            "dense words",
            "words",
            "words/dense",
            "sweep",
            "sweep/dense",
            "tables' share",
        ],
        [against_dense(n_topics, n_documents, sweeps) for n_topics in (100, 1000)],
    )
    sizes = [100_000, 300_000, 1_000_000] if quick else [100_000, 1_000_000, 10_000_000]
    columns = ["words", "terms", "seconds", "M words/s", "topics per term", "bytes per word, without counts"]
    for name, vocabulary in (
        ("as many terms as in text (Heaps' law)", lambda n_words: int(10 * n_words**0.5)),
        ("always 10,000 terms", lambda n_words: 10_000),
    ):
        rows, exponent = growth(sizes, 3 if quick else 5, vocabulary)
        show(f"A sweep against the words of the corpus, {name}: exponent {exponent:.2f}", columns, rows)
    show(
        f"Beside a sweep, {100 * n_documents:,} words, K = 100; CPU milliseconds",
        ["", "ms", "a sweep, ms", "of a sweep"],
        beside_a_sweep(n_documents),
    )
    show(
        "The Gibbs moves with the numbers of dead topics, and without; ns per word",
        ["numbers", "topics", "with", "without", "ratio"],
        [dead_numbers()],
    )
    show(
        "A checkpoint of a chain of 5,000 words, CPU milliseconds, by the length of its trace",
        ["sweeps", "events", "ms"],
        checkpoints(),
    )
    show("Start-up, seconds", ["", "import franchise", "ready after 2 sweeps"], start_up())


if __name__ == "__main__":
    main()
