"""Sweeps of the parallel engine and new words in turn give the moments of the prior (Geweke 2004).

As in `test_geweke`, with the sweep of the parallel engine: documents given G_0, collapsed moves of some of
them, split-merge trials, all three concentrations.
"""

from functools import cache
from unittest import mock

import numpy as np
import pytest

from franchise.corpus import Corpus
from franchise.engines import EngineSettings, instantiation
from franchise.random import Key
from tests.reference.parallel import NOW_AND_THEN, OneByOne, Parallel, trials_of
from tests.reference.trials import KINDS
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

LENGTHS, TERMS = (0, 2, 4, 5), ["a", "b", "c", "d"]


class AlphaTooLarge(OneByOne):
    """Known to be wrong: the pass has an alpha three tenths too large."""

    def _update_documents(self, key, with_rows=True):
        self._coordinator.state.concentrations[0] *= 1.3
        info = super()._update_documents(key)
        self._coordinator.state.concentrations[0] /= 1.3
        return info


class FewFree(OneByOne):
    """G_0 is sampled down to a weight that rises with gamma, as it does where gamma is in the thousands.

    About 0.05 at a gamma of 1, 0.2 at 2, a third from 3 on.
    """

    def _update_documents(self, key, with_rows=True):
        with mock.patch.object(instantiation, "_MOST_FREE", 3):
            return super()._update_documents(key)


@cache
def in_turn(seed, steps, engine_class, epsilon, method, kinds):
    """Return the names of the statistics, and their values along a chain of sweeps and new words."""
    rng, settings = np.random.default_rng([seed, 1]), EngineSettings(ALL_SAMPLED, method)
    corpus, state = draw_prior(rng, LENGTHS, len(TERMS), ALL_SAMPLED)
    trials, rows = trials_of(kinds), []
    for i in range(steps):
        engine = engine_class(Corpus(corpus.x, corpus.doc_ptr, TERMS), settings)
        engine._epsilon = epsilon
        engine.seat(state)
        engine.sweep(Key(seed, 0, i, 0), trials if i % NOW_AND_THEN == 0 else None)
        corpus, state = draw_words(rng, corpus, engine.state)
        rows.append(statistics(corpus, state, ALL_SAMPLED))
    return list(rows[0]), rows_of(rows)


def compare(seed, steps, engine_class=OneByOne, epsilon=0.02, method="slice", kinds=KINDS):
    """Draw both ways and compare all means."""
    names, chain = in_turn(seed, steps, engine_class, epsilon, method, kinds)
    draws = forward(seed, LENGTHS, len(TERMS), ALL_SAMPLED)
    assert_means(names, chain, draws.mean(axis=0), draws.var(axis=0, ddof=1) / FORWARD)


@pytest.mark.statistical
@pytest.mark.parametrize(("epsilon", "method"), [(0.1, "slice"), (0.02, "auxiliary")])
def test_all_moves_together(seed, epsilon, method):
    """Sees a mean off by about 0.15 of the standard deviation of what it is the mean of."""
    compare(seed, 15_000, epsilon=epsilon, method=method)


@pytest.mark.statistical
def test_as_it_is_for_a_corpus_this_small(seed):
    compare(seed, 6_000, Parallel)


@pytest.mark.statistical
def test_a_weight_that_rises_with_gamma(seed):
    compare(seed, 15_000, FewFree)


@pytest.mark.statistical
def test_it_sees_a_pass_whose_alpha_is_three_tenths_too_large(seed):
    with pytest.raises(AssertionError, match="standard errors off"):
        compare(seed, 5_000, AlphaTooLarge)
