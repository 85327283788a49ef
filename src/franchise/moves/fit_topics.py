"""Topics fitted to documents by EM, and a start from them.

The model of the fit is a plain mixture: word i of document j is term v with probability proportional to
common_v + sum_k theta_jk phi_vk (`engines.starting_topics`). The fit draws no random number. A chain then
draws the topic of every word from the fitted mixture, with its own random numbers.
"""

from typing import NamedTuple

import numpy as np

from franchise._jit import helper, kernel
from franchise.model.state import Array
from franchise.moves.parts.first_tables import take_table
from franchise.random import start_stream, uniform


@helper
def _shares(theta, row, common, weight):
    """Set `weight` to each topic's part in a word of a term; return the sum, the common part included."""
    for k in range(theta.size):
        weight[k] = theta[k] * row[k]
    # Four sums side by side: one alone would wait for every addition before the next.
    a, b, c, d = common, 0.0, 0.0, 0.0
    whole = theta.size // 4 * 4
    for k in range(0, whole, 4):
        a += weight[k]
        b += weight[k + 1]
        c += weight[k + 2]
        d += weight[k + 3]
    for k in range(whole, theta.size):
        a += weight[k]
    return (a + b) + (c + d)


@helper
def _set_theta(theta, expected):
    """Set the mixture of a document to the expected shares of its words."""
    total = 0.0
    for k in range(theta.size):
        total += expected[k]
    if total > 0.0:
        for k in range(theta.size):
            theta[k] = expected[k] / total


@helper
def _add_shares(share, weight, expected, row):
    """Give each topic its part in the words of a term (E step)."""
    for k in range(weight.size):
        part = share * weight[k]
        expected[k] += part
        row[k] += part


@helper
def _set_phi(phi, new_phi, sums):
    """Set the topics to the shares of their terms (M step); one that has lost all words stays as it is."""
    sums[:] = 0.0
    for r in range(new_phi.shape[0]):
        for k in range(sums.size):
            sums[k] += new_phi[r, k]
    for r in range(new_phi.shape[0]):
        for k in range(sums.size):
            if sums[k] > 0.0:
                phi[r, k] = new_phi[r, k] / sums[k]


@kernel
def fit_step(cells, topics, theta, new_phi, weight, expected):
    """Make one step of EM for the topics and for the mixtures theta of all documents."""
    phi = topics.phi
    new_phi[:, :] = 0.0
    for j in range(theta.shape[0]):
        expected[:] = 0.0
        for cell in range(cells.cell_ptr[j], cells.cell_ptr[j + 1]):
            v = cells.terms[cell]
            row = topics.row[v]
            share = cells.counts[cell] / _shares(theta[j], phi[row], topics.common[v], weight)
            _add_shares(share, weight, expected, new_phi[row])
        _set_theta(theta[j], expected)
    _set_phi(phi, new_phi, expected)


class DrawScratch(NamedTuple):
    """Working memory of one thread that draws topics; all on the topic axis but the stream."""

    stream: Array
    theta: Array  # of the listed topics
    weight: Array
    expected: Array
    listed: Array
    number: Array  # of each topic, and of one more: its own
    table: Array


def new_draw_scratch(n_topics: int) -> DrawScratch:
    """Allocate working memory for `n_topics` starting topics."""
    return DrawScratch(
        stream=np.zeros(4, np.uint64),
        theta=np.zeros(n_topics),
        weight=np.zeros(n_topics),
        expected=np.zeros(n_topics),
        listed=np.zeros(n_topics, np.int64),
        number=np.arange(n_topics + 1, dtype=np.int32),
        table=np.full(n_topics + 1, -1, np.int32),
    )


# A document's topics after the first step of EM are cut to those that have most of its words: no fewer than
# this number. The others would have next to nothing in the end. The GPU's start does the same.
FEWEST_LISTED = 32


@helper
def _at_least(values, limit):
    number = 0
    for k in range(values.size):
        if values[k] >= limit:
            number += 1
    return number


