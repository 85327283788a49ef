"""What engines share that draw G_0 for a sweep: reveal it, and name the topics that words have moved to."""

from typing import Any, NamedTuple

import numpy as np

from franchise.engines.collapsed import CollapsedEngine
from franchise.engines.engine import EngineSettings
from franchise.engines.threads import Range, Threads, falling_ranges
from franchise.model.measure import FREE, Measure, new_measure
from franchise.model.state import BORN, DEAD, NUMBERED, TABLES, TOPICS, Array, State
from franchise.moves.parts.seats import fill_survival
from franchise.moves.reveal import ENOUGH, draw_terms, finish_terms, redraw_topic, reveal_weights
from franchise.random import REVEAL, TOPIC_TERMS, Key

_EPSILON = 0.02  # of a table's share, about: topics of a table or more are nearly always above it
_BLOCK = 64  # terms: what is added up over all terms, is by blocks of so many first
_ATTEMPTS = 100
_GOLDEN_RATIO = (np.sqrt(5.0) - 1.0) / 2.0


class DocumentsInfo(NamedTuple):
    """What the pass over all documents did."""

    topics_revealed: int
    births: int
    deaths: int


class RevealingEngine(CollapsedEngine):
    """Draws G_0 for a sweep, down to topics of a certain weight (`model.measure`)."""

    def __init__(self, corpus: Any, settings: EngineSettings) -> None:
        super().__init__(corpus, settings)
        # A document of n words has about log n tables for each unit of alpha. The state must not matter.
        self._epsilon = _EPSILON / max(1.0, float(np.log1p(np.diff(corpus.doc_ptr)).sum()))
        self._block = _BLOCK
        self.use_threads(settings.threads)

    def use_threads(self, number: int) -> None:
        """Make sweeps in so many threads from now on; it changes no bit."""
        terms = np.arange(self._corpus.n_terms + 1)
        self._threads = Threads(number)
        self._terms = falling_ranges(terms, number, self._block)
        self._terms_each = falling_ranges(terms, number, self._block, each=1)  # for work that is soon done
        self._measure: Measure | None = None
        self._own: list[Any] = []

    def _new_own(self, columns: int) -> list[Any]:
        """Return working memory for every thread; it has a `stream` and `words_c`, on the column axis."""
        raise NotImplementedError

    def _longest(self) -> int:
        """Return the most words of a document that are seated one after another."""
        raise NotImplementedError

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
        sums = np.zeros((self._corpus.n_terms // self._block + 1, max(1, moving)))
        terms_key = key._replace(move=TOPIC_TERMS)

        def draw(one: Range, own: Any) -> None:
            draw_terms(terms_key, state, measure, own.words_c, self._block, sums, own.stream, *one)

        for own in self._own:
            own.words_c[:] = 0
        self._threads.each(draw, self._terms, self._own)
        totals = sums.sum(axis=0)
        for c in np.flatnonzero((totals[:moving] < ENOUGH) & (measure.number[:moving] == FREE)):
            totals[c] = redraw_topic(terms_key, state, measure, c, _ATTEMPTS, stream)

        def finish(one: Range, own: Any) -> None:
            finish_terms(state, measure, totals, *one)

        self._threads.each(finish, self._terms_each, self._own)
        fill_survival(state, measure)
        return measure

    def _room(self, columns: int, state: State) -> Measure:
        """Return a measure with room for so many columns."""
        measure, n_numbers = self._measure, state.n_k.size
        if measure is None or measure.number.size < columns:
            measure = new_measure(self._corpus.n_terms, columns, n_numbers, self._longest())
            self._own = self._new_own(columns)
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


def turns(ends: Array, at_once: float) -> list[Array]:
    """Return the documents of sweeps in turn: spread over the corpus, all in some.

    `ends` counts what documents cost; about `at_once` of it are in each sweep.
    """
    n_documents, total = ends.size - 1, int(ends[-1])
    order = np.argsort(np.arange(n_documents) * _GOLDEN_RATIO % 1.0, kind="stable")
    before = np.concatenate([[0], np.cumsum(np.diff(ends)[order])])
    n_turns = max(1, int(np.ceil(total / at_once)))
    cuts = np.searchsorted(before, np.linspace(0, total, n_turns + 1)[1:-1])
    return [np.sort(part) for part in np.split(order, cuts)]
