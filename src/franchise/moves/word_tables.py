"""Gibbs for t_ji, the table of every word (the paper's appendix): first its topic, then its table.

Take word i of document j, of term v, from its table. With c = alpha / (m + gamma) and
w_k = 1 / (n_k + V eta), summing the appendix's conditional over the tables of one topic gives::

    P(topic k)    ~ (n_jk + c m_k) (n_kv + eta) w_k          P(new topic) ~ c gamma / V

and inside topic k: table t with probability n_jt / (n_jk + c m_k), else a new table. The topics' weights are
divided into parts that are cheap to add up, as in SparseLDA (Yao, Mimno & McCallum 2009)::

    term      sum over the topics that v has          n_kv (n_jk + c m_k) w_k
    document  eta B,    B = sum over topics of j      n_jk w_k
    corpus    c eta A,  A = sum over all topics       m_k w_k
    new       c gamma / V

A and B are updated as words move, so a word costs time in proportion to the topics of its term and of its
document (plus a quick scan of the document's tables). All topics are visited, quickly, only if a table opens
or closes, which changes c, or if the draw falls on the corpus part.

The sequential start is this move on unseated words (t_ji = -1).
"""

from typing import NamedTuple

import numpy as np

from franchise._jit import helper, inlined, kernel
from franchise.model.capacity import close_topic, is_full, open_topic
from franchise.model.seating import close_table, prefetch_row, put_in_row, take_from_row
from franchise.model.state import ALPHA, ETA, GAMMA, NUMBERED, TABLES, TOPICS
from franchise.model.weights import cumulate, list_here
from franchise.moves.shared.scratch import DOCUMENT, INSIDE, N_HERE, NOT_ENTERED
from franchise.random import start_stream, uniform

# A is updated by adding and subtracting; regular fresh sums keep its rounding error near 1e-13.
_DOCUMENTS_PER_FRESH_SUM = 256
_WORDS_AHEAD = 2  # enough time to load from memory
# Places in scratch.sums.
_A, _B = 0, 1


class WordTablesInfo(NamedTuple):
    """Numbers of the words that the move visited."""

    complete: bool  # False: no topic number was left; make room and call again
    moved: int  # words that changed their topic
    opened: int  # tables opened
    born: int  # topics born


@inlined
def _weigh_topics(state, scratch, v_eta):
    """Compute w_k and m_k w_k of every topic; return A."""
    total = 0.0
    for i in range(state.totals[TOPICS]):
        k = state.live[i]
        scratch.w_k[k] = 1.0 / (state.n_k[k] + v_eta)
        scratch.mw_k[k] = state.m_k[k] * scratch.w_k[k]
        total += scratch.mw_k[k]
    return total


@inlined
def _enter(state, scratch, first, j, c):
    """Compute n_jk of document j; return its number of topics and B."""
    n_here = np.int64(0)
    for slot in range(first, first + state.m_j[j]):
        k = np.int64(state.k_jt[slot])
        if scratch.n_jk[k] == 0:
            n_here = list_here(scratch, k, n_here)
            scratch.table_k[k] = slot - first
        scratch.n_jk[k] += state.n_jt[slot]
    total = 0.0
    for i in range(n_here):
        k = scratch.here[i]
        scratch.nw_k[k] = scratch.n_jk[k] * scratch.w_k[k]
        scratch.p_k[k] = scratch.nw_k[k] + c * scratch.mw_k[k]
        total += scratch.nw_k[k]
    return n_here, total


@inlined
def _leave(scratch, n_here, c):
    """Clear the counts of the document."""
    for i in range(n_here):
        k = scratch.here[i]
        scratch.n_jk[k] = 0
        scratch.nw_k[k] = 0.0
        scratch.p_k[k] = c * scratch.mw_k[k]


@helper
def _reweigh(state, scratch, k, v_eta, c, sum_a, sum_b):
    """Update the weights of topic k after a change of n_k, m_k or n_jk; return A and B."""
    sum_a -= scratch.mw_k[k]
    sum_b -= scratch.nw_k[k]
    w = 1.0 / (state.n_k[k] + v_eta)
    scratch.w_k[k] = w
    scratch.mw_k[k] = state.m_k[k] * w
    scratch.nw_k[k] = scratch.n_jk[k] * w
    scratch.p_k[k] = scratch.nw_k[k] + c * scratch.mw_k[k]
    return sum_a + scratch.mw_k[k], sum_b + scratch.nw_k[k]


