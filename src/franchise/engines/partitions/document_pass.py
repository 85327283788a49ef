"""The pass over documents given G_0 (`moves.documents`), in threads, and the counts that it leaves."""

from collections.abc import Callable

import numpy as np

from franchise._arrays import offsets_of
from franchise.corpus import CorpusArrays
from franchise.corpus.large_arrays import count_terms
from franchise.engines.threads import Range, Threads, falling_ranges
from franchise.model.joint import count_table_sizes
from franchise.model.measure import Measure
from franchise.model.recount import add_up_counts, list_places, number_tables, recount_terms
from franchise.model.state import Array, State
from franchise.moves.documents import DocumentScratch, new_document_scratch, update_documents
from franchise.random import DOCUMENTS, Key

_BYTES_TO_COUNT = 10  # a word: threads count in memory of their own up to that much in all


class DocumentPass:
    """Updates documents again and again, in memory that it keeps.

    Parameters
    ----------
    corpus
        The documents: all, or a range of them.
    threads
        How many; they change no bit.
    first_document
        The number of the first one in the whole corpus: streams are named by it.
    """

    def __init__(self, corpus: CorpusArrays, threads: int, first_document: int = 0) -> None:
        self._corpus, self._first = corpus, first_document
        self._threads = Threads(threads)
        self.ranges = falling_ranges(corpus.doc_ptr, threads)
        self.ranges_each = falling_ranges(corpus.doc_ptr, threads, each=1)  # for work that is soon done
        self._terms_each = falling_ranges(np.arange(corpus.n_terms + 1), threads, each=1)
        self._own: list[DocumentScratch] = []
        self._counts = np.zeros((threads, 0, 0), np.int32)
        # Where each term has its words, and the columns of all words, if they are to be counted by these.
        self._z, self._places = np.zeros(0, np.int32), np.zeros(0, np.uint32)
        self.term_counts = count_terms(corpus.x, corpus.n_terms)
        self._term_ptr = offsets_of(self.term_counts)

    @property
    def n_bytes(self) -> int:
        """Memory of what words are counted in."""
        return self._counts.nbytes + self._z.nbytes + self._places.nbytes

    def update(
        self, key: Key, state: State, measure: Measure, passes: int, done: Callable[[float], None]
    ) -> tuple[Array, Array]:
        """Draw the topics and tables of all documents; return the words and tables of every column.

        Tables have columns for topics then (see `number`). `done` is called with shares of the work.
        """
        corpus, columns = self._corpus, int(measure.sizes[1])
        self._make_room(columns)
        counts, z, first = self._counts, self._z, self._first
        key = key._replace(move=DOCUMENTS)
        n_words = max(1, corpus.x.size)
        for own in self._own:
            own.words_c[:columns] = 0
            own.tables_c[:columns] = 0

        def update(one: Range, own: tuple[DocumentScratch, Array]) -> None:
            update_documents(key, corpus, state, measure, passes, *own, z, first, *one)

        def note(one: Range) -> None:
            done((corpus.doc_ptr[one[1]] - corpus.doc_ptr[one[0]]) / n_words)

        self._threads.each(update, self.ranges, [*zip(self._own, counts, strict=True)], note)
        words = np.sum([own.words_c[:columns] for own in self._own], axis=0)
        return words, np.sum([own.tables_c[:columns] for own in self._own], axis=0)

    def take_up(self, z: Array) -> None:
        """Take up the columns of all words, to count them by."""
        self._counts = np.zeros((self._threads.number, 0, 0), np.int32)
        self._z = z
        self._list_places()

    def count(self, state: State, columns: Array) -> None:
        """Fill in the rows of terms; `columns` are those of the topics."""
        counts, z, places, term_ptr = self._counts, self._z, self._places, self._term_ptr

        def add_up(one: Range, own: DocumentScratch) -> None:
            add_up_counts(state, counts, columns, *one)

        def recount(one: Range, own: DocumentScratch) -> None:
            recount_terms(state, term_ptr, z, places, columns, own.words_c, *one)

        self._make_scratch(int(columns.max(initial=-1)) + 1)
        for own in self._own:
            own.words_c[:] = 0
        if counts.size:
            self._threads.each(add_up, self._terms_each, self._own)
        else:
            self._threads.each(recount, falling_ranges(term_ptr, self._threads.number), self._own)

    def number(self, state: State, old: Array) -> None:
        """Give tables the numbers of their topics: k for the column, or the old number, old[k]."""
        number = np.zeros(int(old.max(initial=-1)) + 1, np.int32)
        number[old] = np.arange(old.size)
        self.renumber(state, number)

    def renumber(self, state: State, number: Array) -> None:
        """Give tables number[k] in place of k."""
        corpus = self._corpus

        def name(one: Range, own: None) -> None:
            number_tables(corpus, state, number, *one)

        self._threads.each(name, self.ranges_each, [None] * self._threads.number)

    def table_sizes(self, state: State) -> Array:
        """Return how many tables have each number of words."""
        corpus, longest = self._corpus, int(np.diff(self._corpus.doc_ptr).max(initial=0))
        sizes = [np.zeros(longest + 1, np.int64) for _ in range(self._threads.number)]

        def count(one: Range, own: Array) -> None:
            count_table_sizes(corpus, state, own, *one)

        self._threads.each(count, self.ranges_each, sizes)
        return np.trim_zeros(np.sum(sizes, axis=0), "b")

    def _make_room(self, columns: int) -> None:
        """Make room for every thread to work, and to count its words by term and column if it is not much."""
        threads, n_terms, n_words = self._threads.number, self._corpus.n_terms, self._corpus.x.size
        self._make_scratch(columns)
        if threads * n_terms * columns * 4 > _BYTES_TO_COUNT * n_words:
            self._counts = np.zeros((threads, 0, 0), np.int32)
            self._list_places()
            return
        self._z, self._places = np.zeros(0, np.int32), np.zeros(0, np.uint32)
        if self._counts.shape[2] < columns:
            self._counts = np.zeros((threads, n_terms, columns + columns // 8), np.int32)

    def _make_scratch(self, columns: int) -> None:
        if not self._own or self._own[0].slot.size < columns:
            longest = int(np.diff(self._corpus.doc_ptr).max(initial=0))
            room = columns + columns // 4
            self._own = [new_document_scratch(longest, room) for _ in range(self._threads.number)]

    def _list_places(self) -> None:
        """List where each term has its words, if that is not known."""
        n_words = self._corpus.x.size
        if self._z.size != n_words:
            self._z = np.zeros(n_words, np.int32)
        if self._places.size != n_words:
            self._places = np.zeros(n_words, np.uint32)
            list_places(self._corpus.x, self._term_ptr[:-1].copy(), self._places)
