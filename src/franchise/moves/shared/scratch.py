"""The working memory of the moves: allocated once, so that kernels allocate nothing.

Each move has its own tuple, because a helper with fifty arrays takes seconds to compile. Two things outlive a
move: the functions that depend on eta and, if a kernel stopped for lack of topic numbers, its position in the
present document, from which it continues.
"""

from typing import Any, NamedTuple

import numpy as np

from franchise._arrays import Array, CorpusArrays
from franchise._jit import kernel
from franchise.model.likelihood import MOST_TABULATED, fill_log_gamma
from franchise.model.state import ETA, State

# Places in a cursor: position in the list of documents; the next word or table of that document; the number
# of the document's listed topics.
DOCUMENT, INSIDE, N_HERE = 0, 1, 2
NOT_ENTERED = -1
# The most words of the topics of a split-merge trial together.
MOST_WORDS_OF_A_TRIAL = 20_000_000
_SMALL_TABLE = 24  # words: the table move tabulates weights for tables up to this size


class WordScratch(NamedTuple):
    """For the word move; all but the first four are on the topic axis."""

    stream: Array  # uint64[4]: the present random stream
    cursor: Array  # position of the kernel
    documents: Array  # the order in which documents are visited
    numbers: Array  # of these, in the whole corpus: streams are named by them
    sums: Array  # A = sum_k m_k w_k and B = sum_k n_jk w_k
    w_k: Array  # 1 / (n_k + V eta)
    mw_k: Array  # m_k w_k
    nw_k: Array  # n_jk w_k of the present document, 0 elsewhere
    p_k: Array  # (n_jk + c m_k) w_k
    n_jk: Array  # words of the present document, 0 elsewhere
    table_k: Array  # a table of the present document that may serve the topic
    here: Array  # the topics of the present document
    here_place: Array  # the place of a topic in `here`
    weight: Array


class TableScratch(NamedTuple):
    """For the table move."""

    stream: Array
    cursor: Array
    documents: Array
    numbers: Array
    # Topic axis.
    shared: Array  # factor of the terms that a table shares with the topic, else 1
    log_shared: Array  # its logarithm, for large tables, else 0
    log_x: Array  # log(n_k + V eta)
    weight: Array
    candidate: Array
    base: Array  # (n, topic): m_k / [x_k ... (x_k + n - 1)], x_k = n_k + V eta
    # The words of tables.
    table_words: Array  # the terms of the present document, table by table; or of all tables, with
    table_counts: Array  # the number of words of each, else empty, and
    pair_ptr: Array  # the beginning of each slot's, else empty
    table_end: Array  # end in table_words of each table of the present document
    count_v: Array  # term axis, 0 between uses
    terms: Array  # distinct terms of the present table
    # Tabulated functions that depend on eta (`model.likelihood`).
    lg: Array  # lnG(n + eta)
    lgv: Array  # lnG(n + V eta)
    ratio: Array  # (n + eta) / eta


class Listing(NamedTuple):
    """The tables of some topics, topic by topic, in increasing order of their slots."""

    start_k: Array  # topic axis: where the topic's tables begin, -1 if they are not listed
    slot: Array
    begin: Array  # where the table's words begin in table_words
    end: Array  # and where they end
    table_words: Array  # as `table_words` lays them out
    table_counts: Array  # empty, or the number of words of each of these


class TrialScratch(NamedTuple):
    """For split-merge: the tables and the two sides of a trial."""

    # Topic axis.
    squares_k: Array  # sum of the topic's squared counts
    weight: Array
    # Items are tables in random order, followed by the anchors a and b.
    item: Array  # positions in the listing
    side: Array  # int8: 0 with anchor a, 1 with anchor b
    kept: Array  # int8: sides to replay (merge), or of the proposed division (split)
    # The two sides.
    sizes: Array  # (side, 2): words and tables
    words: Array  # (term, side)
    seen: Array  # terms of the trial
    is_seen: Array
    # Shared with the table move.
    lg: Array
    lgv: Array


class ConcentrationScratch(NamedTuple):
    """For the concentrations."""

    stream: Array
    sizes: Array  # topic axis: the n of the density
    times: Array  # the power of each
    lengths: Array  # the different document lengths except 0
    documents_of_length: Array  # number of documents of each length
    histogram: Array  # number of counts n_kv with each value; empty if they are too large for that
    counts: Array  # the different counts, and the number of each
    times_counted: Array


class Scratch(NamedTuple):
    """Working memory of all moves, one tuple per move; a move receives its own."""

    words: WordScratch
    tables: TableScratch
    concentrations: ConcentrationScratch


_TOPIC_AXIS = {
    "words": ("w_k", "mw_k", "nw_k", "p_k", "n_jk", "table_k", "here", "here_place", "weight"),
    "tables": ("log_shared", "log_x", "weight", "candidate"),
    "concentrations": ("sizes", "times"),
}


def new_scratch(corpus: CorpusArrays, state: State) -> Scratch:
    """Allocate working memory for a state, and tabulate the functions of its eta."""
    n_j = np.diff(corpus.doc_ptr)
    largest_count = int(np.diff(state.row_ptr).max(initial=0))
    tables = _table_scratch(corpus, state, int(n_j.max(initial=0)), largest_count, corpus.x.size)
    return _scratch(corpus, state, tables, different_lengths(n_j), largest_count)


def new_scratch_for_counts(
    slots: CorpusArrays, state: State, lengths: tuple[Array, Array], largest_count: int
) -> Scratch:
    """Allocate working memory for a state whose tables hold counts (`model.cell_tables`).

    There is none for the words of tables: `with_counts` sets their terms and counts.
    """
    tables = _table_scratch(slots, state, 0, min(largest_count, MOST_TABULATED), int(lengths[0] @ lengths[1]))
    return _scratch(slots, state, tables, lengths, -1)


