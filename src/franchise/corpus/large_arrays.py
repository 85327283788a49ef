"""Arrays that grow in blocks, and strings stored end to end: in memory while small, in a file when large.

The file is temporary and has no name; it disappears with the array that is mapped onto it. The system reads
and writes its pages when they are used, so a hundred million words need not fit in memory.
"""

from __future__ import annotations

import io
import math
import mmap
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from franchise._arrays import Array
from franchise.errors import CorpusError

Ints = npt.NDArray[Any]

# How many numbers to process at a time if a copy of all would take too much memory.
BLOCK = 2**20

# Arrays with this many bytes or more go to a file.
MOST_IN_MEMORY = 2**26


class Growing:
    """An array of numbers that grows at its end; 32-bit integers by default."""

    def __init__(self, dtype: type[np.integer[Any]] = np.int32) -> None:
        self._dtype = np.dtype(dtype)
        self._file: IO[bytes] = io.BytesIO()
        self._size = 0

    def extend(self, values: npt.NDArray[Any] | array[int]) -> None:
        """Add numbers at the end."""
        block = np.ascontiguousarray(values, dtype=self._dtype)
        self._size += block.size
        try:
            if self._dtype.itemsize * self._size > MOST_IN_MEMORY and isinstance(self._file, io.BytesIO):
                numbers = self._file.getbuffer()
                self._file = tempfile.TemporaryFile(prefix="franchise-")  # noqa: SIM115 (closed below)
                self._file.write(numbers)
            self._file.write(block.data)
            self._file.flush()
        except OSError as error:
            raise CorpusError(
                f"{tempfile.gettempdir()}: no room for the corpus ({error.strerror}); set the variable "
                "TMPDIR to a folder on a larger disk",
                code="cannot-write",
            ) from error

    def array(self) -> Ints:
        """Return all numbers, writable; a large array is mapped from its file. This ends the growth."""
        if not isinstance(self._file, io.BytesIO):
            with self._file:  # the mapping stays open
                return np.memmap(self._file, self._dtype, "r+", shape=(self._size,))
        return np.frombuffer(self._file.getbuffer(), self._dtype) if self._size else np.empty(0, self._dtype)

    def __del__(self) -> None:
        """Close the file of an array that was never finished."""
        file = getattr(self, "_file", None)  # absent if an error struck before it was made
        if file is not None and not isinstance(file, io.BytesIO):
            file.close()


