"""What is known of documents besides their words: columns of texts, numbers and dates, one value each.

A column has the kind that all its values have. Numbers may be written as text (``"2019"``, but not ``"007"``,
which is a name), dates as ISO 8601 writes them (``2019-04-30``, ``2019-04``, with a time of day or without)
or as quarters (``2019-Q2``). Years are numbers. Missing are None, NaN, blanks, and the texts NA, N/A, NaN and
null.

How documents are put into groups by a column is in ``groups``.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from difflib import get_close_matches
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from franchise.errors import CorpusError

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["text", "number", "date"]

# Columns of files are kept without being asked for if they are small, as `docs/how-to/formats.md` says.
LONGEST_VALUE = 200  # characters
MOST_CHARACTERS = 10_000_000  # of a column
MOST_COLUMNS = 50

_MISSING = frozenset(["", "na", "n/a", "nan", "null"])
_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)?(\.\d+)?([eE][+-]?\d+)?")
_DATE = re.compile(r"\d{4}-\d\d(-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?)?)?")
_QUARTER = re.compile(r"(\d{4})-?Q([1-4])")
_EXACT = 2.0**53  # beyond it not every whole number is a float; such are names of something anyway
_NOT_VALUES = (bytes, bytearray, list, tuple, dict, set, frozenset, np.ndarray)


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One value for each document.

    Attributes
    ----------
    name
        What it is called.
    kind
        ``"text"``, ``"number"`` or ``"date"``.
    values
        Numbers (float64, NaN where missing), dates (datetime64[s], NaT where missing), or, of texts, their
        places in `categories` (int32, -1 where missing).
    categories
        The different texts, in alphabetical order; none for numbers and dates.
    """

    name: str
    kind: Kind
    values: npt.NDArray[Any]
    categories: tuple[str, ...] = ()

    @property
    def missing(self) -> npt.NDArray[np.bool_]:
        """Whether each document's value is missing."""
        if self.kind == "text":
            return np.asarray(self.values < 0)
        return np.asarray(np.isnat(self.values) if self.kind == "date" else np.isnan(self.values))

    def select(self, documents: npt.NDArray[np.int64]) -> Column:
        """Keep the values of some documents, in this order."""
        return Column(self.name, self.kind, self.values[documents], self.categories)

    def as_list(self) -> list[Any]:
        """Return the values as plain Python has them: str, int, float, datetime, or None where missing."""
        if self.kind == "text":
            return [None if code < 0 else self.categories[code] for code in self.values.tolist()]
        values: list[Any] = self.values.tolist()
        if self.kind == "number":
            # Years should not be printed as 2019.0.
            return [None if x != x else int(x) if x.is_integer() else x for x in values]
        return values

    def in_words(self) -> str:
        """Say what it is, such as ``year (number, 12 values, 3 missing)``."""
        gaps = int(self.missing.sum())
        n_values = len(np.unique(self.values[~self.missing]))
        missing = f", {gaps:,} missing" if gaps else ""
        return f"{self.name} ({self.kind}, {n_values:,} value{'s' * (n_values != 1)}{missing})"


class Metadata(Mapping[str, Column]):
    """Columns of values, aligned with the documents of a corpus; immutable.

    Parameters
    ----------
    columns
        At least one, with different names, all of the same length.
    """

    def __init__(self, columns: Iterable[Column]) -> None:
        self._columns = {column.name: column for column in columns}

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return len(next(iter(self._columns.values())).values)

    def __getitem__(self, name: str) -> Column:
        """Return a column; if there is none with that name, the error names the nearest."""
        if name not in self._columns:
            raise CorpusError(
                f"there is no column {name!r} in the metadata; {nearest(name, self._columns)}",
                code="unknown-column",
            )
        return self._columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"Metadata({', '.join(column.in_words() for column in self.values())})"

    def select(self, documents: npt.NDArray[np.int64]) -> Metadata:
        """Keep the values of some documents, in this order."""
        return Metadata(column.select(documents) for column in self.values())

    def as_frame(self) -> pd.DataFrame:
        """Return a table with one row per document."""
        import pandas as pd

        return pd.DataFrame({name: _for_frame(column) for name, column in self.items()})


def _for_frame(column: Column) -> Any:
    if column.kind == "text":
        return np.array(column.as_list(), dtype=object)
    whole = column.kind == "number" and not np.any(column.values % 1)  # NaN is not zero
    return column.values.astype(np.int64) if whole else column.values.copy()


class ColumnBuilder:
    """Takes the values of a column one after the other; equal ones are kept once.

    Parameters
    ----------
    name
        What the column is called.
    n_before
        Number of documents that came before, without a value.
    """

    def __init__(self, name: str, n_before: int = 0) -> None:
        self.name = name
        self.n_characters = 0
        self._codes = array("i", [0]) * n_before
        self._numbers: dict[tuple[type, Any], int] = {(type(None), None): 0}

    def add(self, value: Any) -> None:
        """Add the value of the next document; refuse what is neither text nor number nor date."""
        if isinstance(value, _NOT_VALUES):
            raise CorpusError(
                f"{self.name!r} is {shortened(value)} ({type(value).__name__}) in document "
                f"{len(self._codes)}; metadata are texts, numbers and dates: leave the column out",
                code="wrong-type",
            )
        if isinstance(value, str):
            self.n_characters += len(value)
        key = (type(value), value)  # 1 and True are equal, and not the same
        self._codes.append(self._numbers.setdefault(key, len(self._numbers)))

    def build(self) -> Column:
        """Return the column, of the kind that all its values have."""
        codes = np.asarray(self._codes)
        given = [None if _is_missing(value) else value for _, value in self._numbers]
        numbers = [np.nan if value is None else _number(value) for value in given]
        if all(number is not None for number in numbers):
            return Column(self.name, "number", _frozen(np.array(numbers, float)[codes]))
        dates = [np.datetime64("NaT", "s") if value is None else _date(value) for value in given]
        if all(one is not None for one in dates):
            return Column(self.name, "date", _frozen(np.array(dates, "datetime64[s]")[codes]))
        texts = [None if value is None else str(value).strip() for value in given]
        categories = tuple(sorted({text for text in texts if text is not None}))
        rank = {text: i for i, text in enumerate(categories)} | {None: -1}
        places = np.array([rank[text] for text in texts], np.int32)
        return Column(self.name, "text", _frozen(places[codes]), categories)


