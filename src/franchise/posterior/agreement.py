"""What every chain has found, what differs from chain to chain, and the words for it.

Chains of real texts settle in different modes: they share most of the topics, and divide the rest in ways of
their own that they do not leave in any time that a person has. So the question is not only whether chains
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

from franchise._text import counted
from franchise.model.state import Array
from franchise.posterior.estimates import Posterior

AGREE, MOSTLY, PARTLY, APART = "agree", "agree on most", "agree on some", "do not agree"
# Share of the words in the topics to rely on, for these words; to agree, numbers must agree too.
SHARED_GOOD, SHARED_MOST, SHARED_SOME = 0.95, 0.75, 0.5
R_HAT_GOOD = 1.05  # below this, the numbers of chains agree
# Of the words in topics of every chain that half of the runs found, 93 and 95% were in topics that other fits
# found too (another seed, another order, 90% of the documents; 1,800 abstracts, and Cora).
FIRM_RUNS = 0.5
FEW_DRAWS = 20  # per chain: of fewer, the ends of a 95% interval are the extremes, and no percentage is given
_RANGES_SHOWN = 8  # of chains, one by one


class Agreement(NamedTuple):
    """On which topics chains agree."""

    solid: list[int]  # listed topics that every chain has
    likely: list[int]  # more than half of the chains, but not all
    doubtful: list[int]  # half of them, or fewer
    shared: float  # of the words, in solid topics
    firm: list[int] | None = None  # solid, and found by most independent runs; None if there were no runs
    firm_share: float = np.nan  # of the words, in firm topics

    @property
    def relied_on(self) -> float:
        """Share of the words in the topics to rely on: the firm ones if there were runs, else the solid."""
        return self.shared if self.firm is None else self.firm_share


def agreement(posterior: Posterior, run_support: Array | None = None) -> Agreement:
    """Sort the listed topics by how many chains have them, and how many runs (by default the posterior's)."""
    counts, n_chains = posterior.chain_counts, len(posterior.draws)
    solid, likely = counts == n_chains, 2 * counts > n_chains
    runs = posterior.run_support if run_support is None else run_support
    firm = None if runs is None else solid & (np.asarray(runs) >= FIRM_RUNS)
    return Agreement(
        solid=np.flatnonzero(solid).tolist(),
        likely=np.flatnonzero(likely & ~solid).tolist(),
        doubtful=np.flatnonzero(~likely).tolist(),
        shared=_share(posterior, solid),
        firm=None if firm is None else np.flatnonzero(firm).tolist(),
        firm_share=np.nan if firm is None else _share(posterior, firm),
    )


def alone(found: Agreement) -> Agreement:
    """Return what is known of one chain, which agrees with itself: only which of its topics are firm."""
    return Agreement([], [], [], np.nan, found.firm, found.firm_share)


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
    return [_found_by(int(count), n_chains) for count in counts]


def _found_by(count: int, n_chains: int) -> str:
    if count == n_chains:
        return "every chain"
    if 2 * count > n_chains:
        return "most chains"
    return "few chains" if count > 1 else "one chain"


def what_holds(found: Agreement, weights: Array, same_start: bool = False, few_draws: int = 0) -> str:
    """Say what of the answer can be relied on, in one sentence.

    `same_start`: all chains started from the same topics; `few_draws`: draws per chain, if they are few.
    """
    start = ", all from the same start," if same_start and found.firm is None else ""
    few = f" (in {few_draws} draw{'s' if few_draws != 1 else ''} per chain)" if few_draws else ""
    if found.firm is not None:
        return f"{_firm(found, weights)}{few}."
    n_solid, share = len(found.solid), f"{found.shared:.0%} of the words{few}"
    others = the_others(found, weights)
    if not others and n_solid == 1:
        return f"The only topic was found by every chain{start or ','} and holds {share}."
    if not others:
        return f"All {n_solid} topics were found by every chain{start.removesuffix(',')}; they hold {share}."
    if not n_solid:
        return f"No topic was found by every chain{few}: {others}."
    kind, verb = ("topic", "holds") if n_solid == 1 else ("topics", "hold")
    return f"{n_solid} {kind}, found by every chain{start or ','} {verb} {share}; {others}."


def _firm(found: Agreement, weights: Array) -> str:
    """Say which topics independent runs found too."""
    firm = found.firm or []
    chains_only = len(found.solid) - len(firm)
    said = [f"{chains_only} more {'is' if chains_only == 1 else 'are'} in every chain"] if chains_only else []
    if others := the_others(found, weights):
        said.append(others)
    rest = f"; {', '.join(said)}" if said else ""
    if not firm:
        return f"No topic was found by every chain and at least {FIRM_RUNS:.0%} of the short runs{rest}"
    kind, verb = ("topic", "holds") if len(firm) == 1 else ("topics", "hold")
    return (
        f"{len(firm)} firm {kind}, found by every chain and at least {FIRM_RUNS:.0%} of the short "
        f"runs, {verb} {found.firm_share:.0%} of the words{rest}"
    )


def what_one_chain_holds(firm: Sequence[int], share: float, n_topics: int, few_draws: int = 0) -> str:
    """Say which topics of the only chain independent runs found too.

    Examples
    --------
    >>> print(what_one_chain_holds([], 0.0, 5))
    None of 5 topics is firm, found by the only chain and at least 50% of the short runs.
    """
    few = f" (in {counted(few_draws, 'draw')})" if few_draws else ""
    found = f"found by the only chain and at least {FIRM_RUNS:.0%} of the short runs"
    if not firm:
        return f"None of {n_topics} topics is firm, {found}{few}."
    verb, they = ("is", "it holds") if len(firm) == 1 else ("are", "they hold")
    return f"{len(firm)} of {n_topics} topics {verb} firm, {found}; {they} {share:.0%} of the words{few}."


def the_others(found: Agreement, weights: Array) -> str:
    """Say where topics are that not every chain has; nothing if there are none."""
    n_likely, n_doubtful = len(found.likely), len(found.doubtful)
    kind, said = "", []
    if found.solid and n_likely + n_doubtful:
        heaviest = max(weights[found.likely + found.doubtful])
        kind = " smaller" if heaviest < np.mean(weights[found.solid]) else " other"
    if n_likely:
        said.append(f"{_these(n_likely, kind)} {'is' if n_likely == 1 else 'are'} in most chains")
    if n_doubtful:
        these = _these(n_doubtful, kind) if not n_likely else str(n_doubtful)
        said.append(f"{these} differ{'s' if n_doubtful == 1 else ''} from chain to chain")
    return ", ".join(said)


def _these(n: int, kind: str) -> str:
    return f"{n}{kind or ' topic'}{' one' if kind else ''}{'s' if n != 1 else ''}"


def topics_by_chain(posterior: Posterior) -> str:
    """Say how many topics each chain has; of very many chains, the one with the fewest and the most."""
    ranges = posterior.n_topics_by_chain
    chosen = list(range(len(ranges)))
    if len(chosen) > _RANGES_SHOWN:
        order = sorted(range(len(ranges)), key=lambda i: sum(ranges[i]))
        chosen = [order[0], order[-1]]
    return f"Number of topics: {', '.join(f'{in_words(*ranges[i])} in chain {i}' for i in chosen)}."


def in_words(low: int, high: int) -> str:
    """Return a range in words.

    Examples
    --------
    >>> in_words(3, 5), in_words(4, 4)
    ('3 to 5', '4')
    """
    return f"{low:,} to {high:,}" if low < high else f"{low:,}"
