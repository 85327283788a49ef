"""Seat the words of a document again, given their topics and G_0.

The words of one topic in one document sit at tables as in a Chinese restaurant with concentration
c = alpha beta_k: after n words, the next opens a table with probability c / (c + n), else it joins the table
of one of the n. So no word after the first a, up to the first b, opens one with probability S(b) / S(a),
where::

    S(n) = 1 / (c + 1) * 2 / (c + 2) * ... * (n - 1) / (c + n - 1)

The next new table is where S(n) / S(a) falls below a uniform number: one number per table, not per word.
Most topics have one table in a document, and their words need no more numbers.
"""

from typing import NamedTuple

import numpy as np

from franchise._arrays import Array
from franchise._jit import helper, kernel
from franchise.model.state import ALPHA
from franchise.random import integer, uniform

_TOO_SMALL = 1e-250  # below it, S(n) / S(a) cannot be computed from the table; u is 1e-16 or more


class Seats(NamedTuple):
    """Working memory for the tables of one document's topics, in the order of their list."""

    only_table: Array  # -1 if there are several
    newest: Array  # of several tables
    seated: Array  # number of seated words
    before_next: Array  # number of words before the next new table
    older: Array  # table axis: the next older table of the same topic, or -1


def new_seats(longest: int) -> Seats:
    """Allocate working memory for documents of at most `longest` words."""
    return Seats(*np.zeros((5, longest), np.int32))


@kernel
def fill_survival(state, measure):
    """Fill in S(0), S(1), ... of every column, as far as there is room."""
    alpha = state.concentrations[ALPHA]
    for c in range(measure.sizes[1]):
        survival, mass = measure.survival[c], alpha * measure.beta[c]
        survival[:2] = 1.0
        for n in range(2, survival.size):
            survival[n] = survival[n - 1] * ((n - 1) / (mass + (n - 1)))


@helper
def seat(state, measure, scratch, first, last, n_here):
    """Seat the words of a document; return its number of tables."""
    seats, alpha, tables = scratch.seats, state.concentrations[ALPHA], 0
    for s in range(n_here):
        c, n = scratch.here[s], np.int64(scratch.n[s])
        seats.only_table[s] = tables
        state.k_jt[first + tables] = c
        state.n_jt[first + tables] = n
        scratch.tables_c[c] += 1
        if n > 1:
            before = _before_next(measure.survival[c], alpha * measure.beta[c], 1, n, uniform(scratch.stream))
            if before < n:
                seats.only_table[s] = -1
                seats.newest[s] = tables
                seats.seated[s] = 0
                seats.before_next[s] = before
                seats.older[tables] = -1
                state.n_jt[first + tables] = 0
        tables += 1
    for i in range(first, last):
        s = scratch.slot[scratch.z[i - first]]
        t = seats.only_table[s]
        if t < 0:
            t, tables = _seat_at_one_of_several(state, measure, scratch, first, s, tables)
        state.t_ji[i] = t
    return tables


@helper
def _seat_at_one_of_several(state, measure, scratch, first, s, tables):
    """Return the table of the next word of a topic with several, and the document's number of tables."""
    seats, c = scratch.seats, scratch.here[s]
    before = np.int64(seats.seated[s])
    seats.seated[s] += 1
    t = np.int64(seats.newest[s])
    if before == seats.before_next[s]:
        seats.older[tables] = t
        seats.newest[s] = tables
        seats.before_next[s] = _before_next(
            measure.survival[c],
            state.concentrations[ALPHA] * measure.beta[c],
            before + 1,
            np.int64(scratch.n[s]),
            uniform(scratch.stream),
        )
        state.k_jt[first + tables] = c
        state.n_jt[first + tables] = 1
        scratch.tables_c[c] += 1
        return tables, tables + 1
    if seats.older[t] >= 0:  # the table of an earlier word, each with the same probability
        u = integer(scratch.stream, before)
        while u >= state.n_jt[first + t]:
            u -= state.n_jt[first + t]
            t = np.int64(seats.older[t])
    state.n_jt[first + t] += 1
    return t, tables


@helper
def _before_next(survival, mass, seated, n, u):
    """Return the number of words seated before the next one that opens a table; n if none of the n does."""
    known = survival.size - 1
    if seated > known or survival[seated] < _TOO_SMALL:
        return _before_next_untabulated(1.0, mass, seated, n, u)
    u *= survival[seated]
    low, high = seated + 1, min(n, known)
    if low <= high and survival[high] < u:
        while low < high:
            middle = (low + high) // 2
            if survival[middle] < u:
                high = middle
            else:
                low = middle + 1
        return low - 1
    return _before_next_untabulated(survival[known], mass, known, n, u)


@helper
def _before_next_untabulated(value, mass, seated, n, u):
    """Return the same by multiplication, where the probability up to here is `value`."""
    for other in range(seated, n):
        value *= other / (mass + other)
        if value < u:
            return other
    return n
