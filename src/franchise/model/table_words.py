"""The words of tables: table by table in one document, or of all tables of some topics.

Equal terms of a table are next to each other, so a table is a list of terms with counts, read in one pass and
without extra memory. The tables of topics are listed in one pass over documents, without an index of all
tables. Documents can be divided into ranges, for threads or machines: the lists of all ranges, in order, are
the list of one pass.
"""

from typing import NamedTuple

import numpy as np

from franchise._arrays import Array
from franchise._jit import helper, kernel


@helper
def lay_out(corpus, state, j, words, table_end, count_v, terms):
    """Put the words of each table t of document j in `words` from ``table_end[t]`` on, unless that is -1.

    ``table_end[t]`` then is where they end. `count_v`, on the term axis, is 0 before and after; `terms` has
    room for all terms of a table.
    """
    first = corpus.doc_ptr[j]
    for i in range(first, corpus.doc_ptr[j + 1]):
        place = table_end[state.t_ji[i]]
        if place >= 0:
            words[place] = corpus.x[i]
            table_end[state.t_ji[i]] = place + 1
    for t in range(state.m_j[j]):
        end, n = table_end[t], state.n_jt[first + t]
        if end >= 0 and n > 2:  # two equal words are next to each other already
            group_terms(words, count_v, terms, end - n, end)


@helper
def group_terms(words, count_v, terms, begin, end):
    """Put equal terms of words[begin:end] next to each other, in the order of their first words."""
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


class GatherScratch(NamedTuple):
    """Working memory of a thread that lists tables."""

    table_end: Array  # table axis of a document: where its next word goes, -1 for a table not requested
    count_v: Array  # term axis, 0 between uses
    terms: Array  # distinct terms of the present table


def new_gather_scratch(n_terms: int, longest: int) -> GatherScratch:
    """Allocate working memory for documents of at most `longest` words."""
    return GatherScratch(
        np.zeros(longest, np.int64), np.zeros(n_terms, np.int32), np.zeros(longest, np.int32)
    )


@helper
def _column_of(state, column, slot):
    """Return the column of the topic of a table, -1 if it is not requested."""
    k = state.k_jt[slot]
    return column[k] if k < column.size else np.int32(-1)


@kernel
def count_tables(corpus, state, column, counts, begin, end):
    """Add to counts[column[k]] the tables and words of topic k in documents `begin` to `end`.

    `column` is -1 for topics that are not requested, and ends with the last one that is.
    """
    for j in range(begin, end):
        first = corpus.doc_ptr[j]
        for slot in range(first, first + state.m_j[j]):
            c = _column_of(state, column, slot)
            if c >= 0:
                counts[c, 0] += 1
                counts[c, 1] += state.n_jt[slot]


@kernel
def list_tables(corpus, state, column, at, slots, sizes, words, own, begin, end):
    """List the tables of topics in documents `begin` to `end`: slots, sizes, words.

    ``at[column[k]]`` has the places where the tables and the words of topic k begin, and then where they end.
    """
    for j in range(begin, end):
        first = corpus.doc_ptr[j]
        is_asked_for = False
        for t in range(state.m_j[j]):
            c = _column_of(state, column, first + t)
            own.table_end[t] = -1
            if c >= 0:
                is_asked_for = True
                slots[at[c, 0]] = first + t
                sizes[at[c, 0]] = state.n_jt[first + t]
                own.table_end[t] = at[c, 1]
                at[c, 0] += 1
                at[c, 1] += state.n_jt[first + t]
        if is_asked_for:
            lay_out(corpus, state, j, words, own.table_end, own.count_v, own.terms)


@kernel
def group_tables(words, ends, own, begin, end):
    """Lay out the words of listed tables `begin` to `end`: equal terms next to each other."""
    for table in range(begin, end):
        if ends[table + 1] - ends[table] > 2:
            group_terms(words, own.count_v, own.terms, ends[table], ends[table + 1])
