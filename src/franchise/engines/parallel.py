"""The parallel engine: all documents at once, given topics and weights that are drawn for the sweep.

A sweep draws G_0 given the franchise, down to topics of a certain weight (`model.measure`); draws the topics
of all words given it, document by document, in threads; and seats the words again. What that leaves is a
franchise, and G_0 is forgotten. Then come the collapsed moves: words and tables of some documents, other ones
in every sweep, through which topics are born and large ones change hands; split-merge trials; concentrations.
"""

from typing import ClassVar, NamedTuple

import numpy as np

from franchise.corpus import CorpusArrays
from franchise.engines.collapsed import CollapsedEngine
from franchise.engines.engine import EngineSettings, Swept, Trials
from franchise.engines.threads import Range, Threads, falling_ranges
from franchise.model.joint import Joint, count_table_sizes, log_p_tables_by_size, log_p_topics
from franchise.model.likelihood import log_p_sizes, log_p_terms
from franchise.model.measure import FREE, Measure, new_measure
from franchise.model.state import ALPHA, BORN, DEAD, ETA, GAMMA, NUMBERED, TABLES, TOPICS, Array, State
from franchise.moves.documents import DocumentScratch, new_document_scratch, update_documents
from franchise.moves.parts.seats import fill_survival
from franchise.moves.recount import add_up_counts, list_places, number_tables, recount_terms
from franchise.moves.reveal import draw_terms, finish_terms, redraw_topic, reveal_weights
from franchise.random import DOCUMENTS, REVEAL, TOPIC_TERMS, Key

_EPSILON = 0.02  # of one document's share: topics of a table or more are nearly always above it
_BLOCK = 64  # terms: what is added up over all terms, is by blocks of so many first
_BYTES_TO_COUNT = 10  # a word: threads count in memory of their own up to that much in all
# About what a gamma variable costs, in words that are drawn.
_GAMMA_IN_WORDS = 0.5
_MOST_PASSES = 4
_ATTEMPTS = 100
_ENOUGH = 1e-12  # see `moves.reveal`
# Words in a sweep, about, of documents whose words and tables are drawn one by one: more make the number of
# topics move faster, but nothing else, and they are drawn by one thread.
_COLLAPSED_WORDS, _MOST_COLLAPSED_WORDS, _COLLAPSED_SHARE = 20_000, 100_000, 0.05
# Trials of ten sweeps are made at once where it takes long to find out which words each table has.
_MANY_WORDS, _SWEEPS_AT_ONCE = 1_000_000, 10
_GOLDEN_RATIO = (np.sqrt(5.0) - 1.0) / 2.0


class DocumentsInfo(NamedTuple):
    """What the pass over all documents did."""

    topics_revealed: int
    births: int
    deaths: int


