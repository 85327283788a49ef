"""alpha, gamma and eta given everything else, each under a Gamma(shape, rate) prior.

The three conditionals have one form (paper, equations 1 to 4), x being the concentration::

    p(x | rest) ~ x^(shape - 1 + power) e^(-rate x)
                  prod_i [ G(scale x) / G(scale x + n_i) ]^times_i  prod_c [ G(c + x) / G(x) ]^times_c

    gamma   power K    scale 1    one n: the number of tables
    alpha   power m    scale 1    n: the lengths of the documents
    eta     power 0    scale V    n: the sizes n_k of the topics       c: the counts n_kv > 0

so one slice sampler (Neal 2003), on the logarithm of x, serves them all; alpha costs time in
proportion to the number of different document lengths, not of documents. The paper's way, by
auxiliary variables (Escobar & West 1995 for gamma; Teh et al. 2006 for alpha), is here as well.
"""

import math
from typing import NamedTuple

from franchise._jit import helper, kernel, part
from franchise.model.state import ALPHA, ETA, GAMMA, TABLES, TOPICS, Array
from franchise.random import log_beta_variate, log_gamma_variate, start_stream, uniform

_MOST_STEPS = 1500  # never reached: this many powers of e cover every double
_ROUNDS = 20  # auxiliary variables mix slowly: the paper's program takes 20 rounds as well


class ConcentrationsInfo(NamedTuple):
    """What the move did."""

    evaluations: int  # of conditional densities, by slice sampling


class _Conditional(NamedTuple):
    """The density of one concentration given the rest; letters as above."""

    shape: float
    rate: float
    power: float
    scale: float
    sizes: Array  # n_i, and how often each stands in the product
    times: Array
    n_sizes: int
    histogram: Array  # histogram[c] of the counts are c
    n_counts: int  # the end of the histogram; 0 for none


@helper
def _log_density(given, log_x):
    """Return the log density of log x; of log x, not x, so the power of x is one higher."""
    x = math.exp(log_x)
    total = (given.shape + given.power) * log_x - given.rate * x
    at_zero = math.lgamma(given.scale * x)
    for i in range(given.n_sizes):
        total += given.times[i] * (at_zero - math.lgamma(given.scale * x + given.sizes[i]))
    at_zero = math.lgamma(x) if given.n_counts > 0 else 0.0
    for c in range(1, given.n_counts):
        if given.histogram[c] > 0:
            total += given.histogram[c] * (math.lgamma(c + x) - at_zero)
    return total


@helper
def _slice(stream, given, x):
    """Take one slice-sampling step: out by ones on the log scale, then shrink."""
    log_x = math.log(x)
    evaluations = 1
    height = _log_density(given, log_x) + math.log(1.0 - uniform(stream))
    low = log_x - uniform(stream)
    high = low + 1.0
    for _ in range(_MOST_STEPS):
        evaluations += 1
        if _log_density(given, low) <= height:
            break
        low -= 1.0
    for _ in range(_MOST_STEPS):
        evaluations += 1
        if _log_density(given, high) <= height:
            break
        high += 1.0
    while True:
        proposal = low + uniform(stream) * (high - low)
        evaluations += 1
        if _log_density(given, proposal) > height:
            return math.exp(proposal), evaluations
        if proposal < log_x:
            low = proposal
        else:
            high = proposal


@part
def _count_counts(state, histogram):
    """Set histogram[c] to the number of pairs n_kv = c; return the end of the part in use."""
    histogram[:] = 0
    largest = 0
    for v in range(state.row_len.size):
        first = state.row_ptr[v]
        for place in range(first, first + state.row_len[v]):
            count = state.row_n[place]
            histogram[count] += 1
            largest = max(largest, count)
    return largest + 1


