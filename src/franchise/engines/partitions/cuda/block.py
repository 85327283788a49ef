"""A range of the documents on a GPU: their words with the topic of each, and their seating when needed.

Between sweeps only the topics of words are stored: tables follow from them and from the key of the sweep, and
are written out only when needed. If memory is short, words and topics stay on the host and are copied to the
GPU for each use.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from franchise._arrays import Array, CorpusArrays
from franchise.engines.partitions.cuda.device import Device, counter_key
from franchise.engines.partitions.cuda.layout import lay_out
from franchise.engines.partitions.cuda.long_documents import (
    LongDocuments,
    count_together,
    new_long_documents,
    write_long_seats,
)
from franchise.engines.partitions.cuda.long_documents import (
    update as update_long,
)
from franchise.engines.partitions.cuda.measure import GivenMeasure
from franchise.engines.partitions.cuda.source import SIDE_BY_SIDE, TILE
from franchise.engines.starts.starting_topics import StartingTopics, even_shares
from franchise.random import DOCUMENTS, Key

_WORDS_AT_ONCE = 1 << 27  # of documents that are updated together, about
_START_BYTES = 3 << 28  # for the mixtures of documents that are being fitted
_SEATS = {"t_ji": np.int32, "k_jt": np.uint16, "n_jt": np.int32}


class Tally(NamedTuple):
    """The counts of a pass, on the GPU: uint64."""

    words: Any  # of each column
    tables: Any
    sizes: Any  # the number of tables of each size


def new_tally(device: Device, columns: int, longest: int) -> Tally:
    """Return a tally of zeros."""
    return Tally(*(device.xp.zeros(n, np.uint64) for n in (columns, columns, longest + 1)))


class Block:
    """A range of the documents.

    Parameters
    ----------
    device
        The device that holds them.
    corpus
        The documents.
    first_document, first_word
        The numbers of the first document and word in the whole corpus.
    resident
        Whether words and topics stay on the GPU.
    """

    def __init__(
        self, device: Device, corpus: CorpusArrays, first_document: int, first_word: int, resident: bool
    ) -> None:
        self.device, self.corpus = device, corpus
        self.first_document, self.first_word = first_document, first_word
        self.layout = lay_out(corpus.doc_ptr)
        put, layout = device.put, self.layout
        self.base, self.length = put(layout.base), put(layout.length)
        self.number = put((first_document + layout.documents).astype(np.int32))
        self._marks = _marks(layout.length[: layout.regular])
        self._resident = resident
        self._arrays: dict[str, Any] = {}  # on the host if the block is not resident
        self._n_listed: Any = None
        self._long: LongDocuments | None = None
        self.m_j: Any = None

    @property
    def n_documents(self) -> int:
        """Number of documents, empty ones included."""
        return int(self.corpus.doc_ptr.size) - 1

    @contextmanager
    def on_device(self, *names: str, changes: tuple[str, ...] = ()) -> Iterator[list[Any]]:
        """Yield arrays by name, on the GPU; the changed ones are kept."""
        if self._resident:
            yield [self._arrays[name] for name in names]
            return
        here = {name: self.device.put(self._arrays[name]) for name in names}
        yield [here[name] for name in names]
        for name in changes:
            self._arrays[name] = self.device.get(here[name])

    def _keep(self, name: str, array: Any) -> None:
        self._arrays[name] = array if self._resident else self.device.get(array)

    # ------------------------------------------------------------ topics of words

    def load(self, z: Array | None = None) -> None:
        """Receive the words and, if known, the topic of every word, in the order of the corpus."""
        xp, layout, put = self.device.xp, self.layout, self.device.put
        x_there = put(self.corpus.x)
        z_there = xp.zeros(self.corpus.x.size, np.uint16) if z is None else put(z.astype(np.uint16))
        x, z_new = xp.zeros(layout.n_places, np.int32), xp.zeros(layout.n_places, np.uint16)
        begins = put(self.corpus.doc_ptr[layout.documents].astype(np.int64))
        self.device.launch(
            "lay_out", layout.base.size, layout.regular, self.base, self.length, begins, x_there, z_there,
            x, z_new,
        )  # fmt: skip
        self._keep("x", x)
        self._keep("z", z_new)
        if layout.regular < layout.base.size:
            self._long = new_long_documents(self.device, layout)
        if z is not None:
            self.list_topics()

    def start(self, key: Key, start: int | StartingTopics, tally: Tally) -> None:
        """Sample the first topic of every word, at random or from fitted topics; one table per topic."""
        device, layout, draw_key = self.device, self.layout, counter_key(key, "start")
        where = (draw_key, layout.regular, self.base, self.length, self.number)
        with self.on_device("x", "z", changes=("z",)) as (x, z):
            if isinstance(start, int):
                device.launch("draw_random", layout.base.size, *where, start, z)
            else:
                self._draw_fitted(where, start, x, z)
        self.list_topics()
        with self.on_device("z") as (z,):
            lists = self._lists(z)
            for first, n in self._groups():
                device.launch_with_lists("count_listed", n, first, self.base, *lists, *tally)
            if self._long is not None:
                self._long = count_together(device, self._long, int(tally.words.size), z, tally)

    def _draw_fitted(self, where: tuple[Any, ...], start: StartingTopics, x: Any, z: Any) -> None:
        device, xp, n_topics = self.device, self.device.xp, start.phi.shape[1]
        stride = -(-n_topics // TILE) * TILE
        phi = np.zeros((len(start.phi), stride), np.float32)
        phi[:, :n_topics] = start.phi
        even = even_shares(start.phi, start.row, start.common)
        threads = device.threads_for(3 * stride, _START_BYTES)
        device.launch_with_lists(
            "draw_fitted", self.layout.base.size, *where, x, n_topics, stride, device.put(phi),
            device.put(start.row.astype(np.int64)), device.put(start.common),
            device.put(even.astype(np.float32)), start.steps, xp.empty(2 * stride * threads, np.float32),
            xp.empty(stride * threads, np.int32), z, threads=threads,
        )  # fmt: skip

    def count(self, counts: Any) -> None:
        """Add the words to `counts` (term, topic)."""
        layout = self.layout
        with self.on_device("x", "z") as (x, z):
            self.device.launch(
                "count_words", layout.base.size, layout.regular, self.base, self.length, x, z, counts,
                counts.shape[1],
            )  # fmt: skip

    def renumber(self, number_of: Any) -> None:
        """Replace the stored topics of words and of tables by other numbers."""
        for name in ("z", "k_jt"):
            with self.on_device(name, changes=(name,)) as (topics,):
                self.device.launch("renumber", topics.size, number_of, topics)

    def list_topics(self) -> None:
        """List the topics of all documents, after the topics of words have changed."""
        with self.on_device("z") as (z,):
            listed, n_listed = self._lists_of(z)
            if self._resident:
                self._arrays["listed"], self._n_listed = listed, n_listed

    def _lists_of(self, z: Any) -> tuple[Any, Any]:
        xp, layout = self.device.xp, self.layout
        listed, n_listed = xp.empty(layout.n_places, np.uint32), xp.zeros(layout.base.size, np.int32)
        for first, n in self._groups():
            self.device.launch_with_lists(
                "list_documents", n, first, self.base, self.length, z, listed, n_listed
            )
        return listed, n_listed

    def _lists(self, z: Any) -> tuple[Any, Any]:
        """Return the topics of all documents and their number; they are listed again unless resident."""
        return (self._arrays["listed"], self._n_listed) if self._resident else self._lists_of(z)

    def _groups(self) -> list[tuple[int, int]]:
        """Return groups of documents to update together: first rank and number."""
        return [(first, last - first) for first, last in pairwise(self._marks)]

    def update(
        self, key: Key, given: GivenMeasure, column_of: Any, counts: Any, passes: int, tally: Tally
    ) -> None:
        """Update topics and tables of all words given G_0; `column_of` has the columns of stored topics."""
        key = key._replace(move=DOCUMENTS)
        with self.on_device("x", "z", changes=("z",)) as (x, z):
            lists = self._lists(z)
            for first, n in self._groups():
                self._update_group(key, given, column_of, counts, passes, tally, x, z, lists, first, n)
            if self._long is not None:
                self._long = update_long(
                    self.device, key, self._long, given, column_of, counts, passes, tally, x, z, self.number
                )

    def _update_group(
        self, key: Key, given: GivenMeasure, column_of: Any, counts: Any, passes: int, tally: Tally,
        x: Any, z: Any, lists: tuple[Any, Any], first: int, n: int,
    ) -> None:  # fmt: skip
        device, xp, length = self.device, self.device.xp, self.layout.length[first : first + n]
        word_key, seat_key = counter_key(key, "words"), counter_key(key, "seats")
        # Topics with two words or more may have several tables.
        queue, n_queue = xp.empty(int((length // 2).sum()), np.uint64), xp.zeros(1, np.uint32)
        device.launch_with_lists(
            "update_documents", n, first, word_key, seat_key, passes, self.base, self.length, self.number, x,
            z, *lists, column_of, given.moving, given.phi, counts.shape[1], given.rest, given.chunks,
            given.mass, given.survival, given.known, counts, *tally, queue, n_queue,
        )  # fmt: skip
        longest = int(length[0])
        threads = device.threads_for(longest)
        device.launch_with_lists(
            "seat_queue", n, queue, n_queue, seat_key, self.number, given.survival, given.known, given.mass,
            xp.empty(longest * threads, np.int32), *tally, threads=threads,
        )  # fmt: skip

    # ------------------------------------------------------------ seating

    def store_seating(self, key: Key, given: GivenMeasure) -> None:
        """Write out the seating after `update` with the same key."""
        xp, layout = self.device.xp, self.layout
        seats = {name: xp.zeros(layout.n_places, kind) for name, kind in _SEATS.items()}
        m_j = xp.zeros(layout.base.size, np.int32)
        key = key._replace(move=DOCUMENTS)
        with self.on_device("z") as (z,):
            for first, n in self._groups():
                self.device.launch(
                    "seat_documents", n, first, counter_key(key, "seats"), self.base, self.length,
                    self.number, z, *self._lists(z), given.mass, given.survival, given.known, *seats.values(),
                    m_j,
                )  # fmt: skip
            if self._long is not None:
                m_j[layout.regular :] = write_long_seats(
                    self.device, key, self._long, given, z, seats, self.number
                )
        self.m_j = m_j
        for name, array in seats.items():
            self._keep(name, array)

    def load_seating(self, t_ji: Array, k_jt: Array, n_jt: Array, m_j: Array) -> None:
        """Receive the seating in the order of the corpus, for words with known topics."""
        xp, layout = self.device.xp, self.layout
        for name, kind in _SEATS.items():
            self._keep(name, xp.zeros(layout.n_places, kind))
        self.m_j = xp.zeros(layout.base.size, np.int32)
        self.put(np.arange(self.n_documents), t_ji, k_jt, n_jt, m_j, None)

    def drop_seating(self) -> None:
        """Drop the seating."""
        self.m_j = None
        for name in _SEATS:
            self._arrays.pop(name, None)

    def gather(self, documents: Array) -> dict[str, Array]:
        """Return documents with their seating, in the given order: x, t_ji, k_jt, n_jt by word, m_j."""
        lengths = np.diff(self.corpus.doc_ptr)[documents]
        ends = np.cumsum(lengths)
        xp, put, get = self.device.xp, self.device.put, self.device.get
        ranks = self.layout.ranks[documents]
        there = ranks >= 0
        n_words = int(ends[-1]) if ends.size else 0
        to = {name: xp.zeros(n_words, np.int32) for name in ("x", "t_ji", "k_jt", "n_jt")}
        ranks_there = put(ranks[there])
        with self.on_device("x", *_SEATS) as (x, *seats):
            self.device.launch(
                "gather_documents", int(there.sum()), ranks_there, self.layout.regular, self.base,
                self.length, put((ends - lengths)[there].astype(np.int64)), x, *seats, self.m_j, *to.values(),
            )  # fmt: skip
        m_j = np.zeros(documents.size, np.int32)
        m_j[there] = get(self.m_j[ranks_there])
        return {name: get(array) for name, array in to.items()} | {"m_j": m_j}

    def put(
        self, documents: Array, t_ji: Array, k_jt: Array, n_jt: Array, m_j: Array, counts: Any | None
    ) -> None:
        """Take documents back with another seating; `counts` (term, topic) follow."""
        lengths = np.diff(self.corpus.doc_ptr)[documents]
        ends, ranks = np.cumsum(lengths), self.layout.ranks[documents]
        there, put = ranks >= 0, self.device.put
        given = [put(np.ascontiguousarray(one, np.int32)) for one in (t_ji, k_jt, n_jt, m_j[there])]
        begins = put((ends - lengths)[there].astype(np.int64))
        stride = 0 if counts is None else counts.shape[1]
        names = (*_SEATS, "z")
        with self.on_device("x", *names, changes=names) as (x, t, k, n, z):
            self.device.launch(
                "put_documents", int(there.sum()), put(ranks[there]), self.layout.regular, self.base,
                self.length, begins, *given, x, t, k, n, self.m_j, z, counts, stride,
            )  # fmt: skip

    def count_sizes(self, sizes: Any) -> None:
        """Count the tables of each size."""
        with self.on_device("n_jt") as (n_jt,):
            layout = self.layout
            self.device.launch_with_lists(
                "count_sizes", layout.base.size, layout.regular, self.base, n_jt, self.m_j, sizes
            )

    # ------------------------------------------------------------ topics of documents

    def document_topics(self, rank_of: Array) -> tuple[Array, Array, Array]:
        """Return the number of topics of each document, which they are, in increasing order, and their words.

        `rank_of` has the column of the result for each stored topic.
        """
        layout, xp, put, get = self.layout, self.device.xp, self.device.put, self.device.get
        with self.on_device("z") as (z,):
            long = self._topics_of_long(get(z[layout.long_places]), rank_of)
            listed, n_listed = self._lists(z)
            by_rank = get(n_listed)
            by_rank[layout.regular :] = [topics.size for topics, _ in long]
            by_document = np.zeros(self.n_documents, np.int32)
            by_document[layout.documents] = by_rank
            ends = np.cumsum(by_document, dtype=np.int64)
            begins = (ends - by_document)[layout.documents]
            topics, counts = (xp.zeros(int(ends[-1]) if ends.size else 0, np.int32) for _ in range(2))
            self.device.launch(
                "sort_topics", layout.regular, self.base, listed, n_listed, put(rank_of.astype(np.int32)),
                put(begins), topics, counts,
            )  # fmt: skip
        columns, words = get(topics), get(counts)
        for begin, (own, n_words) in zip(begins[layout.regular :], long):
            columns[begin : begin + own.size], words[begin : begin + own.size] = own, n_words
        return by_document, columns, words

    def _topics_of_long(self, z: Array, rank_of: Array) -> list[tuple[Array, Array]]:
        lengths = self.layout.length[self.layout.regular :]
        parts = np.split(rank_of[z], np.cumsum(lengths)[:-1]) if lengths.size else []
        return [np.unique(own, return_counts=True) for own in parts]


def _marks(length: Array) -> list[int]:
    """Cut documents, longest first, into groups with about equally many words, in units of 32 documents."""
    ends = np.cumsum(length, dtype=np.int64)
    marks = np.searchsorted(ends, np.arange(_WORDS_AT_ONCE, ends[-1] if ends.size else 0, _WORDS_AT_ONCE))
    return sorted({0, *(marks // SIDE_BY_SIDE * SIDE_BY_SIDE).tolist(), int(length.size)})