@inlined
def _place_of(row_k, k):
    """Return the place of topic k, which must be there, in a row; without branches, in steps of many."""
    k = np.uint32(k)
    place = 0
    for e in range(row_k.size):
        place += e if row_k[e] == k else 0
    return place


@inlined
def _weigh_all(state, scratch, c):
    """Update the weights of all topics after a change of c; dead ones are in no row."""
    p_k, nw_k, mw_k = scratch.p_k, scratch.nw_k, scratch.mw_k
    for k in range(state.totals[NUMBERED]):
        p_k[k] = nw_k[k] + c * mw_k[k]


@inlined
def _count_up_to(weight, length, u):
    """Return the number of cumulated weights that do not exceed u: the place of u."""
    place = 0
    for e in range(length):
        place += weight[e] <= u
    return place


@inlined
def _draw_topic(state, scratch, v, k_old, c, eta, part_document, part_corpus, part_new, n_here):
    """Sample the topic of a word of term v; -1 is a new one.

    The word is removed from its pair in the row of v, if it has one; an empty pair stays for now. Also
    returns the places of the old and the sampled topic in the row (-1: not found).
    """
    first = state.row_ptr[v]
    row_k = state.row_k[first : first + state.row_len[v]]
    row_n = state.row_n[first : first + state.row_len[v]]
    place_old = 0
    if k_old >= 0:
        place_old = _place_of(row_k, k_old)
        row_n[place_old] -= 1
    part_term = cumulate(row_k, row_n, scratch.p_k, scratch.weight)
    u = uniform(scratch.stream) * (part_term + part_document + part_corpus + part_new)
    if u < part_term:
        e = _count_up_to(scratch.weight, row_k.size, u)
        return np.int64(row_k[e]), first + place_old, first + e
    place_old += first
    u -= part_term
    if u < part_document:
        u /= eta
        for i in range(n_here):
            u -= scratch.nw_k[scratch.here[i]]
            if u < 0.0:
                return scratch.here[i], place_old, -1
        u = 0.0  # only by rounding
    else:
        u -= part_document
    if u < part_corpus:
        u /= c * eta
        for i in range(state.totals[TOPICS]):
            u -= scratch.mw_k[state.live[i]]
            if u < 0.0:
                return state.live[i], place_old, -1
    return -1, place_old, -1


@inlined
def _draw_table(state, scratch, first, j, k, c):
    """Sample a table of document j with topic k; -1 is a new one."""
    n = scratch.n_jk[k]
    if n == 0:
        return -1
    u = uniform(scratch.stream) * (n + c * state.m_k[k])
    if u < n:
        t = scratch.table_k[k]
        if t < state.m_j[j] and state.k_jt[first + t] == k and state.n_jt[first + t] == n:
            return np.int64(t)  # the document's only table of this topic
        for t in range(state.m_j[j]):
            if state.k_jt[first + t] == k:
                u -= state.n_jt[first + t]
                if u < 0.0:
                    return t
    return -1


@inlined
def _recount(state, v, k_old, place_old, k, place):
    """Give one word of term v, removed from topic k_old (-1: from none), to topic k."""
    if k == k_old:
        state.row_n[place_old] += 1
        return
    if k_old >= 0:
        take_from_row(state, v, place_old, np.int64(0))
        if place == state.row_ptr[v] + state.row_len[v]:
            place = place_old  # the sampled topic's pair was the last and has filled the gap
    if place >= 0:
        state.row_n[place] += 1
    else:
        put_in_row(state, v, k, np.int64(1))


@inlined
def _seat(corpus, state, i, j, t, t_old, k, alone):
    """Seat word i at table t, -1 a new one of topic k, and close its old table if that is empty."""
    first = corpus.doc_ptr[j]
    if t < 0:
        t = t_old if alone else state.m_j[j]
        if not alone:
            state.m_j[j] += 1
        state.n_jt[first + t] = 1
        state.k_jt[first + t] = k
        state.m_k[k] += 1
        state.totals[TABLES] += 1
        state.t_ji[i] = t
    else:
        state.n_jt[first + t] += 1
        state.t_ji[i] = t
        if alone:
            close_table(corpus, state, j, t_old)


