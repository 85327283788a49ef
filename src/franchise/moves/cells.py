"""Draw the topics of all cells given G_0, document by document, and seat their words again.

Given G_0 documents are independent. The weights of the topics in a document, of those that words may move
among, are Dirichlet(alpha beta + n_j): that there are others matters for none of the ratios. Given the
weights theta, words are independent, so the n words of a cell are one draw::

    Multinomial(n; theta_k phi_kv)

Afterwards the words of one topic in one document sit at tables as in a Chinese restaurant with the
concentration c = alpha beta_k. The table of the first has, of the n - 1 others, each with a probability that
is itself Beta(1, c); whoever is left sits in a restaurant of the same kind. So one number and one binomial
skip from table to table, however many words there are. Who sits where does not depend on terms: tables
take their words from those of the topic as from an urn.

Multinomials and urns are divided in two, and each part again, down to the parts that nobody has drawn. Which
part is divided next, and how, is fixed by the number of parts alone.
"""

import math
from typing import NamedTuple

import numpy as np

from franchise._jit import helper, kernel
from franchise.model.state import ALPHA, Array
from franchise.random import binomial, gamma_variate, hypergeometric, integer, start_stream, uniform

_DEPTH = 80  # of the stack: two parts for every halving
# Up to as many words are drawn one by one, which is faster than binomial and hypergeometric numbers: those of
# a cell below one node, and those of a column.
_FEW, _LISTED = 16, 1 << 10


class CellScratch(NamedTuple):
    """Working memory of one thread."""

    stream: Array
    # Column axis.
    theta: Array  # weights in the document of the columns that have any
    active: Array  # which these are
    own: Array  # int64: words of the document in each column; 0 between uses
    tree: Array  # twice as long: weights of columns, and of parts of them
    hits: Array  # int64: words of a cell in each active column; 0 between uses
    here: Array  # columns of the document
    length: Array  # entries of each column; 0 between uses
    next_entry: Array
    # Term axis.
    resting: Array  # int64: words of the document that stay; 0 between uses
    mark: Array  # 0 between uses
    # Entries: what the document has of a term in a column.
    entry_c: Array
    entry_v: Array
    entry_n: Array
    sorted_v: Array  # by column
    sorted_n: Array
    pool: Array  # int64, twice as long: words of the terms of a column, and of parts of them
    word: Array  # listed words of a column, each by the place of its term in `pool`
    stack: Array  # parts that are to be divided, and how many are drawn of each
    # What comes out: tables and pairs of a run of documents, one after another.
    used: Array  # int64[2]: tables and pairs
    n_jt: Array
    k_jt: Array
    n_pairs: Array  # of each table
    term: Array
    number: Array


def new_cell_scratch(n_columns: int, n_terms: int, n_entries: int, room: int) -> CellScratch:
    """Allocate working memory for documents of up to so many entries, `room` tables and as many pairs."""
    return CellScratch(
        stream=np.zeros(4, np.uint64),
        theta=np.zeros(n_columns),
        active=np.zeros(n_columns, np.int32),
        own=np.zeros(n_columns, np.int64),
        tree=np.zeros(2 * n_columns),
        hits=np.zeros(n_columns, np.int64),
        here=np.zeros(n_columns, np.int32),
        length=np.zeros(n_columns, np.int64),
        next_entry=np.zeros(n_columns, np.int64),
        resting=np.zeros(n_terms, np.int64),
        mark=np.zeros(n_terms, np.int64),
        **{name: np.zeros(n_entries, np.int32) for name in ("entry_c", "entry_v", "entry_n")},
        **{name: np.zeros(n_entries, np.int32) for name in ("sorted_v", "sorted_n")},
        pool=np.zeros(2 * n_terms, np.int64),
        word=np.zeros(_LISTED, np.int32),
        stack=np.zeros((_DEPTH, 2), np.int64),
        used=np.zeros(2, np.int64),
        **room_for(room),
    )


