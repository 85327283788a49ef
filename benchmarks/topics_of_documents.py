"""Topics to start from: documents drawn at random, then those that the topics so far explain worst.

Topics that begin at documents differ from the first sweep. Random topics take hundreds of sweeps on a large
corpus. Small topics are in few documents, so random documents miss them. But if a topic is missing, its words
are explained no better than by their overall frequency.
"""

from typing import Any

import numpy as np
import scipy.sparse

from benchmarks.planted_corpora import array_module
from franchise import Corpus
from franchise._arrays import Array, count_terms

OWN = 0.3  # weight of the document's words in its topic; the rest are the frequencies of all terms
ALIKE = 0.8  # two topics are one if their cosine is larger, minus what all topics have in common
TRIED = 100_000  # documents; a tenth where there is no GPU
SHORTEST = 40  # words that a document must have to be the beginning of a topic
WORDS, STEPS, COMMON = 20_000, 5, 0.02  # at once, of EM, and what needs no topic


def at_random_documents(corpus: Corpus, number: int, seed: int = 0) -> Array:
    """Return topics that each begin at a random document."""
    rng = np.random.default_rng(seed)
    some = rng.choice(corpus.n_documents, min(number, corpus.n_documents), replace=False)
    return _begun(corpus, [corpus.x[corpus.doc_ptr[j] : corpus.doc_ptr[j + 1]] for j in some])


def distinct(counts: Any) -> Array:
    """Return topics by terms with similar ones added up, the largest first."""
    xp = array_module()
    counts = counts[np.argsort(-counts.sum(axis=1), kind="stable")]
    common = counts.sum(axis=0) / counts.sum()
    directions = _directions(counts.toarray(), common, xp)
    # Each is added to the first topic that is similar to it.
    goes_to = _on_host(xp, xp.argmax(directions @ directions.T > ALIKE, axis=1))
    place = np.unique(goes_to, return_inverse=True)[1]
    goes = scipy.sparse.csr_array((np.ones(place.size), (place, np.arange(place.size))))
    return np.asarray((goes @ counts).toarray())


def without_like(topics: Array, phi: Array, common: Array) -> Array:
    """Return for each topic whether none of phi is similar to it, minus the frequencies of all terms."""
    xp = array_module()
    cosines = _directions(topics, common, xp) @ _directions(phi, common, xp).T
    return _on_host(xp, cosines.max(axis=1) <= ALIKE)


def at_unexplained_documents(corpus: Corpus, phi: Array, number: int, seed: int = 0) -> Array:
    """Return topics that begin at the documents with the most words that the topics phi do not explain."""
    xp, rng = array_module(), np.random.default_rng(seed)
    long = np.flatnonzero(corpus.document_lengths >= SHORTEST)
    tried = min(long.size, TRIED if xp is not np else TRIED // 10)
    documents = np.sort(rng.choice(long, tried, replace=False))
    gains = _gains(corpus, documents, phi, xp)
    worst = np.argsort([gain.mean() for gain in gains], kind="stable")[:number]
    words = [corpus.x[corpus.doc_ptr[j] : corpus.doc_ptr[j + 1]] for j in documents[worst]]
    return _begun(corpus, words, [1.0 / (1.0 + np.exp(gains[i])) for i in worst])


def _begun(corpus: Corpus, documents: list[Array], weights: list[Array] | None = None) -> Array:
    phi = np.tile((1.0 - OWN) * _frequencies(corpus), (len(documents), 1))
    for i, words in enumerate(documents):
        own = np.ones(words.size) if weights is None else weights[i]
        phi[i] += OWN * np.bincount(words, own, corpus.n_terms) / own.sum()
    return phi


def _gains(corpus: Corpus, documents: Array, phi: Array, xp: Any) -> list[Array]:
    """Return by how much topics make each word of some documents likelier than it is in the corpus (log)."""
    by_term = xp.asarray(np.ascontiguousarray(phi.T), np.float32)
    frequencies = xp.asarray(_frequencies(corpus), np.float32)
    gains: list[Array] = []
    lengths = corpus.document_lengths[documents]
    for block in np.split(documents, np.flatnonzero(np.diff(np.cumsum(lengths) // WORDS)) + 1):
        words = [corpus.x[corpus.doc_ptr[j] : corpus.doc_ptr[j + 1]] for j in block]
        x, ends = xp.asarray(np.concatenate(words)), np.cumsum([one.size for one in words])
        gain = _gains_of_block(by_term[x], frequencies[x], ends, xp)
        gains += np.split(_on_host(xp, gain), ends[:-1])
    return gains


def _gains_of_block(rows: Any, frequencies: Any, ends: Array, xp: Any) -> Any:
    """Return the same of the words of documents that end there; `rows` has what topics say of each word."""
    document = xp.asarray(np.repeat(np.arange(ends.size), np.diff(ends, prepend=0)))
    adds_up = _by_document(ends, xp)
    theta = xp.full((ends.size, rows.shape[1]), 1.0 / rows.shape[1], np.float32)
    for _ in range(STEPS):
        shares = rows * theta[document]
        shares /= (shares.sum(axis=1) + COMMON * frequencies)[:, None]
        theta = adds_up @ shares
        theta /= theta.sum(axis=1, keepdims=True)
    explained = (rows * theta[document]).sum(axis=1)
    return xp.log((explained + COMMON * frequencies) / frequencies)


def _by_document(ends: Array, xp: Any) -> Any:
    """Return the matrix that adds up rows of words to rows of documents."""
    sparse = scipy.sparse
    if xp is not np:
        from cupyx.scipy import sparse
    parts = (np.ones(ends[-1], np.float32), np.arange(ends[-1]), np.append(0, ends))
    return sparse.csr_matrix(tuple(map(xp.asarray, parts)), shape=(ends.size, ends[-1]))


def _directions(topics: Array, common: Array, xp: Any) -> Any:
    directions = xp.asarray(topics, np.float32)
    directions = directions / directions.sum(axis=1, keepdims=True) - xp.asarray(common, np.float32)
    return directions / xp.linalg.norm(directions, axis=1, keepdims=True)


def _frequencies(corpus: Corpus) -> Array:
    counts = count_terms(corpus.x, corpus.n_terms) + 0.5
    return np.asarray(counts / counts.sum())


def _on_host(xp: Any, array: Any) -> Array:
    return np.asarray(array if xp is np else xp.asnumpy(array))
