"""A plain pass over all documents given G_0, drawn with NumPy, and errors in it that tests must see.

Nothing here comes from the library. A state is the tables of all words and the topics of all tables; topics
have any labels. Each error is a class that changes one line of the mathematics.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import chain, count

import numpy as np

from tests.reference.enumeration import Concentrations, Documents, Seating, seating_of

Tables = list[list[int]]  # table of each word, and topic of each table, document by document


class Pass:
    """Draws G_0 down to weight epsilon given the franchise, then topics and tables of all words given it."""

    def __init__(
        self, documents: Documents, n_terms: int, at: Concentrations, epsilon: float, seed: int
    ) -> None:
        self.documents, self.n_terms, self.at = documents, n_terms, at
        self._epsilon, self._rng = epsilon, np.random.default_rng(seed)
        self._labels = count(1_000)

    def states(self, seating: Seating, passes: int) -> Iterator[Seating]:
        """Make passes from a seating; yield where each of them leads."""
        tables, topics = [list(own) for own in seating.t], _by_document(seating)
        for _ in range(passes):
            tables, topics = self.make(tables, topics)
            yield seating_of(tables, topics)

    def make(self, tables: Tables, topics: Tables) -> tuple[Tables, Tables]:
        """Make one pass."""
        z = [[own[t] for t in seats] for seats, own in zip(tables, topics)]
        weights, rest = self.weights(z, topics)
        epsilon = self.epsilon(z)
        for label in self._labels:
            if rest < epsilon:
                break
            broken_off = self._rng.beta(1.0, self.at.gamma) * rest
            rest -= broken_off
            if broken_off >= epsilon and self.reveals():
                weights[label] = broken_off
        phi = {k: self._rng.dirichlet(self.counts(z, k)) for k in weights if weights[k] >= epsilon}
        for words, own in zip(self.documents, z):
            self.draw_topics(words, own, weights, phi)
        seated = [self.seat(own, weights) for own in z]
        return [t for t, _ in seated], [k for _, k in seated]

    # ---------------------------------------------------------------- what can be wrong

    def weights(self, z: Tables, topics: Tables) -> tuple[dict[int, float], float]:
        """Draw the weights of the topics in use, and that of all others together."""
        m = self.tables_of_topics(z, topics)
        *drawn, rest = self._rng.dirichlet([*m.values(), self.at.gamma])
        return dict(zip(m, drawn)), rest

    def tables_of_topics(self, z: Tables, topics: Tables) -> Counter:
        """Return m_k."""
        return Counter(chain(*topics))

    def epsilon(self, z: Tables) -> float:
        """Return the weight from which on words move."""
        return self._epsilon

    def reveals(self) -> bool:
        """Return whether unused topics take part."""
        return True

    def stays(self, topic: int, phi: dict[int, np.ndarray]) -> bool:
        """Say whether a word keeps its topic."""
        return topic not in phi

    def concentration(self, weight: float) -> float:
        """Return the concentration by which the words of one topic are seated."""
        return self.at.alpha * weight

    # ---------------------------------------------------------------- the rest

    def counts(self, z: Tables, k: int) -> np.ndarray:
        """Return eta + n_kv."""
        total = np.full(self.n_terms, self.at.eta)
        for v, topic in zip(chain(*self.documents), chain(*z)):
            total[v] += topic == k
        return total

    def draw_topics(self, words: list[int], z: list[int], weights: dict, phi: dict) -> None:
        """Draw the topics of a document's words, one after another."""
        for i, v in enumerate(words):
            if self.stays(z[i], phi):
                continue
            z[i] = -1
            chances = [(z.count(k) + self.at.alpha * weights[k]) * phi[k][v] for k in phi]
            if sum(chances) > 0:
                z[i] = self.choose(list(phi), chances)

    def seat(self, z: list[int], weights: dict[int, float]) -> tuple[list[int], list[int]]:
        """Seat a document's words, those of one topic as in a Chinese restaurant."""
        t_ji: list[int] = []
        k_jt: list[int] = []
        for k in z:
            own = [t for t in range(len(k_jt)) if k_jt[t] == k]
            chances = [float(t_ji.count(t)) for t in own]
            t = self.choose([*own, len(k_jt)], [*chances, self.concentration(weights[k])])
            if t == len(k_jt):
                k_jt.append(k)
            t_ji.append(t)
        return t_ji, k_jt

    def choose(self, values: list[int], chances: list[float]) -> int:
        ends = np.cumsum(chances)
        place = int(np.searchsorted(ends, self._rng.random() * ends[-1], side="right"))
        return values[min(place, len(values) - 1)]


def _by_document(seating: Seating) -> Tables:
    topics, first = [], 0
    for own in seating.t:
        n_tables = len(set(own))
        topics.append(list(seating.k[first : first + n_tables]))
        first += n_tables
    return topics


# -------------------------------------------------------------------- errors


class NoneIsBorn(Pass):
    """Words move among the topics in use only."""

    def reveals(self) -> bool:
        return False


class FewestTables(Pass):
    """The weights are drawn as if each document had one table of a topic."""

    def tables_of_topics(self, z: Tables, topics: Tables) -> Counter:
        return Counter(k for own in z for k in set(own))


class MostTables(Pass):
    """The weights are drawn as if every word had a table of its own."""

    def tables_of_topics(self, z: Tables, topics: Tables) -> Counter:
        return Counter(chain(*z))


class MeanWeights(Pass):
    """The weights are not drawn: their means are taken."""

    def weights(self, z: Tables, topics: Tables) -> tuple[dict[int, float], float]:
        m = self.tables_of_topics(z, topics)
        total = sum(m.values()) + self.at.gamma
        return {k: m[k] / total for k in m}, self.at.gamma / total


class SeatedByAlpha(Pass):
    """A topic's words are seated with the concentration alpha, not alpha beta_k."""

    def concentration(self, weight: float) -> float:
        return self.at.alpha


class NoneStays(Pass):
    """Words of topics below epsilon move to those above it as well."""

    def stays(self, topic: int, phi: dict[int, np.ndarray]) -> bool:
        return not phi


class EpsilonByState(Pass):
    """Which topics rest depends on how many there are."""

    def epsilon(self, z: Tables) -> float:
        return self._epsilon if len(set(chain(*z))) > 1 else 0.5


ERRORS = (
    NoneIsBorn,
    FewestTables,
    MostTables,
    MeanWeights,
    SeatedByAlpha,
    NoneStays,
    EpsilonByState,
)
