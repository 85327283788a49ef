"""How far chains agree in numbers that do not depend on the labels of topics, which switch.

R-hat and effective sample sizes (Vehtari et al. 2021, by ArviZ), and whether a number still rises or falls.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from franchise._arrays import Array
from franchise.posterior.estimates import Posterior
from franchise.sampling import Draw, Timetable, Trace

if TYPE_CHECKING:
    import pandas as pd

FEWEST_SWEEPS = 8  # a chain, for its halves to be compared
_DRIFT = 6.0  # standard errors between the first and the last third: few, of short chains, are known badly
_LARGE = 0.01  # share of the words of a topic that is not small

N_TOPICS = "number of topics"
_N_LARGE = "number of topics of 1% or more"
_OF_TRACES = {
    "n_topics": N_TOPICS,
    "n_tables": "number of tables",
    "log_p_words": "log probability of the words",
    "log_joint": "log joint",
    "alpha": "alpha",
    "gamma": "gamma",
    "eta": "eta",
}
# What chains must agree on to agree; the others are for the curious.
VITAL = (N_TOPICS, "log probability of the words", _N_LARGE, "entropy of topic sizes")


class Worst(NamedTuple):
    """The number on which chains differ most."""

    r_hat: float
    name: str


def series_of(posterior: Posterior, traces: Sequence[Trace], schedule: Timetable) -> dict[str, list[Array]]:
    """Return each number as one array per chain, without the burn-in."""
    kept = [trace["sweep"] > schedule.burn_in for trace in traces]
    is_early = not all(one.any() for one in kept)
    if is_early:  # interrupted: use all sweeps
        kept = [np.ones(len(trace), bool) for trace in traces]
    series = {
        name: [trace[column][rows] for trace, rows in zip(traces, kept, strict=True)]
        for column, name in _OF_TRACES.items()
    }
    of_draws = [[_sizes(draw) for draw in chain] for chain in posterior.draws]
    series[_N_LARGE] = [np.array([(p >= _LARGE).sum() for p in chain]) for chain in of_draws]
    series["entropy of topic sizes"] = [
        np.array([-(p * np.log(p)).sum() for p in chain]) for chain in of_draws
    ]
    series["share of the largest topic"] = [np.array([p.max() for p in chain]) for chain in of_draws]
    # Values fixed by the user say nothing about the run, and neither does an eta that a warm-up holds.
    fixed = [name for name in ("alpha", "gamma", "eta") if np.ptp(np.concatenate(series[name])) == 0.0]
    if is_early and schedule.warm_up:
        fixed.append("eta")
    return {name: chains for name, chains in series.items() if name not in fixed}


def _sizes(draw: Draw) -> Array:
    sizes = draw.topic_terms.sum(axis=1)
    return sizes / sizes.sum()


def square_of(chains: list[Array]) -> Array:
    """Return the last of each chain, as many as the shortest has: (chain, draw)."""
    length = min(map(len, chains))
    return np.array([chain[len(chain) - length :] for chain in chains], float)


def table_of(series: dict[str, list[Array]]) -> "pd.DataFrame":
    """Return mean, standard deviation, R-hat and effective sample sizes of each number."""
    import pandas as pd

    rows = {}
    for name, chains in series.items():
        together = np.concatenate(chains).astype(float)
        rows[name] = {"mean": together.mean(), "sd": together.std(), **_convergence(square_of(chains))}
    return pd.DataFrame.from_dict(rows, orient="index")


def _convergence(square: Array) -> dict[str, float]:
    """Return R-hat and effective sample sizes of an array (chain, draw)."""
    from arviz_stats.base import array_stats

    if square.shape[1] < FEWEST_SWEEPS:
        return {"r_hat": np.nan, "ess_bulk": np.nan, "ess_tail": np.nan}
    if np.ptp(square) == 0.0:  # the same number everywhere: no chain disagrees
        r_hat = 1.0 if len(square) > 1 else np.nan
        return {"r_hat": r_hat, "ess_bulk": float(square.size), "ess_tail": float(square.size)}
    with np.errstate(all="ignore"):
        r_hat = float(array_stats.rhat(square)) if len(square) > 1 else np.nan
        bulk = float(array_stats.ess(square, method="bulk"))
        tail = float(array_stats.ess(square, method="tail", prob=(0.05, 0.95)))
    # Where no chain ever leaves a number of its own, R-hat divides by rounding errors.
    return {"r_hat": np.inf if r_hat > 1e6 else r_hat, "ess_bulk": bulk, "ess_tail": tail}


def worst_of(series: dict[str, list[Array]], table: "pd.DataFrame") -> Worst:
    """Return the vital number of the largest R-hat; 1 where none is larger than chance makes it."""
    found = [
        Worst(float(table.loc[name, "r_hat"]), name)
        for name in VITAL
        if table.loc[name, "r_hat"] > r_hat_by_chance(square_of(series[name]).shape)
    ]
    return max(found, key=lambda number: number.r_hat, default=Worst(1.0, ""))


def r_hat_by_chance(shape: tuple[int, ...]) -> float:
    """Return the R-hat that independent draws (chain, draw) exceed once in a thousand times.

    That of few draws is large: of two chains with 8 draws each, 1.9. The means of the 2 C half chains vary
    as the draws in them tell, or an F variable times as much.
    """
    from scipy.stats import f

    halves, length = 2 * shape[0], shape[1] // 2
    ratio = f.ppf(0.999, halves - 1, halves * (length - 1))
    return float(np.sqrt((length - 1 + ratio) / length))


def drift_of(chains: list[Array], least: float = 1.0) -> float:
    """Return by how much K rises (falls) from the first to the last third.

    It is 0 where that may be chance, or less than matters.
    """
    square = square_of(chains)
    length = square.shape[1]
    third = length // 3
    if third < FEWEST_SWEEPS // 2:
        return 0.0
    weights = np.zeros(length)
    weights[:third], weights[-third:] = -1.0 / third, 1.0 / third
    rises = square @ weights
    rise = float(rises.mean())
    same_way = np.mean(np.sign(rises) == np.sign(rise)) > 0.5
    if not same_way or abs(rise) < least:
        return 0.0
    return rise if abs(rise) > _DRIFT * standard_error(square, weights) else 0.0


def standard_error(square: Array, weights: Array) -> float:
    """Return the standard error of a weighted sum of each chain's numbers, averaged over the chains.

    It is that of numbers which always come back to their mean, AR(1). How slowly is seen after a smooth
    course (a parabola) is taken off; what that takes off the correlation is added again (Kendall's bias).
    Rounding to whole numbers blurs the first correlation, but not the ratio of the second to it.
    """
    from scipy.signal import correlate

    n_chains, length = square.shape
    parabolas = np.linalg.qr(np.vander(np.linspace(-1.0, 1.0, length), 3))[0]
    rest = square - (square @ parabolas) @ parabolas.T
    lags = [float((rest[:, lag:] * rest[:, : length - lag]).sum()) for lag in range(3)]
    if lags[0] < 1e-9 * square.size:
        return 0.0
    rho = lags[1] / lags[0]
    if rho > 0.5:
        rho = max(rho, lags[2] / lags[1])
    rho = float(np.clip((length * rho + 3.0) / (length - 5.0), 0.0, 0.999))
    noise = ((rest[:, 1:] - rho * rest[:, :-1]) ** 2).sum() / (n_chains * (length - 5.0))
    apart = np.abs(np.arange(1 - length, length))
    variance = noise / (1.0 - rho**2) * (rho**apart @ correlate(weights, weights))
    return float(np.sqrt(variance / n_chains))
