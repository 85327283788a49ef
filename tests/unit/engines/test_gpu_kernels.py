"""The kernels of the GPU engine, compiled for the host: random numbers, functions, G_0, seats."""

import math
from collections import Counter
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special, stats

from franchise.engines.partitions.cuda.device import counter_key
from franchise.engines.partitions.cuda.layout import lay_out
from franchise.engines.partitions.cuda.measure import Counts, add_up, draw_measure, wide
from franchise.engines.partitions.cuda.source import CHUNK, SIDE_BY_SIDE, TERMS, kernel_source
from franchise.model.measure import FREE, new_measure
from franchise.random import TOPIC_TERMS, Key
from tests.host_device import HostDevice, needs_compiler
from tests.reference import gpu_kernels
from tests.reference.enumeration import by_first_appearance, partitions
from tests.reference.gpu import philox, seat_topic
from tests.reference.gpu import uniforms as plain_uniforms
from tests.reference.statistics import assert_distribution, assert_frequencies

pytestmark = needs_compiler
KEY = 0x0123456789ABCDEF


@cache
def host():
    return HostDevice(gpu_kernels.with_open_kernels(kernel_source()))


# ---------------------------------------------------------------- random numbers

# Counter, key, what comes of it: those published with Random123.
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((2**32 - 1,) * 4, (2**32 - 1,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
def test_philox(counter, key, expected):
    assert philox(counter, key) == expected
    (found,) = gpu_kernels.uniforms(host(), np.array([key[1] << 32 | key[0]], np.uint64), [counter])
    (a, b, c, d) = expected
    assert (found * 2**53).tolist() == [(a << 32 | b) >> 11, (c << 32 | d) >> 11]


def test_uniforms_are_those_of_the_twin(seed):
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 2**64, 500, np.uint64)
    counters = rng.integers(0, 2**32, (500, 4))
    expected = [plain_uniforms(int(key), *map(int, counter)) for key, counter in zip(keys, counters)]
    assert gpu_kernels.uniforms(host(), keys, counters).tolist() == [list(pair) for pair in expected]


def test_keys_differ_by_all_that_names_them():
    names = [
        Key(seed, chain, sweep, move)
        for seed in (0, 5)
        for chain in (0, 1)
        for sweep in (0, 1)
        for move in (0, 3)
    ]
    keys = {
        int(counter_key(name, purpose, turn))
        for name in names
        for purpose in ("terms", "words", "seats", "theta", "long words", "start")
        for turn in (0, 1, 2)
    }
    assert len(keys) == len(names) * 6 * 3


@pytest.mark.parametrize("shape", [1e-3, 0.05, 0.5, 0.999, 1.0, 1.5, 20.0, 1e5])
def test_gammas(shape):
    """20,000 see a probability off by 0.02."""
    n = 20_000
    drawn = gpu_kernels.gammas(host(), KEY, np.arange(n), np.full(n, 7), np.full(n, shape))
    assert np.isfinite(drawn).all()
    assert (drawn >= 0.0).all()
    p = stats.gamma.cdf(drawn, shape)
    # Below the smallest double all are 0: there any order will do.
    below = drawn == 0.0
    p[below] = np.random.default_rng(0).random(below.sum()) * stats.gamma.cdf(np.exp(-708.0), shape)
    assert_distribution(p, stats.uniform.cdf)


def test_gammas_of_other_items_and_parts_are_independent():
    n = 100
    item, part = np.divmod(np.arange(n * n), n)
    drawn = gpu_kernels.gammas(host(), KEY, item, part, np.ones(n * n)).reshape(n, n)
    assert np.unique(drawn).size == n * n
    uniform = np.exp(-drawn)
    by_item, by_part = np.corrcoef(uniform), np.corrcoef(uniform.T)
    off = ~np.eye(n, dtype=bool)
    for found in (by_item[off], by_part[off]):
        assert abs(found.mean()) < 0.01
        assert abs(found).max() < 0.55  # of 4,950 with a standard error of 0.1


# ---------------------------------------------------------------- functions


def test_functions():
    rng = np.random.default_rng(1)
    x = np.concatenate(
        [10.0 ** rng.uniform(-300, 300, 5_000), rng.uniform(0.5, 2.0, 5_000), [1.0, 1 + 2**-52]]
    )
    logs, _, _ = gpu_kernels.functions(host(), x)
    assert_allclose(logs, np.log(x), rtol=4e-16, atol=2e-16)
    x = np.concatenate([rng.uniform(-708, 700, 5_000), rng.uniform(-1, 1, 5_000), [0.0, -708.0]])
    assert_allclose(gpu_kernels.functions(host(), x)[1], np.exp(x), rtol=5e-16)
    assert gpu_kernels.functions(host(), np.array([-708.1, -1e5, -1e300]))[1].tolist() == [0.0, 0.0, 0.0]
    x = np.concatenate(
        [10.0 ** rng.uniform(-12, 12, 5_000), rng.uniform(0.5, 40, 5_000), np.arange(1.0, 60.0)]
    )
    assert_allclose(gpu_kernels.functions(host(), x)[2], special.gammaln(x), rtol=1e-14, atol=1e-13)


# ---------------------------------------------------------------- layout


@pytest.mark.parametrize("lengths", [[], [0], [3], [5, 0, 2], [*range(100), 0, 50], [9000, 5, 4097, 4096, 1]])
def test_every_word_has_a_place_of_its_own(lengths):
    layout = lay_out(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))
    assert sorted(layout.documents) == [j for j, n in enumerate(lengths) if n > 0]
    assert_array_equal(layout.length, np.array(lengths, int)[layout.documents])
    assert_array_equal(layout.ranks[layout.documents], np.arange(layout.documents.size))
    steps = np.where(np.arange(layout.documents.size) < layout.regular, SIDE_BY_SIDE, 1)
    places = [base + np.arange(n) * step for base, n, step in zip(layout.base, layout.length, steps)]
    together = np.concatenate([*places, np.zeros(0, int)])
    assert np.unique(together).size == together.size == sum(lengths)
    assert together.max(initial=-1) < max(1, layout.n_places)
    assert (np.diff(layout.length[: layout.regular]) <= 0).all()
    for rank in range(1, layout.regular):
        if rank % SIDE_BY_SIDE:
            assert layout.base[rank] == layout.base[rank - 1] + 1
    assert (layout.length[layout.regular :] > 4096).all()
    assert sum(layout.length[layout.regular :]) == layout.n_places - layout.long_places.start