@helper
def _limit_of_most(values):
    """Return a limit that FEWEST_LISTED values reach, or few more; 0 if there are no more values."""
    if values.size <= FEWEST_LISTED:
        return 0.0
    too_few = 0.0
    for k in range(values.size):
        too_few = max(too_few, values[k])
    least, limit = 1e-6 * too_few, 0.5 * too_few
    while _at_least(values, limit) < FEWEST_LISTED and limit > least:
        too_few = limit
        limit *= 0.5
    for _ in range(5):
        between = 0.5 * (limit + too_few)
        if _at_least(values, between) < FEWEST_LISTED:
            too_few = between
        else:
            limit = between
    return limit


@helper
def _list_most(expected, theta, listed):
    """List the topics that have most of a document's words, with their shares; return how many."""
    limit, n_listed, total = _limit_of_most(expected), 0, 0.0
    for k in range(expected.size):
        if expected[k] > 0.0 and expected[k] >= limit:
            theta[n_listed] = expected[k]
            listed[n_listed] = k
            total += expected[k]
            n_listed += 1
    for place in range(n_listed):
        theta[place] /= total
    return n_listed


@helper
def _shares_of_listed(theta, row, common, listed, weight):
    """Set `weight` to each listed topic's part in a word of a term; return the sum with the common part."""
    total = common
    for place in range(listed.size):
        weight[place] = theta[place] * row[listed[place]]
        total += weight[place]
    return total


@helper
def _fit_mixture(corpus, first, last, topics, scratch):
    """Fit the mixture of a document; return how many topics are listed in it."""
    theta, weight, expected, listed = scratch.theta, scratch.weight, scratch.expected, scratch.listed
    theta[:] = 1.0 / theta.size
    expected[:] = 0.0
    for i in range(first, last):
        v = corpus.x[i]
        share = 1.0 / _shares(theta, topics.phi[topics.row[v]], topics.common[v], weight)
        for k in range(theta.size):
            expected[k] += share * weight[k]
    n_listed = _list_most(expected, theta, listed)
    for _ in range(1, topics.steps):
        expected[:n_listed] = 0.0
        for i in range(first, last):
            v = corpus.x[i]
            row, common = topics.phi[topics.row[v]], topics.common[v]
            total = _shares_of_listed(theta, row, common, listed[:n_listed], weight)
            for place in range(n_listed):
                expected[place] += weight[place] / total
        _set_theta(theta[:n_listed], expected[:n_listed])
    return n_listed


@kernel
def draw_fitted_topics(key, corpus, state, topics, scratch, first_document, begin, end):
    """Set t_ji, k_jt, m_j of documents `begin` to `end`: each word's topic from the fitted mixture.

    One table per topic in each document. Common words get a topic of their own, the last. The documents may
    be some of a larger corpus, in which the first has the number `first_document`.
    """
    stream, theta, weight, listed = scratch.stream, scratch.theta, scratch.weight, scratch.listed
    for j in range(begin, end):
        start_stream(stream, key, first_document + j)
        first, last = corpus.doc_ptr[j], corpus.doc_ptr[j + 1]
        n_listed = _fit_mixture(corpus, first, last, topics, scratch)
        n_tables = 0
        for i in range(first, last):
            v = corpus.x[i]
            row, common = topics.phi[topics.row[v]], topics.common[v]
            u = uniform(stream) * _shares_of_listed(theta, row, common, listed[:n_listed], weight) - common
            k = theta.size
            if u >= 0.0 and n_listed > 0:
                place = 0
                while place < n_listed - 1 and u >= weight[place]:
                    u -= weight[place]
                    place += 1
                k = listed[place]
            t, _ = take_table(state, first, k, scratch.number, scratch.table, n_tables, 0)
            n_tables = max(n_tables, t + 1)
            state.t_ji[i] = t
        state.m_j[j] = n_tables


@kernel
def number_as_they_appear(corpus, state, number):
    """Give topics numbers in the order in which their tables appear; return how many there are.

    `number` has room for every topic, and is filled with -1. The tables are to be counted again: m_j is 0.
    """
    used = 0
    for j in range(state.m_j.size):
        first = corpus.doc_ptr[j]
        for slot in range(first, first + state.m_j[j]):
            k = state.k_jt[slot]
            if number[k] < 0:
                number[k] = used
                used += 1
            state.k_jt[slot] = number[k]
        state.m_j[j] = 0
    return used
