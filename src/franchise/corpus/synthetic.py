"""Corpora drawn from a known model, for learning, testing and measuring.

``five_topics`` draws the corpus of the paper's section 4.1, ``planted`` a mixed-membership corpus of any size
with known topics, and ``draw_hdp`` a corpus from the HDP itself, by the Chinese restaurant franchise of the
paper's section 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from franchise._arrays import Floats, offsets_of
from franchise._settings import whole_number
from franchise.corpus.checks import numbered
from franchise.corpus.corpus import Corpus
from franchise.errors import SettingsError

TopicArray = npt.NDArray[np.int32]


class Planted(NamedTuple):
    """A corpus with its true topics.

    Attributes
    ----------
    corpus
        The documents.
    topics
        Probability of each term in each topic; float64, topics by terms.
    z
        Topic of each word, on the axis of ``corpus.x``; int32.
    """

    corpus: Corpus
    topics: Floats
    z: TopicArray


class HDPDraw(NamedTuple):
    """A corpus drawn from the HDP, with its seating.

    Attributes
    ----------
    corpus
        The documents.
    t_ji
        Table of each word, on the axis of ``corpus.x``, numbered from 0 within its document in order of
        appearance.
    k_jt
        Topic of each table, with the tables of all documents end to end, numbered from 0 in order of
        appearance.
    """

    corpus: Corpus
    t_ji: TopicArray
    k_jt: TopicArray


def five_topics(seed: int, *, twin: float = 0.11, mixed: int = 80) -> Planted:
    """Draw the paper's synthetic corpus (section 4.1): 100 documents of 50 words, 12 terms, 5 topics.

    Topics 1 and 2 share terms 3 to 9, with an eighth each, and differ only in the division of the last eighth
    between terms 1 and 2. Topics 3 to 5 use terms 10 to 12. `mixed` documents have two topics, the others
    have one. Mixed documents come in sets of 20, one per ordered pair of topics. A document of the first set
    has 19 words of the first topic of its pair, of the second set 31, of the third 6, and of the fourth 44;
    its other words, up to 50, are from the second topic. Each topic has exactly a fifth of all words.

    Parameters
    ----------
    seed
        The seed of the random numbers.
    twin
        Probability of term 1 in topic 1, and of term 2 in topic 2; above 0.0625 (where the twins are one
        topic) and below 0.125 (where term 1 separates them at once).
    mixed
        Number of documents with two topics: 0, 20, 40, 60 or 80. (The paper only says that each document has
        at most two topics.)

    Returns
    -------
    Planted
        The corpus, its topics and the topic of each word.
    """
    _require(0.0625 < twin < 0.125, f"twin is {twin}; it must lie between 0.0625 and 0.125, both excluded")
    is_set = whole_number("mixed", mixed, 0, 80) % 20 == 0
    _require(is_set, f"mixed is {mixed}; give 0, 20, 40, 60 or 80 of the 100 documents")
    rng = np.random.default_rng(seed)
    topics = _five_topics(twin)
    # With equal halves in every document, fifteen kinds of documents would look like fifteen topics.
    documents = np.array([(a, b, n) for a in range(5) for b in range(5) for n in (6, 19, 31, 44)])
    documents[~np.isin(documents[:, 2], (19, 31, 6, 44)[: mixed // 20]), 2] = 50
    documents = rng.permutation(documents)
    words = np.stack([documents[:, 2], 50 - documents[:, 2]], axis=1)
    z = np.repeat(documents[:, :2].ravel(), words.ravel()).astype(np.int32)
    vocabulary = [f"w{v}" for v in range(1, 13)]
    return _plant(rng, topics, z, np.full(100, 50), vocabulary)


def planted(
    *,
    n_topics: int,
    n_terms: int,
    n_documents: int,
    document_length: int | Sequence[int] | npt.NDArray[Any],
    seed: int,
    topic_concentration: float = 0.1,
    document_concentration: float = 3.0,
    overlap: float = 0.0,
) -> Planted:
    """Draw a corpus with a known number of topics (latent Dirichlet allocation).

    Parameters
    ----------
    n_topics, n_terms, n_documents
        Sizes. The vocabulary includes terms that no word uses, and a topic may have no words.
    document_length
        Words in every document, or an array with the length of each.
    seed
        The seed of the random numbers.
    topic_concentration
        Each topic is drawn from the symmetric Dirichlet with this parameter for every term.
    document_concentration
        The topic shares of a document are drawn from the symmetric Dirichlet with this *total* over topics.
    overlap
        Above 0, topics (0, 1), (2, 3), ... are similar pairs: each topic is ``overlap`` times a draw that the
        pair shares, plus ``1 - overlap`` times a draw of its own.

    Returns
    -------
    Planted
        The corpus, its topics and the topic of each word.
    """
    _at_least_one(n_topics=n_topics, n_terms=n_terms, n_documents=n_documents)
    _positive(topic_concentration=topic_concentration, document_concentration=document_concentration)
    _require(0 <= overlap < 1, f"overlap is {overlap}; it must be at least 0 and below 1")
    odd = f"n_topics is {n_topics}; topics overlap in pairs, so give an even number"
    _require(not (overlap > 0 and n_topics % 2), odd, "odd-number")
    lengths = _lengths(document_length, "document_length", n_documents)
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_terms, topic_concentration), size=n_topics)
    if overlap > 0:
        common = rng.dirichlet(np.full(n_terms, topic_concentration), size=n_topics // 2)
        topics = overlap * np.repeat(common, 2, axis=0) + (1 - overlap) * topics
    shares = rng.dirichlet(np.full(n_topics, document_concentration / n_topics), size=n_documents)
    counts = rng.multinomial(lengths, shares)
    z = np.repeat(np.tile(np.arange(n_topics, dtype=np.int32), n_documents), counts.ravel())
    return _plant(rng, topics, z, lengths, numbered(n_terms))


def draw_hdp(
    *,
    document_lengths: Sequence[int] | npt.NDArray[Any],
    n_terms: int,
    alpha: float,
    gamma: float,
    eta: float,
    seed: int,
) -> HDPDraw:
    """Draw a corpus from the HDP topic model by the Chinese restaurant franchise (the paper's section 2).

    A word joins table t of its document with weight n_jt, or a new table with weight alpha. A new table takes
    topic k with weight m_k (its number of tables in all documents), or a new topic with weight gamma. A topic
    is drawn from the symmetric Dirichlet(eta) over the terms, and each of its words is drawn from the topic.

    Parameters
    ----------
    document_lengths
        Number of words in each document; 0 is allowed.
    n_terms
        Size of the vocabulary.
    alpha, gamma
        Concentrations of the Dirichlet processes of the documents and of the corpus.
    eta
        Parameter of the Dirichlet of the topics, for every term.
    seed
        The seed of the random numbers.

    Returns
    -------
    HDPDraw
        The corpus and its seating.
    """
    _at_least_one(n_terms=n_terms)
    _positive(alpha=alpha, gamma=gamma, eta=eta)
    lengths = _lengths(document_lengths, "document_lengths", len(document_lengths))
    rng = np.random.default_rng(seed)
    x: list[int] = []
    t_ji: list[int] = []
    k_jt: list[int] = []
    m_k: list[int] = []
    phi: list[Floats] = []
    for length in lengths.tolist():
        n_jt: list[int] = []
        first = len(k_jt)  # table t of this document is table first + t of the franchise
        for _ in range(length):
            t = _weighted(rng, [*n_jt, alpha])
            if t == len(n_jt):
                k = _weighted(rng, [*m_k, gamma])
                if k == len(m_k):
                    m_k.append(0)
                    phi.append(rng.dirichlet(np.full(n_terms, eta)))
                m_k[k] += 1
                k_jt.append(k)
                n_jt.append(0)
            n_jt[t] += 1
            t_ji.append(t)
            x.append(_weighted(rng, phi[k_jt[first + t]]))
    corpus = Corpus(np.array(x, dtype=np.int32), offsets_of(lengths), numbered(n_terms))
    return HDPDraw(corpus, np.array(t_ji, dtype=np.int32), np.array(k_jt, dtype=np.int32))


def _weighted(rng: np.random.Generator, weights: npt.ArrayLike) -> int:
    """Draw an index with probability proportional to its weight."""
    ends = np.cumsum(weights)
    i = int(np.searchsorted(ends, rng.random() * ends[-1], side="right"))
    return min(i, len(ends) - 1)  # rounding can make the product equal to the total


def _five_topics(twin: float) -> Floats:
    topics = np.zeros((5, 12))
    topics[:2, 2:9] = 0.125
    topics[0, :2] = twin, 0.125 - twin
    topics[1, :2] = 0.125 - twin, twin
    for k in range(3):
        topics[2 + k, 9:] = np.roll([0.8, 0.1, 0.1], k)
    return topics


def _plant(
    rng: np.random.Generator,
    topics: Floats,
    z: TopicArray,
    lengths: npt.NDArray[np.int64],
    vocabulary: Sequence[str],
) -> Planted:
    """Shuffle the topics of the words within each document, then draw the words."""
    documents = np.repeat(np.arange(len(lengths)), lengths)
    # Sorting by document plus a uniform number shuffles within documents, so the order does not reveal z.
    z = z[np.argsort(documents + rng.random(len(z)), kind="stable")]
    x = _words_of_topics(rng, topics, z)
    x.flags.writeable = z.flags.writeable = False
    return Planted(Corpus(x, offsets_of(lengths), vocabulary), topics, z)


def _words_of_topics(rng: np.random.Generator, topics: Floats, z: TopicArray) -> npt.NDArray[np.int32]:
    x = np.empty(len(z), dtype=np.int32)
    # NumPy sorts 16-bit integers by radix, ten times faster than wider ones.
    keys = z.astype(np.int16) if len(topics) < 2**15 else z
    words = np.split(np.argsort(keys, kind="stable"), np.cumsum(np.bincount(z, minlength=len(topics)))[:-1])
    for topic, places in zip(topics, words, strict=True):
        ends = np.cumsum(topic)
        ends /= ends[-1]  # exactly 1 at the end, which uniform numbers never reach
        x[places] = np.searchsorted(ends, rng.random(len(places)), side="right")
    return x


def _lengths(
    lengths: int | Sequence[int] | npt.NDArray[Any], name: str, n_documents: int
) -> npt.NDArray[np.int64]:
    array = np.asarray(lengths)
    if array.ndim == 0:
        array = np.full(n_documents, array)
    each = f"{name} has shape {array.shape}; give one length for each of {n_documents:,} documents"
    _require(array.shape == (n_documents,), each, "wrong-shape")
    is_count = array.dtype.kind in "iu" and bool((array >= 0).all())
    _require(is_count, f"{name} must be whole numbers, 0 or more", "not-a-whole-number")
    _require(array.sum() > 0, f"{name}: every document is empty; give at least one word", "empty-corpus")
    return array.astype(np.int64)


def _at_least_one(**sizes: int) -> None:
    for name, size in sizes.items():
        _require(size >= 1, f"{name} is {size}; it must be at least 1")


def _positive(**values: float) -> None:
    for name, value in values.items():
        message = f"{name} is {value}; it must be positive and finite"
        _require(0 < value < np.inf, message, "not-a-positive-number")


def _require(is_so: bool, message: str, code: str = "out-of-range") -> None:
    if not is_so:
        raise SettingsError(message, code=code)
