"""Strings laid end to end, in memory and in files; long ones are read from disk one at a time."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from franchise._arrays import Array
from franchise.corpus.large_arrays import Growing, handed_over

# A text must come back as it was given, even with half a character in it.
_AS_GIVEN = "surrogatepass"


class PackedTexts(Sequence[str]):
    """A sequence of texts that is made from bytes when one is asked for.

    Parameters
    ----------
    content
        All texts as UTF-8, end to end; uint8, perhaps mapped from a file.
    ends
        Where each ends.
    """

    def __init__(self, content: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64]) -> None:
        self.content = content
        self.ends = ends

    def __len__(self) -> int:
        return len(self.ends)

    @overload
    def __getitem__(self, j: int) -> str: ...

    @overload
    def __getitem__(self, j: slice) -> tuple[str, ...]: ...

    def __getitem__(self, j: int | slice) -> str | tuple[str, ...]:
        if isinstance(j, slice):
            return tuple(self[i] for i in range(*j.indices(len(self))))
        i = range(len(self))[j]  # an error where there is none, and from the end where it is negative
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
    """Return the number of characters; of packed texts, that of bytes, which may be a little more."""
    return texts.content.size if isinstance(texts, PackedTexts) else sum(map(len, texts))


class GrowingTexts:
    """Texts that come one after the other, in memory while they are short together, and else in a file."""

    def __init__(self) -> None:
        self._content = Growing(np.uint8)
        self._ends = array("q")
        self._buffer = bytearray()
        self._size = 0

    def append(self, text: str) -> None:
        """Add a text at the end."""
        encoded = text.encode("utf-8", _AS_GIVEN)
        self._size += len(encoded)
        self._ends.append(self._size)
        self._buffer += encoded
        if len(self._buffer) >= 2**20:
            self._flush()

    def _flush(self) -> None:
        self._content.extend(np.frombuffer(bytes(self._buffer), np.uint8))
        self._buffer.clear()

    def packed(self) -> PackedTexts:
        """Return all texts; none can be added after that."""
        self._flush()
        return PackedTexts(handed_over(self._content.array()), np.array(self._ends, dtype=np.int64))


def packed(name: str, strings: Iterable[str]) -> dict[str, Array]:
    """Lay strings end to end, with where each ends."""
    if isinstance(strings, PackedTexts):
        return {name: strings.content, f"{name}.end": strings.ends}
    encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
    ends = np.cumsum([len(one) for one in encoded], dtype=np.int64)
    return {name: np.frombuffer(b"".join(encoded), np.uint8), f"{name}.end": ends}


def unpacked(name: str, arrays: dict[str, Array]) -> list[str]:
    """Return the strings that `packed` laid end to end."""
    content, ends = arrays[name].tobytes(), arrays[f"{name}.end"].tolist()
    return [content[first:end].decode("utf-8", "surrogatepass") for first, end in pairwise([0, *ends])]
