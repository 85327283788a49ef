"""Slow, obvious twins of what is done with fixed topics, and exact answers for short documents.

Every count is taken afresh for every choice. What is kept is the order that decides which draw a uniform
number means: the topics of a term by number, those that the document has had in the order of their coming.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import accumulate, product
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from franchise._arrays import CorpusArrays
from franchise.corpus import Corpus
from franchise.random import FOLD_IN
from franchise.sampling import Draw
from tests.reference.choices import Choose, Drawn
from tests.reference.enumeration import Concentrations, Documents
from tests.reference.franchise import corpus_of, shuffle

_MASK = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15


def draw_of(counts: Sequence[Sequence[int]], m_k: Sequence[int], at: Concentrations) -> Draw:
    """Return a draw with these n_kv and m_k."""
    counts = np.array(counts, np.int32)
    return Draw(
        sweep=0,
        names=np.arange(len(counts)),
        topic_terms=sp.csr_array(counts),
        document_counts=sp.csr_array((0, len(counts)), dtype=np.int32),
        m_k=np.array(m_k, np.int64),
        concentrations=np.array(at),
    )


@st.composite
def draws_of_topics(draw, n_terms, max_topics=4):
    """Return a draw over this number of terms; some topics may lack terms, some terms topics."""
    n_topics = draw(st.integers(1, max_topics))
    rows = st.lists(st.sampled_from([0, 0, 1, 2, 7]), min_size=n_terms, max_size=n_terms)
    counts = draw(st.lists(rows, min_size=n_topics, max_size=n_topics))
    m_k = draw(st.lists(st.integers(1, 5), min_size=n_topics, max_size=n_topics))
    at = [draw(st.floats(0.05, 5.0)) for _ in range(3)]
    return draw_of(counts, m_k, Concentrations(*at))


AT = Concentrations(alpha=0.8, gamma=0.5, eta=0.3)
THREE = draw_of([[9, 0, 2, 0], [0, 5, 5, 0], [1, 0, 0, 6]], [4, 2, 1], AT)
TWO = draw_of([[3, 3, 3, 0], [0, 0, 1, 1]], [1, 3], Concentrations(alpha=2.0, gamma=1.5, eta=0.1))
# Topics with few terms in common: particles soon lie far apart.
APART = draw_of([[50, 50, 0, 0], [0, 0, 50, 50], [50, 0, 50, 0]], [2, 2, 2], AT._replace(eta=0.05))
DOCUMENTS = [[0], [3, 3], [2, 0, 2], [1, 2, 0, 3], [3, 1, 1, 0, 2]]  # over the four terms of these


def arrays_of(documents: Documents, n_terms: int) -> CorpusArrays:
    """Return a corpus that may be without any words."""
    doc_ptr = np.cumsum([0, *map(len, documents)])
    return CorpusArrays(np.array([v for words in documents for v in words], np.int32), doc_ptr, n_terms)


def random_corpus(seed: int, n_documents: int) -> Corpus:
    """Return documents of 1 to 29 words over four terms, after two without words."""
    rng = np.random.default_rng(seed)
    lengths = [0, 0, *rng.integers(1, 30, size=n_documents - 2)]
    return corpus_of([rng.integers(0, 4, size=n).tolist() for n in lengths], 4)


@st.composite
def cases(draw):
    """Return draws of topics, documents, and the number of terms."""
    n_terms = draw(st.integers(1, 4))
    words = st.lists(st.integers(0, n_terms - 1), max_size=6)
    documents = draw(st.lists(words, min_size=1, max_size=3))
    return draw(st.lists(draws_of_topics(n_terms), min_size=1, max_size=3)), documents, n_terms


class Topics(NamedTuple):
    """Dense; the rest is the last."""

    p: np.ndarray  # (topic, term): n_kv / (n_k + V eta)
    s: np.ndarray  # eta / (n_k + V eta)
    a: np.ndarray  # alpha beta_k

    @property
    def phi(self) -> np.ndarray:
        return self.p + self.s[:, None]


def topics_of(draw: Draw) -> Topics:
    alpha, gamma, eta = draw.concentrations
    counts = draw.topic_terms.toarray()
    n_terms = counts.shape[1]
    p = [[n_kv / (sum(row) + n_terms * eta) for n_kv in row] for row in counts.tolist()]
    s = [eta / (sum(row) + n_terms * eta) for row in counts.tolist()]
    beta = [m_k / (sum(draw.m_k) + gamma) for m_k in draw.m_k] + [gamma / (sum(draw.m_k) + gamma)]
    return Topics(np.array([*p, [0.0] * n_terms]), np.array([*s, 1.0 / n_terms]), alpha * np.array(beta))


# -------------------------------------------------------------------- exact answers


class Exact(NamedTuple):
    """Every z of a document is gone through."""

    p: float  # p(words)
    theta: np.ndarray  # posterior mean of the mixture


def exact(topics: Topics, words: Sequence[int]) -> Exact:
    """Sum over all z: prod_i (n_k of those before + a_k) / (i + alpha) phi_kv."""
    n_topics, alpha, phi = topics.a.size, topics.a.sum(), topics.phi
    total, theta = 0.0, np.zeros(n_topics)
    for z in product(range(n_topics), repeat=len(words)):
        probability, n = 1.0, np.zeros(n_topics)
        for i, (v, k) in enumerate(zip(words, z)):
            probability *= (n[k] + topics.a[k]) / (i + alpha) * phi[k, v]
            n[k] += 1
        total += probability
        theta += probability * (n + topics.a) / (len(words) + alpha)
    return Exact(total, theta / total)


def exact_p(topics: Topics, words: Sequence[int]) -> float:
    """Return p(words) of a longer document: all z with the same n_jk so far are taken together."""
    by_counts = {(0,) * topics.a.size: 1.0}
    for i, v in enumerate(words):
        after: dict[tuple[int, ...], float] = defaultdict(float)
        for n, p in by_counts.items():
            for k, a_k in enumerate(topics.a):
                more = (*n[:k], n[k] + 1, *n[k + 1 :])
                after[more] += p * (n[k] + a_k) / (i + topics.a.sum()) * topics.phi[k, v]
        by_counts = after
    return sum(by_counts.values())


# -------------------------------------------------------------------- twins


def content(words: Sequence[int]) -> int:
    """Return the hash that names a document's stream."""
    bits = _GOLDEN
    for v in sorted(words):
        bits = ((bits ^ v) + _GOLDEN) & _MASK
        bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & _MASK
        bits ^= bits >> 31
    return bits


