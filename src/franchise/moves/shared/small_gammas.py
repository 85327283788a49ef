"""Draw many Gamma(shape, 1) variables of one shape, at most 1 (`moves.instantiation`), by rejection.

Up to a factor that depends only on the shape, `shape` times the density is::

    f(x) = shape x^(shape - 1) e^-x

f falls, and g is a function above it, made of strips with the same area 1 / STRIPS. Up to some x_0, g is
shape x^(shape - 1), and the area up to x is x^shape. Boxes follow, each as high as f at its left edge. The
first boxes are about as wide as their distance from 0, and most are much narrower. Right of the last box g
falls as e^-x does. The x of a uniform point below g is a gamma variable if the point lies below f; otherwise
another point is drawn. This is exact, and it does not need the incomplete gamma function.

A point takes one number of 64 bits: 53 bits for its area, 11 for its height. In a box these bits nearly
always show that the point is below the tangent of f at the left edge, and so below f; otherwise more bits of
the height are drawn. Values that single precision rounds to 0 are 0. They are common at small shapes, and
take one number too.
"""

import math
from typing import NamedTuple

import numpy as np

from franchise._arrays import Array
from franchise._jit import helper, kernel
from franchise.random import fill_with_bits, gamma_variate, next_bits, uniform

STRIPS = 2048  # with half as many, a value takes a quarter longer
_MOST = STRIPS + STRIPS // 4  # room for up to 2,097 boxes and strips below x_0
_AREA = 1.0 / STRIPS
_HEIGHTS = 2048.0  # 11 bits
_LOG_ZERO = -150.0 * math.log(2.0)  # single precision rounds smaller values to 0
_HEIGHT_BITS, _11 = np.uint64(2047), np.uint64(11)
_2_TO_MINUS_53 = 1.0 / 9007199254740992.0


class Strips(NamedTuple):
    """The strips of one shape."""

    left: Array  # left edge of each strip; 0 below x_0
    width: Array  # 0 below x_0
    fall: Array  # of the tangent of f across a box; below x_0, 0 if values are 0, else infinite
    shape: Array  # float64[1]
    ends: Array  # float64[3]: number of strips below x_0; including the boxes; including the tail
    right: Array  # float64[1]: right edge of the last box


def new_strips() -> Strips:
    """Allocate room for the strips of a shape."""
    left, width, fall = np.zeros((3, _MOST))
    return Strips(left, width, fall, shape=np.zeros(1), ends=np.zeros(3), right=np.zeros(1))


@kernel
def fit_strips(strips, shape):
    """Cut the area below g into strips, unless that has been done for this shape.

    A shape above 1 has one strip, in which every point needs a closer look.
    """
    if strips.shape[0] == shape:
        return
    strips.shape[0], strips.right[0] = shape, 0.0
    strips.left[:], strips.width[:], strips.fall[:], strips.ends[:] = 0.0, 0.0, np.inf, 1.0
    if shape > 1.0:
        return
    zero = math.exp(shape * _LOG_ZERO) * STRIPS
    # With 1 / shape strips below x_0, the first box is about as wide as x_0.
    below = int(min(max(math.ceil(min(1.0 / shape, STRIPS)), math.ceil(zero)), STRIPS))
    strips.fall[: int(zero)] = 0.0
    log_x = math.log(below * _AREA) / shape
    x, box = math.exp(log_x), below
    height = shape * math.exp((shape - 1.0) * log_x - x)
    while box < _MOST - 1 and height > 2.0 * _AREA:
        width = _AREA / height
        strips.left[box], strips.width[box] = x, width
        strips.fall[box] = width * ((1.0 - shape) / x + 1.0)
        x, box = x + width, box + 1
        height = shape * math.exp((shape - 1.0) * math.log(x) - x)
    strips.ends[0], strips.ends[1], strips.ends[2] = below, box, box + height * STRIPS
    strips.right[0] = x


@helper
def fill_with_gammas(stream, strips, bits, row, n):
    """Draw the first n values of a row; `bits` is working memory for n numbers."""
    fill_with_bits(stream, bits, n)
    for i in range(n):
        place = _place(strips, bits[i])
        strip = min(int(place), _MOST - 1)
        across = place - strip
        if _height(bits[i]) < 1.0 - across * strips.fall[strip]:
            row[i] = strips.left[strip] + across * strips.width[strip]
        else:
            row[i] = small_gamma(stream, strips, bits[i])


@helper
def small_gamma(stream, strips, bits):
    """Draw one value; the first try uses these 64 bits."""
    shape = strips.shape[0]
    if shape > 1.0:
        return gamma_variate(stream, shape)
    while True:
        place, height = _place(strips, bits), _height(bits)
        strip = min(int(place), _MOST - 1)
        across = place - strip
        within = across * strips.width[strip]
        x = strips.left[strip] + within
        if height < 1.0 - across * strips.fall[strip]:
            return x
        height -= uniform(stream) / _HEIGHTS
        if place < strips.ends[0]:
            x = math.exp(math.log(place * _AREA) / shape)
            if height < 1.0 - x or height < math.exp(-x):
                return x
        elif place < strips.ends[1]:
            if height < math.exp((shape - 1.0) * math.log(x / strips.left[strip]) - within):
                return x
        else:
            right = strips.right[0]
            x = right - math.log(1.0 - uniform(stream))
            if height < math.exp((shape - 1.0) * math.log(x / right)):
                return x
        bits = next_bits(stream)


@helper
def _place(strips, bits):
    """Return the position of a point below g: the area to its left, in strips, which is never 0."""
    return float(np.int64(bits >> _11) + 1) * (_2_TO_MINUS_53 * strips.ends[2])


@helper
def _height(bits):
    """Return the height of a point, as a share of g, rounded up to a multiple of 1 / _HEIGHTS."""
    return float(np.int64(bits & _HEIGHT_BITS) + 1) * (1.0 / _HEIGHTS)
