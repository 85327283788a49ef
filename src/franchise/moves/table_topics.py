"""Gibbs for k_jt, the topic of every table (the paper's section 3.1).

A table x_jt of n words, c_v of them of term v, goes to topic k with weight m_k f_k(x_jt), or to a new topic
with weight gamma f_new(x_jt); its own words and the table itself do not count. Without factors that all
topics share, the weights are as follows; terms that topic k lacks contribute nothing::

    topic k     m_k / [x_k (x_k + 1) ... (x_k + n - 1)]  prod over v with n_kv > 0 of
                (n_kv + eta) ... (n_kv + c_v - 1 + eta) / [eta ... (c_v - 1 + eta)],     x_k = n_k + V eta
    new         gamma / [V eta ... (V eta + n - 1)]

So only the topics of the table's own terms are visited term by term. For small tables, which are most, the
first factor is tabulated for every n (`base`), and a topic costs one more multiplication. Large tables, whose
products would leave the range of doubles, are weighed in logarithms (`moves.shared.table_logs`). Tables of
one word are skipped, because the word move already samples their topic. Counts change only if a table changes
its topic, which few do; its own topic is weighed as if the table were gone. Topics are weighed in the order
of their numbers.
"""

import math
from typing import NamedTuple

import numpy as np

from franchise._jit import helper, inlined, kernel
from franchise.model.capacity import is_full, open_topic
from franchise.model.seating import move_table, prefetch_row, run_at
from franchise.model.state import ETA, GAMMA, NUMBERED, TOPICS
from franchise.model.table_words import lay_out
from franchise.model.weights import add_four
from franchise.moves.shared.scratch import DOCUMENT, INSIDE, NOT_ENTERED
from franchise.moves.shared.table_logs import draw_topic_by_logs
from franchise.random import start_stream, uniform

# Products of factors between e^-600 and e^600 stay far within the range of doubles.
_LOG_RANGE = 600.0


class TableTopicsInfo(NamedTuple):
    """Numbers of the tables that the move visited."""

    complete: bool  # False: no topic number was left; make room and call again
    tables: int  # tables visited
    moved: int  # tables that changed their topic
    born: int  # topics born


@inlined
def _largest_small_table(corpus, scratch, eta, v_eta):
    """Return the largest n for which every weight is a product within the range of doubles."""
    largest_factor = max((scratch.lg.size + eta) / eta, corpus.doc_ptr[-1] + v_eta)
    return min(scratch.base.shape[0] - 1, int(_LOG_RANGE / math.log(largest_factor)))


@helper
def _prepare(scratch, k, m, x):
    """Set base[n, k] = m / [x ... (x + n - 1)], and log_x[k]."""
    base = scratch.base
    scratch.log_x[k] = math.log(x)
    weight = float(m)
    for n in range(1, base.shape[0]):
        weight /= x + (n - 1)
        base[n, k] = weight


@helper
def _one_base(m, x, n):
    """Return m / [x ... (x + n - 1)]."""
    weight = m
    for i in range(n):
        weight /= x + i
    return weight


@inlined
def _multiply_shared_terms(state, scratch, eta, k_old, begin, end):
    """Multiply the contributions of the table's terms to the topics that have them, in scratch.shared."""
    ratio, shared = scratch.ratio, scratch.shared
    at = begin
    while at < end:
        v, c, at = run_at(scratch.table_words, scratch.table_counts, at, end)
        first = state.row_ptr[v]
        row_k = state.row_k[first : first + state.row_len[v]]
        row_n = state.row_n[first : first + state.row_len[v]]
        if c == 1:
            for i in range(row_k.size):
                n = row_n[i] - np.uint32(row_k[i] == k_old)
                shared[row_k[i]] *= ratio[n]
        else:
            alone = 1.0
            for d in range(c):
                alone *= d + eta
            for i in range(row_k.size):
                n = row_n[i] - np.uint32(c) * np.uint32(row_k[i] == k_old)
                factor = 1.0 / alone
                for d in range(c):
                    factor *= (n + d) + eta
                shared[row_k[i]] *= factor


