"""Small things about arrays that all packages share, so that there is one of each."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer[Any]]


def offsets_of(lengths: Integers) -> npt.NDArray[np.int64]:
    """Return the offsets of ranges of these lengths laid end to end, and where the last one ends.

    Examples
    --------
    >>> offsets_of(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def places_of(first: Integers, lengths: Integers) -> npt.NDArray[np.int64]:
    """Return the places of ranges, one range after another: each begins at `first` and has its length.

    Examples
    --------
    >>> places_of(np.array([10, 7]), np.array([2, 3])).tolist()
    [10, 11, 7, 8, 9]
    """
    offsets = offsets_of(lengths)
    return np.repeat(first - offsets[:-1], lengths) + np.arange(offsets[-1])


def ranges_of(offsets: Integers, most: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of items, in order, that have no more than `most` together, or are one item.

    Examples
    --------
    >>> list(ranges_of(np.array([0, 2, 2, 5, 6]), 4))
    [(0, 2), (2, 4)]
    """
    begin = 0
    while begin < len(offsets) - 1:
        after = np.searchsorted(offsets, offsets[begin] + most, side="right")
        end = max(begin + 1, int(after) - 1)
        yield begin, end
        begin = end


def narrow(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a copy in the narrowest type of numbers from 0 that holds all of them, if there is one."""
    if not array.size or array.min() < 0:
        return array.copy()
    kind = np.min_scalar_type(int(array.max()))
    return array.astype(kind if kind.itemsize < array.dtype.itemsize else array.dtype)
