"""Gibbs sampling of the topics of a new document's words, with the topics held fixed.

The document's mixture has a Dirichlet prior with parameters a_k = alpha beta_k, where topic k has the weight
beta_k = m_k / (m + gamma). The remaining weight, gamma / (m + gamma), goes to one more topic, the rest, in
which all terms are equally likely. This is inexact only if two words of a document share a topic that no
training document has. With the mixture integrated out, a word of term v has topic k with probability
~ (n_jk + a_k) phi_kv, where n_jk does not count the word itself. Write::

    phi_kv = p_kv + s_k,    p_kv = n_kv / (n_k + V eta),    s_k = eta / (n_k + V eta)    (rest: 0 and 1 / V)

Then the weights have three parts whose sums are cheap to keep, as in the word move::

    term      sum over the topics that v has       (n_jk + a_k) p_kv
    document  sum over the topics of j             n_jk s_k
    corpus    sum over all topics and the rest     a_k s_k

The time for a word is proportional to the number of topics of its term and of its document.

The first words are drawn when nothing is known about the document's topics, and later words tend to follow
them. During the burn-in, whose draws are not used, the prior is therefore multiplied by a heat that falls to
one. With 20 sweeps this halves the effect of the start on the mean.

The words of a document are sorted by term, and they name its random stream: the same words give the same
answer in any order, batch or thread.
"""

from typing import Any, NamedTuple

import numpy as np

from franchise._arrays import Array
from franchise._jit import helper, inlined, kernel
from franchise.model.weights import cumulate, list_here
from franchise.random import shuffle, start_stream, uniform

_HOTTEST = 100.0  # the first words hardly affect each other; values from 10 to 100 differ little
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class NewDocuments(NamedTuple):
    """Documents for the kernels with fixed topics."""

    x: Array  # int32: the term of each word, in increasing order within a document
    doc_ptr: Array  # int64: document j is x[doc_ptr[j] : doc_ptr[j + 1]]
    content: Array  # uint64: a hash of the document's words, which names its stream


class FoldInScratch(NamedTuple):
    """Working memory for one document; all but the first two have the topic axis, with the rest last."""

    stream: Array
    z: Array  # the topic of each word of the document, -1: none yet
    n_k: Array  # n_jk
    p_k: Array  # n_jk + heat a_k
    kept_k: Array  # the sum of n_jk over the kept sweeps
    here: Array  # the topics that the document has had
    here_place: Array  # the place of each topic in `here`
    weight: Array


class FoldInSettings(NamedTuple):
    """How documents are folded in."""

    sweeps: int  # per document; the first seats its words one after another
    heat: Array  # of each sweep of the burn-in, which is left out of the mean
    share: float  # the weight of this draw of the topics in the result


def heats(burn_in: int) -> Array:
    """Return the heat of each sweep of the burn-in, which falls towards one."""
    return np.array([_HOTTEST ** (1.0 - sweep / burn_in) for sweep in range(burn_in)])


def new_fold_in_scratch(topics: Any, longest: int) -> FoldInScratch:
    """Allocate working memory for these topics and documents of at most `longest` words."""
    n = topics.a_k.size
    return FoldInScratch(
        stream=np.zeros(4, np.uint64),
        z=np.zeros(longest, np.int32),
        n_k=np.zeros(n, np.int64),
        p_k=topics.a_k.copy(),
        kept_k=np.zeros(n, np.int64),
        here=np.zeros(n, np.int32),
        here_place=np.zeros(n, np.int32),
        weight=np.zeros(n),
    )


