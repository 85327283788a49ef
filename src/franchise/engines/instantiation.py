"""Instantiates weights and topics, G_0, given the seating (`moves.instantiation`), in threads."""

import math
from typing import NamedTuple

import numpy as np

from franchise._arrays import Array
from franchise.engines.threads import Range, Threads, falling_ranges
from franchise.model.measure import FREE, Measure, new_measure
from franchise.model.rows import Rows, state_of_rows
from franchise.model.state import ETA, GAMMA, TOPICS, State
from franchise.moves.instantiation import (
    ATTEMPTS,
    ENOUGH,
    draw_terms,
    finish_terms,
    instantiate_weights,
    redraw_topic,
)
from franchise.moves.shared.seats import fill_survival
from franchise.moves.shared.small_gammas import Strips, fit_strips, new_strips
from franchise.random import TOPIC_TERMS, TOPIC_WEIGHTS, Key

BLOCK = 64  # terms: sums over all terms are first taken in blocks of this size
_EPSILON = 0.02  # of a table's approximate share: topics with a table or more are nearly always above it
_MOST_FREE = 1 << 16  # unused topics, about


def epsilon_for(lengths: Array, documents_of_length: Array) -> float:
    """Return the smallest weight to instantiate; `lengths` are the different document lengths except 0.

    A document of n words has about alpha log n tables. The weight must not depend on the state.
    """
    return _EPSILON / max(1.0, float((documents_of_length * np.log1p(lengths)).sum()))


def epsilon_at(gamma: float, epsilon: float) -> float:
    """Return the smallest weight to instantiate: `epsilon`, or more if gamma is large.

    Time and memory grow with the number of unused topics above it. There are at most
    1 / epsilon of them, and about gamma log(1 / epsilon); this limits the smaller of the two. The pass holds
    gamma fixed, so the weight may depend on it.
    """
    return max(epsilon, min(1.0 / _MOST_FREE, math.exp(-_MOST_FREE / gamma)))


class _Own(NamedTuple):
    """Working memory of one thread."""

    stream: Array
    bits: Array  # column axis
    count_c: Array  # column axis, 0 between uses


class Instantiator:
    """Samples weights and topics repeatedly, in the same memory.

    Parameters
    ----------
    n_terms
        Size of the vocabulary.
    longest
        The number of words of the longest document whose words are seated one by one.
    threads
        Number of threads; results do not depend on it.
    block
        Number of terms whose gammas are added up first; it changes the last bits of results.
    partitions
        How many partitions ask for the terms of each sweep.
    """

    def __init__(
        self, n_terms: int, longest: int, threads: int, block: int = BLOCK, partitions: int = 1
    ) -> None:
        self._n_terms, self._longest, self._block, self._partitions = n_terms, longest, block, partitions
        self._strips = new_strips()
        self.measure: Measure | None = None
        # The inputs that the present terms were made with, and how many more partitions will ask for them.
        self._made_with: tuple[Key, State | Rows] | None = None
        self._to_come = 0
        self.use_threads(threads)

    def use_threads(self, number: int) -> None:
        """Use this number of threads from now on; results stay the same."""
        self._threads, terms = Threads(number), np.arange(self._n_terms + 1)
        self._terms = falling_ranges(terms, number, self._block)
        self._terms_each = falling_ranges(terms, number, self._block, each=1)  # for short work
        self._own: list[_Own] = []

    def weights(self, key: Key, state: State, epsilon: float) -> Measure:
        """Sample the weights of all topics above epsilon, or above a larger weight if gamma is large.

        The terms are not filled in.
        """
        epsilon = epsilon_at(float(state.concentrations[GAMMA]), epsilon)
        n_topics = int(state.totals[TOPICS])
        measure = self.room(n_topics + n_topics // 4 + 32, state.n_k.size)
        key, stream, log_weight = key._replace(move=TOPIC_WEIGHTS), np.zeros(4, np.uint64), np.zeros(n_topics)
        while needed := instantiate_weights(key, state, measure, epsilon, log_weight, stream):
            measure = self.room(needed + needed // 4, state.n_k.size)
        return measure

    def terms(self, key: Key, counts: State | Rows, concentrations: Array, weights: Measure) -> Measure:
        """Sample the terms of topics with known weights, given the counts of all documents.

        For the same key and counts this is done once, even if several partitions ask for it.
        """
        made_with, columns = self._made_with, int(weights.sizes[1])
        if self.measure is not None and made_with and made_with[0] == key and made_with[1] is counts:
            self._to_come -= 1
            if not self._to_come:
                self._made_with = None  # while referenced, counts sent by Ray stay in its memory
            return self.measure
        state = state_of_rows(counts) if isinstance(counts, Rows) else counts
        state = state._replace(concentrations=concentrations)
        measure = self.room(columns + columns // 4, weights.column.size)
        measure.number[:columns], measure.beta[:columns] = weights.number[:columns], weights.beta[:columns]
        measure.sizes[:], measure.column[:] = weights.sizes, weights.column
        self._finish(key, state, measure, self._draw(key, state, measure))
        self._to_come = self._partitions - 1
        self._made_with = (key, counts) if self._to_come else None
        return measure

    def _strips_at(self, state: State) -> Strips:
        fit_strips(self._strips, float(state.concentrations[ETA]))
        return self._strips

    def _draw(self, key: Key, state: State, measure: Measure) -> Array:
        """Sample the gammas of all terms; return their sums by block."""
        block, strips = self._block, self._strips_at(state)
        sums = np.zeros((self._n_terms // block + 1, max(1, int(measure.sizes[0]))))
        key = key._replace(move=TOPIC_TERMS)

        def draw(one: Range, own: _Own) -> None:
            draw_terms(key, state, measure, strips, block, sums, *own, *one)

        for own in self._own:
            own.count_c[:] = 0
        self._threads.each(draw, self._terms, self._own)
        return sums

    def _finish(self, key: Key, state: State, measure: Measure, sums: Array) -> None:
        """Divide gammas by their sums."""
        moving, totals = int(measure.sizes[0]), sums.sum(axis=0)
        key = key._replace(move=TOPIC_TERMS)
        for c in np.flatnonzero((totals[:moving] < ENOUGH) & (measure.number[:moving] == FREE)):
            totals[c] = redraw_topic(key, measure, self._strips_at(state), c, ATTEMPTS, self._own[0].stream)

        def finish(one: Range, own: _Own) -> None:
            finish_terms(state, measure, totals, *one)

        self._threads.each(finish, self._terms_each, self._own)
        fill_survival(state, measure)

    def room(self, columns: int, n_numbers: int) -> Measure:
        """Return a measure with room for this number of columns and of topic numbers."""
        measure = self.measure
        if measure is None or measure.number.size < columns:
            measure = new_measure(self._n_terms, columns, n_numbers, self._longest)
            self._own = []
        if not self._own:
            room = measure.number.size
            self._own = [
                _Own(np.zeros(4, np.uint64), np.zeros(room, np.uint64), np.zeros(room, np.int64))
                for _ in range(self._threads.number)
            ]
        if measure.column.size != n_numbers:
            measure = measure._replace(column=np.full(n_numbers, -1, np.int32))
        self.measure = measure
        return measure
