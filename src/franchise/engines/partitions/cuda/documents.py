"""Documents on a GPU in one chain, with the counts of terms by topic.

Topics are stored as columns of the last pass; `Counts.stored` has the column of each topic. Before documents
go to the coordinator, columns are replaced by the coordinator's topic numbers.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln

from franchise._arrays import Array, CorpusArrays, narrow
from franchise.engines.partitions.cuda.block import Block, Tally, new_tally
from franchise.engines.partitions.cuda.block_tables import BlockTables
from franchise.engines.partitions.cuda.device import Device
from franchise.engines.partitions.cuda.layout import LONG
from franchise.engines.partitions.cuda.measure import (
    Counts,
    GivenMeasure,
    draw_measure,
    log_p_of_terms,
    no_new_tables,
    wide,
)
from franchise.engines.partitions.partition import Passed, SeatedDocuments, divided, turns
from franchise.engines.starts.starting_topics import StartingTopics, number_of_topics
from franchise.engines.threads import Threads
from franchise.errors import GpuError
from franchise.model.measure import Measure
from franchise.model.rows import Rows
from franchise.model.state import State, word_topics
from franchise.random import Key

MOST_COLUMNS = 1 << 16
_TABULATED = 1 << 16  # counts with tabulated log gammas


class GpuDocuments:
    """Documents on a GPU.

    Parameters
    ----------
    device
        The GPU.
    corpus
        The documents.
    blocks
        Documents at which blocks begin and end.
    resident
        How many of the blocks stay on the GPU; the others are copied to it for each use.
    first_document, first_word
        The numbers of the first document and word in the whole corpus, if there are documents elsewhere.
    longest
        The number of words of the longest document of the whole corpus.
    """

    def __init__(
        self,
        device: Device,
        corpus: CorpusArrays,
        blocks: list[int] | None = None,
        resident: int | None = None,
        first_document: int = 0,
        first_word: int = 0,
        longest: int = 0,
    ) -> None:
        self._device, self._corpus = device, corpus
        self._first_document, self._first_word = first_document, first_word
        doc_ptr = corpus.doc_ptr
        marks = blocks or [0, doc_ptr.size - 1]
        self._blocks = [
            Block(
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
        self.table_sizes = np.zeros(0, np.int64)  # the number of tables of each size
        self._last: tuple[Key, GivenMeasure] | None = None  # gives the seating; None: it is written out
        self._log_gammas: tuple[float, Any] = (-1.0, None)
        self._n_turns = 0
        self._turns: list[list[Array]] = []
        self._tables: list[BlockTables] = []

    # ------------------------------------------------------------ from and to the host

    def load(self, state: State, n_topics: int) -> None:
        """Receive the seating of all documents, with `n_topics` topics numbered without gaps."""
        z, counts = word_topics(self._corpus, state), self._room(n_topics)
        for block in self._blocks:
            words = self._words_of(block)
            block.load(z[words])
            block.count(counts)
            first = block.first_document - self._first_document
            documents = slice(first, first + block.n_documents)
            block.load_seating(state.t_ji[words], state.k_jt[words], state.n_jt[words], state.m_j[documents])
        self._counts, self._last = Counts(counts, np.arange(n_topics)), None

    def start(self, key: Key, start: int | StartingTopics) -> Passed:
        """Sample the first topic of every word, from this number of topics or from fitted ones."""
        n_topics = number_of_topics(start)
        counts, tally = self._room(n_topics), new_tally(self._device, n_topics, self._longest)
        for block in self._blocks:
            block.load()
            block.start(key, start, tally)
            block.count(counts)
        self._counts = Counts(counts, np.arange(n_topics))
        self._last = key, no_new_tables(self._device, n_topics, self._longest)
        return self._passed(tally)

    def _passed(self, tally: Tally) -> Passed:
        words, tables, sizes = (self._device.get(one).astype(np.int64) for one in tally)
        self.table_sizes = sizes
        return Passed(words, tables)

    def _words_of(self, block: Block) -> slice:
        first = block.first_word - self._first_word
        return slice(first, first + block.corpus.x.size)

    def _room(self, n_topics: int) -> Any:
        if n_topics > MOST_COLUMNS:
            raise GpuError(
                f"engine='gpu' has room for {MOST_COLUMNS:,} topics, but the chain has {n_topics:,} now, "
                "unused ones included: use engine='parallel', or a larger eta",
                code="too-many-topics",
            )
        return self._device.xp.zeros((self._corpus.n_terms, wide(n_topics)), np.int32)

    def seating(self) -> dict[str, Array]:
        """Return t_ji, n_jt, k_jt and m_j of all documents, as a state has them."""
        self._store_seating()
        number_of = self._number_of()
        found = [block.gather(np.arange(block.n_documents)) for block in self._blocks]
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
        found = [block.document_topics(rank_of) for block in self._blocks]
        lengths, columns, counts = (np.concatenate(parts) for parts in zip(*found, strict=True))
        row_ptr = np.zeros(lengths.size + 1, np.int64)
        np.cumsum(lengths, out=row_ptr[1:])
        if counts.size < 2**31:  # otherwise SciPy would copy the columns to the wider type
            row_ptr = row_ptr.astype(np.int32)
        return sp.csr_array((counts, columns, row_ptr), shape=(lengths.size, n_topics))

    # ------------------------------------------------------------ a pass

    def update(
        self, key: Key, weights: Measure, alpha: float, eta: float, passes: int, given: Rows | None = None
    ) -> Passed:
        """Sample the terms of topics, then topics and tables of all documents; topics then have columns.

        Terms are sampled given the counts of these documents, or given those of all, by number.
        """
        device, columns = self._device, int(weights.sizes[1])
        if columns > MOST_COLUMNS:
            self._room(columns)  # raises the error
        for block in self._blocks:
            block.drop_seating()
        own = self._counts
        concentrations = (alpha, eta)
        measure, counts = draw_measure(
            device, key, weights, concentrations, self._of_all(given), own, self._longest
        )
        column_of = np.zeros(own.stride, np.uint16)
        column_of[own.stored] = weights.column[: own.stored.size]
        self._counts = Counts(counts, own.stored)
        tally, there = new_tally(device, columns, self._longest), device.put(column_of)
        for block in self._blocks:
            block.update(key, measure, there, counts, passes, tally)
        self._last = (key, measure)
        return self._passed(tally)

    def name(self, columns: Array) -> None:
        """Receive the present topics: topic k has column columns[k]."""
        self._counts = self._counts._replace(stored=columns)

    # ------------------------------------------------------------ collapsed moves

    def open(self, room: int) -> None:
        """Write out the seating, and store topics under their numbers, with room for `room` topics."""
        self._store_seating()
        old = self._counts
        number_of = self._device.put(self._number_of().astype(np.uint16))
        counts = self._room(max(room, old.stored.size))
        counts[:, : old.stored.size] = old.array[:, self._device.put(old.stored)]
        for block in self._blocks:
            block.renumber(number_of)
        self._counts = Counts(counts, np.arange(old.stored.size))

    def _store_seating(self) -> None:
        if self._last is not None:
            for block in self._blocks:
                block.store_seating(*self._last)
            self._last = None

    def rows(self) -> Rows:
        """Return the counts of every term by topic, without zeros."""
        device, (array, stored) = self._device, self._counts
        xp, n_terms = device.xp, self._corpus.n_terms
        where = (array, self._counts.stride, device.put(stored), stored.size)
        lengths = xp.zeros(n_terms, np.int32)
        device.launch("count_pairs", n_terms, *where, lengths)
        ends = xp.cumsum(lengths, dtype=np.int64)
        topics, counts = (xp.empty(int(ends[-1]), np.int32) for _ in range(2))
        device.launch("list_pairs", n_terms, *where, ends - lengths, topics, counts)
        return Rows(*(narrow(device.get(one)) for one in (lengths, topics, counts)))

    def take(self, turn: int, n_turns: int) -> list[SeatedDocuments]:
        """Return the documents of each block whose turn it is; topics are stored under their numbers."""
        if self._n_turns != n_turns:  # the same for a whole run
            found = [turns(block.n_documents, n_turns, block.first_document) for block in self._blocks]
            self._turns, self._n_turns = found, n_turns
        taken = []
        for block, own in zip(self._blocks, self._turns, strict=True):
            documents = own[turn]
            seats = block.gather(documents)
            numbers, lengths = block.first_document + documents, np.diff(block.corpus.doc_ptr)[documents]
            taken.append(SeatedDocuments(numbers=numbers, lengths=lengths, **seats))
        return taken

    def put(self, seats: SeatedDocuments, taken: list[SeatedDocuments]) -> None:
        """Take these documents back with another seating."""
        self._make_room(int(seats.k_jt.max(initial=0)) + 1)
        for block, own in zip(self._blocks, divided(seats, taken), strict=True):
            documents = own.numbers - block.first_document
            block.put(documents, own.t_ji, own.k_jt, own.n_jt, own.m_j, self._counts.array)

    def tables(self, threads: Threads) -> list[BlockTables]:
        """Return the tables of each block, for split-merge trials."""
        if not self._tables or self._tables[0].threads is not threads:
            self._tables = [BlockTables(block, threads) for block in self._blocks]
        return self._tables

    def relabel(self, slots: Array, topic: int, threads: Threads) -> None:
        """Give the tables at these slots to a topic; slots that are not here are skipped."""
        self._make_room(topic + 1)
        for own in self.tables(threads):
            own.relabel(slots, topic, self._counts.array)

    def _make_room(self, n_topics: int) -> None:
        """Make room for this number of topics."""
        if n_topics > self._counts.stride:
            counts = self._room(max(n_topics, 2 * self._counts.stride))
            counts[:, : self._counts.stride] = self._counts.array
            self._counts = self._counts._replace(array=counts)

    def merge(self, into: Array) -> None:
        """Give the words and tables of each topic k to topic into[k]; call `close` next."""
        gone = np.flatnonzero(into != np.arange(into.size))
        if not gone.size:
            return
        self._store_seating()
        self._make_room(into.size)
        old, new = self._columns_of(gone), self._columns_of(into[gone])
        column_of = np.arange(self._counts.stride, dtype=np.uint16)
        column_of[old] = new
        counts, there = self._counts.array, self._device.put(column_of)
        for a, b in zip(old.tolist(), new.tolist(), strict=True):
            counts[:, b] += counts[:, a]
            counts[:, a] = 0
        for block in self._blocks:
            block.renumber(there)

    def _columns_of(self, numbers: Array) -> Array:
        """Return the columns of topics; topics younger than `stored` use their numbers (`open`)."""
        columns = np.arange(int(numbers.max(initial=0)) + 1)
        known = self._counts.stored[: columns.size]
        columns[: known.size] = known
        return columns[numbers]

    def close(self, order: Array) -> None:
        """Renumber: topic order[k] becomes topic k; count the tables of each size."""
        self._make_room(int(order.max(initial=0)) + 1)  # topics without words here
        self._counts = self._counts._replace(stored=self._columns_of(order))
        sizes = self._device.xp.zeros(self._longest + 1, np.uint64)
        for block in self._blocks:
            block.count_sizes(sizes)
            block.list_topics()
        self.table_sizes = self._device.get(sizes).astype(np.int64)

    def log_p_terms(self, eta: float, given: Rows | None = None) -> float:
        """Return the terms' contribution to log p(x | c), from the counts of these documents or of all."""
        if self._log_gammas[0] != eta:
            self._log_gammas = eta, self._device.put(gammaln(np.arange(_TABULATED) + eta))
        return log_p_of_terms(self._device, self._of_all(given), self._log_gammas[1], eta)

    def _of_all(self, given: Rows | None) -> Counts:
        """Return the given counts by the columns of topics here; by default those of these documents."""
        own, put = self._counts, self._device.put
        if given is None:
            return own
        if given.counts.max(initial=0) >= 2**31:
            raise GpuError(
                f"a topic has {given.counts.max():,} words of one term, more than the {2**31 - 1:,} that the "
                "GPU can count: leave out the most frequent terms (--max-df), or use engine='parallel'",
                code="too-many-words",
            )
        terms = np.repeat(np.arange(self._corpus.n_terms), given.lengths)
        array = self._device.xp.zeros(own.array.shape, np.int32)
        array[put(terms), put(own.stored[given.topics])] = put(given.counts.astype(np.int32))
        return own._replace(array=array)