def column_of(name: str, values: Iterable[Any]) -> Column:
    """Make a column of values of any kind.

    Examples
    --------
    >>> column_of("year", ["2019", "", "2020"]).as_list()
    [2019, None, 2020]
    """
    builder = ColumnBuilder(name)
    for value in values:
        builder.add(value)
    return builder.build()


def as_metadata(given: Any, n_documents: int) -> Metadata | None:
    """Return metadata from what people have: a DataFrame, a Series with a name, or a dict of columns.

    Raises
    ------
    CorpusError
        If it is none of these, or a column does not have one value per document.
    """
    if given is None or isinstance(given, Metadata):
        metadata = given
    else:
        metadata = Metadata(column_of(name, values) for name, values in _named_columns(given)) or None
    for column in (metadata or {}).values():
        check_length(f"metadata[{column.name!r}]", len(column.values), n_documents)
    return metadata


def _named_columns(given: Any) -> list[tuple[str, Iterable[Any]]]:
    if hasattr(given, "columns") and hasattr(given, "to_numpy"):  # a DataFrame of any library
        return [(str(label), given[label]) for label in given.columns]
    if isinstance(given, Mapping):
        return [(str(label), _values(str(label), values)) for label, values in given.items()]
    name = getattr(given, "name", None)
    if hasattr(given, "to_numpy") and name is not None:
        return [(str(name), given)]
    raise CorpusError(
        f"metadata is {shortened(given)} ({type(given).__name__}); give a DataFrame, a Series with a name, "
        "or a dict of columns, with one value per document",
        code="wrong-type",
    )


def _values(name: str, values: Any) -> Iterable[Any]:
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise CorpusError(
            f"metadata[{name!r}] is {shortened(values)}; give one value per document", code="wrong-type"
        )
    return list(values)


def check_length(what: str, n_values: int, n_documents: int) -> None:
    """Refuse columns that do not have one value per document."""
    if n_values != n_documents:
        raise CorpusError(
            f"{what} has {n_values:,} values for {n_documents:,} documents; give one each",
            code="wrong-length",
        )


def check_same_order(documents: Any, metadata: Any) -> None:
    """Refuse a table whose rows have the labels of the documents in another order: values go by position."""
    ours, theirs = getattr(documents, "index", None), getattr(metadata, "index", None)
    if ours is None or theirs is None or callable(ours) or callable(theirs) or len(ours) != len(theirs):
        return
    if list(ours) != list(theirs) and set(ours) == set(theirs):
        raise CorpusError(
            "the rows of metadata are in another order than the documents; give metadata.loc[texts.index]",
            code="wrong-order",
        )


def nearest(name: str, known: Iterable[str]) -> str:
    """Say which known name was probably meant, or all of them."""
    known = list(known)
    lower = {one.lower(): one for one in known}
    near = get_close_matches(name.lower(), lower, n=1)
    if near:
        return f"did you mean {lower[near[0]]!r}?"
    more = f" and {len(known) - 20:,} more" if len(known) > 20 else ""
    return f"there are {', '.join(repr(one[:80]) for one in known[:20])}{more}"


# ---------------------------------------------------------------- values


def _is_missing(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().lower() in _MISSING
    # pandas' NA refuses to be compared; NaN and NaT do not equal themselves.
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def _number(value: Any) -> float | None:
    """Return a value as a number, None if it is none."""
    if isinstance(value, str):
        text = value.strip()
        if not _NUMBER.fullmatch(text) or not any(letter.isdigit() for letter in text.lower().split("e")[0]):
            return None
    elif isinstance(value, bool | np.bool_ | date | np.datetime64):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if abs(number) <= _EXACT else None


def _date(value: Any) -> np.datetime64 | None:
    """Return a value as a date, with the time of day if it has one; None if it is none."""
    try:
        if isinstance(value, str):
            value = _parsed(value.strip())
        if isinstance(value, datetime):
            return _seconds(value)
        if isinstance(value, date | np.datetime64):
            seconds: np.datetime64 = np.array([value], "datetime64[s]")[0]
            return seconds
        if type(value).__name__ == "Period":  # pandas'
            return _seconds(_parsed(str(value)))
    except (ValueError, OverflowError):
        pass
    return None


def _parsed(text: str) -> datetime:
    if quarter := _QUARTER.fullmatch(text):
        return datetime(int(quarter[1]), 3 * int(quarter[2]) - 2, 1)
    if not _DATE.fullmatch(text):
        raise ValueError
    return datetime.fromisoformat(text if len(text) > 7 else f"{text}-01")


def _seconds(moment: datetime) -> np.datetime64:
    # The day as it is written: in another time zone it could be the day before, and another year.
    return np.datetime64(moment.replace(microsecond=0, tzinfo=None), "s")


def _frozen(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    values.flags.writeable = False
    return values
