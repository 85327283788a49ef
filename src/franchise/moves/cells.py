"""Sample the topics of all cells given G_0, document by document, and seat their words again.

Given G_0, documents are independent. The weights of the topics that words of a document may move among are
Dirichlet(alpha beta + n_j); other topics do not change the ratios. Given the weights theta, words are
independent, so the n words of a cell are one draw::

    Multinomial(n; theta_k phi_kv)

Afterwards the words of one topic in one document are seated at tables by a Chinese restaurant process with
concentration c = alpha beta_k. The first word opens a table. Each of the n - 1 others joins it with the same
probability, which is drawn from Beta(1, c); the rest are seated in the same way. So each table takes one
Beta and one binomial variable, however many words it has. Seating does not depend on terms: tables
take their words from those of the topic as from an urn.

Multinomials and urns are divided in two, and each half again, until a part has no words. The order and way of
dividing depend only on the number of parts.
"""

from typing import NamedTuple

import numpy as np

from franchise._arrays import Array
from franchise._jit import helper, kernel
from franchise.model.state import ALPHA
from franchise.moves.shared.cell_seats import LISTED, seat_words
from franchise.random import binomial, gamma_variate, start_stream, uniform

_DEPTH = 80  # size of the stack: two parts per halving
_FEW = 16  # words of a cell below one node that are drawn one by one, at most: faster than binomials


class CellScratch(NamedTuple):
    """Working memory of one thread."""

    stream: Array
    # Column axis.
    theta: Array  # weights in the document of the active columns
    active: Array  # columns with positive weight
    own: Array  # int64: words of the document in each column; 0 between uses
    tree: Array  # twice as long: weights of columns, and of groups of columns
    hits: Array  # int64: words of a cell in each active column; 0 between uses
    here: Array  # columns of the document
    length: Array  # entries of each column; 0 between uses
    next_entry: Array
    # Term axis.
    resting: Array  # int64: words of the document that do not move; 0 between uses
    mark: Array  # 0 between uses
    # Entries: the words of one term in one column of the document.
    entry_c: Array
    entry_v: Array
    entry_n: Array
    sorted_v: Array  # by column
    sorted_n: Array
    pool: Array  # int64, twice as long: words of the terms of a column, and of groups of terms
    word: Array  # listed words of a column, each as the place of its term in `pool`
    stack: Array  # parts still to divide, and the number of words to draw from each
    # Results: tables and pairs of a range of documents, one after another.
    used: Array  # int64[2]: number of tables and pairs
    n_jt: Array
    k_jt: Array
    n_pairs: Array  # of each table
    term: Array
    number: Array


def new_cell_scratch(n_columns: int, n_terms: int, n_entries: int, room: int) -> CellScratch:
    """Allocate working memory for documents of up to `n_entries` entries, and `room` tables and pairs."""
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
        word=np.zeros(LISTED, np.int32),
        stack=np.zeros((_DEPTH, 2), np.int64),
        used=np.zeros(2, np.int64),
        **room_for(room),
    )


def room_for(room: int) -> dict[str, Array]:
    """Return the arrays of results, for `room` tables and pairs."""
    return {name: np.zeros(room, np.int32) for name in ("n_jt", "k_jt", "n_pairs", "term", "number")}


@kernel
def update_cells(key, cells, state, tables, measure, scratch, m_j, first_document, begin, end):
    """Sample the topics of the words of documents `begin` to `end`, then their tables.

    Returns the first document without enough room for its tables or pairs, or `end`; documents before it are
    done. k_jt holds columns. The documents may be part of a larger corpus, in which the first has the number
    `first_document`.
    """
    moving = measure.sizes[0]
    for j in range(begin, end):
        start_stream(scratch.stream, key, first_document + j)
        n_entries = _enter(state, tables, measure, scratch, j)
        n_active = _draw_weights(state.concentrations[ALPHA], measure.beta, moving, scratch)
        n_entries = _divide_cells(cells, measure.phi, n_active, scratch, j, n_entries)
        m_j[j] = seat_words(state.concentrations[ALPHA], measure.beta, moving, scratch, n_entries)
        if m_j[j] < 0:
            return j
    return end


@kernel
def start_cells(key, cells, phi, steps, scratch, m_j, first_document, begin, end):
    """Sample the topic of every word for the first time; each topic of a document has one table.

    A word of term v has topic k with probability proportional to theta_jk phi_vk. theta_j is fitted in
    `steps` steps of EM, except for the last topic, which has weight 1 and takes words that fit no other
    topic.
    """
    n_topics = phi.shape[1] - 1
    theta, expected, beta = scratch.theta, scratch.tree, scratch.theta
    for j in range(begin, end):
        start_stream(scratch.stream, key, first_document + j)
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
        m_j[j] = seat_words(0.0, beta, n_topics + 1, scratch, n_entries)
        if m_j[j] < 0:
            return j
    return end


@helper
def _enter(state, tables, measure, scratch, j):
    """Count the words of a document that may move, by column; list the others, and return their number."""
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
    """Draw theta, up to its sum, and list the columns with positive weight; return their number.

    Most topics without words in the document have a weight below the smallest double, which counts as 0.
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
    """Sample the columns of the words of every cell that may move; return the new number of entries."""
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
    """Return the leaf below a node that contains u, never one with weight 0."""
    while node < n_leaves:
        node *= 2
        # Without a branch, which would be mispredicted half of the time.
        goes_right = np.int64((u >= tree[node]) & (tree[node + 1] > 0.0))
        u -= tree[node] * goes_right
        node += goes_right
    return node
