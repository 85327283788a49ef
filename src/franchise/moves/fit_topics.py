"""Topics fitted to documents by EM, and a start from them.

The model of the fit is a plain mixture: word i of document j is term v with probability proportional to
common_v + sum_k theta_jk phi_vk (`engines.starting_topics`). The fit draws no random number. A chain then
draws the topic of every word from the fitted mixture, with its own random numbers.
"""

from typing import NamedTuple

import numpy as np

from franchise._arrays import offsets_of
from franchise._jit import helper, kernel
from franchise.model.state import Array
from franchise.moves.shared.first_tables import take_table
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


class ListedTopics(NamedTuple):
    """The topics that each term has. With these alone a step costs a small part of what it costs with all."""

    row: Array  # of each term
    common: Array
    even: Array  # of each term (`even_shares`)
    row_ptr: Array  # of each row: where its entries begin
    topic: Array  # unsigned: no entry is counted from the end
    value: Array  # of phi
    steps: int


def list_topics(phi: Array, row: Array, common: Array, steps: int, least: float = 0.0) -> ListedTopics:
    """List the topics with more than this share of the largest entry of each row of phi."""
    rows, topic = np.nonzero(phi > least * phi.max(axis=1, initial=0.0)[:, None])
    row_ptr = offsets_of(np.bincount(rows, minlength=len(phi)))
    even = even_shares(phi, row, common)
    return ListedTopics(row, common, even, row_ptr, topic.astype(np.uint32), phi[rows, topic], steps)


def even_shares(phi: Array, row: Array, common: Array) -> Array:
    """Return one over the probability of each term where topics are equally likely, up to a constant."""
    share = common + phi.sum(axis=1)[row] / max(1, phi.shape[1])
    return np.divide(1.0, share, out=np.zeros_like(share), where=share > 0.0)


@kernel
def fit_listed_step(cells, topics, least, theta, new_value, expected):
    """Make the same step with the listed topics of each term alone; then leave out topics as before."""
    listed, value = topics.topic, topics.value
    new_value[:] = 0.0
    for j in range(theta.shape[0]):
        expected[:] = 0.0
        for cell in range(cells.cell_ptr[j], cells.cell_ptr[j + 1]):
            v = cells.terms[cell]
            first, last = topics.row_ptr[topics.row[v]], topics.row_ptr[topics.row[v] + 1]
            total = topics.common[v]
            for e in range(first, last):
                total += theta[j, listed[e]] * value[e]
            share = cells.counts[cell] / total
            for e in range(first, last):
                part = share * theta[j, listed[e]] * value[e]
                expected[listed[e]] += part
                new_value[e] += part
        _set_theta(theta[j], expected)
    _set_values(topics, new_value, expected)
    _list_fewer(topics, least)


@helper
def _set_values(topics, new_value, sums):
    """Set the topics to the shares of their terms (M step)."""
    sums[:] = 0.0
    for e in range(topics.row_ptr[-1]):
        sums[topics.topic[e]] += new_value[e]
    for e in range(topics.row_ptr[-1]):
        if sums[topics.topic[e]] > 0.0:
            topics.value[e] = new_value[e] / sums[topics.topic[e]]


@helper
def _list_fewer(topics, least):
    """Leave out topics that have no more than this share of the largest entry of their row."""
    row_ptr, kept, begin = topics.row_ptr, 0, 0
    for r in range(row_ptr.size - 1):
        end, largest = row_ptr[r + 1], 0.0
        for e in range(begin, end):
            largest = max(largest, topics.value[e])
        for e in range(begin, end):
            if topics.value[e] > least * largest:
                topics.topic[kept] = topics.topic[e]
                topics.value[kept] = topics.value[e]
                kept += 1
        begin = end
        row_ptr[r + 1] = kept


# A document's topics after the first step of EM are cut to those that have most of its words: no fewer than
# the first number, where as many have any, and no more than the second. Those left out would have next to
# nothing in the end. The GPU's start does the same, but for the second.
FEWEST_LISTED, MOST_LISTED = 32, 64


class DrawScratch(NamedTuple):
    """Working memory of one thread that draws topics."""

    stream: Array
    expected: Array  # of all topics
    place: Array  # of each topic among those of the document; that of others is the last
    listed: Array  # the document's topics, their shares, and their parts in a word
    theta: Array
    weight: Array
    own: Array  # (word, place): what phi has of each word of the document
    table: Array  # of each topic, and of one more


