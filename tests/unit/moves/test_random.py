"""Streams to the bit, distributions by tests that fail a right program once in a million seeds."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammainc
from scipy.stats import beta, binom, hypergeom, norm

from franchise.random import (
    Key,
    binomial,
    fill_with_bits,
    hypergeometric,
    integer,
    log_beta_variate,
    log_gamma_variate,
    next_bits,
    normal,
    philox,
    shuffle,
    start_stream,
    uniform,
)
from tests.reference import franchise as twins
from tests.reference import streams
from tests.reference.choices import Drawn, outcomes
from tests.reference.statistics import assert_distribution, assert_frequencies

BITS = st.integers(0, 2**64 - 1)
KEYS = st.tuples(st.integers(0, 2**63 - 1), *[st.integers(0, 2**31)] * 3)
SHAPES = [0.05, 0.5, 1.0, 3.0, 50.0]
BETAS = [(0.05, 1.0), (0.5, 0.5), (1.05, 1.0), (3.0, 50.0), (50.0, 3.0)]


def stream_of(key, item=0):
    stream = np.zeros(4, np.uint64)
    start_stream(stream, Key(*key), item)
    return stream


def draws_of(variate, n, seed, *parameters):
    """Draw n times, half from one stream, half from the beginnings of as many streams."""
    stream = stream_of((seed, 0, 0, 0))
    one = [variate(stream, *parameters) for _ in range(n // 2)]
    many = [variate(stream_of((seed, 1, 0, 0), item), *parameters) for item in range(n - n // 2)]
    return one + many


@pytest.mark.nojit
@given(st.tuples(BITS, BITS, BITS, BITS), st.tuples(BITS, BITS))
def test_philox_equals_numpy(counter, key):
    number = sum(c << (64 * i) for i, c in enumerate(counter))
    # NumPy counts before it makes a block.
    theirs = np.random.Philox(counter=(number - 1) % 2**256, key=key[0] + (key[1] << 64)).random_raw(4)
    ours = philox(*(np.uint64(bits) for bits in (*counter, *key)))
    assert [int(bits) for bits in ours] == theirs.tolist() == streams.philox(counter, key)


@pytest.mark.nojit
@given(KEYS, st.integers(0, 2**31))
def test_a_stream_equals_its_twin(key, item):
    ours, twin = stream_of(key, item), streams.Stream.named(key, item)
    assert [int(next_bits(ours)) for _ in range(20)] == [twin.next_bits() for _ in range(20)]
    assert [uniform(ours) for _ in range(20)] == [twin.uniform() for _ in range(20)]


@pytest.mark.nojit
@given(KEYS, st.integers(0, 20))
def test_bits_drawn_at_once_are_those_drawn_one_by_one(key, n):
    one, many, bits = stream_of(key), stream_of(key), np.zeros(20, np.uint64)
    fill_with_bits(many, bits, n)
    assert bits.tolist() == [int(next_bits(one)) for _ in range(n)] + [0] * (20 - n)
    assert one.tolist() == many.tolist()


@pytest.mark.nojit
def test_every_part_of_the_key_makes_another_stream():
    names = [(3, 5, 7, 11, 13)] + [
        tuple(part + (place == i) for place, part in enumerate((3, 5, 7, 11, 13))) for i in range(5)
    ]
    beginnings = {tuple(stream_of(name[:4], name[4]).tolist()) for name in names}
    assert len(beginnings) == len(names)


@pytest.mark.nojit
@pytest.mark.parametrize(("first", "last", "expected"), [(0, 2**64 - 1, 1 - 2**-53), (0, 0, 0.0)])
def test_uniform_at_the_ends_of_its_range(first, last, expected):
    """xoshiro's next bits are all ones, or all zeros, from these states."""
    stream = np.array([first, 1, 1, last], np.uint64)
    assert uniform(stream) == expected < 1.0


@pytest.mark.nojit
@given(KEYS, st.integers(1, 1000))
def test_integers_are_in_range(key, n):
    stream, twin = stream_of(key), streams.Stream.named(key, 0)
    for _ in range(20):
        drawn = integer(stream, n)
        assert 0 <= drawn < n
        assert drawn == int(twin.uniform() * n)


@pytest.mark.nojit
@given(KEYS, st.integers(1, 12))
def test_shuffle_equals_its_twin(key, n):
    values = np.arange(n)
    shuffle(stream_of(key), values)
    twin, choose = list(range(n)), Drawn(key)
    choose.start(0)
    twins.shuffle(twin, choose)
    assert values.tolist() == twin


