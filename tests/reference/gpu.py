"""A slow, obvious twin of the pass over documents of the GPU engine, with the same numbers by counter."""

from collections.abc import Callable
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from franchise.engines.partitions.cuda.device import counter_key
from franchise.engines.partitions.cuda.source import CHUNK
from franchise.random import Key

_MASK = 2**32 - 1
# Of a key, an item, parts and the shape of each: gamma variables, whose rounding is the kernels' own.
Gammas = Callable[[Any, int, list[int], list[float]], list[float]]


def philox(counter: tuple[int, int, int, int], key: tuple[int, int]) -> tuple[int, int, int, int]:
    """Return one block of Philox4x32-10 (Salmon et al. 2011, section 3.3)."""
    (a, b, c, d), (k0, k1) = counter, key
    for _ in range(10):
        first, second = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (second >> 32) ^ b ^ k0, second & _MASK, (first >> 32) ^ d ^ k1, first & _MASK
        k0, k1 = (k0 + 0x9E3779B9) & _MASK, (k1 + 0xBB67AE85) & _MASK
    return a, b, c, d


def uniforms(key: int, item: int, part: int, place: int, turn: int) -> tuple[float, float]:
    """Return the two numbers in [0, 1) of a counter."""
    a, b, c, d = philox((item, part, place, turn), (int(key) & _MASK, int(key) >> 32))
    return ((a << 32 | b) >> 11) / 2**53, ((c << 32 | d) >> 11) / 2**53


class Given(NamedTuple):
    """G_0 as columns: the first `moving` of them may gain and lose words."""

    moving: int
    phi: list[list[float]]  # by term and column
    rest: list[list[float]]  # by term: sums of mass phi up to the end of each chunk of columns
    mass: list[float]

    @classmethod
    def of(cls, measure: Any) -> "Given":
        """Take over a `GivenMeasure` whose arrays are on the host."""
        phi = measure.phi[:, : measure.columns].astype(float).tolist()
        return cls(measure.moving, phi, measure.rest.tolist(), measure.mass.tolist())


def draw(words: list[int], z: list[int], g: Given, key: int, document: int, passes: int) -> list[int]:
    """Draw the columns of a document's words, one by one, `passes` times."""
    z, here = list(z), sorted(set(z))
    for turn in range(passes):
        for i, v in enumerate(words):
            if z[i] >= g.moving:
                continue
            others = z[:i] + z[i + 1 :]
            own = list(accumulate(others.count(c) * g.phi[v][c] for c in here))
            u = uniforms(key, document, i // 2, turn, 0)[i % 2] * (own[-1] + g.rest[v][-1])
            if u < own[-1]:
                new = next(c for c, total in zip(here, own) if total > u)
            else:
                new = column_at(v, g, u - own[-1])
            if z[i] not in others and new != z[i]:  # the last one takes its place
                last = here.pop()
                if last != z[i]:
                    here[here.index(z[i])] = last
            if new not in here:
                here.append(new)
            z[i] = new
    return z


def column_at(v: int, g: Given, u: float) -> int:
    """Return the column at which the sum of mass phi gets above u."""
    chunk = next(chunk for chunk, total in enumerate(g.rest[v]) if total > u)
    before = g.rest[v][chunk - 1] if chunk > 0 else 0.0
    columns = range(chunk * CHUNK, min((chunk + 1) * CHUNK, g.moving))
    totals = accumulate(g.mass[c] * g.phi[v][c] for c in columns)
    return next((c for c, total in zip(columns, totals) if before + total > u), columns[-1])


def seat(z: list[int], g: Given, key: int, document: int) -> tuple[list[int], list[int]]:
    """Seat the words of a document; return the table of each word, and the column of each table."""
    t_ji, k_jt = [-1] * len(z), []
    for c in sorted(set(z)):
        places = [i for i, own in enumerate(z) if own == c]
        tables = seat_topic(len(places), g.mass[c], key, document, c)
        for i, t in zip(places, tables):
            t_ji[i] = len(k_jt) + t
        k_jt += [c] * (max(tables) + 1)
    return t_ji, k_jt


def seat_topic(n: int, mass: float, key: int, document: int, column: int) -> list[int]:
    """Return the tables of n words of a topic: who opens one is drawn ahead, others choose a neighbour."""
    alive = list(accumulate((q / (mass + q) for q in range(1, n)), lambda a, b: a * b, initial=1.0))

    def opens_next(seated: int, u: float) -> int:
        return next((q for q in range(seated, n) if alive[q] < u * alive[seated - 1]), n)

    opener = opens_next(1, uniforms(key, document, column, 0, 0)[0]) if n > 1 else 1
    tables: list[int] = []
    for q in range(n):
        if q == 0:
            tables.append(0)
        elif q == opener:
            opener = opens_next(q + 1, uniforms(key, document, column, q, 0)[0])
            tables.append(max(tables) + 1)
        else:
            neighbour = int(uniforms(key, document, column, q // 2, 1)[q % 2] * q)
            tables.append(sorted(tables, reverse=True)[neighbour])  # the newest table is asked first
    return tables


def counted(x: np.ndarray, z: np.ndarray, n_terms: int, columns: int) -> np.ndarray:
    """Return the words of every term by column."""
    counts = np.zeros((n_terms, columns), np.int32)
    np.add.at(counts, (x, z), 1)
    return counts


def draw_long(
    words: list[int], z: list[int], g: Given, key: Key, document: int, passes: int, gammas: Gammas
) -> list[int]:
    """Draw the columns of a long document's words, given mixtures, `passes` times."""
    z = list(z)
    for turn in range(passes):
        columns = range(g.moving)
        shapes = [g.mass[c] + z.count(c) for c in columns]
        theta = gammas(counter_key(key, "theta", turn), document, list(columns), shapes)
        numbers = counter_key(key, "long words", turn)
        for i, v in enumerate(words):
            if z[i] >= g.moving:
                continue
            sums = list(accumulate(theta[c] * g.phi[v][c] for c in columns))
            u = uniforms(int(numbers), document, i, 0, 0)[0] * sums[-1]
            z[i] = next(c for c in columns if sums[c] > u)
    return z
