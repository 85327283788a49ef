"""Merging whole topics: the change of the log joint, and the counts afterwards.

If all tables of topic b are given to topic a, log p(x | c) and log p(k) change (`model.joint`), but log p(t)
does not::

    change(a, b) = sum over terms that both have of
                       [lnG(n_av + n_bv + eta) - lnG(n_av + eta) - lnG(n_bv + eta) + lnG(eta)]
                   - [lnG(n_a + n_b + V eta) - lnG(n_a + V eta) - lnG(n_b + V eta) + lnG(V eta)]
                   + lnG(m_a + m_b) - lnG(m_a) - lnG(m_b) - ln gamma

This is not a Markov move. `engines.copies` decides which topics to merge.
"""

import math

from franchise._jit import kernel
from franchise.model.capacity import close_topic
from franchise.model.likelihood import rise
from franchise.model.state import TOPICS


@kernel
def changes_by_merging(row_ptr, terms, counts, n_k, m_k, lg, lgv, eta, v_eta, gamma, pairs, changes):
    """Set `changes` to the changes of the log joint if the topics of each pair were merged.

    Topics are sparse rows of counts, terms in increasing order. `lg` and `lgv` are the first values of
    lnG(n + eta) and lnG(n + V eta).
    """
    for i in range(changes.size):
        a, b = pairs[i, 0], pairs[i, 1]
        m_a, m_b = m_k[a], m_k[b]
        change = math.lgamma(m_a + m_b) - math.lgamma(m_a) - math.lgamma(m_b) - math.log(gamma)
        change -= rise(lgv, v_eta, n_k[a], n_k[b]) - rise(lgv, v_eta, 0, n_k[b])
        p, q = row_ptr[a], row_ptr[b]
        while p < row_ptr[a + 1] and q < row_ptr[b + 1]:
            if terms[p] < terms[q]:
                p += 1
            elif terms[q] < terms[p]:
                q += 1
            else:
                change += rise(lg, eta, counts[p], counts[q]) - rise(lg, eta, 0, counts[q])
                p += 1
                q += 1
        changes[i] = change


@kernel
def merge_topics(state, into, places):
    """Move the words and tables of each living topic k to topic into[k], where into[into[k]] = into[k].

    The tables keep their old numbers until the next compaction (`model.capacity`). `places`, on the topic
    axis, is -1 between uses.
    """
    for v in range(state.row_len.size):
        first = state.row_ptr[v]
        end, last = first, first + state.row_len[v]
        for pair in range(first, last):
            k = into[state.row_k[pair]]
            n = state.row_n[pair]
            if places[k] >= 0:
                state.row_n[places[k]] += n
            else:
                places[k] = end
                state.row_k[end] = k
                state.row_n[end] = n
                end += 1
        for pair in range(first, end):
            places[state.row_k[pair]] = -1
        state.row_len[v] = end - first
    for i in range(state.totals[TOPICS] - 1, -1, -1):  # closing a topic moves the last one, already done
        k = state.live[i]
        if into[k] != k:
            state.n_k[into[k]] += state.n_k[k]
            state.m_k[into[k]] += state.m_k[k]
            close_topic(state, k)
    for k in range(into.size):
        if into[k] != k:
            state.place[k] = state.place[into[k]]
