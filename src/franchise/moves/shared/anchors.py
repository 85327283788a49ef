"""Choose the two tables that a split-merge trial starts from.

If both belong to one topic, the trial tries to split it; otherwise it tries to merge their topics. The
probability rho of the pair enters the acceptance ratio only as far as it depends on the topics, which a trial
changes::

    uniform   any two tables (the paper)                                        rho cancels
    balanced  a by its words; then b: with probability 1/2 any other table of a's topic (split), else any
              table of another topic (merge), all other topics being equally likely
    similar   as balanced, but the topic to merge with is chosen by its similarity to a's: in proportion to
              the fourth power of the cosine of their counts, mixed with a share `_EVENLY` of equal chances

For the last two, up to what a trial does not change, log rho is log 1/2 - log(m - 1) in the united state,
where m is the number of tables of the topic. In the divided state it is log 1/2 + log r(k2 | k1) - log m_2,
where r is the probability of the second topic given the first.

A choice knows the counts of the topics, not the tables. It stops when it needs more: the table of a word
(`WORD`), or the tables of topic a (`LIKENESS`). The caller finds them, here or on another machine, and
continues the choice from the same random stream.
"""

import math

import numpy as np

from franchise._jit import helper, inlined
from franchise.model.state import NUMBERED, TABLES, TOPICS
from franchise.random import integer, uniform

UNIFORM, BALANCED, SIMILAR = range(3)
_EVENLY = 0.2

# A choice is a row of integers: what it needs next; the proposal that it follows; the word whose table it
# needs (-1: none), and the answer, the table's slot; the topics; for a table without a slot, its place among
# the tables of its topic, else -1.
CHOICE = ("needs", "proposal", "word_a", "slot_a", "topic_a", "topic_b", "nth_a", "nth_b")
NEEDS, FOLLOWS, WORD_A, SLOT_A, TOPIC_A, TOPIC_B, NTH_A, NTH_B = range(8)
# The needs of a choice: to begin; the table of its word; the tables of topic a, to choose b by its
# likeness; those of both topics, for the trial; nothing.
START, WORD, LIKENESS, TABLES_OF_BOTH, DONE = range(5)


@inlined
def begin_choice(state, stream, choice, anchors, n_words):
    """Choose anchors, in a corpus of `n_words` words, as far as possible without the tables."""
    choice[WORD_A:] = -1
    n_tables = state.totals[TABLES]
    if n_tables < 2:
        choice[NEEDS] = DONE
    elif anchors == UNIFORM:
        p = integer(stream, n_tables)
        q = integer(stream, n_tables - 1)
        if q >= p:
            q += 1
        for table, topic, nth in ((p, TOPIC_A, NTH_A), (q, TOPIC_B, NTH_B)):
            k = np.int64(0)
            while table >= state.m_k[k]:
                table -= state.m_k[k]
                k += 1
            choice[topic], choice[nth] = k, table
        choice[NEEDS] = TABLES_OF_BOTH
    else:
        choice[WORD_A] = integer(stream, n_words)
        choice[NEEDS] = WORD


@inlined
def continue_choice(state, stream, choice, anchors, most_words):
    """Continue a choice whose word's slot and topic have been filled in."""
    k = choice[TOPIC_A]
    choice[NEEDS] = DONE
    if state.n_k[k] > most_words:
        return  # the words of any other topic add to these
    if uniform(stream) < 0.5:
        if state.m_k[k] > 1:
            choice[TOPIC_B], choice[NTH_B] = k, integer(stream, state.m_k[k] - 1)
            choice[NEEDS] = TABLES_OF_BOTH
    elif state.totals[TOPICS] > 1:
        choice[NEEDS] = LIKENESS
        if anchors == BALANCED:
            _take_topic(state, stream, choice, _any_other_topic(state, stream, k))


