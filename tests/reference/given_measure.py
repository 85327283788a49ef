"""The pass over one tiny document given G_0: all its states, what they weigh, and where each one leads.

A state is the column of every word and the tables, numbered by first appearance. Given G_0 there are
finitely many, so the pass is a matrix. Errors are classes that change one line.
"""

from collections import Counter, defaultdict
from itertools import product
from math import factorial, prod
from typing import NamedTuple

import numpy as np

from tests.reference.enumeration import by_first_appearance, partitions

Columns = tuple[int, ...]
State = tuple[Columns, tuple[int, ...]]  # column and table of every word


class Given(NamedTuple):
    """G_0 as columns, of which the first `moving` may gain and lose words."""

    moving: int
    alpha: float
    beta: tuple[float, ...]
    phi: tuple[tuple[float, ...], ...]  # (column, term)


class PassOfDocument:
    """The pass over a document."""

    def __init__(self, words: tuple[int, ...], g: Given) -> None:
        self.words, self.g = words, g
        self._scans: dict[Columns, dict[Columns, float]] = {}

    def states(self) -> list[State]:
        """Return every state."""
        n = len(self.words)
        return [
            (z, t)
            for z in product(range(len(self.g.beta)), repeat=n)
            for t in partitions(n)
            if all(len({z[i] for i in range(n) if t[i] == own}) == 1 for own in t)
        ]

    def weight(self, state: State) -> float:
        """Return p(z, t, x | G_0) up to a factor: alpha beta (n - 1)! of each table, phi of each word."""
        z, t = state
        column = dict(zip(t, z))
        tables = prod(
            self.g.alpha * self.g.beta[column[own]] * factorial(n - 1) for own, n in Counter(t).items()
        )
        return tables * prod(self.g.phi[c][v] for c, v in zip(z, self.words))

    def leads_to(self, z: Columns, passes: int = 1) -> dict[Columns, float]:
        """Return the columns that going through the words so often leads to, with their probabilities."""
        at = {z: 1.0}
        for _ in range(passes):
            start, at = at, defaultdict(float)
            for before, p in start.items():
                for after, q in self._scan(before).items():
                    at[after] += p * q
        return dict(at)

    def matrix(self, states: list[State]) -> np.ndarray:
        """Return P[a, b], the probability that a pass leads from a to b."""
        number = {state: i for i, state in enumerate(states)}
        seatings = {z: self.seatings(z) for z, _ in states}
        matrix = np.zeros((len(states), len(states)))
        for i, (z, _) in enumerate(states):
            for after, p in self.leads_to(z).items():
                for t, q in seatings[after].items():
                    matrix[i, number[after, t]] = p * q
        return matrix

    def _scan(self, start: Columns) -> dict[Columns, float]:
        if start not in self._scans:
            self._scans[start] = self._scan_from(start)
        return self._scans[start]

    def _scan_from(self, start: Columns) -> dict[Columns, float]:
        open_to = self.open_to(start)
        at = {start: 1.0}
        for i, v in enumerate(self.words):
            before, at = at, defaultdict(float)
            for z, p in before.items():
                if self.stays(z[i], open_to):
                    at[z] += p
                    continue
                others = z[:i] + z[i + 1 :]
                chances = [
                    (others.count(c) + self.g.alpha * self.g.beta[c]) * self.g.phi[c][v] for c in open_to
                ]
                for c, chance in zip(open_to, chances):
                    at[*z[:i], c, *z[i + 1 :]] += p * chance / sum(chances)
        return at

    def seatings(self, z: Columns) -> dict[tuple[int, ...], float]:
        """Return the seatings of words with these columns: each opens a table or joins one of its column."""
        at: dict[tuple[int, ...], float] = {(): 1.0}
        for i, c in enumerate(z):
            before, at = at, defaultdict(float)
            for t, p in before.items():
                own = Counter(t[other] for other in range(i) if z[other] == c)
                mass = self.concentration(c)
                for table, n in own.items():
                    at[*t, table] += p * n / (mass + own.total())
                at[*t, len(set(t))] += p * mass / (mass + own.total())
        return {by_first_appearance(list(t)): p for t, p in at.items()}

    # ---------------------------------------------------------------- what can be wrong

    def open_to(self, start: Columns) -> list[int]:
        """Return the columns that words may move to, in a pass that starts here."""
        return list(range(self.g.moving))

    def stays(self, c: int, open_to: list[int]) -> bool:
        """Say whether a word keeps its column."""
        return c >= self.g.moving

    def concentration(self, c: int) -> float:
        """Return the concentration by which the words of one column are seated."""
        return self.g.alpha * self.g.beta[c]


class NoneIsBorn(PassOfDocument):
    """Words move among the topics that the document has."""

    def open_to(self, start: Columns) -> list[int]:
        return [c for c in range(self.g.moving) if c in start]


class NoneStays(PassOfDocument):
    """Words of columns that rest move as well."""

    def stays(self, c: int, open_to: list[int]) -> bool:
        return False


class SeatedByAlpha(PassOfDocument):
    """Words are seated with the concentration alpha, not alpha beta_k."""

    def concentration(self, c: int) -> float:
        return self.g.alpha


class EpsilonByState(PassOfDocument):
    """Which columns rest depends on how many topics there are."""

    def open_to(self, start: Columns) -> list[int]:
        return list(range(self.g.moving - (len(set(start)) > 1)))

    def stays(self, c: int, open_to: list[int]) -> bool:
        return c not in open_to


ERRORS = (NoneIsBorn, NoneStays, SeatedByAlpha, EpsilonByState)
