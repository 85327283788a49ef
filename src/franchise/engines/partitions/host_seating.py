"""The seating of a range of documents in memory, and what is kept of it."""

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from franchise._arrays import narrow, places_of, ranges_of
from franchise.corpus import CorpusArrays
from franchise.engines.collapsed import document_topics_of
from franchise.engines.partitions.partition import Passed
from franchise.model.packing import gathered
from franchise.model.state import Array, State, state_of_counts

_WORDS_AT_ONCE = 1 << 20  # NumPy needs some ten times the memory of what it counts


class HostSeating:
    """Who sits where in a range of documents.

    Parameters
    ----------
    corpus
        The documents.
    """

    def __init__(self, corpus: CorpusArrays) -> None:
        self.corpus, self.state = corpus, no_seating(corpus)

    def seating(self, begin: int, end: int) -> dict[str, Array]:
        """Return the seating of documents `begin` to `end`, as a checkpoint stores it."""
        words, state = slice(*self.corpus.doc_ptr[[begin, end]]), self.state
        first = self.corpus.doc_ptr[begin:end].copy()
        return {
            "t_ji": narrow(state.t_ji[words]),
            "n_jt": gathered(first, state.m_j[begin:end], state.n_jt),
            "k_jt": gathered(first, state.m_j[begin:end], state.k_jt),
            "m_j": narrow(state.m_j[begin:end]),
        }

    def seat(self, begin: int, end: int, arrays: dict[str, Array]) -> None:
        """Take up the seating of documents `begin` to `end`; ValueError and KeyError say what is unsound."""
        first, last = self.corpus.doc_ptr[[begin, end]]
        lengths, state = np.diff(self.corpus.doc_ptr[begin : end + 1]), self.state
        t_ji, m_j, k_jt = (arrays[name].astype(np.int32) for name in ("t_ji", "m_j", "k_jt"))
        if t_ji.size != last - first or m_j.size != end - begin or k_jt.size != m_j.sum(dtype=np.int64):
            raise ValueError("the seating is not that of these documents")
        if np.any(m_j > lengths):
            raise ValueError("a document has more tables than words")
        if np.any(m_j < (lengths > 0)) or np.any(t_ji < 0) or np.any(t_ji >= np.repeat(m_j, lengths)):
            raise ValueError("a word sits at a table that is not there")
        state.t_ji[first:last], state.m_j[begin:end] = t_ji, m_j
        for _ in self._count_words(begin, end):
            pass
        slots = places_of(self.corpus.doc_ptr[begin:end], m_j)
        if np.any(state.n_jt[slots] == 0):
            raise ValueError("there is a table where nobody sits")
        state.k_jt[slots] = k_jt

    def _count_words(self, begin: int, end: int) -> Iterator[tuple[slice, Array]]:
        """Count the words at the tables of documents `begin` to `end`, some at a time.

        Yields where the words of these are, and the slot of each word's table, counted from the first one.
        """
        doc_ptr, state = self.corpus.doc_ptr[begin : end + 1], self.state
        for a, b in ranges_of(doc_ptr, _WORDS_AT_ONCE):
            words = slice(doc_ptr[a], doc_ptr[b])
            slots = np.repeat(doc_ptr[a:b] - doc_ptr[a], np.diff(doc_ptr[a : b + 1])) + state.t_ji[words]
            state.n_jt[words] = np.bincount(slots, minlength=slots.size)
            yield words, slots

    def recount(self, n_topics: int) -> Passed:
        """Count the words and tables of each topic; ValueError where there are other topics."""
        doc_ptr, state, counted = self.corpus.doc_ptr, self.state, np.zeros((2, n_topics), np.int64)
        for begin, end in ranges_of(doc_ptr, _WORDS_AT_ONCE):
            in_use = places_of(doc_ptr[begin:end], state.m_j[begin:end])
            k_jt, n_jt = state.k_jt[in_use], state.n_jt[in_use]
            if k_jt.size and not 0 <= k_jt.min() <= k_jt.max() < n_topics:
                raise ValueError("a table has a topic that is not there")
            counted[0] += np.bincount(k_jt, weights=n_jt, minlength=n_topics).astype(np.int64)
            counted[1] += np.bincount(k_jt, minlength=n_topics)
        return Passed(*counted)

    def document_topics(self, rank: Array, n_topics: int) -> sp.csr_array:
        """Return n_j.k of the documents; topic k is column rank[k]."""
        return document_topics_of(self.corpus, self.state, rank.copy(), n_topics)


def no_seating(corpus: CorpusArrays) -> State:
    """Return a state of documents in which no word is seated, and which knows of no topic."""
    n_words = corpus.x.size
    state = state_of_counts(np.zeros(corpus.n_terms, np.int64), corpus.doc_ptr.size - 1, 0)
    return state._replace(
        t_ji=np.full(n_words, -1, np.int32),
        n_jt=np.zeros(n_words, np.int32),
        k_jt=np.zeros(n_words, np.int32),
    )
