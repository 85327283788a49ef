"""A forecast of the time and memory of a run, from a few sweeps over some of its documents."""

import time
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from franchise._draws import LARGE_DRAW
from franchise._settings import is_one_of
from franchise._threads import threads
from franchise.corpus import Corpus, ShardedCorpus
from franchise.engines import GPU, RAY_GPU, engine_named
from franchise.engines.compiling import FEW_WORDS
from franchise.sampling.chain import Chain
from franchise.sampling.choices import start_for
from franchise.sampling.plan import Plan
from franchise.sampling.run import shares
from franchise.sampling.schedule import SHARED
from franchise.sampling.short_runs import NUMBER, SHARE, SWEEPS

_SWEEPS = 3
_MOST = 100_000  # words, or cells: a few sweeps over them take a second or two
# A GPU is faster, and its work repeats every ten sweeps, not every sweep.
_SWEEPS_ON_GPU, _MOST_ON_GPU = 10, 2_000_000
_LARGE_DRAWS = 3  # in memory per chain: one being kept, one being written, and the mode


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


class _Timed(NamedTuple):
    """The time of a few sweeps over a part of the documents."""

    chain: Chain
    size: int  # words, or cells
    start: float  # seconds
    sweep: float


def forecast(plan: Plan, corpus: Corpus, jobs: int | None) -> Forecast:
    """Make a few sweeps of the first chain, and estimate the time and memory of the whole run.

    Only some documents of a large corpus are used, so this takes a few seconds at most once the sampler is
    compiled. If some of the time does not depend on the number of documents, two parts of different size
    show how much. For an engine on a cluster, the forecast is for this machine alone.
    """
    engine = plan.engine_of(corpus)  # chosen by the whole corpus, not by a part of it
    # The time on a cluster depends on its machines. This machine makes the same chain alone.
    here = {"ray": "parallel", RAY_GPU: GPU}
    starts = [start_for(start, corpus) for start in plan.starts]
    has_short_runs = any(is_one_of(start, ["consensus"]) for start in starts)
    # A single chain cannot start from topics that the chains of a run find together.
    starts = ["fitted" if is_one_of(start, SHARED) else start for start in starts]
    plan = replace(plan, engine=here.get(engine, engine), starts=tuple(starts))
    few = Chain(FEW_WORDS, plan.priors, plan.schedule, engine=plan.engine, init="one", random_state=0)
    few.run(2)  # compiles if needed
    at_once, own = shares(jobs, len(plan.starts), engine_named(plan.engine).at_once)
    most = _MOST_ON_GPU if plan.engine == GPU else _MOST
    part = _timed(plan, _part_of(plan, corpus, most), own)
    size = _size(plan, corpus)
    larger, start, sweep = size / part.size, part.start, part.sweep
    if plan.engine == "collapsed":
        start, sweep = larger * start, larger * sweep
    elif part.size < size:
        more = _timed(plan, _part_of(plan, corpus, 3 * most), own)
        start, sweep = (
            then + max(0.0, then - now) * (size - more.size) / max(1, more.size - part.size)
            for now, then in ((part.start, more.start), (part.sweep, more.sweep))
        )
    rounds = -(-len(plan.starts) // at_once)
    seconds = rounds * (start + sweep * plan.schedule.sweeps)
    if has_short_runs:
        seconds += _of_short_runs(plan, corpus, jobs)
    of_corpus = 8 * corpus.cells.terms.size if corpus.keeps_cells else 4 * corpus.n_words
    return Forecast(seconds, len(plan.starts) * _bytes_of(part.chain, larger) + of_corpus)


def _of_short_runs(plan: Plan, corpus: Corpus, jobs: int | None) -> float:
    """Return the seconds of the short runs before the chains. They have an engine of their own."""
    plan = replace(plan, engine="collapsed")
    one = _timed(plan, _part_of(plan, corpus, _MOST), 1)
    each = _size(plan, corpus) / one.size * (one.start + SWEEPS * one.sweep)
    return NUMBER * SHARE * each / threads(jobs, NUMBER)


def _timed(plan: Plan, part: Corpus, own_threads: int) -> _Timed:
    (chain, *_) = plan.chains(part)
    chain.use_threads(own_threads)
    began = time.perf_counter()
    chain.start()
    started, sweeps = time.perf_counter(), _SWEEPS_ON_GPU if plan.engine == GPU else _SWEEPS
    for _ in range(sweeps):
        chain.sweep()
    a_sweep = (time.perf_counter() - started) / sweeps
    return _Timed(chain, _size(plan, part), started - began, a_sweep)


def _size(plan: Plan, corpus: Corpus) -> int:
    """Return the number of words, or of cells, that a sweep goes through."""
    return corpus.cells.terms.size if plan.engine == "cells" else corpus.n_words


def _part_of(plan: Plan, corpus: Corpus, most: int) -> Corpus:
    """Return evenly spaced documents with at most `most` words, or cells, in all."""
    n_documents = int(corpus.n_documents * min(1.0, most / _size(plan, corpus)))
    if n_documents == corpus.n_documents:
        return corpus
    if isinstance(corpus, ShardedCorpus):
        chosen = corpus.spread(max(2, n_documents))
    else:
        chosen = np.unique(np.linspace(0, corpus.n_documents - 1, max(2, n_documents)).astype(int))
    if plan.engine == "cells":
        part = corpus.select(chosen)
        return part if part.n_words else corpus
    documents = [corpus.document(j)[:most] for j in chosen]
    if not any(map(len, documents)):
        return corpus
    return Corpus(np.concatenate(documents), np.cumsum([0, *map(len, documents)]), corpus.vocabulary)


def _bytes_of(chain: Chain, larger: float) -> int:
    """Return the memory of a chain and its draws. Only a few large draws are in memory at a time."""
    draw, schedule = chain.draw(), chain.schedule
    kept = sum(schedule.keeps(sweep) for sweep in range(1, schedule.sweeps + 1))
    if larger * draw.n_bytes >= LARGE_DRAW:
        kept = min(kept, _LARGE_DRAWS)
    return int(larger * (kept * draw.n_bytes + chain.engine.n_bytes))
