"""Tables of counts: CSV, TSV and Parquet with a column of names and a column of numbers for each term.

Which columns hold names, counts and metadata is decided from the first rows, or from the types of Parquet.
Only counts that are not 0 are kept, so the memory that reading takes goes by them and not by the cells.
"""

from __future__ import annotations

import re
import warnings
from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.corpus.checks import numbered
from franchise.corpus.corpus import Corpus
from franchise.corpus.files import Source
from franchise.corpus.formats.columns import Columns, listed
from franchise.corpus.formats.coordinates import REAL, Complaint, Entries, corpus_of, count_complaint
from franchise.corpus.formats.delimited import table
from franchise.corpus.formats.parquet import is_unfit, opened, values_of
from franchise.corpus.large_arrays import Growing
from franchise.errors import FranchiseWarning

if TYPE_CHECKING:
    from franchise.corpus.read_options import ReadOptions

_LOOKED_AT = 100  # rows
_AT_ONCE = 1_000_000  # entries
_REMEMBERED = 100_000  # numbers and how they are spelled

# A table is surely one of counts if all columns but the first are, this many or more, and names are short.
_SURELY, _WORDS_OF_A_NAME = 5, 3
_CONSECUTIVE = 5  # rows that are numbered, or have years
_YEARS = 1900, 2100

_MISSING = frozenset(["", "na", "n/a", "nan", "null", "none", "<na>", "inf", "-inf", "#n/a"])
# Names of columns that name the rows, even by numbers.
_OF_NAMES = re.compile(
    r"(?i:|unnamed: 0|index|(row)?names?|(.*[\s_.-])?id|samples?|documents?|doc|tumou?rs?|cells?|barcodes?|"
    r"patients?|donors?|subjects?|participants?|users?|customers?)|.*[a-z]I[dD]"
)


class _Layout(NamedTuple):
    """The columns that hold names, metadata and counts, by number."""

    names: list[int]
    about: list[int]
    counts: list[int]


Rows = Iterable[tuple[int, Sequence[Any]]]  # each after its line, or number


def read_delimited(source: Source, options: ReadOptions, elsewhere: Sequence[str], delimiter: str) -> Corpus:
    """Read a table of counts from CSV or TSV; columns that are `elsewhere` need not be in it."""
    line, header, rows = table(source, delimiter, of_counts=True)
    first = list(islice(rows, _LOOKED_AT))
    columns = list(zip(*(row for _, row in first))) or [()] * len(header)
    kinds = [_kind_of(values) for values in columns]
    layout = _layout(source, header, kinds, columns, options, elsewhere, line)
    return _corpus(source, header, layout, chain(first, rows), options, zero="0")


def read_parquet(source: Source, options: ReadOptions, elsewhere: Sequence[str]) -> Corpus:
    """Read a table of counts from Parquet; in messages, rows are numbered from 1."""
    with opened(source) as file:
        schema = file.schema_arrow
        index = _index_of(schema)  # which is at the end
        header = [*index, *(name for name in schema.names if name not in index)]
        rows = ((n, row) for n, row in enumerate(values_of(source, file, header), start=1))
        first = list(islice(rows, _LOOKED_AT))
        columns = [tuple(map(_spelled, values)) for values in zip(*(row for _, row in first))]
        columns = columns or [()] * len(header)
        kinds = [_kind_of_type(schema.field(name).type) for name in header]
        layout = _layout(source, header, kinds, columns, options, elsewhere, None, len(index))
        return _corpus(source, header, layout, chain(first, rows), options, zero=0)


# ---------------------------------------------------------------- which columns are what


def _kind_of(values: Iterable[str]) -> str:
    """Return whether the fields of a column are texts or counts; one that is mixed holds bad counts."""
    present = [value for value in values if value.strip().lower() not in _MISSING]
    is_text = present and not any(REAL.fullmatch(value.strip()) for value in present)
    return "text" if is_text else "count"


