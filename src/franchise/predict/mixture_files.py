"""Mixtures of new documents as tables and files, written in blocks, so that they need not fit in memory.

A file gets its name when it is complete; until then it has a temporary name in the same folder. CSV and
Parquet have a row per document. An ``.npz`` has the shares for ``scipy.sparse.load_npz``, and further arrays
that SciPy ignores: ``words``, ``unknown``, ``topics`` (the names of the columns) and, if the documents have
names that fit, ``document_names``.
"""

import csv
import gzip
import io
import os
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from franchise._arrays import Array
from franchise._extras import needed
from franchise._files import whole_file
from franchise._text import printable
from franchise.corpus.documents import Encoded
from franchise.errors import FranchiseError, FranchiseWarning, SettingsError
from franchise.predict.largest import largest_topics, sparse_rows

SUFFIXES = (".csv", ".csv.gz", ".parquet", ".npz")
_MOST_NAMES = 2**28  # bytes of the array of names, in which every name takes the room of the longest
_AT_ONCE = 2**20  # bytes to copy at once

Blocks = Iterable[tuple[Encoded, Array]]


class MixtureTable(NamedTuple):
    """The columns of a table of mixtures.

    Attributes
    ----------
    topics
        The column name of each topic.
    is_named
        Whether some topics have labels. A table of the largest topics then includes them.
    top
        Number of largest topics per document; None for all topics.
    digits
        Digits of a share after the point; None for all.
    """

    topics: list[str]
    is_named: bool = False
    top: int | None = None
    digits: int | None = None

    def rounded(self, theta: Array) -> Array:
        """Return shares rounded to `digits`."""
        return theta if self.digits is None else np.round(theta, self.digits)

    def columns(self, block: Encoded, theta: Array) -> dict[str, Any]:
        """Return the columns of a block of documents."""
        columns = facts_of(block)
        shares = self.rounded(theta)
        if self.top is None:
            return columns | dict(zip(self.topics, shares.T, strict=True))
        chosen = largest_topics(theta, self.top)
        shares = np.take_along_axis(shares, chosen, axis=1)
        for i, own in enumerate(chosen.T):
            columns[f"top_{i + 1}"] = own
            if self.is_named:
                columns[f"label_{i + 1}"] = [self.topics[k] for k in own.tolist()]
            columns[f"share_{i + 1}"] = shares[:, i]
        return columns


def facts_of(block: Encoded) -> dict[str, Any]:
    """Return facts of documents that do not depend on topics: name, known and unknown words."""
    return {
        "document": [printable(name) for name in block.document_names],
        "words": np.diff(block.arrays.doc_ptr),
        "unknown": block.unknown,
    }


def check_target(path: Path, *, overwrite: bool) -> None:
    """Refuse a file that cannot be written, before any long work begins."""
    if _suffix(path) is None:
        raise SettingsError(
            f"--output {path}: give a name that ends in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}",
            code="unknown-format",
        )
    if path.is_dir():
        raise FranchiseError(f"{path}: this is a folder; give the name of a file", code="is-a-folder")
    if path.exists() and not overwrite:
        raise FranchiseError(
            f"{path}: the file already exists; give another name, or --overwrite", code="file-exists"
        )
    if not path.resolve().parent.is_dir():
        raise FranchiseError(
            f"{path}: the folder does not exist; give a name in an existing folder", code="no-such-folder"
        )
    if _suffix(path) == ".parquet":
        with needed("writing Parquet", "parquet"):
            import pyarrow.parquet  # noqa: F401


def write_mixtures(path: Path, blocks: Blocks, table: MixtureTable) -> None:
    """Write mixtures to a file, whole or not at all. Its suffix decides the format."""
    write = {".csv": _write_csv, ".csv.gz": _write_csv_gz, ".parquet": _write_parquet, ".npz": _write_npz}
    suffix = _suffix(path)
    assert suffix is not None
    try:
        with whole_file(path) as file:
            write[suffix](file, blocks, table)
    except OSError as error:
        raise FranchiseError(
            f"{path}: cannot write the file ({error.strerror or error}). Check the folder, its "
            "permissions and the free disk space",
            code="cannot-write",
        ) from error
    except KeyboardInterrupt:
        left = "the earlier file is still there" if path.exists() else "nothing was written"
        raise KeyboardInterrupt(f"{path}: {left}") from None


def csv_blocks(blocks: Blocks, table: MixtureTable) -> Iterator[str]:
    """Yield the lines of each block as one text; the first has the heading."""
    for i, (block, theta) in enumerate(blocks):
        columns = table.columns(block, theta)
        lists = (column.tolist() if isinstance(column, np.ndarray) else column for column in columns.values())
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if i == 0:
            writer.writerow(columns)
        writer.writerows(zip(*lists, strict=True))
        yield text.getvalue()


def _suffix(path: Path) -> str | None:
    return next((suffix for suffix in SUFFIXES if path.name.lower().endswith(suffix)), None)


