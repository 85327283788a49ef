"""The words of a document table by table, equal terms of a table side by side.

A table is then a list of terms with counts, read in one pass and in no more memory than its words. The table
move lays out every document when it comes to it, `moves.gather_tables` the tables that it lists.
"""

from franchise._jit import helper


@helper
def lay_out(corpus, state, j, words, table_end, count_v, terms):
    """Put the words of each table t of document j in `words` from ``table_end[t]`` on, where it is not -1.

    Then they end there. `count_v`, on the term axis, is 0 before and after; `terms` has room for all terms of
    a table.
    """
    first = corpus.doc_ptr[j]
    for i in range(first, corpus.doc_ptr[j + 1]):
        place = table_end[state.t_ji[i]]
        if place >= 0:
            words[place] = corpus.x[i]
            table_end[state.t_ji[i]] = place + 1
    for t in range(state.m_j[j]):
        end, n = table_end[t], state.n_jt[first + t]
        if end >= 0 and n > 2:  # of two, equal ones stand together already
            group_terms(words, count_v, terms, end - n, end)


@helper
def group_terms(words, count_v, terms, begin, end):
    """Put equal terms of words[begin:end] side by side, in the order of their first words."""
    n_terms = 0
    for i in range(begin, end):
        v = words[i]
        if count_v[v] == 0:
            terms[n_terms] = v
            n_terms += 1
        count_v[v] += 1
    if n_terms == end - begin:
        for i in range(begin, end):
            count_v[words[i]] = 0
        return
    i = begin
    for e in range(n_terms):
        v = terms[e]
        for _ in range(count_v[v]):
            words[i] = v
            i += 1
        count_v[v] = 0
