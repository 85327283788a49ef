"""Choose the two tables that a split-merge trial starts from.

If they are of one topic, the trial tries to split it; if of two, to merge them. The chance rho of the
pair enters the acceptance ratio only where it depends on the topics, which a trial changes:

uniform   any two tables (the paper)                                        rho cancels
size      two different tables in proportion to their words                 rho cancels
balanced  a by its words; then b, with chance 1/2 each, any other table of a's topic (split), or any
          table of another topic (merge), all other topics being equally likely
similar   as balanced, but the topic to merge with is chosen by its similarity to a's: in proportion to the
          fourth power of the cosine of their counts, mixed with a part `_EVENLY` of equal chances

For the last two, log rho is, up to what a trial does not change, in the united state
log 1/2 - log(m - 1), m being the tables of the topic, and in the divided state
log 1/2 + log r(k2 | k1) - log m_2, r being the chance of the second topic given the first.
"""

import math

import numpy as np

from franchise._jit import helper, part
from franchise.model.state import NUMBERED, TABLES, TOPICS
from franchise.random import integer, uniform

UNIFORM, SIZE, BALANCED, SIMILAR = 0, 1, 2, 3
_EVENLY = 0.2


@helper
def _place_of(ends, i):
    """Return the place of word i: the document, or the table, before which `ends` counts the words."""
    low, high = 0, ends.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if ends[middle] <= i:
            low = middle
        else:
            high = middle
    return low


@helper
def table_by_size(corpus, state, trial):
    """Return the slot of a table chosen in proportion to its words."""
    if trial.size_ptr.size:
        return np.int64(_place_of(trial.size_ptr, integer(trial.stream, trial.size_ptr[-1])))
    i = integer(trial.stream, corpus.x.size)
    return corpus.doc_ptr[_place_of(corpus.doc_ptr, i)] + state.t_ji[i]


@helper
def two_tables(corpus, state, trial, by_size):
    """Return the slots of two different tables, uniformly or by size; -1, -1 where there are not two."""
    n_tables = state.totals[TABLES]
    if n_tables < 2:
        return -1, -1
    if by_size:
        a = table_by_size(corpus, state, trial)
        b = a
        while b == a:
            b = table_by_size(corpus, state, trial)
        return a, b
    p = integer(trial.stream, n_tables)
    q = integer(trial.stream, n_tables - 1)
    if q >= p:
        q += 1
    return trial.slot[p], trial.slot[q]


@helper
def another_table(state, trial, k, slot):
    """Return the slot of a table of topic k, any but `slot`; of a topic without it, -1 leaves none out."""
    first, m_k = trial.start_k[k], state.m_k[k]
    if slot < 0:
        return trial.slot[first + integer(trial.stream, m_k)]
    position = first + integer(trial.stream, m_k - 1)
    if trial.slot[position] == slot:
        position = first + m_k - 1
    return trial.slot[position]


@helper
def weigh_likeness(state, trial, k1, k2, n_seen):
    """Set trial.weight to every topic's likeness to the words of side 0 (k1, k2: 0); return the sum."""
    weight = trial.weight
    weight[: state.totals[NUMBERED]] = 0.0
    for e in range(n_seen):
        v = trial.seen[e]
        count = float(trial.words[v, 0])
        first = state.row_ptr[v]
        row_k = state.row_k[first : first + state.row_len[v]]
        row_n = state.row_n[first : first + state.row_len[v]]
        for i in range(row_k.size):
            weight[row_k[i]] += count * row_n[i]
    weight[k1], weight[k2] = 0.0, 0.0
    total = 0.0
    for i in range(state.totals[TOPICS]):
        other = state.live[i]
        weight[other] = _likeness(weight[other], trial.squares_k[other])
        total += weight[other]
    return total


@part
def likeness_of_sides(trial, n_seen):
    """Return the likeness of side 1 to side 0, on the scale of `weigh_likeness`."""
    product, squares = 0.0, 0.0
    for e in range(n_seen):
        n0, n1 = float(trial.words[trial.seen[e], 0]), float(trial.words[trial.seen[e], 1])
        product += n0 * n1
        squares += n1 * n1
    return _likeness(product, squares)


@helper
def _likeness(product, squares):
    """Return the fourth power of a cosine; the length of side 0, which all share, is left out."""
    ratio = product * product / squares
    return ratio * ratio


@helper
def log_chance_of_topic(likeness, total, n_others):
    """Return log r(k2 | k1): k2 has this likeness, the `n_others` topics to choose from have `total`."""
    if total <= 0.0:
        return -math.log(n_others)
    return math.log(_EVENLY / n_others + (1.0 - _EVENLY) * likeness / total)


@helper
def another_topic(state, trial, k, total):
    """Draw a topic other than k: by trial.weight, whose sum is `total`, mixed with equal chances.

    With total 0 all are equally likely. `trial.weight` must be 0 for k.
    """
    n_topics = state.totals[TOPICS]
    if total > 0.0 and uniform(trial.stream) >= _EVENLY:
        u = uniform(trial.stream) * total
        last = -1
        for i in range(n_topics):
            other = state.live[i]
            if trial.weight[other] > 0.0:
                last = other
                u -= trial.weight[other]
                if u < 0.0:
                    break
        return np.int64(last)
    place = integer(trial.stream, n_topics - 1)
    if state.live[place] == k:
        place = n_topics - 1
    return np.int64(state.live[place])
