"""Sample alpha, gamma and eta given everything else, each under a Gamma(shape, rate) prior.

The priors end at 1e-100 and 1e100: they are Gamma densities cut to that range, within which every move's
arithmetic stays within doubles. Only the vaguest priors are affected: with a shape of 0.001 or less they have
most of their mass below the range, where all words share one topic, or one table per document.

The three conditionals have one form (paper, equations 1 to 4), where x is the concentration::

    p(x | rest) ~ x^(shape - 1 + power) e^(-rate x)
                  prod_i [ G(scale x) / G(scale x + n_i) ]^times_i  prod_c [ G(c + x) / G(x) ]^times_c

    gamma   power K    scale 1    one n: the number of tables
    alpha   power m    scale 1    n: the lengths of the documents
    eta     power 0    scale V    n: the sizes n_k of the topics       c: the counts n_kv > 0

So one slice sampler (Neal 2003), on the logarithm of x, serves them all. For alpha it costs time in
proportion to the number of different document lengths, not of documents. The paper's method for gamma and
alpha is here as well: the auxiliary variables of Teh et al. (2006), of which Escobar & West (1995) is the
case of one n. There is no such method for eta, which is always sampled by slice.
"""

import math
from typing import NamedTuple

import numpy as np

from franchise._arrays import Array
from franchise._jit import helper, inlined, kernel
from franchise.model.likelihood import log_rise
from franchise.model.priors import HIGHEST, LOWEST
from franchise.model.state import ALPHA, ETA, GAMMA, TABLES, TOPICS
from franchise.random import log_beta_variate, log_gamma_variate, start_stream, uniform

_LOG_LOWEST, _LOG_HIGHEST = math.log(LOWEST), math.log(HIGHEST)
_ROUNDS = 20  # auxiliary variables mix slowly: the paper's program takes 20 rounds as well
_MOST_TRIES = 100  # to draw a Gamma variable between the ends; one in 40 is there at a shape of 1e-4


class ConcentrationsInfo(NamedTuple):
    """Numbers of the move."""

    evaluations: int  # evaluations of conditional densities by slice sampling


class _Conditional(NamedTuple):
    """The density of one concentration given the rest; letters as above."""

    shape: float
    rate: float
    power: int
    scale: float
    sizes: Array  # n_i, and the power of each factor
    times: Array
    n_sizes: int
    counts: Array  # c, and the power of each factor
    times_counted: Array
    n_counts: int


@inlined
def _list_counts(state, scratch):
    """List the different counts n_kv, or all if they are too large to tabulate; return how many."""
    histogram, counts, times = scratch.histogram, scratch.counts, scratch.times_counted
    histogram[:] = 0
    n_counts, largest = 0, np.int64(0)
    for v in range(state.row_len.size):
        first = state.row_ptr[v]
        for place in range(first, first + state.row_len[v]):
            count = np.int64(state.row_n[place])
            if histogram.size == 0:
                counts[n_counts], times[n_counts] = count, 1
                n_counts += 1
            else:
                histogram[count] += 1
                if count > largest:
                    largest = count
    for c in range(1, largest + 1):
        if histogram[c] > 0:
            counts[n_counts], times[n_counts] = c, histogram[c]
            n_counts += 1
    return n_counts


@inlined
def _conditional(which, state, scratch, gamma_priors):
    """Return the conditional of one concentration; all have one type, so they are compiled once."""
    shape, rate = gamma_priors[which, 0], gamma_priors[which, 1]
    n_topics, n_tables = state.totals[TOPICS], state.totals[TABLES]
    sizes, times = scratch.sizes, scratch.times
    power, scale, n_sizes, n_counts = n_topics, 1.0, 1, 0
    if which == GAMMA:
        sizes[0], times[0] = n_tables, 1
    elif which == ALPHA:
        sizes, times = scratch.lengths, scratch.documents_of_length
        power, n_sizes = n_tables, sizes.size
    else:
        power, scale, n_sizes = 0, float(state.row_len.size), n_topics
        for i in range(n_topics):
            sizes[i], times[i] = state.n_k[state.live[i]], 1
        n_counts = _list_counts(state, scratch)
    counts, times_counted = scratch.counts, scratch.times_counted
    return _Conditional(shape, rate, power, scale, sizes, times, n_sizes, counts, times_counted, n_counts)


