"""Draw the topics of all words given G_0, document by document, and seat the words again.

Given G_0 documents are independent: word i of document j has topic k with probability proportional to::

    (n_jk + alpha beta_k) phi_kv

of which the first part has a term for every topic that the document has, and the second does not depend on
the document. Afterwards the words of one topic in one document sit at tables as in a Chinese restaurant with
the concentration alpha beta_k: the next of n has a table of its own with probability alpha beta_k / (alpha
beta_k + n), else that of one of the n before. So the next new table is where the product of n / (alpha beta_k
+ n) falls below a uniform number: one number per table, not per word.
"""

from typing import NamedTuple

import numpy as np

from franchise._jit import helper, kernel
from franchise.model.state import ALPHA, Array
from franchise.random import integer, start_stream, uniform


class DocumentScratch(NamedTuple):
    """Working memory of one thread."""

    stream: Array
    # Column axis.
    slot: Array  # of each column in `here`, or -1
    words_c: Array  # words and tables of each column in all documents seen
    tables_c: Array
    # Topics of the document at hand.
    here: Array  # their columns
    n: Array  # float64: words that they have
    sums: Array
    seated: Array  # words that have a seat
    first_table: Array
    survival: Array  # probability that no other table was opened up to here
    threshold: Array  # and where it ends
    next_table: Array  # table axis: the next of the same topic, or -1


def new_document_scratch(longest: int, n_columns: int) -> DocumentScratch:
    """Allocate working memory for documents of up to so many words."""
    topics = longest  # a topic that has lost its last word is not listed any more
    return DocumentScratch(
        stream=np.zeros(4, np.uint64),
        slot=np.full(n_columns, -1, np.int32),
        words_c=np.zeros(n_columns, np.int64),
        tables_c=np.zeros(n_columns, np.int64),
        here=np.zeros(topics, np.int32),
        n=np.zeros(topics),
        sums=np.zeros(topics),
        seated=np.zeros(topics, np.int32),
        first_table=np.zeros(topics, np.int32),
        survival=np.zeros(topics),
        threshold=np.zeros(topics),
        next_table=np.zeros(longest, np.int32),
    )


@kernel
def update_documents(key, corpus, state, measure, z, scratch, begin, end):
    """Draw the topics of the words of documents `begin` to `end`, then their tables.

    `z` becomes the column of every word; k_jt holds columns until they have numbers.
    """
    for j in range(begin, end):
        first, last = corpus.doc_ptr[j], corpus.doc_ptr[j + 1]
        if first == last:
            continue
        start_stream(scratch.stream, key, j)
        n_here = _enter(state, measure, z, scratch, first, last)
        n_here = _draw_topics(corpus, measure, z, scratch, first, last, n_here)
        if n_here < 0:
            n_here = _list_resting(measure, z, scratch, first, last, -1 - n_here)
        state.m_j[j] = _seat(state, measure, z, scratch, first, last, n_here)
        for s in range(n_here):
            scratch.slot[scratch.here[s]] = -1


@helper
def _enter(state, measure, z, scratch, first, last):
    """Look up the columns of a document's words; list those that move, and return how many there are."""
    n_here, moving = 0, measure.sizes[0]
    for i in range(first, last):
        c = measure.column[state.k_jt[first + state.t_ji[i]]]
        z[i] = c
        if c < moving:
            s = scratch.slot[c]
            if s < 0:
                s = n_here
                n_here = _list(scratch, c, n_here)
            scratch.n[s] += 1.0
    return n_here


@helper
def _list(scratch, c, n_here):
    scratch.slot[c] = n_here
    scratch.here[n_here] = c
    scratch.n[n_here] = 0.0
    return n_here + 1


