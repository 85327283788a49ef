"""How soon engines are how good: chains of several on one corpus, log p(x | c) per word against seconds."""

import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks.tables import show
from franchise import Chain, Corpus, Schedule
from franchise.sampling.settings import Settings

WARM_UP = 41  # sweeps and the start
CLOSE = 0.005  # nats per word: seeds differ by as much
MARKS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0)


def default_chain(
    corpus: Corpus, engine: str, threads: int, sweeps: int, init: str | int = "fitted", **other: Any
) -> Chain:
    """Return a chain with the default settings of the library, but for those that are given."""
    schedule = {name: other.pop(name) for name in ("warm_up", "split_merge") if name in other}
    settings: dict[str, Any] = dict(eta=0.1, init=init, sweeps=sweeps, chains=1, engine=engine, seed=0)
    plan = Settings(**settings | other, schedule=Schedule(**schedule)).plan()
    (chain,) = plan.chains(corpus)
    chain.use_threads(threads)
    return chain


def trajectory(corpus: Corpus, engine: str, threads: int, sweeps: int, limit: float) -> np.ndarray:
    """Run one chain for some time; return seconds, log p(x | c) per word and topics after every sweep."""
    began, rows = time.perf_counter(), []
    chain = default_chain(corpus, engine, threads, sweeps)
    while chain.sweeps_done < sweeps and time.perf_counter() - began < limit:
        chain.sweep() if len(chain.trace) else chain.start()
        last = chain.trace.last
        rows.append((time.perf_counter() - began, last["log_p_words"] / corpus.n_words, last["n_topics"]))
    return np.array(rows)


def compare(
    name: str,
    corpus: Corpus,
    engines: Iterable[str],
    threads: int,
    sweeps: int,
    seconds: float,
    measure: str = "collapsed",
) -> dict[str, np.ndarray]:
    """Run a chain of each engine, and print its score against time.

    Also print when it reaches, for good, the final score of the engine `measure`. Return the trajectories.
    """
    found = {engine: trajectory(corpus, engine, threads, sweeps, seconds) for engine in engines}
    marks = [mark for mark in MARKS if mark <= seconds]
    rows = []
    for engine, path in found.items():
        at = np.searchsorted(path[:, 0], marks, side="right") - 1
        rows.append(
            [engine, str(len(path) - 1), f"{path[0, 0]:.1f}"]
            + [f"{path[i, 1]:.3f} ({path[i, 2]:.0f})" if i >= 0 else "-" for i in at]
            + [_words_for(path, time_to(path, found[measure][-1, 1]))]
        )
    columns = ["engine", "sweeps", "start s", *(f"{mark:g} s" for mark in marks), "s to the same"]
    title = f"{name}: {corpus.n_words:,} words, {corpus.n_terms:,} terms, threads {threads}; "
    show(title + "log p(x | c) per word (topics)", columns, rows)
    return found


def time_to(path: np.ndarray, level: float) -> float | None:
    """Return when a trajectory comes close to a level, and stays there; None if it does not."""
    # Not in the warm-up, with its smaller eta.
    below = np.flatnonzero(path[:, 1] < level - CLOSE)
    place = max(WARM_UP, below[-1] + 1) if below.size else WARM_UP
    return float(path[place, 0]) if place < len(path) else None


def _words_for(path: np.ndarray, seconds: float | None) -> str:
    return f"not in {path[-1, 0]:.0f}" if seconds is None else f"{seconds:.1f}"
