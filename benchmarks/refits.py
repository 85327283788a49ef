"""The documents of a second fit, which shows whether the topics of a first fit come again.

A second fit differs from the first in one of three ways:

* *seed*: another seed. Both fits see the same documents in the same order. Chains start from topics that are
  fitted to the documents in their order, so part of this agreement comes from the shared start.
* *order*: another seed, and the documents in another order. The data are the same.
* *90%*: another seed, and a random 90% of the documents in random order.

The vocabulary is the same in all, so topics can be compared term by term. A refit is numbered from 1. The
number determines its documents, and serves as the seed of its fit.
"""

import numpy as np

from benchmarks.cases import Case

WAYS = ("seed", "order", "90%")
SHARE = 0.9


def documents_of(way: str, n_documents: int, number: int) -> np.ndarray:
    """Return which documents a refit has, in its order."""
    if way == "seed":
        return np.arange(n_documents)
    shuffled = np.random.default_rng([number, WAYS.index(way)]).permutation(n_documents)
    return shuffled if way == "order" else shuffled[: round(SHARE * n_documents)]


def refits(case: Case, number: int) -> dict[str, Case]:
    """Return the corpus of a refit for each way; documents to predict are the same."""
    return {way: case.with_documents(documents_of(way, case.corpus.n_documents, number)) for way in WAYS}