@kernel
def word_tables(key, corpus, state, scratch):
    """Sample a new table for every word, document by document in the order of scratch.documents."""
    alpha = state.concentrations[ALPHA]
    gamma = state.concentrations[GAMMA]
    eta = state.concentrations[ETA]
    n_terms = state.row_len.size
    v_eta = n_terms * eta
    moved, opened, born = 0, 0, 0
    sum_a, sum_b = scratch.sums[_A], scratch.sums[_B]
    c, m_weighed = 0.0, -1  # the weights p_k hold for c, that is, for this number of tables

    for d in range(scratch.cursor[DOCUMENT], scratch.documents.size):
        j = scratch.documents[d]
        first, end = corpus.doc_ptr[j], corpus.doc_ptr[j + 1]
        begin, n_here = scratch.cursor[INSIDE], scratch.cursor[N_HERE]
        if begin == NOT_ENTERED:
            if d % _DOCUMENTS_PER_FRESH_SUM == 0:
                sum_a = _weigh_topics(state, scratch, v_eta)
                m_weighed = -1
            start_stream(scratch.stream, key, scratch.numbers[d])
            n_here, sum_b = _enter(state, scratch, first, j, c)
            begin = first

        for i in range(begin, end):
            if is_full(state):
                scratch.cursor[DOCUMENT], scratch.cursor[INSIDE], scratch.cursor[N_HERE] = d, i, n_here
                scratch.sums[_A], scratch.sums[_B] = sum_a, sum_b
                return WordTablesInfo(False, moved, opened, born)
            v = np.int64(corpus.x[i])
            if i + _WORDS_AHEAD < corpus.x.size:
                prefetch_row(state, corpus.x[i + _WORDS_AHEAD])

            # Remove the word; the counts of its term follow once the new topic is known.
            t_old, k_old, alone = state.t_ji[i], np.int64(-1), False
            before_a, before_b = sum_a, sum_b
            before_w, before_mw, before_nw = 0.0, 0.0, 0.0
            if t_old >= 0:
                k_old = np.int64(state.k_jt[first + t_old])
                before_w, before_mw, before_nw = scratch.w_k[k_old], scratch.mw_k[k_old], scratch.nw_k[k_old]
                state.n_jt[first + t_old] -= 1
                alone = state.n_jt[first + t_old] == 0
                state.n_k[k_old] -= 1
                scratch.n_jk[k_old] -= 1
                if alone:
                    state.m_k[k_old] -= 1
                    state.totals[TABLES] -= 1
                sum_a, sum_b = _reweigh(state, scratch, k_old, v_eta, c, sum_a, sum_b)

            if state.totals[TABLES] != m_weighed:
                m_weighed = state.totals[TABLES]
                c = alpha / (m_weighed + gamma)
                _weigh_all(state, scratch, c)
            k, place_old, place = _draw_topic(
                state, scratch, v, k_old, c, eta, eta * sum_b, c * eta * sum_a, c * gamma / n_terms, n_here
            )
            t = -1 if k < 0 else _draw_table(state, scratch, first, j, k, c)

            if alone and state.m_k[k_old] == 0:
                close_topic(state, k_old)
            if k < 0:
                k = np.int64(open_topic(state))
                scratch.mw_k[k] = 0.0
                scratch.nw_k[k] = 0.0
                born += 1
            _recount(state, v, k_old, place_old, k, place)
            if k != k_old:
                n_here = list_here(scratch, k, n_here)
                moved += 1
            if t < 0:
                opened += 1
            _seat(corpus, state, i, j, t, t_old, k, alone)
            scratch.table_k[k] = state.t_ji[i]
            state.n_k[k] += 1
            scratch.n_jk[k] += 1
            if k == k_old and alone == (t < 0):
                # Nothing has changed: restore the exact numbers, which also limits rounding.
                scratch.w_k[k], scratch.mw_k[k], scratch.nw_k[k] = before_w, before_mw, before_nw
                scratch.p_k[k] = before_nw + c * before_mw
                sum_a, sum_b = before_a, before_b
            else:
                sum_a, sum_b = _reweigh(state, scratch, k, v_eta, c, sum_a, sum_b)

        _leave(scratch, n_here, c)
        scratch.cursor[INSIDE] = NOT_ENTERED

    scratch.cursor[DOCUMENT] = 0
    return WordTablesInfo(True, moved, opened, born)