# ---------------------------------------------------------------- G_0


def measure_of(numbers, moving, beta, n_topics):
    """Return weights whose columns have these topics."""
    weights = new_measure(1, len(numbers), n_topics, 1)
    weights.sizes[:] = moving, len(numbers)
    weights.number[: len(numbers)], weights.beta[: len(numbers)] = numbers, beta
    return weights


def drawn_measure(n_terms, eta=0.3, seed=1, given=None):
    """Draw G_0 of five topics, two free ones, and one that rests; return all that goes in and comes out."""
    rng = np.random.default_rng(seed)
    stored = np.array([4, 0, 9, 2, 7, 1])
    array = np.zeros((n_terms, 32), np.int32)
    array[:, stored] = rng.poisson(0.7, (n_terms, stored.size))
    numbers = np.array([3, FREE, 0, 5, 1, FREE, 4, 2])
    beta, moving = rng.dirichlet(np.ones(8)), 7
    own = Counts(array, stored)
    result = draw_measure(
        host(), Key(seed, 0, 3, 0), measure_of(numbers, moving, beta, 6), (1.7, eta),
        own if given is None else given(own), own, 400,
    )  # fmt: skip
    return own, numbers, beta, *result


@pytest.mark.parametrize("n_terms", [1, 3, TERMS, 70, 64 * TERMS + 5])
def test_g_0_is_drawn_given_the_counts(n_terms):
    own, numbers, beta, measure, counts = drawn_measure(n_terms)
    moving, columns = measure.moving, measure.columns
    assert (moving, columns) == (7, 8)
    before = np.where(numbers == FREE, 0, own.array[:, own.stored[numbers]])
    assert_array_equal(counts[:, :columns], before)
    assert not counts[:, columns:].any()
    key = counter_key(Key(1, 0, 3, TOPIC_TERMS), "terms")
    v, c = np.divmod(np.arange(n_terms * moving), moving)
    g = gpu_kernels.gammas(host(), key, v, c, 0.3 + before[v, c]).reshape(n_terms, moving)
    totals = add_up(host(), np.add.reduceat(g, range(0, n_terms, TERMS)))
    assert_allclose(totals, g.sum(axis=0), rtol=1e-13)
    assert_allclose(measure.phi[:, :moving], np.float32(g) / g.sum(axis=0), rtol=2e-7)
    assert_allclose(measure.phi[:, :moving].sum(axis=0, dtype=float), 1.0, rtol=1e-6)
    assert not measure.phi[:, moving:columns].any()
    assert_array_equal(measure.mass, 1.7 * beta)
    parts = np.cumsum(measure.mass[:moving] * measure.phi[:, :moving].astype(float), axis=1)
    ends = [min(end, moving) - 1 for end in range(CHUNK, moving + CHUNK, CHUNK)]
    assert_allclose(measure.rest, parts[:, ends], rtol=1e-14)
    seated = np.arange(1, measure.known)
    expected = np.cumprod(seated / (measure.mass[:, None] + seated), axis=1)
    assert_allclose(measure.survival[:, 2:], expected, rtol=1e-12)
    assert_array_equal(measure.survival[:, :2], 1.0)


def test_topics_are_drawn_given_counts_of_other_documents_too():
    own, numbers, _, measure, counts = drawn_measure(
        70, given=lambda own: own._replace(array=own.array + 5_000)
    )
    assert_array_equal(counts[:, :8], np.where(numbers == FREE, 0, own.array[:, own.stored[numbers]]))
    in_use = numbers[: measure.moving] != FREE
    shares = measure.phi[:, : measure.moving][:, in_use]
    assert_allclose(shares, 1 / 70, rtol=0.1)  # as 5,000 words of every term have it


