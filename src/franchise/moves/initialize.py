"""Where a chain starts: words seated one after another, or topics drawn at random.

The sequential start (the paper's section 4, "sequential prediction") draws every word's table and
topic given the words before it: that is the word move on a franchise that is still empty, its
documents in random order.
"""

from franchise._jit import kernel
from franchise.moves.shared.first_tables import take_table
from franchise.random import integer, shuffle, start_stream


@kernel
def shuffle_documents(key, stream, documents):
    """Put the documents in random order."""
    # No document has this number, so no word's stream is touched.
    start_stream(stream, key, documents.size)
    shuffle(stream, documents)


@kernel
def draw_topics(key, corpus, state, stream, table, first_document):
    """Set t_ji, k_jt, m_j: a random topic for each word, one table per topic in each document.

    `table`, filled with -1, is as long as there are topics to draw from. The documents may be some of a
    larger corpus, in which the first has the number `first_document`.
    """
    for j in range(state.m_j.size):
        start_stream(stream, key, first_document + j)
        first, end = corpus.doc_ptr[j], corpus.doc_ptr[j + 1]
        n_tables = 0
        for i in range(first, end):
            t = take_table(state, first, integer(stream, table.size), table, n_tables)
            n_tables = max(n_tables, t + 1)
            state.t_ji[i] = t
        state.m_j[j] = n_tables
