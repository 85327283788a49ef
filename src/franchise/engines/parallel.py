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
from franchise.engines.threads import Range, balanced_ranges
from franchise.model.joint import Joint, joint, log_p_tables_of
from franchise.model.state import ALPHA, TABLES, Array, State
from franchise.moves.documents import (
    DocumentScratch,
    list_places,
    new_document_scratch,
    number_tables,
    recount_terms,
    update_documents,
)
from franchise.random import DOCUMENTS, Key

_WORDS_AT_ONCE = 50_000
_COLLAPSED_WORDS = 20_000  # at least, in a sweep, of documents whose words and tables are drawn one by one
_COLLAPSED_SHARE = 0.005


class ParallelEngine(RevealingEngine):
    """Makes sweeps of a franchise in threads."""

    name: ClassVar[str] = "parallel"

    def __init__(self, corpus: CorpusArrays, settings: EngineSettings) -> None:
        super().__init__(corpus, settings)
        n_words = corpus.x.size
        self._document_ranges = balanced_ranges(corpus.doc_ptr, _WORDS_AT_ONCE)
        self._z = np.zeros(n_words, np.int32)
        self._places: Array | None = None
        # Documents in an order that spreads, cut into parts that take turns.
        self._turns = turns(corpus.doc_ptr, max(_COLLAPSED_WORDS, _COLLAPSED_SHARE * n_words))

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

    def _new_own(self, columns: int) -> list[DocumentScratch]:
        longest = int(np.diff(self._corpus.doc_ptr).max(initial=0))
        return [new_document_scratch(longest, columns) for _ in range(self._threads.number)]

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

    def _words_by_term(self, state: State) -> Array:
        if self._places is None:
            self._places = np.zeros(self._corpus.x.size, np.uint32)
            list_places(self._corpus.x, state.row_ptr[:-1].copy(), self._places)
        return self._places
