"""Parquet, read batch by batch through pyarrow: a column of texts, and perhaps one of names and metadata.

Instead of texts, the column may have lists of words, or of term ids.
"""

from __future__ import annotations

from typing import Any

from franchise.corpus.files import Source
from franchise.corpus.formats.columns import Columns, Rows, check_columns, name_of, text_of
from franchise.errors import CorpusError

MAGIC = b"PAR1"

# Documents can be long: this many of them are in memory at a time.
_BATCH = 1024


def rows(source: Source, columns: Columns) -> Rows:
    """Read one document after the other; in messages, rows are numbered from 1."""
    try:
        from pyarrow.parquet import ParquetFile  # an extra, and slow to import
    except ImportError:
        raise source.fault(
            'reading Parquet needs pyarrow: pip install "franchise[parquet]", or save the table as CSV',
            code="missing-package",
        ) from None
    try:
        file = ParquetFile(source.random_access(), buffer_size=2**20)
        yield from _rows(source, columns, file)
    except CorpusError:
        raise
    except Exception as error:  # a damaged file fails in a dozen ways
        reason = " ".join(str(error).split())[:200]
        raise source.fault(
            f"not a whole Parquet file ({reason}); make or fetch it again", code="damaged-file"
        ) from error


def _rows(source: Source, columns: Columns, file: Any) -> Rows:
    text_column = check_columns(source, columns, file.schema_arrow.names, None)
    others = _others(source, columns, file.schema_arrow)
    wanted = [column for column in dict.fromkeys([columns.text, columns.name, *others]) if column is not None]
    holds_lists = _is_list(file.schema_arrow.field(text_column).type)
    number = 0
    for batch in file.iter_batches(_BATCH, columns=wanted, use_threads=False):
        texts = batch.column(text_column).to_pylist()
        names: list[str] | list[None] = [None] * len(texts)
        if columns.name is not None:
            given = batch.column(columns.name).to_pylist()
            names = [name_of(source, name, columns.name, number + i) for i, name in enumerate(given, start=1)]
        values = {one: batch.column(one).to_pylist() for one in others}
        for i, (text, name) in enumerate(zip(texts, names)):
            number += 1
            if columns.others is not None:
                columns.others.add(source, {one: values[one][i] for one in others}, number)
            if not (holds_lists and isinstance(text, list)):
                text = text_of(source, text, text_column, number)
            yield text, name
        source.report(number / max(file.metadata.num_rows, number))


def _is_list(kind: Any) -> bool:
    from pyarrow import types

    return any(is_so(kind) for is_so in (types.is_list, types.is_large_list, types.is_fixed_size_list))


def _others(source: Source, columns: Columns, schema: Any) -> list[str]:
    """Return the columns of metadata; those of lists, structures and bytes are not read unless asked for."""
    if columns.others is None:
        return []
    columns.others.check(source, schema.names, None)
    others = columns.others.among(schema.names, columns)
    if columns.others.wanted is not None:
        return others
    from pyarrow import types

    unfit = (types.is_nested, types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
    return [one for one in others if not any(is_so(schema.field(one).type) for is_so in unfit)]
