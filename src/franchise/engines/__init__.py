"""How one sweep of a chain is made, and where its documents live."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from franchise._settings import is_one_of
from franchise.corpus import Corpus
from franchise.engines.collapsed import CollapsedEngine
from franchise.engines.engine import Counts, Engine, EngineSettings, Start, Swept, Trials
from franchise.engines.kinds import KINDS
from franchise.engines.partially_collapsed import PartiallyCollapsedEngine
from franchise.engines.partitions.cuda.availability import problem
from franchise.engines.starts.given_topics import CONTINUED, SEED_WORDS, TOPICS, GivenTopics
from franchise.errors import SettingsError


class EngineKind(NamedTuple):
    """What is known about an engine before it is made."""

    name: str
    new: Callable[[Corpus, EngineSettings], Engine]
    at_once: int | None = None  # how many chains can sweep at the same time; None: as cores allow
    seats_in_turn: bool = True  # it can seat words one by one (the sequential start)


ENGINES = {"collapsed": EngineKind("collapsed", CollapsedEngine)} | {
    kind.name: EngineKind(
        kind.name, partial(PartiallyCollapsedEngine, kind), kind.at_once, kind.seats_in_turn
    )
    for kind in KINDS.values()
}
GPU = "gpu"  # the name of the engine that needs a GPU
# Engines whose documents live with the workers of a cluster. In the second, each worker has a GPU.
RAY_GPU = "ray-gpu"
ON_RAY = ("ray", RAY_GPU)

__all__ = [
    "CONTINUED",
    "ENGINES",
    "GPU",
    "ON_RAY",
    "RAY_GPU",
    "SEED_WORDS",
    "TOPICS",
    "Counts",
    "Engine",
    "EngineKind",
    "EngineSettings",
    "GivenTopics",
    "Start",
    "Swept",
    "Trials",
    "engine_for",
    "engine_named",
]


# Larger corpora reach the same quality sooner with another engine, on one core (see the page on engines).
_MANY_WORDS = 1_000_000
# Larger corpora reach the same quality sooner on a GPU. In smaller ones the CPU does most of the work of a
# sweep (see the benchmarks).
GPU_WORDS = 10_000_000


def engine_for(name: str, corpus: Corpus, *, in_turn: bool = False) -> str:
    """Return the name of the engine for a corpus.

    ``"auto"`` depends on the size of the corpus and on whether there is a GPU, not on cores or memory. So the
    same seed gives the same chain on all machines without a GPU, and another chain, again the same, on all
    machines with GPUs of one kind. For the same chain on both sorts of machines, name the engine. A saved
    model contains the name of its engine. With `in_turn`, ``"auto"`` chooses only among engines that can seat
    words one by one (the sequential start).
    """
    if name != "auto":
        engine_named(name)
        return name
    if _is_for_gpu(corpus) and problem() is None:
        found = GPU
    elif corpus.n_words < _MANY_WORDS:
        found = "collapsed"
    else:
        found = "cells" if corpus.keeps_cells else "parallel"
    return "parallel" if in_turn and not ENGINES[found].seats_in_turn else found


def _is_for_gpu(corpus: Corpus) -> bool:
    """Return whether a GPU is the best place: the corpus is large, and consists of words, not cells."""
    return corpus.n_words >= GPU_WORDS and not corpus.keeps_cells


def engine_named(name: str) -> EngineKind:
    """Return the engine with this name."""
    if not is_one_of(name, ENGINES):
        known = ", ".join(repr(one) for one in ENGINES)
        raise SettingsError(
            f"engine={name!r}: there is no such engine; use 'auto' or one of {known}", code="unknown-choice"
        )
    return ENGINES[name]
