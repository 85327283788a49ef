"""A partition: a range of the documents with their seating in one chain, and the steps of a sweep on it.

A partition depends on documents elsewhere only through the values it receives and the key. So results do not
depend on how the documents are divided.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from franchise._arrays import Array
from franchise.engines.starts.starting_topics import StartingTopics
from franchise.engines.table_source import TableSource
from franchise.model.measure import Measure
from franchise.model.rows import Rows
from franchise.model.state import State
from franchise.random import Key

_GOLDEN_RATIO = (np.sqrt(5.0) - 1.0) / 2.0


class Range(NamedTuple):
    """The range of documents of a partition."""

    first_document: int
    first_word: int
    longest: int  # words of the longest document of the whole corpus


class Passed(NamedTuple):
    """Words and tables by column, of G_0 or of the first topics, counted in a pass over the documents."""

    words: Array
    tables: Array


class SeatedDocuments(NamedTuple):
    """Some documents and their seating, on the way to the coordinator or back.

    For count tables, `x` and `t_ji` are empty, `lengths` are those of their ranges of slots, and the last
    three arrays are the contents of tables (`moves.shared.scratch.TableScratch`).
    """

    numbers: Array  # of the documents in the whole corpus
    lengths: Array
    m_j: Array
    x: Array
    t_ji: Array
    n_jt: Array  # on the slot axis, as in a state
    k_jt: Array
    table_words: Array = np.zeros(0, np.int32)
    table_counts: Array = np.zeros(0, np.int32)
    pair_ptr: Array = np.zeros(0, np.int64)


class Partition(TableSource, Protocol):
    """A range of the documents with their seating in one chain."""

    progress: float  # completed share of the present pass

    @property
    def n_bytes(self) -> int:
        """Approximate memory in this process, without the documents."""

    def use_threads(self, number: int) -> None:
        """Use this number of threads from now on; results stay the same."""

    # ------------------------------------------------------------ a start and a pass

    def start(self, key: Key, start: int | StartingTopics) -> Passed:
        """Sample the first topic of every word, from this number of topics or from fitted ones."""

    def update(
        self, key: Key, counts: State | Rows | None, weights: Measure, concentrations: Array, passes: int
    ) -> Passed:
        """Sample the terms of topics, then topics and tables of all documents given these and the weights.

        `counts` are those of all documents, None if they never left the only GPU.
        """

    def name(self, columns: Array, with_rows: bool) -> Rows | None:
        """Receive the present topics: topic k has column columns[k].

        Returns the counts of every term by topic, if `with_rows`.
        """

    def rows(self) -> Rows:
        """Return the counts of every term by topic."""

    # ------------------------------------------------------------ collapsed moves

    def take(self, room: int, turn: int, n_turns: int) -> SeatedDocuments:
        """Return the documents whose turn it is; `room` is the most topics that there can be then."""

    def put(self, documents: SeatedDocuments) -> None:
        """Take documents back with another seating."""

    def merge(self, into: Array) -> None:
        """Give the words and tables of each topic k to topic into[k]."""

    def finish(self, order: Array | None) -> tuple[Array, Array]:
        """End the sweep: topic order[k] becomes topic k; None if there were no collapsed moves.

        Returns the sizes of tables and the number of tables of each size.
        """

    def rest(self) -> None:
        """Free memory that other chains may need, as no sweep follows for a while."""

    # ------------------------------------------------------------ storing and restoring

    def seating(self, begin: int, end: int) -> dict[str, Array]:
        """Return the seating of documents `begin` to `end` of the partition, as a checkpoint stores it."""

    def seat(self, begin: int, end: int, arrays: dict[str, Array]) -> None:
        """Set the seating of documents `begin` to `end`; ValueError and KeyError say what is wrong."""

    def recount(self, n_topics: int) -> Passed:
        """Count the words and tables of each topic; ValueError if a topic is out of range."""

    def document_topics(self, rank: Array, n_topics: int) -> sp.csr_array:
        """Return n_j.k of the documents; topic k is column rank[k]."""


class CountingPartition(Partition, Protocol):
    """A partition in memory, which can write its counts where others read them."""

    def fill_rows(self, state: State) -> None:
        """Fill in the rows of a state from these documents only."""


class GpuPartition(Partition, Protocol):
    """A partition on a GPU, where the counts stay as long as no other process needs them."""

    def log_p_terms(self, eta: float, counts: State | Rows | None) -> float:
        """Return the terms' contribution to log p(x | c); None means that the counts here are all."""


def joined(parts: Sequence[SeatedDocuments]) -> SeatedDocuments:
    """Join documents in order; return copies."""
    end_to_end = SeatedDocuments(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    if not end_to_end.pair_ptr.size:
        return end_to_end
    sizes = np.concatenate([np.diff(part.pair_ptr) for part in parts])
    return end_to_end._replace(pair_ptr=np.append(0, np.cumsum(sizes)))


def divided(documents: SeatedDocuments, parts: Sequence[SeatedDocuments]) -> list[SeatedDocuments]:
    """Divide joined documents again; the contents of tables, which have not changed, are left out."""
    by_document = np.cumsum([0, *(part.numbers.size for part in parts)])
    by_slot = np.cumsum([0, *(part.k_jt.size for part in parts)])
    found = []
    for (a, b), (c, d) in zip(pairwise(by_document), pairwise(by_slot), strict=True):
        of_documents = (getattr(documents, name)[a:b] for name in ("numbers", "lengths", "m_j"))
        of_slots = (getattr(documents, name)[c:d] for name in ("x", "t_ji", "n_jt", "k_jt"))
        found.append(SeatedDocuments(*of_documents, *of_slots))
    return found


def has_changed(order: Array) -> bool:
    """Return whether any topic changes its number."""
    return not np.array_equal(order, np.arange(order.size))


def recounted(n_jt: Array, k_jt: Array, n_topics: int) -> Passed:
    """Count the words and tables of each topic; ValueError if a topic is out of range."""
    if k_jt.size and not 0 <= k_jt.min() <= k_jt.max() < n_topics:
        raise ValueError("a table has a topic that does not exist")
    words = np.bincount(k_jt, weights=n_jt, minlength=n_topics).astype(np.int64)
    return Passed(words, np.bincount(k_jt, minlength=n_topics))


def numbers_for(old: Array) -> Array:
    """Return the number of each topic by its old number or column: old[k] becomes k."""
    number = np.zeros(int(old.max(initial=-1)) + 1, np.int32)
    number[old] = np.arange(old.size)
    return number


def totals(passed: Sequence[Passed]) -> Passed:
    """Add up the counts of several partitions."""
    return Passed(*(np.sum(arrays, axis=0) for arrays in zip(*passed, strict=True)))


def sizes_together(parts: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Add up the sizes of tables of several partitions."""
    if len(parts) == 1:
        return parts[0]
    sizes, which = np.unique(np.concatenate([sizes for sizes, _ in parts]), return_inverse=True)
    times = np.concatenate([times for _, times in parts])
    return sizes, np.bincount(which, weights=times, minlength=sizes.size).astype(np.int64)


def turns(n_documents: int, n_turns: int, first: int = 0) -> list[Array]:
    """Return the documents of each turn, spread over the corpus; each document has one turn.

    The turn depends only on a document's number in the corpus; `first` is the number of the first one here.
    """
    places = np.arange(first, first + n_documents) * _GOLDEN_RATIO % 1.0
    turn = np.minimum((places * n_turns).astype(np.int64), n_turns - 1)
    ends = np.cumsum(np.bincount(turn, minlength=n_turns))
    return np.split(np.argsort(turn, kind="stable"), ends[:-1])