class ParallelEngine(CollapsedEngine):
    """Makes sweeps of a franchise in threads."""

    name: ClassVar[str] = "parallel"

    def __init__(self, corpus: CorpusArrays, settings: EngineSettings) -> None:
        super().__init__(corpus, settings)
        n_documents = corpus.doc_ptr.size - 1
        self._epsilon = _EPSILON / max(1, n_documents)
        self._documents_of_length = np.bincount(np.diff(corpus.doc_ptr), minlength=1)
        # Documents in an order that spreads, cut into parts that take turns.
        self._turns = _turns(corpus)
        # Where each term has its words, and the columns of all words, if they are to be counted by these.
        self._z, self._places = np.zeros(0, np.int32), np.zeros(0, np.uint32)
        self.use_threads(settings.threads)

    def use_threads(self, number: int) -> None:
        """Make sweeps in so many threads from now on; it changes no bit."""
        corpus = self._corpus
        self._threads = Threads(number)
        terms = np.arange(corpus.n_terms + 1)
        self._documents, self._terms = (
            falling_ranges(corpus.doc_ptr, number),
            falling_ranges(terms, number, _BLOCK),
        )
        # For work that is soon done.
        self._documents_each = falling_ranges(corpus.doc_ptr, number, each=1)
        self._terms_each = falling_ranges(terms, number, _BLOCK, each=1)
        self._measure: Measure | None = None
        self._own: list[DocumentScratch] = []
        self._counts = np.zeros((number, 0, 0), np.int32)

    def sweep(self, key: Key, trials: Trials | None, eta: float | None = None) -> Swept:
        """Make one sweep, with `eta` held at a value where one is given."""
        if eta is not None:
            self.workbench.set_eta(eta)
        self.progress = 0.0
        documents = self._update_documents(key)
        self.workbench.threads = self._threads
        self.workbench.visit(self._turns[key.sweep % len(self._turns)])
        if trials is not None and self._corpus.x.size >= _MANY_WORDS:
            is_due = key.sweep % _SWEEPS_AT_ONCE == 0
            trials = trials._replace(number=_SWEEPS_AT_ONCE * trials.number) if is_due else None
        swept = super().sweep(key, trials, eta)
        return Swept({"documents": documents, **swept.infos}, swept.records)

    def _joint(self) -> Joint:
        state, corpus, eta = self.state, self._corpus, float(self.state.concentrations[ETA])
        alpha, gamma = float(state.concentrations[ALPHA]), float(state.concentrations[GAMMA])
        longest = self._documents_of_length.size
        sizes = [np.zeros(longest, np.int64) for _ in range(self._threads.number)]
        lg, sums = self.workbench.log_gammas, np.zeros(corpus.n_terms // _BLOCK + 1)

        def count(one: Range, own: Array) -> None:
            count_table_sizes(corpus, state, own, *one)

        def add(one: Range, own: Array) -> None:
            log_p_terms(state, lg, sums, _BLOCK, *one)

        self._threads.each(count, self._documents_each, sizes)
        self._threads.each(add, self._terms_each, sizes)
        return Joint(
            float(log_p_tables_by_size(np.sum(sizes, axis=0), self._documents_of_length, alpha)),
            float(log_p_topics(state, gamma)),
            float(log_p_sizes(state, eta) + sums.sum()),
            self._settings.priors.log_density(state.concentrations),
        )

    # ------------------------------------------------------------ the pass over all documents

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
        elif self._counts.shape[2] < columns:
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

    def _reveal(self, key: Key) -> Measure:
        state = self.workbench.state
        n_topics = int(state.totals[TOPICS])
        measure = self._room(n_topics + n_topics // 4 + 32, state)
        stream = np.zeros(4, np.uint64)
        log_weight = np.zeros(n_topics)
        while needed := reveal_weights(
            key._replace(move=REVEAL), state, measure, self._epsilon, log_weight, stream
        ):
            measure = self._room(needed + needed // 4, state)
        moving = int(measure.sizes[0])
        sums = np.zeros((self._corpus.n_terms // _BLOCK + 1, max(1, moving)))
        terms_key = key._replace(move=TOPIC_TERMS)

        def draw(one: Range, own: DocumentScratch) -> None:
            draw_terms(terms_key, state, measure, own.words_c, _BLOCK, sums, own.stream, *one)

        for own in self._own:
            own.words_c[:] = 0
        self._threads.each(draw, self._terms, self._own)
        totals = sums.sum(axis=0)
        for c in np.flatnonzero(totals[:moving] < _ENOUGH):
            totals[c] = redraw_topic(terms_key, state, measure, c, _ATTEMPTS, stream)

        def finish(one: Range, own: DocumentScratch) -> None:
            finish_terms(state, measure, totals, *one)

        self._threads.each(finish, self._terms_each, self._own)
        fill_survival(state, measure)
        return measure

    def _room(self, columns: int, state: State) -> Measure:
        """Return a measure with room for so many columns."""
        measure, n_numbers = self._measure, state.n_k.size
        if measure is None or measure.number.size < columns:
            longest = int(np.diff(self._corpus.doc_ptr).max(initial=0))
            measure = new_measure(self._corpus.n_terms, columns, n_numbers, longest)
            self._own = [new_document_scratch(longest, columns) for _ in range(self._threads.number)]
        if measure.column.size != n_numbers:
            measure = measure._replace(column=np.full(n_numbers, -1, np.int32))
        self._measure = measure
        return measure

    def _renumber(self, measure: Measure, words: Array, tables: Array) -> tuple[Array, DocumentsInfo]:
        """Give numbers to the topics that have words, those in use first; fill in what is known of each."""
        bench = self.workbench
        columns = int(measure.sizes[1])
        before = bench.state
        old = before.live[: before.totals[TOPICS]]
        survivors = [c for c in measure.column[old] if words[c]]
        is_free = measure.number[:columns] == FREE
        born = np.flatnonzero(is_free & (words > 0)).tolist()
        order = np.array(survivors + born, np.int64)
        n_topics, born_before = order.size, int(before.totals[BORN])
        bench.make_room(n_topics)
        state = bench.state
        names = np.concatenate([before.name_k[measure.number[survivors]], born_before + np.arange(len(born))])
        number = np.zeros(columns, np.int32)
        number[order] = np.arange(n_topics)
        state.n_k[:n_topics] = words[order]
        state.m_k[:n_topics] = tables[order]
        state.name_k[:n_topics] = names
        state.live[:n_topics] = state.place[:n_topics] = np.arange(n_topics)
        state.totals[TOPICS] = state.totals[NUMBERED] = n_topics
        state.totals[TABLES] = tables.sum()
        state.totals[DEAD] = 0
        state.totals[BORN] = born_before + len(born)
        return number, DocumentsInfo(int(is_free.sum()), len(born), old.size - len(survivors))


def _turns(corpus: CorpusArrays) -> list[Array]:
    """Return the documents of the collapsed moves of sweeps in turn: spread over the corpus, all in some."""
    n_documents, n_words = corpus.doc_ptr.size - 1, corpus.x.size
    at_once = max(_COLLAPSED_WORDS, min(_MOST_COLLAPSED_WORDS, _COLLAPSED_SHARE * n_words))
    order = np.argsort(np.arange(n_documents) * _GOLDEN_RATIO % 1.0, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.diff(corpus.doc_ptr)[order])])
    n_turns = max(1, int(np.ceil(n_words / at_once)))
    cuts = np.searchsorted(ends, np.linspace(0, n_words, n_turns + 1)[1:-1])
    return [np.sort(part) for part in np.split(order, cuts)]
