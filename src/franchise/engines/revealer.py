"""Draws G_0 given the franchise (`moves.reveal`), in threads; it looks at the topics alone."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from franchise.engines.threads import Range, Threads, falling_ranges
from franchise.model.measure import FREE, Measure, new_measure
from franchise.model.state import GAMMA, TOPICS, Array, State
from franchise.moves.reveal import ATTEMPTS, ENOUGH, draw_terms, finish_terms, redraw_topic, reveal_weights
from franchise.moves.shared.seats import fill_survival
from franchise.random import REVEAL, TOPIC_TERMS, Key

BLOCK = 64  # terms: what is added up over all terms, is by blocks of so many first
_EPSILON = 0.02  # of a table's share, about: topics of a table or more are nearly always above it
_MOST_FREE = 1 << 16  # unused topics, about


def epsilon_for(lengths: Array, documents_of_length: Array) -> float:
    """Return the weight down to which to reveal G_0; `lengths` are the different ones, 0 apart.

    A document of n words has about log n tables for each unit of alpha. The state must not matter.
    """
    return _EPSILON / max(1.0, float((documents_of_length * np.log1p(lengths)).sum()))


def epsilon_at(gamma: float, epsilon: float) -> float:
    """Return the weight down to which to reveal G_0 at this gamma: `epsilon`, or more where gamma is large.

    Time and memory grow with the number of unused topics above it. There are at most
    1 / epsilon, and about gamma log(1 / epsilon); this limits the smaller of the two. The pass holds gamma
    fixed, so the weight may depend on it.
    """
    return max(epsilon, min(1.0 / _MOST_FREE, math.exp(-_MOST_FREE / gamma)))


class Share(NamedTuple):
    """The gammas of some terms, of all topics, and their sums by blocks."""

    begin: int
    phi: Array
    sums: Array


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
        """Draw the weights of all topics, down to epsilon or, at a large gamma, to a larger weight.

        Of their terms nothing is known yet.
        """
        epsilon = epsilon_at(float(state.concentrations[GAMMA]), epsilon)
        n_topics = int(state.totals[TOPICS])
        measure = self.room(n_topics + n_topics // 4 + 32, state.n_k.size)
        key, stream, log_weight = key._replace(move=REVEAL), np.zeros(4, np.uint64), np.zeros(n_topics)
        while needed := reveal_weights(key, state, measure, epsilon, log_weight, stream):
            measure = self.room(needed + needed // 4, state.n_k.size)
        return measure

    def terms_of(self, key: Key, state: State, measure: Measure) -> None:
        """Draw the terms of the topics whose weights are known."""
        self._finish(key, state, measure, self._draw(key, state, measure, self.terms))

    def share_of_terms(self, key: Key, state: State, measure: Measure, share: int, of: int) -> Share:
        """Draw the terms of one of several equal shares, for whoever brings all of them together."""
        n_blocks = -(-self._n_terms // self._block)
        first, last = (n_blocks * i // of for i in (share, share + 1))
        begin, end = first * self._block, min(last * self._block, self._n_terms)
        ranges = falling_ranges(np.arange(end - begin + 1), self._threads.number, self._block)
        sums = self._draw(key, state, measure, [(begin + a, begin + b) for a, b in ranges])
        return Share(begin, measure.phi[begin:end, : measure.sizes[0]].copy(), sums[first:last])

    def bring_together(self, key: Key, state: State, measure: Measure, shares: Sequence[Share]) -> None:
        """Take the terms that were drawn in shares; to the bit what `terms_of` draws."""
        moving = int(measure.sizes[0])
        sums = self._no_sums(moving)
        for share in shares:
            first, begin = share.begin // self._block, share.begin
            measure.phi[begin : begin + len(share.phi), :moving] = share.phi
            sums[first : first + len(share.sums)] = share.sums
        self._finish(key, state, measure, sums)

    def _no_sums(self, moving: int) -> Array:
        return np.zeros((self._n_terms // self._block + 1, max(1, moving)))

    def _draw(self, key: Key, state: State, measure: Measure, ranges: list[Range]) -> Array:
        """Draw the gammas of some terms; return the sums of all blocks."""
        sums, block = self._no_sums(int(measure.sizes[0])), self._block
        key = key._replace(move=TOPIC_TERMS)

        def draw(one: Range, own: _Own) -> None:
            draw_terms(key, state, measure, own.count_c, block, sums, own.stream, *one)

        for own in self._own:
            own.count_c[:] = 0
        self._threads.each(draw, ranges, self._own)
        return sums

    def _finish(self, key: Key, state: State, measure: Measure, sums: Array) -> None:
        """Make gammas shares of their sums."""
        moving, totals = int(measure.sizes[0]), sums.sum(axis=0)
        key = key._replace(move=TOPIC_TERMS)
        for c in np.flatnonzero((totals[:moving] < ENOUGH) & (measure.number[:moving] == FREE)):
            totals[c] = redraw_topic(key, state, measure, c, ATTEMPTS, self._own[0].stream)

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
