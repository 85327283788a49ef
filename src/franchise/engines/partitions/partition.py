"""A partition: a range of the documents with their seating in one chain, and what a sweep asks of it.

All that depends on documents elsewhere is sent to it, or follows from what is sent and the key. So it does
not matter how the documents are divided.
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
    """Which documents a partition holds."""

    first_document: int
    first_word: int
    longest: int  # words of the longest document of the whole corpus


class Passed(NamedTuple):
    """What a pass over the documents has counted, by column: of G_0, or of the first topics."""

    words: Array
    tables: Array


class SeatedDocuments(NamedTuple):
    """Some documents and their seating, on the way to the coordinator or back.

    Of count tables, `x` and `t_ji` are empty, `lengths` are those of their ranges of slots, and the last
    three arrays say what the tables hold (`moves.shared.scratch.TableScratch`).
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

    progress: float  # share of the pass under way that is done

    @property
    def n_bytes(self) -> int:
        """Memory that it takes in this process, about; the documents not counted."""

    def use_threads(self, number: int) -> None:
        """Use this number of threads from now on; results stay the same."""

    # ------------------------------------------------------------ a start and a pass

    def start(self, key: Key, start: int | StartingTopics) -> Passed:
        """Sample the first topic of every word, from this number of topics or from fitted ones."""

    def update(
        self, key: Key, counts: State | Rows | None, weights: Measure, concentrations: Array, passes: int
    ) -> Passed:
        """Sample the terms of topics, then topics and tables of all documents given these and the weights.

        `counts` are those of all documents, None where they never left the only GPU.
        """

    def name(self, columns: Array, with_rows: bool) -> Rows | None:
        """Take note of the topics that there are now: topic k has column columns[k].

        Returns the counts of every term by topic, if they are asked for.
        """

    def rows(self) -> Rows:
        """Return the counts of every term by topic."""

    # ------------------------------------------------------------ collapsed moves

    def take(self, room: int, turn: int, n_turns: int) -> SeatedDocuments:
        """Return the documents whose turn it is; `room` is the most topics that there can be then."""

    def put(self, documents: SeatedDocuments) -> None:
        """Take documents back, seated in another way."""

    def merge(self, into: Array) -> None:
        """Give the words and tables of each topic k to topic into[k]."""

    def finish(self, order: Array | None) -> tuple[Array, Array]:
        """End the sweep: topic order[k] becomes topic k; None if there were no collapsed moves.

        Returns the different sizes of tables, and how many tables have each.
        """

    def rest(self) -> None:
        """Free memory that other chains may need: no sweep follows for a while."""

    # ------------------------------------------------------------ what is kept

    def seating(self, begin: int, end: int) -> dict[str, Array]:
        """Return the seating of documents `begin` to `end` of the partition, as a checkpoint stores it."""

    def seat(self, begin: int, end: int, arrays: dict[str, Array]) -> None:
        """Set the seating of documents `begin` to `end`; ValueError and KeyError say what is wrong."""

    def recount(self, n_topics: int) -> Passed:
        """Count the words and tables of each topic; ValueError where there are other topics."""

    def document_topics(self, rank: Array, n_topics: int) -> sp.csr_array:
        """Return n_j.k of the documents; topic k is column rank[k]."""


class CountingPartition(Partition, Protocol):
    """A partition in memory, which can put its counts where others look them up."""

    def fill_rows(self, state: State) -> None:
        """Fill in the rows of a state from these documents alone."""


class GpuPartition(Partition, Protocol):
    """A partition on a GPU, where the counts stay while nobody else needs them."""

    def log_p_terms(self, eta: float, counts: State | Rows | None) -> float:
        """Return what the terms of all documents add to log p(x | c); without counts, these are all."""


def joined(parts: Sequence[SeatedDocuments]) -> SeatedDocuments:
    """Return the documents of all parts, one part after another, in arrays of their own."""
    end_to_end = SeatedDocuments(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    if not end_to_end.pair_ptr.size:
        return end_to_end
    sizes = np.concatenate([np.diff(part.pair_ptr) for part in parts])
    return end_to_end._replace(pair_ptr=np.append(0, np.cumsum(sizes)))


def divided(documents: SeatedDocuments, parts: Sequence[SeatedDocuments]) -> list[SeatedDocuments]:
    """Divide documents that were joined; of what tables hold, which has not changed, nothing is returned."""
    by_document = np.cumsum([0, *(part.numbers.size for part in parts)])
    by_slot = np.cumsum([0, *(part.k_jt.size for part in parts)])
    found = []
    for (a, b), (c, d) in zip(pairwise(by_document), pairwise(by_slot), strict=True):
        of_documents = (getattr(documents, name)[a:b] for name in ("numbers", "lengths", "m_j"))
        of_slots = (getattr(documents, name)[c:d] for name in ("x", "t_ji", "n_jt", "k_jt"))
        found.append(SeatedDocuments(*of_documents, *of_slots))
    return found


def has_changed(order: Array) -> bool:
    """Return whether topics have other numbers now."""
    return not np.array_equal(order, np.arange(order.size))


def recounted(n_jt: Array, k_jt: Array, n_topics: int) -> Passed:
    """Count the words and tables of each topic; ValueError where there are other topics."""
    if k_jt.size and not 0 <= k_jt.min() <= k_jt.max() < n_topics:
        raise ValueError("a table has a topic that is not there")
    words = np.bincount(k_jt, weights=n_jt, minlength=n_topics).astype(np.int64)
    return Passed(words, np.bincount(k_jt, minlength=n_topics))


def numbers_for(old: Array) -> Array:
    """Return the number of each topic by its old one, or by its column: old[k] becomes k."""
    number = np.zeros(int(old.max(initial=-1)) + 1, np.int32)
    number[old] = np.arange(old.size)
    return number


def totals(passed: Sequence[Passed]) -> Passed:
    """Add up what several partitions have counted."""
    return Passed(*(np.sum(arrays, axis=0) for arrays in zip(*passed, strict=True)))


def sizes_together(parts: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Add up the sizes of tables of several partitions."""
    if len(parts) == 1:
        return parts[0]
    sizes, which = np.unique(np.concatenate([sizes for sizes, _ in parts]), return_inverse=True)
    times = np.concatenate([times for _, times in parts])
    return sizes, np.bincount(which, weights=times, minlength=sizes.size).astype(np.int64)


def turns(n_documents: int, n_turns: int, first: int = 0) -> list[Array]:
    """Return the documents of the sweeps that take turns: spread over the corpus, each in one of them.

    By its number alone, so a range of the documents may be asked for, which begins at `first`.
    """
    places = np.arange(first, first + n_documents) * _GOLDEN_RATIO % 1.0
    turn = np.minimum((places * n_turns).astype(np.int64), n_turns - 1)
    ends = np.cumsum(np.bincount(turn, minlength=n_turns))
    return np.split(np.argsort(turn, kind="stable"), ends[:-1])
