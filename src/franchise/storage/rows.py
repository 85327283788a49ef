"""Rows of numbers in a file that only grows: a checkpoint adds new rows and does not touch the others.

Another file, written afterwards, stores the number of valid rows and their checksum. Any further rows were
left by a run that was killed.
"""

import hashlib
import os
from pathlib import Path

import numpy as np

from franchise._arrays import Array
from franchise._files import Facts, cannot_write, whole_file
from franchise.errors import ModelError

_NUMBER = np.dtype("<f8")


def checksum(rows: Array) -> str:
    """Return the checksum of rows, as in the facts of `RowFile.add`."""
    return hashlib.blake2b(np.ascontiguousarray(rows, _NUMBER).tobytes(), digest_size=16).hexdigest()


class RowFile:
    """Adds rows to a file.

    Parameters
    ----------
    path
        The file. Its existing rows are not written again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.n_rows = 0
        self._n_bytes = 0
        self._digest = hashlib.blake2b(digest_size=16)

    def add(self, rows: Array) -> Facts:
        """Add rows; return the facts that `read_rows` needs."""
        content = np.ascontiguousarray(rows, _NUMBER).tobytes()
        try:
            if self.n_rows == 0:
                self._begin(content)
            else:
                self._write(content, self._n_bytes)
        except OSError as error:
            raise cannot_write(self.path, error) from error
        digest, n_bytes, n_rows = self._digest.copy(), self._n_bytes + len(content), self.n_rows + len(rows)
        digest.update(content)
        # Last, because after an error the same rows are added again and must not be counted twice.
        self._digest, self._n_bytes, self.n_rows = digest, n_bytes, n_rows
        return {"rows": n_rows, "width": rows.shape[1], "checksum": digest.hexdigest()}

    def _begin(self, content: bytes) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        there = self.path.read_bytes() if self.path.exists() else None
        if there is None or there[: len(content)] != content[: len(there)]:
            with whole_file(self.path) as file:
                file.write(content)
        elif len(there) < len(content):
            self._write(content[len(there) :], len(there))

    def _write(self, content: bytes, offset: int) -> None:
        if not content:
            return
        with open(self.path, "r+b") as file:
            file.seek(offset)
            file.truncate()
            file.write(content)
            file.flush()
            os.fsync(file.fileno())


def read_rows(path: Path, facts: Facts) -> Array:
    """Read the valid rows, given the facts of `RowFile.add`."""
    n_rows, width = facts["rows"], facts["width"]
    try:
        with open(path, "rb") as file:
            content = file.read(n_rows * width * _NUMBER.itemsize)
    except OSError as error:
        raise ModelError(
            f"{path}: cannot read it ({error.strerror}); restore it from a copy", code="cannot-read"
        ) from error
    if hashlib.blake2b(content, digest_size=16).hexdigest() != facts["checksum"]:
        raise ModelError(f"{path}: the file is damaged; restore it from a copy", code="damaged-file")
    return np.frombuffer(content, _NUMBER).reshape(n_rows, width)
