"""Names of topics as people give them: a dictionary, a list, a table, or a file that the report has saved.

The file is a CSV with a column ``topic`` (the number) and a column ``name``; an empty name is none. The
report also writes a column ``terms``. Where it is there, it says whether the file belongs to these topics.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from franchise._settings import whole_number
from franchise._text import printable
from franchise.errors import SettingsError
from franchise.posterior.coherence import top_terms

_TERMS_WRITTEN = 10
_TERMS_COMPARED = 30
_TERMS_IN_COMMON = 0.3  # of those written, at least; less is another topic
_HOW = "give a dictionary such as {3: 'cosmology'}, one name per topic, a table or a CSV file"


def given_labels(given: Any, phi: npt.NDArray[Any], vocabulary: Sequence[str]) -> dict[int, str]:
    """Return the names that are given, by the number of the topic.

    Parameters
    ----------
    given
        A dictionary from topics to names; a sequence of names, one per topic, None or "" for none; a
        DataFrame with columns topic and name; the name of a CSV file with these; or None for no names.
    phi
        Term probabilities, topics by terms.
    vocabulary
        The terms.

    Raises
    ------
    SettingsError
        If a topic does not exist, has two names, or a name is not a text; if the file cannot be read, or
        was saved for other topics.
    """
    if given is None:
        return {}
    where = "labels"
    if isinstance(given, str | os.PathLike):
        where, given = str(given), _read(Path(given))
    if isinstance(given, pd.DataFrame):
        _check_terms(given, phi, vocabulary, where)
        column = "name" if "name" in given.columns else "label"
        return _checked(zip(given["topic"], given[column], strict=True), len(phi), where)
    if isinstance(given, Mapping | pd.Series):
        return _checked(given.items(), len(phi), where)
    if isinstance(given, Iterable):
        names = list(given)
        if len(names) != len(phi):
            raise SettingsError(
                f"{where}: {len(names)} names for {len(phi)} topics; {_HOW}", code="wrong-length"
            )
        return _checked(enumerate(names), len(phi), where)
    raise SettingsError(f"{where}={given!r}: {_HOW}", code="wrong-type")


def labels_frame(names: Mapping[int, str], phi: npt.NDArray[Any], vocabulary: Sequence[str]) -> pd.DataFrame:
    """Return the table that the report saves as CSV: topic, name (empty where there is none) and terms."""
    top = top_terms(phi, _TERMS_WRITTEN)
    terms = [printable(", ".join(vocabulary[v] for v in row)) for row in top]
    numbers = range(len(phi))
    return pd.DataFrame({"topic": numbers, "name": [names.get(k, "") for k in numbers], "terms": terms})


def _checked(pairs: Iterable[tuple[Any, Any]], n_topics: int, where: str) -> dict[int, str]:
    names: dict[int, str] = {}
    for topic, name in pairs:
        number = _topic(topic, n_topics, where)
        if name is None or (isinstance(name, float) and np.isnan(name)) or name is pd.NA:
            continue
        if not isinstance(name, str):
            raise SettingsError(
                f"{where}: the name of topic {number} is {name!r}; give a text", code="wrong-type"
            )
        if not (text := printable(" ".join(name.split()))):
            continue
        if names.get(number, text) != text:
            raise SettingsError(
                f"{where}: topic {number} has two names, {names[number]!r} and {text!r}; give one",
                code="duplicate-name",
            )
        names[number] = text
    return names


def _topic(given: Any, n_topics: int, where: str) -> int:
    number = given.strip() if isinstance(given, str) else given
    if isinstance(number, str) and number.isdecimal():
        number = int(number)
    if isinstance(number, float | np.floating) and float(number).is_integer():
        number = int(number)  # a column with a gap comes as floats
    try:
        return whole_number("topic", number, 0, n_topics - 1)
    except SettingsError:
        raise SettingsError(
            f"{where}: there is no topic {given!r}; topics have the numbers 0 to {n_topics - 1}",
            code="unknown-topic",
        ) from None


def _read(path: Path) -> pd.DataFrame:
    """Read a CSV, separated by commas, or by semicolons or tabs as some spreadsheets do."""
    if not path.is_file():
        raise SettingsError(
            f"{path}: there is no such file; give a CSV with the columns topic and name", code="no-such-file"
        )
    try:
        with path.open(encoding="utf-8-sig") as file:
            header = file.readline()
        separator = next((mark for mark in ",;\t" if mark in header), ",")
        # Everything as it stands: a topic may well be called NA.
        frame = pd.read_csv(
            path, sep=separator, dtype=str, keep_default_na=False, encoding="utf-8-sig", index_col=False
        )
    except UnicodeDecodeError:
        raise SettingsError(
            f"{path}: this is not a text file in UTF-8; save it as CSV, UTF-8", code="wrong-encoding"
        ) from None
    except (OSError, ValueError) as error:  # pandas' errors of parsing are ValueErrors
        reason = str(error).strip().replace("\n", " ")
        raise SettingsError(
            f"{path}: it cannot be read as CSV ({reason}); give a CSV with the columns topic and name",
            code="unreadable-label-file",
        ) from None
    frame.columns = [str(name).strip().lower() for name in frame.columns]
    return frame


def _check_terms(frame: pd.DataFrame, phi: npt.NDArray[Any], vocabulary: Sequence[str], where: str) -> None:
    """Refuse a table without the columns, or with the terms of other topics."""
    if "topic" not in frame.columns or not {"name", "label"} & set(frame.columns):
        has = ", ".join(map(str, frame.columns)) or "none"
        raise SettingsError(
            f"{where}: it needs the columns topic and name; it has {has}", code="missing-column"
        )
    if "terms" not in frame.columns:
        return
    top = top_terms(phi, _TERMS_COMPARED)
    others = []
    for topic, terms in zip(frame["topic"], frame["terms"], strict=True):
        written = {term.strip() for term in str(terms).split(", ")} - {""}
        number = _topic(topic, len(phi), where)
        found = written & {vocabulary[v] for v in top[number]}
        if written and len(found) < _TERMS_IN_COMMON * len(written):
            others.append(str(number))
    if others:
        raise SettingsError(
            f"{where}: the terms of topic {', '.join(others[:5])} are not those of this model's topics; was "
            "it saved from another model, or before more sweeps? Without its column terms it is taken as is",
            code="topics-mismatch",
        )