def room_for(room: int) -> dict[str, Array]:
    """Return the arrays of what comes out, for so many tables and pairs."""
    return {name: np.zeros(room, np.int32) for name in ("n_jt", "k_jt", "n_pairs", "term", "number")}


@kernel
def update_cells(key, cells, state, tables, measure, scratch, m_j, begin, end):
    """Draw the topics of the words of documents `begin` to `end`, then their tables.

    Returns the document for whose tables or pairs there was no more room, `end` if there was enough: what
    is before it has been done. k_jt holds columns.
    """
    moving = measure.sizes[0]
    for j in range(begin, end):
        start_stream(scratch.stream, key, j)
        n_entries = _enter(state, tables, measure, scratch, j)
        n_active = _draw_weights(state.concentrations[ALPHA], measure.beta, moving, scratch)
        n_entries = _divide_cells(cells, measure.phi, n_active, scratch, j, n_entries)
        m_j[j] = _seat(state.concentrations[ALPHA], measure.beta, moving, scratch, n_entries)
        if m_j[j] < 0:
            return j
    return end


@kernel
def start_cells(key, cells, phi, steps, scratch, m_j, begin, end):
    """Draw the topic of every word for the first time; each topic of a document has one table.

    A word of term v has topic k with probability proportional to theta_jk phi_vk. theta_j is fitted in so
    many steps of EM, but for the last topic, which is for words that fit no other and has 1.
    """
    n_topics = phi.shape[1] - 1
    theta, expected, beta = scratch.theta, scratch.tree, scratch.theta
    for j in range(begin, end):
        start_stream(scratch.stream, key, j)
        theta[:n_topics] = 1.0 / max(1, n_topics)
        theta[n_topics] = 1.0
        for _ in range(steps):
            expected[:n_topics] = 0.0
            for cell in range(cells.cell_ptr[j], cells.cell_ptr[j + 1]):
                v = cells.terms[cell]
                total = phi[v, n_topics]
                for k in range(n_topics):
                    total += theta[k] * phi[v, k]
                share = cells.counts[cell] / total
                for k in range(n_topics):
                    expected[k] += share * theta[k] * phi[v, k]
            total = 0.0
            for k in range(n_topics):
                total += expected[k]
            if total > 0.0:
                for k in range(n_topics):
                    theta[k] = expected[k] / total
        for k in range(n_topics + 1):
            scratch.active[k] = k
        n_entries = _divide_cells(cells, phi, n_topics + 1, scratch, j, 0)
        m_j[j] = _seat(0.0, beta, n_topics + 1, scratch, n_entries)
        if m_j[j] < 0:
            return j
    return end


@helper
def _enter(state, tables, measure, scratch, j):
    """Count the words of a document that may move, by column; list those that do not, and return how many."""
    n_entries, moving = 0, measure.sizes[0]
    for slot in range(tables.slot_ptr[j], tables.slot_ptr[j + 1]):
        c = measure.column[state.k_jt[slot]]
        if c < moving:
            scratch.own[c] += state.n_jt[slot]
            continue
        for pair in range(tables.pair_ptr[slot], tables.pair_ptr[slot + 1]):
            scratch.resting[tables.term[pair]] += tables.words[pair]
            n_entries = _add_entry(scratch, n_entries, c, tables.term[pair], tables.words[pair])
    return n_entries


@helper
def _draw_weights(alpha, beta, moving, scratch):
    """Draw theta, up to its sum, and list the columns that have any; return how many these are.

    Of topics that a document has no words of most have a weight below the smallest double, that is, none.
    """
    n_active = 0
    for c in range(moving):
        value = gamma_variate(scratch.stream, alpha * beta[c] + scratch.own[c])
        scratch.own[c] = 0
        if value > 0.0:
            scratch.theta[n_active] = value
            scratch.active[n_active] = c
            n_active += 1
    return n_active


