"""Scores of chains on new documents, and the weights with which the chains predict best together.

Chains that have settled in different modes do not represent one posterior in the right proportions: if they
are pooled, the weight of a mode depends on how many chains happened to start near it. Stacking (Yao, Vehtari
& Gelman, JMLR 2022) weights chains by their predictions instead. With p_ci the probability that chain c gives
to unit i (a held-out word or document), the weights maximise the score of the mixture::

    sum_i log sum_c w_c p_ci        w_c >= 0, sum_c w_c = 1

This function is concave, so there is one best score. Let g_c be the mean over i of p_ci / sum_d w_d p_di. At
the best score, g_c is 1 for every chain with a weight above 0, and at most 1 for the others. For any weights,
the score per unit is below the best by at most the largest g_c - 1.
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

_NEARLY = 1e-9  # nats per unit by which a score may be below the best
_MOST_STEPS = 10_000
_NOTHING = 1e-6  # a smaller weight becomes 0


class OfChain(NamedTuple):
    """The facts about a chain to compare."""

    number: int
    n_topics: int
    draws: Sequence[Draw]


@dataclass(frozen=True, slots=True, eq=False)
class Stacked:
    """Scores of chains, each alone and together.

    Attributes
    ----------
    chains
        The chains.
    scores
        The score of each chain.
    weights
        The weights of the chains in the mixture that predicts best. They sum to one.
    pooled
        The score of all chains together with equal weights.
    weighted
        The score of all chains together with `weights`. It is slightly too high on the documents that
        determined the weights.
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
    """Compare chains by their predictions of new documents, and weight them."""
    n = len(chains)
    pooled = found.held_out(np.full(n, 1.0 / n))  # first, because it fails if there is nothing to score
    weights = best_weights(found.log_p)
    return Stacked(
        chains=chains,
        scores=[found.held_out(own) for own in np.eye(n)],
        weights=weights,
        pooled=pooled,
        weighted=found.held_out(weights),
    )


def best_weights(log_p: Array) -> Array:
    """Return the weights that maximise the log probability of the mixture of rows, summed over columns."""
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
    # If the solver stopped early, EM continues. It never lowers the score, but needs weights above 0.
    weights = _normed(np.maximum(found, 1e-9))
    for _ in range(_MOST_STEPS):
        gains = -missed(weights)[1]
        if gains.max() - 1.0 < _NEARLY:
            break
        weights = _normed(weights * gains)
    return _normed(np.where(weights < _NOTHING, 0.0, weights))


def mixture_weights(given: object, n_chains: int) -> Array:
    """Return weights of chains that sum to one; refuse invalid weights.

    A table of `Stacked.as_frame` is accepted for its weights.
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
