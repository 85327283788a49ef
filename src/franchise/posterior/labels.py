"""Names of topics: those that people give, and automatic ones from the terms that set a topic apart.

The relevance of a term to a topic (Sievert & Shirley 2014) is ``λ log phi_kv + (1 - λ) log (phi_kv / p_v)``,
with p_v the term's share of all words. At λ = 1 the most frequent terms come first, which many topics have in
common; the *own* terms of a topic are those that come first at λ = 0.3.

A name belongs to what the topic is about, not to its number, which may be another one after more sweeps. So
it is kept together with the topic's most probable terms, and goes to the topic that has the same terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from franchise._arrays import Floats
from franchise._text import printable

Integers = npt.NDArray[np.int64]

OWN = 0.3  # λ
_TERMS_IN_LABEL = 3
_TERMS_KEPT = 100  # with a name: the cosine hardly depends on the rest
_SAME = 0.7  # cosine of the probabilities above which it is still the same topic


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


def carried(remembered: Sequence[Named], phi: npt.ArrayLike) -> tuple[dict[int, str], list[str]]:
    """Return the names of the topics in another answer on the same documents, and the names that are lost.

    Each name goes to the topic whose probabilities have the largest cosine with those remembered, no two
    to one; where that is below 0.7, the topic is gone and its name is lost.
    """
    if not remembered:
        return {}, []
    rows = np.asarray(phi, np.float64)
    lengths = np.sqrt(np.square(rows).sum(axis=1))
    cosines = np.zeros((len(remembered), len(rows)))
    for row, one in zip(cosines, remembered, strict=True):
        share = np.asarray(one.probabilities)
        row[:] = rows[:, one.terms] @ share / (lengths * np.sqrt(np.square(share).sum()))
    owners, topics = linear_sum_assignment(cosines, maximize=True)
    there = cosines[owners, topics] >= _SAME
    names = {int(k): remembered[i].name for i, k in zip(owners[there], topics[there], strict=True)}
    kept = set(owners[there].tolist())
    return names, [one.name for i, one in enumerate(remembered) if i not in kept]
