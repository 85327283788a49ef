"""What the page shows of the chains: traces, sizes of topics by draw, number of topics, the family tree.

The tree says which topics of a chain were born, split from or merged into which, and when. Most topics that a
chain tries live for a few sweeps only. To be legible, the tree shows those that reached some size or lived
long, and says how many it leaves out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from franchise.posterior.estimates import Posterior
from franchise.report.topics import draws_shown
from franchise.sampling import Chain, Draw, Trace

BANDS = 10  # in the picture of the sizes of topics, at most
_POINTS = 400  # of a curve, at most
MOST_LANES = 40
_SIZE = 0.01  # share of the words, in a draw
_LIFE = 0.1  # share of the chain's sweeps
_TERMS_NAMED = 3  # of a topic that is not listed, and so has no other name
_NONE = -1


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
        draws, shown = with_draws.get(id(chain), ([], np.zeros(0, np.int64)))
        first = next((i for i, draw in enumerate(posterior.flat_draws) if draws and draw is draws[0]), 0)
        columns = posterior.columns[first : first + len(draws)]
        described.append(
            {
                "number": chain.number,
                "start": chain.started_from,
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


# ---------------------------------------------------------------- family tree


@dataclass(slots=True)
class Life:
    """What is known of one topic of a chain.

    `topic` is the listed topic that it is, -1 for none; `terms` are its most frequent ones where it was
    largest, none if it never was in a draw.
    """

    name: int
    start: int = 0
    origin: str = "start"  # or "born", "split"
    parent: int = _NONE
    end: int = _NONE
    fate: str = "alive"  # or "died", "merged"
    heir: int = _NONE
    share: float = 0.0
    topic: int = _NONE
    terms: tuple[int, ...] = ()


def lives(chain: Chain) -> dict[int, Life]:
    """Return the life of each topic that the chain has had, by name."""
    found: dict[int, Life] = {}

    def life(name: int) -> Life:
        return found.setdefault(name, Life(name, end=chain.sweeps_done))

    for name in chain.draw().names.tolist():
        life(name)
    for event in chain.events:
        one = life(event.topic)
        if event.kind in ("born", "split"):
            one.start, one.origin, one.parent = event.sweep, event.kind, event.other
        else:
            one.end, one.fate, one.heir = event.sweep, event.kind, event.other
    return found


def add_draws(
    found: dict[int, Life],
    draws: Sequence[Draw],
    columns: Sequence[npt.NDArray[Any]],
    n_topics: int,
) -> None:
    """Add what the draws show: the largest share of the words that a topic had, and which it is."""
    listed: dict[int, Counter[int]] = {}
    largest: dict[int, tuple[Draw, int]] = {}
    for draw, column in zip(draws, columns, strict=True):
        sizes = draw.topic_terms.sum(axis=1)
        shares = (sizes / sizes.sum()).tolist()
        for row, (name, share, k) in enumerate(zip(draw.names.tolist(), shares, column.tolist())):
            if name in found:
                listed.setdefault(name, Counter())[k] += 1
                if share > found[name].share:
                    found[name].share, largest[name] = share, (draw, row)
    for name, votes in listed.items():
        most = votes.most_common(1)[0][0]
        found[name].topic = most if most < n_topics else _NONE
    for name, (draw, row) in largest.items():
        if found[name].topic == _NONE:
            found[name].terms = _most_frequent(draw, row)


def _most_frequent(draw: Draw, row: int) -> tuple[int, ...]:
    counts = draw.topic_terms[[row]].toarray().ravel()
    order = np.argsort(-counts, kind="stable")[:_TERMS_NAMED]
    return tuple(order[counts[order] > 0].tolist())


def legible(found: dict[int, Life], sweeps: int) -> list[Life]:
    """Return the topics to show, each below the one that it was split from."""
    kept = [one for one in found.values() if one.share >= _SIZE or one.end - one.start >= _LIFE * sweeps]
    kept = sorted(kept, key=lambda one: (one.share, one.end - one.start), reverse=True)[:MOST_LANES]
    return _in_families({one.name: one for one in kept})


def _in_families(kept: dict[int, Life]) -> list[Life]:
    children: dict[int, list[Life]] = {}
    for one in kept.values():
        children.setdefault(one.parent if one.parent in kept else _NONE, []).append(one)
    ordered: list[Life] = []
    # Not by recursion: every topic may have been split from the one before it.
    waiting = _oldest_last(children.get(_NONE, []))
    while waiting:
        one = waiting.pop()
        ordered.append(one)
        waiting += _oldest_last(children.get(one.name, []))
    return ordered


def _oldest_last(family: list[Life]) -> list[Life]:
    return sorted(family, key=lambda one: (one.start, -one.share, one.name), reverse=True)


def describe_family(
    chain: Chain,
    draws: Sequence[Draw],
    columns: Sequence[npt.NDArray[Any]],
    n_topics: int,
    vocabulary: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the tree as lanes (one per topic) and links between lanes, and how much is left out.

    The numbers that a chain has for its topics mean nothing to a reader: a topic is called by the listed
    topic that it is, or by its most frequent terms.
    """
    found = lives(chain)
    add_draws(found, draws, columns, n_topics)
    shown = legible(found, chain.sweeps_done)
    lane = {one.name: i for i, one in enumerate(shown)}
    links = [
        {"sweep": sweep, "lane": lane[one.name], "other": lane[other], "kind": kind}
        for one in shown
        for sweep, other, kind in ((one.start, one.parent, "split"), (one.end, one.heir, "merged"))
        if other in lane
    ]
    # What has no lane of its own still leaves its mark on the lane that it came from or went to.
    passing = [
        {"sweep": event.sweep, "lane": lane[event.other], "kind": event.kind}
        for event in chain.events
        if event.other in lane and event.topic not in lane
    ]
    rows = [
        {
            "lane": i,
            "name": one.name,
            **_called(one, vocabulary),
            "from": one.start,
            "to": one.end,
            "share": one.share,
            "origin": one.origin,
            "parent": _called(found.get(one.parent), vocabulary),
            "fate": one.fate,
            "heir": _called(found.get(one.heir), vocabulary),
        }
        for i, one in enumerate(shown)
    ]
    return {
        "lives": rows,
        "links": links,
        "passing": passing,
        "all": len(found),
        "shortest": int(np.ceil(_LIFE * chain.sweeps_done)),
        "size": _SIZE,
    }


def _called(one: Life | None, vocabulary: Sequence[str]) -> dict[str, Any]:
    if one is None:
        return {"topic": _NONE, "terms": []}
    return {"topic": one.topic, "terms": [vocabulary[v] for v in one.terms]}
