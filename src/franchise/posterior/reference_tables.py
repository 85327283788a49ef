"""Reference topics from tables: arrays, DataFrames, CSV and TSV files, topics by terms or terms by topics.

A table says by the names of its columns and rows which way it lies: those that the model knows as terms are
the terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.errors import SettingsError
from franchise.posterior.reference_topics import ReferenceTopics

if TYPE_CHECKING:
    import pandas as pd

_GIVE = "give topics by terms: a DataFrame, an array with terms=, a CSV or TSV file, or a model"
_SEPARATORS = ",\t;"


def from_file(path: Path, vocabulary: Sequence[str]) -> ReferenceTopics:
    """Read the topics of a CSV or TSV file: a line of names, then rows of a name and numbers.

    Raises
    ------
    SettingsError
        If there is no such file, or no table in it.
    """
    import pandas as pd

    if not path.is_file():
        raise SettingsError(
            f"{path}: there is no such file; give a CSV or TSV of topics by terms, or the folder of a model",
            code="no-such-file",
        )
    try:
        with path.open(encoding="utf-8-sig") as file:
            header = file.readline()
        separator = max(_SEPARATORS, key=header.count)
        frame = pd.read_csv(path, sep=separator, encoding="utf-8-sig", keep_default_na=False, na_values=[""])
    except (OSError, UnicodeDecodeError, ValueError) as error:  # pandas' errors of parsing are ValueErrors
        reason = str(error).strip().replace("\n", " ")
        raise SettingsError(
            f"{path}: it cannot be read as a table ({reason}); give a CSV or TSV of topics by terms",
            code="unreadable-reference",
        ) from None
    first = frame.columns[0]
    if not (_is_numeric(frame[first]) and first in vocabulary):
        frame = frame.set_index(first)
    return from_frame(frame, vocabulary, str(path))


def from_frame(frame: pd.DataFrame, vocabulary: Sequence[str], where: str) -> ReferenceTopics:
    """Return the topics of a table whose rows or columns are terms.

    The rows have the names of the index. Where a column of texts has more terms of the model, or the index
    only numbers the rows, that column names them. Other columns of texts are left out.
    """
    import pandas as pd

    known = set(vocabulary)
    if not frame.columns.is_unique:
        twice = str(frame.columns[frame.columns.duplicated()][0])
        raise SettingsError(
            f"{where}: the column {twice!r} is there twice; give each once", code="duplicate-term"
        )
    texts = [name for name in frame.columns if not _is_numeric(frame[name])]
    numbers = frame.drop(columns=texts)
    rows = [list(map(str, frame[name])) for name in texts]
    rows.insert(len(rows) if isinstance(frame.index, pd.RangeIndex) else 0, list(map(str, frame.index)))
    index = max(rows, key=lambda names: sum(name in known for name in names))
    if numbers.empty:
        raise SettingsError(f"{where}: there are no columns of numbers; {_GIVE}", code="not-a-number")
    columns = list(map(str, numbers.columns))
    in_columns, in_rows = (sum(name in known for name in names) for names in (columns, index))
    if not in_columns and not in_rows:
        raise SettingsError(
            f"{where}: neither its columns ({_some(columns)}) nor its rows ({_some(index)}) have the names "
            f"of terms of the model, such as {_some(vocabulary)}",
            code="no-common-terms",
        )
    table = numbers.to_numpy(float)
    if in_rows > in_columns:
        return from_array(table.T, index, columns, where)
    return from_array(table, columns, index, where)


def from_array(
    table: Any, terms: Sequence[str], names: Sequence[str] | None = None, where: str = "reference"
) -> ReferenceTopics:
    """Return the topics of an array, topics by terms."""
    try:
        phi = np.array(table, float)
    except (TypeError, ValueError):
        raise SettingsError(
            f"{where}: the table does not hold numbers; {_GIVE}", code="not-a-number"
        ) from None
    if phi.ndim != 2 or not phi.size:
        raise SettingsError(f"{where}: the topics have shape {phi.shape}; {_GIVE}", code="wrong-shape")
    if phi.shape[1] != len(terms):
        raise SettingsError(
            f"{where}: the topics have {phi.shape[1]:,} columns for {len(terms):,} terms; give one column "
            "per term, and terms= if they are not those of the model in its order",
            code="wrong-shape",
        )
    if not np.isfinite(phi).all() or (phi < 0).any():
        raise SettingsError(
            f"{where}: the topics have empty cells or numbers below 0; {_GIVE}", code="out-of-range"
        )
    if len(set(terms)) < len(terms):
        raise SettingsError(
            f"{where}: the term {_first_twice(terms)!r} is there twice; give each term once",
            code="duplicate-term",
        )
    names = [f"reference {r}" for r in range(len(phi))] if names is None else list(map(str, names))
    if len(names) != len(phi):
        raise SettingsError(f"names: {len(names)} names for {len(phi)} topics", code="wrong-length")
    totals = phi.sum(axis=1, keepdims=True)
    if not totals.all():
        raise SettingsError(
            f"{where}: {names[int(np.argmin(totals))]!r} has no terms, all are 0; leave it out",
            code="empty-topic",
        )
    return ReferenceTopics(tuple(names), tuple(map(str, terms)), phi / totals)


def check_common(reference: ReferenceTopics, vocabulary: Sequence[str], where: str) -> None:
    """Refuse topics that have no term of the model."""
    if not set(reference.terms) & set(vocabulary):
        raise SettingsError(
            f"{where}: it has none of the terms of the model, such as {_some(vocabulary)}; its terms are "
            f"{_some(reference.terms)}",
            code="no-common-terms",
        )


def _is_numeric(column: pd.Series) -> bool:
    return column.dtype.kind in "iuf"


def _first_twice(terms: Sequence[str]) -> str:
    seen: set[str] = set()
    return next(term for term in terms if term in seen or seen.add(term))  # type: ignore[func-returns-value]


def _some(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names[:3])