@helper
def _draw_topics(corpus, measure, z, scratch, first, last, n_here):
    """Draw the column of every word that may move; return how many topics are listed now.

    Where there are others, which do not move, it is -1 less that number.
    """
    moving, some_rest = np.int64(measure.sizes[0]), False
    here, n, sums = scratch.here, scratch.n, scratch.sums
    for i in range(first, last):
        c = np.int64(z[i])
        if c >= moving:
            some_rest = True
            continue
        s = scratch.slot[c]
        n[s] -= 1.0
        if n[s] == 0.0:  # the last one takes its place
            n_here -= 1
            scratch.slot[c] = -1
            if s < n_here:
                here[s] = here[n_here]
                n[s] = n[n_here]
                scratch.slot[here[s]] = s
        v = corpus.x[i]
        phi = measure.phi[v]
        own = 0.0
        for s in range(n_here):
            own += n[s] * phi[here[s]]
            sums[s] = own
        u = uniform(scratch.stream) * (own + measure.total[v])
        if u < own:
            s = 0
            while u >= sums[s]:
                s += 1
            c = np.int64(here[s])
        else:
            c = _search(measure.rest[v], moving, u - own)
            s = scratch.slot[c]
            if s < 0:
                s = n_here
                n_here = _list(scratch, c, n_here)
        n[s] += 1.0
        z[i] = c
    return -1 - n_here if some_rest else n_here


@helper
def _list_resting(measure, z, scratch, first, last, n_here):
    """List the topics of a document that do not move, too."""
    for i in range(first, last):
        if z[i] >= measure.sizes[0] and scratch.slot[z[i]] < 0:
            n_here = _list(scratch, z[i], n_here)
    return n_here


@helper
def _search(sums, size, u):
    """Return the first place whose sum is above u, never one that adds nothing."""
    last = sums[size - 1]
    low, high = 0, size - 1
    if u >= last:  # by rounding
        while low < high:
            middle = (low + high) // 2
            if sums[middle] >= last:
                high = middle
            else:
                low = middle + 1
        return low
    while low < high:
        middle = (low + high) // 2
        if sums[middle] > u:
            high = middle
        else:
            low = middle + 1
    return low


@helper
def _seat(state, measure, z, scratch, first, last, n_here):
    """Seat the words of a document; return its number of tables."""
    alpha, tables = state.concentrations[ALPHA], 0
    for s in range(n_here):
        scratch.seated[s] = 0
    for i in range(first, last):
        c = z[i]
        s = scratch.slot[c]
        before = scratch.seated[s]
        is_new = before == 0
        if not is_new:
            scratch.survival[s] *= before / (alpha * measure.beta[c] + before)
            is_new = scratch.survival[s] < scratch.threshold[s]
        if is_new:
            t = tables
            tables += 1
            scratch.next_table[t] = scratch.first_table[s] if before else -1
            scratch.first_table[s] = t
            scratch.survival[s] = 1.0
            scratch.threshold[s] = uniform(scratch.stream)
            state.k_jt[first + t] = c
            state.n_jt[first + t] = 0
            scratch.tables_c[c] += 1
        else:
            t = scratch.first_table[s]
            if scratch.next_table[t] >= 0:  # that of one of those before, any with the same probability
                u = integer(scratch.stream, before)
                while u >= state.n_jt[first + t]:
                    u -= state.n_jt[first + t]
                    t = scratch.next_table[t]
        state.t_ji[i] = t
        state.n_jt[first + t] += 1
        scratch.seated[s] = before + 1
    for s in range(n_here):
        scratch.words_c[scratch.here[s]] += scratch.seated[s]
    return tables


@kernel
def recount_terms(state, z, places, number, count, begin, end):
    """Fill in the rows of terms `begin` to `end`; `places` lists the words of each term.

    `number` has the topic number of every column; `count`, on the column axis, is 0 between uses.
    """
    for v in range(begin, end):
        first, length = state.row_ptr[v], 0
        for p in range(first, state.row_ptr[v + 1]):
            c = z[places[p]]
            if count[c] == 0:
                state.row_k[first + length] = c
                length += 1
            count[c] += 1
        state.row_len[v] = length
        for pair in range(first, first + length):
            c = state.row_k[pair]
            state.row_n[pair] = count[c]
            state.row_k[pair] = number[c]
            count[c] = 0


@kernel
def number_tables(corpus, state, number, begin, end):
    """Give the tables of documents `begin` to `end` the numbers of their topics, for the columns."""
    for j in range(begin, end):
        first = corpus.doc_ptr[j]
        for slot in range(first, first + state.m_j[j]):
            state.k_jt[slot] = number[state.k_jt[slot]]


@kernel
def list_places(x, next_place, places):
    """List the words of each term; `next_place` is where each term's list begins."""
    for i in range(x.size):
        places[next_place[x[i]]] = i
        next_place[x[i]] += 1
