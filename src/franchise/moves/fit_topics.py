"""Topics fitted to documents by EM, and a start from them.

The model of the fit is a plain mixture: word i of document j is term v with probability proportional to
common_v + sum_k theta_jk phi_vk, where `common` are the frequencies of the terms in the corpus, times a share
that stays fixed: it takes up the words that belong to no topic in particular. No number is drawn in the
fit. A chain then draws the topic of every word from the fitted mixture, with its own random numbers.
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
def fit_step(corpus, documents, fitted, theta, new_phi, weight, expected):
    """Make one step of EM for the topics and the mixtures theta of these documents."""
    phi = fitted.phi
    new_phi[:, :] = 0.0
    for place in range(documents.size):
        expected[:] = 0.0
        j = documents[place]
        for i in range(corpus.doc_ptr[j], corpus.doc_ptr[j + 1]):
            v = corpus.x[i]
            share = 1.0 / _shares(theta[place], phi[fitted.row[v]], fitted.common[v], weight)
            _add_shares(share, weight, expected, new_phi[fitted.row[v]])
        _set_theta(theta[place], expected)
    _set_phi(phi, new_phi, expected)


class DrawScratch(NamedTuple):
    """Working memory of one thread that draws topics; all on the topic axis but the stream."""

    stream: Array
    theta: Array
    weight: Array
    expected: Array
    number: Array  # of each topic, and of one more: its own
    table: Array


def new_draw_scratch(n_topics: int) -> DrawScratch:
    """Allocate working memory for so many fitted topics."""
    return DrawScratch(
        stream=np.zeros(4, np.uint64),
        theta=np.zeros(n_topics),
        weight=np.zeros(n_topics),
        expected=np.zeros(n_topics),
        number=np.arange(n_topics + 1, dtype=np.int32),
        table=np.full(n_topics + 1, -1, np.int32),
    )


@kernel
def draw_fitted_topics(key, corpus, state, fitted, scratch, first_document, begin, end):
    """Set t_ji, k_jt, m_j of documents `begin` to `end`: each word's topic from the fitted mixture.

    One table per topic in each document. Common words get a topic of their own, the last. The documents may
    be some of a larger corpus, in which the first has the number `first_document`.
    """
    stream, theta, weight, expected = scratch.stream, scratch.theta, scratch.weight, scratch.expected
    n_topics, phi, row, common = theta.size, fitted.phi, fitted.row, fitted.common
    for j in range(begin, end):
        start_stream(stream, key, first_document + j)
        first, last = corpus.doc_ptr[j], corpus.doc_ptr[j + 1]
        theta[:] = 1.0 / n_topics
        for _ in range(fitted.steps):
            expected[:] = 0.0
            for i in range(first, last):
                v = corpus.x[i]
                share = 1.0 / _shares(theta, phi[row[v]], common[v], weight)
                for k in range(n_topics):
                    expected[k] += share * weight[k]
            _set_theta(theta, expected)
        n_tables = 0
        for i in range(first, last):
            v = corpus.x[i]
            u = uniform(stream) * _shares(theta, phi[row[v]], common[v], weight) - common[v]
            draw = n_topics
            if u >= 0.0:
                draw = 0
                while draw < n_topics - 1 and u >= weight[draw]:
                    u -= weight[draw]
                    draw += 1
            t, _ = take_table(state, first, draw, scratch.number, scratch.table, n_tables, 0)
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


@kernel
def fit_step_of_cells(cells, documents, phi, common, theta, new_phi, weight, expected):
    """Make one step of EM as `fit_step` does, the words of a cell at once; phi has a row for every term."""
    new_phi[:, :] = 0.0
    for place in range(documents.size):
        expected[:] = 0.0
        j = documents[place]
        for cell in range(cells.cell_ptr[j], cells.cell_ptr[j + 1]):
            v = cells.terms[cell]
            share = cells.counts[cell] / _shares(theta[place], phi[v], common[v], weight)
            _add_shares(share, weight, expected, new_phi[v])
        _set_theta(theta[place], expected)
    _set_phi(phi, new_phi, expected)
