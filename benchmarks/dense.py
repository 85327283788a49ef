"""The yardstick: a plain word move that looks at every topic for every word.

The same conditional as `franchise.moves.word_tables`, in the same representation of tables, but
with a dense term-by-topic matrix and reciprocals 1 / (n_k + V eta), O(K) per word. Topics are never
born here: the planted ones are enough, and it makes the yardstick a little faster, not slower.
"""

from typing import NamedTuple

import numpy as np

from franchise._jit import kernel
from franchise.model.state import ALPHA, ETA, GAMMA, TOPICS, State, topic_term_counts
from franchise.random import start_stream, uniform


class Dense(NamedTuple):
    """The seating, with dense counts."""

    t_ji: np.ndarray
    n_jt: np.ndarray
    k_jt: np.ndarray
    m_j: np.ndarray
    n_vk: np.ndarray
    n_k: np.ndarray
    m_k: np.ndarray
    n_jk: np.ndarray
    w_k: np.ndarray
    weight: np.ndarray
    stream: np.ndarray
    concentrations: np.ndarray


def dense_from(state: State) -> Dense:
    """Copy a state whose live topics are 0, ..., K - 1."""
    n_topics = int(state.totals[TOPICS])
    live = np.arange(n_topics)
    assert set(state.live[:n_topics].tolist()) == set(range(n_topics))
    return Dense(
        *(array.copy() for array in (state.t_ji, state.n_jt, state.k_jt, state.m_j)),
        n_vk=np.ascontiguousarray(topic_term_counts(state, live).T),
        n_k=state.n_k[:n_topics].copy(),
        m_k=state.m_k[:n_topics].copy(),
        n_jk=np.zeros(n_topics, np.int32),
        w_k=np.zeros(n_topics),
        weight=np.zeros(n_topics),
        stream=np.zeros(4, np.uint64),
        concentrations=state.concentrations.copy(),
    )


@kernel
def dense_word_tables(key, corpus, state):
    """Draw a table for every word at O(K) per word."""
    t_ji, n_jt, k_jt, m_j = state.t_ji, state.n_jt, state.k_jt, state.m_j
    n_vk, n_k, m_k, n_jk, w_k, weight = state.n_vk, state.n_k, state.m_k, state.n_jk, state.w_k, state.weight
    alpha, gamma, eta = state.concentrations[ALPHA], state.concentrations[GAMMA], state.concentrations[ETA]
    n_topics = n_k.size
    v_eta = n_vk.shape[0] * eta
    m = 0
    for k in range(n_topics):
        w_k[k] = 1.0 / (n_k[k] + v_eta)
        m += m_k[k]
    for j in range(m_j.size):
        first, end = corpus.doc_ptr[j], corpus.doc_ptr[j + 1]
        start_stream(state.stream, key, j)
        n_jk[:] = 0
        for slot in range(first, first + m_j[j]):
            n_jk[k_jt[slot]] += n_jt[slot]
        for i in range(first, end):
            v = corpus.x[i]
            t = t_ji[i]
            k = k_jt[first + t]
            n_jt[first + t] -= 1
            n_vk[v, k] -= 1
            n_k[k] -= 1
            n_jk[k] -= 1
            w_k[k] = 1.0 / (n_k[k] + v_eta)
            if n_jt[first + t] == 0:
                m_k[k] -= 1
                m -= 1
                m_j[j] -= 1
                last = m_j[j]
                if t != last:
                    n_jt[first + t] = n_jt[first + last]
                    k_jt[first + t] = k_jt[first + last]
                    for other in range(first, end):
                        if t_ji[other] == last:
                            t_ji[other] = t
            c = alpha / (m + gamma)
            total = 0.0
            for k in range(n_topics):
                total += (n_jk[k] + c * m_k[k]) * (n_vk[v, k] + eta) * w_k[k]
                weight[k] = total
            u = uniform(state.stream) * total
            k = 0
            while weight[k] <= u:
                k += 1
            chosen = -1
            if n_jk[k] > 0:
                u = uniform(state.stream) * (n_jk[k] + c * m_k[k])
                if u < n_jk[k]:
                    for t in range(m_j[j]):
                        if k_jt[first + t] == k:
                            u -= n_jt[first + t]
                            if u < 0.0:
                                chosen = t
                                break
            if chosen < 0:
                chosen = m_j[j]
                m_j[j] += 1
                n_jt[first + chosen] = 0
                k_jt[first + chosen] = k
                m_k[k] += 1
                m += 1
            t_ji[i] = chosen
            n_jt[first + chosen] += 1
            n_vk[v, k] += 1
            n_k[k] += 1
            n_jk[k] += 1
            w_k[k] = 1.0 / (n_k[k] + v_eta)
    return m
