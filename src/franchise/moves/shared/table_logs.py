"""Sample the topic of a large table, weighed in logarithms (see `moves.table_topics`).

With lg and lgv as in `model.likelihood`::

    topic k   log m_k + lgv[n_k] - lgv[n_k + n] + sum over v with n_kv > 0 of
              lg[n_kv + c_v] - lg[n_kv] - lg[c_v] + lg[0]
    new       log gamma + lgv[0] - lgv[n]

A large table nearly always fits one topic far better than the rest, so few weights matter.
"""

import math

import numpy as np

from franchise._jit import inlined
from franchise.model.likelihood import log_gamma, rise
from franchise.model.seating import run_at
from franchise.model.state import NUMBERED
from franchise.random import uniform

# Ten thousand weights exp(-48) are below half a unit in the last place of 1: they cannot change a sum.
_NEGLIGIBLE = 48.0


@inlined
def draw_topic_by_logs(state, scratch, eta, gamma, v_eta, k_old, n, begin, end):
    """Sample the topic of a table of n words; -1 is a new one."""
    _add_shared_terms(state, scratch, eta, k_old, begin, end)
    lgv = scratch.lgv
    new = math.log(gamma) + lgv[0] - log_gamma(lgv, v_eta, n)
    n_candidates, largest = _list_candidates(state, scratch, v_eta, k_old, n, new)
    total = 0.0
    for i in range(n_candidates):
        total += math.exp(scratch.weight[i] - largest)
        scratch.weight[i] = total
    u = uniform(scratch.stream) * (total + math.exp(new - largest))
    for i in range(n_candidates):
        if u < scratch.weight[i]:
            return np.int64(scratch.candidate[i])
    return -1


@inlined
def _add_shared_terms(state, scratch, eta, k_old, begin, end):
    """Add the contributions of the table's terms to the topics that have them, in scratch.log_shared."""
    lg, shared = scratch.lg, scratch.log_shared
    at = begin
    while at < end:
        v, count, at = run_at(scratch.table_words, scratch.table_counts, at, end)
        c = np.uint32(count)
        alone = log_gamma(lg, eta, c) - lg[0]
        first = state.row_ptr[v]
        row_k = state.row_k[first : first + state.row_len[v]]
        row_n = state.row_n[first : first + state.row_len[v]]
        for i in range(row_k.size):
            n = row_n[i] - c * np.uint32(row_k[i] == k_old)
            shared[row_k[i]] += rise(lg, eta, n, c) - alone


@inlined
def _list_candidates(state, scratch, v_eta, k_old, n, largest):
    """List the topics whose weight can matter, with log weights, and clear scratch.log_shared.

    lgv[n_k + n] - lgv[n_k] is at least n log(n_k + V eta): if this logarithm rules a topic out, the array lgv
    need not be read. Returns the number of listed topics, and the largest log weight.
    """
    shared, lgv = scratch.log_shared, scratch.lgv
    n_listed = 0
    for k in range(state.totals[NUMBERED]):
        m_k, n_k, log_x = state.m_k[k], state.n_k[k], scratch.log_x[k]
        if k == k_old:
            m_k, n_k = m_k - 1, n_k - n
            log_x = math.log(n_k + v_eta)
        its_shared = shared[k]
        shared[k] = 0.0
        if m_k == 0:
            continue
        # m_k <= n_k < x_k, so the bound has one logarithm fewer instead of log m_k.
        if its_shared - (n - 1) * log_x < largest - _NEGLIGIBLE:
            continue
        log_weight = math.log(m_k) + log_gamma(lgv, v_eta, n_k) - log_gamma(lgv, v_eta, n_k + n) + its_shared
        if log_weight > largest - _NEGLIGIBLE:
            largest = max(largest, log_weight)
            scratch.candidate[n_listed] = k
            scratch.weight[n_listed] = log_weight
            n_listed += 1
    return n_listed, largest