def cut(words: Sequence[int], choose: Choose) -> tuple[list[int], list[int]]:
    """Return the two halves of a document, the first of n // 2 words."""
    shuffled = sorted(words)
    choose.start(content(words))
    shuffle(shuffled, choose)
    half = len(words) // 2
    return sorted(shuffled[:half]), sorted(shuffled[half:])


class Visit:
    """The words of one document and their topics."""

    def __init__(self, topics: Topics, words: Sequence[int]) -> None:
        self.topics, self.words = topics, sorted(words)
        self.z: list[int | None] = [None] * len(words)
        self.here: list[int] = []

    def counts(self) -> np.ndarray:
        n = Counter(self.z)
        return np.array([n[k] for k in range(self.topics.a.size)])

    def draw(self, i: int, choose: Choose, heat: float = 1.0) -> float:
        """Draw the topic of word i; return its probability, summed over topics, given the others."""
        v, n_topics = self.words[i], self.topics.a.size
        self.z[i] = None
        n = self.counts()
        of_term = [k for k in range(n_topics) if self.topics.p[k, v] > 0]
        weights = [(n[k] + heat * self.topics.a[k]) * self.topics.p[k, v] for k in of_term]
        weights += [n[k] * self.topics.s[k] for k in self.here]
        weights += [heat * self.topics.a[k] * self.topics.s[k] for k in range(n_topics)]
        self.z[i] = [*of_term, *self.here, *range(n_topics)][choose(weights)]
        if self.z[i] not in self.here:
            self.here.append(self.z[i])
        return sum(weights) / (n.sum() + self.topics.a.sum())


def fold_in(topics: Topics, words: Sequence[int], choose: Choose, sweeps: int, heats: Sequence[float]):
    """Return the mean of the mixture over the sweeps after the heated ones, and the last topics."""
    choose.start(content(words))
    visit = Visit(topics, words)
    total = np.zeros(topics.a.size)
    for sweep in range(sweeps):
        for i in range(len(words)):
            visit.draw(i, choose, heats[sweep] if sweep < len(heats) else 1.0)
        if sweep >= len(heats):
            total += (visit.counts() + topics.a) / (len(words) + topics.a.sum())
    return total / (sweeps - len(heats)), visit.z


def completion(
    draws: Sequence[Draw], words: Sequence[int], seed: int, sweeps: int, heats: Sequence[float]
) -> float:
    """Return the log probability of the second half of a document given the first."""
    observed, hidden = cut(words, Drawn((seed, 1, 0, FOLD_IN)))
    probability = np.zeros(len(hidden))
    for number, draw in enumerate(draws):
        topics = topics_of(draw)
        theta, _ = fold_in(topics, observed, Drawn((seed, 0, number, FOLD_IN)), sweeps, heats)
        probability += [float(theta @ topics.phi[:, v]) / len(draws) for v in hidden]
    return sum(math.log(p) for p in probability)


class Streams(Drawn):
    """Choices by the streams of a key, and bare uniform numbers of the stream at hand."""

    def uniform(self) -> float:
        return self._stream.uniform()


class LeftToRight(NamedTuple):
    log_p: float
    n_drawn_anew: int  # how often particles were resampled


def left_to_right(topics: Topics, words: Sequence[int], choose: Streams, particles: int) -> LeftToRight:
    """Return the logarithm of the estimate of p(words)."""
    choose.start(content(words))
    visits = [Visit(topics, words) for _ in range(particles)]
    share, log_p, n_drawn_anew = [1.0 / particles] * particles, 0.0, 0
    for last in range(len(words)):
        for r, visit in enumerate(visits):
            visit.here = list(dict.fromkeys(visit.z[:last]))
            share[r] *= [visit.draw(i, choose) for i in range(last + 1)][-1]
        log_p += math.log(sum(share))
        share = [own / sum(share) for own in share]
        if 1.0 / sum(own**2 for own in share) < particles / 2:
            n_drawn_anew += last < len(words) - 1  # after the last it changes nothing
            u, ends = choose.uniform(), list(accumulate(share))
            chosen = [sum(end * particles <= u + r for end in ends[:-1]) for r in range(particles)]
            for visit, z in zip(visits, [list(visits[i].z) for i in chosen]):
                visit.z = z
            share = [1.0 / particles] * particles
    return LeftToRight(log_p, n_drawn_anew)
