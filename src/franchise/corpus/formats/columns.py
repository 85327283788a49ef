"""What the formats of rows share: which column holds the texts, which the names, which are metadata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from franchise.corpus.files import Source
from franchise.corpus.metadata import NOT_VALUES, column_of, nearest, not_a_value, table_of
from franchise.errors import CorpusError, SettingsError

if TYPE_CHECKING:
    import pandas as pd

# Columns of files are kept without being asked for if they are small, as `docs/how-to/formats.md` says.
LONGEST_VALUE = 200  # characters
MOST_CHARACTERS = 10_000_000  # of a column
MOST_COLUMNS = 50

# The text of a document, and its name where the file gives one; Parquet may have lists of words for texts.
Rows = Iterator[tuple[Any, str | None]]


class Columns(NamedTuple):
    """The columns to read; ``None`` where none was given."""

    text: str | None
    name: str | None
    others: OtherColumns | None = None  # metadata, where they are wanted


class OtherColumns:
    """Gathers the metadata of documents while their texts are read.

    Parameters
    ----------
    wanted
        Names of columns; None for all that are small: at most 50 columns, none of whose values is longer than
        200 characters, nor all of them together longer than 10 million.
    """

    def __init__(self, wanted: Sequence[str] | None) -> None:
        self.wanted = wanted
        self._columns: dict[str, list[Any]] = {name: [] for name in wanted or ()}
        self._seen: dict[str, None] = {}
        self._n_characters = Counter[str]()
        self._equal: dict[str, str] = {}  # equal texts are kept once
        self._n_documents = 0

    def check(self, source: Source, present: Sequence[str], line: int | None) -> None:
        """Refuse wanted columns that a table does not have, or has several times."""
        for name in self.wanted or ():
            if name not in present:
                raise source.fault(
                    f"there is no column {name!r}; {nearest(name, present)}", line, code="unknown-column"
                )
            if present.count(name) > 1:
                raise source.fault(
                    f"there are several columns {name!r}; rename all but one", line, code="duplicate-column"
                )

    def among(self, present: Sequence[str], columns: Columns) -> list[str]:
        """Return which columns of a table to gather; a column that is there twice belongs to no one."""
        if self.wanted is not None:
            return list(self.wanted)
        used, times = (columns.text, columns.name), Counter(present)
        return [name for name in present if name not in used and times[name] == 1]

    def add(self, source: Source, values: Mapping[str, Any], line: int) -> None:
        """Take the values of the next document; those of columns that are not there are missing."""
        for name in values:
            if name not in self._seen:
                self._seen[name] = None
                if self.wanted is None:
                    self._columns[name] = [None] * self._n_documents
        if self.wanted is None and len(self._seen) > MOST_COLUMNS:
            self._columns.clear()
        for name in list(self._columns):
            value = values.get(name)
            if isinstance(value, NOT_VALUES) and self.wanted is not None:
                raise source.fault(not_a_value(name, value), line, code="wrong-type")
            if isinstance(value, NOT_VALUES) or not self._has_room(name, value):
                del self._columns[name]
            else:
                self._columns[name].append(
                    self._equal.setdefault(value, value) if isinstance(value, str) else value
                )
        self._n_documents += 1

    def _has_room(self, name: str, value: Any) -> bool:
        if self.wanted is not None or not isinstance(value, str):
            return True
        self._n_characters[name] += len(value)
        return len(value) <= LONGEST_VALUE and self._n_characters[name] <= MOST_CHARACTERS

    def gathered(self, name: str) -> pd.DataFrame | None:
        """Return the columns of all documents of the file with this name."""
        for wanted in self.wanted or ():
            if self._n_documents and wanted not in self._seen:
                raise CorpusError(
                    f"{name}: there is no column {wanted!r}; {nearest(wanted, self._seen)}",
                    code="unknown-column",
                )
        return table_of({name: column_of(name, values) for name, values in self._columns.items()})


def column_names(given: Sequence[str] | None) -> list[str] | None:
    """Return names of columns, each once; refuse a lone string."""
    if given is None:
        return None
    if isinstance(given, str) or not all(isinstance(name, str) for name in given):
        raise SettingsError(
            f"metadata={given!r}: give a list of names of columns, [] for none", code="wrong-type"
        )
    return list(dict.fromkeys(given))


def check_columns(source: Source, columns: Columns, present: Sequence[str], line: int | None) -> str:
    """Return the column of the texts; it and that of the names must be there, once."""
    if columns.text is None:
        raise source.fault(
            f"which column holds the texts? Give text_column (--text-column); {_listed(present)}",
            code="missing-setting",
        )
    for column in (columns.text, columns.name):
        if column is not None and column not in present:
            raise source.fault(
                f"there is no column {column!r}; {_listed(present)}", line, code="unknown-column"
            )
        if column is not None and present.count(column) > 1:
            raise source.fault(
                f"there are several columns {column!r}; rename all but one", line, code="duplicate-column"
            )
    return columns.text


def text_of(source: Source, value: object, column: str, line: int) -> str:
    """Return a value of the column of texts, which must be a text."""
    if not isinstance(value, str):
        raise source.fault(
            f'{column!r} is {_shown(value)}, not a text; give texts in quotes, "" where there is none',
            line,
            code="not-a-text",
        )
    _check_whole(source, value, column, line)
    return value


def name_of(source: Source, value: object, column: str, line: int) -> str:
    """Return a value of the column of names, which may be a number too."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise source.fault(
            f"{column!r} is {_shown(value)}; names are texts or whole numbers", line, code="not-a-name"
        )
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
            f"{column!r} has half a character, {half!r}, at position {error.start}; take it out",
            line,
            code="not-a-character",
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
