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
    documents: Documents,
    t_ji: list[list[int]],
    k_jt: list[list[int]],
    g: Revealed,
    choose: Choose,
    passes: int = 1,
) -> tuple[list[list[int]], list[list[int]]]:
    """Draw the columns of all words, then their tables; return the tables of words and columns of tables."""
    tables, columns_of_tables = [], []
    for j, words in enumerate(documents):
        if words:
            choose.start(j)
        z = [k_jt[j][t] for t in t_ji[j]]
        here = list(dict.fromkeys(c for c in k_jt[j] if c < g.moving))
        for _ in range(passes):
            draw(words, z, here, g, choose)
        here += dict.fromkeys(c for c in z if c >= g.moving)
        t, k = seat(z, here, g, choose)
        tables.append(t)
        columns_of_tables.append(k)
    return tables, columns_of_tables


def draw(words: list[int], z: list[int], here: list[int], g: Revealed, choose: Choose) -> None:
    """Draw the columns of a document's words, in place."""
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


def seat(z: list[int], here: list[int], g: Revealed, choose: Choose) -> tuple[list[int], list[int]]:
    """Seat the words of a document; of each column the newest table is asked first."""

    def words_before_next(c: int, seated: int) -> int:
        """Return how many words sit before the next that opens a table; drawn at once for the column."""
        if z.count(c) == 1:
            return 1
        u = choose.uniform() * survival(g.mass[c], seated)
        later = range(seated, z.count(c))
        return next((n for n in later if survival(g.mass[c], n + 1) < u), z.count(c))

    k_jt = list(here)
    before_next = {c: words_before_next(c, 1) for c in here}
    has_several = {c: before_next[c] < z.count(c) for c in here}
    t_ji: list[int] = []
    for i, c in enumerate(z):
        before = z[:i].count(c)
        own = [t for t in reversed(range(len(k_jt))) if k_jt[t] == c]
        if has_several[c] and before == before_next[c]:
            before_next[c] = words_before_next(c, before + 1)
            k_jt.append(c)
            t_ji.append(len(k_jt) - 1)
        elif len(own) == 1:
            t_ji.append(own[0])
        else:
            t_ji.append(own[choose([t_ji.count(t) for t in own])])
    return t_ji, k_jt


def survival(mass: float, n: int) -> float:
    """Return the probability that the first n words of a topic in a document sit at one table."""
    return prod(other / (mass + other) for other in range(1, n))
