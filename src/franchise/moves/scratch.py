"""The working memory of the moves: allocated once, so that kernels allocate nothing.

Nothing here outlives a move but the tables that follow eta, and, when a kernel handed
back for want of topic numbers, the cursor, stream and sums with which it goes on.
"""

from typing import NamedTuple

import numpy as np

from franchise._jit import kernel
from franchise.corpus import CorpusArrays
from franchise.model.likelihood import MOST_TABULATED, fill_log_gamma
from franchise.model.state import ETA, Array, State

# Places in scratch.cursor: position in the list of documents; the word or table of that document to
# go on with; how many topics of the document are listed.
DOCUMENT, INSIDE, N_HERE = 0, 1, 2
NOT_ENTERED = -1
_SMALL_TABLE = 24  # words: the table move keeps weights ready for tables up to this size


class Scratch(NamedTuple):
    """Arrays that moves may scribble on."""

    stream: Array  # uint64[4]: the random stream in use
    cursor: Array  # int64[3]: where a kernel stands
    documents: Array  # document: the order in which documents are visited
    sums: Array  # float64[2]: A = sum_k m_k w_k and B = sum_k n_jk w_k of the word move
    # Topic axis.
    w_k: Array  # 1 / (n_k + V eta)
    mw_k: Array  # m_k w_k
    nw_k: Array  # n_jk w_k of the document at hand, 0 elsewhere
    p_k: Array  # (n_jk + c m_k) w_k
    n_jk: Array  # words of the document at hand, 0 elsewhere
    table_k: Array  # a table of the document at hand that may serve the topic
    here: Array  # the topics of the document at hand
    here_place: Array  # where a topic stands in `here`
    weight: Array  # weights, cumulated or in logarithms
    shared: Array  # table move: factor of the terms that a table shares with the topic, else 1
    log_shared: Array  # table move: its logarithm, for large tables, else 0
    log_x: Array  # table move: log(n_k + V eta)
    sizes: Array  # concentrations: the n of the density
    times: Array  # and how often each stands there
    # Term axis.
    count_v: Array
    # As long as the longest document.
    table_end: Array  # end of each table's words in table_words
    table_words: Array  # the document's terms, table by table
    terms: Array  # distinct terms of a table
    counts: Array  # and how often each occurs there
    # Concentrations.
    lengths: Array  # the different document lengths, 0 apart
    documents_of_length: Array  # how many documents have each
    histogram: Array  # how many pairs n_kv have a count
    # Tables that follow eta (see `model.likelihood`).
    lg: Array  # lnG(n + eta)
    lgv: Array  # lnG(n + V eta)
    ratio: Array  # (n + eta) / eta
    base: Array  # (n, topic): table move: m_k / [x_k ... (x_k + n - 1)], x_k = n_k + V eta


_TOPIC_AXIS = (
    *("w_k", "mw_k", "nw_k", "p_k", "n_jk", "table_k", "here", "here_place"),
    *("weight", "log_shared", "log_x", "sizes", "times"),
)


def new_scratch(corpus: CorpusArrays, state: State) -> Scratch:
    """Allocate working memory for a state and fill the tables for its eta."""
    capacity, n_words = state.n_k.size, corpus.x.size
    n_j = np.diff(corpus.doc_ptr)
    longest = int(n_j.max(initial=0))
    lengths, documents_of_length = np.unique(n_j[n_j > 0], return_counts=True)
    largest_count = int(np.diff(state.row_ptr).max(initial=0))
    scratch = Scratch(
        stream=np.zeros(4, np.uint64),
        cursor=np.array([0, NOT_ENTERED, 0]),
        documents=np.arange(state.m_j.size, dtype=np.int64),
        sums=np.zeros(2),
        w_k=np.zeros(capacity),
        mw_k=np.zeros(capacity),
        nw_k=np.zeros(capacity),
        p_k=np.zeros(capacity),
        n_jk=np.zeros(capacity, np.int32),
        table_k=np.zeros(capacity, np.int32),
        here=np.zeros(capacity, np.int32),
        here_place=np.zeros(capacity, np.int32),
        weight=np.zeros(capacity),
        shared=np.ones(capacity),
        log_shared=np.zeros(capacity),
        log_x=np.zeros(capacity),
        sizes=np.zeros(capacity, np.int64),
        times=np.zeros(capacity, np.int64),
        count_v=np.zeros(corpus.n_terms, np.int32),
        table_end=np.zeros(longest, np.int32),
        table_words=np.zeros(longest, np.int32),
        terms=np.zeros(longest, np.int32),
        counts=np.zeros(longest, np.int32),
        lengths=lengths,
        documents_of_length=documents_of_length,
        histogram=np.zeros(largest_count + 1, np.int64),
        lg=np.zeros(largest_count + 1),
        lgv=np.zeros(min(n_words + 1, MOST_TABULATED)),
        ratio=np.zeros(largest_count + 1),
        base=np.zeros((min(_SMALL_TABLE, longest) + 1, capacity)),
    )
    fill_tables(state, scratch)
    return scratch


@kernel
def fill_tables(state, scratch):
    """Fill the tables for the state's eta; to be called whenever eta has changed."""
    eta = state.concentrations[ETA]
    fill_log_gamma(scratch.lg, eta)
    fill_log_gamma(scratch.lgv, state.row_len.size * eta)
    for n in range(scratch.ratio.size):
        scratch.ratio[n] = (n + eta) / eta


def grown_scratch(scratch: Scratch) -> Scratch:
    """Return the scratch with room for twice as many topics, contents kept."""
    wider = {
        name: np.concatenate([getattr(scratch, name), np.zeros_like(getattr(scratch, name))])
        for name in _TOPIC_AXIS
    }
    wider["shared"] = np.ones(2 * scratch.shared.size)
    wider["base"] = np.zeros((scratch.base.shape[0], 2 * scratch.base.shape[1]))
    return scratch._replace(**wider)