def new_draw_scratch(n_topics: int, longest: int) -> DrawScratch:
    """Allocate working memory for starting topics and documents of no more than this length."""
    most = min(n_topics, MOST_LISTED)
    return DrawScratch(
        stream=np.zeros(4, np.uint64),
        expected=np.zeros(n_topics),
        place=np.full(n_topics, most, np.int32),
        listed=np.zeros(most, np.int32),
        theta=np.zeros(most),
        weight=np.zeros(most),
        own=np.zeros((longest, most + 1)),
        table=np.full(n_topics + 1, -1, np.int32),
    )


@helper
def _at_least(values, limit):
    number = 0
    for k in range(values.size):
        number += values[k] >= limit
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
        if expected[k] > 0.0 and expected[k] >= limit and n_listed < listed.size:
            theta[n_listed] = expected[k]
            listed[n_listed] = k
            total += expected[k]
            n_listed += 1
    for place in range(n_listed):
        theta[place] /= total
    return n_listed


@helper
def _list_even(words, topics, scratch):
    """List the topics of a document by a step of EM from a mixture of all topics; return how many."""
    expected = scratch.expected
    expected[:] = 0.0
    for v in words:
        share, row = topics.even[v], topics.row[v]
        for e in range(topics.row_ptr[row], topics.row_ptr[row + 1]):
            expected[topics.topic[e]] += share * topics.value[e]
    return _list_most(expected, scratch.theta, scratch.listed)


@helper
def _bring_together(words, topics, scratch, n_listed):
    """Set `own` to what the listed topics have of each word: their entries lie side by side then."""
    place, own = scratch.place, scratch.own
    for p in range(n_listed):
        place[scratch.listed[p]] = p
    for i in range(words.size):
        own[i, :n_listed] = 0.0
        row = topics.row[words[i]]
        for e in range(topics.row_ptr[row], topics.row_ptr[row + 1]):
            own[i, place[topics.topic[e]]] = topics.value[e]  # no branch: most are not listed
    for p in range(n_listed):
        place[scratch.listed[p]] = own.shape[1] - 1


@helper
def _fit_mixture(words, topics, scratch):
    """Fit the mixture of a document; return how many topics are listed in it."""
    n_listed = _list_even(words, topics, scratch)
    _bring_together(words, topics, scratch, n_listed)
    theta, weight, expected = scratch.theta[:n_listed], scratch.weight, scratch.expected[:n_listed]
    for _ in range(1, topics.steps):
        expected[:] = 0.0
        for i in range(words.size):
            share = 1.0 / _shares(theta, scratch.own[i], topics.common[words[i]], weight)
            for p in range(n_listed):
                expected[p] += share * weight[p]
        _set_theta(theta, expected)
    return n_listed


@helper
def _draw_topic(scratch, i, n_listed, common):
    """Return the topic of word i of a document; common words have one of their own, the last."""
    weight = scratch.weight
    u = uniform(scratch.stream) * _shares(scratch.theta[:n_listed], scratch.own[i], common, weight) - common
    if u < 0.0 or not n_listed:
        return scratch.expected.size
    p = 0
    while p < n_listed - 1 and u >= weight[p]:
        u -= weight[p]
        p += 1
    return scratch.listed[p]


@kernel
def draw_fitted_topics(key, corpus, state, topics, scratch, first_document, begin, end):
    """Set t_ji, k_jt, m_j of documents `begin` to `end`: each word's topic from the fitted mixture.

    One table per topic in each document. Common words get a topic of their own, the last. The documents may
    be some of a larger corpus, in which the first has the number `first_document`.
    """
    for j in range(begin, end):
        start_stream(scratch.stream, key, first_document + j)
        first, last = corpus.doc_ptr[j], corpus.doc_ptr[j + 1]
        words = corpus.x[first:last]
        n_listed = _fit_mixture(words, topics, scratch)
        n_tables = 0
        for i in range(last - first):
            k = _draw_topic(scratch, i, n_listed, topics.common[words[i]])
            t = take_table(state, first, k, scratch.table, n_tables)
            n_tables = max(n_tables, t + 1)
            state.t_ji[first + i] = t
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
