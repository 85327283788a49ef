"""Sample the topics of all words given G_0, document by document, and seat the words again.

Given G_0, documents are independent: word i of document j has topic k with probability proportional to::

    (n_jk + alpha beta_k) phi_kv

The first part has a term for every topic of the document, and the second does not depend on the document. A
document may update its words several times for one G_0. This pays if instantiating G_0 takes longer than one
update of all words.
"""

from typing import NamedTuple

import numpy as np

from franchise._arrays import Array
from franchise._jit import helper, kernel, prefetch
from franchise.moves.shared.seats import Seats, new_seats, seat
from franchise.random import start_stream, uniform


class DocumentScratch(NamedTuple):
    """Working memory of one thread; columns are those of the measure."""

    stream: Array
    z: Array  # column of each word of the present document
    # Column axis.
    slot: Array  # of each column in `here`, or -1
    words_c: Array  # words and tables of each column in all documents so far
    tables_c: Array
    # Topics of the present document.
    here: Array  # their columns
    n: Array  # float64: their words
    sums: Array
    seats: Seats


def new_document_scratch(longest: int, n_columns: int) -> DocumentScratch:
    """Allocate working memory for documents of at most `longest` words."""
    topics = longest  # topics without words are not listed
    return DocumentScratch(
        stream=np.zeros(4, np.uint64),
        z=np.zeros(longest, np.int32),
        slot=np.full(n_columns, -1, np.int32),
        words_c=np.zeros(n_columns, np.int64),
        tables_c=np.zeros(n_columns, np.int64),
        here=np.zeros(topics, np.int32),
        n=np.zeros(topics),
        sums=np.zeros(topics),
        seats=new_seats(longest),
    )


@kernel
def update_documents(key, corpus, state, measure, passes, scratch, counts, z_all, first_document, begin, end):
    """Sample the topics of the words of documents `begin` to `end`, then their tables.

    The documents may be part of a larger corpus, in which the first has the number `first_document`. Tables
    have columns instead of topic numbers. The words are counted in `counts` (term, column), or their columns
    are listed in `z_all` (word axis): whichever of these is not empty.
    """
    for j in range(begin, end):
        first, last = corpus.doc_ptr[j], corpus.doc_ptr[j + 1]
        if first == last:
            continue
        start_stream(scratch.stream, key, first_document + j)
        n_here, n_resting = _enter(state, measure, scratch, first, last, state.m_j[j])
        for _ in range(passes):
            n_here = _draw_topics(corpus, measure, scratch, first, last, n_here)
        if n_resting > 0:
            n_here = _list_resting(measure, scratch, last - first, n_here)
        _note(corpus, scratch, counts, z_all, first, last)
        state.m_j[j] = seat(state, measure, scratch, first, last, n_here)
        for s in range(n_here):
            c = scratch.here[s]
            scratch.words_c[c] += np.int64(scratch.n[s])
            scratch.slot[c] = -1


@helper
def _enter(state, measure, scratch, first, last, m_j):
    """Look up the columns of a document's words; list those that move.

    Returns the number of listed columns, and the number of words in others.
    """
    n_here, n_resting, moving = 0, 0, measure.sizes[0]
    for t in range(first, first + m_j):
        c = measure.column[state.k_jt[t]]
        state.k_jt[t] = c
        if c >= moving:
            n_resting += state.n_jt[t]
            continue
        s = scratch.slot[c]
        if s < 0:
            s = n_here
            n_here = _list(scratch, c, n_here)
        scratch.n[s] += float(state.n_jt[t])
    for i in range(first, last):
        scratch.z[i - first] = state.k_jt[first + state.t_ji[i]]
    return n_here, n_resting


@helper
def _list(scratch, c, n_here):
    scratch.slot[c] = n_here
    scratch.here[n_here] = c
    scratch.n[n_here] = 0.0
    return n_here + 1


@helper
def _draw_topics(corpus, measure, scratch, first, last, n_here):
    """Sample the column of every word that may move; return the new number of listed topics."""
    moving = np.int64(measure.sizes[0])
    here, n, sums, z = scratch.here, scratch.n, scratch.sums, scratch.z
    for i in range(first, last):
        c = np.int64(z[i - first])
        if c >= moving:
            continue
        s = int(scratch.slot[c])
        n[s] -= 1.0
        if n[s] == 0.0:  # the last entry takes its place
            n_here -= 1
            scratch.slot[c] = -1
            if s < n_here:
                here[s] = here[n_here]
                n[s] = n[n_here]
                scratch.slot[here[s]] = s
        v = corpus.x[i]
        phi, ahead = measure.phi[v], measure.phi[corpus.x[min(i + 1, last - 1)]]
        own = 0.0
        for s in range(n_here):
            prefetch(ahead, here[s])
            own += n[s] * phi[here[s]]
            sums[s] = own
        u = uniform(scratch.stream) * (own + measure.total[v])
        if u < own:
            s = 0
            for other in range(n_here):  # without a branch, which would be mispredicted
                s += sums[other] <= u
            c = np.int64(here[s])
        else:
            c = _search(measure.rest[v], moving, u - own)
            s = int(scratch.slot[c])
            if s < 0:
                s = n_here
                n_here = _list(scratch, c, n_here)
        n[s] += 1.0
        z[i - first] = c
    return n_here


@helper
def _search(sums, size, u):
    """Return the first place whose sum exceeds u, never one that adds nothing."""
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
def _list_resting(measure, scratch, length, n_here):
    """List also the topics of a document that do not move."""
    for i in range(length):
        c = scratch.z[i]
        if c >= measure.sizes[0]:
            if scratch.slot[c] < 0:
                n_here = _list(scratch, c, n_here)
            scratch.n[scratch.slot[c]] += 1.0
    return n_here


@helper
def _note(corpus, scratch, counts, z_all, first, last):
    """Record the columns of a document's words, for the rows of terms."""
    if counts.size > 0:
        for i in range(first, last):
            counts[corpus.x[i], scratch.z[i - first]] += 1
    else:
        for i in range(first, last):
            z_all[i] = scratch.z[i - first]
