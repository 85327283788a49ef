"""A range of the documents with their seats in one chain, on the GPU of a worker: what the head asks for.

It has the seats on the GPU (`CudaPart`), or, taken up from a checkpoint or resting, on the host (`Part`).
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from franchise.corpus import CorpusArrays
from franchise.engines.cuda.device import Device, gpu
from franchise.engines.cuda.part import CudaPart, Passed, pieces_for
from franchise.engines.part import Part, Seats
from franchise.engines.starting_topics import StartingTopics
from franchise.engines.table_source import TableSource
from franchise.engines.threads import Threads
from franchise.model.measure import FREE, Measure
from franchise.model.rows import Rows
from franchise.model.state import Array
from franchise.random import Key


class CudaWorkerPart:
    """A range of the documents with their seats, for a worker with a GPU.

    Parameters
    ----------
    corpus
        The documents.
    longest
        The most words of a document of the whole corpus.
    threads
        How many, for what is done on the host; they change no bit.
    first_document, first_word
        The numbers of the first ones in the whole corpus.
    device
        The GPU; by default the one that there is when it is needed.
    """

    progress = 0.0  # a pass is soon done

    def __init__(
        self,
        corpus: CorpusArrays,
        longest: int,
        threads: int,
        first_document: int = 0,
        first_word: int = 0,
        device: Device | None = None,
    ) -> None:
        self._corpus, self._longest, self._threads = corpus, longest, Threads(threads)
        self.first_document, self._first_word = first_document, first_word
        self._device = device
        # Both have the seats, if both are there.
        self._host: Part | None = None
        self._there: CudaPart | None = None
        self._given: Rows | None = None  # counts of all documents
        self._taken: list[Seats] = []
        self._tables: TableSource | None = None

    # ------------------------------------------------------------ here, and there

    def _on_gpu(self) -> CudaPart:
        assert self._there is not None
        return self._there

    def _to_gpu(self, n_topics: int) -> CudaPart:
        """Return the documents on the GPU, with their seats, which will change there."""
        if self._there is None:
            there = self._new_part(n_topics)
            there.take_up(self._on_host().state, n_topics)
            self._there = there
        self._host = None
        return self._there

    def _new_part(self, n_topics: int) -> CudaPart:
        device = gpu() if self._device is None else self._device
        pieces = pieces_for(device, self._corpus, n_topics, with_others=True)
        return CudaPart(device, self._corpus, *pieces, self.first_document, self._first_word, self._longest)

    def _on_host(self) -> Part:
        """Return the documents here, with their seats."""
        if self._host is None:
            place = (self.first_document, self._first_word)
            host = Part(self._corpus, self._longest, self._threads.number, *place)
            if self._there is not None:
                host.state = host.state._replace(**self._there.seats())
            self._host = host
        return self._host

    def rest(self) -> None:
        """Bring the seats to the host, and leave the memory of the GPU to other chains."""
        if self._there is not None:
            self._on_host()
            self._there, self._tables, self._given = None, None, None

    # ------------------------------------------------------------ a sweep

    def start(self, key: Key, start: int | StartingTopics) -> Passed:
        """Draw the first topic of every word, from so many, or from fitted ones."""
        self._host = None
        self._there = self._new_part(start if isinstance(start, int) else start.phi.shape[1])
        return self._there.start(key, start)

    def name(self, number: Array, words: Array, with_rows: bool) -> Rows | None:
        """Note the numbers of topics, for the columns with words; return the counts, if they are needed."""
        self._on_gpu().name(number, words)
        return self.rows() if with_rows else None

    def rows(self) -> Rows:
        """Return the counts of every term by topic."""
        return self._on_gpu().rows()

    def hear(self, rows: Rows) -> None:
        """Note the counts of all documents; without them, these are all."""
        self._given = rows

    def update(self, key: Key, weights: Measure, alpha: float, eta: float, passes: int) -> Passed:
        """Draw the terms of topics, then topics and tables of all documents given them and their weights."""
        n_topics = int((weights.number[: weights.sizes[1]] != FREE).sum())
        given, self._given = self._given, None
        return self._to_gpu(n_topics).update(key, weights, alpha, eta, passes, given)

    def log_p_terms(self, eta: float) -> float:
        """Return what the terms of all documents add to log p(x | c)."""
        return self._on_gpu().log_p_terms(eta, self._given)

    # ------------------------------------------------------------ what the head looks at

    def take(self, room: int, turn: int, n_turns: int) -> Seats:
        """Store topics under their numbers, with room for so many; return the documents whose turn it is."""
        part = self._on_gpu()
        part.open(room)
        self._tables = part.tables(self._threads)
        self._taken = part.take(turn, n_turns)
        return Seats(*(np.concatenate(parts) for parts in zip(*self._taken, strict=True)))

    def put(self, seats: Seats) -> None:
        """Take documents back, seated in another way."""
        self._on_gpu().put(seats, self._taken)
        self._taken = []

    def tables(self, what: str, *arguments: Any) -> Any:
        """Answer what is asked of tables for split-merge trials (`TableSource`)."""
        return getattr(self._tables, what)(*arguments)

    def merge(self, into: Array) -> None:
        """Give the words and tables of each topic k to topic into[k]."""
        self._on_gpu().merge(into)

    def finish(self, live: Array) -> Array:
        """Note the topics that live, in the order of their new numbers; return the sizes of tables."""
        self._tables = None
        return self._on_gpu().close(live)

    # ------------------------------------------------------------ what is kept

    def seated(self, begin: int, end: int) -> dict[str, Array]:
        """Return the seats of documents `begin` to `end`, as a checkpoint stores them."""
        return self._on_host().seated(begin, end)

    def seat(self, begin: int, end: int, arrays: dict[str, Array]) -> None:
        """Take up the seats of documents `begin` to `end`; ValueError and KeyError say what is unsound."""
        self._on_host().seat(begin, end, arrays)

    def added_up(self, n_topics: int) -> tuple[Array, Array]:
        """Return the words and tables of each topic; ValueError where there are other topics."""
        return self._on_host().added_up(n_topics)

    def document_topics(self, rank: Array, n_topics: int) -> sp.csr_array:
        """Return n_j.k of the documents; topic k is column rank[k]."""
        holds = self._on_host() if self._there is None else self._there
        return holds.document_topics(rank, n_topics)
