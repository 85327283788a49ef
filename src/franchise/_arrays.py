"""safetensors files that are larger than one would like to hold: written array by array, and mapped.

The library that reads and checks these files (`safetensors`) makes a copy of all arrays to write them, and
another one to read them. The format is simple: the length of a header, the header in JSON, the arrays.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# How the format calls types, in the order in which it puts arrays: the widest come first.
_TYPES = {
    "uint64": "U64",
    "int64": "I64",
    "float64": "F64",
    "float32": "F32",
    "uint32": "U32",
    "int32": "I32",
    "float16": "F16",
    "uint16": "U16",
    "int16": "I16",
    "int8": "I8",
    "uint8": "U8",
    "bool": "BOOL",
}
_ALIGNED = 8
_PIECE = 2**24  # bytes that are written at a time

# Smaller arrays are read: they cost little, and a file that is mapped cannot be removed on every system.
LARGE = 2**26


def pieces_of_file(arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> Iterator[bytes | memoryview]:
    """Return the bytes of a safetensors file, in pieces; no array is copied."""
    ranks = {name: rank for rank, name in enumerate(_TYPES)}
    ordered = sorted(arrays.items(), key=lambda item: (ranks[item[1].dtype.name], item[0]))
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    end = 0
    for name, array in ordered:
        begin, end = end, end + array.nbytes
        header[name] = {
            "dtype": _TYPES[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [begin, end],
        }
    encoded = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
    encoded += b" " * (-len(encoded) % _ALIGNED)
    yield len(encoded).to_bytes(8, "little") + encoded
    for _, array in ordered:
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        content = np.ascontiguousarray(little).reshape(-1).view(np.uint8).data
        for start in range(0, len(content), _PIECE):
            yield content[start : start + _PIECE]


def mapped(path: Path, name: str) -> Array:
    """Map an array of a file that has been checked; read-only, and read from disk as it is looked at."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        facts = json.loads(file.read(length))[name]
    kind = next(dtype for dtype, code in _TYPES.items() if code == facts["dtype"])
    dtype = np.dtype(kind).newbyteorder("<")
    offset = 8 + length + facts["data_offsets"][0]
    array = np.memmap(path, dtype, "r", offset, tuple(facts["shape"]))
    return array.view(np.ndarray)


def is_large(facts: Any) -> bool:
    """Return whether an array of a file is worth mapping: a slice of it, as the library gives one."""
    bits = 8 * np.dtype(next(dtype for dtype, code in _TYPES.items() if code == facts.get_dtype())).itemsize
    return bits // 8 * int(np.prod(facts.get_shape(), dtype=np.int64)) >= LARGE
