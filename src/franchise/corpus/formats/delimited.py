"""CSV and TSV: a line of column names, then one row per document; quoted fields may hold anything.

Quotes must be closed: an open quote would turn the rest of the file into one document.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from itertools import chain

from franchise.corpus.files import MAX_LINE, Source
from franchise.corpus.formats.columns import Columns, Rows
from franchise.errors import SettingsError

_OTHERS = (";", "\t", "|", ",")  # delimiters in use, with any file suffix


def checked_delimiter(given: object) -> str | None:
    """Return the delimiter of fields; "tab" means a tab."""
    if given is None:
        return None
    value = "\t" if given in ("tab", "\\t") else given
    if not isinstance(value, str) or len(value) != 1 or value in '"\r\n\0 ' or value.isalnum():
        raise SettingsError(
            f"delimiter={given!r}: give one character, such as ';' or '|', or 'tab'", code="not-a-delimiter"
        )
    return value


def rows(source: Source, columns: Columns, delimiter: str = ",") -> Rows:
    """Read rows of fields separated by a delimiter."""
    line, header, numbered = table(source, delimiter)
    text = header.index(columns.check(source, header, line))
    name = None if columns.name is None else header.index(columns.name)
    others = {one: header.index(one) for one in columns.of_table(source, header, line)}
    for line, row in numbered:
        columns.add(source, {one: row[i] for one, i in others.items()}, line)
        yield row[text], None if name is None else row[name]


def table(
    source: Source, delimiter: str, *, of_counts: bool = False
) -> tuple[int, list[str], Iterator[tuple[int, list[str]]]]:
    """Return the line number and the fields of the column names, and the rows with their line numbers.

    For a table of counts, R omits the name of the first column if it holds row names; it is then empty.
    """
    # The limit holds for the whole process; raising it does no harm.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE))
    numbered = _numbered(source, delimiter)
    line, header = next(numbered, (1, []))
    if not header:
        raise source.fault(
            "the line of column names is missing; add it at the top", line, code="missing-header"
        )
    _check_delimiter(source, header, delimiter, line)
    rows = (one for one in numbered if one[1])  # the last line is often empty
    first = next(rows, None)
    if first is None:
        return line, header, iter(())
    if of_counts and len(first[1]) == len(header) + 1:
        header = ["", *header]
    return line, header, _whole(source, header, chain([first], rows))


def _whole(
    source: Source, header: list[str], rows: Iterable[tuple[int, list[str]]]
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows; refuse a row without one field per column name."""
    for line, row in rows:
        if len(row) != len(header):
            raise source.fault(
                f"the row has {len(row)} fields, but the first line has {len(header)} column names; "
                "put texts with delimiters or line ends in quotes",
                line,
                code="bad-line",
            )
        yield line, row


def likely_delimiter(source: Source) -> str:
    """Return the probable delimiter of the column names of a file, without consuming the file."""
    header = source.head().split(b"\n", 1)[0].decode(source.encoding or "utf-8", "replace")
    return max((",", "\t", ";", "|"), key=header.count)


def _check_delimiter(source: Source, header: list[str], delimiter: str, line: int) -> None:
    """Refuse a header that is a single field with another delimiter in it."""
    other = next((one for one in _OTHERS if one != delimiter and one in header[0]), None)
    if len(header) == 1 and other is not None:
        shown = "tab" if other == "\t" else other
        raise source.fault(
            f"the column names seem to be separated by {other!r}, not by {delimiter!r}; "
            f"give delimiter={shown!r}",
            line,
            code="wrong-delimiter",
        )


def _numbered(source: Source, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield rows, each with the number of its first line."""
    reader = csv.reader(source.text_lines(), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            yield line, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise source.fault(
                f"not a row of fields ({error}); close every quote, and double the quotes within quotes",
                line,
                code="bad-line",
            ) from None
