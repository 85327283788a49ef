"""The head of a chain whose documents live elsewhere: topics and counts of all, seats of a few at a time.

Its state has the rows of all terms and all that is known of topics. Of documents it has those whose words are
drawn one by one in the sweep under way: the collapsed moves look at others through the counts alone.
"""

from typing import Any, NamedTuple

import numpy as np

from franchise.corpus import Corpus, CorpusArrays
from franchise.engines.engine import Trials
from franchise.engines.part import Seats, Summed, Topics
from franchise.engines.table_source import TableSource
from franchise.engines.threads import Range, Threads
from franchise.engines.workbench import Workbench
from franchise.model import State
from franchise.model.packing import filled, packed, room_for
from franchise.model.rows import add_rows, append_rows, rows_of, widened
from franchise.model.state import BORN, DEAD, NUMBERED, TABLES, TOPICS, Array, state_of_counts
from franchise.moves.recount import fill_rows
from franchise.moves.shared.scratch import new_scratch_for_some, with_words
from franchise.random import Key

_CELLS_AT_ONCE = 1 << 20  # of terms by columns, that a thread adds up


class Facts(NamedTuple):
    """What the head knows of the documents."""

    n_terms: int
    n_words: int
    n_not_empty: int
    term_counts: Array
    lengths: tuple[Array, Array]  # the different ones, 0 apart, and how many documents have each

    @property
    def longest(self) -> int:
        """The most words of a document."""
        return int(self.lengths[0].max(initial=0))


def facts_of(corpus: Corpus) -> Facts:
    """Return what the head needs to know of a corpus."""
    documents = corpus.documents_of_length
    lengths = 1 + np.flatnonzero(documents[1:])
    times = documents[lengths]
    return Facts(corpus.n_terms, corpus.n_words, int(times.sum()), corpus.term_counts, (lengths, times))


