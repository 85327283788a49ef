"""Tests of the means of a chain, with the error rate that they declare.

Successive states depend on each other, so a mean's standard error is that of batch means: the run is cut
into batches much longer than the memory of the chain, whose means are nearly independent and normal. An
error is measured against Student's t, and the rate is shared out among the statistics (Bonferroni).
"""

import numpy as np
from scipy.stats import t as student

FALSE_FAIL_RATE = 1e-5  # probability that an assertion fails although the program is right
BATCHES = 100


def batch_means(samples: np.ndarray) -> np.ndarray:
    """Return the means of BATCHES batches of rows, one row a batch; a remainder at the front is left out."""
    length = len(samples) // BATCHES
    return samples[len(samples) - length * BATCHES :].reshape(BATCHES, length, -1).mean(axis=1)


def errors(
    samples: np.ndarray, expected: np.ndarray, variance_of_expected: float | np.ndarray = 0.0
) -> np.ndarray:
    """Return how many standard errors each column's mean is off."""
    means = batch_means(samples)
    variance = means.var(axis=0, ddof=1) / BATCHES + variance_of_expected
    return (means.mean(axis=0) - expected) / np.sqrt(variance)


def largest_error_allowed(n_statistics: int) -> float:
    """Return how many standard errors the worst of `n_statistics` means may be off, at the declared rate."""
    return float(student.isf(FALSE_FAIL_RATE / 2 / n_statistics, BATCHES - 1))


def assert_means(
    names: list[str],
    samples: np.ndarray,
    expected: np.ndarray,
    variance_of_expected: np.ndarray | float = 0.0,
) -> None:
    """Test the mean of each column of a chain's samples against what is expected.

    An error of twice `largest_error_allowed` standard errors, about 11, is found practically always.
    """
    off = errors(samples, expected, variance_of_expected)
    allowed = largest_error_allowed(len(names))
    table = "".join(f"\n{name:>24}: {z:+.1f}" for name, z in zip(names, off, strict=True))
    assert np.all(np.abs(off) < allowed), f"more than {allowed:.1f} standard errors off in{table}"
