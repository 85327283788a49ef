"""Recount everything from (t, k) and compare: what a state must satisfy after every move."""

import numpy as np

from franchise.corpus import CorpusArrays
from franchise.model.state import DEAD, NUMBERED, TABLES, TOPICS, State, topic_term_counts, word_topics


def broken_invariants(corpus: CorpusArrays, state: State) -> list[str]:
    """Return what does not add up, in words; an empty list for a sound state."""
    if np.any(state.t_ji < 0):
        return ["some words are not seated"]
    broken = []
    n_topics, n_tables = int(state.totals[TOPICS]), int(state.totals[TABLES])
    live = state.live[:n_topics]

    lengths = np.diff(corpus.doc_ptr)
    slots = np.repeat(corpus.doc_ptr[:-1], lengths) + state.t_ji
    n_jt = np.bincount(slots, minlength=corpus.x.size)
    is_table = np.zeros(corpus.x.size, bool)
    for j, first in enumerate(corpus.doc_ptr[:-1]):
        is_table[first : first + state.m_j[j]] = True
    if np.any((n_jt > 0) != is_table):
        broken.append("the tables in use are not the first m_j of each document")
    if np.any(n_jt[is_table] != state.n_jt[is_table]):
        broken.append("n_jt differs from a recount")
    if n_tables != is_table.sum() or n_tables != state.m_j.sum():
        broken.append("the number of tables differs from a recount")

    if sorted(live) != sorted(set(state.k_jt[is_table].tolist())):
        broken.append("the live topics are not those of the tables")
    if np.any(state.place[live] != np.arange(n_topics)):
        broken.append("live and place disagree")
    numbers = sorted([*live, *state.dead[: state.totals[DEAD]]])
    if numbers != list(range(state.totals[NUMBERED])):
        broken.append("a topic number is both alive and dead, or neither")
    capacity = state.n_k.size
    m_k = np.bincount(state.k_jt[is_table], minlength=capacity)
    if np.any(m_k[live] != state.m_k[live]):
        broken.append("m_k differs from a recount")
    if len(set(state.name_k[live].tolist())) != n_topics:
        broken.append("two live topics have one name")

    z = word_topics(corpus, state)
    if np.any(np.bincount(z, minlength=capacity)[live] != state.n_k[live]):
        broken.append("n_k differs from a recount")
    counts = np.zeros((capacity, corpus.n_terms), np.int64)
    np.add.at(counts, (z, corpus.x), 1)
    if state.row_len.sum() != np.count_nonzero(counts) or np.any(topic_term_counts(state) != counts[live]):
        broken.append("the counts of terms in topics differ from a recount")
    return broken
