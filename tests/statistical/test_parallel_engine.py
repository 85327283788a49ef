"""The pass over all documents given G_0 visits every state as often as the enumerated posterior says."""

import numpy as np
import pytest

from franchise.engines.engine import EngineSettings
from franchise.engines.instantiation import Instantiator
from franchise.model import Priors
from franchise.model.measure import FREE
from franchise.model.state import ALPHA, word_topics
from franchise.random import Key
from tests.reference.franchise import corpus_of
from tests.reference.parallel import Parallel, seated_in
from tests.statistical.test_enumerated_posterior import BURN_IN, CORPORA, compare, name, seating

pytestmark = pytest.mark.slow  # the short runs too

__all__ = ["name"]


class NoneBorn(Instantiator):
    """Gives unused topics no terms."""

    def terms(self, key, counts, concentrations, weights):
        measure = super().terms(key, counts, concentrations, weights)
        moving = int(measure.sizes[0])
        free = np.flatnonzero(measure.number[:moving] == FREE)
        measure.phi[:, free] = 0.0
        parts = measure.beta[:moving] * measure.phi[:, :moving] * concentrations[ALPHA]
        measure.rest[:, :moving] = np.cumsum(parts, axis=1)
        measure.total[:] = measure.rest[:, moving - 1]
        return measure


class Restricted(Parallel):
    """Known to be wrong: topics die in the pass, but none is born."""

    def __init__(self, corpus, settings):
        super().__init__(corpus, settings)
        self._pool._instantiator = NoneBorn(self._facts.n_terms, self._facts.longest, 1)


def visited(name, seed, passes, epsilon, engine_class=Parallel):
    """Make passes over all documents, and nothing else; return the number of each state visited."""
    posterior = CORPORA[name]
    corpus = corpus_of(posterior.documents, posterior.n_terms)
    engine = engine_class(corpus, EngineSettings(Priors(**posterior.at._asdict()), capacity=1))
    engine._epsilon = epsilon
    engine.start(Key(seed, 0, 0, 0), "sequential")
    states = []
    for sweep in range(1, BURN_IN + passes + 1):
        key = Key(seed, 0, sweep, 0)
        if engine_class is Restricted:  # births elsewhere, by exact moves, do not make it right
            engine.sweep(key, None)
        else:
            engine._update_documents(key)
        if sweep > BURN_IN:
            seated = seated_in(engine)
            states.append(np.concatenate([seated.t_ji, word_topics(corpus.arrays, seated)]))
    kinds, which = np.unique(states, axis=0, return_inverse=True)
    numbers = [posterior.number[seating(corpus, *np.split(row, 2))] for row in kinds]
    return np.array(numbers)[which]


@pytest.mark.parametrize("epsilon", [0.1, 0.02])
def test_short_run(name, seed, epsilon):
    compare(CORPORA[name], visited(name, seed, 10_000, epsilon), CORPORA[name])


def test_it_sees_a_pass_in_which_no_topic_is_born(name, seed):
    """10,000 passes see it with two seeds of three only."""
    with pytest.raises(AssertionError, match="standard errors off"):
        compare(CORPORA[name], visited(name, seed, 60_000, 0.02, Restricted), CORPORA[name])


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", [0.1, 1e-4])
def test_long_run(name, seed, epsilon):
    compare(CORPORA[name], visited(name, seed, 60_000, epsilon), CORPORA[name])
