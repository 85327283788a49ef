"""Fit starting topics to documents by EM, or take those of an earlier model or of seed words.

The mixture is that of `starting_topics`. Its common part, a fixed share of the term frequencies, absorbs the
words that belong to no topic in particular.
"""

import math

import numpy as np

from franchise._arrays import Array, CellArrays
from franchise.corpus import Corpus
from franchise.engines.engine import Start
from franchise.engines.starts.given_topics import GivenTopics, TopicsOfTerms
from franchise.engines.starts.sample import Sample, in_random_order, most_topics, sample_of
from franchise.engines.starts.starting_topics import StartingTopics, list_topics
from franchise.engines.starts.topic_steps import fit_listed_step, fit_step
from franchise.model import Priors

STEPS = 20
# If the sample has fewer words than this share of all, there are fewer steps: with more, the topics would fit
# the sample too closely.
FEW, STEPS_OF_FEW = 0.2, 8
# After the first steps each term keeps the topics with at least this share of its largest entry; the others
# would end with next to nothing.
STEPS_WITH_ALL, LEAST_OF_TERM = 4, 1e-3
COMMON = 0.1  # share of the words that belong to no topic in particular
_TOPICS, _FEWEST_TOPICS, _TERMS_PER_TOPIC = 0.05, 1 / 6, 10
_LEAST_MOST = 200  # the most topics that a corpus of few terms may have
_USUAL_ETA = 0.1  # if eta is estimated


def usual_eta(priors: Priors) -> float:
    """Return the eta for which starting topics are fitted."""
    return _USUAL_ETA if isinstance(priors.eta, tuple) else priors.eta


def first_topics(start: Start, corpus: Corpus, priors: Priors, seed: int) -> str | int | StartingTopics:
    """Return the engine's start: the topics that `start` means, or `start` itself."""
    eta = usual_eta(priors)
    if isinstance(start, GivenTopics):
        given = start.in_terms_of(corpus)
        return fitted_topics(corpus, eta, seed, given.phi) if given.are_seeds else given_topics(corpus, given)
    if start == "documents":
        return topics_at_documents(corpus, eta, seed)
    return fitted_topics(corpus, eta, seed) if start == "fitted" else start


def fitted_topics(corpus: Corpus, eta: float, seed: int, seeds: Array | None = None) -> StartingTopics:
    """Fit topics by EM, each begun at a random document.

    A smaller eta gives more topics: about as many as chains with this eta end with, or somewhat more if these
    are few, because losing a topic is easier than finding one.

    Parameters
    ----------
    corpus
        The documents.
    eta
        The concentration of the terms of a topic.
    seed
        Seed for the documents that topics are fitted to and begin at.
    seeds
        Topics by terms; the first topics begin at these. There are at least as many topics as seeds.
    """
    return fit_to_sample(sample_of(corpus, seed), eta, seeds)


def topics_at_documents(corpus: Corpus, eta: float, seed: int) -> StartingTopics:
    """Begin topics at random documents, as many as `fitted_topics` fits.

    On two million planted words and more, chains that separate such topics find more of the truth than chains
    from topics that EM fits to a small sample. On text neither start is clearly better.
    """
    documents = in_random_order(np.flatnonzero(corpus.document_lengths), seed)
    n_topics = number_of_topics(corpus.n_words, eta, documents.size, corpus.n_terms)
    frequencies = corpus.term_counts / max(1, corpus.n_words)
    return _begun_at(corpus.select(documents[:n_topics]).cells, frequencies, n_topics, None)


def fit_to_sample(sample: Sample, eta: float, seeds: Array | None = None) -> StartingTopics:
    """Fit topics to a sample; they begin at its first documents."""
    cells = sample.cells
    n_documents, n_seeds = cells.doc_ptr.size - 1, 0 if seeds is None else len(seeds)
    n_topics = max(number_of_topics(sample.n_words, eta, n_documents, cells.n_terms), n_seeds)
    topics = _begun_at(cells, sample.term_counts / max(1, sample.n_words), n_topics, seeds)
    phi = topics.phi
    theta = np.full((n_documents, n_topics), 1.0 / max(1, n_topics))
    new_phi, weight, expected = np.zeros_like(phi), np.zeros(n_topics), np.zeros(n_topics)
    for _ in range(STEPS_WITH_ALL):
        fit_step(cells, topics, theta, new_phi, weight, expected)
    listed = list_topics(*topics, least=LEAST_OF_TERM)
    new_value = np.zeros_like(listed.value)
    steps = STEPS_OF_FEW if cells.counts.sum() < FEW * sample.n_words else STEPS
    for _ in range(STEPS_WITH_ALL, steps):
        fit_listed_step(cells, listed, LEAST_OF_TERM, theta, new_value, expected)
    rows, entries = np.repeat(np.arange(len(phi)), np.diff(listed.row_ptr)), slice(listed.row_ptr[-1])
    phi[:] = 0.0
    phi[rows, listed.topic[entries]] = listed.value[entries]
    return topics


def _begun_at(cells: CellArrays, frequencies: Array, n_topics: int, seeds: Array | None) -> StartingTopics:
    """Return topics that are half a document (or a seed, for the first ones), half the term frequencies."""
    used = np.zeros(cells.n_terms, bool)
    used[cells.terms] = True
    n_seeds = 0 if seeds is None else len(seeds)
    if seeds is not None:
        used |= seeds.any(axis=0)
    terms = np.flatnonzero(used)
    row = np.full(cells.n_terms, terms.size)
    row[terms] = np.arange(terms.size)
    phi = np.zeros((terms.size + 1, n_topics))
    phi[:-1] = 0.5 * frequencies[terms, None]
    if seeds is not None:
        phi[:-1, :n_seeds] += 0.5 * seeds[:, terms].T
    for j, k in enumerate(range(n_seeds, n_topics)):
        own = slice(cells.cell_ptr[j], cells.cell_ptr[j + 1])
        phi[row[cells.terms[own]], k] += 0.5 * cells.counts[own] / cells.counts[own].sum()
    return StartingTopics(phi, row, _share_of(frequencies, COMMON))


def number_of_topics(n_words: int, eta: float, n_documents: int, n_terms: int) -> int:
    """Return the number of topics to fit to `n_words`."""
    n_topics = max(1, round(max(_TOPICS / eta, _FEWEST_TOPICS) * math.sqrt(n_words)))
    return min(n_topics, most_topics(n_words), max(_LEAST_MOST, n_terms // _TERMS_PER_TOPIC), n_documents)


def given_topics(corpus: Corpus, given: TopicsOfTerms, common: float = COMMON) -> StartingTopics:
    """Return topics of terms as starting topics.

    A term that the topics do not know has its corpus frequency in every topic, so its words follow the
    other words of their documents.
    """
    frequencies = corpus.term_counts / max(1, corpus.n_words)
    unknown = np.where(given.known, 0.0, frequencies)
    rows = given.phi.T.astype(np.float64, order="C")
    rows *= 1.0 - unknown.sum()
    rows /= given.phi.sum(axis=1)
    rows += unknown[:, None]
    return StartingTopics(rows, np.arange(frequencies.size), _share_of(frequencies, common))


def common_words(corpus: Corpus, share: float = COMMON) -> Array:
    """Return the common part of a mixture whose topics have the other words."""
    return _share_of(corpus.term_counts / max(1, corpus.n_words), share)


def _share_of(frequencies: Array, share: float) -> Array:
    return np.asarray(share / (1.0 - share) * frequencies)
