"""What the formats of rows share: which column holds the texts, which the names of the documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from franchise.corpus.files import Source

# The text of a document, and its name where the file gives one.
Rows = Iterator[tuple[str, str | None]]


class Columns(NamedTuple):
    """The columns to read; ``None`` where none was given."""

    text: str | None
    name: str | None


def check_columns(source: Source, columns: Columns, present: Sequence[str], line: int | None) -> str:
    """Return the column of the texts; both columns must be there, once."""
    if columns.text is None:
        raise source.fault(
            f"which column holds the texts? Give text_column (--text-column); {_listed(present)}"
        )
    for column in columns:
        if column is not None and column not in present:
            raise source.fault(f"there is no column {column!r}; {_listed(present)}", line)
        if column is not None and present.count(column) > 1:
            raise source.fault(f"there are several columns {column!r}; rename all but one", line)
    return columns.text


def text_of(source: Source, value: object, column: str, line: int) -> str:
    """Return a value of the column of texts, which must be a text."""
    if not isinstance(value, str):
        raise source.fault(
            f'{column!r} is {_shown(value)}, not a text; give texts in quotes, "" where there is none', line
        )
    _check_whole(source, value, column, line)
    return value


def name_of(source: Source, value: object, column: str, line: int) -> str:
    """Return a value of the column of names, which may be a number too."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise source.fault(f"{column!r} is {_shown(value)}; names are texts or whole numbers", line)
    name = str(value)
    _check_whole(source, name, column, line)
    return name


def _check_whole(source: Source, text: str, column: str, line: int) -> None:
    # JSON can spell halves of surrogate pairs, which no file in UTF-8 can hold: they would fail much later.
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        half = text[error.start]
        raise source.fault(
            f"{column!r} has half a character, {half!r}, at position {error.start}; take it out", line
        ) from None


def _listed(present: Sequence[str]) -> str:
    if not present:
        return "the file has no columns"
    shown = ", ".join(repr(column[:80]) for column in present[:20])
    more = f" and {len(present) - 20:,} more" if len(present) > 20 else ""
    return f"the columns are {shown}{more}"


def _shown(value: object) -> str:
    if value is None:
        return "missing (null)"
    text = repr(value)
    return f"{text if len(text) <= 40 else text[:40] + '...'} ({type(value).__name__})"
