"""Metadata from a file of its own: CSV, TSV or Parquet, joined to documents by their names or by row."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from franchise._text import counted
from franchise.corpus.checks import numbered
from franchise.corpus.files import Source, StrPath, open_source
from franchise.corpus.formats import format_of, parquet
from franchise.corpus.formats.columns import Columns
from franchise.corpus.formats.delimited import likely_delimiter, table
from franchise.corpus.metadata import column_of, nearest, small_columns, table_of
from franchise.corpus.read_options import TABLES
from franchise.errors import CorpusError, FranchiseWarning

if TYPE_CHECKING:
    import pandas as pd

_Row = int | None  # the row of the file for a document; None where it has none


class MetadataFile:
    """A table of what is known of documents."""

    def __init__(self, path: StrPath, encoding: str | None = None) -> None:
        with open_source(Path(path), encoding=encoding) as source:
            self.name, self.columns = source.name, _columns_in(source)
        self._n_rows = len(next(iter(self.columns.values()), ()))

    def by_name(self, names: Sequence[str], wanted: Sequence[str] | None) -> pd.DataFrame | None:
        """Return the metadata of documents with these names, which one column has.

        `wanted` are the columns to keep; None for all that are small.
        """
        distinct = set(names)
        found = {column: len(distinct & set(map(_name, values))) for column, values in self.columns.items()}
        key = max(found, key=found.__getitem__, default="")
        if not found.get(key):
            raise self._fault(
                f"no column has the names of the documents, such as {names[0]!r}; add one that has",
                "unknown-document",
            )
        if found[key] < len(distinct):
            missing = distinct - set(map(_name, self.columns[key]))
            example = next(name for name in names if name in missing)
            message = (
                f"{self.name}: {len(missing):,} of {counted(len(distinct), 'document')} are not in column "
                f"{key!r}, such as {example!r}, and have no metadata"
            )
            warnings.warn(FranchiseWarning(message, code="missing-metadata"), stacklevel=2)
        return self._rows(self._places(names, key), wanted, leave_out=key)

    def in_order(
        self, n_documents: int, wanted: Sequence[str] | None, id_column: str | None
    ) -> tuple[pd.DataFrame | None, tuple[str, ...] | None]:
        """Return the metadata of documents without names, and their names if a column has them.

        If the first column has the numbers of all documents from 0 on, rows go by them.
        """
        numbers = numbered(n_documents)
        first = next(iter(self.columns), None)
        if id_column is None and first is not None and set(numbers) <= set(map(_name, self.columns[first])):
            return self._rows(self._places(numbers, first), wanted, leave_out=first), None
        if self._n_rows != n_documents:
            raise self._fault(
                f"it has {counted(self._n_rows, 'row')}, and there are {counted(n_documents, 'document')} "
                "without names; give one row per document, in their order",
                "wrong-length",
            )
        if id_column is None:
            return self._rows(range(n_documents), wanted), None
        self._check_there(id_column)
        names = tuple(map(_name, self.columns[id_column]))
        return self._rows(range(n_documents), wanted, leave_out=id_column), names

    def _places(self, names: Sequence[str], key: str) -> list[_Row]:
        """Return the row of each document."""
        place: dict[str, int] = {}
        asked = set(names)
        for row, name in enumerate(map(_name, self.columns[key])):
            if name in place and name in asked:
                raise self._fault(
                    f"{name!r} is in column {key!r} twice, in rows {place[name] + 1:,} and {row + 1:,}; give "
                    "one row per document",
                    "duplicate-document",
                )
            place[name] = row
        return [place.get(name) for name in names]

    def _rows(
        self, rows: Sequence[_Row], wanted: Sequence[str] | None, leave_out: str | None = None
    ) -> pd.DataFrame | None:
        for column in wanted or ():
            self._check_there(column)
        columns = [column for column in self.columns if column != leave_out] if wanted is None else wanted
        kept = {
            column: [None if row is None else self.columns[column][row] for row in rows] for column in columns
        }
        kept = small_columns(kept) if wanted is None else kept
        return table_of({column: column_of(column, values) for column, values in kept.items()})

    def _check_there(self, column: str) -> None:
        if column not in self.columns:
            raise self._fault(
                f"there is no column {column!r}; {nearest(column, self.columns)}", "unknown-column"
            )

    def _fault(self, message: str, code: str) -> CorpusError:
        return CorpusError(f"{self.name}: {message}", code=code)


def _columns_in(source: Source) -> dict[str, list[Any]]:
    try:
        form = format_of(source, None)
    except CorpusError as error:
        if error.code != "unknown-format":
            raise
        form = "txt"
    if form not in ("txt", *TABLES):
        raise source.fault(
            f"metadata cannot be read from {form}; give {', '.join(TABLES)}", code="wrong-format"
        )
    if source.head().startswith(parquet.MAGIC):
        with parquet.opened(source) as file:
            header = file.schema_arrow.names
            rows = list(parquet.values_of(source, file, header))
    else:
        _, header, numbered_rows = table(source, likely_delimiter(source))
        rows = [tuple(row) for _, row in numbered_rows]
    Columns(metadata=header).of_table(source, header, None)  # which refuses columns that are there twice
    return {name: [row[i] for row in rows] for i, name in enumerate(header)}


def _name(value: Any) -> str:
    return str(value).strip()
