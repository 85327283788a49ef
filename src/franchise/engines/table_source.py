"""The tables for split-merge trials: of all documents, of a range of them, or of several separate ranges.

Words are numbered through the whole corpus, 0 to N - 1, and so are slots: table t of a document whose first
word is i is at slot i + t. The holder of a range of documents knows the number of its first word. If tables
hold counts, slots have no gaps, and words are numbered table by table.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from franchise._arrays import Array, CorpusArrays, offsets_of, places_of
from franchise.engines.threads import Range, Threads, falling_ranges
from franchise.model import State
from franchise.model.cell_tables import CellTables
from franchise.model.table_words import GatherScratch, count_tables, list_tables, new_gather_scratch

RANGES_EACH = 3  # per thread, as going through documents is fast
_NO_COUNTS = np.zeros(0, np.int32)


class Tables(NamedTuple):
    """The tables of a topic, by document."""

    slot: Array  # int64, increasing
    n: Array  # int32: words, or terms with counts, listed for each table
    words: Array  # int32: terms of all tables, one table after another, as `model.table_words` lays them out
    counts: Array = _NO_COUNTS  # int32: the number of words of each of these; empty if it is 1

    def taken(self, which: Array) -> "Tables":
        """Return some of the tables, in the order of `which`."""
        n = self.n[which]
        places = places_of(offsets_of(self.n)[which], n)
        counts = self.counts[places] if self.counts.size else self.counts
        return Tables(self.slot[which], n, self.words[places], counts)


def joined(parts: Sequence[Tables]) -> Tables:
    """Join the tables of all parts in order."""
    if len(parts) == 1:
        return parts[0]
    return Tables(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


class TableSource(Protocol):
    """The tables of all documents."""

    def tables_of_words(self, words: Array) -> tuple[Array, Array]:
        """Return the slot of the table of each of these words, int64, and its topic, int64."""

    def tables_of(self, topics: Array) -> list[Tables]:
        """Return the tables of each of these topics, all different."""

    def relabel(self, slots: Array, topic: int) -> None:
        """Give the tables at these slots, in increasing order, to a topic."""


class HeldTables:
    """The tables of documents whose seating is here: all documents, or a range of them.

    It is cheap to make and owns no arrays: make another when `state` becomes a new tuple.

    Parameters
    ----------
    corpus, state
        The documents and their seating: t_ji, n_jt, k_jt and m_j of the state, but not its counts of topics.
    threads
        Threads to list tables in; results do not depend on their number.
    first_word
        The number of the first word, if there are documents before these.
    """

    def __init__(
        self, corpus: CorpusArrays, state: State, threads: Threads | None = None, first_word: int = 0
    ) -> None:
        self._corpus, self._state = corpus, state
        self._threads = Threads(1) if threads is None else threads
        self._first_word = first_word
        self._own: list[GatherScratch] = []

    def tables_of_words(self, words: Array) -> tuple[Array, Array]:
        """Return slots and topics of the tables of these words; -1 and -1 for words that are not here."""
        corpus, state = self._corpus, self._state
        i = np.asarray(words, np.int64) - self._first_word
        here = (i >= 0) & (i < corpus.x.size)
        slots, topics = np.full((2, i.size), -1, np.int64)
        i = i[here]
        first = corpus.doc_ptr[np.searchsorted(corpus.doc_ptr, i, side="right") - 1]
        slots[here] = first + state.t_ji[i]
        topics[here] = state.k_jt[slots[here]]
        slots[here] += self._first_word
        return slots, topics

    def tables_of(self, topics: Array) -> list[Tables]:
        """Return the tables that each of these topics, all different, has here."""
        corpus, state, topics = self._corpus, self._state, np.asarray(topics, np.int64)
        if not topics.size:
            return []
        if not self._own:
            longest = int(np.diff(corpus.doc_ptr).max(initial=0))
            self._own = [new_gather_scratch(corpus.n_terms, longest) for _ in range(self._threads.number)]
        column = np.full(int(topics.max()) + 1, -1, np.int32)
        column[topics] = np.arange(topics.size)
        ranges = falling_ranges(corpus.doc_ptr, self._threads.number, each=RANGES_EACH)
        counts = np.zeros((len(ranges), topics.size, 2), np.int64)
        number_of = {one: number for number, one in enumerate(ranges)}

        def count(one: Range, own: GatherScratch) -> None:
            count_tables(corpus, state, column, counts[number_of[one]], *one)

        self._threads.each(count, ranges, self._own)
        of_topics = counts.sum(axis=0)
        ends = np.cumsum(of_topics, axis=0)
        at = ends - of_topics + np.cumsum(counts, axis=0) - counts
        n_tables, n_words = (int(n) for n in ends[-1])
        slots, sizes = np.empty(n_tables, np.int64), np.empty(n_tables, np.int32)
        words = np.empty(n_words, np.int32)

        def fill(one: Range, own: GatherScratch) -> None:
            list_tables(corpus, state, column, at[number_of[one]], slots, sizes, words, own, *one)

        self._threads.each(fill, ranges, self._own)
        slots += self._first_word
        cuts = ends[:-1]
        by_table = (np.split(array, cuts[:, 0]) for array in (slots, sizes))
        return [Tables(*its) for its in zip(*by_table, np.split(words, cuts[:, 1]), strict=True)]

    def relabel(self, slots: Array, topic: int) -> None:
        """Give the tables at these slots to a topic; slots that are not here are skipped."""
        local = np.asarray(slots, np.int64) - self._first_word
        self._state.k_jt[local[(local >= 0) & (local < self._corpus.x.size)]] = topic


class CountedTables:
    """The tables of documents that are cells; they hold counts.

    Parameters
    ----------
    tables
        Their contents.
    state
        The state, of which n_jt and k_jt are used.
    first_word
        The number of the first word, and of the first slot, if there are documents before these.
    """

    def __init__(self, tables: CellTables, state: State, first_word: int = 0) -> None:
        self._tables, self._state, self._first_word = tables, state, first_word
        self._word_ends = np.cumsum(state.n_jt, dtype=np.int64)

    def tables_of_words(self, words: Array) -> tuple[Array, Array]:
        """Return slots and topics of the tables of these words; -1 and -1 for words that are not here."""
        i = np.asarray(words, np.int64) - self._first_word
        here = (i >= 0) & (i < self._word_ends[-1:].sum())
        slots, topics = np.full((2, i.size), -1, np.int64)
        own = np.searchsorted(self._word_ends, i[here], side="right")
        slots[here], topics[here] = own + self._first_word, self._state.k_jt[own]
        return slots, topics

    def tables_of(self, topics: Array) -> list[Tables]:
        """Return the tables that each of these topics has here."""
        pair_ptr, term, count = self._tables.pair_ptr, self._tables.term, self._tables.words
        slots = self._first_word + np.arange(pair_ptr.size - 1)
        every = Tables(slots, np.diff(pair_ptr).astype(np.int32), term, count)
        return [every.taken(np.flatnonzero(self._state.k_jt == k)) for k in topics]

    def relabel(self, slots: Array, topic: int) -> None:
        """Give the tables at these slots to a topic; slots that are not here are skipped."""
        local = np.asarray(slots, np.int64) - self._first_word
        self._state.k_jt[local[(local >= 0) & (local < self._state.k_jt.size)]] = topic
