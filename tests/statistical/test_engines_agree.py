"""All engines have the same posterior on a corpus that cannot be enumerated: 15 documents of 12 words.

The probabilities of numbers of topics, and the means of what a trace has, from long runs of each. The
parallel engine makes its collapsed moves on a document or two a sweep, other ones each time.
"""

from functools import cache

import numpy as np
import pytest

from franchise import Chain, Priors, SplitMerge
from franchise.corpus import planted
from franchise.engines import EngineSettings
from franchise.engines.collapsed import CollapsedEngine
from franchise.engines.kinds import KINDS, Kind
from franchise.engines.partially_collapsed import PartiallyCollapsedEngine
from franchise.model.state import GAMMA, TOPICS
from franchise.sampling import Timetable
from tests.statistical.means import BATCHES, assert_means, batch_means

pytestmark = pytest.mark.slow  # the short runs too

BURN_IN = 500
RAREST = 0.02
COLUMNS = ("n_tables", "log_joint", "alpha", "gamma", "eta")


class _Few(Kind):
    """Collapsed moves of a tenth of the documents in a sweep."""

    def turn(self, sweep, n_words, n_cells):
        return sweep % 10, 10


class Few(PartiallyCollapsedEngine):
    """Collapsed moves of a tenth of the documents in a sweep."""

    def __init__(self, corpus, settings):
        super().__init__(_Few(*KINDS["parallel"]), corpus, settings)


class FewTables(PartiallyCollapsedEngine):
    """The engine for cells; table moves of a tenth of the documents in a sweep."""

    def __init__(self, corpus, settings):
        super().__init__(_Few(*KINDS["cells"]), corpus, settings)


class GammaTooLarge(Few):
    """Known to be wrong: there are twice as many unused topics."""

    def _update_documents(self, key, with_rows=True):
        self._coordinator.state.concentrations[GAMMA] *= 2.0
        info = super()._update_documents(key)
        self._coordinator.state.concentrations[GAMMA] /= 2.0
        return info


class EpsilonByState(Few):
    """Known to be wrong: with many topics, the small ones among them rest."""

    def _update_documents(self, key, with_rows=True):
        self._epsilon = 0.1 if self._coordinator.state.totals[TOPICS] > 4 else 0.001
        return super()._update_documents(key)


@cache
def run(engine_class, seed, number, sweeps, eta):
    """Return the numbers of topics after each sweep, and the other columns."""
    corpus = planted(n_topics=3, n_terms=10, n_documents=15, document_length=12, seed=1).corpus
    # With priors this narrow, numbers of tables and concentrations do not drift together for hundreds of
    # sweeps.
    priors = Priors(alpha=(20.0, 10.0), gamma=(5.0, 5.0), eta=eta)
    schedule = Timetable(
        sweeps=BURN_IN + sweeps, burn_in=BURN_IN, thin=sweeps, split_merge=SplitMerge(trials=2)
    )
    chain = Chain(corpus, priors, schedule, random_state=seed, number=number, init="one")
    chain._engine = engine_class(corpus, EngineSettings(priors))
    chain.run()
    kept = slice(BURN_IN + 1, None)
    return chain.trace["n_topics"][kept], np.column_stack([chain.trace[name][kept] for name in COLUMNS])


def compare(seed, sweeps, eta, engine_class=Few):
    """Compare a run with one of the collapsed engine that is as long."""
    runs = [run(one, seed, i, sweeps, eta) for i, one in enumerate((CollapsedEngine, engine_class))]
    everywhere = np.concatenate([topics for topics, _ in runs])
    numbers = [k for k in np.unique(everywhere) if RAREST < np.mean(everywhere == k) < 1 - RAREST]
    used = [i for i in range(len(COLUMNS)) if np.ptp(runs[0][1][:, i]) > 0]
    names = [*(f"{k:.0f} topics" for k in numbers), *(COLUMNS[i] for i in used)]
    expected, found = [
        np.column_stack([*(topics == k for k in numbers), rest[:, used]]) for topics, rest in runs
    ]
    means = batch_means(expected)
    assert_means(names, found, means.mean(axis=0), means.var(axis=0, ddof=1) / BATCHES)


@pytest.mark.parametrize("engine_class", [Few, FewTables])
def test_short_run(seed, engine_class):
    """6,000 sweeps see a probability off by 0.1."""
    compare(seed, 6_000, 0.5, engine_class)


@pytest.mark.statistical
@pytest.mark.parametrize("engine_class", [Few, FewTables])
@pytest.mark.parametrize("eta", [0.15, (2.0, 4.0)])
def test_long_run(seed, eta, engine_class):
    """20,000 sweeps see a probability off by 0.05."""
    compare(seed, 20_000, eta, engine_class)


@pytest.mark.statistical
def test_it_sees_errors(seed):
    for engine_class in (GammaTooLarge, EpsilonByState):
        with pytest.raises(AssertionError, match="standard errors off"):
            compare(seed, 10_000, 0.5, engine_class)
