"""Strings in files of arrays."""

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from franchise._files import Array
from franchise.corpus.texts import PackedTexts


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
