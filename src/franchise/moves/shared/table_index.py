"""Which tables each topic has, and where the words of each table are: what table move and trials work from.

The words of every document are laid out table by table, equal terms of a table side by side: a table is then
a list of terms with counts, read in one pass and in no more memory than its words. The table move lays out a
document when it comes to it. Split-merge changes neither words nor tables, so it reads what the table move
has left; its own list of tables by topic is made once per sweep, in time proportional to the number of
tables, and again after an accepted trial: those are rare, and lists kept up to date through all other moves
would cost more. Where the table move has left out documents, `moves.gather_tables` lists tables instead.
"""

from franchise._jit import helper, inlined
from franchise.model.state import NUMBERED


@helper
def lay_out_document(corpus, state, scratch, j):
    """Lay the words of document j table by table, equal terms together; table t ends at table_end[t]."""
    first = corpus.doc_ptr[j]
    if scratch.pair_ptr.size:  # as they always are
        return
    begin = first
    for t in range(state.m_j[j]):
        scratch.table_end[t] = begin
        begin += state.n_jt[first + t]
    for i in range(first, corpus.doc_ptr[j + 1]):
        t = state.t_ji[i]
        scratch.table_words[scratch.table_end[t]] = corpus.x[i]
        scratch.table_end[t] += 1
    begin = first
    for t in range(state.m_j[j]):
        if scratch.table_end[t] - begin > 2:  # of two, equal ones stand together already
            group_terms(scratch.table_words, scratch.count_v, scratch.terms, begin, scratch.table_end[t])
        begin = scratch.table_end[t]


@helper
def table_span(state, scratch, slot, t):
    """Return where the words of table t, at `slot`, begin and end, in the document that was laid out last."""
    if scratch.pair_ptr.size:
        return scratch.pair_ptr[slot], scratch.pair_ptr[slot + 1]
    return scratch.table_end[t] - state.n_jt[slot], scratch.table_end[t]


@helper
def group_terms(words, count_v, terms, begin, end):
    """Put equal terms of words[begin:end] side by side, in the order of their first words.

    `count_v`, on the term axis, is 0 before and after; `terms` has room for all terms of a table.
    """
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


@inlined
def index_tables(corpus, state, trial):
    """Fill in the tables of each topic."""
    start = 0
    for k in range(state.totals[NUMBERED]):
        trial.start_k[k] = start
        start += state.m_k[k]
    for j in range(state.m_j.size):
        first = corpus.doc_ptr[j]
        begin = first
        for slot in range(first, first + state.m_j[j]):
            k = state.k_jt[slot]
            position = trial.start_k[k]
            trial.start_k[k] += 1
            trial.slot[position] = slot
            if trial.pair_ptr.size:
                trial.begin[position], trial.end[position] = trial.pair_ptr[slot], trial.pair_ptr[slot + 1]
                continue
            trial.begin[position] = begin
            begin += state.n_jt[slot]
            trial.end[position] = begin
    for k in range(state.totals[NUMBERED]):
        trial.start_k[k] -= state.m_k[k]


@helper
def square_topics(state, squares_k):
    """Add up the squared counts of every topic."""
    squares_k[: state.totals[NUMBERED]] = 0.0
    for v in range(state.row_len.size):
        first = state.row_ptr[v]
        for place in range(first, first + state.row_len[v]):
            count = float(state.row_n[place])
            squares_k[state.row_k[place]] += count * count
