"""The pass over all documents given G_0 visits every state as often as the enumerated posterior says."""

import numpy as np
import pytest

from franchise.engines.engine import EngineSettings
from franchise.engines.parallel import ParallelEngine
from franchise.model import Priors
from franchise.model.state import word_topics
from franchise.random import Key
from tests.reference.franchise import corpus_of
from tests.statistical.test_enumerated_posterior import BURN_IN, CORPORA, compare, name, seating

__all__ = ["name"]


def visited(name, seed, passes, epsilon):
    """Make passes over all documents, and nothing else; return the number of each state visited."""
    posterior = CORPORA[name]
    corpus = corpus_of(posterior.documents, posterior.n_terms)
    engine = ParallelEngine(corpus.arrays, EngineSettings(Priors(**posterior.at._asdict()), capacity=1))
    engine._epsilon = epsilon
    engine.start(Key(seed, 0, 0, 0), "sequential")
    states = []
    for sweep in range(1, BURN_IN + passes + 1):
        engine._update_documents(Key(seed, 0, sweep, 0))
        if sweep > BURN_IN:
            states.append(np.concatenate([engine.state.t_ji, word_topics(corpus.arrays, engine.state)]))
    kinds, which = np.unique(states, axis=0, return_inverse=True)
    numbers = [posterior.number[seating(corpus, *np.split(row, 2))] for row in kinds]
    return np.array(numbers)[which]


@pytest.mark.parametrize("epsilon", [0.3, 0.02])
def test_short_run(name, seed, epsilon):
    compare(CORPORA[name], visited(name, seed, 10_000, epsilon), CORPORA[name])


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", [0.3, 0.02, 1e-4])
def test_long_run(name, seed, epsilon):
    compare(CORPORA[name], visited(name, seed, 100_000, epsilon), CORPORA[name])
