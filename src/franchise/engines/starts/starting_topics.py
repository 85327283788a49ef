"""The start of a chain: the first topic of every word, from starting topics or at random.

In the sequential start (the paper's section 4, "sequential prediction") words are seated one by one instead:
that is the word move on an empty state, with documents in random order.
"""

from typing import NamedTuple

import numpy as np

from franchise._arrays import Array, CorpusArrays, offsets_of
from franchise._jit import helper, kernel
from franchise.engines.threads import Range, Threads, falling_ranges
from franchise.model.state import State
from franchise.random import Key, integer, shuffle, start_stream, uniform

STEPS_PER_DOCUMENT = 5


class StartingTopics(NamedTuple):
    """Topics of a plain mixture: word i of document j is term v with a probability proportional to

    common_v + sum_k theta_jk phi_vk.

    An engine fits theta_j to the words of each document, then draws their topics (`draw_fitted_topics`).
    """  # noqa: D400

    phi: Array  # (row, topic): terms without topics share one row, so that rare terms need no room
    row: Array  # of each term in phi
    common: Array  # of each term: words that belong to no topic in particular get a topic of their own
    steps: int = STEPS_PER_DOCUMENT


def number_of_topics(start: int | StartingTopics) -> int:
    """Return the number of first topics; common words have one of their own, the last."""
    return start if isinstance(start, int) else start.phi.shape[1] + 1


def words_begin_with(start: str | int | StartingTopics) -> int | StartingTopics:
    """Return the topics, or their number, of a start that does not seat words one by one."""
    if isinstance(start, StartingTopics):
        return start
    return 1 if start == "one" else int(start)


def draw_first_topics(
    key: Key,
    corpus: CorpusArrays,
    state: State,
    start: int | StartingTopics,
    threads: Threads,
    first_document: int = 0,
) -> int:
    """Set t_ji, k_jt and m_j: the topic of each word, one table per topic in each document.

    Returns the largest possible number of topics. The documents may be part of a larger corpus, in which the
    first has the number `first_document`.
    """
    columns = number_of_topics(start)
    if isinstance(start, int):
        draw_topics(
            key, corpus, state, np.zeros(4, np.uint64), np.full(columns, -1, np.int32), first_document
        )
        return columns
    # Arrays from another process are read-only, which would be another type for compiled code.
    listed = list_topics(start.phi, start.row.copy(), start.common.copy(), start.steps)

    def draw(one: Range, own: DrawScratch) -> None:
        draw_fitted_topics(key, corpus, state, listed, own, first_document, *one)

    longest = int(np.diff(corpus.doc_ptr).max(initial=0))
    own = [new_draw_scratch(start.phi.shape[1], longest) for _ in range(threads.number)]
    threads.each(draw, falling_ranges(corpus.doc_ptr, threads.number), own)
    return columns


@kernel
def shuffle_documents(key, stream, documents):
    """Put the documents in random order."""
    # No document has this number, so the stream differs from those of words.
    start_stream(stream, key, documents.size)
    shuffle(stream, documents)


@kernel
def draw_topics(key, corpus, state, stream, table, first_document):
    """Set t_ji, k_jt, m_j: a random topic for each word, one table per topic in each document.

    `table` has one entry per topic, all -1. The documents may be part of a larger corpus, in which the first
    has the number `first_document`.
    """
    for j in range(state.m_j.size):
        start_stream(stream, key, first_document + j)
        first, end = corpus.doc_ptr[j], corpus.doc_ptr[j + 1]
        n_tables = 0
        for i in range(first, end):
            t = _take_table(state, first, integer(stream, table.size), table, n_tables)
            n_tables = max(n_tables, t + 1)
            state.t_ji[i] = t
        state.m_j[j] = n_tables


@helper
def _take_table(state, first, k, table, n_tables):
    """Return the table of the document at `first` for topic k.

    `table` has the last table given to each topic, perhaps in another document.
    """
    t = table[k]
    # A table number from another document is not valid here.
    if t < 0 or t >= n_tables or state.k_jt[first + t] != k:
        t = n_tables
        table[k] = t
        state.k_jt[first + t] = k
    return t


class ListedTopics(NamedTuple):
    """The topics of each term that matter: a step with these alone costs a small part of one with all."""

    row: Array  # of each term
    common: Array
    even: Array  # of each term (`even_shares`)
    row_ptr: Array  # of each row: the place of its first entry
    topic: Array  # unsigned, so that Numba checks no index for being negative
    value: Array  # the entries of phi
    steps: int


def list_topics(phi: Array, row: Array, common: Array, steps: int, least: float = 0.0) -> ListedTopics:
    """List the topics with more than this share of the largest entry of each row of phi."""
    rows, topic = np.nonzero(phi > least * phi.max(axis=1, initial=0.0)[:, None])
    row_ptr = offsets_of(np.bincount(rows, minlength=len(phi)))
    even = even_shares(phi, row, common)
    return ListedTopics(row, common, even, row_ptr, topic.astype(np.uint32), phi[rows, topic], steps)


