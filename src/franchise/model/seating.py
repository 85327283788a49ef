"""Seat words at tables and tables at topics: all changes of counts outside the word move.

The word move (`moves.word_tables`) knows the place of a count in its row, and uses the functions that take a
place. Everything else moves whole tables.
"""

import numpy as np

from franchise._jit import helper, kernel, prefetch
from franchise.model.capacity import close_topic, open_topic
from franchise.model.state import TABLES


@helper
def prefetch_row(state, v):
    """Fetch the row of term v, which may be anywhere in memory, ahead of its use."""
    first = state.row_ptr[v]
    prefetch(state.row_k, first)
    prefetch(state.row_n, first)


@helper
def find_in_row(state, v, k):
    """Return the place of topic k among the pairs of term v, or -1."""
    first = state.row_ptr[v]
    row_k = state.row_k[first : first + state.row_len[v]]
    for e in range(row_k.size):
        if row_k[e] == k:
            return first + e
    return -1


@helper
def take_from_row(state, v, place, count):
    """Subtract `count` words from the pair at `place`; the last pair replaces an empty one."""
    state.row_n[place] -= count
    if state.row_n[place] == 0:
        state.row_len[v] -= 1
        last = state.row_ptr[v] + state.row_len[v]
        state.row_k[place] = state.row_k[last]
        state.row_n[place] = state.row_n[last]


@helper
def put_in_row(state, v, k, count):
    """Add `count` words of term v to topic k."""
    place = find_in_row(state, v, k)
    if place >= 0:
        state.row_n[place] += count
    else:
        place = state.row_ptr[v] + state.row_len[v]
        state.row_k[place] = k
        state.row_n[place] = count
        state.row_len[v] += 1


@helper
def close_table(corpus, state, j, t):
    """Close the empty table t of document j: the document's last table takes its number."""
    first, end = corpus.doc_ptr[j], corpus.doc_ptr[j + 1]
    state.m_j[j] -= 1
    last = state.m_j[j]
    if t != last:
        state.n_jt[first + t] = state.n_jt[first + last]
        state.k_jt[first + t] = state.k_jt[first + last]
        for i in range(first, end):
            if state.t_ji[i] == last:
                state.t_ji[i] = t


@helper
def end_of_run(words, first, end):
    """Return the end of the run of equal terms that begins at `first`."""
    v = words[first]
    after = first + 1
    while after < end and words[after] == v:
        after += 1
    return after


@helper
def run_at(words, counts, at, end):
    """Return the term at `at` in the words of tables, its number of words there, and the next place.

    Words are laid out one by one, equal ones of a table next to each other, or as terms with counts.
    """
    v = np.int64(words[at])
    if counts.size:
        return v, np.int64(counts[at]), at + 1
    after = end_of_run(words, at, end)
    return v, np.int64(after - at), after


@helper
def move_table(state, slot, k, words, counts, begin, end):
    """Give the table at `slot`, whose words are laid out from `begin` to `end`, to the live topic k.

    Its old topic is closed if this was its last table.
    """
    move_words(state, np.int64(state.k_jt[slot]), k, words, counts, begin, end)
    state.k_jt[slot] = k


@helper
def move_words(state, old, k, words, counts, begin, end):
    """Move the counts of a table, laid out from `begin` to `end`, from topic `old` to the live topic k.

    The old topic is closed if this was its last table.
    """
    n = np.int64(0)
    while begin < end:
        v, count, begin = run_at(words, counts, begin, end)
        take_from_row(state, v, find_in_row(state, v, old), count)
        put_in_row(state, v, k, count)
        n += count
    state.n_k[old] -= n
    state.m_k[old] -= 1
    state.n_k[k] += n
    state.m_k[k] += 1
    if state.m_k[old] == 0:
        close_topic(state, old)


@kernel
def seat_all(corpus, state, n_topics):
    """Fill in all counts from t_ji and k_jt, whose topics are 0, ..., n_topics - 1.

    The state must be new (`empty_state`) except for t_ji and k_jt, and must have room for the topics.
    """
    for _ in range(n_topics):
        open_topic(state)
    for j in range(state.m_j.size):
        first = corpus.doc_ptr[j]
        for i in range(first, corpus.doc_ptr[j + 1]):
            slot = first + state.t_ji[i]
            k = np.int64(state.k_jt[slot])
            if state.n_jt[slot] == 0:
                state.m_j[j] += 1
                state.m_k[k] += 1
                state.totals[TABLES] += 1
            state.n_jt[slot] += 1
            state.n_k[k] += 1
            put_in_row(state, np.int64(corpus.x[i]), k, np.int64(1))
