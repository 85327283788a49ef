"""What every chain has found, and what differs from chain to chain.

On real texts, chains settle in different modes: they share most of the topics, and each divides the rest in a
way that it does not leave within a practical number of sweeps. So the question is not only whether chains
agree, but on what. A topic is *solid* if every chain has it (`Posterior.chain_support`), *likely* if more
than half of them have it, and *doubtful* otherwise: another run may not find it.

Chains that start from the same topics may share a topic because of the start. Independent short runs
(`Posterior.run_support`) do not: where there are any, a topic is *firm* if every chain has it and at least
`FIRM_RUNS` of the runs found it, and firm topics take the place of the solid ones in the verdict. Of one
chain, all that is known is which of its topics are firm.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from franchise._arrays import Array
from franchise.posterior.estimates import Posterior

AGREE, MOSTLY, PARTLY, APART = "agree", "agree on most", "agree on some", "do not agree"
# Share of the words in the topics to rely on, for these words; to agree, numbers must agree too.
SHARED_GOOD, SHARED_MOST, SHARED_SOME = 0.95, 0.75, 0.5
R_HAT_GOOD = 1.05  # below this, the numbers of chains agree
# Of the words in topics of every chain that half of the runs found, 93 and 95% were in topics that other fits
# found too (another seed, another order, 90% of the documents; 1,800 abstracts, and Cora).
FIRM_RUNS = 0.5
FEW_DRAWS = 20  # per chain: of fewer, the ends of a 95% interval are the extremes, and no percentage is given


class Agreement(NamedTuple):
    """On which topics chains agree."""

    solid: list[int]  # listed topics that every chain has
    likely: list[int]  # more than half of the chains, but not all
    doubtful: list[int]  # half of them, or fewer
    shared: float  # of the words, in solid topics
    firm: list[int] | None = None  # solid, and found by most independent runs; None if there were no runs
    firm_share: float = np.nan  # of the words, in firm topics
    others_are_smaller: bool = False  # the topics that not every chain has, than the mean of those it has

    @property
    def relied_on(self) -> float:
        """Share of the words in the topics to rely on: the firm ones if there were runs, else the solid."""
        return self.shared if self.firm is None else self.firm_share


def agreement(posterior: Posterior, run_support: Array | None = None) -> Agreement:
    """Sort the listed topics by how many chains have them, and how many runs (by default the posterior's)."""
    counts, n_chains, weights = posterior.chain_counts, len(posterior.draws), posterior.weights
    solid, likely = counts == n_chains, 2 * counts > n_chains
    runs = posterior.run_support if run_support is None else run_support
    firm = None if runs is None else solid & (np.asarray(runs) >= FIRM_RUNS)
    smaller = solid.any() and not solid.all() and weights[~solid].max() < weights[solid].mean()
    return Agreement(
        solid=np.flatnonzero(solid).tolist(),
        likely=np.flatnonzero(likely & ~solid).tolist(),
        doubtful=np.flatnonzero(~likely).tolist(),
        shared=_share(posterior, solid),
        firm=None if firm is None else np.flatnonzero(firm).tolist(),
        firm_share=np.nan if firm is None else _share(posterior, firm),
        others_are_smaller=bool(smaller),
    )


def _share(posterior: Posterior, chosen: Array) -> float:
    return min(1.0, float(posterior.weights[chosen].sum()))


def verdict_on(shared: float, r_hat: float) -> str:
    """Return the words for chains: by the share of the words in the topics to rely on, and the worst R-hat.

    Examples
    --------
    >>> verdict_on(0.97, 1.01), verdict_on(0.97, 1.8), verdict_on(0.66, 3.5), verdict_on(0.2, 1.0)
    ('agree', 'agree on most', 'agree on some', 'do not agree')
    """
    if shared >= SHARED_GOOD and r_hat < R_HAT_GOOD:
        return AGREE
    if shared >= SHARED_MOST:
        return MOSTLY
    return PARTLY if shared >= SHARED_SOME else APART


def found_by(counts: Sequence[int] | Array, n_chains: int) -> list[str]:
    """Say of each topic how many chains have it.

    Examples
    --------
    >>> found_by([4, 3, 2, 1], 4)
    ['every chain', 'most chains', 'few chains', 'one chain']
    """
    if n_chains == 1:
        return ["the only chain"] * len(counts)
    words = {0: "one chain", 1: "one chain", n_chains: "every chain"}
    return [words.get(int(n), "most chains" if 2 * n > n_chains else "few chains") for n in counts]


def in_words(low: int, high: int) -> str:
    """Return a range in words.

    Examples
    --------
    >>> in_words(3, 5), in_words(4, 4)
    ('3 to 5', '4')
    """
    return f"{low:,} to {high:,}" if low < high else f"{low:,}"
