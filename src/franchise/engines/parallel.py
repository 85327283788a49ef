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
from franchise.engines.threads import Range, Threads, balanced_ranges, equal_ranges
from franchise.model.joint import Joint, joint, log_p_tables_of
from franchise.model.measure import FREE, Measure, new_measure
from franchise.model.state import ALPHA, BORN, DEAD, NUMBERED, TABLES, TOPICS, Array, State
from franchise.moves.documents import (
    DocumentScratch,
    list_places,
    new_document_scratch,
    number_tables,
    recount_terms,
    update_documents,
)
from franchise.moves.reveal import draw_terms, finish_terms, redraw_topic, reveal_weights
from franchise.random import DOCUMENTS, REVEAL, TOPIC_TERMS, Key

_EPSILON = 0.02  # of one document's share: topics of a table or more are nearly always above it
_TERMS_AT_ONCE = 256  # sums are added up in blocks of so many, or their last digits would depend on threads
_WORDS_AT_ONCE = 50_000
_ATTEMPTS = 100
_ENOUGH = 1e-12  # see `moves.reveal`
_COLLAPSED_WORDS = 20_000  # at least, in a sweep, of documents whose words and tables are drawn one by one
_COLLAPSED_SHARE = 0.005
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
        n_documents, n_words = corpus.doc_ptr.size - 1, corpus.x.size
        self._threads = Threads(settings.threads)
        self._epsilon = _EPSILON / max(1, n_documents)
        self._document_ranges = balanced_ranges(corpus.doc_ptr, _WORDS_AT_ONCE)
        self._term_ranges = equal_ranges(corpus.n_terms, _TERMS_AT_ONCE)
        self._z = np.zeros(n_words, np.int32)
        self._places: Array | None = None
        self._measure: Measure | None = None
        self._own: list[DocumentScratch] = []
        # Documents in an order that spreads, cut into parts that take turns.
        self._turns = _turns(corpus)

    def sweep(self, key: Key, trials: Trials | None, eta: float | None = None) -> Swept:
        """Make one sweep, with `eta` held at a value where one is given."""
        if eta is not None:
            self.workbench.set_eta(eta)
        documents = self._update_documents(key)
        self.workbench.visit(self._turns[key.sweep % len(self._turns)])
        swept = super().sweep(key, trials, eta)
        return Swept({"documents": documents, **swept.infos}, swept.records)

    def _joint(self) -> Joint:
        state, parts = self.state, np.zeros(len(self._document_ranges))
        alpha = float(state.concentrations[ALPHA])

        def add(one: Range, _: object) -> None:
            # By range, so that the sum does not depend on who was first.
            parts[place[one]] = log_p_tables_of(self._corpus, state, alpha, *one)

        place = {one: i for i, one in enumerate(self._document_ranges)}
        self._threads.each(add, self._document_ranges, [None] * self._threads.number)
        log_p_t = float(parts.sum() + state.totals[TABLES] * np.log(alpha))
        return joint(self._corpus, state, self._settings.priors, log_p_t)

    # ------------------------------------------------------------ the pass over all documents

    def _update_documents(self, key: Key) -> DocumentsInfo:
        measure = self._reveal(key)
        state = self.workbench.state
        columns = int(measure.sizes[1])
        for own in self._own:
            own.words_c[:columns] = 0
            own.tables_c[:columns] = 0
        corpus, z = self._corpus, self._z
        pass_key = key._replace(move=DOCUMENTS)

        def update(one: Range, own: DocumentScratch) -> None:
            update_documents(pass_key, corpus, state, measure, z, own, *one)

        self._threads.each(update, self._document_ranges, self._own)
        words = np.sum([own.words_c[:columns] for own in self._own], axis=0)
        tables = np.sum([own.tables_c[:columns] for own in self._own], axis=0)
        number, info = self._renumber(measure, words, tables)
        state = self.workbench.state
        places = self._words_by_term(state)

        def recount(one: Range, own: DocumentScratch) -> None:
            recount_terms(state, z, places, number, own.words_c, *one)

        def name(one: Range, own: DocumentScratch) -> None:
            number_tables(corpus, state, number, *one)

        for own in self._own:
            own.words_c[:columns] = 0
        self._threads.each(recount, balanced_ranges(state.row_ptr, _WORDS_AT_ONCE), self._own)
        self._threads.each(name, self._document_ranges, self._own)
        return info

    def _reveal(self, key: Key) -> Measure:
        state = self.workbench.state
        measure = self._room(2 * int(state.totals[TOPICS]) + 64, state)
        stream = np.zeros(4, np.uint64)
        log_weight = np.zeros(int(state.totals[TOPICS]))
        while needed := reveal_weights(
            key._replace(move=REVEAL), state, measure, self._epsilon, log_weight, stream
        ):
            measure = self._room(2 * int(needed), state)
        moving = int(measure.sizes[0])
        sums = np.zeros((len(self._term_ranges), max(1, moving)))
        terms_key = key._replace(move=TOPIC_TERMS)

        def draw(one: Range, own: DocumentScratch) -> None:
            block = one[0] // _TERMS_AT_ONCE
            draw_terms(terms_key, state, measure, own.words_c, sums[block], own.stream, *one)

        for own in self._own:
            own.words_c[:] = 0
        self._threads.each(draw, self._term_ranges, self._own)
        totals = sums.sum(axis=0)
        for c in np.flatnonzero(totals[:moving] < _ENOUGH):
            totals[c] = redraw_topic(terms_key, state, measure, c, _ATTEMPTS, stream)

        def finish(one: Range, own: DocumentScratch) -> None:
            finish_terms(state, measure, totals, *one)

        self._threads.each(finish, self._term_ranges, self._own)
        return measure

    def _room(self, columns: int, state: State) -> Measure:
        """Return a measure with room for so many columns."""
        measure, n_numbers = self._measure, state.n_k.size
        if measure is None or measure.number.size < columns:
            measure = new_measure(self._corpus.n_terms, columns, n_numbers)
            longest = int(np.diff(self._corpus.doc_ptr).max(initial=0))
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

    def _words_by_term(self, state: State) -> Array:
        if self._places is None:
            self._places = np.zeros(self._corpus.x.size, np.uint32)
            list_places(self._corpus.x, state.row_ptr[:-1].copy(), self._places)
        return self._places


def _turns(corpus: CorpusArrays) -> list[Array]:
    """Return the documents of the collapsed moves of sweeps in turn: spread over the corpus, all in some."""
    n_documents, n_words = corpus.doc_ptr.size - 1, corpus.x.size
    at_once = max(_COLLAPSED_WORDS, _COLLAPSED_SHARE * n_words)
    order = np.argsort(np.arange(n_documents) * _GOLDEN_RATIO % 1.0, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.diff(corpus.doc_ptr)[order])])
    n_turns = max(1, int(np.ceil(n_words / at_once)))
    cuts = np.searchsorted(ends, np.linspace(0, n_words, n_turns + 1)[1:-1])
    return [np.sort(part) for part in np.split(order, cuts)]
