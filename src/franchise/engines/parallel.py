"""The parallel engine: all documents at once, given topics and weights that are drawn for the sweep.

A sweep draws G_0 given the franchise, down to topics of a certain weight (`model.measure`); draws the topics
of all words given it, document by document, in threads; and seats the words again. What that leaves is a
franchise, and G_0 is forgotten. Then come the collapsed moves: words and tables of some documents, other ones
in every sweep, through which topics are born and large ones change hands; split-merge trials; concentrations.
"""

from typing import ClassVar

import numpy as np

from franchise.corpus import CorpusArrays
from franchise.engines.engine import EngineSettings, Swept, Trials
from franchise.engines.revealing import DocumentsInfo, RevealingEngine, turns
from franchise.engines.threads import Range, falling_ranges
from franchise.model.joint import Joint, count_table_sizes, log_p_tables_by_size, log_p_topics
from franchise.model.likelihood import log_p_sizes, log_p_terms
from franchise.model.measure import Measure
from franchise.model.state import ALPHA, ETA, GAMMA, Array
from franchise.moves.documents import DocumentScratch, new_document_scratch, update_documents
from franchise.moves.recount import add_up_counts, list_places, number_tables, recount_terms
from franchise.random import DOCUMENTS, Key

_BYTES_TO_COUNT = 10  # a word: threads count in memory of their own up to that much in all
# About what a gamma variable costs, in words that are drawn.
_GAMMA_IN_WORDS = 0.5
_MOST_PASSES = 4
# Words in a sweep, about, of documents whose words and tables are drawn one by one: more make the number of
# topics move faster, but nothing else, and they are drawn by one thread.
_COLLAPSED_WORDS = 50_000
# Trials of ten sweeps are made at once where it takes long to find out which words each table has; of more
# than two million words, fewer, as topics are larger there.
_MANY_WORDS, _SWEEPS_AT_ONCE, _MOST_AT_ONCE = 1_000_000, 10, 20_000_000


