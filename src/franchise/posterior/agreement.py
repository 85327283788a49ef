"""What every chain has found, and what differs from chain to chain.

Chains of real texts settle in different modes: they share most of the topics, and divide the rest in ways of
their own that they do not leave in any time that a person has. So the question is not only whether chains
agree, but on what. A topic is *solid* if every chain has it (`Posterior.chain_support`), *likely* if more
than half of them have it, and *doubtful* otherwise: another run may not find it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from franchise.model.state import Array
from franchise.posterior.estimates import Posterior

_RANGES_SHOWN = 8  # of chains, one by one


class Agreement(NamedTuple):
    """On which topics chains agree."""

    solid: list[int]  # listed topics that every chain has
    likely: list[int]  # more than half of the chains, but not all
    doubtful: list[int]  # half of them, or fewer
    shared: float  # of the words, in solid topics


def agreement(posterior: Posterior) -> Agreement:
    """Sort the listed topics by how many chains have them."""
    counts, n_chains = posterior.chain_counts, len(posterior.draws)
    solid, likely = counts == n_chains, 2 * counts > n_chains
    return Agreement(
        solid=np.flatnonzero(solid).tolist(),
        likely=np.flatnonzero(likely & ~solid).tolist(),
        doubtful=np.flatnonzero(~likely).tolist(),
        shared=min(1.0, float(posterior.weights[solid].sum())),
    )


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


def what_holds(found: Agreement, weights: Array) -> str:
    """Say what of the answer can be relied on, in one sentence."""
    n_solid, share = len(found.solid), f"{found.shared:.0%} of the words"
    others = the_others(found, weights)
    if not others and n_solid == 1:
        return f"The only topic was found by every chain, and holds {share}."
    if not others:
        return f"All {n_solid} topics were found by every chain; they hold {share}."
    if not n_solid:
        return f"No topic was found by every chain: {others}."
    verb = "topic, found by every chain, holds" if n_solid == 1 else "topics, found by every chain, hold"
    return f"{n_solid} {verb} {share}; {others}."


def the_others(found: Agreement, weights: Array) -> str:
    """Say what is to be thought of topics that not every chain has; nothing if there are none."""
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
