import math

import numpy as np
import pytest

from franchise.model.priors import Priors
from franchise.posterior.prior_topics import prior_n_topics
from tests.reference.enumeration import log_p_tables, log_p_topics, seatings


def enumerated(lengths, alphas, gammas):
    """P(K), by every seating of documents of these lengths; the concentrations are equally likely pairs."""
    p = np.zeros(sum(lengths) + 1)
    for seating in seatings([[0] * n for n in lengths]):
        tables = np.mean([math.exp(log_p_tables(seating, alpha)) for alpha in alphas])
        topics = np.mean([math.exp(log_p_topics(seating, gamma)) for gamma in gammas])
        p[seating.n_topics] += tables * topics
    assert p.sum() == pytest.approx(1.0)
    return p


def gamma_points(shape, rate, n=400):
    """Equally likely values that represent a Gamma distribution: its quantiles."""
    stats = pytest.importorskip("scipy.stats")
    return stats.gamma.ppf((np.arange(n) + 0.5) / n, shape, scale=1.0 / rate)


def compare(p, found):
    """Frequencies of the draws, within 5 standard errors: fixed seeds, so this passes always or never."""
    frequencies = np.bincount(found, minlength=p.size) / found.size
    error = np.sqrt(p * (1 - p) / found.size)
    np.testing.assert_array_less(np.abs(frequencies - p), 5 * error + 1e-4)


@pytest.mark.parametrize(("alpha", "gamma"), [(1.0, 1.0), (0.3, 2.5), (4.0, 0.7)])
def test_all_seatings_with_fixed_concentrations(alpha, gamma):
    p = enumerated((3, 2, 1), [alpha], [gamma])
    of_length = np.bincount([3, 2, 1, 0, 0])
    compare(p, prior_n_topics(Priors(alpha=alpha, gamma=gamma), of_length, n=200_000))


def test_all_seatings_with_gamma_priors():
    p = enumerated((3, 3), gamma_points(1.0, 1.0), gamma_points(2.0, 0.5))
    found = prior_n_topics(Priors(alpha=(1.0, 1.0), gamma=(2.0, 0.5)), np.bincount([3, 3]), n=200_000)
    compare(p, found)


def tossed(lengths, alpha, gamma, rng):
    """The number of topics, word after word and table after table."""
    n_tables = sum(int((rng.random(n) < alpha / (alpha + np.arange(n))).sum()) for n in lengths)
    return int((rng.random(n_tables) < gamma / (gamma + np.arange(n_tables))).sum())


@pytest.mark.parametrize(("lengths", "alpha", "gamma"), [([3_000] * 4, 20.0, 30.0), ([200] * 50, 3.0, 5.0)])
def test_blocks_of_tosses_change_nothing_that_can_be_seen(lengths, alpha, gamma):
    rng = np.random.default_rng(3)
    naive = np.array([tossed(lengths, alpha, gamma, rng) for _ in range(4_000)])
    found = prior_n_topics(Priors(alpha=alpha, gamma=gamma), np.bincount(lengths), n=4_000)
    error = math.hypot(naive.std(), found.std()) / math.sqrt(4_000)
    assert abs(naive.mean() - found.mean()) < 4 * error
    assert found.std() == pytest.approx(naive.std(), rel=0.06)  # 4 standard errors of the quotient


def test_ends_of_the_priors():
    of_length = np.bincount([5] * 3)
    assert set(prior_n_topics(Priors(alpha=1e-100, gamma=1e-100), of_length, n=50)) == {1}
    assert set(prior_n_topics(Priors(alpha=1e100, gamma=1e100), of_length, n=50)) == {15}
    assert set(prior_n_topics(Priors(gamma=(1e-5, 1.0)), of_length, n=50)) == {1}
    assert set(prior_n_topics(Priors(), np.array([3]), n=50)) == {0}  # no document has a word


def test_the_same_seed_gives_the_same_draws():
    first, again = (prior_n_topics(Priors(), np.bincount([40] * 30)) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert (first != prior_n_topics(Priors(), np.bincount([40] * 30), seed=1)).any()
