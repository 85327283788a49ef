"""Intervals of cosines with reference topics: how often they contain the cosine of the true distribution."""

import numpy as np
import pytest
from scipy.stats import binom

from franchise.posterior.reference_tables import from_array
from franchise.posterior.reference_topics import compare_topics
from tests.unit.posterior.made import posterior_of_counts

pytestmark = pytest.mark.statistical

N, V, WORDS = 400, 60, 600
MIXED = (0.05, 0.2, 0.5, 1.0)


def test_intervals_of_words_of_one_topic(seed):
    """The topic is drawn from Dirichlet(0.3), and its words from it; references are it, mixed with another.

    If 95% of the intervals cover, fewer than `fewest` of N do so once in 10^6 times, for each reference.
    A coverage of 84% is noticed in 99 of 100 cases.
    """
    rng = np.random.default_rng(seed)
    fewest = int(binom.ppf(1e-6, N, 0.95))
    covered = np.zeros(len(MIXED), int)
    for _ in range(N):
        phi, other = rng.dirichlet(np.full(V, 0.3), 2)
        references = np.array([(1 - w) * phi + w * other for w in MIXED])
        posterior = posterior_of_counts([[[rng.multinomial(WORDS, phi)]]])
        found = compare_topics(posterior, [""], from_array(references, posterior.corpus.vocabulary))
        exact = references @ phi / np.linalg.norm(references, axis=1) / np.linalg.norm(phi)
        covered += (found.low[0] <= exact) & (exact <= found.high[0])
    assert (covered >= fewest).all(), covered / N
