"""alpha, gamma and eta given everything else, each under a Gamma(shape, rate) prior.

The priors end at 1e-100 and 1e100: they are Gamma densities cut to that range, over which every
move's arithmetic stays within doubles. Only the vaguest priors notice. Those of a shape of 0.001 or
less have most of their mass further down, where one topic, or one table a document, is all there is.

The three conditionals have one form (paper, equations 1 to 4), x being the concentration::

    p(x | rest) ~ x^(shape - 1 + power) e^(-rate x)
                  prod_i [ G(scale x) / G(scale x + n_i) ]^times_i  prod_c [ G(c + x) / G(x) ]^times_c

    gamma   power K    scale 1    one n: the number of tables
    alpha   power m    scale 1    n: the lengths of the documents
    eta     power 0    scale V    n: the sizes n_k of the topics       c: the counts n_kv > 0

so one slice sampler (Neal 2003), on the logarithm of x, serves them all; alpha costs time in
proportion to the number of different document lengths, not of documents. The paper's way, by the
auxiliary variables of Teh et al. (2006), of which Escobar & West (1995) is the case of one n, is
here as well, for gamma and alpha; there is none for eta, which is drawn by slice all the same.
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
_MOST_TRIES = 100  # to draw a Gamma variable between those ends; one in 40 is at a shape of 1e-4


class ConcentrationsInfo(NamedTuple):
    """What the move did."""

    evaluations: int  # of conditional densities, by slice sampling


class _Conditional(NamedTuple):
    """The density of one concentration given the rest; letters as above."""

    shape: float
    rate: float
    power: int
    scale: float
    sizes: Array  # n_i, and how often each stands in the product
    times: Array
    n_sizes: int
    counts: Array  # c, and how often each stands in the product
    times_counted: Array
    n_counts: int


@inlined
def _list_counts(state, scratch):
    """List the different counts n_kv, or all where there is no room to count them; return how many."""
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
    """Return the log density of log x; of log x, not x, so the power of x is one higher."""
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
    """Take one slice-sampling step: out by ones on the log scale, not past the ends, then shrink.

    Beyond the ends the density is 0. Steps that are cut there leave the choice of the interval as it
    was, less points that would only be refused (Neal 2003, section 4.1).
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
    """Draw the auxiliary variables given x, and x, which is Gamma then, given them.

    Where no try falls between the ends x stays. That this happens says nothing of x itself, so x is
    drawn from its conditional or left alone, and both keep the distribution.
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
    """Bring a starting value, the only one that can be outside, between the ends."""
    return min(max(x, LOWEST), HIGHEST)


@kernel
def slice_concentrations(key, corpus, state, scratch, gamma_priors):
    """Draw every concentration that has a prior by slice sampling.

    When eta has one, the functions that follow it must be computed again (`parts.scratch.follow_eta`).
    ``gamma_priors[i]`` is (shape, rate) of concentration i, or (0, 0) for a fixed one.
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
    """Draw gamma and alpha, where they have priors, by the paper's auxiliary variables, and eta by slice.

    Values computed from eta must be computed again, as after `slice_concentrations`.
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
