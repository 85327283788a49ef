"""Which tables each topic has, and where the words of each table are: what split-merge works from.

Split-merge changes neither words nor tables, so the index is made once a sweep, in time proportional to
the number of tables, and again after an accepted trial: those are rare, and lists kept up to date
through all other moves would cost more. The words of the tables are laid out by the table move, which
needs them as well.
"""

from franchise._jit import kernel, part
from franchise.model.state import NUMBERED
from franchise.moves.table_topics import sort_words_by_table


@kernel
def sort_words(corpus, state, tables):
    """Lay the words of all documents table by table, as the table move leaves them."""
    for j in range(state.m_j.size):
        sort_words_by_table(corpus, state, tables, j)


@part
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
            trial.begin[position] = begin
            trial.size[position] = state.n_jt[slot]
            begin += state.n_jt[slot]
    for k in range(state.totals[NUMBERED]):
        trial.start_k[k] -= state.m_k[k]


@part
def square_topics(state, trial):
    """Add up the squared counts of every topic."""
    trial.squares_k[: state.totals[NUMBERED]] = 0.0
    for v in range(state.row_len.size):
        first = state.row_ptr[v]
        for place in range(first, first + state.row_len[v]):
            count = float(state.row_n[place])
            trial.squares_k[state.row_k[place]] += count * count
