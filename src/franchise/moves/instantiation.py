"""Instantiate G_0 given the seating, down to topics of weight epsilon (`model.measure`)."""

import math

import numpy as np

from franchise._jit import helper, kernel
from franchise.model.measure import FREE
from franchise.model.state import ALPHA, ETA, GAMMA, TOPICS
from franchise.moves.shared.small_gammas import fill_with_gammas, small_gamma
from franchise.random import gamma_variate, integer, log_gamma_variate, next_bits, start_stream, uniform

ENOUGH = 1e-12  # the least sum of gammas that determines their shares
ATTEMPTS = 100  # to draw gammas with such a sum, before all weight goes to one term
_LARGEST = 37.0  # more than -log(1 - u) of any uniform u with 53 bits


@kernel
def instantiate_weights(key, state, measure, epsilon, log_weight, stream):
    """Sample the weights of all topics; return the number of columns needed if there is no room, else 0.

    `log_weight` is at least as long as the number of topics in use.
    """
    n_topics, room = state.totals[TOPICS], measure.number.size
    start_stream(stream, key, 0)
    top = -math.inf
    for i in range(n_topics):
        log_weight[i] = log_gamma_variate(stream, float(state.m_k[state.live[i]]))
        top = max(top, log_weight[i])
    gamma = state.concentrations[GAMMA]
    log_rest = log_gamma_variate(stream, gamma)
    top = max(top, log_rest)
    total = math.exp(log_rest - top)
    for i in range(n_topics):
        total += math.exp(log_weight[i] - top)
    log_total = top + math.log(total)
    columns = 0
    for i in range(n_topics):
        beta = math.exp(log_weight[i] - log_total)
        if beta >= epsilon:
            columns = _add_column(measure, columns, state.live[i], beta)
    log_rest -= log_total
    # No later topic can weigh more than _LARGEST / gamma of the rest.
    least = math.log(epsilon * max(1.0, gamma / _LARGEST))
    while log_rest >= least:
        left = math.log(1.0 - uniform(stream)) / gamma
        beta = -math.expm1(left) * math.exp(log_rest)
        if beta >= epsilon:
            columns = _add_column(measure, columns, FREE, beta)
        log_rest += left
    moving = columns
    for i in range(n_topics):
        beta = math.exp(log_weight[i] - log_total)
        if beta < epsilon:
            columns = _add_column(measure, columns, state.live[i], beta)
    measure.sizes[0] = moving
    measure.sizes[1] = columns
    return columns if columns > room else 0


@helper
def _add_column(measure, columns, number, beta):
    if columns < measure.number.size:
        measure.number[columns] = number
        measure.beta[columns] = beta
        if number != FREE:
            measure.column[number] = columns
    return columns + 1


@kernel
def draw_terms(key, state, measure, strips, block, block_sums, stream, bits, count, begin, end):
    """Sample the gammas of terms `begin` to `end` for every column that moves.

    All are first drawn with shape eta, which is fast. Those with words are then drawn again, by column,
    because pairs may come in any order. `block_sums` has sums over blocks of terms, so that they do not
    depend on threads; `begin` is the beginning of a block. `bits` and `count` have at least one entry per
    column, and `count` is 0 between uses.
    """
    moving, eta = measure.sizes[0], state.concentrations[ETA]
    for v in range(begin, end):
        start_stream(stream, key, v)
        row, sums, first = measure.phi[v], block_sums[v // block], state.row_ptr[v]
        fill_with_gammas(stream, strips, bits, row, moving)
        for pair in range(first, first + state.row_len[v]):
            count[measure.column[state.row_k[pair]]] = state.row_n[pair]
        for c in range(moving):
            if count[c] > 0:
                row[c] = gamma_variate(stream, eta + count[c])
        for pair in range(first, first + state.row_len[v]):
            count[measure.column[state.row_k[pair]]] = 0
        for c in range(moving):
            sums[c] += row[c]


@kernel
def redraw_topic(key, measure, strips, c, attempts, stream):
    """Sample the gammas of a free column again until their sum is large enough; return the sum.

    Their shares do not depend on their sum, so small sums may be rejected. If eta is so small that all
    attempts fail, one term gets all weight.
    """
    n_terms = measure.phi.shape[0]
    start_stream(stream, key, n_terms + c)
    for _ in range(attempts):
        total = 0.0
        for v in range(n_terms):
            value = small_gamma(stream, strips, next_bits(stream))
            measure.phi[v, c] = value
            total += value
        if total >= ENOUGH:
            return total
    measure.phi[:, c] = 0.0
    measure.phi[integer(stream, n_terms), c] = 1.0
    return 1.0


@kernel
def finish_terms(state, measure, totals, begin, end):
    """Divide the gammas of terms `begin` to `end` by their sums, and cumulate alpha beta phi."""
    moving, alpha = measure.sizes[0], state.concentrations[ALPHA]
    for v in range(begin, end):
        phi, rest = measure.phi[v], measure.rest[v]
        total = 0.0
        for c in range(moving):
            share = np.float32(phi[c] / totals[c])
            phi[c] = share
            total += alpha * measure.beta[c] * share
            rest[c] = total
        measure.total[v] = total
