"""Colours of topics: those that stand beside each other, in the table, on the map or in a tree, differ.

There are more topics than colours that people can tell apart, so colours come again, but far away. Topics are
coloured one after another, the largest first, each with the colour that disturbs least; then each may change
its mind, as long as that helps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

N_TOPIC_COLOURS = 10  # in the style sheet
_BESIDE_ON_MAP = 5
_ROWS_APART = 2  # in the table
_ROUNDS = 20

Pairs = Counter[tuple[int, int]]


def topic_colours(
    place: npt.NDArray[np.float64], families: Iterable[Sequence[int]], n_colours: int = N_TOPIC_COLOURS
) -> list[int]:
    """Return the number of each topic's colour.

    Parameters
    ----------
    place
        Positions of the topics on the map, (topics, 2).
    families
        Topics in the order of the lanes of a tree, -1 for one that is not listed, for each tree.
    n_colours
        How many colours there are.
    """
    pairs = _beside(place, families)
    others: list[list[tuple[int, int]]] = [[] for _ in place]
    for (one, other), times in pairs.items():
        others[one].append((other, times))
        others[other].append((one, times))
    colours = [-1] * len(place)
    for _ in range(_ROUNDS):
        before = list(colours)
        for k in range(len(place)):
            colours[k] = _least_disturbing(colours, others[k], colours[k], n_colours, k)
        if colours == before:
            break
    return colours


def _beside(place: npt.NDArray[np.float64], families: Iterable[Sequence[int]]) -> Pairs:
    """Count how often, and how closely, each two topics are seen side by side."""
    n = len(place)
    pairs: Pairs = Counter()

    def add(one: int, other: int, weight: int) -> None:
        if one != other and min(one, other) >= 0:
            pairs[min(one, other), max(one, other)] += weight

    for k in range(n):
        for apart in range(1, _ROWS_APART + 1):
            if k + apart < n:
                add(k, k + apart, 8 // apart)
        away = np.hypot(*(place - place[k]).T)
        nearest = np.argsort(away, kind="stable")
        for rank, other in enumerate(nearest[nearest != k][:_BESIDE_ON_MAP].tolist()):
            add(k, other, 8 - rank)
    for lanes in families:
        for one, other in pairwise(lanes):
            add(one, other, 8)
    return pairs


def _least_disturbing(
    colours: Sequence[int], others: Sequence[tuple[int, int]], now: int, n_colours: int, topic: int
) -> int:
    cost = [0] * n_colours
    for other, times in others:
        if colours[other] >= 0:
            cost[colours[other]] += times
    # Of equal ones, the present one, then in turn: a handful of topics get the first colours.
    return min(
        range(n_colours), key=lambda colour: (cost[colour], colour != now, (colour - topic) % n_colours)
    )
