"""G_0 revealed down to a weight: what documents need to know of each other, and nothing else.

Given the franchise, the topics in use have weights and the rest has one::

    (beta_1, ..., beta_K, beta_u) ~ Dirichlet(m_1, ..., m_K, gamma),    phi_k ~ Dirichlet(eta + n_k)

The rest is again a Dirichlet process, so more topics can be broken off it, each with a phi ~ Dirichlet(eta),
until less than epsilon is left: then every topic of G_0 that weighs epsilon or more is known, those in use
and those that nobody uses yet. Which these are depends on G_0 alone. So words that sit in one of them may
move among them, in all documents at once, and topics are born and die without any favour for either.
"""

from typing import NamedTuple

import numpy as np

from franchise._arrays import Array

FREE = -1  # number of a topic that nobody uses yet


class Measure(NamedTuple):
    """Topics with their weights and, of those that words may move among, their terms.

    The first columns are the topics of weight epsilon or more: in use, then free; behind them are those in
    use that weigh less, which keep their words.
    """

    number: Array  # of each column, or FREE
    column: Array  # of each number
    beta: Array  # of each column
    sizes: Array  # int64[2]: columns that move, columns in all
    phi: Array  # (term, column that moves), float32: a word looks at a few places of a row
    rest: Array  # (term, column that moves): sums of alpha beta phi up to the column
    total: Array  # of each term: the last of these
    survival: Array  # (column, n): that the first n words of a topic in a document sit at one table


MOST_SEATED = 256  # survival is tabulated up to so many words


def new_measure(n_terms: int, capacity: int, n_numbers: int, longest: int) -> Measure:
    """Allocate room for so many columns and numbers, and for documents of up to so many words."""
    return Measure(
        number=np.full(capacity, FREE, np.int32),
        column=np.full(n_numbers, -1, np.int32),
        beta=np.zeros(capacity),
        sizes=np.zeros(2, np.int64),
        phi=np.zeros((n_terms, capacity), np.float32),
        rest=np.zeros((n_terms, capacity)),
        total=np.zeros(n_terms),
        survival=np.ones((capacity, min(longest, MOST_SEATED) + 2)),
    )
