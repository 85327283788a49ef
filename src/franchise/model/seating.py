"""Seat words at tables and tables at topics: all changes of counts but the word move's own.

The word move (`moves.word_tables`) knows where in its row a count stands, and uses the parts
with a place; everything else moves whole tables.
"""

import numpy as np

from franchise._jit import helper, kernel, prefetch
from franchise.model.capacity import close_topic, open_topic
from franchise.model.state import TABLES


@helper
def prefetch_row(state, v):
    """Ask for the row of term v, which lies anywhere in memory, ahead of its use."""
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
    """Take `count` words off the pair at `place`; an empty pair gives its place to the last."""
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
    """Return where the run of equal terms ends that begins at `first`."""
    v = words[first]
    after = first + 1
    while after < end and words[after] == v:
        after += 1
    return after


@helper
def run_at(words, counts, at, end):
    """Return the term at `at` in the words of tables, how many words of it stand there, and what is next.

    Words are laid out one by one, equal ones of a table side by side, or as terms with counts.
    """
    v = np.int64(words[at])
    if counts.size:
        return v, np.int64(counts[at]), at + 1
    after = end_of_run(words, at, end)
    return v, np.int64(after - at), after


@helper
def move_table(state, slot, k, words, counts, begin, end):
    """Give the table at `slot`, whose words are laid out from `begin` to `end`, to the live topic k.

    The topic that it leaves is closed when this was its last table.
    """
    move_words(state, np.int64(state.k_jt[slot]), k, words, counts, begin, end)
    state.k_jt[slot] = k


@helper
def move_words(state, old, k, words, counts, begin, end):
    """Count a table, whose words are laid out from `begin` to `end`, to the live topic k instead of `old`.

    The old topic is closed when this was its last table.
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

    The state must be new (`empty_state`) except for t_ji and k_jt, and have room for the topics.
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