# Bytes on the GPU per word, with its topic and the list of its document's topics; and for its seat.
_BYTES_A_WORD, _BYTES_A_SEAT = 10, 10
# More for long documents, per word, and per column of a document: resident bytes, and those of a pass
# (`long_documents`: counts before and after, weights, tables, slots and intermediate results).
_LONG_WORD_STAYS, _LONG_WORD_PASSES = 8, 4
_LONG_COLUMN_STAYS, _LONG_COLUMN_PASSES = 4, 36
_BYTES_A_CELL = 16  # per term and column: counts (temporarily twice), shares, sums
_BYTES_A_GIVEN_CELL = 4 + 24  # at most: the counts of all documents, and their positions
_WORDS_A_BLOCK = 1 << 27
_SPARE = 1 << 30  # for short-lived arrays


def blocks_for(
    free: int, corpus: CorpusArrays, n_topics: int, with_others: bool = False
) -> tuple[list[int], int]:
    """Return where to cut documents so that blocks fit into the memory, and how many blocks stay on the GPU.

    If there are documents elsewhere, the counts of all documents need room too. If not even topics and one
    block fit, GpuError says how much memory there is and how much is needed.
    """
    n_documents, n_words = corpus.doc_ptr.size - 1, int(corpus.doc_ptr[-1])
    columns = 2 * n_topics
    a_cell = _BYTES_A_CELL + (_BYTES_A_GIVEN_CELL if with_others else 0)
    stay, ends = _bytes_of_documents(corpus, columns)
    always = corpus.n_terms * wide(columns) * a_cell + _SPARE + stay
    if always + int(ends[-1]) <= free:
        return [0, n_documents], 1
    marks = np.searchsorted(corpus.doc_ptr, np.arange(_WORDS_A_BLOCK, n_words, _WORDS_A_BLOCK))
    blocks = sorted({0, *marks.tolist(), n_documents})
    # The memory for a block that is not resident, and what it leaves to resident blocks.
    room = free - always - int(np.diff(ends[blocks]).max())
    if room < 0:
        raise GpuError(
            f"engine='gpu': the GPU has {free / 1e9:,.1f} GB to spare, but {corpus.n_terms:,} terms by "
            f"{n_topics:,} topics with a block of the documents take {(free - room) / 1e9:,.1f} GB: leave "
            "out rare terms, or use engine='parallel'",
            code="gpu-memory",
        )
    return blocks, int(np.searchsorted(ends[blocks[1:]], room))


def _bytes_of_documents(corpus: CorpusArrays, columns: int) -> tuple[int, Array]:
    """Return the bytes that even blocks that are not resident keep on the GPU, and cumulated others."""
    lengths = np.diff(corpus.doc_ptr)
    long = lengths * (lengths > LONG)
    stays = long * _LONG_WORD_STAYS + (long > 0) * columns * _LONG_COLUMN_STAYS
    passes = long * _LONG_WORD_PASSES + (long > 0) * columns * _LONG_COLUMN_PASSES
    rest = lengths * (_BYTES_A_WORD + _BYTES_A_SEAT) + passes
    return int(stays.sum()), np.concatenate([[0], np.cumsum(rest)])
