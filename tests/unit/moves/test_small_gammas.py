"""Gamma variables of one small shape: the strips by what defines them, the values by their distribution."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from franchise.moves.shared.small_gammas import (
    _MOST,
    STRIPS,
    fill_with_gammas,
    fit_strips,
    new_strips,
    small_gamma,
)
from franchise.random import Key, fill_with_bits, gamma_variate, next_bits, start_stream, uniform
from tests.reference.statistics import FALSE_FAIL_RATE, assert_distribution

SHAPES = [1e-4, 0.001, 0.004, 0.01, 0.05, 0.1, 0.3, 0.5, 0.9, 0.999, 1.0, 1.7]
ZERO = 2.0**-150  # single precision rounds what is below to 0
ROW = 500


def strips_of(shape):
    strips = new_strips()
    fit_strips(strips, shape)
    return strips


def density(shape, x):
    """Times `shape` and a factor that depends on the shape alone, as in the module."""
    return shape * np.exp((shape - 1.0) * np.log(x) - x)


def drawn(shape, n, seed):
    """Draw rows from the beginnings of as many streams. Single precision would lump the smallest values."""
    strips, stream, bits = strips_of(shape), np.zeros(4, np.uint64), np.zeros(ROW, np.uint64)
    rows = np.zeros((n // ROW, ROW))
    for item, row in enumerate(rows):
        start_stream(stream, Key(seed, 0, 0, 0), item)
        fill_with_gammas(stream, strips, bits, row, ROW)
    return rows.ravel()


@pytest.mark.nojit
@given(st.one_of(st.sampled_from(SHAPES[:-1]), st.floats(-9.0, 0.0).map(lambda power: 10.0**power)))
def test_strips_have_one_area_and_lie_above_the_density(shape):
    strips = strips_of(shape)
    below, box, all_strips = strips.ends
    boxes = slice(int(below), int(box))
    width, fall = strips.width[boxes], strips.fall[boxes]
    edges = np.append(strips.left[boxes], strips.right)
    left, right, x_0 = edges[:-1], edges[1:], edges[0]
    assert box < _MOST - 1
    # Below x_0 the area is x^shape; boxes are as high as the density on the left; then comes a tail.
    assert shape * math.log(x_0) == pytest.approx(math.log(below / STRIPS), abs=1e-9)
    np.testing.assert_allclose(left + width, right, rtol=1e-12)
    np.testing.assert_allclose(width * density(shape, left), 1.0 / STRIPS, rtol=1e-9)
    assert all_strips - box == pytest.approx(density(shape, strips.right[0]) * STRIPS, rel=1e-9, abs=1e-9)
    # The tangent of the density on the left.
    np.testing.assert_allclose(fall, width * ((1.0 - shape) / left + 1.0), rtol=1e-12)
    assert np.all(1.0 - fall <= density(shape, right) / density(shape, left) + 1e-9)
    # Strips all of whose values are rounded to 0.
    zero = min(below, math.floor(STRIPS * ZERO**shape))
    np.testing.assert_array_equal(strips.fall[: int(below)], np.where(np.arange(below) < zero, 0.0, np.inf))
    assert np.all(np.isinf(strips.fall[int(box) :]))
    # Most points are below the density.
    assert 0.85 < STRIPS * special.gamma(1.0 + shape) / all_strips <= 1.0 + 1e-12


@pytest.mark.nojit
@given(st.sampled_from(SHAPES[:-1]), st.integers(0, 2**31))
def test_values_are_those_of_the_first_points_below_the_density(shape, seed):
    """Without what the kernel does to look at the density less often."""
    strips, streams = strips_of(shape), np.zeros((2, 4), np.uint64)
    for stream in streams:
        start_stream(stream, Key(seed, 0, 0, 0), 0)
    for _ in range(20):
        expected = first_below(streams[0], strips)
        found = small_gamma(streams[1], strips, np.uint64(next_bits(streams[1])))
        assert np.float32(found) == pytest.approx(np.float32(expected), rel=1e-6, abs=1e-45)
        assert streams[0].tolist() == streams[1].tolist()


def first_below(stream, strips):
    """Draw points until one is below the density; return its x."""
    shape, (below, box, all_strips) = strips.shape[0], strips.ends
    while True:
        bits = int(next_bits(stream))
        place, height = ((bits >> 11) + 1) / 2**53 * all_strips, (bits % 2048 + 1) / 2048
        strip = min(int(place), _MOST - 1)
        sure = height < 1.0 - (place - strip) * strips.fall[strip]
        if not sure:
            height -= uniform(stream) / 2048
        if place < below:
            x = math.exp(math.log(place / STRIPS) / shape)
            share = math.exp(-x)
        elif place < box:
            left = strips.left[strip]
            x = left + (place - strip) * strips.width[strip]
            share = density(shape, x) / density(shape, left)
        else:
            x = strips.right[0] - math.log(1.0 - uniform(stream))
            share = (x / strips.right[0]) ** (shape - 1.0)
        assert not sure or height < share
        if height < share:
            return x


def assert_gammas(n, seed):
    """Test values that single precision does not round to 0, and how many it does; then moments."""
    for shape in SHAPES:
        values, law = drawn(shape, n, seed), stats.gamma(shape)
        zero = law.cdf(ZERO)
        zeros = np.count_nonzero(values < ZERO)
        assert stats.binomtest(zeros, n, zero).pvalue > FALSE_FAIL_RATE
        assert_distribution(
            values[values >= ZERO], lambda x, law=law, zero=zero: (law.cdf(x) - zero) / (1.0 - zero)
        )
        for power in (1, 2) if shape >= 0.05 else ():  # others are too skewed for a normal approximation
            # E X^r = G(shape + r) / G(shape)
            mean, of_square = (
                math.exp(special.loggamma(shape + r) - special.loggamma(shape)) for r in (power, 2 * power)
            )
            error = (np.mean(values**power) - mean) / math.sqrt((of_square - mean**2) / n)
            assert abs(error) < 8.0, (shape, power, error)


def test_small_gammas_have_their_distribution(seed):
    """Twenty-four tests of a distribution; n = 20,000 values see a distance of 0.02."""
    assert_gammas(20_000, seed)


@pytest.mark.statistical
def test_small_gammas_have_their_distribution_to_a_thousandth(seed):
    """Twenty-four tests of a distribution; n = 10 million values see a distance of 0.001."""
    assert_gammas(10_000_000, seed)


def test_strips_are_cut_again_for_another_shape():
    strips = new_strips()
    for shape in (0.1, 0.1, 0.001, 3.0, 0.5):
        fit_strips(strips, shape)
        for ours, fresh in zip(strips, strips_of(shape)):
            np.testing.assert_array_equal(ours, fresh)


@pytest.mark.nojit
def test_shapes_above_one_are_left_to_others(seed):
    strips, streams, bits, row = (
        strips_of(1.7),
        np.zeros((2, 4), np.uint64),
        np.zeros(9, np.uint64),
        np.zeros(9),
    )
    for stream in streams:
        start_stream(stream, Key(seed, 0, 0, 0), 0)
    fill_with_gammas(streams[0], strips, bits, row, 9)
    fill_with_bits(streams[1], bits, 9)
    assert row.tolist() == [gamma_variate(streams[1], 1.7) for _ in range(9)]


@pytest.mark.nojit
def test_the_smallest_and_the_largest_numbers():
    """The first point lies in the first strip, or is rounded to 0; the last point in the tail."""
    stream = np.array([1, 2, 3, 4], np.uint64)
    for shape in SHAPES[:-1]:
        strips = strips_of(shape)
        assert small_gamma(stream, strips, np.uint64(0)) <= (2.0**-52) ** (1.0 / shape)
        assert strips.right[0] <= small_gamma(stream, strips, np.uint64(2**64 - 2048)) < 50.0
