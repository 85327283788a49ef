"""Names of topics: those that people give, and automatic ones from the terms that set a topic apart.

The relevance of a term to a topic (Sievert & Shirley 2014) is ``λ log phi_kv + (1 - λ) log (phi_kv / p_v)``,
with p_v the term's share of all words. At λ = 1 the most frequent terms come first, which many topics have in
common; the *own* terms of a topic are those that come first at λ = 0.3.

A name belongs to what the topic is about, not to its number, which may be another one after more sweeps. So
it is kept together with the topic's most probable terms, and goes to the topic that has the same terms.

People give names as a dictionary, a list, a table, or a CSV file that the report has saved: a column
``topic`` (the number) and a column ``name``, empty for none. The report also writes a column ``terms``, which
says whether the file belongs to these topics.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.optimize import linear_sum_assignment

from franchise._arrays import Floats
from franchise._settings import whole_number
from franchise._text import printable
from franchise.errors import SettingsError
from franchise.posterior.coherence import top_terms

Integers = npt.NDArray[np.int64]

OWN = 0.3  # λ
_TERMS_IN_LABEL = 3
_TERMS_KEPT = 100  # with a name: the cosine hardly depends on the rest
_SAME = 0.7  # cosine of the probabilities above which it is still the same topic
_TERMS_WRITTEN = 10
_TERMS_COMPARED = 30
_TERMS_IN_COMMON = 0.3  # of those written, at least; less is another topic
_HOW = "give a dictionary such as {3: 'cosmology'}, one name per topic, a table or a CSV file"


def relevance(log_phi: Floats, log_share: Floats, weight: float | Floats) -> Floats:
    """Return how relevant terms are to a topic; `weight` is λ, one or a column of several."""
    return np.asarray(log_phi - (1.0 - weight) * log_share)


def own_terms(phi: npt.ArrayLike, counts: npt.ArrayLike, n: int = 10) -> Integers:
    """Return the terms that set each topic apart from the others, most relevant first.

    Parameters
    ----------
    phi
        Term probabilities, topics by terms.
    counts
        How often each term occurs in the collection. Terms that never occur are left out.
    n
        How many terms per topic, at most as many as occur.

    Returns
    -------
    numpy.ndarray
        Numbers of terms, topics by n.
    """
    occurrences = np.asarray(counts)
    used = np.flatnonzero(occurrences)
    log_share = np.log(occurrences[used] / occurrences.sum())
    with np.errstate(divide="ignore"):  # a topic that cannot have the term
        log_phi = np.log(np.asarray(phi, np.float64)[:, used])
    own = [np.argsort(-relevance(row, log_share, OWN), kind="stable")[:n] for row in log_phi]
    return np.asarray(used[np.array(own)], np.int64)


def topic_labels(
    phi: npt.ArrayLike, counts: npt.ArrayLike, vocabulary: Sequence[str], given: Mapping[int, str]
) -> list[str]:
    """Return what each topic is called: the name given to it, else three terms that set it apart."""
    own = own_terms(phi, counts, _TERMS_IN_LABEL)
    return [
        given[k] if k in given else printable(", ".join(" ".join(vocabulary[v].split()) for v in terms))
        for k, terms in enumerate(own)
    ]


def distinct(labels: Sequence[str], taken: Sequence[str] = ()) -> list[str]:
    """Return labels that can name columns: those that occur twice, or are taken, get the topic's number."""
    several = {label for label in labels if labels.count(label) > 1} | set(taken)
    return [f"{label} ({k})" if label in several else label for k, label in enumerate(labels)]


class Named(NamedTuple):
    """A name that was given to a topic, and what is remembered of the topic."""

    topic: int
    name: str
    terms: list[int]
    probabilities: list[float]


def remember(names: Mapping[int, str], phi: npt.ArrayLike) -> list[Named]:
    """Return names with the most probable terms of their topics."""
    rows = np.asarray(phi, np.float64)
    remembered = []
    for k, name in sorted(names.items()):
        terms = np.argsort(-rows[k], kind="stable")[:_TERMS_KEPT]
        remembered.append(Named(k, name, terms.tolist(), rows[k, terms].tolist()))
    return remembered


def matches(remembered: Sequence[Named], phi: npt.ArrayLike) -> dict[int, tuple[int, float]]:
    """Return which topics of another answer are the same as those remembered, and their cosines.

    Each remembered topic, by its place in the list, goes to the topic whose probabilities have the largest
    cosine with its own, no two to one; where that is below 0.7, the topic is gone.
    """
    if not remembered:
        return {}
    rows = np.asarray(phi, np.float64)
    lengths = np.sqrt(np.square(rows).sum(axis=1))
    cosines = np.zeros((len(remembered), len(rows)))
    for row, one in zip(cosines, remembered, strict=True):
        share = np.asarray(one.probabilities)
        row[:] = rows[:, one.terms] @ share / (lengths * np.sqrt(np.square(share).sum()))
    owners, topics = linear_sum_assignment(cosines, maximize=True)
    found = zip(owners.tolist(), topics.tolist(), strict=True)
    return {i: (k, float(cosines[i, k])) for i, k in found if cosines[i, k] >= _SAME}


def carried(remembered: Sequence[Named], phi: npt.ArrayLike) -> tuple[dict[int, str], list[str]]:
    """Return the names of the topics in another answer (`matches`), and the names that are lost.

    Topics whose name is empty take part, so that a name does not go to what became of another topic.
    """
    found = matches(remembered, phi)
    names = {k: remembered[i].name for i, (k, _) in found.items() if remembered[i].name}
    return names, [one.name for i, one in enumerate(remembered) if one.name and i not in found]


def remember_all(
    names: Mapping[int, str], phi: npt.ArrayLike, terms: Sequence[str], vocabulary: Sequence[str]
) -> list[Named]:
    """Return all topics over some terms in the numbers of another vocabulary, with their names or empty ones.

    Terms that the vocabulary does not have are left out.
    """
    index = {term: v for v, term in enumerate(vocabulary)}
    number = [index.get(term, -1) for term in terms]
    every = remember({k: names.get(k, "") for k in range(len(np.asarray(phi)))}, phi)
    found = []
    for one in every:
        known = [(number[v], p) for v, p in zip(one.terms, one.probabilities, strict=True) if number[v] >= 0]
        found.append(one._replace(terms=[v for v, _ in known], probabilities=[p for _, p in known]))
    return found


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
