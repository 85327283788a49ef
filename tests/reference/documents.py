"""A slow, obvious twin of the pass over all documents given G_0."""

from math import prod
from typing import NamedTuple

from tests.reference.choices import Choose
from tests.reference.enumeration import Documents


class Revealed(NamedTuple):
    """G_0 as columns: the first `moving` of them may gain and lose words."""

    moving: int
    mass: list[float]  # alpha beta of each column
    phi: list[list[float]]  # of each column that moves, by term


def update(
    documents: Documents, columns: list[list[int]], g: Revealed, choose: Choose
) -> tuple[list[list[int]], list[list[int]]]:
    """Draw the columns of all words, then their tables; return the tables of words and columns of tables."""
    tables, columns_of_tables = [], []
    for j, words in enumerate(documents):
        if words:
            choose.start(j)
        z = columns[j]
        here = list(dict.fromkeys(c for c in z if c < g.moving))
        for i, v in enumerate(words):
            if z[i] >= g.moving:
                continue
            others = z[:i] + z[i + 1 :]
            if z[i] not in others:  # the last one takes its place
                here[here.index(z[i])] = here[-1]
                here.pop()
            own = [others.count(c) * g.phi[c][v] for c in here]
            free = [g.mass[c] * g.phi[c][v] for c in range(g.moving)]
            place = choose(own + free)
            z[i] = here[place] if place < len(own) else place - len(own)
            if z[i] not in here:
                here.append(z[i])
        t, k = seat(z, g, choose)
        tables.append(t)
        columns_of_tables.append(k)
    return tables, columns_of_tables


def seat(z: list[int], g: Revealed, choose: Choose) -> tuple[list[int], list[int]]:
    """Seat the words of a document; of each column the newest table is asked first."""
    t_ji: list[int] = []
    k_jt: list[int] = []
    opened: dict[int, tuple[int, float]] = {}  # of each column: words before its newest table, its number
    for i, c in enumerate(z):
        before = z[:i].count(c)
        own = [t for t in reversed(range(len(k_jt))) if k_jt[t] == c]
        is_new = not own
        if own:
            since, u = opened[c]
            is_new = prod(n / (g.mass[c] + n) for n in range(since + 1, before + 1)) < u
        if is_new:
            opened[c] = before, choose.uniform()
            k_jt.append(c)
            t_ji.append(len(k_jt) - 1)
        elif len(own) == 1:
            t_ji.append(own[0])
        else:
            t_ji.append(own[choose([t_ji.count(t) for t in own])])
    return t_ji, k_jt
