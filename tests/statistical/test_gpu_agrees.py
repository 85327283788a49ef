"""The GPU engine, on the host, has the posterior of the collapsed one where nothing can be enumerated.

Collapsed moves are made of a tenth of the documents in every third sweep, so that the exact moves do not put
right what the pass would get wrong. With one term the prior comes back, and so it does with new words in turn
(Geweke 2004).
"""

from functools import cache

import numpy as np
import pytest

from franchise import Chain, Priors
from franchise.corpus import Corpus
from franchise.engines import EngineSettings, kinds
from franchise.engines.partially_collapsed import PartiallyCollapsedEngine
from franchise.model.state import ALPHA
from franchise.random import Key
from tests.host_device import HostDevice, needs_compiler
from tests.reference.gpu_runs import NOW_AND_THEN, WAYS, on_device, seldom
from tests.reference.parallel import trials_of
from tests.reference.trials import KINDS
from tests.statistical import test_engines_agree as agree
from tests.statistical import test_parallel_geweke as geweke
from tests.statistical.means import assert_means
from tests.statistical.test_geweke import (
    ALL_SAMPLED,
    FORWARD,
    draw_prior,
    draw_words,
    forward,
    rows_of,
    statistics,
)
from tests.statistical.test_prior import GAMMA, NAMES, expected, one_term
from tests.statistical.test_prior import statistics as prior_statistics

pytestmark = [pytest.mark.slow, needs_compiler]


class OnHost(PartiallyCollapsedEngine):
    def __init__(self, corpus, settings):
        super().__init__(kinds.KINDS["gpu"], corpus, settings)


class LongOnHost(OnHost):
    """Another name: runs are remembered by it."""


class AlphaTooLarge(OnHost):
    """Known to be wrong: the pass has an alpha three tenths too large."""

    def _update_documents(self, key, with_rows=True):
        self._coordinator.state.concentrations[ALPHA] *= 1.3
        info = super()._update_documents(key, with_rows)
        self._coordinator.state.concentrations[ALPHA] /= 1.3
        return info


# ---------------------------------------------------------------- the collapsed engine


def compare(seed, sweeps, eta, engine_class=OnHost):
    way = "long" if engine_class is LongOnHost else "regular"
    with seldom(way, every=3), on_device(HostDevice()), pytest.MonkeyPatch.context() as patch:
        patch.setattr(kinds, "COLLAPSED_WORDS", 18)
        agree.compare(seed, sweeps, eta, engine_class)


def test_short_run(seed):
    """2,500 sweeps see a probability off by 0.15."""
    compare(seed, 2_500, 0.5)


@pytest.mark.statistical
@pytest.mark.parametrize("engine_class", [OnHost, LongOnHost])
@pytest.mark.parametrize("eta", [0.15, (2.0, 4.0)])
def test_long_run(seed, eta, engine_class):
    """20,000 sweeps see a probability off by 0.05."""
    compare(seed, 20_000, eta, engine_class)


@pytest.mark.statistical
def test_it_sees_an_error(seed):
    with pytest.raises(AssertionError, match="standard errors off"):
        compare(seed, 10_000, 0.5, AlphaTooLarge)


# ---------------------------------------------------------------- the prior


@pytest.mark.statistical
@pytest.mark.parametrize(("alpha", "way"), [(0.5, "regular"), (5.0, "regular"), (5.0, "long")])
def test_one_term_gives_back_the_prior(seed, alpha, way):
    """5,000 sweeps see a mean number of tables off by 5%, of topics by 10%."""
    rows = []
    with seldom(way), on_device(HostDevice()):
        priors = Priors(alpha=alpha, gamma=GAMMA, eta=0.5)
        chain = Chain(one_term(5, 20), priors, random_state=seed, init="one", engine="gpu")
        chain.run(100)
        chain.run(5_000, callback=lambda chain: rows.append(prior_statistics(chain)))
    assert_means(NAMES, np.array(rows, float), expected(5, 20, alpha))


# ---------------------------------------------------------------- new words in turn


@cache
def in_turn(seed, steps, engine_class, way, method):
    """Return the names of the statistics, and their values along a chain of sweeps and new words."""
    rng, settings = np.random.default_rng([seed, 1]), EngineSettings(ALL_SAMPLED, method)
    corpus, state = draw_prior(rng, geweke.LENGTHS, len(geweke.TERMS), ALL_SAMPLED)
    trials, rows = trials_of(KINDS), []
    with seldom(way), on_device(HostDevice()):
        for i in range(steps):
            engine = engine_class(Corpus(corpus.x, corpus.doc_ptr, geweke.TERMS), settings)
            engine._epsilon = 0.02
            engine.seat(state)
            engine.sweep(Key(seed, 0, i, 0), trials if i % NOW_AND_THEN == 0 else None)
            corpus, state = draw_words(rng, corpus, engine.state)
            rows.append(statistics(corpus, state, ALL_SAMPLED))
    return list(rows[0]), rows_of(rows)


def compare_in_turn(seed, steps, engine_class=OnHost, way="regular", method="slice"):
    names, chain = in_turn(seed, steps, engine_class, way, method)
    draws = forward(seed, geweke.LENGTHS, len(geweke.TERMS), ALL_SAMPLED)
    assert_means(names, chain, draws.mean(axis=0), draws.var(axis=0, ddof=1) / FORWARD)


@pytest.mark.statistical
@pytest.mark.parametrize(("way", "method"), [(way, "slice") for way in WAYS] + [("regular", "auxiliary")])
def test_new_words_in_turn(seed, way, method):
    """Sees a mean off by about 0.2 of the standard deviation of what it is the mean of."""
    compare_in_turn(seed, 8_000, way=way, method=method)


@pytest.mark.statistical
def test_it_sees_a_pass_whose_alpha_is_three_tenths_too_large(seed):
    with pytest.raises(AssertionError, match="standard errors off"):
        compare_in_turn(seed, 15_000, AlphaTooLarge)
