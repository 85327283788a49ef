"""Arrays that grow block by block: in memory while they are small, in a file when they are large.

The file is temporary and has no name; it goes away with the array that is mapped onto it. The system reads
and writes its pages as they are used, so that a hundred million words need not fit in memory.
"""

from __future__ import annotations

import mmap
import tempfile
from array import array
from collections.abc import Iterator
from itertools import pairwise
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from franchise.errors import CorpusError

Ints = npt.NDArray[Any]

# Numbers that are worked on at a time, where a copy of all of them would cost too much.
BLOCK = 2**20

# Bytes from which on numbers go to a file.
MOST_IN_MEMORY = 2**26


class Growing:
    """An array of numbers, of 32 bits unless another type is given, that grows at its end."""

    _file: IO[bytes] | None = None

    def __init__(self, dtype: type[np.integer[Any]] = np.int32) -> None:
        self._dtype = np.dtype(dtype)
        self._blocks: list[Ints] = []
        self._size = 0

    def extend(self, values: npt.NDArray[Any] | array[int]) -> None:
        """Add numbers at the end."""
        block = np.array(values, dtype=self._dtype)
        self._size += block.size
        if self._file is None:
            self._blocks.append(block)
            if self._dtype.itemsize * self._size > MOST_IN_MEMORY:
                self._move()
        else:
            self._write(block)

    def array(self) -> Ints:
        """Return all numbers, writable; of many, mapped from the file. Nothing can be added after that."""
        if self._file is None:
            joined, end = np.empty(self._size, self._dtype), self._size
            while self._blocks:  # each is gone before the next is copied
                block = self._blocks.pop()
                joined[end - block.size : end] = block
                end -= block.size
            return joined
        with self._file:  # what is mapped stays open by itself
            return np.memmap(self._file, self._dtype, "r+", shape=(self._size,))

    def __del__(self) -> None:
        """Close the file of an array that was never finished."""
        if self._file is not None:
            self._file.close()

    def _move(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="franchise-")  # noqa: SIM115 (closed when it is forgotten)
        for block in self._blocks:
            self._write(block)
        self._blocks.clear()

    def _write(self, block: Ints) -> None:
        assert self._file is not None
        try:
            self._file.write(block.data)
            self._file.flush()
        except OSError as error:
            raise CorpusError(
                f"{tempfile.gettempdir()}: no room there for the corpus ({error.strerror}); name a folder on "
                "a larger disk in the variable TMPDIR",
                code="cannot-write",
            ) from error


def handed_over(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a read-only view of an array that no one else will use, so that a corpus need not copy it."""
    if not values.size:
        return values
    return np.frombuffer(values.data.toreadonly(), dtype=values.dtype)


def is_mapped(values: npt.NDArray[Any]) -> bool:
    """Return whether these numbers are in a file."""
    return isinstance(values, np.memmap)


def let_go(*mapped: npt.NDArray[Any]) -> None:
    """Free the memory that reading mapped arrays has taken; their files keep the numbers."""
    for values in mapped:
        file: object = values.base
        # Not every system has it, and without it the system frees that memory when it needs some.
        if isinstance(file, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            file.madvise(mmap.MADV_DONTNEED)


def blocks(n: int) -> Iterator[slice]:
    """Cut n numbers into blocks to work on one at a time."""
    return (slice(start, min(start + BLOCK, n)) for start in range(0, n, BLOCK))


def blocks_of_documents(doc_ptr: npt.NDArray[Any], size: int | None = None) -> list[tuple[int, int]]:
    """Cut documents into runs of about a million words each; a longer document is a run of its own."""
    size, last = size or BLOCK, len(doc_ptr) - 1
    starts = np.unique(np.searchsorted(doc_ptr, np.arange(size, doc_ptr[-1], size)))
    ends = [0, *starts[(starts > 0) & (starts < last)].tolist(), last]
    return [(first, end) for first, end in pairwise(ends) if end > first]


def ranges_of(
    values: npt.NDArray[Any], begins: npt.NDArray[Any], lengths: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """Return ranges of an array one after the other; in blocks, as their places take more room than they."""
    ends = np.cumsum(lengths)
    shifts = begins - (ends - lengths)
    total = int(ends[-1]) if ends.size else 0
    found = np.empty(total, values.dtype)
    cuts = np.unique(np.append(np.searchsorted(ends, np.arange(0, total, BLOCK), side="right"), ends.size))
    for begin, end in pairwise(cuts.tolist()):
        first = int(ends[begin] - lengths[begin])
        # What has place i of the result sits in its range at the same distance from where that begins.
        shift = np.repeat(shifts[begin:end], lengths[begin:end])
        found[first : ends[end - 1]] = values[np.arange(first, ends[end - 1]) + shift]
    return found
