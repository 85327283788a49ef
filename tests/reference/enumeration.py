"""The exact posterior of a tiny corpus: every seating, each with its probability.

A seating is label-free: tables are numbered within their document, topics over all tables, by first
appearance. The joint is written here straight from the paper's equations, apart from the library's.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product
from math import exp, lgamma, log
from typing import NamedTuple

import numpy as np

Documents = list[list[int]]


class Concentrations(NamedTuple):
    """In the order of `state.concentrations`."""

    alpha: float
    gamma: float
    eta: float


class Seating(NamedTuple):
    """A state without labels: equal if and only if it is the same state."""

    t: tuple[tuple[int, ...], ...]  # table of each word, document by document
    k: tuple[int, ...]  # topic of each table, documents end to end

    @property
    def n_topics(self) -> int:
        return len(set(self.k))

    @property
    def n_tables(self) -> int:
        return len(self.k)

    def word_topics(self) -> list[int]:
        """Return the topic of each word, documents end to end."""
        topics, first = [], 0
        for tables in self.t:
            topics += [self.k[first + t] for t in tables]
            first += len(set(tables))
        return topics


def by_first_appearance(labels: list) -> tuple[int, ...]:
    """Rename labels 0, 1, ... in the order in which they appear."""
    names: dict = {}
    return tuple(names.setdefault(label, len(names)) for label in labels)


def seating_of(tables: list[list[int]], topics: list[list[int]]) -> Seating:
    """Forget the labels of t_ji (`tables[j][i]`) and k_jt (`topics[j][t]`)."""
    in_order = [topics[j][t] for j, own in enumerate(tables) for t in dict.fromkeys(own)]
    return Seating(tuple(by_first_appearance(own) for own in tables), by_first_appearance(in_order))


def partitions(n: int) -> Iterator[tuple[int, ...]]:
    """Yield every set partition of n things, as labels by first appearance."""
    if n == 0:
        yield ()
        return
    for rest in partitions(n - 1):
        for label in range(max(rest, default=-1) + 2):
            yield (*rest, label)


def seatings(documents: Documents) -> Iterator[Seating]:
    """Yield every state of a corpus."""
    for t in product(*(list(partitions(len(words))) for words in documents)):
        n_tables = sum(len(set(own)) for own in t)
        for k in partitions(n_tables):
            yield Seating(t, k)


def log_p_tables(seating: Seating, alpha: float) -> float:
    """Equation 1: alpha^m_j prod_t (n_jt - 1)! / prod_i (i - 1 + alpha), document by document."""
    total = 0.0
    for own in seating.t:
        total += sum(log(alpha) + lgamma(n_jt) for n_jt in Counter(own).values())
        total -= sum(log(i + alpha) for i in range(len(own)))
    return total


def log_p_topics(seating: Seating, gamma: float) -> float:
    """Equation 3: gamma^K prod_k (m_k - 1)! / prod_s (s - 1 + gamma)."""
    total = sum(log(gamma) + lgamma(m_k) for m_k in Counter(seating.k).values())
    return total - sum(log(s + gamma) for s in range(seating.n_tables))


def log_p_words(documents: Documents, n_terms: int, seating: Seating, eta: float) -> float:
    """Equation 4: each topic's words, its distribution over the terms integrated out."""
    words_of = defaultdict(list)
    for k, v in zip(seating.word_topics(), chain(*documents)):
        words_of[k].append(v)
    total = 0.0
    for words in words_of.values():
        total += lgamma(n_terms * eta) - lgamma(len(words) + n_terms * eta)
        total += sum(lgamma(n_kv + eta) - lgamma(eta) for n_kv in Counter(words).values())
    return total


def log_joint(documents: Documents, n_terms: int, seating: Seating, at: Concentrations) -> float:
    """Return log p(t) + log p(k) + log p(x | c)."""
    return (
        log_p_tables(seating, at.alpha)
        + log_p_topics(seating, at.gamma)
        + log_p_words(documents, n_terms, seating, at.eta)
    )


@dataclass(frozen=True)
class Posterior:
    """The posterior over seatings, the concentrations fixed."""

    documents: Documents
    n_terms: int
    at: Concentrations

    @cached_property
    def seatings(self) -> list[Seating]:
        return list(seatings(self.documents))

    @cached_property
    def number(self) -> dict[Seating, int]:
        """Where a seating stands in `seatings`."""
        return {seating: i for i, seating in enumerate(self.seatings)}

    @cached_property
    def log_joints(self) -> np.ndarray:
        return np.array([log_joint(self.documents, self.n_terms, s, self.at) for s in self.seatings])

    @cached_property
    def evidence(self) -> float:
        """p(x), the sum of the joint over all seatings."""
        return sum(exp(value) for value in self.log_joints)

    @cached_property
    def probabilities(self) -> np.ndarray:
        return np.exp(self.log_joints) / self.evidence

    def p_topics(self) -> dict[int, float]:
        """Return P(K)."""
        return self._distribution([seating.n_topics for seating in self.seatings])

    def p_tables(self) -> dict[int, float]:
        """Return P(number of tables)."""
        return self._distribution([seating.n_tables for seating in self.seatings])

    def co_assignment(self) -> np.ndarray:
        """Return, for each two words, the probability that they have one topic."""
        z = np.array([seating.word_topics() for seating in self.seatings])
        return np.einsum("s,sab->ab", self.probabilities, z[:, :, None] == z[:, None, :])

    def mean_log_joint(self) -> float:
        return float(self.probabilities @ self.log_joints)

    def _distribution(self, values: list[int]) -> dict[int, float]:
        total: dict[int, float] = defaultdict(float)
        for value, p in zip(values, self.probabilities):
            total[value] += float(p)
        return dict(sorted(total.items()))
