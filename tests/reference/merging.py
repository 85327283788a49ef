"""Merging topics, naively: give the tables of one to another in a copy of the state, and compare joints."""

import itertools
from math import lgamma, log

import numpy as np

from franchise._arrays import CorpusArrays
from franchise.model import Priors, State, joint
from franchise.model.seating import seat_all
from franchise.model.state import TOPICS, empty_state, tables_in_use

PRIORS = Priors()  # their density is no part of the log joint


def with_topics(corpus: CorpusArrays, state: State, topic_of: dict[int, int]) -> State:
    """Return the state in which the tables of each topic belong to another, all counts taken afresh."""
    numbers = {k: i for i, k in enumerate(sorted(set(topic_of.values())))}
    fresh = empty_state(corpus, max(1, len(numbers)))
    fresh.t_ji[:] = state.t_ji
    fresh.concentrations[:] = state.concentrations
    for slot in np.flatnonzero(tables_in_use(corpus, state)):
        fresh.k_jt[slot] = numbers[topic_of[int(state.k_jt[slot])]]
    seat_all(corpus, fresh, len(numbers))
    return fresh


def change(corpus: CorpusArrays, state: State, a: int, b: int) -> float:
    """Return the log joint with topic b given to topic a, minus that of the state."""
    topic_of = {int(k): int(k) for k in state.live[: state.totals[TOPICS]]}
    after = joint(corpus, with_topics(corpus, state, topic_of | {b: a}), PRIORS)
    return after.log_joint - joint(corpus, state, PRIORS).log_joint


def affinity(a: np.ndarray, b: np.ndarray) -> float:
    """Return the Hellinger affinity of the term distributions of two topics, from their counts."""
    return float(sum(np.sqrt(p * q) for p, q in zip(a / a.sum(), b / b.sum(), strict=True)))


def greedy(
    counts: np.ndarray, m_k: list[int], eta: float, gamma: float, nearest: int, least: float
) -> list[int]:
    """Return the topic that each is merged into, by sets of topics and full sums."""

    def score(topics: tuple[int, ...]) -> float:
        own, v_eta = counts[list(topics)].sum(axis=0), counts.shape[1] * eta
        words = lgamma(v_eta) - lgamma(own.sum() + v_eta) + sum(lgamma(n + eta) - lgamma(eta) for n in own)
        return words + log(gamma) + lgamma(sum(m_k[k] for k in topics))

    def name(topics: tuple[int, ...]) -> int:
        return leads[topics]

    sets = [(k,) for k in range(len(counts))]
    leads = {one: one[0] for one in sets}
    while True:
        sums = {one: counts[list(one)].sum(axis=0) for one in sets}
        pairs = set()
        for one in sets:
            others = sorted(
                (x for x in sets if x != one), key=lambda x: (-affinity(sums[one], sums[x]), leads[x])
            )
            pairs |= {tuple(sorted((one, x), key=name)) for x in others[:nearest]}
        gains = {(a, b): score(a + b) - score(a) - score(b) for a, b in pairs}
        ranked = sorted(gains, key=lambda pair: (-gains[pair], leads[pair[0]], leads[pair[1]]))
        taken: set[tuple[int, ...]] = set()
        for a, b in ranked:
            if gains[a, b] > least and not {a, b} & taken:
                taken |= {a, b}
                leads[a + b] = leads[b] if sums[a].sum() < sums[b].sum() else leads[a]
                sets = [x for x in sets if x not in (a, b)] + [a + b]
        if not taken:
            into = {k: leads[one] for one in sets for k in one}
            return [into[k] for k in range(len(counts))]
        sets.sort(key=name)


def all_pairs(state: State) -> list[tuple[int, int]]:
    """Return every pair of living topics."""
    return list(itertools.combinations(sorted(state.live[: state.totals[TOPICS]].tolist()), 2))
