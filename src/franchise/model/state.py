"""The state of a chain: the Chinese restaurant franchise as a NamedTuple of arrays.

==================  ==========================  =====================================
paper               here                        axis, dtype
==================  ==========================  =====================================
x_ji                ``corpus.x``                word, int32
t_ji                ``state.t_ji``              word, int32: table within its document
n_jt.               ``state.n_jt``              slot, int32
k_jt                ``state.k_jt``              slot, int32
m_j.                ``state.m_j``               document, int32
n_..k^v             ``row_k``, ``row_n``        place, uint32: topic and count
n_..k, m_.k         ``state.n_k``, ``m_k``      topic, int64
m_..                ``state.totals[TABLES]``    int64
K                   ``state.totals[TOPICS]``    int64
alpha_0, gamma      ``state.concentrations``    float64, with eta
z_ji = k_{j t_ji}   ``word_topics(...)``        computed, never stored
==================  ==========================  =====================================

A document of n_j words has at most n_j tables, so table t of document j is slot ``doc_ptr[j] + t`` of the
word axis.

A term that occurs c times in the corpus has words in at most c topics. So the row of term v has at most c
pairs of a topic and a count, unordered. The pairs are in the fixed places ``row_ptr[v] : row_ptr[v + 1]`` of
two arrays with as many places as the corpus has words; the first ``row_len[v]`` places are in use. This never
takes more than 8 bytes per word, however many topics there are, and a scan visits only the topics of the
term. A dense matrix would take 1.6 GB for 200,000 terms and 2,000 topics, and cost time in proportion to all
topics. (The arrays are unsigned, because Numba checks signed indices for being negative.)

Topics are numbered as they are born; the number of a dead topic is used again. ``live`` lists the living ones
without gaps.
"""

from typing import NamedTuple

import numpy as np

from franchise._arrays import Array, CorpusArrays, count_terms, offsets_of

# Places in state.concentrations.
ALPHA, GAMMA, ETA = 0, 1, 2
# Places in state.totals: live topics, tables, numbers on the stack of dead topics, topic numbers
# used so far, topics born so far.
TOPICS, TABLES, DEAD, NUMBERED, BORN = 0, 1, 2, 3, 4


class State(NamedTuple):
    """The state of a chain; the moves change its arrays in place."""

    t_ji: Array
    n_jt: Array
    k_jt: Array
    m_j: Array
    row_ptr: Array
    row_len: Array
    row_k: Array
    row_n: Array
    n_k: Array
    m_k: Array
    name_k: Array  # serial number of the topic's birth, never used again
    live: Array  # live[i], i < K, are the numbers of the living topics
    place: Array  # the place of topic k in live
    dead: Array  # stack of numbers to use again
    totals: Array
    concentrations: Array


def empty_state(corpus: CorpusArrays, capacity: int = 64) -> State:
    """Return the state in which no word is seated (t_ji = -1) and there is no topic."""
    n_words, n_documents = corpus.x.size, corpus.doc_ptr.size - 1
    return State(
        t_ji=np.full(n_words, -1, np.int32),
        n_jt=np.zeros(n_words, np.int32),
        k_jt=np.zeros(n_words, np.int32),
        m_j=np.zeros(n_documents, np.int32),
        row_ptr=offsets_of(count_terms(corpus.x, corpus.n_terms)),
        row_len=np.zeros(corpus.n_terms, np.int32),
        row_k=np.empty(n_words, np.uint32),  # untouched pages cost no memory
        row_n=np.empty(n_words, np.uint32),
        n_k=np.zeros(capacity, np.int64),
        m_k=np.zeros(capacity, np.int64),
        name_k=np.zeros(capacity, np.int64),
        live=np.zeros(capacity, np.int32),
        place=np.zeros(capacity, np.int32),
        dead=np.zeros(capacity, np.int32),
        totals=np.zeros(5, np.int64),
        concentrations=np.ones(3),
    )


def state_of_counts(term_counts: Array, n_documents: int, capacity: int) -> State:
    """Return a state without topics, for engines that keep the words of tables elsewhere.

    A row has room for all words of its term, or for all topics, if these are fewer. One place more than the
    rows need marks that they may need more room when there are more topics.
    """
    row_ptr = offsets_of(np.minimum(term_counts, capacity))
    return State(
        **{name: np.zeros(0, np.int32) for name in ("t_ji", "n_jt", "k_jt")},
        m_j=np.zeros(n_documents, np.int32),
        row_ptr=row_ptr,
        row_len=np.zeros(term_counts.size, np.int32),
        **{name: np.zeros(row_ptr[-1] + 1, np.uint32) for name in ("row_k", "row_n")},
        **{name: np.zeros(capacity, np.int64) for name in ("n_k", "m_k", "name_k")},
        **{name: np.zeros(capacity, np.int32) for name in ("live", "place", "dead")},
        totals=np.zeros(5, np.int64),
        concentrations=np.ones(3),
    )


def copy_state(state: State) -> State:
    """Return a copy of the state."""
    return State(*(array.copy() for array in state))


def tables_in_use(corpus: CorpusArrays, state: State) -> Array:
    """Return a mask on the slots: the first m_j of each document."""
    lengths = np.diff(corpus.doc_ptr)
    position = np.arange(corpus.x.size) - np.repeat(corpus.doc_ptr[:-1], lengths)
    return position < np.repeat(state.m_j, lengths)


def pairs_in_use(state: State) -> Array:
    """Return a mask on the places of rows: those in use."""
    room = np.diff(state.row_ptr)
    position = np.arange(state.row_ptr[-1]) - np.repeat(state.row_ptr[:-1], room)
    return position < np.repeat(state.row_len, room)


def word_topics(corpus: CorpusArrays, state: State) -> Array:
    """Return z_ji, the topic number of every word."""
    lengths = np.diff(corpus.doc_ptr)
    return state.k_jt[np.repeat(corpus.doc_ptr[:-1], lengths) + state.t_ji]


def topic_term_counts(state: State, topics: Array | None = None) -> Array:
    """Return n_..k^v as a dense (topic, term) array, rows in the order of `topics`.

    Parameters
    ----------
    topics
        Topic numbers; by default all living topics, in the order of `live`.
    """
    if topics is None:
        topics = state.live[: state.totals[TOPICS]]
    row_of = np.full(state.n_k.size, -1)
    row_of[topics] = np.arange(len(topics))
    counts = np.zeros((len(topics), state.row_len.size), np.int32)
    for v, length in enumerate(state.row_len):
        places = slice(state.row_ptr[v], state.row_ptr[v] + length)
        rows = row_of[state.row_k[places]]
        counts[rows[rows >= 0], v] = state.row_n[places][rows >= 0]
    return counts