def test_more_columns_than_a_chunk_has():
    rng, n_terms, n_topics = np.random.default_rng(2), 5, 45
    array = np.zeros((n_terms, wide(n_topics)), np.int32)
    array[:, :n_topics] = rng.poisson(2.0, (n_terms, n_topics))
    own = Counts(array, np.arange(n_topics))
    beta = rng.dirichlet(np.ones(n_topics))
    weights = measure_of(rng.permutation(n_topics), 43, beta, n_topics)
    measure, _ = draw_measure(host(), Key(1, 0, 1, 0), weights, (1.0, 0.5), own, own, 10)
    assert measure.chunks == -(-43 // CHUNK)
    parts = np.cumsum(measure.mass[:43] * measure.phi[:, :43].astype(float), axis=1)
    ends = [*range(CHUNK - 1, 42, CHUNK), 42]
    assert_allclose(measure.rest, parts[:, ends], rtol=1e-13)


@pytest.mark.parametrize("eta", [0.02, 1e-100])
def test_free_topics_whose_gammas_vanish_are_drawn_again(eta):
    """They are Dirichlet variables still: a share is over a half as often as a beta variable."""
    columns, n_terms, sweeps = 400, 3, 20
    own = Counts(np.zeros((n_terms, 32), np.int32), np.zeros(0, np.int64))
    weights = measure_of(np.full(columns, FREE), columns, np.full(columns, 1 / columns), 1)
    shares = []
    for sweep in range(sweeps):
        measure, _ = draw_measure(host(), Key(4, 0, sweep, 0), weights, (1.0, eta), own, own, 3)
        shares.append(measure.phi[:, :columns].astype(float))
        assert_allclose(shares[-1].sum(axis=0), 1.0, rtol=1e-6)
    largest = np.argmax(np.hstack(shares), axis=0)
    assert_frequencies(largest.tolist(), {v: 1 / n_terms for v in range(n_terms)})
    first = np.hstack(shares)[0] > 0.5
    above = stats.beta.sf(0.5, eta, 2 * eta) if eta > 1e-9 else 1 / 3
    assert_frequencies(first.tolist(), {True: above, False: 1 - above})


# ---------------------------------------------------------------- seats


@pytest.mark.parametrize("mass", [0.2, 1.3, 8.0])
@pytest.mark.parametrize("known", [1, 2, 3, 9])
def test_who_sits_with_whom_is_as_in_a_chinese_restaurant(mass, known):
    n, words = 4_000, 4
    tables, sizes, together = gpu_kernels.seats(host(), KEY, n, words, mass, known)
    seatings = [tuple(own) for own in tables.tolist()]
    assert all(own == by_first_appearance(list(own)) for own in seatings)
    total = math.prod(mass + i for i in range(words))
    probabilities = {
        own: math.prod(mass * math.factorial(size - 1) for size in Counter(own).values()) / total
        for own in partitions(words)
    }
    assert_frequencies(seatings, probabilities)
    counted = [np.bincount(own, minlength=words) for own in tables]
    assert_array_equal(sizes, counted)
    assert_array_equal(together, tables.max(axis=1) == 0)


@pytest.mark.parametrize(
    ("words", "mass", "known"), [(60, 3.0, 61), (60, 3.0, 10), (1500, 0.5, 257), (1500, 40.0, 257)]
)
def test_numbers_of_tables(words, mass, known):
    n = 2_000
    tables, sizes, _ = gpu_kernels.seats(host(), KEY, n, words, mass, known)
    assert_array_equal(sizes.sum(axis=1), words)
    assert_array_equal([np.bincount(own, minlength=words) for own in tables], sizes)
    p = np.ones(1)
    for i in range(words):
        opens = mass / (mass + i)
        p = np.convolve(p, [1 - opens, opens])
    assert_frequencies((tables.max(axis=1) + 1).tolist(), dict(enumerate(p)))
    # Two words, any two, sit together with one probability.
    for a, b in [(0, 1), (1, words // 2), (words - 2, words - 1)]:
        same = (tables[:, a] == tables[:, b]).tolist()
        assert_frequencies(same, {True: 1 / (1 + mass), False: mass / (1 + mass)})


@pytest.mark.parametrize("words", [1, 2, 3, 30])
@pytest.mark.parametrize("mass", [1e-3, 0.7, 25.0])
def test_seats_are_those_of_the_twin(words, mass):
    tables, _, _ = gpu_kernels.seats(host(), KEY, 50, words, mass, 12)
    assert tables.tolist() == [seat_topic(words, mass, KEY, j, 0) for j in range(50)]


# ---------------------------------------------------------------- sums


def test_sums_of_many_rows():
    rows = np.random.default_rng(3).random((64 * 64 + 3, 5))
    assert_allclose(add_up(host(), rows), rows.sum(axis=0), rtol=1e-13)
    assert add_up(host(), rows).tolist() == add_up(host(), rows.copy()).tolist()
