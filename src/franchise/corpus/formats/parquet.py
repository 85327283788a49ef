"""Parquet, read batch by batch through pyarrow: a column of texts, and perhaps one of names and metadata.

Instead of texts, the column may have lists of words, or of term ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from franchise.corpus.files import Source
from franchise.corpus.formats.columns import Columns, Rows

MAGIC = b"PAR1"

# Documents can be long: this many of them are in memory at a time.
_BATCH = 1024
_CELLS = 1_000_000


def rows(source: Source, columns: Columns) -> Rows:
    """Read one document after the other; in messages, rows are numbered from 1."""
    with opened(source) as file:
        yield from _rows(source, columns, file)


@contextmanager
def opened(source: Source) -> Iterator[Any]:
    """Open a file with pyarrow, and word the errors of reading it."""
    try:
        from pyarrow.parquet import ParquetFile  # an extra, and slow to import
    except ImportError:
        raise source.fault(
            'reading Parquet needs pyarrow: pip install "franchise[parquet]", or save the table as CSV',
            code="missing-package",
        ) from None
    with source.whole("Parquet file", "make or fetch it again"):
        yield ParquetFile(source.random_access(), buffer_size=2**20)


def values_of(source: Source, file: Any, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Read the values of some columns, row by row; of wide tables, few rows are in memory at a time."""
    at_once, number = max(1, min(_BATCH, _CELLS // max(len(columns), 1))), 0
    for batch in file.iter_batches(at_once, columns=list(columns), use_threads=False):
        yield from zip(*(batch.column(column).to_pylist() for column in columns))
        number += batch.num_rows
        source.report(number / max(file.metadata.num_rows, number))


def is_unfit(kind: Any) -> bool:
    """Return whether a column has lists, structures or bytes, which are read only if asked for."""
    from pyarrow import types

    unfit = (types.is_nested, types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
    return any(is_so(kind) for is_so in unfit)


def _rows(source: Source, columns: Columns, file: Any) -> Rows:
    from pyarrow import types

    schema = file.schema_arrow
    text_column = columns.check(source, schema.names, None)
    others = columns.of_table(source, schema.names, None)
    if columns.takes_all:
        others = [one for one in others if not is_unfit(schema.field(one).type)]
    wanted = [column for column in dict.fromkeys([text_column, columns.name, *others]) if column is not None]
    lists = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    holds_lists = any(is_so(schema.field(text_column).type) for is_so in lists)
    for number, values in enumerate(values_of(source, file, wanted), start=1):
        row = dict(zip(wanted, values))
        name = None if columns.name is None else columns.name_in(source, row[columns.name], number)
        columns.add(source, {one: row[one] for one in others}, number)
        text = row[text_column]
        if not (holds_lists and isinstance(text, list)):
            text = columns.text_in(source, text, number)
        yield text, name