@inlined
def choose_by_likeness(state, own, stream, choice, n_seen):
    """Choose topic b by its likeness to topic a, whose words are on side 0, and a table of it."""
    k = choice[TOPIC_A]
    total = weigh_likeness(state, own, k, k, n_seen)
    if total > 0.0 and uniform(stream) >= _EVENLY:
        other = _topic_by_weight(state, own, stream, total)
    else:
        other = _any_other_topic(state, stream, k)
    _take_topic(state, stream, choice, other)


@helper
def _take_topic(state, stream, choice, k):
    """Choose a random table of topic k as b."""
    choice[TOPIC_B], choice[NTH_B] = k, integer(stream, state.m_k[k])
    choice[NEEDS] = TABLES_OF_BOTH


@inlined
def positions_of(m_k, listing, choice):
    """Return the positions of tables a and b in the listing.

    If a table is given by its place among those of its topic, and b has the same place as a, b is the last.
    """
    a = _position_of(listing, choice[SLOT_A], choice[NTH_A], choice[TOPIC_A], m_k)
    b = listing.start_k[choice[TOPIC_B]] + choice[NTH_B]
    if a == b:
        b = listing.start_k[choice[TOPIC_B]] + m_k[choice[TOPIC_B]] - 1
    return a, b


@helper
def _position_of(listing, slot, nth, k, m_k):
    """Return the position of the table at `slot` among those of topic k, ordered by slot, or of the nth."""
    low, high = listing.start_k[k], listing.start_k[k] + m_k[k]
    if nth >= 0:
        return low + nth
    while high - low > 1:
        middle = (low + high) // 2
        if listing.slot[middle] <= slot:
            low = middle
        else:
            high = middle
    return low


@helper
def weigh_likeness(state, own, k1, k2, n_seen):
    """Set own.weight to the likeness of every topic to the words of side 0 (k1, k2: 0); return the sum."""
    weight = own.weight
    weight[: state.totals[NUMBERED]] = 0.0
    for e in range(n_seen):
        v = own.seen[e]
        count = float(own.words[v, 0])
        first = state.row_ptr[v]
        row_k = state.row_k[first : first + state.row_len[v]]
        row_n = state.row_n[first : first + state.row_len[v]]
        for i in range(row_k.size):
            weight[row_k[i]] += count * row_n[i]
    weight[k1], weight[k2] = 0.0, 0.0
    total = 0.0
    for i in range(state.totals[TOPICS]):
        other = state.live[i]
        weight[other] = _likeness(weight[other], own.squares_k[other])
        total += weight[other]
    return total


@inlined
def likeness_of_sides(own, n_seen):
    """Return the likeness of side 1 to side 0, on the scale of `weigh_likeness`."""
    product, squares = 0.0, 0.0
    for e in range(n_seen):
        n0, n1 = float(own.words[own.seen[e], 0]), float(own.words[own.seen[e], 1])
        product += n0 * n1
        squares += n1 * n1
    return _likeness(product, squares)


@helper
def _likeness(product, squares):
    """Return the fourth power of a cosine, up to the length of side 0, which all share."""
    ratio = product * product / squares
    return ratio * ratio


@inlined
def log_chance_of_topic(likeness, total, n_others):
    """Return log r(k2 | k1) for a k2 with this likeness; `total` is that of the `n_others` candidates."""
    if total <= 0.0:
        return -math.log(n_others)
    return math.log(_EVENLY / n_others + (1.0 - _EVENLY) * likeness / total)


@inlined
def _topic_by_weight(state, own, stream, total):
    """Draw a topic by own.weight, whose sum is `total`."""
    u = uniform(stream) * total
    last = -1
    for i in range(state.totals[TOPICS]):
        other = state.live[i]
        if own.weight[other] > 0.0:
            last = other
            u -= own.weight[other]
            if u < 0.0:
                break
    return np.int64(last)


@helper
def _any_other_topic(state, stream, k):
    """Draw a topic other than k, all equally likely."""
    n_topics = state.totals[TOPICS]
    place = integer(stream, n_topics - 1)
    if state.live[place] == k:
        place = n_topics - 1
    return np.int64(state.live[place])
