"""Tests of distributions, each failing a right program at most once in a million seeds.

The smallest error that such a test sees shrinks with the square root of the number of draws; where
one is made, a comment says what it sees.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np
from scipy.stats import chisquare, kstest

FALSE_FAIL_RATE = 1e-6
_FEWEST_EXPECTED = 10  # below, chi-square's tail is not to be trusted: such cells are put together


def assert_frequencies(observed: Sequence[Hashable], probabilities: Mapping[Hashable, float]) -> None:
    """Test independent draws against the probabilities of all that can be drawn (chi-square)."""
    counts = Counter(observed)
    assert set(counts) <= set(probabilities)
    cells = sorted(probabilities, key=lambda cell: probabilities[cell])
    observations = np.array([counts[cell] for cell in cells], float)
    expected = np.array([probabilities[cell] for cell in cells]) * len(observed)
    n_small = np.count_nonzero(expected < _FEWEST_EXPECTED)
    if n_small and expected[:n_small].sum() < _FEWEST_EXPECTED:
        n_small += 1
    pooled = [_first_together(values, n_small) for values in (observations, expected)]
    assert len(pooled[0]) > 1, "too few draws to test anything"
    pvalue = chisquare(*pooled).pvalue
    assert pvalue > FALSE_FAIL_RATE, f"chi-square p = {pvalue:.2g} over {len(pooled[0])} cells"


def _first_together(values: np.ndarray, n: int) -> np.ndarray:
    return np.concatenate([[values[:n].sum()], values[n:]]) if n else values


def assert_distribution(draws: Sequence[float], cdf: Callable[[np.ndarray], np.ndarray]) -> None:
    """Test independent draws against a continuous distribution (Kolmogorov-Smirnov)."""
    pvalue = kstest(draws, cdf).pvalue
    assert pvalue > FALSE_FAIL_RATE, f"Kolmogorov-Smirnov p = {pvalue:.2g} over {len(draws)} draws"