@inlined
def _cumulate(base_n, shared, weight, n_numbers):
    """Cumulate base times shared over the topics, and reset shared to 1."""
    total = 0.0
    k = 0
    while k + 4 <= n_numbers:
        w0, w1 = base_n[k] * shared[k], base_n[k + 1] * shared[k + 1]
        w2, w3 = base_n[k + 2] * shared[k + 2], base_n[k + 3] * shared[k + 3]
        shared[k], shared[k + 1], shared[k + 2], shared[k + 3] = 1.0, 1.0, 1.0, 1.0
        total = add_four(weight, k, total, w0, w1, w2, w3)
        k += 4
    while k < n_numbers:
        total += base_n[k] * shared[k]
        shared[k] = 1.0
        weight[k] = total
        k += 1
    return total


@inlined
def _draw_topic(state, scratch, eta, gamma, v_eta, k_old, begin, end):
    """Sample the topic of a small table; -1 is a new one."""
    n = end - begin
    _multiply_shared_terms(state, scratch, eta, k_old, begin, end)
    base_n = scratch.base[n]
    kept = base_n[k_old]
    base_n[k_old] = _one_base(float(state.m_k[k_old] - 1), state.n_k[k_old] - n + v_eta, n)
    n_numbers = state.totals[NUMBERED]
    total = _cumulate(base_n, scratch.shared, scratch.weight, n_numbers)
    base_n[k_old] = kept
    u = uniform(scratch.stream) * (total + _one_base(gamma, v_eta, n))
    if u >= total:
        return -1
    k = 0
    for other in range(n_numbers):
        k += scratch.weight[other] <= u
    return k


@inlined
def _lay_out_tables(corpus, state, scratch, j):
    """Lay out the words of document j; tables that hold counts are laid out already."""
    if scratch.pair_ptr.size:
        return
    begin = 0
    for t in range(state.m_j[j]):
        scratch.table_end[t] = begin
        begin += state.n_jt[corpus.doc_ptr[j] + t]
    lay_out(corpus, state, j, scratch.table_words, scratch.table_end, scratch.count_v, scratch.terms)


@inlined
def _words_of(state, scratch, slot, t):
    """Return where the words of table t, at `slot`, begin and end, in the last document laid out."""
    if scratch.pair_ptr.size:
        return scratch.pair_ptr[slot], scratch.pair_ptr[slot + 1]
    return scratch.table_end[t] - state.n_jt[slot], scratch.table_end[t]


@kernel
def table_topics(key, corpus, state, scratch):
    """Sample a new topic for every table of two words or more."""
    gamma, eta = state.concentrations[GAMMA], state.concentrations[ETA]
    v_eta = state.row_len.size * eta
    largest_small = _largest_small_table(corpus, scratch, eta, v_eta)
    tables, moved, born = 0, 0, 0
    scratch.base[:, : state.totals[NUMBERED]] = 0.0  # dead topics have weight 0
    for i in range(state.totals[TOPICS]):
        k = np.int64(state.live[i])
        _prepare(scratch, k, state.m_k[k], state.n_k[k] + v_eta)

    for d in range(scratch.cursor[DOCUMENT], scratch.documents.size):
        j = scratch.documents[d]
        first = corpus.doc_ptr[j]
        begin = scratch.cursor[INSIDE]
        if begin == NOT_ENTERED:
            start_stream(scratch.stream, key, scratch.numbers[d])
            _lay_out_tables(corpus, state, scratch, j)
            begin = 0
        for t in range(begin, state.m_j[j]):
            n = np.int64(state.n_jt[first + t])
            if n == 1:
                continue
            if is_full(state):
                scratch.cursor[DOCUMENT], scratch.cursor[INSIDE] = d, t
                return TableTopicsInfo(False, tables, moved, born)
            tables += 1
            k_old = np.int64(state.k_jt[first + t])
            here, end = _words_of(state, scratch, first + t, t)
            for i in range(here, end):
                prefetch_row(state, scratch.table_words[i])
            if n <= largest_small:
                k = _draw_topic(state, scratch, eta, gamma, v_eta, k_old, here, end)
            else:
                k = draw_topic_by_logs(state, scratch, eta, gamma, v_eta, k_old, n, here, end)
            if k == k_old or (k < 0 and state.m_k[k_old] == 1):
                continue
            if k < 0:
                k = np.int64(open_topic(state))
                born += 1
            moved += 1
            move_table(state, first + t, k, scratch.table_words, scratch.table_counts, here, end)
            _prepare(scratch, k_old, state.m_k[k_old], state.n_k[k_old] + v_eta)
            _prepare(scratch, k, state.m_k[k], state.n_k[k] + v_eta)
        scratch.cursor[INSIDE] = NOT_ENTERED

    scratch.cursor[DOCUMENT] = 0
    return TableTopicsInfo(True, tables, moved, born)
