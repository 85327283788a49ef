"""Metadata: a pandas DataFrame with one row per document.

The kind of a column is the kind of all its values. Numbers may be written as text (``"2019"``, but not
``"007"``, which is a name). Dates follow ISO 8601 (``2019-04-30``, ``2019-04``, with or without a time of
day) or are quarters (``2019-Q2``). Years are numbers. None, NaN, blanks, NA, N/A and null are missing values.

Numbers are int64 if all are whole and none is missing, else float64. Dates are datetime64[s], texts are
categories. A categorical column holds texts and keeps their order. Groups of documents are in ``groups``.
pandas is imported only when a table is made, because most commands need none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from difflib import get_close_matches
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from franchise._arrays import Array
from franchise._files import Facts
from franchise.corpus.large_arrays import packed, unpacked
from franchise.errors import CorpusError

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["text", "number", "date"]

NOT_VALUES = (bytes, bytearray, list, tuple, dict, set, frozenset, np.ndarray)

# Small columns of files are kept by default (`docs/how-to/formats.md`).
LONGEST_VALUE = 200  # characters
MOST_CHARACTERS = 10_000_000  # per column
MOST_COLUMNS = 50

_MISSING = frozenset(["", "na", "n/a", "nan", "null"])
_MISSING_OBJECTS = _MISSING | {"none", "nat", "<na>"}  # None, NaT, NA as str() writes them
_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*|(?=\.))(\.\d+)?([eE][+-]?\d+)?")
_DATE = re.compile(r"\d{4}-\d\d(-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?)?)?")
_QUARTER = re.compile(r"(\d{4})-?Q([1-4])")
_EXACT = 2.0**53  # floats cannot hold all larger whole numbers, which are probably names


def column_of(name: str, values: Iterable[Any]) -> pd.Series:
    """Make a column from values of any kind.

    Examples
    --------
    >>> column_of("year", ["2019", "", "2020"]).tolist()
    [2019.0, nan, 2020.0]
    """
    import pandas as pd

    if isinstance(getattr(values, "dtype", None), pd.CategoricalDtype):
        given = pd.Categorical(values)
        categories = pd.Index([str(one) for one in given.categories], dtype=object)
        return pd.Series(pd.Categorical.from_codes(given.codes, categories), name=name)
    kind = getattr(np.asarray(values), "dtype", np.dtype(object)).kind if hasattr(values, "dtype") else "O"
    if kind == "M":
        return pd.Series(np.asarray(values).astype("datetime64[s]"), name=name)
    if kind in "iuf" and not np.any(np.abs(np.asarray(values, float)) > _EXACT):
        return _numbers(name, values)
    texts = [_text(name, value, j) for j, value in enumerate(values)]
    different = {text for text in texts if text is not None}
    if all(_NUMBER.fullmatch(text) and abs(float(text)) <= _EXACT for text in different):
        return _numbers(name, [np.nan if text is None else float(text) for text in texts])
    dates = {text: _date(text) for text in different}
    if None not in dates.values():
        moments = [None if text is None else dates[text] for text in texts]
        return pd.Series(np.array(moments, "datetime64[s]"), name=name)
    categories = pd.Index(sorted(different), dtype=object)  # pandas strings cannot hold half characters
    return pd.Series(pd.Categorical(texts, categories), name=name)


def table_of(columns: Mapping[str, Any]) -> pd.DataFrame | None:
    """Return columns as a table; None if there are none."""
    import pandas as pd

    return pd.DataFrame(columns, columns=pd.Index(list(columns), dtype=object)) if columns else None


def kind_of(column: pd.Series) -> Kind:
    """Return the kind of the values of a column."""
    kinds: dict[str, Kind] = {"M": "date", "O": "text"}
    return kinds.get(column.dtype.kind, "number")


def plain_values(column: pd.Series) -> list[Any]:
    """Return the values as str, int, float, datetime, or None where missing."""
    dates = kind_of(column) == "date"
    values = column.to_numpy("datetime64[s]").tolist() if dates else column.tolist()
    # Years must not be printed as 2019.0.
    return [
        None if x is None or x != x else int(x) if isinstance(x, float) and x.is_integer() else x
        for x in values
    ]


def described(column: pd.Series) -> str:
    """Describe a column, such as ``year (number, 12 values, 3 missing)``."""
    n_values, gaps = column.nunique(), int(column.isna().sum())
    missing = f", {gaps:,} missing" if gaps else ""
    return f"{column.name} ({kind_of(column)}, {n_values:,} value{'s' * (n_values != 1)}{missing})"


def rows_of(metadata: pd.DataFrame | None, documents: Any) -> pd.DataFrame | None:
    """Return the rows of some documents (numbers or a slice), in the given order."""
    return None if metadata is None else metadata.iloc[documents].reset_index(drop=True)


def as_metadata(given: Any, n_documents: int) -> pd.DataFrame | None:
    """Return metadata from a DataFrame, a Series with a name, or a dict of columns."""
    if given is None:
        return None
    name = getattr(given, "name", None)
    if hasattr(given, "columns") and hasattr(given, "to_numpy"):  # a DataFrame of any library
        named = {label: given[label] for label in given.columns}
    elif isinstance(given, Mapping):
        named = dict(given)
    elif hasattr(given, "to_numpy") and name is not None:
        named = {name: given}
    else:
        raise CorpusError(
            f"metadata is {shortened(given)} ({type(given).__name__}); give a DataFrame, a Series with a "
            "name, or a dict of columns, with one value per document",
            code="wrong-type",
        )
    columns = {}
    for name, values in named.items():
        if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
            message = f"metadata[{name!r}] is {shortened(values)}; give one value per document"
            raise CorpusError(message, code="wrong-type")
        columns[str(name)] = column_of(str(name), values)
        check_length(f"metadata[{str(name)!r}]", len(columns[str(name)]), n_documents)
    return table_of(columns)


def check_length(what: str, n_values: int, n_documents: int) -> None:
    """Refuse columns that do not have one value per document."""
    if n_values != n_documents:
        raise CorpusError(
            f"{what} has {n_values:,} values for {n_documents:,} documents; give one per document",
            code="wrong-length",
        )


def check_same_order(documents: Any, metadata: Any) -> None:
    """Refuse a table with the labels of the documents in another order, because rows match by position."""
    ours, theirs = getattr(documents, "index", None), getattr(metadata, "index", None)
    if ours is None or theirs is None or callable(ours) or callable(theirs) or len(ours) != len(theirs):
        return
    if list(ours) != list(theirs) and set(ours) == set(theirs):
        raise CorpusError(
            "the rows of metadata are in another order than the documents; give metadata.loc[texts.index]",
            code="wrong-order",
        )


def nearest(name: str, known: Iterable[str]) -> str:
    """Suggest the known name that was probably meant, or list all of them."""
    known = list(known)
    lower = {one.lower(): one for one in known}
    near = get_close_matches(name.lower(), lower, n=1)
    if near:
        return f"did you mean {lower[near[0]]!r}?"
    more = f" and {len(known) - 20:,} more" if len(known) > 20 else ""
    return f"there are {', '.join(repr(one[:80]) for one in known[:20])}{more}"


def small_columns(columns: Mapping[str, Iterable[Any]]) -> dict[str, Any]:
    """Return the columns to keep by default, or none if there are too many."""
    kept = {name: values for name, values in columns.items() if _is_small(values)}
    return kept if len(kept) <= MOST_COLUMNS else {}


def _is_small(values: Iterable[Any]) -> bool:
    dtype = getattr(values, "dtype", None)
    if getattr(dtype, "kind", "O") in "iufbM":
        return True
    if any(isinstance(value, NOT_VALUES) for value in values):
        return False
    lengths = [len(value) for value in values if isinstance(value, str)]
    return max(lengths, default=0) <= LONGEST_VALUE and sum(lengths) <= MOST_CHARACTERS


# ---------------------------------------------------------------- values


def not_a_value(name: str, value: Any) -> str:
    """Return the message for a value that is neither text nor number nor date."""
    return (
        f"{name!r} is {shortened(value)} ({type(value).__name__}); metadata are texts, numbers and dates: "
        "leave the column out"
    )


def _text(name: str, value: Any, j: int) -> str | None:
    """Return a value as text, or None if it is missing."""
    if isinstance(value, NOT_VALUES):
        raise CorpusError(f"document {j}: {not_a_value(name, value)}", code="wrong-type")
    text = str(value).strip()
    return None if text.lower() in (_MISSING if isinstance(value, str) else _MISSING_OBJECTS) else text


def _numbers(name: str, values: Any) -> pd.Series:
    import pandas as pd

    numbers = np.asarray(values, float)
    whole = not np.any(numbers % 1)  # NaN is not zero
    return pd.Series(numbers.astype(np.int64) if whole else numbers.copy(), name=name)


def _date(text: str) -> np.datetime64 | None:
    """Return a date as written, without changing the time zone, which could change the day or year."""
    try:
        if quarter := _QUARTER.fullmatch(text):
            moment = datetime(int(quarter[1]), 3 * int(quarter[2]) - 2, 1)
        elif _DATE.fullmatch(text):
            moment = datetime.fromisoformat(text if len(text) > 7 else f"{text}-01")
        else:
            return None
    except ValueError:
        return None
    return np.datetime64(moment.replace(microsecond=0, tzinfo=None), "s")


# ---------------------------------------------------------------- tables of shards


def settle(kinds: dict[str, set[Kind]] | None, metadata: pd.DataFrame | None) -> dict[str, set[Kind]]:
    """Add the kinds of the columns of another table; drop columns that some table lacks."""
    own: dict[str, set[Kind]] = {}
    for name, column in () if metadata is None else metadata.items():
        own[str(name)] = set() if column.isna().all() else {kind_of(column)}
    before = own if kinds is None else kinds
    return {name: before[name] | own[name] for name in before if name in own}


def settled(kinds: dict[str, set[Kind]] | None) -> list[Facts]:
    """Return the name and kind of each column; if its kind differs between tables, it becomes text."""
    return [
        {"name": name, "kind": "text" if len(found) > 1 else next(iter(found), "number")}
        for name, found in (kinds or {}).items()
    ]


def joined(tables: Iterable[pd.DataFrame], columns: Sequence[Facts]) -> pd.DataFrame | None:
    """Join tables; the columns get these names and kinds."""
    import pandas as pd

    if not columns:
        return None
    tables, together = list(tables), dict[str, Any]()
    for name, kind in ((one["name"], one["kind"]) for one in columns):
        parts = [_in_kind(table[name], kind) for table in tables]
        if kind == "text":
            found = sorted(set().union(*(part.cat.categories for part in parts)))
            values = np.concatenate([part.to_numpy(object) for part in parts])
            together[name] = pd.Categorical(values, pd.Index(found, dtype=object))
        elif kind == "date":
            together[name] = np.concatenate(parts)
        else:
            together[name] = _numbers(name, np.concatenate(parts))
    return table_of(together)


def _in_kind(column: pd.Series, kind: Kind) -> pd.Series:
    import pandas as pd

    if kind == kind_of(column):
        return column.cat.remove_unused_categories() if kind == "text" else column
    if kind == "text":
        # A day without a time stays a day.
        values = [None if x is None else str(x).removesuffix(" 00:00:00") for x in plain_values(column)]
        categories = pd.Index(sorted({text for text in values if text is not None}), dtype=object)
        return pd.Series(pd.Categorical(values, categories), name=column.name)
    nothing = np.datetime64("NaT", "s") if kind == "date" else np.nan  # the column has no value at all
    return pd.Series(np.full(len(column), nothing), name=column.name)


# ---------------------------------------------------------------- tables in files


def packed_metadata(metadata: pd.DataFrame) -> tuple[dict[str, Array], list[Facts]]:
    """Return the columns as arrays, and the name and kind of each."""
    arrays: dict[str, Array] = {}
    columns: list[Facts] = []
    for i, (name, column) in enumerate(metadata.items()):
        kind, categories = kind_of(column), list[str]()
        if kind == "text":
            values, categories = column.cat.codes.to_numpy(np.int32), list(column.cat.categories)
        else:
            values = column.to_numpy(np.int64 if kind == "date" else np.float64)
        arrays |= {f"metadata.{i}": values} | packed(f"metadata.{i}.texts", categories)
        columns.append({"name": str(name), "kind": kind})
    return arrays, columns


def unpacked_metadata(arrays: dict[str, Array], columns: Sequence[Facts] | None) -> pd.DataFrame | None:
    """Return the table from the arrays of `packed_metadata`."""
    return table_of({one["name"]: _unpacked(arrays, i, **one) for i, one in enumerate(columns or ())})


def _unpacked(arrays: dict[str, Array], i: int, name: str, kind: Kind) -> Any:
    import pandas as pd

    values = arrays[f"metadata.{i}"]
    if kind == "number":
        return _numbers(name, values)
    if kind == "date":
        return values.astype("datetime64[s]")
    return pd.Categorical.from_codes(values, pd.Index(unpacked(f"metadata.{i}.texts", arrays), dtype=object))
