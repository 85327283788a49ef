"""The likelihood of words given their topics, with phi integrated out.

With n_k words in topic k, n_kv of them of term v (paper, section 2.2 and appendix)::

    one word     f_k(v)    = (n_kv + eta) / (n_k + V eta)
    all words    log f(S)  = lnG(V eta) - lnG(n_k + V eta) + sum_v [lnG(n_kv + eta) - lnG(eta)]

The moves look up lnG(n + eta) and lnG(n + V eta) in arrays, `lg` and `lgv`. The first has an entry for every
count of the most frequent term. The second stops at 2**16 (half a megabyte); for the few larger topics the
value is computed.
"""

import math

import numpy as np

from franchise._jit import helper, kernel
from franchise.model.state import TOPICS

MOST_TABULATED = 1 << 16
_STIRLING = 16.0  # from here on Stirling's series has 14 digits


@helper
def fill_log_gamma(table, offset):
    """Set table[n] = lnG(n + offset)."""
    for n in range(table.size):
        table[n] = math.lgamma(n + offset)


@helper
def log_gamma(table, offset, n):
    """Return lnG(n + offset), from the array if it is long enough."""
    if n < table.size:
        return table[np.uint32(n)]
    return math.lgamma(n + offset)


@helper
def _stirling(x):
    """Return the remainder lnG(x) - (x - 1/2) ln x + x - ln(2 pi) / 2, for a large x."""
    y = 1.0 / (x * x)
    return (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y / 1680.0))) / x


@helper
def log_rise(x, log_gamma_x, n):
    """Return ln [G(x + n) / G(x)] to full precision, even if x is large and the two are nearly equal."""
    if x < _STIRLING:
        return math.lgamma(x + n) - log_gamma_x
    end = x + n
    return (x - 0.5) * math.log1p(n / x) + n * (math.log(end) - 1.0) + (_stirling(end) - _stirling(x))


@helper
def rise(table, offset, n, c):
    """Return ln [G(n + c + offset) / G(n + offset)], from the array if it is long enough."""
    if n + c < table.size:
        return table[np.uint32(n + c)] - table[np.uint32(n)]
    x = n + offset
    return log_rise(x, math.lgamma(x) if x < _STIRLING else 0.0, c)


@kernel
def log_p_words(state, eta):
    """Return log p(x | c), the sum of log f(S) over the topics."""
    n_terms = state.row_len.size
    total, at_zero = _log_p_sizes(state, n_terms * eta), math.lgamma(eta)
    for v in range(n_terms):
        first = state.row_ptr[v]
        for place in range(first, first + state.row_len[v]):
            total += math.lgamma(state.row_n[place] + eta) - at_zero
    return total


@helper
def _log_p_sizes(state, v_eta):
    total = state.totals[TOPICS] * math.lgamma(v_eta)
    for i in range(state.totals[TOPICS]):
        total -= math.lgamma(state.n_k[state.live[i]] + v_eta)
    return total


@kernel
def log_p_sizes(state, eta):
    """Return the contribution of topic sizes to log p(x | c)."""
    return _log_p_sizes(state, state.row_len.size * eta)


@kernel
def log_p_terms(state, lg, eta, sums, size, begin, end):
    """Set `sums` to the contributions of terms `begin` to `end` to log p(x | c), per `size` terms."""
    for v in range(begin, end):
        if v % size == 0:
            sums[v // size] = 0.0
        first = state.row_ptr[v]
        for place in range(first, first + state.row_len[v]):
            sums[v // size] += log_gamma(lg, eta, np.int64(state.row_n[place])) - lg[0]
