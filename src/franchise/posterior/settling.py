"""Whether a longer run would change what people read: the sizes and the terms of the topics.

The kept draws of all chains are cut in two halves by time, and each topic is estimated from either. Half the
difference is the standard error of the two halves' mean. So a topic *still changes* if its share of the words
differs by more than twice `SIZE_ERROR` of it, or if the affinity (`posterior.align`) of its mean terms is
below `TERMS_ALIKE`. A model is *settled* if topics that do not change hold at least `SETTLED_SHARE` of the
words in the topics looked at.

Differences between chains (`uneven`) do not count. On four collections, 60 to 91% of the variance of the size
of a topic that every chain has lies between chains, and on the two that were run two and four times as long
this share rose to 92%. A rule on R-hat of sizes, which is 1.5 to 2, would always ask for more sweeps.

The number of topics does not count either: it depends on topics of a few words, which always come and go.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from franchise._arrays import Array
from franchise.posterior.estimates import Posterior

SIZE_ERROR = 0.1  # of the size: 12% may be 11% or 13%
SETTLED_SHARE = 0.95
TERMS_ALIKE = 0.9
FEWEST_DRAWS = 8  # per chain, for its halves to be compared
_LAST_DIGIT = 0.001  # share of the words: the last digit of tables
_BY_CHANCE = 3.0  # standard errors: a difference that independent draws make once in 370 times


class Settling(NamedTuple):
    """How the topics looked at differ between halves of the run, and between chains."""

    n_topics: int  # looked at
    changing: list[int]  # topics that differ from the first half of the draws to the second
    changing_share: float  # of the words in all topics looked at
    uneven: list[int]  # topics whose size or terms differ from chain to chain
    uneven_share: float

    @property
    def settled(self) -> bool:
        """Whether a longer run would change little."""
        return self.changing_share <= 1.0 - SETTLED_SHARE


def settling(posterior: Posterior, topics: Sequence[int]) -> Settling | None:
    """Compare the halves of the draws, and the chains; None where there are too few draws or no topics."""
    n_draws = min(map(len, posterior.draws))
    chosen = np.asarray(topics, np.int64)
    if n_draws < FEWEST_DRAWS or not chosen.size:
        return None
    ends = np.cumsum([len(chain) for chain in posterior.draws])
    kept = np.array([np.arange(end - n_draws, end) for end in ends])  # of longer chains the last draws
    half = n_draws // 2
    first, second = kept[:, :half], kept[:, -half:]
    sizes = posterior.weights_by_draw[:, chosen]
    size = sizes[kept].mean(axis=(0, 1))
    allowed = np.maximum(SIZE_ERROR * size, _LAST_DIGIT / 2)
    changing = _differ(sizes[first], sizes[second], 2.0 * allowed)
    changing |= _affinity(_terms(posterior, first.ravel()), _terms(posterior, second.ravel()))[chosen] < (
        TERMS_ALIKE
    )
    uneven = np.zeros(chosen.size, bool)
    if len(kept) > 1:
        by_chain = sizes[kept].mean(axis=1)
        uneven = by_chain.std(axis=0, ddof=1) / np.sqrt(len(kept)) > allowed
        everywhere = _terms(posterior, kept.ravel())
        for draws in kept:
            uneven |= _affinity(_terms(posterior, draws), everywhere)[chosen] < TERMS_ALIKE
    total = size.sum()
    return Settling(
        chosen.size,
        chosen[changing].tolist(),
        float(size[changing].sum() / total),
        chosen[uneven].tolist(),
        float(size[uneven].sum() / total),
    )


def _differ(first: Array, second: Array, allowed: Array) -> Array:
    """Return which sizes (chain, draw, topic) differ by more than is allowed, and than chance makes them."""
    change = np.abs(second.mean(axis=(0, 1)) - first.mean(axis=(0, 1)))
    variance = (first.var(axis=1, ddof=1) + second.var(axis=1, ddof=1)).mean(axis=0)
    error = np.sqrt(variance / (first.shape[0] * first.shape[1]))
    return (change > allowed) & (change > _BY_CHANCE * error)


def _terms(posterior: Posterior, draws: Iterable[int]) -> sp.csr_array:
    """Return the mean proportions of terms of each listed topic over some draws; 0 where none has it."""
    total = sp.csr_array((posterior.n_topics, posterior.corpus.n_terms))
    for i in draws:
        counts, column = posterior.flat_draws[i].topic_terms, posterior.columns[i]
        here = np.flatnonzero(column < posterior.n_topics)
        share = 1.0 / counts.sum(axis=1)[here]
        to = sp.csr_array((share, (column[here], here)), shape=(posterior.n_topics, counts.shape[0]))
        total = total + to @ counts
    sums = np.maximum(total.sum(axis=1), 1e-300)
    return sp.csr_array(sp.diags_array(1.0 / sums) @ total)


def _affinity(these: sp.csr_array, those: sp.csr_array) -> Array:
    """Return the Bhattacharyya affinity of each topic's two rows of proportions; 0 where one has none."""
    return np.asarray(these.sqrt().multiply(those.sqrt()).sum(axis=1)).ravel()
