"""Whether the answer can be trusted, in numbers and in plain words.

R-hat and effective sample sizes (Vehtari et al. 2021, by ArviZ) are computed of numbers that do not depend on
the labels of topics, which switch: never of a topic's own numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from franchise.model.state import Array
from franchise.posterior.estimates import Posterior
from franchise.sampling import Draw, Schedule, Trace

if TYPE_CHECKING:
    import pandas as pd

# Below the first, chains agree for all that matters here; above the second, they tell different stories.
# (1.01, the usual limit, is for estimates to the second digit, which counts of topics never need.)
R_HAT_GOOD, R_HAT_ROUGH = 1.05, 1.1
ESS_GOOD = 100.0
_FEWEST_DRAWS = 8  # a chain, for its halves to be compared
_DRIFT = 4.0  # standard errors between the first and the last third
_LARGE = 0.01  # share of the words of a topic that is not small

_OF_TRACES = {
    "n_topics": "number of topics",
    "n_tables": "number of tables",
    "log_p_words": "log probability of the words",
    "log_joint": "log joint",
    "alpha": "alpha",
    "gamma": "gamma",
    "eta": "eta",
}
# What the words of the answer are about; the others are for the curious.
_VITAL = (
    "number of topics",
    "log probability of the words",
    "topics of 1% or more",
    "entropy of topic sizes",
)


@dataclass(frozen=True, slots=True, eq=False)
class Diagnosis:
    """Whether chains agree.

    Attributes
    ----------
    table
        Mean, standard deviation, R-hat and effective sample sizes of each number.
    agree
        Whether the chains tell one story; None where there is only one chain.
    converged
        Whether they do, have moved enough, and drift no more; None where that cannot be told.
    drifting
        Whether the number of topics still rises or falls.
    one_chain_topics
        Listed topics that a single chain has.
    messages
        All of this in plain words, with what to do.
    """

    table: "pd.DataFrame"
    agree: bool | None
    converged: bool | None
    drifting: bool
    one_chain_topics: list[int]
    messages: list[str]

    def __str__(self) -> str:
        table = self.table.to_string(float_format=lambda x: f"{x:,.3f}", na_rep="-")
        return "\n".join([*self.messages, "", table])


def diagnose(posterior: Posterior, traces: Sequence[Trace], schedule: Schedule) -> Diagnosis:
    """Compare the chains, and each with itself."""
    series = _series(posterior, traces, schedule)
    table = _table(series)
    n_kept = min(len(chain) for chain in series["number of topics"])
    several = len(traces) > 1
    lonely = _one_chain_topics(posterior) if several else []
    if n_kept < _FEWEST_DRAWS:
        message = (
            f"Too few sweeps were made after the burn-in ({n_kept}) to tell whether the chains agree. "
            "Run longer: resume(sweeps=...)."
        )
        return Diagnosis(table, None, None, False, lonely, [message])
    drift = _drift(series["number of topics"])
    worst = float(np.nanmax(table.loc[_present(table), "r_hat"], initial=1.0))
    fewest = float(np.nanmin(table.loc[_present(table), "ess_bulk"], initial=np.inf))
    agree = worst < R_HAT_ROUGH if several else None
    converged = bool(worst < R_HAT_GOOD and fewest >= ESS_GOOD and not drift) if several else None
    messages = [
        _verdict(several, worst, fewest, drift, schedule),
        *_about_topics(series["number of topics"], several, worst),
        *_about_drift(drift),
        *_about_lonely(lonely, posterior.n_topics),
    ]
    return Diagnosis(table, agree, converged, bool(drift), lonely, messages)


def _series(posterior: Posterior, traces: Sequence[Trace], schedule: Schedule) -> dict[str, list[Array]]:
    """Return each number as one array a chain, the burn-in left out."""
    kept = [trace["sweep"] > schedule.burn_in for trace in traces]
    if not all(one.any() for one in kept):  # interrupted early: all that there is
        kept = [np.ones(len(trace), bool) for trace in traces]
    series = {
        name: [trace[column][rows] for trace, rows in zip(traces, kept, strict=True)]
        for column, name in _OF_TRACES.items()
    }
    of_draws = [[_sizes(draw) for draw in chain] for chain in posterior.draws]
    series["topics of 1% or more"] = [np.array([(p >= _LARGE).sum() for p in chain]) for chain in of_draws]
    series["entropy of topic sizes"] = [
        np.array([-(p * np.log(p)).sum() for p in chain]) for chain in of_draws
    ]
    series["share of the largest topic"] = [np.array([p.max() for p in chain]) for chain in of_draws]
    # What is fixed by the user says nothing of the run.
    fixed = [name for name in ("alpha", "gamma", "eta") if np.ptp(np.concatenate(series[name])) == 0.0]
    return {name: chains for name, chains in series.items() if name not in fixed}


def _sizes(draw: Draw) -> Array:
    sizes = draw.topic_terms.sum(axis=1)
    return sizes / sizes.sum()


def _table(series: dict[str, list[Array]]) -> "pd.DataFrame":
    import pandas as pd

    rows = {}
    for name, chains in series.items():
        together = np.concatenate(chains).astype(float)
        length = min(map(len, chains))
        square = np.array([chain[len(chain) - length :] for chain in chains], float)
        rows[name] = {"mean": together.mean(), "sd": together.std(), **_convergence(square)}
    return pd.DataFrame.from_dict(rows, orient="index")


def _convergence(square: Array) -> dict[str, float]:
    """Return R-hat and effective sample sizes of an array (chain, draw)."""
    from arviz_stats.base import array_stats

    if square.shape[1] < _FEWEST_DRAWS:
        return {"r_hat": np.nan, "ess_bulk": np.nan, "ess_tail": np.nan}
    if np.ptp(square) == 0.0:  # the same number everywhere: no chain disagrees
        return {"r_hat": 1.0, "ess_bulk": float(square.size), "ess_tail": float(square.size)}
    with np.errstate(all="ignore"):
        r_hat = float(array_stats.rhat(square))
        bulk = float(array_stats.ess(square, method="bulk"))
        tail = float(array_stats.ess(square, method="tail", prob=(0.05, 0.95)))
    # Each chain at a number of its own, which it never leaves, is no agreement at all.
    r_hat = r_hat if np.isfinite(r_hat) else np.inf
    return {"r_hat": r_hat, "ess_bulk": bulk, "ess_tail": tail}


def _present(table: "pd.DataFrame") -> list[str]:
    return [name for name in _VITAL if name in table.index]


def _drift(chains: list[Array]) -> float:
    """Return by how much K rises (falls) from the first to the last third; 0 where that may be chance."""
    from arviz_stats.base import array_stats

    rises: list[float] = []
    errors: list[float] = []
    for chain in chains:
        third = len(chain) // 3
        if third < _FEWEST_DRAWS // 2:
            return 0.0
        first, last = chain[:third].astype(float), chain[-third:].astype(float)
        rises.append(last.mean() - first.mean())
        with np.errstate(all="ignore"):
            errors += [
                x.var() / max(1.0, float(array_stats.ess(x[None, :]))) for x in (first, last) if np.ptp(x)
            ]
    rise = float(np.mean(rises))
    same_way = np.mean(np.sign(rises) == np.sign(rise)) > 0.5
    error = float(np.sqrt(np.sum(errors)) / len(chains))
    return rise if same_way and abs(rise) >= 1.0 and abs(rise) > _DRIFT * error else 0.0


def _one_chain_topics(posterior: Posterior) -> list[int]:
    once = 1.0 / len(posterior.draws)
    return np.flatnonzero(posterior.chain_support <= once + 1e-9).tolist() if len(posterior.draws) > 1 else []


def _verdict(several: bool, worst: float, fewest: float, drift: float, schedule: Schedule) -> str:
    more = f"resume(sweeps={max(schedule.sweeps, 100)})"
    if not several:
        return (
            "There is one chain only, and nothing to compare it with: nobody can tell whether another would "
            "find the same. Use chains=4."
        )
    if worst >= R_HAT_ROUGH:
        return f"The chains do not agree yet (R-hat {worst:.2f}). Run longer: {more}."
    if worst >= R_HAT_GOOD:
        return f"The chains agree roughly (R-hat {worst:.2f}). For firmer numbers run longer: {more}."
    if fewest < ESS_GOOD:
        return (
            f"The chains agree (R-hat {worst:.2f}), but have not moved much (they are worth {fewest:.0f} "
            f"independent draws). For firmer numbers run longer: {more}."
        )
    if drift:
        return f"The chains agree (R-hat {worst:.2f}), but are still on their way. Run longer: {more}."
    return f"Converged: the chains agree (R-hat {worst:.2f})."


def _about_topics(chains: list[Array], several: bool, worst: float) -> list[str]:
    if not several or worst < R_HAT_ROUGH:
        return []
    ranges = [np.quantile(chain, [0.1, 0.9], method="inverted_cdf").astype(int) for chain in chains]
    low, high = int(np.argmin([a for a, _ in ranges])), int(np.argmax([b for _, b in ranges]))
    if low == high:
        return []
    return [
        f"Number of topics: {_range(ranges[low])} in chain {low}, {_range(ranges[high])} in chain {high}.",
    ]


def _range(pair: Array) -> str:
    return f"{pair[0]} to {pair[1]}" if pair[0] != pair[1] else str(pair[0])


def _about_drift(drift: float) -> list[str]:
    if not drift:
        return []
    how = "rising" if drift > 0 else "falling"
    return [
        f"The number of topics is still {how} (by {abs(drift):.1f} from the first to the last third of the "
        "kept sweeps): the burn-in was too short. Fit again with a longer one."
    ]


def _about_lonely(lonely: list[int], n_topics: int) -> list[str]:
    if not lonely:
        return []
    named = ", ".join(map(str, lonely[:10])) + (", ..." if len(lonely) > 10 else "")
    verb, them = ("was", "it") if len(lonely) == 1 else ("were", "them")
    return [
        f"{len(lonely)} of {n_topics} topics {verb} found by one chain only ({named}): do not rely on {them}."
    ]
