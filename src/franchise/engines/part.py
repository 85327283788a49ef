"""A range of the documents with their seats in one chain: what a worker of a cluster does for the head.

All that depends on other documents comes from the head, or follows from what comes from there and the key.
So it does not matter how the documents are cut into ranges.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from franchise._arrays import narrow
from franchise.corpus import CorpusArrays
from franchise.engines.collapsed import document_topics_of
from franchise.engines.document_pass import DocumentPass
from franchise.engines.revealer import Revealer, Share
from franchise.engines.revealing import turns
from franchise.engines.starting_topics import StartingTopics
from franchise.engines.table_source import HeldTables
from franchise.engines.threads import Range, Threads, falling_ranges
from franchise.model.packing import gathered
from franchise.model.rows import Rows, rows_of, widened
from franchise.model.seating import seat_all
from franchise.model.state import Array, State, empty_state, tables_in_use
from franchise.moves.fit_topics import (
    DrawScratch,
    draw_fitted_topics,
    list_topics,
    new_draw_scratch,
    number_as_they_appear,
)
from franchise.moves.initialize import draw_topics
from franchise.random import Key


class Topics(NamedTuple):
    """What workers need to know of all documents to draw G_0: numbers are without gaps."""

    rows: Rows
    m_k: Array
    live: Array  # the order in which their weights are drawn
    totals: Array
    concentrations: Array

    def as_state(self) -> State:
        """Return a state with these topics and no documents."""
        wide, n_topics = widened(self.rows), self.m_k.size
        nothing = np.zeros(0, np.int32)
        return State(
            t_ji=nothing,
            n_jt=nothing,
            k_jt=nothing,
            m_j=nothing,
            row_ptr=wide.row_ptr,
            row_len=np.diff(wide.row_ptr).astype(np.int32),
            row_k=wide.row_k,
            row_n=wide.row_n,
            n_k=np.zeros(n_topics, np.int64),
            m_k=self.m_k.copy(),
            name_k=np.zeros(n_topics, np.int64),
            live=self.live.copy(),
            place=np.zeros(n_topics, np.int32),
            dead=np.zeros(n_topics, np.int32),
            totals=self.totals.copy(),
            concentrations=self.concentrations.copy(),
        )


class Summed(NamedTuple):
    """Counts of a range of documents."""

    words: Array  # of each topic, or column of G_0
    tables: Array
    rows: Rows


class Seats(NamedTuple):
    """Some documents with their seats, on the way to the head or back."""

    numbers: Array  # of the documents in the whole corpus
    lengths: Array
    m_j: Array
    x: Array
    t_ji: Array
    n_jt: Array  # on the word axis, as in a state
    k_jt: Array


class Part:
    """A range of the documents with their seats.

    Parameters
    ----------
    corpus
        The documents.
    longest
        The most words of a document of the whole corpus.
    threads
        How many; they change no bit.
    first_document, first_word
        The numbers of the first ones in the whole corpus.
    """

    def __init__(
        self, corpus: CorpusArrays, longest: int, threads: int, first_document: int = 0, first_word: int = 0
    ) -> None:
        self.corpus, self.first_document, self._first_word = corpus, first_document, first_word
        self.progress = 0.0
        self._threads = Threads(threads)
        self._pass = DocumentPass(corpus, threads, first_document)
        self._revealer = Revealer(corpus.n_terms, longest, threads)
        self._turns: list[Array] = []
        self.state = empty_state(corpus, 1)

    # ------------------------------------------------------------ starts

    def draw_fitted(self, key: Key, fitted: StartingTopics) -> Array:
        """Draw each word's topic from fitted ones; return which were drawn, in the order of appearance."""
        corpus, n_topics, first = self.corpus, fitted.phi.shape[1], self.first_document
        # What was sent is read-only, which compiled code would take for another type.
        listed = list_topics(fitted.phi, fitted.row.copy(), fitted.common.copy(), fitted.steps)
        self.state = empty_state(corpus, n_topics + 1)

        def draw(one: Range, own: DrawScratch) -> None:
            draw_fitted_topics(key, corpus, self.state, listed, own, first, *one)

        longest = int(np.diff(corpus.doc_ptr).max(initial=0))
        own = [new_draw_scratch(n_topics, longest) for _ in range(self._threads.number)]
        self._threads.each(draw, falling_ranges(corpus.doc_ptr, self._threads.number), own)
        number = np.full(n_topics + 1, -1, np.int32)
        used = number_as_they_appear(corpus, self.state, number)
        return np.argsort(number)[number.size - used :]

    def draw_random(self, key: Key, n_topics: int) -> Array:
        """Draw each word's topic evenly; return which were drawn, in the order of appearance."""
        self.state = empty_state(self.corpus, max(1, min(n_topics, self.corpus.x.size)))
        number, table = np.full((2, n_topics), -1, np.int32)
        used = draw_topics(
            key, self.corpus, self.state, np.zeros(4, np.uint64), number, table, self.first_document
        )
        return np.argsort(number)[n_topics - used :]

    def settle(self, number: Array) -> Summed:
        """Seat the words by the topics drawn, whose numbers in the whole corpus are given; count them."""
        state = self.state
        seat_all(self.corpus, state, number.size)
        self._renumber(number)
        rows = rows_of(state)
        rows = rows._replace(topics=narrow(number[rows.topics]))
        return Summed(state.n_k[: number.size], state.m_k[: number.size], rows)

    # ------------------------------------------------------------ a sweep

    def share_of_terms(self, key: Key, topics: Topics, epsilon: float, share: int, of: int) -> Share:
        """Draw a share of G_0, for workers that share a machine and so need not draw all of it each."""
        given = topics.as_state()
        measure = self._revealer.weights(key, given, epsilon)
        return self._revealer.share_of_terms(key, given, measure, share, of)

    def update(self, key: Key, topics: Topics, epsilon: float, passes: int, *shares: Share) -> Summed:
        """Draw G_0, then topics and tables of all documents given it; tables have columns for topics then.

        Of G_0 it may have been given all shares.
        """
        self.progress = 0.0
        given = topics.as_state()
        measure = self._revealer.weights(key, given, epsilon)
        if shares:
            self._revealer.bring_together(key, given, measure, shares)
        else:
            self._revealer.terms_of(key, given, measure)
        self.state = self.state._replace(concentrations=given.concentrations)
        words, tables = self._pass.update(key, self.state, measure, passes, self._note)
        self._pass.count(self.state, np.arange(int(measure.sizes[1]), dtype=np.int32))
        return Summed(words, tables, rows_of(self.state))

    def _note(self, share: float) -> None:
        self.progress += share

    def take(self, number: Array, turn: int, n_turns: int) -> Seats:
        """Give tables the numbers of their topics, for the columns; return the documents whose turn it is."""
        self._renumber(number)
        if len(self._turns) != n_turns:
            self._turns = turns(self.corpus.doc_ptr.size - 1, n_turns, self.first_document)
        return self._seats(self._turns[turn])

    def _seats(self, documents: Array) -> Seats:
        places, state = self._places(documents), self.state
        return Seats(
            self.first_document + documents,
            np.diff(self.corpus.doc_ptr)[documents],
            state.m_j[documents],
            self.corpus.x[places],
            *(array[places] for array in (state.t_ji, state.n_jt, state.k_jt)),
        )

    def put(self, seats: Seats) -> None:
        """Take documents back, seated in another way."""
        documents = seats.numbers - self.first_document
        places = self._places(documents)
        self.state.m_j[documents] = seats.m_j
        self.state.t_ji[places], self.state.n_jt[places] = seats.t_ji, seats.n_jt
        self.state.k_jt[places] = seats.k_jt

    def _places(self, documents: Array) -> Array:
        """Return the places of the words of documents, on the word axis."""
        first, lengths = self.corpus.doc_ptr[documents], np.diff(self.corpus.doc_ptr)[documents]
        ends = np.cumsum(lengths)
        return np.repeat(first - (ends - lengths), lengths) + np.arange(ends[-1] if ends.size else 0)

    def tables(self, what: str, *arguments: Any) -> Any:
        """Answer what is asked of tables for split-merge trials (`HeldTables`)."""
        held = HeldTables(self.corpus, self.state, self._threads, self._first_word)
        return getattr(held, what)(*arguments)

    def finish(self, number: Array | None) -> Array:
        """Give topics other numbers, if some are given; return how many tables have each number of words."""
        if number is not None:
            self._renumber(number)
        return self._pass.table_sizes(self.state)

    def _renumber(self, number: Array) -> None:
        self._pass.number(self.state, np.array(number, np.int32))

    # ------------------------------------------------------------ what is kept

    def seated(self, begin: int, end: int) -> dict[str, Array]:
        """Return the seats of documents `begin` to `end`, as a checkpoint stores them."""
        words, state = slice(*self.corpus.doc_ptr[[begin, end]]), self.state
        first = self.corpus.doc_ptr[begin:end].copy()
        return {
            "t_ji": narrow(state.t_ji[words]),
            "m_j": narrow(state.m_j[begin:end]),
            "k_jt": gathered(first, state.m_j[begin:end], state.k_jt),
        }

    def seat(self, begin: int, end: int, arrays: dict[str, Array]) -> None:
        """Take up the seats of documents `begin` to `end`; ValueError and KeyError say what is unsound."""
        first, last = self.corpus.doc_ptr[[begin, end]]
        lengths, state = np.diff(self.corpus.doc_ptr[begin : end + 1]), self.state
        t_ji, m_j, k_jt = (arrays[name].astype(np.int32) for name in ("t_ji", "m_j", "k_jt"))
        if t_ji.size != last - first or m_j.size != end - begin or k_jt.size != m_j.sum(dtype=np.int64):
            raise ValueError("the seats are not those of these documents")
        if np.any(m_j > lengths):
            raise ValueError("a document has more tables than words")
        if np.any(m_j < (lengths > 0)) or np.any(t_ji < 0) or np.any(t_ji >= np.repeat(m_j, lengths)):
            raise ValueError("a word sits at a table that is not there")
        state.t_ji[first:last], state.m_j[begin:end] = t_ji, m_j
        begins = np.repeat(self.corpus.doc_ptr[begin:end], lengths)
        state.n_jt[first:last] = np.bincount(begins - first + t_ji, minlength=t_ji.size)
        ends = np.cumsum(m_j, dtype=np.int64)
        slots = np.repeat(self.corpus.doc_ptr[begin:end] - (ends - m_j), m_j) + np.arange(k_jt.size)
        if np.any(state.n_jt[slots] == 0):
            raise ValueError("there is a table where nobody sits")
        state.k_jt[slots] = k_jt

    def added_up(self, n_topics: int) -> tuple[Array, Array]:
        """Return the words and tables of each topic; ValueError where there are other topics."""
        in_use = tables_in_use(self.corpus, self.state)
        k_jt, n_jt = self.state.k_jt[in_use], self.state.n_jt[in_use]
        if k_jt.size and not 0 <= k_jt.min() <= k_jt.max() < n_topics:
            raise ValueError("a table has a topic that is not there")
        words = np.bincount(k_jt, weights=n_jt, minlength=n_topics).astype(np.int64)
        return words, np.bincount(k_jt, minlength=n_topics)

    def document_topics(self, rank: Array, n_topics: int) -> sp.csr_array:
        """Return n_j.k of the documents; topic k is column rank[k]."""
        return document_topics_of(self.corpus, self.state, rank.copy(), n_topics)


