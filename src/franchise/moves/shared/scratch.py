"""The working memory of the moves: allocated once, so that kernels allocate nothing.

Each move has a tuple of its own: a helper that takes fifty arrays takes seconds to compile.
Nothing here outlives a move but the functions that follow eta, the words laid out by table, which the table
move leaves for split-merge, and, when a kernel handed back for want of topic numbers, what it was doing
in the document at hand, from which it continues.
"""

from typing import Any, NamedTuple

import numpy as np

from franchise._jit import kernel
from franchise.corpus import CorpusArrays
from franchise.model.likelihood import MOST_TABULATED, fill_log_gamma
from franchise.model.state import ETA, TABLES, Array, State
from franchise.moves.shared.anchors import CHOICE

# Places in a cursor: position in the list of documents, or the trial; the word or table of that
# document to continue with; how many topics of the document are listed.
DOCUMENT, INSIDE, N_HERE = 0, 1, 2
TRIAL = DOCUMENT
NOT_ENTERED = -1
# The topics of a split-merge trial have at most so many words together.
MOST_WORDS_OF_A_TRIAL = 20_000_000
_SMALL_TABLE = 24  # words: the table move keeps weights ready for tables up to this size


class WordScratch(NamedTuple):
    """For the word move; all but the first four on the topic axis."""

    stream: Array  # uint64[4]: the random stream in use
    cursor: Array  # where the kernel stands
    documents: Array  # the order in which documents are visited
    numbers: Array  # of these, in the whole corpus: streams are named by them
    sums: Array  # A = sum_k m_k w_k and B = sum_k n_jk w_k
    w_k: Array  # 1 / (n_k + V eta)
    mw_k: Array  # m_k w_k
    nw_k: Array  # n_jk w_k of the document at hand, 0 elsewhere
    p_k: Array  # (n_jk + c m_k) w_k
    n_jk: Array  # words of the document at hand, 0 elsewhere
    table_k: Array  # a table of the document at hand that may serve the topic
    here: Array  # the topics of the document at hand
    here_place: Array  # where a topic stands in `here`
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
    table_words: Array  # word axis: the terms of every document, table by table (`table_index`)
    table_counts: Array  # empty, or how many words each of these stands for
    pair_ptr: Array  # empty, or where the words of each slot begin
    table_end: Array  # end in table_words of each table of the document at hand
    count_v: Array  # term axis, 0 between uses
    terms: Array  # distinct terms of the table at hand
    # Values of functions that follow eta (`model.likelihood`).
    lg: Array  # lnG(n + eta)
    lgv: Array  # lnG(n + V eta)
    ratio: Array  # (n + eta) / eta


class TrialScratch(NamedTuple):
    """For split-merge: the tables by topic, and the two sides of a trial."""

    stream: Array
    cursor: Array
    choice: Array  # of the anchors (`anchors.CHOICE`)
    most_words: Array  # of a trial, one number
    # Topic axis.
    start_k: Array  # where the topic's tables begin on the table axis
    squares_k: Array  # sum of the topic's squared counts
    weight: Array
    # Table axis, tables of one topic together.
    slot: Array
    begin: Array  # where the table's words begin in table_words
    end: Array  # and end
    # The tables of a trial: items in random order, behind them the anchors a and b.
    item: Array  # positions on the table axis
    side: Array  # int8: 0 with anchor a, 1 with anchor b
    kept: Array  # int8: sides to replay (merge), or of the proposed division (split)
    # The two sides.
    sizes: Array  # (side, 2): words and tables
    words: Array  # (term, side)
    seen: Array  # terms of the trial
    is_seen: Array
    # Shared with the table move.
    table_words: Array
    table_counts: Array
    pair_ptr: Array
    size_ptr: Array  # empty, or words before each slot
    lg: Array
    lgv: Array


class ConcentrationScratch(NamedTuple):
    """For the concentrations."""

    stream: Array
    sizes: Array  # topic axis: the n of the density
    times: Array  # and how often each stands there
    lengths: Array  # the different document lengths, 0 apart
    documents_of_length: Array  # how many documents have each
    histogram: Array  # how many counts n_kv have a value; empty where they are too large for that
    counts: Array  # the different counts, and how often each is there
    times_counted: Array


class Scratch(NamedTuple):
    """Arrays that moves may scribble on, one tuple per move; a move is handed its own."""

    words: WordScratch
    tables: TableScratch
    trial: TrialScratch
    concentrations: ConcentrationScratch


_TOPIC_AXIS = {
    "words": ("w_k", "mw_k", "nw_k", "p_k", "n_jk", "table_k", "here", "here_place", "weight"),
    "tables": ("log_shared", "log_x", "weight", "candidate"),
    "trial": ("start_k", "squares_k", "weight"),
    "concentrations": ("sizes", "times"),
}


def new_scratch(corpus: CorpusArrays, state: State) -> Scratch:
    """Allocate working memory for a state, and compute the functions for its eta."""
    n_j = np.diff(corpus.doc_ptr)
    largest_count = int(np.diff(state.row_ptr).max(initial=0))
    tables = _table_scratch(corpus, state, int(n_j.max(initial=0)), largest_count, corpus.x.size)
    return _scratch(corpus, state, tables, different_lengths(n_j), largest_count)


