"""Starts on tables of counts, such as tumours by kinds of mutations, and the number of counts to use.

A chain on such a table keeps the number of topics that it begins with, so the number is chosen first
(`number_of_topics`). Besides, counts of one document often vary together by more than any mixture of topics
explains. The model takes every count as evidence, so it would answer such noise with hundreds of topics. If
there is such noise (`dispersion`), each document keeps only as many counts as it is worth independent ones.
"""

import math
import weakref
from typing import Any, NamedTuple

import numpy as np

from franchise.corpus import Corpus
from franchise.engines.starts.dispersion import effective_counts, estimate_concentration
from franchise.engines.starts.em import given_topics
from franchise.engines.starts.given_topics import TopicsOfTerms
from franchise.engines.starts.number_of_topics import Choice, choose_number, topics_for_chain
from franchise.engines.starts.starting_topics import StartingTopics

_FEWEST_WITH_NOISE = 12  # the fewest documents that can distinguish noise from topics
# The most words of a document for the choice of the number: otherwise a few huge documents would decide it.
_MOST_COUNTS = 5_000.0
# The most words of a document for the chains. No mixture of topics fits a document of millions exactly, and
# chains would add a topic for each misfit.
MOST_USED = 20_000
_HARDLY_ANY = 1e-9  # share of common words: every word of a table belongs to a topic


class Effective(NamedTuple):
    """A table whose documents have as many counts as they are worth independent ones."""

    corpus: Corpus
    concentration: float  # of documents around mixtures of topics; inf if no count is left out


def effective_table(corpus: Corpus, seed: int) -> Effective:
    """Leave out counts of documents that vary more than mixtures of topics explain."""
    if corpus.documents_of_length[1:].sum() < _FEWEST_WITH_NOISE:
        return Effective(corpus, math.inf)
    # Imperfect topics miss documents of millions by far, which would look like noise in all documents.
    capped = corpus
    if corpus.document_lengths.max() > MOST_USED:
        capped = corpus.downsampled(MOST_USED, random_state=seed, evenly=True)
    choice = _choice(capped, seed)
    # Use the largest plausible number: what too few topics miss would look like noise.
    concentration = estimate_concentration(capped.cells, choice.most_detailed, seed)
    if math.isinf(concentration):
        return Effective(capped, concentration)
    return Effective(scaled_down(corpus, concentration, seed), concentration)


def scaled_down(corpus: Corpus, concentration: float, seed: int) -> Corpus:
    """Scale counts down to the independent counts of documents with this concentration, at most MOST_USED."""
    limits = np.minimum(effective_counts(corpus.document_lengths, concentration), MOST_USED)
    fewer = corpus.downsampled(limits, random_state=seed, evenly=True)
    assert fewer.downsampling is not None
    make, parts = fewer.__reduce__()
    return make(*parts, downsampling=fewer.downsampling._replace(concentration=concentration))


def table_topics(corpus: Corpus, seed: int, chain: int) -> StartingTopics:
    """Return the topics that a chain starts from; the number may differ between chains."""
    phi = topics_for_chain(_choice(corpus, seed), chain)
    known = np.ones(corpus.n_terms, bool)
    return given_topics(corpus, TopicsOfTerms(phi, known, are_seeds=False), _HARDLY_ANY)


_last: list[Any] = []  # the last corpus, its seed, and its choice


def _choice(corpus: Corpus, seed: int) -> Choice:
    """Choose the number of topics, once for consecutive calls with the same corpus."""
    if _last and _last[0]() is corpus and _last[1] == seed:
        choice: Choice = _last[2]
        return choice
    choice = choose_number(corpus.cells, seed, concentration=_MOST_COUNTS)
    _last[:] = [weakref.ref(corpus), seed, choice]
    return choice
