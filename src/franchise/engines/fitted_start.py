"""Topics to start a chain from: fitted to the documents by a few steps of EM, the same for every seed.

The fit may begin at seed words for some of the topics. Topics of an earlier model are taken as they are.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from franchise.corpus import CorpusArrays
from franchise.corpus.checks import offsets_of
from franchise.corpus.growing import count_terms, gathered
from franchise.model.state import Array
from franchise.moves.fit_topics import fit_step

STEPS = 20
_GOLDEN_RATIO = (math.sqrt(5.0) - 1.0) / 2.0
STEPS_PER_DOCUMENT = 5  # for its mixture, given the topics
COMMON = 0.1  # share of the words that belong to no topic in particular
_TOPICS, _FEWEST_TOPICS = 0.05, 1 / 6
# At most: up to so many words; of more words as many more as the cube root of these, where terms are many.
_MOST_TOPICS, _FOR_WORDS, _OF_ALL, _TERMS_A_TOPIC = 200, 500_000, 1_000, 10
# As many words and documents tell what the topics are; more would only take longer.
_ENOUGH_WORDS, _MOST_WORDS, _MOST_DOCUMENTS = 200_000, 1_000_000, 20_000
_WORDS_A_TOPIC, _DOCUMENTS_A_TOPIC = 500, 3


class FittedTopics(NamedTuple):
    """What `moves.fit_topics` fits and draws from."""

    phi: Array  # (row, topic): no more rows than words were fitted, however many terms there are
    row: Array  # of each term in phi; the last, which is empty, for those that no fitted document has
    common: Array
    steps: int = STEPS_PER_DOCUMENT


class Sample(NamedTuple):
    """The documents that topics are fitted to, spread over the corpus, and what is known of the others."""

    corpus: CorpusArrays  # these documents alone, none of them empty
    n_words: int  # of all documents
    term_counts: Array


def fit_topics(sample: Sample, eta: float, seeds: Array | None = None) -> FittedTopics:
    """Fit topics by EM, each begun at a document of those that are spread over the corpus.

    The smaller eta, the more topics: about as many as chains with this eta end with, or, where these are few,
    some more, as it is easier to lose a topic than to find one. Given seeds, topics by terms, the first
    topics begin at these instead, and there are at least as many as seeds.
    """
    corpus = sample.corpus
    documents = np.arange(corpus.doc_ptr.size - 1)
    n_seeds = 0 if seeds is None else len(seeds)
    n_topics = max(number_of_topics(sample.n_words, eta, documents.size, corpus.n_terms), n_seeds)
    frequencies = sample.term_counts / max(1, sample.n_words)
    in_use: list[Array] = [corpus.x]
    if seeds is not None:
        in_use.append(np.flatnonzero(seeds.sum(axis=0)))
    terms = np.unique(np.concatenate(in_use))
    row = np.full(corpus.n_terms, terms.size)
    row[terms] = np.arange(terms.size)
    phi = np.zeros((terms.size + 1, n_topics))
    phi[:-1] = 0.5 * frequencies[terms, None]
    if seeds is not None:
        phi[:-1, :n_seeds] += 0.5 * seeds[:, terms].T
    for k, j in enumerate(spread(documents, n_topics - n_seeds), start=n_seeds):
        words = corpus.x[corpus.doc_ptr[j] : corpus.doc_ptr[j + 1]]
        np.add.at(phi[:, k], row[words], 0.5 / words.size)
    fitted = FittedTopics(phi, row, _common(frequencies))
    theta = np.full((documents.size, n_topics), 1.0 / max(1, n_topics))
    new_phi, weight, expected = np.zeros_like(phi), np.zeros(n_topics), np.zeros(n_topics)
    for _ in range(STEPS):
        fit_step(corpus, documents, fitted, theta, new_phi, weight, expected)
    return fitted


def sample_of(corpus: CorpusArrays) -> Sample:
    """Return the documents of a corpus to fit topics to."""
    lengths = np.diff(corpus.doc_ptr)
    documents = np.flatnonzero(lengths)
    documents = spread(documents, number_to_fit(int(lengths.sum()), documents.size))
    chosen = documents_alone(corpus, documents)
    return Sample(chosen, corpus.x.size, count_terms(corpus.x, corpus.n_terms))


def sample_from(
    found: Sequence[tuple[Array, CorpusArrays]], number: int, n_words: int, term_counts: Array
) -> Sample:
    """Return the same from documents of several ranges and where they stand (`places_of`)."""
    places = np.concatenate([places for places, _ in found])
    lengths = np.concatenate([np.diff(corpus.doc_ptr) for _, corpus in found])
    x = np.concatenate([corpus.x for _, corpus in found])
    together = CorpusArrays(x, np.concatenate([[0], np.cumsum(lengths)]), term_counts.size)
    chosen = np.sort(np.argsort(places, kind="stable")[:number])
    return Sample(documents_alone(together, chosen), n_words, term_counts)


def number_to_fit(n_words: int, n_documents: int) -> int:
    """Return how many of so many documents that are not empty to fit topics to.

    Where documents are long, enough words are few documents: so few that topics have none to begin at.
    """
    n_topics, length = most_topics(n_words), n_words / max(1, n_documents)
    words = max(_ENOUGH_WORDS, _WORDS_A_TOPIC * n_topics, _DOCUMENTS_A_TOPIC * n_topics * length)
    share = min(1.0, min(words, _MOST_WORDS) / max(1, n_words), _MOST_DOCUMENTS / max(1, n_documents))
    return math.ceil(share * n_documents)


def documents_alone(corpus: CorpusArrays, documents: Array) -> CorpusArrays:
    """Return some documents, in the order given, as arrays of their own."""
    lengths = np.diff(corpus.doc_ptr)[documents]
    x, doc_ptr = gathered(corpus.x, corpus.doc_ptr[documents], lengths), offsets_of(lengths)
    for array in (x, doc_ptr):
        array.flags.writeable = False  # as in every corpus: compiled code tells them apart
    return CorpusArrays(x, doc_ptr, corpus.n_terms)


def number_of_topics(n_words: int, eta: float, n_documents: int, n_terms: int) -> int:
    """Return how many topics to fit to so many words."""
    n_topics = max(1, round(max(_TOPICS / eta, _FEWEST_TOPICS) * math.sqrt(n_words)))
    return min(n_topics, most_topics(n_words), max(_MOST_TOPICS, n_terms // _TERMS_A_TOPIC), n_documents)


def most_topics(n_words: int) -> int:
    """Return how many topics to fit to so many words at most, whatever eta is."""
    return min(round(_MOST_TOPICS * math.cbrt(max(1.0, n_words / _FOR_WORDS))), _OF_ALL)


def topics_as_given(sample: Sample, phi: Array, known: Array) -> FittedTopics:
    """Return topics as they are given, topics by terms.

    Of a term that they do not know, they say as much as the corpus does: it is as common in every topic as in
    all documents, and its words go where the other words of their documents go.
    """
    frequencies = sample.term_counts / max(1, sample.n_words)
    unknown = np.where(known, 0.0, frequencies)
    rows = phi.T.astype(np.float64, order="C")
    rows *= 1.0 - unknown.sum()
    rows /= phi.sum(axis=1)
    rows += unknown[:, None]
    return FittedTopics(rows, np.arange(frequencies.size), _common(frequencies))


def _common(frequencies: Array) -> Array:
    return np.asarray(COMMON / (1.0 - COMMON) * frequencies)


def spread(values: Array, number: int) -> Array:
    """Return so many of the values, spread evenly, in their order.

    By multiples of the golden ratio, and not at equal distances: of documents that take turns, every third
    of one author, say, all kinds must be taken.
    """
    return values[np.sort(np.argsort(places_of(values.size), kind="stable")[:number])]


def places_of(number: int, first: int = 0) -> Array:
    """Return where each of so many values stands in the order in which they are taken, from 0 to 1."""
    return np.arange(first, first + number) * _GOLDEN_RATIO % 1.0
