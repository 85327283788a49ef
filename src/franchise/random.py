"""Keyed random streams and the distributions that kernels draw from.

A stream is named by (seed, chain, sweep, move, item). One block of Philox4x64-10 turns the name into the 256
bits that start a xoshiro256++ generator. So a stream depends on nothing that happened before: not on order,
threads or a restart.
"""

import math
from typing import NamedTuple

import numpy as np

from franchise._jit import helper

# The purposes of streams: one number per move, never reused.
INITIALIZE, WORD_TABLES, TABLE_TOPICS, CONCENTRATIONS, SPLIT_MERGE = 0, 1, 2, 3, 4
FOLD_IN, LEFT_TO_RIGHT = 5, 6
TOPIC_WEIGHTS, TOPIC_TERMS, DOCUMENTS, CELLS = 7, 8, 9, 10
START_DOCUMENTS = 11


class Key(NamedTuple):
    """The name of a family of streams; the item (document, trial) completes it."""

    seed: int
    chain: int
    sweep: int
    move: int


_LOW32 = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)


@helper
def _multiply(a, b):
    """Return the high and low halves of the 128-bit product of two 64-bit numbers."""
    a_low, a_high = a & _LOW32, a >> _32
    b_low, b_high = b & _LOW32, b >> _32
    low = a_low * b_low
    cross = a_high * b_low + (low >> _32)
    cross_low = (cross & _LOW32) + a_low * b_high
    high = a_high * b_high + (cross >> _32) + (cross_low >> _32)
    return high, a * b


@helper
def philox(c0, c1, c2, c3, k0, k1):
    """Return one block of Philox4x64-10 (Salmon et al. 2011), four 64-bit numbers."""
    for _ in range(10):
        high0, low0 = _multiply(np.uint64(0xD2E7470EE14C6C93), c0)
        high1, low1 = _multiply(np.uint64(0xCA5A826395121157), c2)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0 = k0 + np.uint64(0x9E3779B97F4A7C15)
        k1 = k1 + np.uint64(0xBB67AE8584CAA73B)
    return c0, c1, c2, c3


@helper
def start_stream(stream, key, item):
    """Set `stream` (uint64[4]) to the beginning of the stream (key, item)."""
    stream[0], stream[1], stream[2], stream[3] = philox(
        np.uint64(item),
        np.uint64(key.sweep),
        np.uint64(key.move),
        np.uint64(0),
        np.uint64(key.seed),
        np.uint64(key.chain),
    )


@helper
def next_bits(stream):
    """Return the next 64 bits of xoshiro256++ (Blackman & Vigna)."""
    result, stream[0], stream[1], stream[2], stream[3] = _step(stream[0], stream[1], stream[2], stream[3])
    return result


@helper
def fill_with_bits(stream, bits, n):
    """Put the next n results of `next_bits` in `bits`, three times as fast."""
    s0, s1, s2, s3 = stream[0], stream[1], stream[2], stream[3]
    for i in range(n):
        bits[i], s0, s1, s2, s3 = _step(s0, s1, s2, s3)
    stream[0], stream[1], stream[2], stream[3] = s0, s1, s2, s3


@helper
def _step(s0, s1, s2, s3):
    total = s0 + s3
    result = ((total << np.uint64(23)) | (total >> np.uint64(41))) + s0
    shifted = s1 << np.uint64(17)
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    s3 = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
    return result, s0, s1, s2, s3


@helper
def uniform(stream):
    """Draw from [0, 1) with 53 random bits."""
    return float(next_bits(stream) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@helper
def integer(stream, n):
    """Draw from 0, ..., n - 1; the bias is below n / 2**53."""
    return int(uniform(stream) * n)


@helper
def shuffle(stream, values):
    """Permute `values` in place, every order equally likely (Fisher-Yates)."""
    for i in range(values.size - 1, 0, -1):
        j = integer(stream, i + 1)
        values[i], values[j] = values[j], values[i]


@helper
def normal(stream):
    """Draw a standard normal variable (Box-Muller; the second value is thrown away)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(stream)))
    return radius * math.cos(2.0 * math.pi * uniform(stream))


@helper
def log_gamma_variate(stream, shape):
    """Draw the logarithm of a Gamma(shape, 1) variable.

    Logarithms are needed because a shape far below one gives values below the smallest double.
    """
    boost = 0.0
    if shape < 1.0:
        boost = math.log(1.0 - uniform(stream)) / shape
        shape = shape + 1.0
    return boost + math.log(_large_gamma(stream, shape))


@helper
def gamma_variate(stream, shape):
    """Draw a Gamma(shape, 1) variable; 0 if it is below the smallest double.

    Shapes below one use Ahrens & Dieter (1974), with a squeeze. For many of one shape, see
    `moves.shared.small_gammas`.
    """
    if shape >= 1.0:
        return _large_gamma(stream, shape)
    edge = 1.0 + shape / math.e
    while True:
        p = edge * (1.0 - uniform(stream))
        u = uniform(stream)
        if p <= 1.0:
            x = math.exp(math.log(p) / shape)
            if u <= 1.0 - x or u <= math.exp(-x):
                return x
        else:
            x = -math.log((edge - p) / shape)
            if u <= math.exp((shape - 1.0) * math.log(x)):
                return x


@helper
def _large_gamma(stream, shape):
    """Draw a Gamma(shape, 1) variable with shape >= 1 (Marsaglia & Tsang 2000)."""
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        z = normal(stream)
        v = 1.0 + c * z
        v = v * v * v  # not v**3, which compiled code rounds differently from Python
        if v <= 0.0:
            continue
        u, square = 1.0 - uniform(stream), z * z
        if (
            u < 1.0 - 0.0331 * square * square
        ):  # the authors' squeeze: it saves logarithms, and changes nothing
            return d * v
        if math.log(u) < 0.5 * square + d - d * v + d * math.log(v):
            return d * v


@helper
def log_beta_variate(stream, a, b):
    """Draw the logarithm of a Beta(a, b) variable, to full precision even if a is far above b."""
    x = log_gamma_variate(stream, a)
    y = log_gamma_variate(stream, b)
    if x > y:
        return -math.log1p(math.exp(y - x))
    return (x - y) - math.log1p(math.exp(x - y))


# Counts. Logarithms only of numbers that Python and compiled code round in the same way, so no lgamma.
_SMALL_MEAN = 10.0  # for smaller means, probabilities are added up from 0
_FEW = 10  # up to this number are drawn from an urn one by one
_LOG_FACTORIALS = tuple(math.log(float(math.factorial(k))) for k in range(16))


@helper
def _log_factorial(k):
    """Return log k!, by Stirling's series where it has 15 digits."""
    if k < 16:
        return _LOG_FACTORIALS[k]
    x = k + 1.0
    y = 1.0 / (x * x)
    rest = (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y / 1680.0))) / x
    return (x - 0.5) * math.log(x) - x + 0.9189385332046728 + rest


