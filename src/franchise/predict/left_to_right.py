"""The probability of a new document with fixed topics, by the left-to-right estimator.

Particles go through the words side by side, from left to right (Wallach, Murray, Salakhutdinov & Mimno
2009). Before each word, a particle redraws the topics of all earlier words (a Gibbs pass) and then draws the
topic of the word itself. If n_jk counts the i earlier words, the probability of the word is::

    p_i = sum_k (n_jk + a_k) / (i + alpha) phi_kv

The product of a particle's p_i is an unbiased estimate of p(document), because the passes do not change the
distribution of the earlier topics (Buntine 2009); so is the mean over particles. But products of many factors
vary widely, and a few lucky particles dominate the mean. Therefore, once the particles' shares of the mean
are uneven, particles are redrawn in proportion to their shares (systematic resampling), and continue with
equal shares. The estimate, a product over words of means weighted by the shares, stays unbiased (sequential
Monte Carlo), and 20 particles do better than 400 without resampling.

The time grows with the square of the document's length.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from franchise._arrays import Array
from franchise._jit import helper, inlined, kernel
from franchise.model.weights import list_here
from franchise.predict.fold_in import (
    FoldInScratch,
    document_part,
    draw_word,
    leave,
    new_fold_in_scratch,
)
from franchise.random import start_stream, uniform

_FEWEST_EFFECTIVE = 0.5  # of the particles, by 1 / (sum of squared shares)


class LeftToRightScratch(NamedTuple):
    """Working memory for one document at a time."""

    one: FoldInScratch  # for the current particle
    z: Array  # (particle, word): the topics that each particle has drawn
    z_kept: Array  # a copy of z before particles are redrawn
    share: Array  # of each particle, summing to one


def new_left_to_right_scratch(topics: Any, longest: int, particles: int) -> LeftToRightScratch:
    """Allocate working memory for these topics, documents of at most `longest` words, and `particles`."""
    return LeftToRightScratch(
        one=new_fold_in_scratch(topics, longest),
        z=np.zeros((particles, longest), np.int32),
        z_kept=np.zeros((particles, longest), np.int32),
        share=np.zeros(particles),
    )


@inlined
def _take_on(topics, one, z, n):
    """Load a particle with topics z[:n] into `one`; return its number of topics."""
    n_here = np.int64(0)
    for i in range(n):
        k = z[i]
        one.z[i] = k
        one.n_k[k] += 1
        one.p_k[k] = one.n_k[k] + topics.a_k[k]
        n_here = list_here(one, k, n_here)
    return n_here


@helper
def _advance(documents, topics, one, z, first, last):
    """Draw the topics of a particle's words up to the new word `last`; return p_i of that word."""
    n_here = _take_on(topics, one, z, last)
    part_document = document_part(topics, one, n_here)
    one.z[last] = -1
    total = 0.0
    for i in range(last + 1):
        v = documents.x[first + i]
        part_document, n_here, total = draw_word(topics, one, i, v, 1.0, part_document, n_here)
        z[i] = one.z[i]
    leave(topics, one, n_here)
    return total / (last + topics.alpha)


@inlined
def _is_uneven(share):
    """Return whether a few particles have most of the weight."""
    squares = 0.0
    for r in range(share.size):
        squares += share[r] * share[r]
    return _FEWEST_EFFECTIVE * share.size * squares > 1.0


@inlined
def _draw_particles(scratch, n):
    """Redraw the particles, with the topics of their first n words, by their shares; make shares equal."""
    n_particles = scratch.share.size
    for r in range(n_particles):
        for i in range(n):
            scratch.z_kept[r, i] = scratch.z[r, i]
    u = uniform(scratch.one.stream)
    chosen, up_to = 0, scratch.share[0]
    for r in range(n_particles):
        while chosen < n_particles - 1 and up_to * n_particles <= u + r:
            chosen += 1
            up_to += scratch.share[chosen]
        for i in range(n):
            scratch.z[r, i] = scratch.z_kept[chosen, i]
    scratch.share[:] = 1.0 / n_particles


@inlined
def _estimate(documents, topics, scratch, j):
    """Return the logarithm of the estimate for document j."""
    first = documents.doc_ptr[j]
    n_j = documents.doc_ptr[j + 1] - first
    scratch.share[:] = 1.0 / scratch.share.size
    log_p = 0.0
    for last in range(n_j):
        mean = 0.0
        for r in range(scratch.share.size):
            scratch.share[r] *= _advance(documents, topics, scratch.one, scratch.z[r], first, last)
            mean += scratch.share[r]
        for r in range(scratch.share.size):
            scratch.share[r] /= mean
        log_p += math.log(mean)
        if _is_uneven(scratch.share):
            _draw_particles(scratch, last + 1)
    return log_p


@kernel
def left_to_right(key, documents, topics, scratch, begin, end, log_p):
    """Set log_p[j] to the logarithm of the estimate of p(document j), for `begin`, ..., `end - 1`."""
    for j in range(begin, end):
        start_stream(scratch.one.stream, key, documents.content[j])
        log_p[j] = _estimate(documents, topics, scratch, j)
