"""Rank plots: whether chains have the same small and large numbers (Vehtari et al. 2021).

The numbers of all chains are ranked together, and each chain's ranks are counted in bins. Where chains agree,
every bin has as many ranks of one chain as of another. Numbers that are equal share their ranks evenly, or
the number of topics, which has few values, would look uneven in any run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from franchise._arrays import Floats
from franchise.posterior.convergence import FEWEST_SWEEPS, VITAL, series_of, square_of
from franchise.posterior.diagnostics import Diagnosis
from franchise.posterior.estimates import Posterior
from franchise.report.chains import started, summarised
from franchise.sampling import Chain

BINS = 10


def rank_counts(square: Floats, bins: int = BINS) -> Floats:
    """Count each chain's ranks in bins, relative to what chains that agree have.

    Parameters
    ----------
    square
        Numbers, (chain, draw).
    bins
        How many bins of equal width.

    Returns
    -------
    numpy.ndarray
        (chain, bin); 1 is as many as expected.

    Examples
    --------
    The first chain has the small numbers.

    >>> rank_counts(np.array([[1, 2, 3, 4], [5, 6, 7, 8]]), bins=2)
    array([[2., 0.],
           [0., 2.]])
    """
    values, of, times = np.unique(square, return_inverse=True, return_counts=True)
    first = np.cumsum(times) - times  # rank of the first of equal numbers
    edges = np.linspace(0.0, square.size, bins + 1)
    below = np.clip((edges - first[:, None]) / times[:, None], 0.0, 1.0)  # of equal numbers, what is below
    by_chain = np.array([np.bincount(row, minlength=values.size) for row in of.reshape(square.shape)])
    return np.asarray(np.diff(by_chain @ below) * bins / square.shape[1])


def describe_ranks(
    posterior: Posterior, chains: Sequence[Chain], diagnosis: Diagnosis
) -> list[dict[str, Any]]:
    """Return the ranks of the numbers by which a diagnosis judges; none where there is nothing to compare."""
    running = started(chains)
    series = series_of(posterior, [chain.trace for chain in running], chains[0].schedule)
    described = []
    for name in VITAL:
        square = square_of(series[name])
        if len(square) > 1 and square.shape[1] >= FEWEST_SWEEPS:
            of = running if len(square) == len(running) else summarised(chains)
            described.append(
                {
                    "name": name,
                    "r_hat": diagnosis.table.loc[name, "r_hat"],
                    "chains": [chain.number for chain in of],
                    "ranks": rank_counts(square),
                }
            )
    return described