@helper
def binomial(stream, n, yes, no):
    """Draw how many of n are yes, each with probability yes / (yes + no); weights lose no precision."""
    if n <= 0 or yes <= 0.0:
        return 0
    if no <= 0.0:
        return n
    p = min(yes, no) / (yes + no)
    k = _few_of(stream, n, p) if n * p < _SMALL_MEAN else _many_of(stream, n, p)
    return n - k if yes > no else k


@helper
def _few_of(stream, n, p):
    """Draw a binomial count with a small mean by inversion; p is at most 1/2."""
    while True:
        u = uniform(stream)
        if u < 1.0 - n * p:  # less than the probability of 0, whatever that is
            return 0
        chance = math.exp(n * math.log1p(-p))
        odds = p / (1.0 - p)
        for k in range(n + 1):
            if u < chance:
                return k
            u -= chance
            chance *= odds * (n - k) / (k + 1)
        # Rounding has left some of u: once in 10**15.


@helper
def _many_of(stream, n, p):
    """Draw a binomial count with a mean of 10 or more by transformed rejection (Hoermann 1993, BTRS)."""
    spread = math.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    middle = n * p + 0.5
    most = 0.92 - 4.2 / b
    scale = (2.83 + 5.1 / b) * spread
    log_odds = math.log(p / (1.0 - p))
    mode = int((n + 1) * p)
    at_mode = _log_factorial(mode) + _log_factorial(n - mode)
    while True:
        u = uniform(stream) - 0.5
        v = 1.0 - uniform(stream)
        us = 0.5 - abs(u)
        if us <= 0.0:
            continue
        x = math.floor((2.0 * a / us + b) * u + middle)
        if x < 0.0 or x > n:
            continue
        k = int(x)
        if us >= 0.07 and v <= most:
            return k
        log_ratio = at_mode - _log_factorial(k) - _log_factorial(n - k) + (k - mode) * log_odds
        if math.log(v * scale / (a / (us * us) + b)) <= log_ratio:
            return k


@helper
def hypergeometric(stream, good, bad, n):
    """Draw how many of n are good, taken without replacement from an urn of good and bad ones."""
    if n <= 0 or good <= 0:
        return 0
    if bad <= 0:
        return n
    total = good + bad
    if n >= total:
        return good
    taken = min(n, total - n)  # or the number that stays
    fewer, more = min(good, bad), max(good, bad)
    k = _one_by_one(stream, fewer, total, taken) if taken <= _FEW else _urn(stream, fewer, more, taken)
    if good > bad:
        k = taken - k
    return k if n <= total - n else good - k


@helper
def _one_by_one(stream, good, total, n):
    k = 0
    for i in range(n):
        k += integer(stream, total - i) < good - k
    return k


@helper
def _urn(stream, good, bad, n):
    """Draw a hypergeometric count by the ratio of uniforms (Stadlober 1989, HRUA)."""
    total = float(good + bad)
    p = good / total
    middle = n * p + 0.5
    spread = math.sqrt((total - n) * n * p * (1.0 - p) / (total - 1.0) + 0.5)
    width = 1.7155277699214135 * spread + 0.8989161620588988  # 2 sqrt(2 / e), 3 - 2 sqrt(3 / e)
    mode = int((n + 1.0) * (good + 1.0) / (total + 2.0))
    at_mode = _log_ways(good, bad, n, mode)
    end = min(n, good) + 1.0
    while True:
        u = 1.0 - uniform(stream)
        x = middle + width * (uniform(stream) - 0.5) / u
        if x < 0.0 or x >= end:
            continue
        k = int(x)
        if 2.0 * math.log(u) <= at_mode - _log_ways(good, bad, n, k):
            return k


@helper
def _log_ways(good, bad, n, k):
    """Return minus the log probability of k, up to a constant."""
    return _log_factorial(k) + _log_factorial(good - k) + _log_factorial(n - k) + _log_factorial(bad - n + k)
