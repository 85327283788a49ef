"""The counts n_kv and n_jk of a state as sparse rows, computed from tables and rows instead of words.

Each function fills three arrays in the form of ``scipy.sparse.csr_array``: `counts`, `columns`, in increasing
order within a row, and `row_ptr`.
"""

import numpy as np

from franchise._jit import kernel
from franchise.model.state import NUMBERED


@kernel
def count_topic_terms(state, rank, row_ptr, columns, counts):
    """Count the words of every topic, term by term; topic k is row rank[k].

    There are as many pairs as in the rows of all terms.
    """
    row_ptr[:] = 0
    for v in range(state.row_len.size):
        first = state.row_ptr[v]
        for pair in range(first, first + state.row_len[v]):
            row_ptr[rank[state.row_k[pair]] + 1] += 1
    for row in range(row_ptr.size - 1):
        row_ptr[row + 1] += row_ptr[row]
    # Terms come in increasing order, so columns do too. The beginning of each row moves to its end.
    for v in range(state.row_len.size):
        first = state.row_ptr[v]
        for pair in range(first, first + state.row_len[v]):
            row = rank[state.row_k[pair]]
            columns[row_ptr[row]] = v
            counts[row_ptr[row]] = state.row_n[pair]
            row_ptr[row] += 1
    for row in range(row_ptr.size - 1, 0, -1):
        row_ptr[row] = row_ptr[row - 1]
    row_ptr[0] = 0


@kernel
def count_document_topics(corpus, state, rank, row_ptr, columns, counts):
    """Count the words of every document, topic by topic; topic k is column rank[k].

    There are at most as many pairs as tables; `row_ptr` has the number.
    """
    n_pairs = 0
    row_ptr[0] = 0
    for j in range(state.m_j.size):
        begin = n_pairs
        first = corpus.doc_ptr[j]
        for slot in range(first, first + state.m_j[j]):
            column = rank[state.k_jt[slot]]
            # A document has few topics: insertion sort.
            place = n_pairs
            while place > begin and columns[place - 1] > column:
                place -= 1
            if place > begin and columns[place - 1] == column:
                counts[place - 1] += state.n_jt[slot]
                continue
            for i in range(n_pairs, place, -1):
                columns[i] = columns[i - 1]
                counts[i] = counts[i - 1]
            columns[place] = column
            counts[place] = state.n_jt[slot]
            n_pairs += 1
        row_ptr[j + 1] = n_pairs


def ranks(state, topics):
    """Return the place in `topics` of each topic number, int64; 0 for numbers not listed."""
    rank = np.zeros(max(1, int(state.totals[NUMBERED])), np.int64)
    rank[topics] = np.arange(len(topics))
    return rank
