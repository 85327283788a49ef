"""Choose the documents that topics are fitted to."""

import math
from typing import NamedTuple

import numpy as np

from franchise._arrays import Array, CellArrays
from franchise.corpus import Corpus
from franchise.engines.starts.starting_topics import shuffle_documents
from franchise.random import START_DOCUMENTS, Key

_MOST_TOPICS, _FOR_WORDS, _OF_ALL = 200, 500_000, 1_000
# More words and documents would take longer and change nothing.
_ENOUGH_WORDS, _MOST_WORDS, _MOST_DOCUMENTS = 200_000, 1_000_000, 20_000
_WORDS_PER_TOPIC, _DOCUMENTS_PER_TOPIC = 500, 3


class Sample(NamedTuple):
    """Documents to fit topics to, in random order, and the term counts of all documents."""

    cells: CellArrays  # of these documents, none of them empty
    n_words: int  # of all documents
    term_counts: Array


def sample_of(corpus: Corpus, seed: int) -> Sample:
    """Return documents to fit topics to, chosen by the seed."""
    lengths = corpus.document_lengths
    documents = in_random_order(np.flatnonzero(lengths), seed)
    number = number_to_fit(int(lengths.sum()), documents.size)
    chosen = corpus.select(documents[:number])
    return Sample(chosen.cells, corpus.n_words, corpus.term_counts)


def in_random_order(documents: Array, seed: int, number: int = 0) -> Array:
    """Return documents in a random order of this number."""
    shuffled = documents.astype(np.int64)
    shuffle_documents(Key(seed, number, 0, START_DOCUMENTS), np.zeros(4, np.uint64), shuffled)
    return shuffled


def number_to_fit(n_words: int, n_documents: int) -> int:
    """Return the number of non-empty documents to fit topics to.

    Few long documents contain enough words, but every topic needs some documents to begin at.
    """
    n_topics, length = most_topics(n_words), n_words / max(1, n_documents)
    words = max(_ENOUGH_WORDS, _WORDS_PER_TOPIC * n_topics, _DOCUMENTS_PER_TOPIC * n_topics * length)
    share = min(1.0, min(words, _MOST_WORDS) / max(1, n_words), _MOST_DOCUMENTS / max(1, n_documents))
    return math.ceil(share * n_documents)


def most_topics(n_words: int) -> int:
    """Return the most topics to fit to a corpus of `n_words`, for any eta.

    It is constant up to half a million words, then grows with the cube root of the number of words.
    """
    return min(round(_MOST_TOPICS * math.cbrt(max(1.0, n_words / _FOR_WORDS))), _OF_ALL)
