"""Recount everything from (t, k) and compare: the conditions on a state after every move.

These checks also stand between a file and compiled code, which checks no index: so every number is first
compared with its bounds.
"""

import numpy as np

from franchise._arrays import Array, CorpusArrays
from franchise.model.state import (
    DEAD,
    NUMBERED,
    TABLES,
    TOPICS,
    State,
    pairs_in_use,
    tables_in_use,
    word_topics,
)


def broken_invariants(corpus: CorpusArrays, state: State) -> list[str]:
    """Return what is inconsistent, in words; an empty list for a sound state."""
    return _out_of_bounds(corpus, state) or [
        *_broken_tables(corpus, state),
        *_broken_topics(corpus, state),
        *_broken_rows(corpus, state),
    ]


def _out_of_bounds(corpus: CorpusArrays, state: State) -> list[str]:
    if np.any(state.t_ji < 0):
        return ["some words are not seated"]
    lengths, capacity = np.diff(corpus.doc_ptr), state.n_k.size
    of_tables, of_pairs = state.k_jt[tables_in_use(corpus, state)], state.row_k[pairs_in_use(state)]
    numbers = np.concatenate([state.live, state.dead, state.place])
    c = state.concentrations
    checks = {
        "a document has an impossible number of tables": (state.m_j >= 0) & (state.m_j <= lengths),
        "a word sits at a table that its document does not have": state.t_ji < np.repeat(state.m_j, lengths),
        "a table has a topic that does not exist": _within(of_tables, capacity),
        "a term has an impossible number of topics": _within(state.row_len, np.diff(state.row_ptr) + 1),
        "a term has words in a topic that does not exist": _within(of_pairs, capacity),
        "the totals are impossible": _within(state.totals[[TOPICS, DEAD, NUMBERED]], capacity + 1),
        "the number of a topic is impossible": _within(numbers, capacity),
        "a concentration is not a positive number": np.isfinite(c) & (c > 0),
    }
    for complaint, passes in checks.items():
        if not np.all(passes):
            return [complaint]
    return []


def _within(values: Array, end: int | Array) -> Array:
    return (values >= 0) & (values < end)


def _broken_tables(corpus: CorpusArrays, state: State) -> list[str]:
    broken = []
    is_table = tables_in_use(corpus, state)
    slots = np.repeat(corpus.doc_ptr[:-1], np.diff(corpus.doc_ptr)) + state.t_ji
    n_jt = np.bincount(slots, minlength=corpus.x.size)
    if np.any((n_jt > 0) != is_table):
        broken.append("the tables in use are not the first m_j of each document")
    if np.any(n_jt[is_table] != state.n_jt[is_table]):
        broken.append("n_jt differs from a recount")
    if state.totals[TABLES] != is_table.sum():
        broken.append("the number of tables differs from a recount")
    return broken


def _broken_topics(corpus: CorpusArrays, state: State) -> list[str]:
    broken = []
    n_topics, capacity = int(state.totals[TOPICS]), state.n_k.size
    live, of_tables = state.live[:n_topics], state.k_jt[tables_in_use(corpus, state)]
    if sorted(live.tolist()) != np.unique(of_tables).tolist():
        broken.append("the live topics are not those of the tables")
    if np.any(state.place[live] != np.arange(n_topics)):
        broken.append("live and place disagree")
    numbers = np.sort(np.concatenate([live, state.dead[: state.totals[DEAD]]]))
    if numbers.tolist() != list(range(state.totals[NUMBERED])):
        broken.append("a topic number is both alive and dead, or neither")
    if np.any(np.bincount(of_tables, minlength=capacity)[live] != state.m_k[live]):
        broken.append("m_k differs from a recount")
    if np.unique(state.name_k[live]).size != n_topics:
        broken.append("two live topics have one name")
    if np.any(np.bincount(word_topics(corpus, state), minlength=capacity)[live] != state.n_k[live]):
        broken.append("n_k differs from a recount")
    return broken


def _broken_rows(corpus: CorpusArrays, state: State) -> list[str]:
    capacity = state.n_k.size
    in_use = pairs_in_use(state)
    terms = np.repeat(np.arange(corpus.n_terms), np.diff(state.row_ptr))[in_use]
    listed = terms * capacity + state.row_k[in_use]
    pairs, counts = np.unique(corpus.x * np.int64(capacity) + word_topics(corpus, state), return_counts=True)
    order = np.argsort(listed, kind="stable")
    if not (np.array_equal(listed[order], pairs) and np.array_equal(state.row_n[in_use][order], counts)):
        return ["the counts of terms in topics differ from a recount"]
    return []
