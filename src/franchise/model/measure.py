"""G_0 instantiated down to a weight: all that documents need to know of each other.

Given the seating, the topics in use have weights, and the rest has one::

    (beta_1, ..., beta_K, beta_u) ~ Dirichlet(m_1, ..., m_K, gamma),    phi_k ~ Dirichlet(eta + n_k)

The rest is again a Dirichlet process, so more topics can be broken off it, each with a phi ~ Dirichlet(eta),
until less than epsilon is left. Then every topic of G_0 with weight epsilon or more is known, in use or not.
The set of these topics depends on G_0 alone. So words in one of them may move among them, in all documents at
once, and topics are born and die without bias.
"""

from typing import NamedTuple

import numpy as np

from franchise._arrays import Array

FREE = -1  # number of an unused topic


class Measure(NamedTuple):
    """The weights of topics, and the terms of those that words may move among.

    First come the columns of topics with weight epsilon or more: those in use, then free ones. Topics in use
    with less weight follow; they keep their words.
    """

    number: Array  # of each column, or FREE
    column: Array  # of each number
    beta: Array  # of each column
    sizes: Array  # int64[2]: number of columns that move, and of all columns
    phi: Array  # (term, column that moves), float32: a word reads a few entries of a row
    rest: Array  # (term, column that moves): sums of alpha beta phi up to the column
    total: Array  # of each term: the last of these sums
    survival: Array  # (column, n): probability that the first n words of a topic in a document share a table


MOST_SEATED = 256  # number of words up to which survival is tabulated


def new_measure(n_terms: int, capacity: int, n_numbers: int, longest: int) -> Measure:
    """Allocate room for columns (`capacity`), topic numbers, and documents of up to `longest` words."""
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