@helper
def _add_entry(scratch, n_entries, c, v, n):
    scratch.entry_c[n_entries] = c
    scratch.entry_v[n_entries] = v
    scratch.entry_n[n_entries] = n
    return n_entries + 1


@helper
def _divide_cells(cells, phi, n_active, scratch, j, n_entries):
    """Draw the columns of the words of every cell that may move; return how many entries there are now."""
    tree, theta, active = scratch.tree, scratch.theta, scratch.active
    for cell in range(cells.cell_ptr[j], cells.cell_ptr[j + 1]):
        v = cells.terms[cell]
        n = np.int64(cells.counts[cell]) - scratch.resting[v]
        scratch.resting[v] = 0
        if n == 0:
            continue
        row = phi[v]
        for i in range(n_active):
            tree[n_active + i] = theta[i] * row[active[i]]
        for node in range(n_active - 1, 0, -1):
            tree[node] = tree[2 * node] + tree[2 * node + 1]
        n_entries = _multinomial(tree, n_active, n, scratch, v, n_entries)
    return n_entries


@helper
def _multinomial(tree, n_leaves, n, scratch, v, n_entries):
    """Divide n words of a term among the active columns in proportion to the leaves of `tree`."""
    stack, stream, hits, top = scratch.stack, scratch.stream, scratch.hits, 1
    stack[0, 0], stack[0, 1] = 1, n
    while top > 0:
        top -= 1
        node, d = stack[top, 0], stack[top, 1]
        if node >= n_leaves:
            hits[node - n_leaves] += d
            continue
        if d <= _FEW:
            for _ in range(d):
                hits[_descend(tree, n_leaves, node, uniform(stream) * tree[node]) - n_leaves] += 1
            continue
        left = binomial(stream, d, tree[2 * node], tree[2 * node + 1])
        if left < d:
            stack[top, 0], stack[top, 1] = 2 * node + 1, d - left
            top += 1
        if left > 0:
            stack[top, 0], stack[top, 1] = 2 * node, left
            top += 1
    for i in range(n_leaves):
        if hits[i] > 0:
            n_entries = _add_entry(scratch, n_entries, scratch.active[i], v, hits[i])
            hits[i] = 0
    return n_entries


@helper
def _descend(tree, n_leaves, node, u):
    """Return the leaf below a node that u falls on, never one that weighs nothing."""
    while node < n_leaves:
        node *= 2
        # Without a branch, which would be guessed wrong half of the time.
        goes_right = np.int64((u >= tree[node]) & (tree[node + 1] > 0.0))
        u -= tree[node] * goes_right
        node += goes_right
    return node


@helper
def _seat(alpha, beta, moving, scratch, n_entries):
    """Seat the words of a document; return its number of tables, -1 where there is no room for them."""
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
    """Add up the entries of a column that have one term; return how many terms there are."""
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
    """Seat the words of a column; return the tables (-1: there is no room) and pairs that there are now."""
    n = np.int64(0)
    for e in range(begin, begin + n_terms):
        n += scratch.sorted_n[e]
    end = _open_tables(scratch.stream, concentration, n, scratch.n_jt, tables)
    if end < 0:
        return np.int64(-1), pairs
    for i in range(n_terms):
        scratch.pool[n_terms + i] = scratch.sorted_n[begin + i]
    is_listed = n <= _LISTED
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
        if t == end - 1:  # the largest has what is left
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
    """List the words of a column, each by the place of its term in the pool."""
    n = 0
    for i in range(n_terms):
        for _ in range(scratch.pool[n_terms + i]):
            scratch.word[n] = i
            n += 1


@helper
def _take_from_list(scratch, begin, n_terms, n, size, pairs):
    """Take the words of a table from the first n of the list, any with the same probability."""
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
            # Nobody sits at the table with probability e^log_free, which is Beta(concentration, 1).
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
    """Take the words of a table from those of the column, any with the same probability."""
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
