"""The columns of tables: the column of texts, the column of names, and columns of metadata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from franchise.corpus.files import Source
from franchise.corpus.metadata import (
    LONGEST_VALUE,
    MOST_CHARACTERS,
    MOST_COLUMNS,
    NOT_VALUES,
    column_of,
    nearest,
    not_a_value,
    table_of,
)
from franchise.errors import CorpusError

if TYPE_CHECKING:
    import pandas as pd

# The text of a document, and its name if the file has one. Parquet may have lists of words instead of texts.
Rows = Iterator[tuple[Any, str | None]]


class Columns:
    """The columns of texts, names and metadata. Metadata are collected while texts are read.

    If no metadata columns are named (None), all small columns are kept.
    """

    def __init__(
        self, text: str | None = None, name: str | None = None, metadata: Sequence[str] | None = ()
    ) -> None:
        self.text = text
        self.name = name
        self._wanted = metadata
        self._values: dict[str, list[Any]] = {name: [] for name in metadata or ()}
        self._seen: dict[str, None] = {}
        self._n_characters = Counter[str]()
        self._equal: dict[str, str] = {}  # to store equal texts once
        self._n_documents = 0

    def check(self, source: Source, present: Sequence[str], line: int | None) -> str:
        """Return the column of the texts; refuse missing or repeated columns of texts or names."""
        if self.text is None:
            raise source.fault(
                f"which column holds the texts? Give text_column (--text-column); {listed(present)}",
                code="missing-setting",
            )
        for column in (self.text, self.name):
            if column is not None and column not in present:
                raise source.fault(
                    f"there is no column {column!r}; {listed(present)}", line, code="unknown-column"
                )
            _check_once(source, column, present, line)
        return self.text

    def of_table(self, source: Source, present: Sequence[str], line: int | None) -> list[str]:
        """Return the metadata columns of a table; refuse requested columns that are missing or repeated."""
        for column in self._wanted or ():
            if column not in present:
                raise source.fault(
                    f"there is no column {column!r}; {nearest(column, present)}", line, code="unknown-column"
                )
            _check_once(source, column, present, line)
        return self.among(present)

    def among(self, present: Sequence[str]) -> list[str]:
        """Return the columns to collect, without repeated ones."""
        if self._wanted is not None:
            return list(self._wanted)
        times = Counter(present)
        return [name for name in present if name not in (self.text, self.name) and times[name] == 1]

    @property
    def asked(self) -> list[str]:
        """The columns requested by name."""
        return [name for name in (self.text, self.name, *(self._wanted or ())) if name is not None]

    @property
    def takes_all(self) -> bool:
        """Whether all small columns are kept."""
        return self._wanted is None

    def add(self, source: Source, values: Mapping[str, Any], line: int) -> None:
        """Add the metadata of the next document; values of absent columns are missing."""
        for name in values:
            if name not in self._seen:
                self._seen[name] = None
                if self._wanted is None:
                    self._values[name] = [None] * self._n_documents
        if self._wanted is None and len(self._seen) > MOST_COLUMNS:
            self._values.clear()
        for name in list(self._values):
            value = values.get(name)
            if isinstance(value, NOT_VALUES) and self._wanted is not None:
                raise source.fault(not_a_value(name, value), line, code="wrong-type")
            if isinstance(value, NOT_VALUES) or not self._has_room(name, value):
                del self._values[name]
                continue
            self._values[name].append(
                self._equal.setdefault(value, value) if isinstance(value, str) else value
            )
        self._n_documents += 1

    def _has_room(self, name: str, value: Any) -> bool:
        if self._wanted is not None or not isinstance(value, str):
            return True
        self._n_characters[name] += len(value)
        return len(value) <= LONGEST_VALUE and self._n_characters[name] <= MOST_CHARACTERS

    def gathered(self, name: str) -> pd.DataFrame | None:
        """Return the metadata of all documents of the file `name`."""
        for wanted in self._wanted or ():
            if self._n_documents and wanted not in self._seen:
                raise CorpusError(
                    f"{name}: there is no column {wanted!r}; {nearest(wanted, self._seen)}",
                    code="unknown-column",
                )
        return table_of({name: column_of(name, values) for name, values in self._values.items()})

    def text_in(self, source: Source, value: object, line: int) -> str:
        """Return a value of the column of texts; refuse other types."""
        if not isinstance(value, str):
            raise source.fault(
                f'{self.text!r} is {_shown(value)}, not a text; give texts in quotes, and "" for no text',
                line,
                code="not-a-text",
            )
        return _whole(source, value, self.text, line)

    def name_in(self, source: Source, value: object, line: int) -> str:
        """Return a value of the column of names, a text or a whole number."""
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise source.fault(
                f"{self.name!r} is {_shown(value)}; names are texts or whole numbers", line, code="not-a-name"
            )
        return _whole(source, str(value), self.name, line)


def _check_once(source: Source, column: str | None, present: Sequence[str], line: int | None) -> None:
    if column is not None and present.count(column) > 1:
        raise source.fault(
            f"several columns are named {column!r}; rename all but one", line, code="duplicate-column"
        )


def _whole(source: Source, text: str, column: str | None, line: int) -> str:
    # JSON can hold half of a surrogate pair, which cannot be saved in UTF-8: refuse it now, not later.
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        half = text[error.start]
        raise source.fault(
            f"{column!r} has half a character, {half!r}, at position {error.start}; remove it",
            line,
            code="not-a-character",
        ) from None
    return text


def listed(present: Sequence[str]) -> str:
    """List the columns of a table, at most twenty."""
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
