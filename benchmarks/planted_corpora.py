"""Planted corpora of hundreds of millions of words, drawn block by block on a GPU where there is one.

``even``: documents of 100 words with up to six of equally common topics, as `benchmarks.parallel` draws them.
``like_pubmed``: a draw from the HDP with topics around a Zipf law, so that common terms are common in all of
them, topics of unequal weights, and documents of unequal lengths.

Topics and lengths are drawn by NumPy, and so are the same everywhere. Mixtures and words come from the array
module: only uniform numbers of it, and every draw by inversion.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import joblib
import numpy as np

from franchise import Corpus
from franchise._arrays import offsets_of
from franchise.corpus.large_arrays import handed_over
from franchise.corpus.synthetic import Planted

LENGTH, TOPICS_A_DOCUMENT = 100, 6
BLOCK = 2**24  # words at once: about a gigabyte of working memory
MOST_TOPICS = 2**16  # of what a word's topic is stored in
# Like PubMed: the mean length of a document and how far lengths spread (their logarithm); Zipf's law without
# the ranks of the commonest words, which are left out as stop words, and the parameter of the topics'
# Dirichlet around it, for the average term.
MEAN_LENGTH, SPREAD, LONGEST = 90.0, 0.5, 2_000
EXPONENT, LEFT_OUT, CLOSENESS = 1.07, 20, 0.015
# Weights of topics: the last ones are a thousandth of the first. Documents: about five topics of 90 words.
TOPICS_A_CONCENTRATION, DOCUMENT_CONCENTRATION, STICKS = 5.0, 1.2, 16

Array = np.ndarray[Any, Any]
# Returns the topics that documents may have, and the ends of their shares, the last 1: documents by places.
Mixtures = Callable[["Uniform", int], tuple[Any, Any]]


def array_module() -> Any:
    """Return CuPy where it can be used, else NumPy."""
    try:
        import cupy

        return cupy if cupy.cuda.runtime.getDeviceCount() else np
    except Exception:  # not installed, no driver, no device: there are many ways not to have a GPU
        return np


class Uniform:
    """Uniform numbers of an array module, neither 0 nor 1."""

    def __init__(self, xp: Any, seed: int) -> None:
        self.xp = xp
        self._generator = xp.random.default_rng(seed)

    def __call__(self, *shape: int) -> Any:
        """Return an array of this size."""
        return self.xp.clip(self._generator.random(shape), 1e-16, 1 - 1e-16)


class Recipe(NamedTuple):
    """What a corpus is drawn from."""

    topics: Array  # topics by terms, each row sums to 1
    mixtures: Mixtures
    lengths: Array  # of documents


def even(n_words: int, n_terms: int, n_topics: int, seed: int = 0, xp: Any = None) -> Planted:
    """Draw documents of 100 words with up to six topics each."""
    rng = np.random.default_rng(seed)
    topics = _dirichlet(rng, np.full(n_terms, 0.05), n_topics)

    def mixtures(uniform: Uniform, n: int) -> tuple[Any, Any]:
        xp, shape = uniform.xp, (n, TOPICS_A_DOCUMENT)
        here = _floor(xp, uniform(*shape) * n_topics, n_topics)
        # Half the square of a normal number, by Box and Muller: a Gamma of shape 1/2.
        gammas = -xp.log(uniform(*shape)) * xp.cos(np.pi * uniform(*shape)) ** 2
        ends = xp.cumsum(gammas, axis=1)
        return here, ends / ends[:, -1:]

    return _drawn(Recipe(topics, mixtures, _cut(np.full(-(-n_words // LENGTH), LENGTH), n_words)), seed, xp)


def like_pubmed(n_words: int, n_terms: int, n_topics: int, seed: int = 0, xp: Any = None) -> Planted:
    """Draw an HDP with topics around a Zipf law, and documents of about 90 words."""
    rng = np.random.default_rng(seed)
    base = (LEFT_OUT + np.arange(1, n_terms + 1)) ** -EXPONENT
    # The number of a term does not depend on its frequency, as in an alphabetical vocabulary.
    topics = _dirichlet(rng, CLOSENESS * n_terms * rng.permutation(base / base.sum()), n_topics)
    concentration = max(1.0, n_topics / TOPICS_A_CONCENTRATION)
    ends_of_weights = -np.expm1(np.cumsum(np.log1p(-rng.beta(1.0, concentration, n_topics))))
    ends_of_weights[-1] = 1.0

    def mixtures(uniform: Uniform, n: int) -> tuple[Any, Any]:
        xp = uniform.xp
        here = xp.searchsorted(xp.asarray(ends_of_weights), uniform(n, STICKS).ravel(), side="right")
        ends = -xp.expm1(xp.cumsum(xp.log(uniform(n, STICKS)), axis=1) / DOCUMENT_CONCENTRATION)
        ends[:, -1] = 1.0
        return here.reshape(n, STICKS), ends

    number = int(n_words / MEAN_LENGTH * 1.1) + 100
    lengths = rng.lognormal(np.log(MEAN_LENGTH) - SPREAD**2 / 2, SPREAD, number)
    lengths = np.clip(np.rint(lengths).astype(np.int64), 1, LONGEST)
    return _drawn(Recipe(topics, mixtures, _cut(lengths, n_words)), seed, xp)


def _drawn(recipe: Recipe, seed: int, xp: Any) -> Planted:
    xp = xp or array_module()
    n_terms = recipe.topics.shape[1]
    doc_ptr, uniform = offsets_of(recipe.lengths), Uniform(xp, seed)
    x, z = np.empty(doc_ptr[-1], np.int32), np.empty(doc_ptr[-1], np.uint16)
    ends_of_terms = xp.asarray(_ends(recipe.topics))
    cuts = np.unique(np.append(np.searchsorted(doc_ptr, np.arange(0, doc_ptr[-1], BLOCK)), doc_ptr.size - 1))
    for begin, end in pairwise(cuts.tolist()):
        words = slice(doc_ptr[begin], doc_ptr[end])
        topic = _topics_of_words(uniform, recipe.mixtures, doc_ptr[begin : end + 1] - doc_ptr[begin])
        term = xp.searchsorted(ends_of_terms, topic + uniform(topic.size), side="right")
        term = xp.minimum(term - topic * n_terms, n_terms - 1)
        x[words], z[words] = (_on_host(xp, term.astype(np.int32)), _on_host(xp, topic.astype(np.uint16)))
    if xp is not np:
        del ends_of_terms, topic, term
        xp.get_default_memory_pool().free_all_blocks()  # what comes next may want all of the GPU
    # Handed over, or the corpus would copy all words.
    corpus = Corpus(handed_over(x), handed_over(doc_ptr), [f"w{v}" for v in range(n_terms)])
    return Planted(corpus, recipe.topics, z)


def _topics_of_words(uniform: Uniform, mixtures: Mixtures, doc_ptr: Array) -> Any:
    """Return the topic of every word of some documents."""
    xp, n = uniform.xp, doc_ptr.size - 1
    here, ends = mixtures(uniform, n)
    places = ends.shape[1]
    document = xp.searchsorted(xp.asarray(doc_ptr[1:]), xp.arange(int(doc_ptr[-1])), side="right")
    ends = (ends + xp.arange(n)[:, None]).ravel()  # one sorted array for all documents
    place = xp.searchsorted(ends, document + uniform(document.size), side="right")
    return here.ravel()[xp.minimum(place, document * places + places - 1)]


def _ends(topics: Array) -> Array:
    """Return the cumulated topics, k added to those of topic k: one sorted array for all topics."""
    ends = np.cumsum(topics, axis=1)
    ends /= ends[:, -1:]
    ends += np.arange(len(topics))[:, None]
    return ends.ravel()


def _dirichlet(rng: np.random.Generator, parameters: Array, number: int) -> Array:
    if number > MOST_TOPICS:
        raise ValueError(f"{number:,} topics: give at most {MOST_TOPICS:,}")
    topics = np.empty((number, parameters.size))

    def draw(topic: Array, own: np.random.Generator) -> None:
        own.standard_gamma(parameters, out=topic)
        topic /= topic.sum()

    with ThreadPoolExecutor(joblib.cpu_count()) as threads:  # NumPy lets go of the interpreter's lock
        list(threads.map(draw, topics, rng.spawn(number)))
    return topics


def _cut(lengths: Array, n_words: int) -> Array:
    """Return the first lengths that have this number of words in total."""
    ends = np.cumsum(lengths)
    if ends[-1] < n_words:
        raise ValueError(f"documents of {ends[-1]:,} words in all are too few for {n_words:,}")
    number = int(np.searchsorted(ends, n_words)) + 1
    lengths = lengths[:number].copy()
    lengths[-1] -= ends[number - 1] - n_words
    return lengths


def _floor(xp: Any, values: Any, limit: int) -> Any:
    return xp.minimum(values.astype(np.int64), limit - 1)


def _on_host(xp: Any, array: Any) -> Array:
    return array if xp is np else xp.asnumpy(array)