def handed_over(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a read-only view of an array with no other users, so that a corpus need not copy it."""
    if values.size:
        return np.frombuffer(values.data.toreadonly(), dtype=values.dtype)
    nothing = values.view()
    nothing.flags.writeable = False
    return nothing


def let_go(*mapped: npt.NDArray[Any]) -> None:
    """Free the memory of mapped arrays that have been read; their files keep the numbers."""
    for values in mapped:
        file: object = values.base
        # Not every system supports this; others free the memory when they need it.
        if isinstance(file, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            file.madvise(mmap.MADV_DONTNEED)


def blocks(n: int) -> Iterator[slice]:
    """Yield the blocks of n numbers, to process one at a time."""
    return (slice(start, min(start + BLOCK, n)) for start in range(0, n, BLOCK))


def blocks_of_documents(doc_ptr: npt.NDArray[Any], size: int | None = None) -> list[tuple[int, int]]:
    """Return ranges of documents with about a million words each; a longer document has its own range."""
    size, last = size or BLOCK, len(doc_ptr) - 1
    starts = np.unique(np.searchsorted(doc_ptr, np.arange(size, doc_ptr[-1], size)))
    ends = [0, *starts[(starts > 0) & (starts < last)].tolist(), last]
    return [(first, end) for first, end in pairwise(ends) if end > first]


def ranges_of(
    values: npt.NDArray[Any], begins: npt.NDArray[Any], lengths: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """Return ranges of an array end to end; in blocks, because indices take more memory than numbers."""
    ends = np.cumsum(lengths)
    shifts = begins - (ends - lengths)
    total = int(ends[-1]) if ends.size else 0
    found = np.empty(total, values.dtype)
    cuts = np.unique(np.append(np.searchsorted(ends, np.arange(0, total, BLOCK), side="right"), ends.size))
    for begin, end in pairwise(cuts.tolist()):
        first = int(ends[begin] - lengths[begin])
        # An element of the result has the same distance from the start of its range as before.
        shift = np.repeat(shifts[begin:end], lengths[begin:end])
        found[first : ends[end - 1]] = values[np.arange(first, ends[end - 1]) + shift]
    return found


# ---------------------------------------------------------------- strings end to end

# A text must come back unchanged, even with half a character in it.
_AS_GIVEN = "surrogatepass"


class PackedTexts(Sequence[str]):
    """Texts decoded on access, from UTF-8 bytes stored end to end (perhaps in a file) and their ends."""

    def __init__(self, content: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64]) -> None:
        self.content = content
        self.ends = ends

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, j: int | slice) -> Any:
        if isinstance(j, slice):
            return tuple(self[i] for i in range(*j.indices(len(self))))
        i = range(len(self))[j]  # raises an error outside the range, and counts negative j from the end
        begin = self.ends[i - 1] if i else 0
        return self.content[begin : self.ends[i]].tobytes().decode("utf-8", _AS_GIVEN)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple | list | PackedTexts):
            return NotImplemented
        return len(self) == len(other) and all(one == two for one, two in zip(self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self):,} texts>"

    def __reduce__(self) -> tuple[type[PackedTexts], tuple[Any, Any]]:
        return PackedTexts, (np.asarray(self.content), self.ends)


def texts_length(texts: Sequence[str]) -> int:
    """Return the number of characters; for packed texts, of bytes, which may be slightly more."""
    return texts.content.size if isinstance(texts, PackedTexts) else sum(map(len, texts))


class GrowingTexts:
    """A growing list of texts, in memory while small, in a file when large.

    If they have more than `most` characters in all, none is kept.
    """

    def __init__(self, most: float = math.inf) -> None:
        self._room = most
        self._content = Growing(np.uint8)
        self._ends = array("q")
        self._buffer = bytearray()
        self._size = 0

    def append(self, text: str) -> None:
        """Add a text at the end."""
        self._room -= len(text)
        if self._room < 0:
            self._content, self._buffer = Growing(np.uint8), bytearray()  # frees the texts so far
            return
        encoded = text.encode("utf-8", _AS_GIVEN)
        self._size += len(encoded)
        self._ends.append(self._size)
        self._buffer += encoded
        if len(self._buffer) >= 2**20:
            self._flush()

    def _flush(self) -> None:
        self._content.extend(np.frombuffer(bytes(self._buffer), np.uint8))
        self._buffer.clear()

    def packed(self) -> PackedTexts | None:
        """Return all texts if they were kept, else None. This ends the growth."""
        if self._room < 0:
            return None
        self._flush()
        return PackedTexts(handed_over(self._content.array()), np.array(self._ends, dtype=np.int64))


def packed(name: str, strings: Iterable[str]) -> dict[str, Array]:
    """Return strings end to end, with the end of each."""
    if isinstance(strings, PackedTexts):
        return {name: strings.content, f"{name}.end": strings.ends}
    encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
    ends = np.cumsum([len(one) for one in encoded], dtype=np.int64)
    return {name: np.frombuffer(b"".join(encoded), np.uint8), f"{name}.end": ends}


def unpacked(name: str, arrays: dict[str, Array]) -> list[str]:
    """Return the strings of the arrays from `packed`."""
    content, ends = arrays[name].tobytes(), arrays[f"{name}.end"].tolist()
    return [content[first:end].decode("utf-8", "surrogatepass") for first, end in pairwise([0, *ends])]