def _kind_of_type(kind: Any) -> str:
    from pyarrow import types

    if any(is_so(kind) for is_so in (types.is_integer, types.is_floating, types.is_decimal, types.is_null)):
        return "count"
    return "other" if is_unfit(kind) else "text"  # dates and truth values are metadata, too


def _index_of(schema: Any) -> list[str]:
    """Return the columns that pandas has made of the index of a DataFrame."""
    columns = (schema.pandas_metadata or {}).get("index_columns", ())
    return [name for name in columns if isinstance(name, str) and name in schema.names]


def _looks_like_counts(kinds: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    if not columns[0] or kinds.count("count") < _SURELY or any(kind != "count" for kind in kinds[1:]):
        return False
    n_words = sum(len(name.split()) for name in columns[0]) / len(columns[0])
    return n_words <= _WORDS_OF_A_NAME and all(
        count_complaint(value.strip()) is None for values in columns[1:] for value in values
    )


def _layout(
    source: Source,
    header: Sequence[str],
    kinds: Sequence[str],
    columns: Sequence[Sequence[str]],
    options: ReadOptions,
    elsewhere: Sequence[str],
    line: int | None,
    n_index: int = 0,
) -> _Layout:
    """Return which columns are what; refuse a table of which it is not clear that it holds counts."""
    if not (options.counts or options.transpose or _looks_like_counts(kinds, columns)):
        if kinds.count("count") >= 2:
            raise source.fault(
                "is this a table of texts or of counts? Give text_column (--text-column) for texts, "
                f"counts=True for counts; {listed(header)}",
                code="missing-setting",
            )
        Columns().check(source, header, line)  # says that the column of the texts must be given
    asked = [name for name in (options.id_column, *(options.metadata or ())) if name is not None]
    Columns(metadata=[name for name in asked if name not in elsewhere]).of_table(source, header, line)
    if options.id_column in header:
        names = [header.index(options.id_column)]
    elif n_index:
        names = list(range(n_index))
    elif kinds[0] == "text":
        # Tables of mutations have two such columns, as in "C>A" and "ACA".
        n = next((i for i, kind in enumerate(kinds) if kind != "text"), len(kinds))
        names = list(range(n if options.transpose else 1))
    else:
        names = [0] if _OF_NAMES.fullmatch(header[0]) or _are_numbered(columns[0]) else []
    texts = [i for i, kind in enumerate(kinds) if kind == "text" and i not in names]
    about = (
        texts
        if options.metadata is None
        else [header.index(one) for one in options.metadata if one in header]
    )
    if options.transpose:
        about = []
        if texts and options.id_column is None:
            raise source.fault(
                f"column {header[texts[0]]!r} holds texts, not the counts of a document; take it out, or say "
                "which column names the terms (--id-column)",
                line,
                code="texts-not-counts",
            )
    counts = [i for i, kind in enumerate(kinds) if kind == "count" and i not in (*names, *about)]
    if not counts:
        raise source.fault(f"no column holds counts; {listed(header)}", line, code="no-counts")
    if not options.transpose:
        _warn_of_others(source, header, columns, counts)
    return _Layout(names, about, counts)


def _warn_of_others(
    source: Source, header: Sequence[str], columns: Sequence[Sequence[str]], counts: Sequence[int]
) -> None:
    """Warn of columns of whole numbers that are not counts: years, and sums of the others."""
    try:
        rows = np.array([columns[i] for i in counts], float).T
    except ValueError:
        return  # a bad cell, which is found where counts are read
    if len(rows) < _CONSECUTIVE:
        return
    are_years = np.all((rows >= _YEARS[0]) & (rows <= _YEARS[1]), axis=0)
    are_sums = np.all(2 * rows == rows.sum(axis=1, keepdims=True), axis=0) & (rows.sum(axis=0) > 0)
    if len(counts) <= 2 or are_years.all():
        return
    for which, what in ((are_years, "years"), (are_sums, "sums of the other columns")):
        for i in np.flatnonzero(which).tolist():
            name = header[counts[i]]
            message = (
                f"{source.name}: the column {name!r} looks like {what}, not like counts; if so, name it in "
                f"metadata=[{name!r}]"
            )
            warnings.warn(FranchiseWarning(message, code="not-counts"), stacklevel=2)


def _are_numbered(values: Sequence[str]) -> bool:
    """Return whether a column has the numbers of the rows."""
    if len(values) < _CONSECUTIVE or not all(value.isascii() and value.isdigit() for value in values):
        return False
    return all(int(value) == int(values[0]) + i for i, value in enumerate(values))


# ---------------------------------------------------------------- counts


def _corpus(
    source: Source, header: Sequence[str], layout: _Layout, rows: Rows, options: ReadOptions, zero: object
) -> Corpus:
    """Read the rows; what is in rows, and what in columns, is known when the names of both are."""
    columns = [header[i] for i in layout.counts]
    about = Columns(metadata=None if options.metadata is None else [header[i] for i in layout.about])
    names: list[str] = []
    cells = _Cells(source, columns, names, zero)
    fields_of = _getter(layout.counts)
    for line, row in rows:
        if layout.names:
            names.append(" ".join(_spelled(row[i]) for i in layout.names))
        cells.add(fields_of(row), line)
        about.add(source, {header[i]: row[i] for i in layout.about}, line)
    entries, n_rows = cells.gathered(), cells.n_rows
    row_names = tuple(names) if layout.names else numbered(n_rows)
    if options.transpose:
        entries = Entries(entries.terms, entries.documents, entries.counts)
        corpus = corpus_of(source, entries, len(columns), n_rows, row_names)
        return corpus.with_names(row_names, columns)
    corpus = corpus_of(source, entries, n_rows, len(columns), columns)
    return corpus.with_names(columns, row_names).with_metadata(about.gathered(source.name))


def _getter(numbers: list[int]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    if numbers == list(range(numbers[0], numbers[-1] + 1)):
        return itemgetter(slice(numbers[0], numbers[-1] + 1))
    return itemgetter(*numbers)


class _Cells:
    """The counts of a table that are not 0, row by row."""

    def __init__(self, source: Source, columns: Sequence[str], names: Sequence[str], zero: object) -> None:
        self.n_rows = 0
        self._source, self._columns, self._names, self._zero = source, columns, names, zero
        self._grown = [Growing() for _ in Entries._fields]
        self._entries = (array("i"), array("i"), array("i"))
        self._known: dict[Any, int] = {}  # most fields are spelled like one before

    def add(self, fields: Sequence[Any], line: int) -> None:
        """Take the next row."""
        known, (rows, columns, counts) = self._known, self._entries
        for i, field in [(i, field) for i, field in enumerate(fields) if field != self._zero]:
            count = known.get(field)
            if count is None:
                count = self._count(field, i, line)
            if count:
                rows.append(self.n_rows)
                columns.append(i)
                counts.append(count)
        self.n_rows += 1
        if len(rows) >= _AT_ONCE:
            self._hand_over()

    def gathered(self) -> Entries:
        """Return all entries, of rows and columns."""
        self._hand_over()
        return Entries(*(column.array() for column in self._grown))

    def _hand_over(self) -> None:
        for grown, column in zip(self._grown, self._entries):
            grown.extend(column)
        self._entries = (array("i"), array("i"), array("i"))

    def _count(self, field: Any, column: int, line: int) -> int:
        text = _spelled(field)
        complaint = _complaint(text)
        if complaint is not None:
            row = f"row {self._names[-1]!r}" if self._names else f"row {self.n_rows + 1:,}"
            raise self._source.fault(
                f"{row}, column {self._columns[column]!r}: the count {text[:40]!r} {complaint[1]}",
                line,
                code=complaint[0],
            )
        count = int(float(text))
        if len(self._known) < _REMEMBERED:
            self._known[field] = count
        return count


def _complaint(text: str) -> Complaint | None:
    if text.lower() in _MISSING:
        return "count-not-finite", "is missing or infinite; write 0 where there is none"
    return count_complaint(text)


def _spelled(value: Any) -> str:
    """Return a value of a table as text."""
    return "" if value is None else str(value).strip()
