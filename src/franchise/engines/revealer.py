"""Draws G_0 given the franchise (`moves.reveal`), in threads; it looks at the topics alone."""

from typing import NamedTuple

import numpy as np

from franchise.engines.threads import Range, Threads, falling_ranges
from franchise.model.measure import FREE, Measure, new_measure
from franchise.model.state import TOPICS, Array, State
from franchise.moves.parts.seats import fill_survival
from franchise.moves.reveal import ENOUGH, draw_terms, finish_terms, redraw_topic, reveal_weights
from franchise.random import REVEAL, TOPIC_TERMS, Key

BLOCK = 64  # terms: what is added up over all terms, is by blocks of so many first
_ATTEMPTS = 100
_EPSILON = 0.02  # of a table's share, about: topics of a table or more are nearly always above it


def epsilon_for(lengths: Array, documents_of_length: Array) -> float:
    """Return the weight down to which to reveal G_0; `lengths` are the different ones, 0 apart.

    A document of n words has about log n tables for each unit of alpha. The state must not matter.
    """
    return _EPSILON / max(1.0, float((documents_of_length * np.log1p(lengths)).sum()))


class _Own(NamedTuple):
    """Working memory of one thread."""

    stream: Array
    count_c: Array  # column axis, 0 between uses


class Revealer:
    """Draws G_0 again and again, in memory that it keeps.

    Parameters
    ----------
    n_terms
        Size of the vocabulary.
    longest
        The most words of a document that are seated one after another.
    threads
        How many; they change no bit.
    block
        Terms whose gammas are added up first; that does change bits.
    """

    def __init__(self, n_terms: int, longest: int, threads: int, block: int = BLOCK) -> None:
        self._n_terms, self._longest, self._block = n_terms, longest, block
        self._threads = Threads(threads)
        terms = np.arange(n_terms + 1)
        self.terms = falling_ranges(terms, threads, block)
        self.terms_each = falling_ranges(terms, threads, block, each=1)  # for work that is soon done
        self.measure: Measure | None = None
        self._own: list[_Own] = []

    def weights(self, key: Key, state: State, epsilon: float) -> Measure:
        """Draw the weights of all topics, down to epsilon; of their terms nothing is known yet."""
        n_topics = int(state.totals[TOPICS])
        measure = self.room(n_topics + n_topics // 4 + 32, state.n_k.size)
        key, stream, log_weight = key._replace(move=REVEAL), np.zeros(4, np.uint64), np.zeros(n_topics)
        while needed := reveal_weights(key, state, measure, epsilon, log_weight, stream):
            measure = self.room(needed + needed // 4, state.n_k.size)
        return measure

    def terms_of(self, key: Key, state: State, measure: Measure) -> None:
        """Draw the terms of the topics whose weights are known."""
        moving = int(measure.sizes[0])
        sums = np.zeros((self._n_terms // self._block + 1, max(1, moving)))
        key = key._replace(move=TOPIC_TERMS)

        def draw(one: Range, own: _Own) -> None:
            draw_terms(key, state, measure, own.count_c, self._block, sums, own.stream, *one)

        for own in self._own:
            own.count_c[:] = 0
        self._threads.each(draw, self.terms, self._own)
        totals = sums.sum(axis=0)
        for c in np.flatnonzero((totals[:moving] < ENOUGH) & (measure.number[:moving] == FREE)):
            totals[c] = redraw_topic(key, state, measure, c, _ATTEMPTS, self._own[0].stream)

        def finish(one: Range, own: _Own) -> None:
            finish_terms(state, measure, totals, *one)

        self._threads.each(finish, self.terms_each, self._own)
        fill_survival(state, measure)

    def room(self, columns: int, n_numbers: int) -> Measure:
        """Return a measure with room for so many columns and topic numbers."""
        measure = self.measure
        if measure is None or measure.number.size < columns:
            measure = new_measure(self._n_terms, columns, n_numbers, self._longest)
            self._own = [
                _Own(np.zeros(4, np.uint64), np.zeros(columns, np.int64)) for _ in range(self._threads.number)
            ]
        if measure.column.size != n_numbers:
            measure = measure._replace(column=np.full(n_numbers, -1, np.int32))
        self.measure = measure
        return measure
