"""Recount the words of every term by topic, after all words may have changed their topics.

Either the threads have counted their own words, or the columns of all words are listed, and the words of each
term are looked up: slower, but in memory that does not grow with topics and threads.
"""

from franchise._jit import helper, kernel


@kernel
def add_up_counts(state, counts, columns, begin, end):
    """Fill in the rows of terms `begin` to `end` from the counts of all threads, which become 0.

    `columns` has the column of every topic; other columns have no words.
    """
    for v in range(begin, end):
        total = counts[0, v]
        for thread in range(1, counts.shape[0]):
            for c in columns:
                total[c] += counts[thread, v, c]
                counts[thread, v, c] = 0
        _fill_row(state, total, columns, v)


@kernel
def fill_rows(state, dense, columns, begin, end):
    """Fill in the rows of terms `begin` to `end` from `dense`, by column, which becomes 0.

    The first row of `dense` is that of `begin`.
    """
    for v in range(begin, end):
        _fill_row(state, dense[v - begin], columns, v)


@kernel
def recount_terms(state, term_ptr, z_all, places, columns, count, begin, end):
    """Fill in the rows of terms `begin` to `end`; `places` lists the words of each term from term_ptr[v] on.

    `count`, on the column axis, is 0 between uses.
    """
    for v in range(begin, end):
        for p in range(term_ptr[v], term_ptr[v + 1]):
            count[z_all[places[p]]] += 1
        _fill_row(state, count, columns, v)


@helper
def _fill_row(state, count, columns, v):
    first, length = state.row_ptr[v], 0
    for k in range(columns.size):
        c = columns[k]
        if count[c] > 0:
            state.row_k[first + length] = k
            state.row_n[first + length] = count[c]
            count[c] = 0
            length += 1
    state.row_len[v] = length


@kernel
def number_tables(corpus, state, number, begin, end):
    """Replace columns by topic numbers in the tables of documents `begin` to `end`."""
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


@kernel
def recount_cells(state, k_jt, tables, counts):
    """Fill in the rows of all terms from tables of topics k_jt; `counts` (term, topic) is 0."""
    for slot in range(k_jt.size):
        k = k_jt[slot]
        for pair in range(tables.pair_ptr[slot], tables.pair_ptr[slot + 1]):
            counts[tables.term[pair], k] += tables.words[pair]
    for v in range(state.row_len.size):
        place = state.row_ptr[v]
        for k in range(counts.shape[1]):
            if counts[v, k] > 0:
                state.row_k[place] = k
                state.row_n[place] = counts[v, k]
                place += 1
        state.row_len[v] = place - state.row_ptr[v]