@helper
def _log_density(given, log_x):
    """Return the log density of log x: that of x, with the power of x higher by one."""
    x = math.exp(log_x)
    total = (given.shape + given.power) * log_x - given.rate * x
    scaled = given.scale * x
    at_zero = math.lgamma(scaled)
    for i in range(given.n_sizes):
        total -= given.times[i] * log_rise(scaled, at_zero, given.sizes[i])
    at_zero = math.lgamma(x)
    for i in range(given.n_counts):
        total += given.times_counted[i] * log_rise(x, at_zero, given.counts[i])
    return total


@helper
def _slice(stream, given, x):
    """Take one slice-sampling step on the log scale: step out by ones, not past the ends, then shrink.

    Beyond the ends the density is 0. Cutting steps there only removes points that would be refused
    (Neal 2003, section 4.1).
    """
    log_x = math.log(x)
    evaluations = 1
    height = _log_density(given, log_x) + math.log(1.0 - uniform(stream))
    low = log_x - uniform(stream)
    high = low + 1.0
    while low > _LOG_LOWEST:
        evaluations += 1
        if _log_density(given, low) < height:
            break
        low -= 1.0
    while high < _LOG_HIGHEST:
        evaluations += 1
        if _log_density(given, high) < height:
            break
        high += 1.0
    low, high = max(low, _LOG_LOWEST), min(high, _LOG_HIGHEST)
    while True:
        proposal = low + uniform(stream) * (high - low)
        evaluations += 1
        if _log_density(given, proposal) >= height:
            return math.exp(proposal), evaluations
        if proposal < log_x:
            low = proposal
        else:
            high = proposal


@helper
def _auxiliary(stream, given, x):
    """Draw the auxiliary variables given x, then x given them, which is Gamma.

    If no try falls between the ends, x is unchanged. The probability of that does not depend on x, so x is
    either drawn from its conditional or left alone, and both keep the distribution.
    """
    power, rate = given.power, given.rate
    for i in range(given.n_sizes):
        n = given.sizes[i]
        for _ in range(given.times[i]):
            rate -= log_beta_variate(stream, x + 1.0, n)
            if uniform(stream) * (n + x) < n:
                power -= 1
    for _ in range(_MOST_TRIES):
        log_x = log_gamma_variate(stream, given.shape + power) - math.log(rate)
        if _LOG_LOWEST <= log_x <= _LOG_HIGHEST:
            return math.exp(log_x)
    return x


@helper
def _within(x):
    """Move a starting value into the range; later values cannot leave it."""
    return min(max(x, LOWEST), HIGHEST)


@kernel
def slice_concentrations(key, corpus, state, scratch, gamma_priors):
    """Sample every concentration that has a prior by slice sampling.

    If eta has one, call `moves.shared.scratch.follow_eta` afterwards. ``gamma_priors[i]`` is (shape, rate) of
    concentration i, or (0, 0) for a fixed one.
    """
    start_stream(scratch.stream, key, 0)
    values = state.concentrations
    evaluations = 0
    for which in (GAMMA, ALPHA, ETA):
        if gamma_priors[which, 0] > 0.0:
            given = _conditional(which, state, scratch, gamma_priors)
            values[which], steps = _slice(scratch.stream, given, _within(values[which]))
            evaluations += steps
    return ConcentrationsInfo(evaluations)


@kernel
def auxiliary_concentrations(key, corpus, state, scratch, gamma_priors):
    """Sample gamma and alpha by the paper's auxiliary variables, and eta by slice, where they have priors.

    Afterwards call `follow_eta`, as after `slice_concentrations`.
    """
    start_stream(scratch.stream, key, 0)
    values = state.concentrations
    evaluations = 0
    for which in (GAMMA, ALPHA, ETA):
        if gamma_priors[which, 0] > 0.0:
            given = _conditional(which, state, scratch, gamma_priors)
            values[which] = _within(values[which])
            if which == ETA:
                values[ETA], evaluations = _slice(scratch.stream, given, values[ETA])
            else:
                for _ in range(_ROUNDS):
                    values[which] = _auxiliary(scratch.stream, given, values[which])
    return ConcentrationsInfo(evaluations)
