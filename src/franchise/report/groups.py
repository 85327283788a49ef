"""Topics by what is known of the documents: a year, a category, an author.

A page has limited room for numbers. Columns are added in their order while there is room. Columns in which
nearly every document has its own value, such as titles, say nothing about groups and are left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from franchise._text import printable, shortened
from franchise.corpus import Corpus
from franchise.corpus.groups import MISSING, Groups, group
from franchise.corpus.metadata import kind_of, plain_values
from franchise.posterior.estimates import Posterior
from franchise.posterior.prevalence import REPLICATES, prevalence

MOST_NUMBERS = 400_000  # of all columns together
_MOST_WORK = 40_000_000  # resampled documents: about 20 seconds for any collection
_FEWEST_REPLICATES = 200
MOST_GROUPS = 60  # of a column of numbers: more are put together
_MOST_CATEGORIES = 200
_OWN_VALUES = 0.5  # of the documents: with more different values, nearly every document has its own
_FULL = 5  # documents in a group of numbers, about, where they are put together
_LONGEST_FACT = 120  # characters of a value beside a document


class Grouping(NamedTuple):
    """A column by which documents are grouped, and how much one group spans (None: one value)."""

    groups: Groups
    step: float | None


def usable_groupings(corpus: Corpus, n_topics: int) -> tuple[list[Grouping], list[str]]:
    """Return the columns that the page shows topics by, and the names of those that it leaves out."""
    found, left_out, room = list[Grouping](), list[str](), MOST_NUMBERS
    for name, column in () if corpus.metadata is None else corpus.metadata.items():
        one = _grouping(column)
        needed = 3 * n_topics * len(one.groups.labels) if one else 0
        if one is None or needed > room:
            left_out.append(name)
            continue
        room -= needed
        found.append(one)
    return found, left_out


def _grouping(column: pd.Series) -> Grouping | None:
    present, kind = column.dropna(), kind_of(column)
    different = present.nunique()
    if different < 2:
        return None
    most = max(2.0, _OWN_VALUES * len(present))
    if kind == "text":
        return None if different > min(_MOST_CATEGORIES, most) else Grouping(group(column), None)
    if kind == "date":
        return Grouping(_spans(column, most), None)
    step = None
    if different > min(MOST_GROUPS, most):
        n_groups = min(MOST_GROUPS // 2, max(2, len(present) // _FULL))
        step = round_step(float(present.min()), float(present.max()), n_groups)
    return Grouping(group(column, step), step)


def _spans(column: pd.Series, most: float) -> Groups:
    """Group dates by the shortest spans that most groups have several documents of."""
    for step in (None, "week", "month", "quarter", "year"):
        found = group(column, step)
        if len(found.labels) <= most:
            break
    return found


def round_step(low: float, high: float, n_groups: int) -> float:
    """Return a step of 1, 2 or 5 times a power of ten that divides a range into at most `n_groups` groups.

    Examples
    --------
    >>> round_step(1850, 2020, 30), round_step(0, 1, 30)
    (10.0, 0.05)
    """
    at_least = (high - low) / n_groups
    power = 10.0 ** math.floor(math.log10(at_least))
    return float(next(m * power for m in (1, 2, 5, 10) if m * power >= at_least * (1 - 1e-9)))


def describe_groups(posterior: Posterior, groupings: Sequence[Grouping]) -> list[dict[str, Any]]:
    """Return, for each column, its groups and the share of each topic in them, with bounds.

    `share`, `low` and `high` are lists by topic of lists by group; no number where a group has no words.
    """
    work = posterior.corpus.n_documents * max(1, len(groupings))
    replicates = min(REPLICATES, max(_FEWEST_REPLICATES, _MOST_WORK // max(1, work)))
    return [_described(posterior, one, replicates) for one in groupings]


def _described(posterior: Posterior, grouping: Grouping, replicates: int) -> dict[str, Any]:
    groups = grouping.groups
    frame = prevalence(posterior, groups, replicates=replicates)
    n_topics, n_groups = posterior.n_topics, len(groups.labels)
    place = {printable(one) if isinstance(one, str) else one: i for i, one in enumerate(groups.labels)}
    rows = frame.iloc[: len(frame) // n_topics]
    columns = [place[label] for label in rows["group"]]

    def by_group(name: str) -> list[list[float]]:
        full = np.full((n_topics, n_groups), np.nan)
        full[:, columns] = frame[name].to_numpy(float).reshape(n_topics, -1)
        return full.tolist()

    sizes = np.zeros(n_groups, np.int64)
    sizes[columns] = rows["n_documents"]
    return {
        "name": groups.name,
        "kind": groups.kind,
        "labels": [_label(one, grouping.step) for one in groups.labels],
        "at": [None if one == MISSING else one for one in groups.labels],
        "missing": n_groups - 1 if groups.labels[-1] == MISSING else None,
        "documents": sizes,
        **{name: by_group(name) for name in ("share", "low", "high")},
    }


def _label(value: Any, step: float | None) -> str:
    if step is None or isinstance(value, str):
        return str(value)
    end = value + step
    if float(value).is_integer() and float(step).is_integer():
        return f"{value:.0f} to {end - 1:.0f}"
    return f"{value:g} to {end:g}"


def facts_of(corpus: Corpus, chosen: Sequence[int]) -> list[list[str]]:
    """Return what is known of each chosen document, by column; nothing where it is missing."""
    if corpus.metadata is None:
        return [[] for _ in chosen]
    some = corpus.metadata.iloc[list(chosen)]
    columns = [_written(some[name], _finest(corpus.metadata[name])) for name in some]
    return [list(row) for row in zip(*columns, strict=True)]


def _written(column: pd.Series, unit: str) -> list[str]:
    if kind_of(column) == "date":
        texts = column.to_numpy(f"datetime64[{unit}]").astype(str)
        return ["" if text == "NaT" else str(text).replace("T", " ") for text in texts]
    values = plain_values(column)
    return ["" if value is None else shortened(str(value), _LONGEST_FACT) for value in values]


def _finest(column: pd.Series) -> str:
    """Return the longest unit that all dates of a column can be written in: what was a month is no day."""
    if kind_of(column) != "date":
        return ""
    dates = column.dropna().to_numpy("datetime64[s]")
    return next((unit for unit in "MD" if np.all(dates.astype(f"datetime64[{unit}]") == dates)), "s")
