"""How well each chain predicts new documents, and weights of the chains that predict best together.

Chains that have settled in different modes are not draws from one posterior in the right proportions: pooling
them gives every mode as many chains as happened to start near it. Stacking (Yao, Vehtari & Gelman, JMLR 2022)
weighs them by what they predict instead. With p_ci the probability that chain c gives to unit i (a held-out
word or document), the weights maximise the score of the mixture::

    sum_i log sum_c w_c p_ci        w_c >= 0, sum_c w_c = 1

This is concave, so there is one best score. There g_c, the mean over i of p_ci / sum_d w_d p_di, is 1 for
every chain that has a weight, and not above 1 for any. With any weights, no more than the largest g_c - 1 is
missing from the best score per unit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import minimize

from franchise._arrays import Array
from franchise._draws import Draw
from franchise.errors import SettingsError
from franchise.predict.heldout import Densities, HeldOut

if TYPE_CHECKING:
    import pandas as pd

_NEARLY = 1e-9  # nats per unit that may be missing from the best score
_MOST_STEPS = 10_000
_NOTHING = 1e-6  # a weight below this is none


class OfChain(NamedTuple):
    """What is compared of a chain."""

    number: int
    n_topics: int
    draws: Sequence[Draw]


@dataclass(frozen=True, slots=True, eq=False)
class Stacked:
    """How well chains predict, each by itself and together.

    Attributes
    ----------
    chains
        The chains.
    scores
        The score of each.
    weights
        Their weights in the mixture that predicts best; they sum to one.
    pooled
        The score of all together, each with the same weight.
    weighted
        The score of all together, by the weights. It is a little too good on the documents that the weights
        were found with.
    """

    chains: Sequence[OfChain]
    scores: list[HeldOut]
    weights: Array
    pooled: HeldOut
    weighted: HeldOut

    def as_frame(self) -> "pd.DataFrame":
        """Return a table with one row per chain."""
        import pandas as pd

        return pd.DataFrame(
            {
                "chain": [chain.number for chain in self.chains],
                "n_topics": [chain.n_topics for chain in self.chains],
                "per_word": [score.per_word for score in self.scores],
                "standard_error": [score.standard_error for score in self.scores],
                "weight": self.weights,
            }
        )


def stacked(chains: Sequence[OfChain], found: Densities) -> Stacked:
    """Compare chains by what they say of new documents, and weigh them."""
    n = len(chains)
    pooled = found.held_out(np.full(n, 1.0 / n))  # first: there may be nothing to score
    weights = best_weights(found.log_p)
    return Stacked(
        chains=chains,
        scores=[found.held_out(own) for own in np.eye(n)],
        weights=weights,
        pooled=pooled,
        weighted=found.held_out(weights),
    )


def best_weights(log_p: Array) -> Array:
    """Return the weights of the mixture of rows whose log probability, summed over columns, is largest."""
    p = np.exp(log_p - log_p.max(axis=0))
    n = len(p)
    if n == 1:
        return np.ones(1)

    def missed(w: Array) -> tuple[float, Array]:
        mixed = np.maximum(w @ p, 1e-300)
        return -float(np.log(mixed).mean()), -(p / mixed).mean(axis=1)

    sums_to_one = {"type": "eq", "fun": lambda w: w.sum() - 1.0, "jac": np.ones_like}
    found = minimize(
        missed,
        np.full(n, 1.0 / n),
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * n,
        constraints=sums_to_one,
        options={"maxiter": 500, "ftol": 1e-14},
    ).x
    # Where it stopped early, a little of every chain lets EM, which never lowers the score, go on.
    weights = _normed(np.maximum(found, 1e-9))
    for _ in range(_MOST_STEPS):
        gains = -missed(weights)[1]
        if gains.max() - 1.0 < _NEARLY:
            break
        weights = _normed(weights * gains)
    return _normed(np.where(weights < _NOTHING, 0.0, weights))


def mixture_weights(given: object, n_chains: int) -> Array:
    """Return weights of chains, summing to one, or say what is wrong with them.

    A table such as `Stacked.as_frame` gives stands for its weights.
    """
    if hasattr(given, "columns") and "weight" in given.columns:
        given = given["weight"].tolist()  # type: ignore[index]
    try:
        weights = np.asarray(given, float)
        if weights.shape != (n_chains,) or not (np.isfinite(weights).all() and (weights >= 0).all()):
            raise ValueError
        if weights.sum() == 0.0:
            raise ValueError
    except (TypeError, ValueError):
        raise SettingsError(
            f"chain_weights={given!r}: give {n_chains} numbers, one per chain, none below 0 and not all 0",
            code="invalid-weights",
        ) from None
    return _normed(weights)


def _normed(weights: Array) -> Array:
    return np.asarray(weights / weights.sum())