@kernel
def slice_concentrations(key, corpus, state, scratch, gamma_priors):
    """Draw every concentration that has a prior by slice sampling.

    When eta has one, the functions that follow it must be computed again (`parts.scratch.follow_eta`).
    ``gamma_priors[i]`` is (shape, rate) of concentration i, or (0, 0) for a fixed one.
    """
    start_stream(scratch.stream, key, 0)
    sizes, times, histogram = scratch.sizes, scratch.times, scratch.histogram
    values = state.concentrations
    n_topics, n_tables, n_terms = state.totals[TOPICS], state.totals[TABLES], state.row_len.size
    evaluations = 0
    if gamma_priors[GAMMA, 0] > 0.0:
        shape, rate = gamma_priors[GAMMA, 0], gamma_priors[GAMMA, 1]
        sizes[0], times[0] = n_tables, 1
        given = _Conditional(shape, rate, float(n_topics), 1.0, sizes, times, 1, histogram, 0)
        values[GAMMA], steps = _slice(scratch.stream, given, values[GAMMA])
        evaluations += steps
    if gamma_priors[ALPHA, 0] > 0.0:
        shape, rate = gamma_priors[ALPHA, 0], gamma_priors[ALPHA, 1]
        lengths, documents = scratch.lengths, scratch.documents_of_length
        given = _Conditional(
            shape, rate, float(n_tables), 1.0, lengths, documents, lengths.size, histogram, 0
        )
        values[ALPHA], steps = _slice(scratch.stream, given, values[ALPHA])
        evaluations += steps
    if gamma_priors[ETA, 0] > 0.0:
        shape, rate = gamma_priors[ETA, 0], gamma_priors[ETA, 1]
        for i in range(n_topics):
            sizes[i], times[i] = state.n_k[state.live[i]], 1
        n_counts = _count_counts(state, histogram)
        given = _Conditional(shape, rate, 0.0, float(n_terms), sizes, times, n_topics, histogram, n_counts)
        values[ETA], steps = _slice(scratch.stream, given, values[ETA])
        evaluations += steps
    return ConcentrationsInfo(evaluations)


@part
def _escobar_west(stream, gamma, shape, rate, n_topics, n_tables):
    log_u = log_beta_variate(stream, gamma + 1.0, n_tables)
    rate = rate - log_u
    odds = (shape + n_topics - 1.0) / (n_tables * rate)
    shape = shape + n_topics
    if uniform(stream) * (1.0 + odds) >= odds:
        shape -= 1.0
    return math.exp(log_gamma_variate(stream, shape)) / rate


@part
def _teh(stream, alpha, shape, rate, n_tables, corpus):
    shape = shape + n_tables
    for j in range(corpus.doc_ptr.size - 1):
        n_j = corpus.doc_ptr[j + 1] - corpus.doc_ptr[j]
        if n_j > 0:
            rate -= log_beta_variate(stream, alpha + 1.0, n_j)
            if uniform(stream) * (n_j + alpha) < n_j:
                shape -= 1.0
    return math.exp(log_gamma_variate(stream, shape)) / rate


@kernel
def auxiliary_concentrations(key, corpus, state, scratch, gamma_priors):
    """Draw gamma and alpha, where they have priors, by the paper's auxiliary variables."""
    start_stream(scratch.stream, key, 0)
    values = state.concentrations
    n_topics, n_tables = state.totals[TOPICS], state.totals[TABLES]
    for _ in range(_ROUNDS):
        if gamma_priors[GAMMA, 0] > 0.0:
            shape, rate = gamma_priors[GAMMA, 0], gamma_priors[GAMMA, 1]
            values[GAMMA] = _escobar_west(scratch.stream, values[GAMMA], shape, rate, n_topics, n_tables)
        if gamma_priors[ALPHA, 0] > 0.0:
            shape, rate = gamma_priors[ALPHA, 0], gamma_priors[ALPHA, 1]
            values[ALPHA] = _teh(scratch.stream, values[ALPHA], shape, rate, n_tables, corpus)
    return ConcentrationsInfo(0)