def new_scratch_for_counts(slots: CorpusArrays, state: State, n_j: Array, largest_count: int) -> Scratch:
    """Allocate working memory for a state whose tables hold counts (`model.cell_tables`).

    There is none for the words of tables: their terms and counts are put in their place.
    """
    tables = _table_scratch(slots, state, 0, min(largest_count, MOST_TABULATED), int(n_j.sum()))
    return _scratch(slots, state, tables, different_lengths(n_j), -1)


def new_scratch_for_some(
    corpus: CorpusArrays, state: State, lengths: tuple[Array, Array], largest_count: int
) -> Scratch:
    """Allocate working memory for a state with the counts of all documents and the seats of some.

    Of all documents, it is known which lengths they have, how many have each, and the largest count of a
    term.
    """
    longest, n_words = int(lengths[0].max(initial=0)), int(lengths[0] @ lengths[1])
    tables = _table_scratch(corpus, state, longest, largest_count, n_words)
    return _scratch(corpus, state, tables, lengths, largest_count)


def different_lengths(n_j: Array) -> tuple[Array, Array]:
    """Return the different lengths of documents, 0 apart, and how many have each."""
    return np.unique(n_j[n_j > 0], return_counts=True)


def with_words(scratch: Scratch, n_words: int) -> Scratch:
    """Return the scratch with room for the words of other documents, so many in all."""
    if scratch.tables.table_words.size >= n_words:
        return scratch
    words = np.zeros(n_words + n_words // 4, np.int32)
    return scratch._replace(
        tables=scratch.tables._replace(table_words=words), trial=scratch.trial._replace(table_words=words)
    )


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
        trial=new_trial_scratch(corpus.n_terms, capacity, tables.lg, tables.lgv)._replace(
            stream=stream, table_words=tables.table_words
        ),
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
        table_words=np.zeros(corpus.x.size, np.int32),
        table_counts=np.zeros(0, np.int32),
        pair_ptr=np.zeros(0, np.int64),
        table_end=np.zeros(longest, np.int64),
        count_v=np.zeros(corpus.n_terms, np.int32),
        terms=np.zeros(longest, np.int32),
        lg=np.zeros(largest_count + 1),
        lgv=np.zeros(min(n_words + 1, MOST_TABULATED)),
        ratio=np.zeros(largest_count + 1),
    )


def new_trial_scratch(n_terms: int, capacity: int, lg: Array, lgv: Array) -> TrialScratch:
    """Allocate working memory for trials, without tables; `lg` and `lgv` are those of the table move."""
    words, slots = np.zeros(0, np.int32), np.zeros(0, np.int64)
    return TrialScratch(
        stream=np.zeros(4, np.uint64),
        cursor=np.array([0, NOT_ENTERED, 0]),
        choice=np.zeros(len(CHOICE), np.int64),
        most_words=np.array([MOST_WORDS_OF_A_TRIAL]),
        start_k=np.zeros(capacity, np.int64),
        squares_k=np.zeros(capacity),
        weight=np.zeros(capacity),
        **_table_axis(0),
        sizes=np.zeros((2, 2), np.int64),
        words=np.zeros((n_terms, 2), np.int32),
        seen=np.zeros(n_terms, np.int32),
        is_seen=np.zeros(n_terms, np.bool_),
        table_words=words,
        table_counts=words,
        pair_ptr=slots,
        size_ptr=slots,
        lg=lg,
        lgv=lgv,
    )


def _table_axis(n_tables: int) -> dict[str, Array]:
    types = {"slot": np.int64, "begin": np.int64, "end": np.int64, "item": np.int64}
    types |= {"side": np.int8, "kept": np.int8}  # type: ignore[dict-item]
    return {name: np.zeros(n_tables, kind) for name, kind in types.items()}


@kernel
def follow_eta(state, tables):
    """Compute the functions of counts for the state's eta; to be called whenever eta has changed."""
    eta = state.concentrations[ETA]
    fill_log_gamma(tables.lg, eta)
    fill_log_gamma(tables.lgv, state.row_len.size * eta)
    for n in range(tables.ratio.size):
        tables.ratio[n] = (n + eta) / eta


def with_room_for_tables(scratch: Scratch, state: State) -> Scratch:
    """Return the scratch with room for all tables in split-merge."""
    n_tables = int(state.totals[TABLES])
    if scratch.trial.slot.size >= n_tables:
        return scratch
    return scratch._replace(trial=scratch.trial._replace(**_table_axis(n_tables + n_tables // 4)))


def with_room_for_items(trial: TrialScratch, n_tables: int) -> TrialScratch:
    """Return the scratch with room for a trial of so many tables, which are listed elsewhere."""
    if trial.item.size >= n_tables:
        return trial
    axis = _table_axis(n_tables + n_tables // 4)
    return trial._replace(**{name: axis[name] for name in ("item", "side", "kept")})


def grown_scratch(scratch: Scratch) -> Scratch:
    """Return the scratch with room for twice as many topics, contents kept."""
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
