"""The family tree of a chain's topics: which was born, split from, merged into which, and when.

Most topics that a chain tries live for a few sweeps only. To be legible, the tree shows those that reached
some size or lived long, and says how many it leaves out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from franchise.sampling import Chain, Draw

MOST_LANES = 40
_SIZE = 0.01  # share of the words, in a draw
_LIFE = 0.1  # share of the chain's sweeps
_TERMS_NAMED = 3  # of a topic that is not listed, and so has no other name
_NONE = -1


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
