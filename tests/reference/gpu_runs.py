"""Runs of the GPU engine on small corpora, on the host or on a GPU."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pytest

from franchise.corpus import Corpus, planted
from franchise.engines import ENGINES, EngineSettings, Swept, kinds
from franchise.engines.partially_collapsed import PartiallyCollapsedEngine
from franchise.engines.partitions.cuda import layout
from franchise.engines.pools import local
from franchise.engines.starts.em import first_topics
from franchise.engines.starts.starting_topics import StartingTopics
from franchise.model import Priors
from franchise.model.packing import packed
from franchise.random import Key
from tests.reference.enumeration import Posterior
from tests.reference.franchise import corpus_of
from tests.reference.parallel import seating, trials_of
from tests.reference.trials import KINDS

NOW_AND_THEN = 4  # sweeps from one with collapsed moves to the next
# Documents of more words than that go the way of long ones.
WAYS = {"regular": layout.LONG, "long": 0, "mixed": 2}


@contextmanager
def seldom(way: str = "regular", every: int = NOW_AND_THEN) -> Iterator[None]:
    """Let collapsed moves be seldom, one document at a time, as they are in large corpora.

    A tiny corpus is otherwise visited as a whole in every sweep, which would hide errors of the pass.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kinds, "MANY_WORDS", 0)
        patch.setattr(kinds, "EVERY", every)
        patch.setattr(kinds, "COLLAPSED_WORDS", 1)
        patch.setattr(kinds.Kind, "trials_due", lambda kind, trials, *_: trials)  # not those of ten sweeps
        patch.setattr(layout, "LONG", WAYS[way])
        yield


def visited(
    posterior: Posterior,
    device: Any,
    seed: int,
    sweeps: int,
    burn_in: int,
    epsilon: float,
    way: str = "regular",
) -> np.ndarray:
    """Make sweeps; return the number in `Posterior.seatings` of each state visited."""
    corpus = corpus_of(posterior.documents, posterior.n_terms)
    begins = np.repeat(corpus.doc_ptr[:-1], np.diff(corpus.doc_ptr))
    states = []
    with seldom(way), on_device(device):
        settings = EngineSettings(Priors(**posterior.at._asdict()), capacity=1)
        engine = ENGINES["gpu"].new(corpus, settings)
        engine._epsilon = epsilon
        engine.start(Key(seed, 0, 0, 0), "sequential")
        for sweep in range(1, burn_in + sweeps + 1):
            engine.sweep(Key(seed, 0, sweep, 0), trials_of(KINDS))
            if sweep > burn_in:
                seats = documents_of(engine).seating()
                states.append(np.concatenate([seats["t_ji"], seats["k_jt"][begins + seats["t_ji"]]]))
    kinds, which = np.unique(states, axis=0, return_inverse=True)
    numbers = [posterior.number[seating(corpus.arrays, *np.split(row, 2))] for row in kinds]
    return np.array(numbers)[which]


class Case(NamedTuple):
    """A corpus with settings, to compare runs to the bit."""

    corpus: Corpus
    priors: Priors
    start: str | int = "one"
    way: str = "regular"
    every: int = 3  # sweeps from one with collapsed moves to the next
    epsilon: float | None = None


def _odd() -> Corpus:
    """Return documents of very different lengths: none, one, more than is tabulated."""
    rng = np.random.default_rng(5)
    lengths = [0, 1, 2, 700, 0, *rng.integers(1, 60, 70).tolist(), 9, 9, 0]
    return corpus_of([rng.zipf(1.3, n).clip(1, 90).tolist() for n in lengths], 91)


def cases() -> dict[str, Case]:
    """Return cases by name."""
    small = planted(n_topics=5, n_terms=70, n_documents=50, document_length=20, seed=3).corpus
    sampled = Priors(alpha=(1.0, 1.0), gamma=(1.0, 1.0), eta=(1.0, 1.0))
    many = Priors(alpha=30.0, gamma=50.0, eta=1.0)
    return {
        "plain": Case(small, Priors(), "sequential"),
        "collapsed moves in every sweep": Case(small, Priors(), every=1),
        "no collapsed moves": Case(small, Priors(), 6, every=100),
        "sampled eta": Case(small, sampled, 4),
        "sampled eta, no collapsed moves": Case(small, sampled, 4, every=100),
        "tiny eta": Case(small, Priors(alpha=1.0, gamma=2.0, eta=1e-9), 3),
        "vanishing eta": Case(small, Priors(alpha=1.0, gamma=2.0, eta=1e-100), 3),
        "many topics": Case(small, many, 40),
        "topics rest": Case(_odd(), Priors(alpha=2.0, gamma=3.0, eta=0.3), 12, epsilon=0.05),
        "fitted": Case(_odd(), sampled, "fitted", "mixed"),
        "odd lengths": Case(_odd(), sampled, 7),
        "odd lengths, many topics": Case(_odd(), many, 30),
        "long": Case(_odd(), sampled, 7, "long"),
        "mixed": Case(_odd(), many, 30, "mixed"),
        "one term": Case(corpus_of([[0, 0, 0], [0], [0, 0]], 1), sampled),
        "one word": Case(corpus_of([[2]], 3), sampled),
        "one document": Case(corpus_of([[0, 1, 2, 1, 0] * 7], 3), sampled),
        "alone and long": Case(corpus_of([[0, 1, 2, 1, 0] * 7], 3), sampled, "one", "long"),
    }


CASES = list(cases())


@contextmanager
def on_device(device: Any) -> Iterator[None]:
    """Make this the GPU of the machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "gpu", lambda: device)
        yield


def documents_of(engine: PartiallyCollapsedEngine, number: int = 0) -> Any:
    """Return the documents of a partition on the GPU."""
    return engine._pool.partitions[number]._to_gpu(engine.n_topics)


def new_engine(case: Case, **settings: Any) -> PartiallyCollapsedEngine:
    """Return an engine at its start, on the current device (`on_device`)."""
    engine = ENGINES["gpu"].new(case.corpus, EngineSettings(case.priors, capacity=1, **settings))
    if case.epsilon is not None:
        engine._epsilon = case.epsilon
    engine.start(Key(11, 0, 0, 0), _first_topics(case))
    return engine


def _first_topics(case: Case) -> str | int | StartingTopics:
    return first_topics(case.start, case.corpus, case.priors, 11)


def sweep_once(engine: PartiallyCollapsedEngine, sweep: int, merge: bool = False) -> Swept:
    """Make the sweep of that number."""
    return engine.sweep(Key(11, 0, sweep, 0), trials_of(KINDS, 2), merge=merge)


def all_of(engine: PartiallyCollapsedEngine) -> dict[str, bytes]:
    """Return all that an engine knows, in bytes, by name."""
    joint, state, counts = engine._joint(), engine.state, engine.counts()
    found = {name: array.tobytes() for name, array in packed(engine._corpus.arrays, state).items()}
    found["joint"] = np.array(joint).tobytes()
    for name, table in (("topics", counts.topic_terms), ("documents", counts.document_topics)):
        found[name] = b"".join(np.asarray(one, float).tobytes() for one in (table.data, table.indices))
    return found | {"m_k": counts.m_k.tobytes(), "names": counts.names.tobytes()}


def steps_of(case: Case, device: Any, sweeps: int) -> list[dict[str, bytes]]:
    """Return what there is after each sweep."""
    with seldom(case.way, case.every), on_device(device):
        engine, found = new_engine(case), []
        for sweep in range(1, sweeps + 1):
            sweep_once(engine, sweep)
            found.append(all_of(engine))
    return found