def even_shares(phi: Array, row: Array, common: Array) -> Array:
    """Return one over the probability of each term if topics are equally likely, up to a constant."""
    share = common + phi.sum(axis=1)[row] / max(1, phi.shape[1])
    return np.divide(1.0, share, out=np.zeros_like(share), where=share > 0.0)


@helper
def shares(theta, row, common, weight):
    """Set `weight` to the weight of each topic for a word of a term; return the sum with the common part."""
    for k in range(theta.size):
        weight[k] = theta[k] * row[k]
    # Four sums side by side: with one, every addition would wait for the one before it.
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
def set_theta(theta, expected):
    """Set the mixture of a document to the expected shares of its words."""
    total = 0.0
    for k in range(theta.size):
        total += expected[k]
    if total > 0.0:
        for k in range(theta.size):
            theta[k] = expected[k] / total


# After the first step of EM a document keeps the topics with most of its words: at least the first number, if
# that many have words, and at most the second. The others would end with next to nothing. The start on a GPU
# does the same, without the second number.
FEWEST_LISTED, MOST_LISTED = 32, 64


class DrawScratch(NamedTuple):
    """Working memory of one thread that draws topics."""

    stream: Array
    expected: Array  # of all topics
    place: Array  # of each topic among those of the document; all other topics have the last
    listed: Array  # the document's topics, their shares, and their weights for a word
    theta: Array
    weight: Array
    own: Array  # (word, place): the entries of phi for each word of the document
    table: Array  # of each topic, and one more


def new_draw_scratch(n_topics: int, longest: int) -> DrawScratch:
    """Allocate working memory for starting topics and documents of at most `longest` words."""
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
    """Return a limit that FEWEST_LISTED values or a few more reach; 0 if there are no more values."""
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
    """List the topics with most of a document's words, with their shares; return how many."""
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
    """List the topics of a document by one step of EM from a uniform mixture; return how many."""
    expected = scratch.expected
    expected[:] = 0.0
    for v in words:
        share, row = topics.even[v], topics.row[v]
        for e in range(topics.row_ptr[row], topics.row_ptr[row + 1]):
            expected[topics.topic[e]] += share * topics.value[e]
    return _list_most(expected, scratch.theta, scratch.listed)


@helper
def _bring_together(words, topics, scratch, n_listed):
    """Copy the entries of phi of the listed topics for each word into `own`, side by side."""
    place, own = scratch.place, scratch.own
    for p in range(n_listed):
        place[scratch.listed[p]] = p
    for i in range(words.size):
        own[i, :n_listed] = 0.0
        row = topics.row[words[i]]
        for e in range(topics.row_ptr[row], topics.row_ptr[row + 1]):
            own[i, place[topics.topic[e]]] = topics.value[e]  # no branch: most topics are not listed
    for p in range(n_listed):
        place[scratch.listed[p]] = own.shape[1] - 1


@helper
def _fit_mixture(words, topics, scratch):
    """Fit the mixture of a document; return the number of its listed topics."""
    n_listed = _list_even(words, topics, scratch)
    _bring_together(words, topics, scratch, n_listed)
    theta, weight, expected = scratch.theta[:n_listed], scratch.weight, scratch.expected[:n_listed]
    for _ in range(1, topics.steps):
        expected[:] = 0.0
        for i in range(words.size):
            share = 1.0 / shares(theta, scratch.own[i], topics.common[words[i]], weight)
            for p in range(n_listed):
                expected[p] += share * weight[p]
        set_theta(theta, expected)
    return n_listed


@helper
def _draw_topic(scratch, i, n_listed, common):
    """Return the topic of word i of a document; common words have one of their own, the last."""
    weight = scratch.weight
    u = uniform(scratch.stream) * shares(scratch.theta[:n_listed], scratch.own[i], common, weight) - common
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

    There is one table per topic in each document. Common words get a topic of their own, the last. The
    documents may be part of a larger corpus, in which the first has the number `first_document`.
    """
    for j in range(begin, end):
        start_stream(scratch.stream, key, first_document + j)
        first, last = corpus.doc_ptr[j], corpus.doc_ptr[j + 1]
        words = corpus.x[first:last]
        n_listed = _fit_mixture(words, topics, scratch)
        n_tables = 0
        for i in range(last - first):
            k = _draw_topic(scratch, i, n_listed, topics.common[words[i]])
            t = _take_table(state, first, k, scratch.table, n_tables)
            n_tables = max(n_tables, t + 1)
            state.t_ji[first + i] = t
        state.m_j[j] = n_tables


@kernel
def number_as_they_appear(corpus, state, number):
    """Give topics numbers in the order in which their tables appear; return how many there are.

    `number` has room for every topic, all -1. m_j is set to 0, as tables must be counted again.
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