class AnyPart(Protocol):
    """What a worker needs of a range of the documents with their seats, whatever its engine asks of it."""

    first_document: int
    progress: float  # share of the pass under way that is done

    def seated(self, begin: int, end: int) -> dict[str, Array]:
        """Return the seats of documents `begin` to `end`, as a checkpoint stores them."""

    def seat(self, begin: int, end: int, arrays: dict[str, Array]) -> None:
        """Take up the seats of documents `begin` to `end`."""

    def added_up(self, n_topics: int) -> tuple[Array, Array]:
        """Return the words and tables of each topic."""

    def document_topics(self, rank: Array, n_topics: int) -> sp.csr_array:
        """Return n_j.k of the documents."""


NewPart = Callable[[CorpusArrays, int, int, int, int], AnyPart]


def divided(seats: Seats, taken: list[Seats]) -> list[Seats]:
    """Give each worker its own documents again."""
    documents = np.cumsum([0, *(one.numbers.size for one in taken)])
    words = np.cumsum([0, *(one.x.size for one in taken)])
    by_document, by_word = ("numbers", "lengths", "m_j"), ("x", "t_ji", "n_jt", "k_jt")
    parts = []
    for (a, b), (c, d) in zip(pairwise(documents), pairwise(words), strict=True):
        own = {name: getattr(seats, name)[a:b] for name in by_document}
        parts.append(Seats(**own, **{name: getattr(seats, name)[c:d] for name in by_word}))
    return parts


def added_up(sizes: list[Array]) -> Array:
    """Add up histograms of different lengths."""
    longest = max(one.size for one in sizes)
    return np.asarray(sum(np.pad(one, (0, longest - one.size)) for one in sizes))
