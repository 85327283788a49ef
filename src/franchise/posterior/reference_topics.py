"""The topics of a model beside topics that come from elsewhere: how similar, and how sure that is.

The similarity is the cosine of two distributions over terms, cos(phi, r) = phi r / (|phi| |r|). The reference
r is taken as it is. What is estimated is the cosine of phi, the distribution that the topic's words were
drawn from. A draw has p = n_kv / n_k in its place, which is phi and an error e, so |p|^2 is too large by
|e|^2, and cos(p, r) too small: a topic would not even be similar to itself. So |e|^2 is estimated and
subtracted. With m the mean of p over the draws,

    E|e|^2 = E|p - m|^2 + E (1 - |p|^2) / (n_k + 1)

the part of it that the draws differ by, and that of drawing n_k words (of Dirichlet(n_kv), whose mean is p).
The *cosine* is m r / sqrt(|m|^2 - E|e|^2) / |r|. The *interval* is that of the same number, of samples from
Dirichlet(n_kv) for every draw: they have the error twice, so 2 E|e|^2 is subtracted. All are at most 1.

The interval covers what the draws leave open and that n_k words are a sample. It trusts the model: where eta
makes topics more even than they are, or words of other topics are taken for this one's, all cosines are a
little off, and no draw says so. `benchmarks/reference_topics.py` measures how often it covers.

Terms that only one side has count as 0 on the other, and are not left out: leaving them out would make
topics over different words look similar.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from franchise import _html as html
from franchise._arrays import Array
from franchise._settings import is_positive
from franchise._text import counted
from franchise.errors import SettingsError
from franchise.posterior.estimates import LEVEL, Posterior

if TYPE_CHECKING:
    import pandas as pd

MATCH = 0.8  # cosine from which two topics count as a match
_POINTS = 1000  # samples per topic: the ends of the interval are good to about a tenth of its width
_TINY = 1e-12
_SHOWN, _NAMED = 10, 20


class ReferenceTopics(NamedTuple):
    """Topics to compare with."""

    names: tuple[str, ...]
    terms: tuple[str, ...]
    phi: Array  # topics by terms, each row summing to one


@dataclass(frozen=True, eq=False, repr=False)
class TopicComparison:
    """How similar the topics of a model are to reference topics.

    Attributes
    ----------
    labels, weights
        What the topics of the model are called, and their shares of the words.
    names
        What the reference topics are called.
    in_common
        Of each reference topic, the probability of the terms that the model knows.
    cosines, low, high
        Topics by references: the cosine, and the ends of its interval.
    nearest
        Topics by references: how probable it is that no other reference is more similar to the topic.
    threshold
        The cosine from which on two topics count as a match.
    level
        Probability of the interval.
    """

    labels: tuple[str, ...]
    weights: Array
    names: tuple[str, ...]
    in_common: Array
    cosines: Array
    low: Array
    high: Array
    nearest: Array
    threshold: float
    level: float

    def as_frame(self, one_to_one: bool = False) -> pd.DataFrame:
        """Return a table with a row per topic of the model.

        Parameters
        ----------
        one_to_one
            False: the most similar reference of each topic, so a reference may be there several times. True:
            each reference goes to one topic at most, such that the sum of the cosines above the threshold is
            largest; topics without a partner have none.

        Returns
        -------
        pandas.DataFrame
            Columns topic, label, weight, reference, cosine, low, high, nearest (the probability that this
            reference is the most similar one) and matched (whether the cosine reaches the threshold). Where
            high is 1, the documents cannot tell the reference from the topic.
        """
        import pandas as pd

        chosen = self._partners if one_to_one else self.cosines.argmax(axis=1)
        topics = np.arange(len(self.labels))
        there = chosen >= 0

        def of_pairs(table: Array) -> Array:
            return np.where(there, table[topics, chosen], np.nan)

        cosine = of_pairs(self.cosines)
        return pd.DataFrame(
            {
                "topic": topics,
                "label": list(self.labels),
                "weight": self.weights,
                "reference": [self.names[r] if r >= 0 else "" for r in chosen.tolist()],
                "cosine": cosine,
                "low": of_pairs(self.low),
                "high": of_pairs(self.high),
                "nearest": of_pairs(self.nearest),
                "matched": there & (cosine >= self.threshold),
            }
        )

    def references(self) -> pd.DataFrame:
        """Return a table with a row per reference: its most similar topic.

        Columns reference, topic, label, cosine, low, high, matched, and in_common (the probability of its
        terms that the model knows).
        """
        import pandas as pd

        rows, nearest = np.arange(len(self.names)), self.cosines.argmax(axis=0)
        cosine = self.cosines[nearest, rows]
        return pd.DataFrame(
            {
                "reference": list(self.names),
                "topic": nearest,
                "label": [self.labels[k] for k in nearest],
                "cosine": cosine,
                "low": self.low[nearest, rows],
                "high": self.high[nearest, rows],
                "matched": cosine >= self.threshold,
                "in_common": self.in_common,
            }
        )

    @property
    def unmatched_topics(self) -> list[int]:
        """Topics to which no reference is similar."""
        return np.flatnonzero(self.cosines.max(axis=1) < self.threshold).tolist()

    @property
    def unmatched_references(self) -> list[str]:
        """References to which no topic is similar."""
        missing = np.flatnonzero(self.cosines.max(axis=0) < self.threshold)
        return [self.names[r] for r in missing]

    @cached_property
    def _partners(self) -> Array:
        """The reference of each topic, one to one; -1 for none."""
        gains = np.maximum(self.cosines - self.threshold, 0.0)
        topics, references = linear_sum_assignment(gains, maximize=True)
        matched = self.cosines[topics, references] >= self.threshold
        partners = np.full(len(self.labels), -1)
        partners[topics[matched]] = references[matched]
        return partners

    def __str__(self) -> str:
        frame = self.as_frame()
        lines = [
            f"  {row.topic} {row.label}: {row.reference}, cosine {row.cosine:.3f} "
            f"({row.low:.3f} to {row.high:.3f})"
            for row in frame.head(_SHOWN).itertuples()
        ]
        if len(frame) > _SHOWN:
            lines.append(f"  {counted(len(frame) - _SHOWN, 'more topic')} in as_frame()")
        return "\n".join([*self.in_words(), *lines])

    __repr__ = __str__  # a session shows the answer

    def _repr_html_(self) -> str:
        rows = [
            (
                str(r.topic),
                r.label,
                f"{r.weight:.1%}",
                r.reference,
                f"{r.cosine:.3f}",
                f"{r.low:.3f}",
                f"{r.high:.3f}",
            )
            for r in self.as_frame().itertuples()
        ]
        header = ["topic", "label", "share of words", "reference", "cosine", "low", "high"]
        return html.block(*map(html.line, self.in_words()), html.table(header, rows))

    def in_words(self) -> list[str]:
        """Say how many topics and references have a match."""
        matched = len(self.labels) - len(self.unmatched_topics)
        there = len(self.names) - len(self.unmatched_references)
        pairs = int((self._partners >= 0).sum())
        lines = [
            f"{matched:,} of {counted(len(self.labels), 'topic')} have a reference at cosine "
            f"{self.threshold:g} or more, and {there:,} of {counted(len(self.names), 'reference')} a topic; "
            f"one to one, there are {counted(pairs, 'pair')}.",
        ]
        if self.unmatched_topics:
            lines.append(f"Topics without a reference: {_listed(map(str, self.unmatched_topics))}.")
        if self.unmatched_references:
            lines.append(f"References without a topic: {_listed(self.unmatched_references)}.")
        return lines


def compare_topics(
    posterior: Posterior,
    labels: Sequence[str],
    reference: ReferenceTopics,
    *,
    threshold: float = MATCH,
    level: float = LEVEL,
) -> TopicComparison:
    """Compare the listed topics of a posterior with reference topics (`HDPTopicModel.compare_topics`)."""
    for name, value in (("threshold", threshold), ("level", level)):
        if not is_positive(value) or value >= 1.0:
            raise SettingsError(f"{name}={value!r}: give a number between 0 and 1", code="not-a-probability")
    directions, in_common = _directions_of(reference, posterior.corpus.vocabulary)
    tails = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
    shape = posterior.n_topics, len(reference.names)
    cosines, low, high, nearest = (np.zeros(shape) for _ in range(4))
    for k in range(posterior.n_topics):
        cosines[k], sampled = _cosines(posterior, k, directions)
        low[k], high[k] = np.quantile(sampled, tails, axis=0)
        nearest[k] = np.bincount(sampled.argmax(axis=1), minlength=shape[1]) / len(sampled)
    return TopicComparison(
        labels=tuple(labels),
        weights=posterior.weights,
        names=reference.names,
        in_common=in_common,
        cosines=np.minimum(cosines, 1.0),
        low=np.minimum(np.minimum(low, cosines), 1.0),
        high=np.minimum(np.maximum(high, cosines), 1.0),
        nearest=nearest,
        threshold=threshold,
        level=level,
    )


def _directions_of(reference: ReferenceTopics, vocabulary: Sequence[str]) -> tuple[Array, Array]:
    """Return the references in the terms of a model, of length one in their own, and their share there."""
    column = {term: v for v, term in enumerate(reference.terms)}
    place = np.array([column.get(term, -1) for term in vocabulary])
    known = place >= 0
    inside = np.zeros((len(reference.names), len(vocabulary)))
    inside[:, known] = reference.phi[:, place[known]]
    lengths = np.sqrt(np.square(reference.phi).sum(axis=1))
    return inside / lengths[:, None], inside.sum(axis=1)


def _cosines(posterior: Posterior, topic: int, directions: Array) -> tuple[Array, Array]:
    """Return the cosines of a topic with directions, and samples of them, (samples, directions)."""
    rows = list(_rows(posterior, topic))
    mean, square, of_words = np.zeros(posterior.corpus.n_terms), 0.0, 0.0
    for terms, counts in rows:
        share = counts / counts.sum()
        mean[terms] += share / len(rows)
        square += share @ share / len(rows)
        of_words += (1.0 - share @ share) / (counts.sum() + 1.0) / len(rows)
    error = square - mean @ mean + of_words
    each = -(-_POINTS // len(rows))
    rng = np.random.default_rng(topic)  # the same answer, whatever else is asked for
    turned, sampled = np.ascontiguousarray(directions.T), []
    for terms, counts in rows:
        shares = rng.standard_gamma(counts, (each, terms.size))
        shares /= shares.sum(axis=1, keepdims=True)
        sampled.append(shares @ turned[terms] / _length(np.square(shares).sum(axis=1) - 2.0 * error)[:, None])
    return directions @ mean / _length(mean @ mean - error), np.concatenate(sampled)


def _length(square: Array) -> Array:
    """Return the root; of a topic with a handful of words nothing may be left, and every cosine is 1."""
    return np.sqrt(np.maximum(square, _TINY))


def _rows(posterior: Posterior, topic: int) -> Iterator[tuple[Array, Array]]:
    """Yield the terms of a topic, and its counts of them, for each draw that has it."""
    for draw, column in zip(posterior.flat_draws, posterior.columns, strict=True):
        if (here := np.flatnonzero(column == topic)).size:
            counts = draw.topic_terms[here].sum(axis=0)
            terms = np.flatnonzero(counts)
            yield terms, counts[terms].astype(float)


def _listed(names: Iterable[str]) -> str:
    several = list(names)
    more = f" and {len(several) - _NAMED:,} more" if len(several) > _NAMED else ""
    return ", ".join(several[:_NAMED]) + more
