"""Chains that start at the planted truth, so that speed is measured where a converged chain works."""

import joblib
import numpy as np

from franchise import Chain
from franchise._arrays import Array
from franchise._jit import kernel
from franchise.corpus.synthetic import Planted
from franchise.engines.threads import Range, Threads, falling_ranges
from franchise.model import Priors, State, empty_state
from franchise.model.capacity import open_topic
from franchise.model.recount import add_up_counts, number_tables
from franchise.model.seating import seat_all
from franchise.model.state import TABLES
from franchise.sampling import Timetable

_BYTES_TO_COUNT = 2**33  # memory that threads may use for counting, in total


def planted_state(planted: Planted, priors: Priors) -> State:
    """Seat every word with its planted topic, one table per topic in each document."""
    arrays = planted.corpus.arrays
    used, z = np.unique(planted.z, return_inverse=True)
    state = empty_state(arrays, capacity=2 * used.size)
    document = np.repeat(np.arange(planted.corpus.n_documents), planted.corpus.document_lengths)
    pair, table = np.unique(document * used.size + z, return_inverse=True)
    first_table = np.searchsorted(pair // used.size, np.arange(planted.corpus.n_documents))
    state.t_ji[:] = table - first_table[document]
    slot = arrays.doc_ptr[pair // used.size] + np.arange(pair.size) - first_table[pair // used.size]
    state.k_jt[slot] = pair % used.size
    state.concentrations[:] = priors.initial()
    seat_all(arrays, state, used.size)
    return state


def planted_state_of_many(planted: Planted, priors: Priors, threads: int | None = None) -> State:
    """Seat hundreds of millions of words in the same way, in threads.

    Tables, and the topics of a term, come in another order than those of `planted_state`.
    """
    arrays, z = planted.corpus.arrays, planted.z
    highest = int(z.max()) + 1
    n_bytes = 4 * highest * arrays.n_terms
    pool = Threads(max(1, min(threads or joblib.cpu_count(), _BYTES_TO_COUNT // n_bytes)))
    state = empty_state(arrays, capacity=2 * highest)
    counts = np.zeros((pool.number, arrays.n_terms, highest), np.int32)
    n_k, m_k, table = (np.zeros((pool.number, highest), np.int64) for _ in range(3))

    def seat(one: Range, own: tuple[Array, ...]) -> None:
        _seat_documents(arrays, state, z, *own, *one)

    def add_up(one: Range, own: None) -> None:
        add_up_counts(state, counts, columns, *one)

    def name(one: Range, own: None) -> None:
        number_tables(arrays, state, number, *one)

    documents = falling_ranges(arrays.doc_ptr, pool.number)
    pool.each(seat, documents, [*zip(counts, n_k, m_k, table, strict=True)])
    words, tables = n_k.sum(axis=0), m_k.sum(axis=0)
    is_used = words > 0
    columns, number = np.flatnonzero(is_used), (np.cumsum(is_used) - 1).astype(np.int32)
    n_topics = columns.size
    pool.each(add_up, falling_ranges(np.arange(arrays.n_terms + 1), pool.number), [None] * pool.number)
    if n_topics < highest:
        pool.each(name, documents, [None] * pool.number)
    _open_topics(state, n_topics)
    state.n_k[:n_topics], state.m_k[:n_topics] = words[is_used], tables[is_used]
    state.totals[TABLES] = tables.sum()
    state.concentrations[:] = priors.initial()
    return state


@kernel
def _seat_documents(corpus, state, z, counts, n_k, m_k, table, begin, end):
    """Seat the words of documents `begin` to `end`; `table` has room for a number of every topic."""
    for j in range(begin, end):
        first, n_tables = corpus.doc_ptr[j], 0
        for i in range(first, corpus.doc_ptr[j + 1]):
            k = np.int64(z[i])
            t = table[k]
            # A number that is left from another document does not serve this topic here.
            if t >= n_tables or state.k_jt[first + t] != k:
                t = n_tables
                table[k] = t
                state.k_jt[first + t] = k
                m_k[k] += 1
                n_tables += 1
            state.t_ji[i] = t
            state.n_jt[first + t] += 1
            n_k[k] += 1
            counts[corpus.x[i], k] += 1
        state.m_j[j] = n_tables


@kernel
def _open_topics(state, n_topics):
    for _ in range(n_topics):
        open_topic(state)


def started(truth: Planted, priors: Priors, schedule: Timetable, seed: int, start: str) -> Chain:
    """Return a chain that has started, from the planted topics where `start` is "truth"."""
    chain = Chain(
        truth.corpus, priors, schedule, random_state=seed, init="one" if start == "truth" else start
    )
    if start == "truth":
        chain.start_at(planted_state(truth, priors))
    else:
        chain.start()
    return chain