@helper
def _mixed(bits):
    """Mix 64 bits, so that each depends on all of `bits` (the finaliser of SplitMix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@kernel
def hash_documents(documents):
    """Fill in documents.content."""
    for j in range(documents.content.size):
        bits = _GOLDEN
        for i in range(documents.doc_ptr[j], documents.doc_ptr[j + 1]):
            bits = _mixed((bits ^ np.uint64(documents.x[i])) + _GOLDEN)
        documents.content[j] = bits


@kernel
def shuffle_words(key, documents, stream):
    """Put the words of each document in random order."""
    for j in range(documents.content.size):
        start_stream(stream, key, documents.content[j])
        shuffle(stream, documents.x[documents.doc_ptr[j] : documents.doc_ptr[j + 1]])


@inlined
def _first_above(cumulated, u):
    """Return the first place whose cumulated weight exceeds u, or the last if rounding leaves none."""
    low, high = 0, cumulated.size - 1
    while low < high:
        middle = (low + high) // 2
        if cumulated[middle] > u:
            high = middle
        else:
            low = middle + 1
    return low


@inlined
def _draw_topic(topics, scratch, v, heat, part_document, n_here):
    """Draw the topic of a word of term v; return it and the sum of all weights."""
    first, end = topics.row_ptr[v], topics.row_ptr[v + 1]
    row_k, row_p = topics.row_k[first:end], topics.row_p[first:end]
    part_term = cumulate(row_k, row_p, scratch.p_k, scratch.weight)
    total = part_term + part_document + heat * topics.corpus_cumulated[-1]
    u = uniform(scratch.stream) * total
    if u < part_term:
        e = 0
        for other in range(row_k.size):
            e += scratch.weight[other] <= u
        return np.int64(row_k[e]), total
    u -= part_term
    if u < part_document:
        for i in range(n_here):
            k = np.int64(scratch.here[i])
            u -= scratch.n_k[k] * topics.s_k[k]
            if u < 0.0:
                return k, total
        u = 0.0  # reached only by rounding
    else:
        u -= part_document
    return np.int64(_first_above(topics.corpus_cumulated, u / heat)), total


@helper
def draw_word(topics, scratch, i, v, heat, part_document, n_here):
    """Remove word i, of term v, from its topic, if it has one, and draw a new topic.

    Return the new document part, the new number of listed topics, and the sum of the weights.
    """
    k = np.int64(scratch.z[i])
    if k >= 0:
        scratch.n_k[k] -= 1
        scratch.p_k[k] = scratch.n_k[k] + heat * topics.a_k[k]
        part_document -= topics.s_k[k]
    k, total = _draw_topic(topics, scratch, v, heat, part_document, n_here)
    scratch.z[i] = k
    scratch.n_k[k] += 1
    scratch.p_k[k] = scratch.n_k[k] + heat * topics.a_k[k]
    return part_document + topics.s_k[k], list_here(scratch, k, n_here), total


@helper
def document_part(topics, scratch, n_here):
    """Recompute the document part from scratch, to keep its rounding error near 1e-15."""
    total = 0.0
    for i in range(n_here):
        k = scratch.here[i]
        total += scratch.n_k[k] * topics.s_k[k]
    return total


@helper
def leave(topics, scratch, n_here):
    """Clear the working memory of the document."""
    for i in range(n_here):
        k = scratch.here[i]
        scratch.n_k[k], scratch.kept_k[k] = 0, 0
        scratch.p_k[k] = topics.a_k[k]


@helper
def _visit(key, documents, topics, scratch, settings, j):
    """Make the sweeps over document j; sum n_jk of kept sweeps in kept_k; return the number of topics."""
    first = documents.doc_ptr[j]
    n_j = documents.doc_ptr[j + 1] - first
    scratch.z[:n_j] = -1
    start_stream(scratch.stream, key, documents.content[j])
    n_here = np.int64(0)
    heat = 1.0
    for sweep in range(settings.sweeps):
        if sweep <= settings.heat.size:
            heat = settings.heat[sweep] if sweep < settings.heat.size else 1.0
            for k in range(topics.a_k.size):
                scratch.p_k[k] = scratch.n_k[k] + heat * topics.a_k[k]
        part_document = document_part(topics, scratch, n_here)
        for i in range(n_j):
            v = documents.x[first + i]
            part_document, n_here, _ = draw_word(topics, scratch, i, v, heat, part_document, n_here)
            if sweep >= settings.heat.size:
                scratch.kept_k[scratch.z[i]] += 1
    return n_here


@kernel
def fold_in(key, documents, topics, scratch, begin, end, settings, column_k, a_c, mixtures):
    """Add this draw's mean of (n_jk + a_k) / (n_j + alpha), times its share, to `mixtures`.

    `mixtures` has documents by columns; this changes the rows `begin`, ..., `end - 1`. `column_k` is the
    column of each topic, the rest last, and `a_c` is the sum of a_k in each column.
    """
    n_kept = settings.sweeps - settings.heat.size
    for j in range(begin, end):
        n_here = _visit(key, documents, topics, scratch, settings, j)
        scale = settings.share / (documents.doc_ptr[j + 1] - documents.doc_ptr[j] + topics.alpha)
        for c in range(a_c.size):
            mixtures[j, c] += scale * a_c[c]
        for i in range(n_here):
            k = scratch.here[i]
            mixtures[j, column_k[k]] += scale * (scratch.kept_k[k] / n_kept)
        leave(topics, scratch, n_here)


@inlined
def _settle_on_mean(topics, scratch, n_here, n_kept):
    """Set p_k to the mean of n_jk + a_k over the kept sweeps; return the mean of the document part."""
    total = 0.0
    for i in range(n_here):
        k = scratch.here[i]
        mean = scratch.kept_k[k] / n_kept
        scratch.p_k[k] = mean + topics.a_k[k]
        total += mean * topics.s_k[k]
    return total


@kernel
def predict_words(key, observed, topics, scratch, begin, end, settings, hidden, probability):
    """Add this draw's mean probability of each hidden word, times its share, to `probability`.

    That is the mean of sum_k (n_jk + a_k) / (n_j + alpha) phi_kv, where n_jk counts the observed words of
    the same document. It is linear in n_jk, so the mean of n_jk is enough.
    """
    for j in range(begin, end):
        n_here = _visit(key, observed, topics, scratch, settings, j)
        part_document = _settle_on_mean(topics, scratch, n_here, settings.sweeps - settings.heat.size)
        of_all_terms = part_document + topics.corpus_cumulated[-1]
        scale = settings.share / (observed.doc_ptr[j + 1] - observed.doc_ptr[j] + topics.alpha)
        for i in range(hidden.doc_ptr[j], hidden.doc_ptr[j + 1]):
            total = of_all_terms
            for place in range(topics.row_ptr[hidden.x[i]], topics.row_ptr[hidden.x[i] + 1]):
                total += topics.row_p[place] * scratch.p_k[topics.row_k[place]]
            probability[i] += scale * total
        leave(topics, scratch, n_here)
