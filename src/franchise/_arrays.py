"""Arrays that all packages share: those of documents, in the form of kernels, and ranges of an array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer[Any]]

_COUNTED_AT_ONCE = 2**20


class CorpusArrays(NamedTuple):
    """A corpus for compiled kernels: without names.

    Attributes
    ----------
    x
        Term of each word (the paper's x_ji), documents end to end; int32, C-contiguous, read-only.
    doc_ptr
        Document j is ``x[doc_ptr[j]:doc_ptr[j + 1]]``; int64, one longer than the number of documents,
        read-only.
    n_terms
        Size of the vocabulary (the paper's V).
    """

    x: npt.NDArray[np.int32]
    doc_ptr: npt.NDArray[np.int64]
    n_terms: int


class CellArrays(NamedTuple):
    """A corpus of counts for compiled kernels.

    Attributes
    ----------
    doc_ptr
        Number of words before each document, as in `CorpusArrays`; ``doc_ptr[-1]`` is the number of words.
        int64, read-only, as all arrays here.
    cell_ptr
        Number of cells before each document: those of document j are ``cell_ptr[j]`` to
        ``cell_ptr[j + 1] - 1``; int64.
    terms
        Term of each cell, increasing within a document; int32.
    counts
        Number of words of each cell, 1 or more; int32.
    n_terms
        Size of the vocabulary (the paper's V).
    """

    doc_ptr: npt.NDArray[np.int64]
    cell_ptr: npt.NDArray[np.int64]
    terms: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int32]
    n_terms: int

    @property
    def n_words(self) -> int:
        """Number of words of all cells."""
        return int(self.doc_ptr[-1])

    def has_same(self, other: CellArrays) -> bool:
        """Return whether all arrays are equal."""
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in self._fields)


def count_terms(x: npt.NDArray[Any], n_terms: int) -> npt.NDArray[np.int64]:
    """Count the words of each term; in blocks, because NumPy widens what it counts to 64 bits."""
    counts = np.zeros(n_terms, np.int64)
    for begin in range(0, x.size, _COUNTED_AT_ONCE):
        counts += np.bincount(x[begin : begin + _COUNTED_AT_ONCE], minlength=n_terms)
    return counts


def offsets_of(lengths: Integers) -> npt.NDArray[np.int64]:
    """Return the offsets of consecutive ranges of these lengths, and the end of the last.

    Examples
    --------
    >>> offsets_of(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def places_of(first: Integers, lengths: Integers) -> npt.NDArray[np.int64]:
    """Return the places in consecutive ranges; each begins at `first` and has its length.

    Examples
    --------
    >>> places_of(np.array([10, 7]), np.array([2, 3])).tolist()
    [10, 11, 7, 8, 9]
    """
    offsets = offsets_of(lengths)
    return np.repeat(first - offsets[:-1], lengths) + np.arange(offsets[-1])


def ranges_of(offsets: Integers, most: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of items, in order, with at most `most` together, or of a single larger item.

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
    """Return a copy in the narrowest unsigned type that holds all numbers, if any does."""
    if not array.size or array.min() < 0:
        return array.copy()
    kind = np.min_scalar_type(int(array.max()))
    return array.astype(kind if kind.itemsize < array.dtype.itemsize else array.dtype)
