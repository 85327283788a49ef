"""Documents on a GPU in one chain, with the counts of terms by topic: what the head asks for.

Topics are stored under columns, those of the last pass; `Counts.stored` says which topic has which column.
Before the head looks at documents they get the numbers that the head has given them.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln

from franchise._arrays import narrow
from franchise.corpus import CorpusArrays
from franchise.engines.cuda.device import Device
from franchise.engines.cuda.layout import LONG
from franchise.engines.cuda.measure import (
    Counts,
    GivenMeasure,
    draw_measure,
    log_p_of_terms,
    no_new_tables,
    wide,
)
from franchise.engines.cuda.piece import Piece, Tally, new_tally
from franchise.engines.cuda.piece_tables import PieceTables
from franchise.engines.part import Seats, divided
from franchise.engines.revealing import turns
from franchise.engines.starting_topics import StartingTopics
from franchise.engines.table_source import TablesInParts, TableSource
from franchise.engines.threads import Threads
from franchise.errors import GpuError
from franchise.model.measure import Measure
from franchise.model.rows import Rows
from franchise.model.state import TOPICS, Array, State, word_topics
from franchise.random import Key

MOST_COLUMNS = 1 << 16
_TABULATED = 1 << 16  # counts whose logarithms of gammas are looked up


class Passed(NamedTuple):
    """What a pass over all documents has counted."""

    words: Array  # of each column
    tables: Array
    sizes: Array  # how many tables have each number of words


class CudaPart:
    """Documents on a GPU.

    Parameters
    ----------
    device
        The GPU.
    corpus
        The documents.
    pieces
        Where to cut them: documents at which pieces begin and end.
    resident
        How many of the pieces stay on the GPU; the others come over when they are used.
    first_document, first_word
        The numbers of the first ones in the whole corpus, where there are documents elsewhere.
    longest
        The most words of a document of the whole corpus.
    """

    def __init__(
        self,
        device: Device,
        corpus: CorpusArrays,
        pieces: list[int] | None = None,
        resident: int | None = None,
        first_document: int = 0,
        first_word: int = 0,
        longest: int = 0,
    ) -> None:
        self._device, self._corpus = device, corpus
        self._first_document, self._first_word = first_document, first_word
        doc_ptr = corpus.doc_ptr
        marks = pieces or [0, doc_ptr.size - 1]
        self._pieces = [
            Piece(
                device,
                CorpusArrays(
                    corpus.x[doc_ptr[a] : doc_ptr[b]], doc_ptr[a : b + 1] - doc_ptr[a], corpus.n_terms
                ),
                first_document + a,
                first_word + int(doc_ptr[a]),
                resident is None or number < resident,
            )
            for number, (a, b) in enumerate(pairwise(marks))
        ]
        self._longest = int(np.diff(doc_ptr).max(initial=longest))
        self._counts: Counts
        self._last: tuple[Key, GivenMeasure] | None = None  # what seats follow from; None: they are written
        self._log_gammas: tuple[float, Any] = (-1.0, None)
        self._n_turns = 0
        self._turns: list[list[Array]] = []
        self._tables: list[PieceTables] = []

    # ------------------------------------------------------------ from the host, and back

    def take_up(self, state: State, n_topics: int | None = None) -> None:
        """Take up the seats of all documents; topics are numbered without gaps.

        There are so many, where the state does not know of all.
        """
        n_topics = int(state.totals[TOPICS]) if n_topics is None else n_topics
        z, counts = word_topics(self._corpus, state), self._room(n_topics)
        for piece in self._pieces:
            words = self._words_of(piece)
            piece.take_up(z[words])
            piece.count(counts)
            first = piece.first_document - self._first_document
            documents = slice(first, first + piece.n_documents)
            piece.take_up_seats(state.t_ji[words], state.k_jt[words], state.n_jt[words], state.m_j[documents])
        self._counts, self._last = Counts(counts, np.arange(n_topics)), None

    def start(self, key: Key, start: int | StartingTopics) -> Passed:
        """Draw the first topic of every word, from so many, or from fitted ones."""
        n_topics = start if isinstance(start, int) else start.phi.shape[1] + 1
        counts, tally = self._room(n_topics), new_tally(self._device, n_topics, self._longest)
        for piece in self._pieces:
            piece.take_up()
            piece.start(key, start, tally)
            piece.count(counts)
        self._counts = Counts(counts, np.arange(n_topics))
        self._last = key, no_new_tables(self._device, n_topics, self._longest)
        return self._passed(tally)

    def _passed(self, tally: Tally) -> Passed:
        words, tables, sizes = (self._device.get(one).astype(np.int64) for one in tally)
        return Passed(words, tables, np.trim_zeros(sizes, "b"))

    def _words_of(self, piece: Piece) -> slice:
        first = piece.first_word - self._first_word
        return slice(first, first + piece.corpus.x.size)

    def _room(self, n_topics: int) -> Any:
        if n_topics > MOST_COLUMNS:
            raise GpuError(
                f"engine='gpu' has room for {MOST_COLUMNS:,} topics, and there are {n_topics:,} now, with "
                "those that no word has: use engine='parallel', or a larger eta",
                code="too-many-topics",
            )
        return self._device.xp.zeros((self._corpus.n_terms, wide(n_topics)), np.int32)

    def seats(self) -> dict[str, Array]:
        """Return t_ji, n_jt, k_jt and m_j of all documents, as a state has them."""
        self._write_seats()
        number_of = self._number_of()
        found = [piece.gather(np.arange(piece.n_documents)) for piece in self._pieces]
        seats = {
            name: np.concatenate([one[name] for one in found]) for name in ("t_ji", "n_jt", "k_jt", "m_j")
        }
        seats["k_jt"] = np.where(seats["n_jt"] > 0, number_of[seats["k_jt"]], 0).astype(np.int32)
        return seats

    def _number_of(self) -> Array:
        """Return the number of the topic that is stored under each column."""
        number_of = np.zeros(self._counts.stride, np.int64)
        number_of[self._counts.stored] = np.arange(self._counts.stored.size)
        return number_of

    def document_topics(self, rank: Array, n_topics: int) -> sp.csr_array:
        """Return n_j.k of all documents; topic k is column rank[k]."""
        rank_of = np.zeros(self._counts.stride, np.int64)
        rank_of[self._counts.stored] = rank[: self._counts.stored.size]
        found = [piece.document_topics(rank_of) for piece in self._pieces]
        lengths, columns, counts = (np.concatenate(parts) for parts in zip(*found, strict=True))
        row_ptr = np.zeros(lengths.size + 1, np.int64)
        np.cumsum(lengths, out=row_ptr[1:])
        if counts.size < 2**31:  # or SciPy would copy the columns to the wider type
            row_ptr = row_ptr.astype(np.int32)
        return sp.csr_array((counts, columns, row_ptr), shape=(lengths.size, n_topics))

    # ------------------------------------------------------------ a pass

    def update(
        self, key: Key, weights: Measure, alpha: float, eta: float, passes: int, given: Rows | None = None
    ) -> Passed:
        """Draw the terms of topics, then topics and tables of all documents; topics have columns then.

        Terms are drawn given the counts of these documents, or given those of all, by number.
        """
        device, columns = self._device, int(weights.sizes[1])
        if columns > MOST_COLUMNS:
            self._room(columns)  # says so
        for piece in self._pieces:
            piece.forget_seats()
        own = self._counts
        concentrations = (alpha, eta)
        measure, counts = draw_measure(
            device, key, weights, concentrations, self._of_all(given), own, self._longest
        )
        column_of = np.zeros(own.stride, np.uint16)
        column_of[own.stored] = weights.column[: own.stored.size]
        self._counts = Counts(counts, own.stored)
        tally, there = new_tally(device, columns, self._longest), device.put(column_of)
        for piece in self._pieces:
            piece.update(key, measure, there, counts, passes, tally)
        self._last = (key, measure)
        return self._passed(tally)

    def name(self, number: Array, words: Array) -> None:
        """Note the numbers of topics, of which each column with words has one."""
        live = np.flatnonzero(words)
        stored = np.zeros(live.size, np.int64)
        stored[number[live]] = live
        self._counts = self._counts._replace(stored=stored)

    # ------------------------------------------------------------ what the head looks at

    def open(self, room: int) -> None:
        """Write seats down, and store topics under their numbers, with room for so many."""
        self._write_seats()
        old = self._counts
        number_of = self._device.put(self._number_of().astype(np.uint16))
        counts = self._room(max(room, old.stored.size))
        counts[:, : old.stored.size] = old.array[:, self._device.put(old.stored)]
        for piece in self._pieces:
            piece.renumber(number_of)
        self._counts = Counts(counts, np.arange(old.stored.size))

    def _write_seats(self) -> None:
        if self._last is not None:
            for piece in self._pieces:
                piece.write_seats(*self._last)
            self._last = None

    def rows(self) -> Rows:
        """Return the counts of every term by topic, those that are not 0."""
        device, (array, stored) = self._device, self._counts
        xp, n_terms = device.xp, self._corpus.n_terms
        where = (array, self._counts.stride, device.put(stored), stored.size)
        lengths = xp.zeros(n_terms, np.int32)
        device.launch("count_pairs", n_terms, *where, lengths)
        ends = xp.cumsum(lengths, dtype=np.int64)
        topics, counts = (xp.empty(int(ends[-1]), np.int32) for _ in range(2))
        device.launch("list_pairs", n_terms, *where, ends - lengths, topics, counts)
        return Rows(*(narrow(device.get(one)) for one in (lengths, topics, counts)))

    def take(self, turn: int, n_turns: int) -> list[Seats]:
        """Return the documents whose turn it is, of each piece; topics are stored under their numbers."""
        if self._n_turns != n_turns:  # which is the same for a run
            found = [turns(piece.n_documents, n_turns, piece.first_document) for piece in self._pieces]
            self._turns, self._n_turns = found, n_turns
        taken = []
        for piece, own in zip(self._pieces, self._turns, strict=True):
            documents = own[turn]
            seats = piece.gather(documents)
            numbers, lengths = piece.first_document + documents, np.diff(piece.corpus.doc_ptr)[documents]
            taken.append(Seats(numbers=numbers, lengths=lengths, **seats))
        return taken

    def put(self, seats: Seats, taken: list[Seats]) -> None:
        """Take these documents back, seated in another way."""
        self._make_room(int(seats.k_jt.max(initial=0)) + 1)
        for piece, own in zip(self._pieces, divided(seats, taken), strict=True):
            documents = own.numbers - piece.first_document
            piece.put(documents, own.t_ji, own.k_jt, own.n_jt, own.m_j, self._counts.array)

    def tables(self, threads: Threads) -> TableSource:
        """Return what trials ask for tables."""
        first_words = [piece.first_word for piece in self._pieces]
        if not self._tables or self._tables[0].threads is not threads:
            self._tables = [PieceTables(piece, threads) for piece in self._pieces]
        held = self._tables

        def ask(what: str, arguments: list[tuple[Any, ...]]) -> list[Any]:
            if what == "relabel":
                self._make_room(arguments[0][1] + 1)
                for one, (slots, topic) in zip(held, arguments, strict=True):
                    one.relabel(slots, topic, self._counts.array)
                return []
            return [getattr(one, what)(*own) for one, own in zip(held, arguments, strict=True)]

        return TablesInParts(first_words, ask)

    def _make_room(self, n_topics: int) -> None:
        """Make room for topics of such numbers."""
        if n_topics > self._counts.stride:
            counts = self._room(max(n_topics, 2 * self._counts.stride))
            counts[:, : self._counts.stride] = self._counts.array
            self._counts = self._counts._replace(array=counts)

    def merge(self, into: Array) -> None:
        """Give the words and tables of each topic k to topic into[k]; `close` is next."""
        gone = np.flatnonzero(into != np.arange(into.size))
        if not gone.size:
            return
        self._write_seats()
        self._make_room(into.size)
        old, new = self._columns_of(gone), self._columns_of(into[gone])
        column_of = np.arange(self._counts.stride, dtype=np.uint16)
        column_of[old] = new
        counts, there = self._counts.array, self._device.put(column_of)
        for a, b in zip(old.tolist(), new.tolist(), strict=True):
            counts[:, b] += counts[:, a]
            counts[:, a] = 0
        for piece in self._pieces:
            piece.renumber(there)

    def _columns_of(self, numbers: Array) -> Array:
        """Return the columns of topics; those that are younger than `stored` have their numbers (`open`)."""
        columns = np.arange(int(numbers.max(initial=0)) + 1)
        known = self._counts.stored[: columns.size]
        columns[: known.size] = known
        return columns[numbers]

    def close(self, live: Array) -> Array:
        """Note the topics that live, in the order of their new numbers; return the sizes of tables."""
        self._make_room(int(live.max(initial=0)) + 1)  # for those that no word here has
        self._counts = self._counts._replace(stored=self._columns_of(live))
        sizes = self._device.xp.zeros(self._longest + 1, np.uint64)
        for piece in self._pieces:
            piece.count_sizes(sizes)
            piece.list_topics()
        return np.trim_zeros(self._device.get(sizes).astype(np.int64), "b")

    def log_p_terms(self, eta: float, given: Rows | None = None) -> float:
        """Return what the terms add to log p(x | c), by the counts of these documents, or by those of all."""
        if self._log_gammas[0] != eta:
            self._log_gammas = eta, self._device.put(gammaln(np.arange(_TABULATED) + eta))
        return log_p_of_terms(self._device, self._of_all(given), self._log_gammas[1], eta)

    def _of_all(self, given: Rows | None) -> Counts:
        """Return counts that were given, by the columns that topics have here; without any, those here."""
        own, put = self._counts, self._device.put
        if given is None:
            return own
        terms = np.repeat(np.arange(self._corpus.n_terms), given.lengths)
        array = self._device.xp.zeros(own.array.shape, np.int32)
        array[put(terms), put(own.stored[given.topics])] = put(given.counts.astype(np.int32))
        return own._replace(array=array)


# Bytes of a word and its topic on the GPU, with the list of its document's topics; and of its seat.
_BYTES_A_WORD, _BYTES_A_SEAT = 10, 10
# More for long documents, per word, and per column of a document: what stays, and what a pass needs
# (`long_documents`: counts before and after, weights, tables, slots and what these are computed from).
_LONG_WORD_STAYS, _LONG_WORD_PASSES = 8, 4
_LONG_COLUMN_STAYS, _LONG_COLUMN_PASSES = 4, 36
_BYTES_A_CELL = 16  # of terms by columns: counts, twice for a while, shares, sums
_BYTES_A_GIVEN_CELL = 4 + 24  # at most: the counts of all documents, and where they go
_WORDS_A_PIECE = 1 << 27
_SPARE = 1 << 30  # for what is soon done with


def pieces_for(
    device: Device, corpus: CorpusArrays, n_topics: int, with_others: bool = False
) -> tuple[list[int], int]:
    """Return where to cut documents that do not fit, and how many pieces to keep on the GPU.

    Where there are others elsewhere, the counts of all come over as well.

    GpuError says what there is and what would be needed, where not even topics and one piece fit.
    """
    n_documents, n_words = corpus.doc_ptr.size - 1, int(corpus.doc_ptr[-1])
    columns, free = 2 * n_topics, device.free_bytes()
    a_cell = _BYTES_A_CELL + (_BYTES_A_GIVEN_CELL if with_others else 0)
    stay, ends = _bytes_of_documents(corpus, columns)
    always = corpus.n_terms * wide(columns) * a_cell + _SPARE + stay
    if always + int(ends[-1]) <= free:
        return [0, n_documents], 1
    marks = np.searchsorted(corpus.doc_ptr, np.arange(_WORDS_A_PIECE, n_words, _WORDS_A_PIECE))
    pieces = sorted({0, *marks.tolist(), n_documents})
    # One that comes and goes, and what it leaves room for.
    room = free - always - int(np.diff(ends[pieces]).max())
    if room < 0:
        raise GpuError(
            f"engine='gpu': the GPU has {free / 1e9:,.1f} GB to spare, and {corpus.n_terms:,} terms by "
            f"{n_topics:,} topics with a piece of the documents take {(free - room) / 1e9:,.1f} GB: leave "
            "out rare terms, or use engine='parallel'",
            code="gpu-memory",
        )
    return pieces, int(np.searchsorted(ends[pieces[1:]], room))


def _bytes_of_documents(corpus: CorpusArrays, columns: int) -> tuple[int, Array]:
    """Return what stays on the GPU even of pieces that do not, and the rest, added up over documents."""
    lengths = np.diff(corpus.doc_ptr)
    long = lengths * (lengths > LONG)
    stays = long * _LONG_WORD_STAYS + (long > 0) * columns * _LONG_COLUMN_STAYS
    passes = long * _LONG_WORD_PASSES + (long > 0) * columns * _LONG_COLUMN_PASSES
    rest = lengths * (_BYTES_A_WORD + _BYTES_A_SEAT) + passes
    return int(stays.sum()), np.concatenate([[0], np.cumsum(rest)])