def _write_csv(file: BinaryIO | gzip.GzipFile, blocks: Blocks, table: MixtureTable) -> None:
    for text in csv_blocks(blocks, table):
        file.write(text.encode("utf-8"))


def _write_csv_gz(file: BinaryIO, blocks: Blocks, table: MixtureTable) -> None:
    with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:  # no time, so equal tables give equal bytes
        _write_csv(packed, blocks, table)


def _write_parquet(file: BinaryIO, blocks: Blocks, table: MixtureTable) -> None:
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    writer = None
    try:
        for block, theta in blocks:
            rows = pa.table(table.columns(block, theta))
            writer = writer or ParquetWriter(file, rows.schema, compression="zstd")
            writer.write_table(rows)
    finally:
        if writer is not None:
            writer.close()


# ---------------------------------------------------------------- npz


class _Column:
    """Numbers collected in an unnamed file, because the archive takes one array after another."""

    def __init__(self, folder: str, kind: str) -> None:
        self.dtype, self.size = np.dtype(kind), 0
        self._file = TemporaryFile(dir=folder)  # noqa: SIM115  # closed by its owner

    def add(self, numbers: Array) -> None:
        """Add numbers at the end."""
        self._file.write(numbers.astype(self.dtype, copy=False).tobytes())
        self.size += numbers.size

    def chunks(self) -> Iterator[bytes]:
        """Yield all bytes in chunks."""
        self._file.seek(0)
        return iter(lambda: self._file.read(_AT_ONCE), b"")

    def close(self) -> None:
        """Remove the file."""
        self._file.close()


class _Names(_Column):
    """Names of documents. The longest is known only at the end."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder, "<U1")
        self._blocks: list[tuple[int, np.dtype[Any]]] = []
        self._are_numbers = self._are_whole = True

    def add_names(self, names: list[str]) -> None:
        """Add names at the end."""
        first = self.size
        self._are_numbers &= names == list(map(str, range(first, first + len(names))))
        self._are_whole &= not any("\0" in name for name in names)
        array = np.array(names, "<U")
        self._blocks.append((array.nbytes, array.dtype))
        self.dtype = max(self.dtype, array.dtype, key=lambda one: one.itemsize)
        self._file.write(array.tobytes())
        self.size += len(names)

    @property
    def are_kept(self) -> bool:
        """Whether the archive includes the names: not row numbers, and not if too long, with a warning."""
        fit = self._are_whole and self.size * self.dtype.itemsize <= _MOST_NAMES
        if not fit and not self._are_numbers:
            message = (
                f"the names of the {self.size:,} documents are too long for an .npz, in which each takes the "
                "room of the longest; rows are in the order of the input (CSV and Parquet have the names)"
            )
            warnings.warn(FranchiseWarning(message, code="names-left-out"), stacklevel=2)
        return fit and not self._are_numbers

    def chunks(self) -> Iterator[bytes]:
        """Yield all names, padded to the longest, in chunks."""
        self._file.seek(0)
        for n_bytes, dtype in self._blocks:
            yield np.frombuffer(self._file.read(n_bytes), dtype).astype(self.dtype).tobytes()


def _write_npz(file: BinaryIO, blocks: Blocks, table: MixtureTable) -> None:
    folder = os.path.dirname(os.path.abspath(file.name))
    kinds = {"data": "<f8", "indices": "<i4", "indptr": "<i8", "words": "<i8", "unknown": "<i8"}
    with ExitStack() as stack:
        own = {name: stack.enter_context(closing(_Column(folder, kind))) for name, kind in kinds.items()}
        names = stack.enter_context(closing(_Names(folder)))
        own["indptr"].add(np.zeros(1, np.int64))
        for block, theta in blocks:
            rows = sparse_rows(table.rounded(theta), table.top)
            own["indptr"].add(own["data"].size + rows.indptr[1:].astype(np.int64))
            own["data"].add(rows.data)
            own["indices"].add(rows.indices)
            own["words"].add(np.diff(block.arrays.doc_ptr))
            own["unknown"].add(block.unknown)
            names.add_names([printable(name) for name in block.document_names])
        if names.are_kept:
            own["document_names"] = names
        few = {
            "shape": np.array([own["words"].size, len(table.topics)], "<i8"),
            "format": np.array(b"csr"),  # required by SciPy
            "topics": np.array(table.topics, np.str_),
        }
        with zipfile.ZipFile(file, "w") as archive:
            for name, column in own.items():
                _add(archive, name, column.dtype, (column.size,), column.chunks())
            for name, array in few.items():
                _add(archive, name, array.dtype, array.shape, [array.tobytes()])


def _add(
    archive: zipfile.ZipFile, name: str, dtype: np.dtype[Any], shape: tuple[int, ...], chunks: Iterable[bytes]
) -> None:
    """Add an array in NumPy's format."""
    entry = zipfile.ZipInfo(f"{name}.npy")  # without the time, so equal tables give equal bytes
    entry.compress_type = zipfile.ZIP_DEFLATED
    with archive.open(entry, "w", force_zip64=True) as file:
        about = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, about)
        for chunk in chunks:
            file.write(chunk)
