"""Files that are complete or absent, and are read only if their checksum is right.

Arrays are stored in safetensors files, whose loading runs no code, together with facts (JSON) that say what
the file is. Text is stored in plain files. Everything is written under a temporary name and renamed, so a
process killed at any moment leaves the old file or the new one.
"""

import hashlib
import json
import math
import mmap
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from franchise._arrays import Array
from franchise.errors import ModelError

Facts = dict[str, Any]

# The only entry of a file's metadata, because safetensors writes several in any order.
_ABOUT = "franchise"
# Names of number types in safetensors, all little-endian.
_TYPES = {
    "BOOL": "|b1",
    "U8": "|u1",
    "I8": "|i1",
    "U16": "<u2",
    "I16": "<i2",
    "U32": "<u4",
    "I32": "<i4",
    "F32": "<f4",
    "U64": "<u8",
    "I64": "<i8",
    "F64": "<f8",
}
_NAMES_OF_TYPES = {kind: name for name, kind in _TYPES.items()}


def write_arrays(path: Path, kind: str, arrays: Mapping[str, Array], facts: Facts) -> None:
    """Write arrays and facts as one safetensors file; `kind` names the contents of the file."""
    write_pieces(path, pieces_of_arrays(kind, arrays, facts))


def pieces_of_arrays(kind: str, arrays: Mapping[str, Array], facts: Facts) -> Iterator[bytes | memoryview]:
    """Return the bytes of a file of `write_arrays`, in pieces."""
    ordered = {name: np.ascontiguousarray(arrays[name]) for name in sorted(arrays)}
    ordered = {name: one.astype(one.dtype.newbyteorder("<"), copy=False) for name, one in ordered.items()}
    about = to_json({"kind": kind, "facts": facts, "checksum": _checksum(kind, facts, ordered)})
    return _pieces_of(ordered, about)


def _pieces_of(arrays: dict[str, Array], about: str) -> Iterator[bytes | memoryview]:
    """Yield a safetensors file piece by piece; the library would hold all of it twice more in memory."""
    # The widest first, so that each array is aligned in memory.
    in_file = sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    header: Facts = {"__metadata__": {_ABOUT: about}}
    end = 0
    for name, array in in_file:
        begin, end = end, end + array.nbytes
        kind = _NAMES_OF_TYPES[array.dtype.str]
        header[name] = {"dtype": kind, "shape": array.shape, "data_offsets": (begin, end)}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
    text += b" " * (-len(text) % 8)
    yield len(text).to_bytes(8, "little") + text
    for _, array in in_file:
        yield array.reshape(-1).view(np.uint8).data


def read_arrays(
    path: Path, kind: str, *, mapped: bool = False, verified: bool = False
) -> tuple[dict[str, Array], Facts]:
    """Read a file of `write_arrays`.

    With `mapped`, the arrays stay in the file: parts are read into memory when used, and can be dropped
    again. They do not change when the file is removed or replaced. If `verified`, the checksum, which would
    take reading the whole file, is not compared again.

    Raises
    ------
    ModelError
        If the file is missing, damaged, or of another kind.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            names = sorted(file.keys())
            arrays = {} if mapped else {name: file.get_tensor(name) for name in names}
        if mapped:
            arrays = _mapped(path, names)
    except (SafetensorError, OSError, ValueError, TypeError, KeyError) as error:
        raise _cannot_read(path, error) from error
    if _ABOUT not in metadata:
        raise ModelError(f"{path}: this is not a Franchise file; {_RESTORE}", code="unknown-format")
    about = from_json(metadata[_ABOUT], path)
    facts = about.get("facts")
    is_sound = isinstance(facts, dict) and (
        verified or about.get("checksum") == _checksum(about.get("kind"), facts, arrays)
    )
    if not is_sound:
        raise ModelError(
            f"{path}: the file is damaged: its contents do not match its checksum; {_RESTORE}",
            code="damaged-file",
        )
    if about["kind"] != kind:
        raise ModelError(
            f"{path}: this is a {about['kind']}, not a {kind}; {_RESTORE}", code="wrong-file-kind"
        )
    return arrays, cast(Facts, facts)


def _mapped(path: Path, names: list[str]) -> dict[str, Array]:
    """Map the arrays of a file that safetensors has found valid."""
    with open(path, "rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    first = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:first])
    arrays = {}
    for name in names:
        shape, offset = header[name]["shape"], first + header[name]["data_offsets"][0]
        flat = np.frombuffer(content, _TYPES[header[name]["dtype"]], math.prod(shape), offset)
        arrays[name] = flat.reshape(shape)
    return arrays


def read_facts(path: Path, kind: str) -> Facts:
    """Read the facts of a file of `write_arrays`, but not its arrays."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            about = from_json((file.metadata() or {}).get(_ABOUT, "{}"), path)
    except (SafetensorError, OSError, ValueError, TypeError) as error:
        raise _cannot_read(path, error) from error
    facts = about.get("facts")
    if about.get("kind") != kind or not isinstance(facts, dict):
        raise ModelError(f"{path}: this is not a {kind} of Franchise; {_RESTORE}", code="wrong-file-kind")
    return facts


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8, completely or not at all."""
    write_pieces(path, [text.encode("utf-8", "surrogatepass")])


def read_text(path: Path) -> str:
    """Read a text file in UTF-8."""
    try:
        return path.read_bytes().decode("utf-8", "surrogatepass")
    except (OSError, UnicodeDecodeError) as error:
        raise _cannot_read(path, error) from error


def write_pieces(path: Path, pieces: Iterable[bytes | memoryview]) -> None:
    """Write a file, completely or not at all; create its folder if needed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            file.writelines(pieces)
    except OSError as error:
        raise cannot_write(path, error) from error


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file; when it is complete, flush it to disk, and rename it to `path`."""
    temporary = path.with_name(
        f".{path.name}.tmp"
    )  # always the same name: remains of a killed process are overwritten
    try:
        with open(temporary, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink()


def to_json(facts: Facts) -> str:
    """Write facts as JSON; equal facts give equal text."""
    return json.dumps(facts, indent=1, sort_keys=True, ensure_ascii=False)


def checksum_of(facts: Facts) -> str:
    """Return a checksum of facts, which shows whether a file was edited."""
    return hashlib.blake2b(to_json(facts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def from_json(text: str, path: Path) -> Facts:
    """Read facts from JSON."""
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _cannot_read(path, error) from error
    if not isinstance(facts, dict):
        raise ModelError(f"{path}: the file is damaged: it has no settings; {_RESTORE}", code="damaged-file")
    return facts


_RESTORE = "give the folder of a saved model, or restore the file from a copy"


def cannot_write(path: Path, error: OSError) -> ModelError:
    """Return the error for a file or folder that cannot be written."""
    return ModelError(
        f"{path}: cannot write it ({error.strerror}); check the folder, its permissions "
        "and the free disk space",
        code="cannot-write",
    )


def _cannot_read(path: Path, error: Exception) -> ModelError:
    if isinstance(error, FileNotFoundError):
        return ModelError(f"{path}: there is no such file; {_RESTORE}", code="no-such-file")
    reason = getattr(error, "strerror", None) or error
    return ModelError(
        f"{path}: cannot read it ({reason}); the file is damaged or not a Franchise file: {_RESTORE}",
        code="cannot-read" if isinstance(error, OSError) else "damaged-file",
    )


def _checksum(kind: object, facts: Facts, arrays: Mapping[str, Array]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    digest.update(f"{kind}\0{to_json(facts)}\0".encode("utf-8", "surrogatepass"))
    for name, array in arrays.items():
        digest.update(f"{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
