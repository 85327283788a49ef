"""How many topics the priors expect of documents of these lengths, before any word is seen.

The words of a document sit down at tables, and the tables at topics: word i of a document opens a table with
probability alpha / (alpha + i - 1), table t of the corpus opens a topic with probability
gamma / (gamma + t - 1), all independently (equations 1 and 3 of the paper). So both numbers are sums of
independent coin tosses, which are simulated here; alpha and gamma are drawn from their priors first. Eta
plays no part: it says which words topics have, not how many topics there are.

Tosses beyond the first `_APART` are made in blocks whose ends differ by at most `_STEP`, all of a block with
the probability at its middle. This changes the mean by less than one part in a thousand.
"""

import numpy as np

from franchise._arrays import Array
from franchise.model.priors import HIGHEST, LOWEST, Priors, Setting

SIMULATIONS = 4_000
_APART = 64
_STEP = 0.05


def prior_n_topics(priors: Priors, documents_of_length: Array, n: int = SIMULATIONS, seed: int = 0) -> Array:
    """Draw numbers of topics from the prior.

    Parameters
    ----------
    priors
        Of alpha and gamma: fixed, or Gamma distributions.
    documents_of_length
        Number of documents of each length (`Corpus.documents_of_length`).
    n
        How many numbers to draw.
    seed
        Of the random numbers: the same seed gives the same draws.

    Returns
    -------
    numpy.ndarray
        `n` numbers of topics.

    Examples
    --------
    A single word has a single topic.

    >>> prior_n_topics(Priors(), np.array([0, 1]), n=3)
    array([1, 1, 1])
    """
    rng = np.random.default_rng(seed)
    alpha, gamma = (_drawn(setting, n, rng) for setting in (priors.alpha, priors.gamma))
    longer = np.cumsum(documents_of_length[::-1])[::-1][1:]  # documents that have a first word, a second, ...
    starts, middles = _blocks(longer.size)
    tosses = np.add.reduceat(longer, starts) if starts.size else longer
    n_tables = _successes(tosses[None, :], alpha, middles, rng)
    starts, middles = _blocks(int(n_tables.max(initial=0)))
    sizes = np.diff(starts, append=n_tables.max(initial=0))
    return _successes(np.clip(n_tables[:, None] - starts, 0, sizes), gamma, middles, rng)


def _drawn(setting: Setting, n: int, rng: np.random.Generator) -> Array:
    if not isinstance(setting, tuple):
        return np.full(n, setting)
    shape, rate = setting
    return np.asarray(np.clip(rng.gamma(shape, size=n) / rate, LOWEST, HIGHEST))


def _blocks(n: int) -> tuple[Array, Array]:
    """Cut the tosses 0, 1, ..., n - 1 into blocks; return where each starts, and its middle."""
    starts = np.arange(min(n, _APART))
    if n > _APART:
        steps = int(np.log(n / _APART) / np.log1p(_STEP)) + 1
        ends = np.geomspace(_APART, n, steps + 1).astype(np.int64)
        starts = np.append(starts, np.unique(ends[ends < n]))
    return starts, (starts + np.append(starts[1:], n) - 1) / 2


def _successes(tosses: Array, concentration: Array, middles: Array, rng: np.random.Generator) -> Array:
    """Return how many tosses succeed, one number for each concentration."""
    concentration = concentration[:, None]
    return np.asarray(rng.binomial(tosses, concentration / (concentration + middles)).sum(axis=1))
