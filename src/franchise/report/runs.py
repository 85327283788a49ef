"""What the page shows of the chains: traces, sizes of topics by draw, number of topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from franchise.engines import GivenTopics
from franchise.report.family import describe_family
from franchise.report.topics import draws_shown
from franchise.sampling import Chain, Draw, Trace

if TYPE_CHECKING:
    from franchise.posterior.estimates import Posterior

BANDS = 10  # in the picture of the sizes of topics, at most
_POINTS = 400  # of a curve, at most


def started(chains: Sequence[Chain]) -> list[Chain]:
    """Return the chains that have begun."""
    return [chain for chain in chains if len(chain.trace)]


def summarised(chains: Sequence[Chain]) -> list[Chain]:
    """Return the chains that the posterior is made of: those with draws or, before any is kept, all."""
    return [chain for chain in chains if chain.draws] or started(chains)


def curve(trace: Trace) -> dict[str, Any]:
    """Return a trace as at most `_POINTS` points, with the splits and merges since the point before."""
    every = -(-len(trace) // _POINTS)
    rows = np.unique(np.append(np.arange(0, len(trace), every), len(trace) - 1))
    points: dict[str, Any] = {
        name: trace[name][rows] for name in ("sweep", "n_topics", "alpha", "gamma", "eta")
    }
    points["log_joint"] = trace["log_joint"][rows].round().astype(np.int64)
    for kind in ("splits", "merges"):
        points[kind] = _sums_up_to(trace, f"split_merge.{kind}", rows)
    return points


def _sums_up_to(trace: Trace, column: str, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    if column not in trace.columns:
        return np.zeros(rows.size, np.int64)
    total = np.cumsum(np.nan_to_num(trace[column]))[rows]
    return np.diff(total, prepend=0).astype(np.int64)


def band_ends(n_topics: int) -> list[int]:
    """Return the ranks, largest topic first, at which bands end: each its own, or more and more together."""
    if n_topics <= BANDS:
        return list(range(1, n_topics + 1))
    return [int(rank) for rank in np.unique(np.geomspace(1, n_topics, BANDS).round())]


def mass(draws: Sequence[Draw], ends: Sequence[int]) -> list[list[float]]:
    """Return, for each draw, the share of the words of its topics up to each rank (the paper's plot)."""
    cumulative = []
    for draw in draws:
        sizes = np.sort(draw.topic_terms.sum(axis=1))[::-1]
        up_to = np.cumsum(sizes) / sizes.sum()
        cumulative.append([float(up_to[min(end, up_to.size) - 1]) for end in ends])
    return cumulative


def fixed_concentrations(chain: Chain) -> dict[str, float]:
    """Return the concentrations that were given and not sampled, with their values."""
    names = ("alpha", "gamma", "eta")
    settings = zip(names, chain.priors.settings, strict=True)
    return {name: float(value) for name, value in settings if not isinstance(value, tuple)}


def describe_runs(posterior: Posterior, chains: Sequence[Chain]) -> dict[str, Any]:
    """Return all that the page needs of the chains."""
    with_draws = {
        id(chain): (draws, shown)
        for chain, draws, shown in zip(
            summarised(chains), posterior.draws, draws_shown(posterior), strict=True
        )
    }
    ends = band_ends(int(posterior.n_topics_draws.max()))
    described = []
    for chain in started(chains):
        start = chain.init
        draws, shown = with_draws.get(id(chain), ([], np.zeros(0, np.int64)))
        first = next((i for i, draw in enumerate(posterior.flat_draws) if draws and draw is draws[0]), 0)
        columns = posterior.columns[first : first + len(draws)]
        described.append(
            {
                "number": chain.number,
                "start": start.kind if isinstance(start, GivenTopics) else start,
                "sweeps": chain.sweeps_done,
                "burn_in": min(chain.schedule.burn_in, chain.sweeps_done),
                "seconds": float(chain.trace["seconds"].sum()),
                "trace": curve(chain.trace),
                "draws": [posterior.flat_draws[i].sweep for i in shown],
                "mass": mass([posterior.flat_draws[i] for i in shown], ends),
                "n_topics": _frequencies([draw.names.size for draw in draws]),
                "family": describe_family(
                    chain, draws, columns, posterior.n_topics, posterior.corpus.vocabulary
                ),
            }
        )
    return {"chains": described, "band_ends": ends, "fixed": fixed_concentrations(chains[0])}


def _frequencies(values: Sequence[int]) -> list[tuple[int, int]]:
    different, times = np.unique(np.asarray(values, np.int64), return_counts=True)
    return list(zip(different.tolist(), times.tolist()))