class Head(Workbench):
    """Makes the moves that need the counts of all documents, and the seats of some.

    Parameters
    ----------
    facts
        What is known of all documents.
    state
        The counts of all, no seats (`without_seats`).
    """

    def __init__(self, facts: Facts, state: State) -> None:
        self._facts = facts
        self.state = state
        self.corpus = self._documents(np.zeros(0, np.int32), np.zeros(0, np.int64))
        largest = int(facts.term_counts.max(initial=0))
        self._scratch = new_scratch_for_some(self.corpus, state, facts.lengths, largest)
        self._laid_out = False
        self._trial_maker = None
        self.tables: TableSource | None = None  # of all documents, for trials

    def _tables(self) -> TableSource:
        assert self.tables is not None
        return self.tables

    def try_splits_and_merges(self, key: Key, trials: Trials) -> tuple[Any, Array]:
        """Make split-merge trials; return their Info and their records."""
        return self._try_in_threads(key, trials)

    def _documents(self, x: Array, lengths: Array) -> CorpusArrays:
        """Return some documents; behind them comes one that stands for the words of all others."""
        doc_ptr = np.zeros(lengths.size + 2, np.int64)
        np.cumsum(lengths, out=doc_ptr[1:-1])
        doc_ptr[-1] = self._facts.n_words
        for array in (x, doc_ptr):
            array.flags.writeable = False
        return CorpusArrays(x, doc_ptr, self._facts.n_terms)

    def bring(self, seats: Seats) -> None:
        """Take up the seats of some documents, and visit these from now on."""
        self.corpus = self._documents(seats.x, seats.lengths)
        self.state = self.state._replace(
            t_ji=seats.t_ji, n_jt=seats.n_jt, k_jt=seats.k_jt, m_j=np.append(seats.m_j, np.int32(0))
        )
        self._scratch = with_words(self._scratch, seats.x.size)
        self.visit(np.arange(seats.numbers.size), seats.numbers)

    def take_away(self) -> Seats:
        """Give up the seats that were brought, as they are now."""
        state, corpus = self.state, self.corpus
        numbers = self._scratch.words.numbers
        seats = Seats(
            numbers,
            np.diff(corpus.doc_ptr[:-1]),
            state.m_j[:-1],
            corpus.x,
            state.t_ji,
            state.n_jt,
            state.k_jt,
        )
        nothing = np.zeros(0, np.int32)
        self.state = state._replace(t_ji=nothing, n_jt=nothing, k_jt=nothing, m_j=np.zeros(1, np.int32))
        self.corpus = self._documents(np.zeros(0, np.int32), np.zeros(0, np.int64))
        return seats

    def topics(self) -> Topics:
        """Return what workers need to know; topics are numbered without gaps."""
        state, n_topics = self.state, int(self.state.totals[TOPICS])
        assert state.totals[DEAD] == 0
        by_number = (state.m_k[:n_topics].copy(), state.live[:n_topics].copy())
        return Topics(rows_of(state), *by_number, state.totals.copy(), state.concentrations.copy())

    def new_numbers(self) -> Array | None:
        """Give the topics numbers without gaps; return the new number of each old one, None for the same."""
        if self.state.totals[DEAD] == 0:
            return None
        number = self.state.place.copy()
        self.compact()
        return number

    def new_order(self) -> Array:
        """Give the topics numbers without gaps; return the old number of each."""
        live, n_topics = self.state.live.copy(), int(self.state.totals[TOPICS])
        return np.arange(n_topics) if self.new_numbers() is None else live[:n_topics]

    def open_topics(self, numbers: list[Array], summed: list[Summed]) -> None:
        """Fill in the first topics; each part has some of them, and its rows in the order of appearance."""
        n_topics = 1 + max((int(own.max()) for own in numbers if own.size), default=-1)
        words, tables = np.zeros((2, n_topics), np.int64)
        for own, counts in zip(numbers, summed):
            words[own] += counts.words
            tables[own] += counts.tables
        self.name_topics(words, tables)
        for counts in summed:
            append_rows(self.state, widened(counts.rows))

    def name_topics(self, words: Array, tables: Array) -> None:
        """Let there be topics with so many words and tables, and no others; their rows are not filled in."""
        n_topics = words.size
        self.make_room(n_topics)
        state = self.state
        state.n_k[:n_topics], state.m_k[:n_topics] = words, tables
        state.name_k[:n_topics] = state.live[:n_topics] = state.place[:n_topics] = np.arange(n_topics)
        state.totals[TOPICS] = state.totals[NUMBERED] = state.totals[BORN] = n_topics
        state.totals[TABLES] = tables.sum()

    def fill_rows(self, summed: list[Summed], number: Array, threads: Threads) -> None:
        """Fill in the rows of terms from those of all parts, columns by their numbers."""
        state, rows = self.state, [widened(one.rows) for one in summed]
        at_once = max(1, _CELLS_AT_ONCE // max(1, number.size))
        n_terms = self._facts.n_terms
        ranges = [(begin, min(begin + at_once, n_terms)) for begin in range(0, n_terms, at_once)]
        own = [np.zeros((at_once, number.size), np.int32) for _ in range(threads.number)]

        def fill(one: Range, dense: Array) -> None:
            for part in rows:
                add_rows(part, dense, *one)
            fill_rows(state, dense, number, *one)

        threads.each(fill, ranges, own)


SEATS = ("t_ji", "n_jt", "k_jt", "m_j")


def packed_head(head: Head) -> dict[str, Array]:
    """Return what a checkpoint stores of a head: the arrays of `model.packing` but for the seats."""
    arrays = packed(head.corpus, head.state)
    return {name: array for name, array in arrays.items() if name not in SEATS}


def unpacked_head(facts: Facts, arrays: dict[str, Array]) -> Head:
    """Return the head of such arrays; ValueError and KeyError say what is unsound in them."""
    head = Head(facts, without_seats(facts, room_for(arrays)))
    no_seats = {name: getattr(head.state, name) for name in SEATS}
    state = filled(head.corpus, head.state, {**arrays, **no_seats})
    rows, n_topics = rows_of(state), arrays["n_k"].size
    terms = np.repeat(np.arange(facts.n_terms), rows.lengths)
    if state.totals[TOPICS] != n_topics or state.totals[DEAD] or np.any(rows.topics >= n_topics):
        raise ValueError("the topics are not numbered without gaps")
    by_topic = np.bincount(rows.topics, weights=rows.counts, minlength=n_topics)
    by_term = np.bincount(terms, weights=rows.counts, minlength=facts.n_terms)
    if not (np.array_equal(by_topic, arrays["n_k"]) and np.array_equal(by_term, facts.term_counts)):
        raise ValueError("the counts of topics and terms do not add up")
    if state.totals[TABLES] != arrays["m_k"].sum() or np.any(arrays["m_k"] < 1):
        raise ValueError("the tables do not add up")
    return Head(facts, state)


def without_seats(facts: Facts, capacity: int) -> State:
    """Return a state without topics and seats."""
    return state_of_counts(facts.term_counts, 1, capacity)
