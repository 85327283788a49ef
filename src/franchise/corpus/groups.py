"""Groups of documents by metadata: one group per text, number or span of time.

Documents without a value form the last group.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from franchise._settings import is_one_of
from franchise.corpus.corpus import Corpus
from franchise.corpus.metadata import Kind, check_length, column_of, kind_of, nearest
from franchise.errors import CorpusError, SettingsError

if TYPE_CHECKING:
    import pandas as pd

#: The group of documents without a value.
MISSING = "(missing)"
MOST_GROUPS = 200
# Without a step, dates get the finest step with at most this many groups, which a line chart can still show.
_MOST_OF_DATES = 60

_STEPS = ("day", "week", "month", "quarter", "year", "decade")


class Groups(NamedTuple):
    """The groups of documents.

    Labels are numbers (with a step, the lower bound of the group), dates as text (``"2019-04"``; years are
    numbers), or texts, in order; `MISSING` comes last.
    """

    name: str  # the name of the column
    kind: Kind  # "number" and "date" have a meaningful order, "text" has none
    labels: list[Any]  # of the groups
    of: npt.NDArray[np.int64]  # the group of each document, its place in `labels`; -1 if it has none


def groups_of(corpus: Corpus, by: Any, step: str | float | None = None) -> Groups:
    """Put documents into groups.

    Parameters
    ----------
    corpus
        The documents.
    by
        The name of a column of metadata, or a list, array or Series with one value per document. Values are
        texts, numbers or dates, read as described in `franchise.corpus.metadata`.
    step
        The span of one group. For dates: ``"day"``, ``"week"``, ``"month"``, ``"quarter"``, ``"year"`` or
        ``"decade"``; the default is the shortest with at most 60 groups. For numbers: a number, such as 10
        for years 1990 to 1999, 2000 to 2009 and so on; by default, each number is a group.

    Raises
    ------
    CorpusError, SettingsError
        If there is no such column, the number of values is not the number of documents, the step does not
        suit the values, or there are more than 200 groups.
    """
    return group(_column(corpus, by), step)


def groupings_of(corpus: Corpus, by: Any, step: Any = None) -> list[Groups]:
    """Put documents into groups by one column, or by each of two columns.

    Parameters
    ----------
    corpus
        The documents.
    by
        As for `groups_of`, or a list of two names of columns.
    step
        As for `groups_of`. For two columns, a list of two steps, with None for no step; or one step, for the
        column that does not hold texts.
    """
    columns = _columns(corpus, by)
    return [group(column, one) for column, one in zip(columns, _steps_of(columns, step), strict=True)]


def crossed(first: Groups, second: Groups) -> Groups:
    """Return one group per pair of groups that share documents; its label is the pair of their labels."""
    n = len(second.labels)
    pair = np.where((first.of < 0) | (second.of < 0), -1, first.of * n + second.of)
    present = np.unique(pair[pair >= 0])
    name = f"{first.name}, {second.name}"
    if len(present) > MOST_GROUPS:
        raise CorpusError(
            f"{name!r} puts the documents into {len(present):,} groups, more than {MOST_GROUPS}; "
            "merge neighbours with a longer step (--step), or choose columns with fewer values",
            code="too-many-groups",
        )
    labels = [(first.labels[one // n], second.labels[one % n]) for one in present.tolist()]
    return Groups(name, "text", labels, np.where(pair < 0, -1, np.searchsorted(present, pair)))


def place_of(groups: Groups, label: Any) -> int:
    """Return the place of the group with this label, which may be given as text."""
    texts = [str(one) for one in groups.labels]
    if str(label) not in texts:
        raise SettingsError(
            f"of={label!r}: {groups.name!r} has no such group; {nearest(str(label), texts)}",
            code="unknown-group",
        )
    return texts.index(str(label))


def _columns(corpus: Corpus, by: Any) -> list[pd.Series]:
    if not isinstance(by, list | tuple) or not all(isinstance(one, str) for one in by):
        return [_column(corpus, by)]
    known = [] if corpus.metadata is None else list(corpus.metadata)
    if len(by) == corpus.n_documents and not all(one in known for one in by):
        return [_column(corpus, by)]  # values, one per document
    if len(by) > 2 and any(one in known for one in by):
        raise SettingsError(f"by={by!r}: give one column or two", code="too-many-columns")
    if len(by) > 2 or not by:
        return [_column(corpus, by)]
    if len(set(by)) < len(by):
        raise SettingsError(f"by={by!r}: give two different columns", code="too-many-columns")
    return [_column(corpus, one) for one in by]


def _steps_of(columns: list[pd.Series], step: Any) -> list[Any]:
    if isinstance(step, list | tuple):
        if len(step) != len(columns):
            raise SettingsError(
                f"step={step!r}: give one step for each column of by, None for no step", code="wrong-length"
            )
        return list(step)
    if step is None or len(columns) == 1:
        return [step] * len(columns)
    ordered = [kind_of(column) != "text" for column in columns]
    if sum(ordered) > 1:
        raise SettingsError(
            f"step={step!r}: both columns have steps; give a list of two, None for no step",
            code="wrong-length",
        )
    if not any(ordered):
        ordered[0] = True  # which then refuses the step
    return [step if has_step else None for has_step in ordered]


def _column(corpus: Corpus, by: Any) -> pd.Series:
    if isinstance(by, str):
        metadata = corpus.metadata
        if metadata is None:
            raise CorpusError(
                f"by={by!r}: the documents have no metadata; keep columns when you fit (metadata=..., "
                f"--metadata {by}), or pass an array with one value per document as by",
                code="no-metadata",
            )
        if by not in metadata:
            raise CorpusError(
                f"there is no column {by!r} in the metadata; {nearest(by, metadata)}", code="unknown-column"
            )
        return metadata[by]
    if not hasattr(by, "__iter__"):
        raise SettingsError(
            f"by={by!r}: give the name of a column, or one value per document", code="wrong-type"
        )
    name = getattr(by, "name", None)
    column = column_of("group" if name is None else str(name), by)
    check_length("by", len(column), corpus.n_documents)
    return column


def group(column: pd.Series, step: str | float | None = None) -> Groups:
    """Put documents into groups by the values of a column; ``step`` is as for :func:`groups_of`."""
    kind, name = kind_of(column), str(column.name)
    present = column[column.notna()]
    if kind == "text":
        if step is not None:
            raise SettingsError(
                f"step={step!r}: {name!r} holds texts, which have no steps; leave it out",
                code="does-not-apply",
            )
        values = present.cat.codes.to_numpy()
    elif kind == "number":
        values = _stepped(present.to_numpy(float), name, step)
    else:
        values = _periods(present, step)
    different, group_of = np.unique(values, return_inverse=True)
    if len(different) > MOST_GROUPS:
        raise CorpusError(_too_many(present, len(different), step), code="too-many-groups")
    labels: list[Any]
    if kind == "text":
        labels = [column.cat.categories[code] for code in different]
    elif kind == "number":
        labels = [int(x) if float(x).is_integer() else round(float(x), 12) for x in different]
    else:
        labels = [int(one) if one.isdigit() else str(one) for one in different]  # years are numbers
    of = np.full(len(column), len(labels), np.int64)
    of[column.notna()] = group_of
    return Groups(name, kind, labels + [MISSING] * (len(present) < len(column)), of)


def _stepped(values: npt.NDArray[np.float64], name: str, step: str | float | None) -> npt.NDArray[np.float64]:
    if step is None:
        return values
    try:
        width = float(step)
        if not 0 < width < math.inf:
            raise ValueError
    except (TypeError, ValueError):
        raise SettingsError(
            f"step={step!r}: {name!r} holds numbers; give how many one group spans, such as 10",
            code="not-a-positive-number",
        ) from None
    # Rounding corrects division errors first: 0.3 / 0.1 is slightly less than 3.
    quotients = values / width
    whole = np.rint(quotients)
    return np.where(np.isclose(quotients, whole, rtol=1e-12, atol=1e-9), whole, np.floor(quotients)) * width


def _periods(dates: pd.Series, step: str | float | None) -> npt.NDArray[Any]:
    """Return the label of the span of time of each date; labels sort like the dates."""
    if step is not None:
        if not is_one_of(step, _STEPS):
            raise SettingsError(
                f"step={step!r}: {str(dates.name)!r} holds dates; give one of {', '.join(_STEPS)}",
                code="unknown-choice",
            )
        return _period(dates, str(step))
    # Dates given as months must not look like days.
    finest = _STEPS.index("month") if (dates.dt.day == 1).all() else 0
    for one in _STEPS[finest:-1]:
        found = _period(dates, one)
        if len(np.unique(found)) <= _MOST_OF_DATES:
            break
    return found


def _period(dates: pd.Series, step: str) -> npt.NDArray[Any]:
    days: npt.NDArray[Any] = dates.to_numpy("datetime64[D]")
    if step == "week":  # which begins on Monday
        days = days - dates.dt.day_of_week.to_numpy().astype("timedelta64[D]")
        return days.astype(str)
    if step in ("day", "month", "year"):
        return days.astype(f"datetime64[{step[0].upper()}]").astype(str)
    if step == "decade":
        return np.array([f"{year - year % 10:04}" for year in dates.dt.year], dtype=str)
    return np.array([f"{y:04}-Q{q}" for y, q in zip(dates.dt.year, dates.dt.quarter)], dtype=str)


def _too_many(present: pd.Series, n_groups: int, step: str | float | None) -> str:
    kind = kind_of(present)
    said = f"{str(present.name)!r} puts the documents into {n_groups:,} groups, more than {MOST_GROUPS}"
    if kind == "date":
        return f"{said}; give a longer step than {step!r} (--step), such as 'month' or 'year'"
    if kind == "number":
        width = 10.0 ** math.ceil(math.log10((present.max() - present.min()) / 50))
        return f"{said}; merge neighbours with a step (--step), such as {width:g}"
    texts = list(present.cat.categories)
    kinds: list[str] = [kind_of(column_of("", [text])) for text in texts]
    for most, example in (("date", "dates are written 2019-04-30"), ("number", "numbers are written 1234.5")):
        if kinds.count(most) > 0.5 * len(kinds):
            odd = next(text for text, one in zip(texts, kinds) if one != most)
            return f"{said}: most of them are {most}s, but not {odd[:40]!r} ({example}); correct or clear it"
    return f"{said}; choose a column with fewer values, or pass an array of your own groups as by"
