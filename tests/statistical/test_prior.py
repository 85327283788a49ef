"""With a vocabulary of one term the words say nothing, so a run must give back the prior.

Everything expected here is exact: with word i of a document opening a table with probability
alpha / (alpha + i), the number of tables is a sum of independent coin tosses, and so, given it, is the
number of topics.
"""

import numpy as np
import pytest

from franchise import Chain, Corpus, Priors
from franchise.model.state import TOPICS
from tests.statistical.means import assert_means

pytestmark = pytest.mark.slow  # the short runs too

GAMMA = 1.0
NAMES = [
    "tables",
    "tables squared",
    "topics",
    "topics squared",
    "squared table sizes",
    "squared tables of topics",
]


def new_seats(concentration, n):
    """Return the probability that customer i of a Chinese restaurant process opens a table, for i < n."""
    return concentration / (concentration + np.arange(n))


def distribution_of_sum(chances):
    """Return the probabilities of 0, 1, ... heads in independent tosses with these chances."""
    p = np.ones(1)
    for chance in chances:
        p = np.convolve(p, [1 - chance, chance])
    return p


def expected(n_documents, length, alpha):
    """Return the prior means of the statistics in NAMES."""
    p = distribution_of_sum(np.tile(new_seats(alpha, length), n_documents))
    m = np.arange(p.size)
    # Mean and variance of the number of topics among m tables, for every m.
    opened = new_seats(GAMMA, p.size - 1)
    mean = np.concatenate([[0.0], np.cumsum(opened)])
    variance = np.concatenate([[0.0], np.cumsum(opened * (1 - opened))])
    # Two words of a document share a table, and two tables share a topic, with probability
    # 1 / (1 + concentration).
    table_sizes = n_documents * (length + length * (length - 1) / (1 + alpha))
    topic_sizes = m + m * (m - 1) / (1 + GAMMA)
    return np.array([p @ m, p @ m**2, p @ mean, p @ (variance + mean**2), table_sizes, p @ topic_sizes])


def statistics(chain):
    """Return the statistics in NAMES of the current state."""
    state = chain.state
    m_k = state.m_k[state.live[: state.totals[TOPICS]]]
    m, n_jt = m_k.sum(), state.n_jt
    in_use = np.arange(n_jt.size) - np.repeat(chain.corpus.doc_ptr[:-1], chain.corpus.document_lengths)
    n_jt = n_jt[in_use < np.repeat(state.m_j, chain.corpus.document_lengths)]
    return m, m**2, m_k.size, m_k.size**2, n_jt @ n_jt, m_k @ m_k


def one_term(n_documents, length):
    return Corpus(np.zeros(n_documents * length, np.int32), np.arange(n_documents + 1) * length, ["a"])


def run(seed, n_documents, length, alpha, sweeps):
    """Return the statistics after every sweep, the first 100 apart."""
    rows = []
    chain = Chain(
        one_term(n_documents, length),
        Priors(alpha=alpha, gamma=GAMMA, eta=0.5),
        random_state=seed,
        init="one",
    )
    chain.run(100)
    chain.run(sweeps, callback=lambda chain: rows.append(statistics(chain)))
    return np.array(rows, float)


def test_distribution_of_sum():
    np.testing.assert_allclose(distribution_of_sum([0.5, 0.5]), [0.25, 0.5, 0.25])
    np.testing.assert_allclose(distribution_of_sum([1.0, 0.25]), [0.0, 0.75, 0.25])


@pytest.mark.parametrize("alpha", [0.5, 5.0])
def test_short_run(seed, alpha):
    """5,000 sweeps see a mean number of tables off by 4%, of topics by 9%."""
    assert_means(NAMES, run(seed, 5, 20, alpha, 5_000), expected(5, 20, alpha))


@pytest.mark.statistical
@pytest.mark.parametrize("alpha", [0.5, 1.0, 5.0])
def test_long_run(seed, alpha):
    """20,000 sweeps see a mean number of tables off by 1.5%, of topics by 9%."""
    assert_means(NAMES, run(seed, 30, 100, alpha, 20_000), expected(30, 100, alpha))


def test_sequential_starts_are_independent_draws_from_the_prior(seed):
    """Nothing is learnt from words of one term; 2,000 chains see a mean number of tables off by 2%."""
    corpus, priors, rows = one_term(5, 20), Priors(alpha=2.0, gamma=GAMMA, eta=0.5), []
    for number in range(2_000):
        chain = Chain(corpus, priors, random_state=seed, number=number)
        chain.start()
        rows.append(statistics(chain))
    assert_means(NAMES, np.array(rows, float), expected(5, 20, 2.0))