def test_shuffle_makes_every_order_equally_likely(seed):
    """Exactly so for the twin; then by many streams, in 6,000 draws (sees a cell a quarter too large)."""

    def order_of_three(choose):
        values = [0, 1, 2]
        twins.shuffle(values, choose)
        return tuple(values)

    equally = {order: 1 / 6 for order in permutations(range(3))}
    assert outcomes(order_of_three) == pytest.approx(equally, abs=1e-15)
    drawn = []
    for item in range(6_000):
        values = np.arange(3)
        shuffle(stream_of((seed, 0, 0, 0), item), values)
        drawn.append(tuple(values.tolist()))
    assert_frequencies(drawn, equally)


def assert_variates(n, seed):
    """Test every variate; n = 10,000 draws see a distance of 0.035 in a cumulative distribution."""
    assert_distribution(draws_of(uniform, n, seed), lambda u: np.clip(u, 0, 1))
    assert_distribution(draws_of(normal, n, seed), norm.cdf)
    for shape in SHAPES:
        draws = draws_of(log_gamma_variate, n, seed, shape)
        assert_distribution(draws, lambda log_x, shape=shape: gammainc(shape, np.exp(log_x)))
    for a, b in BETAS:
        draws = draws_of(log_beta_variate, n, seed, a, b)
        assert_distribution(draws, lambda log_x, a=a, b=b: beta.cdf(np.exp(log_x), a, b))


def test_variates_have_their_distributions(seed):
    """Twelve tests: all pass but once in 80,000 seeds."""
    assert_variates(10_000, seed)


@pytest.mark.statistical
def test_variates_have_their_distributions_to_half_a_percent(seed):
    """Twelve tests: all pass but once in 80,000 seeds."""
    assert_variates(500_000, seed)


def test_gamma_variates_below_the_smallest_double_keep_their_logarithm(seed):
    """At shape 0.001 half of the values are below e^-690; log X is then close to log(U) / shape."""
    logs = np.array(draws_of(log_gamma_variate, 2_000, seed, 0.001))
    assert np.all(np.isfinite(logs))
    assert_distribution(logs[logs < -100], lambda x: np.exp(0.001 * (x + 100)))


def test_streams_of_neighbouring_items_do_not_repeat_each_other():
    firsts = Counter(uniform(stream_of((1, 0, sweep, 1), item)) for sweep in range(20) for item in range(200))
    assert max(firsts.values()) == 1


def in_bins(draws, law, most=40):
    """Test counts against a distribution, in at most about this number of bins."""
    ends = np.unique(law.ppf(np.linspace(0, 1, most + 1)[1:-1]).astype(int))
    chances = np.diff([0.0, *law.cdf(ends), 1.0])
    assert_frequencies(np.searchsorted(ends, draws).tolist(), dict(enumerate(chances)))


# The first of each kind are added up from 0, or drawn one by one; others are drawn by rejection.
@pytest.mark.nojit
@pytest.mark.parametrize(
    ("n", "p"),
    [
        (1, 0.3),
        (6, 0.5),
        (40, 0.2),
        (10**9, 3e-9),
        (21, 0.49),
        (40, 0.3),
        (300, 0.9),
        (10**6, 0.5),
        (2**31, 0.01),
    ],
)
def test_binomial(n, p, seed):
    draws = draws_of(binomial, 2_000, seed, n, 7.0 * p, 7.0 * (1.0 - p))
    assert min(draws) >= 0
    assert max(draws) <= n
    in_bins(draws, binom(n, p))


@pytest.mark.nojit
def test_binomial_at_the_ends():
    stream = stream_of((0, 0, 0, 0))
    assert [binomial(stream, 0, 1.0, 1.0), binomial(stream, 9, 0.0, 1.0), binomial(stream, 9, 1.0, 0.0)] == [
        0,
        0,
        9,
    ]
    assert binomial(stream, 2**31, 1e-300, 1.0) == 0
    assert binomial(stream, 2**31, 1.0, 1e-300) == 2**31


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("good", "bad", "n"),
    [
        *((3, 4, 2), (30, 20, 8), (20, 30, 45), (30, 20, 12), (20, 30, 28), (500, 90, 300)),
        *((10**6, 3, 10**5), (10**6, 10**6, 10**6), (2**30, 2**29, 2**20)),
    ],
)
def test_hypergeometric(good, bad, n, seed):
    draws = draws_of(hypergeometric, 2_000, seed, good, bad, n)
    assert min(draws) >= max(0, n - bad)
    assert max(draws) <= min(n, good)
    in_bins(draws, hypergeom(good + bad, good, n))


@pytest.mark.nojit
def test_hypergeometric_at_the_ends():
    stream = stream_of((0, 0, 0, 0))
    for good, bad, n, expected in [
        (5, 5, 0, 0),
        (0, 5, 3, 0),
        (5, 0, 3, 3),
        (5, 7, 12, 5),
        (2**31, 1, 2**31 + 1, 2**31),
    ]:
        assert hypergeometric(stream, good, bad, n) == expected
