"""Seat the words of a document with known topics: sizes of tables, and the terms at each.

The method is in `moves.cells`. Topics with up to `LISTED` words in the document have them listed and drawn
one by one, which is faster than hypergeometric numbers.
"""

import math

import numpy as np

from franchise._jit import helper
from franchise.random import binomial, hypergeometric, integer, uniform

LISTED = 1 << 10  # up to this number, the words of a column are drawn one by one


@helper
def seat_words(alpha, beta, moving, scratch, n_entries):
    """Seat the words of a document; return its number of tables, -1 if there is no room for them."""
    n_here = 0
    for e in range(n_entries):
        c = scratch.entry_c[e]
        if scratch.length[c] == 0:
            scratch.here[n_here] = c
            n_here += 1
        scratch.length[c] += 1
    first = 0
    for s in range(n_here):
        c = scratch.here[s]
        scratch.next_entry[c] = first
        first += scratch.length[c]
    for e in range(n_entries):
        place = scratch.next_entry[scratch.entry_c[e]]
        scratch.sorted_v[place] = scratch.entry_v[e]
        scratch.sorted_n[place] = scratch.entry_n[e]
        scratch.next_entry[scratch.entry_c[e]] += 1
    tables, pairs = scratch.used[0], scratch.used[1]
    for s in range(n_here):
        c = np.int64(scratch.here[s])
        begin = scratch.next_entry[c] - scratch.length[c]
        n_terms = scratch.length[c]
        scratch.length[c] = 0
        if c >= moving:
            n_terms = _add_up(scratch, begin, n_terms)
        if tables >= 0:
            tables, pairs = _seat_column(alpha * beta[c], c, scratch, begin, n_terms, tables, pairs)
    if tables < 0:
        return -1
    m_j = tables - scratch.used[0]
    scratch.used[0], scratch.used[1] = tables, pairs
    return m_j


@helper
def _add_up(scratch, begin, n_terms):
    """Add up the entries of a column with the same term; return the number of terms."""
    kept = 0
    for e in range(begin, begin + n_terms):
        v = scratch.sorted_v[e]
        if scratch.mark[v] == 0:
            scratch.sorted_v[begin + kept] = v
            scratch.sorted_n[begin + kept] = scratch.sorted_n[e]
            kept += 1
            scratch.mark[v] = kept
        else:
            scratch.sorted_n[begin + scratch.mark[v] - 1] += scratch.sorted_n[e]
    for e in range(begin, begin + kept):
        scratch.mark[scratch.sorted_v[e]] = 0
    return kept


@helper
def _seat_column(concentration, c, scratch, begin, n_terms, tables, pairs):
    """Seat the words of a column; return the new numbers of tables (-1: there is no room) and pairs."""
    n = np.int64(0)
    for e in range(begin, begin + n_terms):
        n += scratch.sorted_n[e]
    end = _open_tables(scratch.stream, concentration, n, scratch.n_jt, tables)
    if end < 0:
        return np.int64(-1), pairs
    for i in range(n_terms):
        scratch.pool[n_terms + i] = scratch.sorted_n[begin + i]
    is_listed = n <= LISTED
    if end - tables > 1:
        if is_listed:
            _list_words(scratch, n_terms)
        else:
            for node in range(n_terms - 1, 0, -1):
                scratch.pool[node] = scratch.pool[2 * node] + scratch.pool[2 * node + 1]
    for t in range(tables, end):
        size = np.int64(scratch.n_jt[t])
        if pairs + min(size, n_terms) > scratch.term.size:
            return np.int64(-1), pairs
        before = pairs
        if t == end - 1:  # the largest takes the rest
            for i in range(n_terms):
                if scratch.pool[n_terms + i] > 0:
                    pairs = _add_pair(scratch, pairs, scratch.sorted_v[begin + i], scratch.pool[n_terms + i])
        elif is_listed:
            pairs = _take_from_list(scratch, begin, n_terms, n, size, pairs)
            n -= size
        else:
            pairs = _take_from_pool(scratch, begin, n_terms, size, pairs)
        scratch.k_jt[t] = c
        scratch.n_pairs[t] = pairs - before
    return end, pairs


@helper
def _list_words(scratch, n_terms):
    """List the words of a column, each as the place of its term in the pool."""
    n = 0
    for i in range(n_terms):
        for _ in range(scratch.pool[n_terms + i]):
            scratch.word[n] = i
            n += 1


@helper
def _take_from_list(scratch, begin, n_terms, n, size, pairs):
    """Take the words of a table from the first n of the list, all with the same probability."""
    first = pairs
    for left in range(n, n - size, -1):
        u = integer(scratch.stream, left)
        i = np.int64(scratch.word[u])
        scratch.word[u] = scratch.word[left - 1]
        scratch.pool[n_terms + i] -= 1
        v = scratch.sorted_v[begin + i]
        if scratch.mark[v] == 0:
            pairs = _add_pair(scratch, pairs, v, 1)
            scratch.mark[v] = pairs - first
        else:
            scratch.number[first + scratch.mark[v] - 1] += 1
    for pair in range(first, pairs):
        scratch.mark[scratch.term[pair]] = 0
    return pairs


@helper
def _open_tables(stream, concentration, n, sizes, first):
    """Write the sizes of the tables of n words from `first` on, the largest last; return the end, or -1."""
    t, largest, left = first, first, n
    while left > 0:
        if t == sizes.size:
            return np.int64(-1)
        others = np.int64(0)
        if left > 1 and concentration > 0.0:
            # A word avoids the table with probability e^log_free, which is Beta(concentration, 1).
            log_free = math.log(1.0 - uniform(stream)) / concentration
            others = np.int64(binomial(stream, left - 1, math.exp(log_free), -math.expm1(log_free)))
        sizes[t] = left - others
        if sizes[t] > sizes[largest]:
            largest = t
        left = others
        t += 1
    sizes[largest], sizes[t - 1] = sizes[t - 1], sizes[largest]
    return np.int64(t)


@helper
def _take_from_pool(scratch, begin, n_terms, size, pairs):
    """Take the words of a table from those of the column, all with the same probability."""
    stack, pool, top = scratch.stack, scratch.pool, 1
    stack[0, 0], stack[0, 1] = 1, size
    while top > 0:
        top -= 1
        node, d = stack[top, 0], stack[top, 1]
        left = np.int64(0)
        if d == 1 and node < n_terms:
            node = _take_one(pool, n_terms, node, integer(scratch.stream, pool[node]))
        if node < n_terms:
            left = np.int64(hypergeometric(scratch.stream, pool[2 * node], pool[2 * node + 1], d))
        pool[node] -= d
        if node >= n_terms:
            pairs = _add_pair(scratch, pairs, scratch.sorted_v[begin + node - n_terms], d)
            continue
        if left < d:
            stack[top, 0], stack[top, 1] = 2 * node + 1, d - left
            top += 1
        if left > 0:
            stack[top, 0], stack[top, 1] = 2 * node, left
            top += 1
    return pairs


@helper
def _take_one(pool, n_leaves, node, u):
    """Take word u from those below a node, but not yet from its leaf; return the leaf."""
    while node < n_leaves:
        pool[node] -= 1
        node *= 2
        if u >= pool[node]:
            u -= pool[node]
            node += 1
    return node


@helper
def _add_pair(scratch, pairs, v, n):
    scratch.term[pairs] = v
    scratch.number[pairs] = n
    return pairs + 1
