"""Documents put into groups by what is known of them: a group for each text, number or span of time.

Documents whose value is missing are a group of their own, the last one.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from franchise._settings import is_one_of
from franchise.corpus.corpus import Corpus
from franchise.corpus.metadata import Column, Kind, check_length, column_of
from franchise.errors import CorpusError, SettingsError

#: The group of documents whose value is missing.
MISSING = "(missing)"
MOST_GROUPS = 200
# Without a step, dates get the finest that gives no more groups than this: a line of them can be read.
_MOST_OF_DATES = 60

_STEPS = ("day", "week", "month", "quarter", "year", "decade")
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_MONDAY = np.datetime64("1969-12-29", "D")


class Groups(NamedTuple):
    """Which documents belong together.

    Attributes
    ----------
    name
        What they are grouped by.
    kind
        What their values are: ``"number"`` and ``"date"`` have an order that means something, ``"text"`` has
        none.
    labels
        The groups in order: numbers (with a step, the smallest that may be in the group), dates as text
        (``"2019-04"``; years are numbers), or texts; `MISSING` comes last.
    of
        The group of each document, its place in `labels`.
    """

    name: str
    kind: Kind
    labels: list[Any]
    of: npt.NDArray[np.int64]


def groups_of(corpus: Corpus, by: Any, step: str | float | None = None) -> Groups:
    """Put documents into groups.

    Parameters
    ----------
    corpus
        The documents.
    by
        The name of a column of the corpus's metadata, or values of your own, one per document: a list, an
        array or a Series. Anything is read as `franchise.corpus.metadata` says: texts, numbers, dates.
    step
        How much one group spans. Of dates: ``"day"``, ``"week"``, ``"month"``, ``"quarter"``, ``"year"`` or
        ``"decade"``; by default the shortest that gives no more than 60 groups. Of numbers: a number, such
        as 10 for years 1990 to 1999, 2000 to 2009 and so on; by default each number is a group.

    Raises
    ------
    CorpusError, SettingsError
        If there is no such column, the values are not one per document, the step does not fit them, or there
        are more than 200 groups.
    """
    return group(_column(corpus, by), step)


def _column(corpus: Corpus, by: Any) -> Column:
    if isinstance(by, str):
        if corpus.metadata is None:
            raise CorpusError(
                f"by={by!r}: the documents have no metadata; keep columns when you fit (metadata=..., "
                f"--metadata {by}), or give by an array with one value per document",
                code="no-metadata",
            )
        return corpus.metadata[by]
    try:
        values = list(by)
    except TypeError:
        raise SettingsError(
            f"by={by!r}: give the name of a column, or one value per document", code="wrong-type"
        ) from None
    name = getattr(by, "name", None)
    check_length("by", len(values), corpus.n_documents)
    return column_of("group" if name is None else str(name), values)


def group(column: Column, step: str | float | None = None) -> Groups:
    """Put documents into groups by the values of a column; ``step`` is that of :func:`groups_of`."""
    present = ~column.missing
    if column.kind == "text":
        if step is not None:
            raise SettingsError(
                f"step={step!r}: {column.name!r} holds texts, which have no steps; leave it out",
                code="does-not-apply",
            )
        values: npt.NDArray[Any] = column.values[present]
    elif column.kind == "number":
        values = _stepped(column.values[present], column.name, step)
    else:
        values = _periods(column.values[present], column.name, step)
    different, of = np.unique(values, return_inverse=True)
    if len(different) > MOST_GROUPS:
        raise CorpusError(_too_many(column, len(different), step), code="too-many-groups")
    labels = _labels(column, different)
    places = np.full(len(present), len(labels), np.int64)
    places[present] = of
    return Groups(column.name, column.kind, labels + [MISSING] * bool(np.any(~present)), places)


def _labels(column: Column, different: npt.NDArray[Any]) -> list[Any]:
    if column.kind == "text":
        return [column.categories[code] for code in different]
    if column.kind == "number":
        return [int(x) if float(x).is_integer() else round(float(x), 12) for x in different]
    return [int(one) if one.isdigit() else str(one) for one in different]  # years are numbers


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
    # To the nearest first where division rounds: 0.3 / 0.1 is a little less than 3.
    quotients = values / width
    whole = np.rint(quotients)
    return np.where(np.isclose(quotients, whole, rtol=1e-12, atol=1e-9), whole, np.floor(quotients)) * width


def _periods(values: npt.NDArray[Any], name: str, step: str | float | None) -> npt.NDArray[Any]:
    """Return the labels of the spans of time that dates are in; they sort as the dates do."""
    if step is not None:
        if not is_one_of(step, _STEPS):
            raise SettingsError(
                f"step={step!r}: {name!r} holds dates; give one of {', '.join(_STEPS)}", code="unknown-choice"
            )
        return _period(values, str(step))
    days = values.astype("datetime64[D]")
    firsts = days == days.astype("datetime64[M]")
    finest = _STEPS.index("month") if firsts.all() else 0  # dates that were months should not look like days
    for one in _STEPS[finest:-1]:
        found = _period(values, one)
        if len(np.unique(found)) <= _MOST_OF_DATES:
            break
    return found


def _period(values: npt.NDArray[Any], step: str) -> npt.NDArray[Any]:
    days = values.astype("datetime64[D]")
    if step == "day":
        return days.astype(str)
    if step == "week":
        week = (days - _MONDAY).astype(np.int64) // 7
        return (_MONDAY + 7 * week).astype(str)
    months = days.astype("datetime64[M]").astype(np.int64)
    months -= months % _MONTHS[step]  # January 1970, month 0, begins a quarter, a year and a decade
    starts = months.astype("datetime64[M]")
    if step == "month":
        return starts.astype(str)
    years = starts.astype("datetime64[Y]").astype(str)
    if step == "quarter":
        quarters = (months % 12 // 3 + 1).astype(str)
        return np.char.add(np.char.add(years, "-Q"), quarters)
    return years


def _too_many(column: Column, n_groups: int, step: str | float | None) -> str:
    said = f"{column.name!r} puts the documents into {n_groups:,} groups, more than {MOST_GROUPS}"
    if column.kind == "date":
        return f"{said}; give a longer step than {step!r} (--step), such as 'month' or 'year'"
    if column.kind == "number":
        low, high = np.nanmin(column.values), np.nanmax(column.values)
        width = 10.0 ** math.ceil(math.log10((high - low) / 50))
        return f"{said}; put neighbours together with a step (--step), such as {width:g}"
    kinds: list[str] = [column_of("", [text]).kind for text in column.categories]
    for kind, example in (("date", "dates are written 2019-04-30"), ("number", "numbers are written 1234.5")):
        if kinds.count(kind) > 0.5 * len(kinds):
            odd = next(text for text, one in zip(column.categories, kinds) if one != kind)
            return f"{said}: most of them are {kind}s, but not {odd[:40]!r} ({example}); correct or clear it"
    return f"{said}; choose a column with fewer values, or give by an array of your own groups"