class ParallelEngine(RevealingEngine):
    """Makes sweeps of a franchise in threads."""

    name: ClassVar[str] = "parallel"

    def __init__(self, corpus: CorpusArrays, settings: EngineSettings) -> None:
        super().__init__(corpus, settings)
        self._documents_of_length = np.bincount(np.diff(corpus.doc_ptr), minlength=1)
        # Documents in an order that spreads, cut into parts that take turns.
        self._turns = turns(corpus.doc_ptr, _COLLAPSED_WORDS)
        # Where each term has its words, and the columns of all words, if they are to be counted by these.
        self._z, self._places = np.zeros(0, np.int32), np.zeros(0, np.uint32)

    @property
    def n_bytes(self) -> int:
        """Memory of the state, of the words laid out by table, of G_0 and of what words are counted in."""
        others = (*(self._measure or ()), self._counts, self._z, self._places)
        return super().n_bytes + int(sum(array.nbytes for array in others))

    def use_threads(self, number: int) -> None:
        """Make sweeps in so many threads from now on; it changes no bit."""
        super().use_threads(number)
        self._documents = falling_ranges(self._corpus.doc_ptr, number)
        self._documents_each = falling_ranges(self._corpus.doc_ptr, number, each=1)
        self._counts = np.zeros((number, 0, 0), np.int32)

    def sweep(self, key: Key, trials: Trials | None, eta: float | None = None) -> Swept:
        """Make one sweep, with `eta` held at a value where one is given."""
        if eta is not None:
            self.workbench.set_eta(eta)
        documents = self._update_documents(key)
        self.workbench.threads = self._threads
        self.workbench.visit(self._turns[key.sweep % len(self._turns)])
        n_words = self._corpus.x.size
        if trials is not None and n_words >= _MANY_WORDS:
            times = min(max(1, _MOST_AT_ONCE // n_words), _SWEEPS_AT_ONCE)
            is_due = key.sweep % _SWEEPS_AT_ONCE == 0
            trials = trials._replace(number=times * trials.number) if is_due else None
        swept = super().sweep(key, trials, eta)
        return Swept({"documents": documents, **swept.infos}, swept.records)

    def _joint(self) -> Joint:
        state, corpus, eta = self.state, self._corpus, float(self.state.concentrations[ETA])
        alpha, gamma = float(state.concentrations[ALPHA]), float(state.concentrations[GAMMA])
        longest = self._documents_of_length.size
        sizes = [np.zeros(longest, np.int64) for _ in range(self._threads.number)]
        lg, sums = self.workbench.log_gammas, np.zeros(corpus.n_terms // self._block + 1)

        def count(one: Range, own: Array) -> None:
            count_table_sizes(corpus, state, own, *one)

        def add(one: Range, own: Array) -> None:
            log_p_terms(state, lg, sums, self._block, *one)

        self._threads.each(count, self._documents_each, sizes)
        self._threads.each(add, self._terms_each, sizes)
        return Joint(
            float(log_p_tables_by_size(np.sum(sizes, axis=0), self._documents_of_length, alpha)),
            float(log_p_topics(state, gamma)),
            float(log_p_sizes(state, eta) + sums.sum()),
            self._settings.priors.log_density(state.concentrations),
        )

    # ------------------------------------------------------------ the pass over all documents

    def _new_own(self, columns: int) -> list[DocumentScratch]:
        return [new_document_scratch(self._longest(), columns) for _ in range(self._threads.number)]

    def _longest(self) -> int:
        return self._documents_of_length.size - 1

    def _update_documents(self, key: Key) -> DocumentsInfo:
        measure = self._reveal(key)
        state, corpus = self.workbench.state, self._corpus
        columns = int(measure.sizes[1])
        passes, counts, z = self._passes(measure), self._room_to_count(columns), self._z
        pass_key = key._replace(move=DOCUMENTS)
        for own in self._own:
            own.words_c[:columns] = 0
            own.tables_c[:columns] = 0
        own_counts = [*zip(self._own, counts, strict=True)]

        def update(one: Range, own: tuple[DocumentScratch, Array]) -> None:
            update_documents(pass_key, corpus, state, measure, passes, *own, z, *one)
            self.progress += (corpus.doc_ptr[one[1]] - corpus.doc_ptr[one[0]]) / corpus.x.size

        self._threads.each(update, self._documents, own_counts)
        words = np.sum([own.words_c[:columns] for own in self._own], axis=0)
        tables = np.sum([own.tables_c[:columns] for own in self._own], axis=0)
        number, info = self._renumber(measure, words, tables)
        self._recount(number)
        return info

    def _passes(self, measure: Measure) -> int:
        """Return how often to go through the words for this G_0: about as long as it took to draw it."""
        gammas = self._corpus.n_terms * int(measure.sizes[0])
        return min(max(1, round(gammas * _GAMMA_IN_WORDS / self._corpus.x.size)), _MOST_PASSES)

    def _room_to_count(self, columns: int) -> Array:
        """Return room for every thread to count its words by term and column, none where it were too much."""
        threads, n_terms, n_words = self._threads.number, self._corpus.n_terms, self._corpus.x.size
        if threads * n_terms * columns * 4 > _BYTES_TO_COUNT * n_words:
            self._counts = np.zeros((threads, 0, 0), np.int32)
            if not self._places.size:
                row_ptr = self.state.row_ptr
                self._z, self._places = np.zeros(n_words, np.int32), np.zeros(n_words, np.uint32)
                list_places(self._corpus.x, row_ptr[:-1].copy(), self._places)
            return self._counts
        self._z, self._places = np.zeros(0, np.int32), np.zeros(0, np.uint32)
        if self._counts.shape[2] < columns:
            self._counts = np.zeros((threads, n_terms, columns + columns // 8), np.int32)
        return self._counts

    def _recount(self, number: Array) -> None:
        """Fill in the rows of terms, and give tables the numbers of their topics."""
        state, corpus, counts, z, places = self.state, self._corpus, self._counts, self._z, self._places

        def add_up(one: Range, own: DocumentScratch) -> None:
            add_up_counts(state, counts, number, *one)

        def recount(one: Range, own: DocumentScratch) -> None:
            recount_terms(state, z, places, number, own.words_c, *one)

        def name(one: Range, own: DocumentScratch) -> None:
            number_tables(corpus, state, number, *one)

        for own in self._own:
            own.words_c[: number.size] = 0
        if counts.size:
            self._threads.each(add_up, self._terms_each, self._own)
        else:
            self._threads.each(recount, falling_ranges(state.row_ptr, self._threads.number), self._own)
        self._threads.each(name, self._documents_each, self._own)
