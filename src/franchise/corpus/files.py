"""Bytes from and to disk: gzip seen through, errors put into words, writes whole or not at all."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path

from franchise.errors import CorpusError

StrPath = str | os.PathLike[str]

_GZIP_MAGIC = b"\x1f\x8b"


def read_lines(path: StrPath) -> list[bytes]:
    """Return a file's lines without their ends, unpacked if it is gzip, whatever its name."""
    lines = _read_bytes(Path(path)).split(b"\n")
    if not lines[-1]:
        lines.pop()  # what follows the last line's end is not a line
    return lines


def write_atomically(path: StrPath, content: bytes) -> None:
    """Write under a temporary name, then rename; pack if the name ends in ``.gz``."""
    target = Path(path)
    if target.suffix == ".gz":
        content = gzip.compress(
            content, mtime=0
        )  # no clock in the file: the same corpus gives the same bytes
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content)
        temporary.replace(target)
    except OSError as error:
        raise CorpusError(
            f"{target}: cannot write it ({error.strerror}); check the folder and its rights"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def _read_bytes(path: Path) -> bytes:
    if path.is_dir():
        raise CorpusError(f"{path}: this is a directory; give the file in it")
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise CorpusError(f"{path}: there is no such file; check the path") from None
    except OSError as error:
        raise CorpusError(f"{path}: cannot read it ({error.strerror}); check its rights") from error
    if not content.startswith(_GZIP_MAGIC):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise CorpusError(f"{path}: the gzip data are damaged ({error}); fetch the file again") from error
