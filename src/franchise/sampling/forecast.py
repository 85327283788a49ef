"""The time and memory that a run will take, from a few sweeps over some of its documents."""

import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from franchise.corpus import Corpus
from franchise.engines import engine_for
from franchise.moves.split_merge import split_merge
from franchise.moves.table_topics import table_topics
from franchise.moves.word_tables import word_tables
from franchise.sampling.chain import Chain
from franchise.sampling.plan import Plan
from franchise.sampling.run import MOST_THREADS, threads
from franchise.sampling.trace import LARGE_DRAW

_SWEEPS = 3
_MOST_WORDS = 100_000  # what a few sweeps take a second or two for
_LARGE_DRAWS = 3  # that a chain has in memory: one that is kept, one that is written, and the mode
_FEW = Corpus([0, 1, 0, 1], [0, 2, 4], ["a", "b"])
_LONGEST_TO_COMPILE = (word_tables, table_topics, split_merge)


class Forecast(NamedTuple):
    """The time and memory that a run will take."""

    seconds: float
    memory: int  # bytes

    @property
    def text(self) -> str:
        """The time in words."""
        for size, unit in ((3600.0, "hours"), (60.0, "minutes")):
            if self.seconds > 1.5 * size:
                return f"{self.seconds / size:.0f} {unit}"
        return f"{max(1, round(self.seconds))} seconds"


def forecast(plan: Plan, corpus: Corpus, jobs: int | None) -> Forecast:
    """Make a few sweeps of the first chain, and estimate what all sweeps of all chains will take.

    Of a large corpus only some documents are looked at, so that this takes a few seconds at most once the
    sampler has been compiled.
    """
    plan = replace(plan, engine=engine_for(plan.engine, corpus))  # not by the size of a part
    Chain(_FEW, plan.priors, plan.schedule, engine=plan.engine).run(2)  # compiles if needed
    part = _part_of(corpus)
    larger = corpus.n_words / part.n_words
    (first, *_) = plan.chains(part)
    at_once = threads(jobs, len(plan.starts))
    first.use_threads(threads(jobs, MOST_THREADS) // at_once)
    began = time.perf_counter()
    first.start()
    started = time.perf_counter()
    for _ in range(_SWEEPS):
        first.sweep()
    a_sweep = (time.perf_counter() - started) / _SWEEPS
    rounds = -(-len(plan.starts) // at_once)
    seconds = larger * rounds * (started - began + a_sweep * plan.schedule.sweeps)
    return Forecast(seconds, len(plan.starts) * _bytes_of(first, corpus, larger))


def is_compiled() -> bool:
    """Return whether the sampler has been compiled on this machine, which takes about a minute."""
    return all(_has_cache(kernel) for kernel in _LONGEST_TO_COMPILE)


def _part_of(corpus: Corpus) -> Corpus:
    """Return documents at equal distances that have no more words in all than can be looked at."""
    n_documents = int(corpus.n_documents * min(1.0, _MOST_WORDS / corpus.n_words))
    if n_documents == corpus.n_documents:
        return corpus
    chosen = np.linspace(0, corpus.n_documents - 1, max(2, n_documents)).astype(int)
    documents = [corpus.document(j)[:_MOST_WORDS] for j in np.unique(chosen)]
    if not any(map(len, documents)):
        return corpus
    return Corpus(np.concatenate(documents), np.cumsum([0, *map(len, documents)]), corpus.vocabulary)


def _bytes_of(chain: Chain, corpus: Corpus, larger: float) -> int:
    """Return the memory of a chain and its draws; of large ones, few are in memory at a time."""
    draw, schedule = chain.draw(), chain.schedule
    kept = sum(schedule.keeps(sweep) for sweep in range(1, schedule.sweeps + 1))
    if larger * draw.n_bytes >= LARGE_DRAW:
        kept = min(kept, _LARGE_DRAWS)
    of_state: int = sum(array.nbytes for array in chain.state)
    return int(larger * (kept * draw.n_bytes + of_state)) + 4 * corpus.n_words


def _has_cache(kernel: object) -> bool:
    """Return whether a kernel's compiled code is on disk, and newer than its source."""
    stats, function = getattr(kernel, "stats", None), getattr(kernel, "py_func", None)
    if stats is None or function is None:
        return True  # the compiler is off
    source = Path(function.__code__.co_filename)
    found = Path(stats.cache_path).glob(f"{source.stem}.{function.__name__}-*.nbi")
    return any(path.stat().st_mtime >= source.stat().st_mtime for path in found)
