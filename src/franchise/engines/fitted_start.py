"""Topics to start a chain from: fitted to the documents by a few steps of EM, the same for every seed.

The fit may begin at seed words for some of the topics. Topics of an earlier model are taken as they are.
"""

import math
from typing import NamedTuple

import numpy as np

from franchise.corpus import CorpusArrays
from franchise.corpus.growing import count_terms
from franchise.model.state import Array
from franchise.moves.fit_topics import fit_step

STEPS = 20
_GOLDEN_RATIO = (math.sqrt(5.0) - 1.0) / 2.0
STEPS_PER_DOCUMENT = 5  # for its mixture, given the topics
COMMON = 0.1  # share of the words that belong to no topic in particular
_TOPICS, _FEWEST_TOPICS, _MOST_TOPICS = 0.05, 1 / 6, 200
# As many words and documents tell what the topics are; more would only take longer.
_MOST_WORDS, _MOST_DOCUMENTS = 200_000, 20_000


class FittedTopics(NamedTuple):
    """What `moves.fit_topics` fits and draws from."""

    phi: Array  # (row, topic): no more rows than words were fitted, however many terms there are
    row: Array  # of each term in phi; the last, which is empty, for those that no fitted document has
    common: Array
    steps: int = STEPS_PER_DOCUMENT


def fit_topics(corpus: CorpusArrays, eta: float, seeds: Array | None = None) -> FittedTopics:
    """Fit topics by EM, each begun at a document of those that are spread over the corpus.

    The smaller eta, the more topics: about as many as chains with this eta end with, or, where these are few,
    some more, as it is easier to lose a topic than to find one. Given seeds, topics by terms, the first
    topics begin at these instead, and there are at least as many as seeds.
    """
    lengths = np.diff(corpus.doc_ptr)
    documents = np.flatnonzero(lengths)
    n_words = int(lengths.sum())
    share = min(1.0, _MOST_WORDS / max(1, n_words), _MOST_DOCUMENTS / max(1, documents.size))
    documents = spread(documents, math.ceil(share * documents.size))
    n_topics = number_of_topics(n_words, eta, documents.size)
    n_seeds = 0 if seeds is None else len(seeds)
    n_topics = max(n_topics, n_seeds)
    frequencies = count_terms(corpus.x, corpus.n_terms) / max(1, n_words)
    in_use = [_words(corpus, j) for j in documents] or [corpus.x]
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
        np.add.at(phi[:, k], row[_words(corpus, j)], 0.5 / lengths[j])
    fitted = FittedTopics(phi, row, _common(frequencies))
    theta = np.full((documents.size, n_topics), 1.0 / max(1, n_topics))
    new_phi, weight, expected = np.zeros_like(phi), np.zeros(n_topics), np.zeros(n_topics)
    for _ in range(STEPS):
        fit_step(corpus, documents, fitted, theta, new_phi, weight, expected)
    return fitted


def number_of_topics(n_words: int, eta: float, n_documents: int) -> int:
    """Return how many topics to fit to so many words."""
    n_topics = max(1, round(max(_TOPICS / eta, _FEWEST_TOPICS) * math.sqrt(n_words)))
    return min(n_topics, _MOST_TOPICS, n_documents)


def topics_as_given(corpus: CorpusArrays, phi: Array, known: Array) -> FittedTopics:
    """Return topics as they are given, topics by terms.

    Of a term that they do not know, they say as much as the corpus does: it is as common in every topic as in
    all documents, and its words go where the other words of their documents go.
    """
    frequencies = count_terms(corpus.x, corpus.n_terms) / max(1, corpus.x.size)
    unknown = np.where(known, 0.0, frequencies)
    rows = (1.0 - unknown.sum()) * phi / phi.sum(axis=1, keepdims=True) + unknown
    row = np.arange(corpus.n_terms)
    return FittedTopics(np.ascontiguousarray(rows.T), row, _common(frequencies))


def _common(frequencies: Array) -> Array:
    return np.asarray(COMMON / (1.0 - COMMON) * frequencies)


def _words(corpus: CorpusArrays, j: np.integer) -> Array:
    return corpus.x[corpus.doc_ptr[j] : corpus.doc_ptr[j + 1]]


def spread(values: Array, number: int) -> Array:
    """Return so many of the values, spread evenly, in their order.

    By multiples of the golden ratio, and not at equal distances: of documents that take turns, every third
    of one author, say, all kinds must be taken.
    """
    places = np.arange(values.size) * _GOLDEN_RATIO % 1.0
    return values[np.sort(np.argsort(places, kind="stable")[:number])]