def new_scratch_for_some(
    corpus: CorpusArrays, state: State, lengths: tuple[Array, Array], largest_count: int
) -> Scratch:
    """Allocate working memory for a state with the counts of all documents and the seating of some.

    `lengths` has the different lengths of all documents and the number of documents of each;
    `largest_count` is the largest count of a term.
    """
    longest, n_words = int(lengths[0].max(initial=0)), int(lengths[0] @ lengths[1])
    tables = _table_scratch(corpus, state, longest, largest_count, n_words)
    return _scratch(corpus, state, tables, lengths, largest_count)


def different_lengths(n_j: Array) -> tuple[Array, Array]:
    """Return the different lengths of documents except 0, and the number of documents of each."""
    return np.unique(n_j[n_j > 0], return_counts=True)


def with_counts(scratch: Scratch, table_words: Array, table_counts: Array, pair_ptr: Array) -> Scratch:
    """Return the scratch for tables with these terms and counts."""
    held = {"table_words": table_words, "table_counts": table_counts, "pair_ptr": pair_ptr}
    return scratch._replace(tables=scratch.tables._replace(**held))


def _scratch(
    corpus: CorpusArrays,
    state: State,
    tables: TableScratch,
    lengths: tuple[Array, Array],
    largest_count: int,
) -> Scratch:
    capacity, stream = state.n_k.size, tables.stream
    scratch = Scratch(
        words=WordScratch(
            stream=stream,
            cursor=np.array([0, NOT_ENTERED, 0]),
            documents=np.arange(state.m_j.size, dtype=np.int64),
            numbers=np.arange(state.m_j.size, dtype=np.int64),
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
        ),
        tables=tables,
        concentrations=ConcentrationScratch(
            stream=stream,
            sizes=np.zeros(capacity, np.int64),
            times=np.zeros(capacity, np.int64),
            lengths=lengths[0],
            documents_of_length=lengths[1],
            histogram=np.zeros(largest_count + 1, np.int64),
            counts=np.zeros(max(0, largest_count), np.int64),
            times_counted=np.zeros(max(0, largest_count), np.int64),
        ),
    )
    follow_eta(state, tables)
    return scratch


def _table_scratch(
    corpus: CorpusArrays, state: State, longest: int, largest_count: int, n_words: int
) -> TableScratch:
    capacity = state.n_k.size
    return TableScratch(
        stream=np.zeros(4, np.uint64),
        cursor=np.array([0, NOT_ENTERED, 0]),
        documents=np.arange(corpus.doc_ptr.size - 1, dtype=np.int64),
        numbers=np.arange(corpus.doc_ptr.size - 1, dtype=np.int64),
        shared=np.ones(capacity),
        log_shared=np.zeros(capacity),
        log_x=np.zeros(capacity),
        weight=np.zeros(capacity),
        candidate=np.zeros(capacity, np.int32),
        base=np.zeros((min(_SMALL_TABLE, longest) + 1, capacity)),
        table_words=np.zeros(longest, np.int32),
        table_counts=np.zeros(0, np.int32),
        pair_ptr=np.zeros(0, np.int64),
        table_end=np.zeros(longest, np.int64),
        count_v=np.zeros(corpus.n_terms, np.int32),
        terms=np.zeros(longest, np.int32),
        lg=np.zeros(largest_count + 1),
        lgv=np.zeros(min(n_words + 1, MOST_TABULATED)),
        ratio=np.zeros(largest_count + 1),
    )


def new_trial_scratch(n_terms: int, lg: Array, lgv: Array) -> TrialScratch:
    """Allocate working memory for trials; `lg` and `lgv` are those of the table move."""
    return TrialScratch(
        squares_k=np.zeros(0),
        weight=np.zeros(0),
        **_items(0),
        sizes=np.zeros((2, 2), np.int64),
        words=np.zeros((n_terms, 2), np.int32),
        seen=np.zeros(n_terms, np.int32),
        is_seen=np.zeros(n_terms, np.bool_),
        lg=lg,
        lgv=lgv,
    )


def _items(n_tables: int) -> dict[str, Array]:
    return {
        "item": np.zeros(n_tables, np.int64),
        "side": np.zeros(n_tables, np.int8),
        "kept": np.zeros(n_tables, np.int8),
    }


def with_room_for_trials(own: TrialScratch, capacity: int, n_tables: int) -> TrialScratch:
    """Return the scratch with room for this number of topics, and of tables per trial."""
    if own.weight.size < capacity:
        own = own._replace(weight=np.zeros(capacity))
    return own if own.item.size >= n_tables else own._replace(**_items(n_tables + n_tables // 4))


@kernel
def follow_eta(state, tables):
    """Tabulate the functions of the state's eta; call this whenever eta has changed."""
    eta = state.concentrations[ETA]
    fill_log_gamma(tables.lg, eta)
    fill_log_gamma(tables.lgv, state.row_len.size * eta)
    for n in range(tables.ratio.size):
        tables.ratio[n] = (n + eta) / eta


def grown_scratch(scratch: Scratch) -> Scratch:
    """Return the scratch with room for twice as many topics, and the same contents."""
    grown: dict[str, Any] = {}
    for move, names in _TOPIC_AXIS.items():
        own = getattr(scratch, move)
        arrays = {name: getattr(own, name) for name in names}
        wider = {name: np.concatenate([array, np.zeros_like(array)]) for name, array in arrays.items()}
        grown[move] = own._replace(**wider)
    base = scratch.tables.base
    grown["tables"] = grown["tables"]._replace(
        shared=np.ones(2 * scratch.tables.shared.size),
        base=np.zeros((base.shape[0], 2 * base.shape[1])),
    )
    return scratch._replace(**grown)
