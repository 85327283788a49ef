"""With a vocabulary of one term the parallel engine gives back the prior, as the collapsed one does.

Here all is exact, in corpora of any size; and where words say nothing, what is wrong in weights, births and
tables is not put right by them.
"""

import numpy as np
import pytest

from franchise import Chain, Priors
from tests.statistical.means import assert_means
from tests.statistical.test_prior import GAMMA, NAMES, expected, one_term, statistics

pytestmark = pytest.mark.slow  # the short runs too


def run(seed, n_documents, length, alpha, sweeps):
    """Return the statistics after every sweep, the first 100 apart; collapsed moves of a document a sweep."""
    rows = []
    chain = Chain(
        one_term(n_documents, length),
        Priors(alpha=alpha, gamma=GAMMA, eta=0.5),
        random_state=seed,
        init="one",
        engine="parallel",
    )
    chain.engine._turns = [np.array([j]) for j in range(n_documents)]
    chain.run(100)
    chain.run(sweeps, callback=lambda chain: rows.append(statistics(chain)))
    return np.array(rows, float)


@pytest.mark.parametrize("alpha", [0.5, 5.0])
def test_short_run(seed, alpha):
    """3,000 sweeps see a mean number of tables off by 5%, of topics by 12%."""
    assert_means(NAMES, run(seed, 5, 20, alpha, 3_000), expected(5, 20, alpha))


@pytest.mark.statistical
def test_long_run(seed):
    """6,000 sweeps see a mean number of tables off by 1%, of topics by 15%."""
    assert_means(NAMES, run(seed, 30, 100, 5.0, 6_000), expected(30, 100, 5.0))
