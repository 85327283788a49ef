"""Choose the two tables that a split-merge trial starts from.

If they are of one topic, the trial tries to split it; if of two, to merge them. The chance rho of the
pair enters the acceptance ratio only where it depends on the topics, which a trial changes::

    uniform   any two tables (the paper)                                        rho cancels
    balanced  a by its words; then b, with chance 1/2 each, any other table of a's topic (split), or any
              table of another topic (merge), all other topics being equally likely
    similar   as balanced, but the topic to merge with is chosen by its similarity to a's: in proportion to
              the fourth power of the cosine of their counts, mixed with a part `_EVENLY` of equal chances

For the last two, log rho is, up to what a trial does not change, in the united state
log 1/2 - log(m - 1), m being the tables of the topic, and in the divided state
log 1/2 + log r(k2 | k1) - log m_2, r being the chance of the second topic given the first.

A choice knows the counts of the topics, not the tables. It goes on until it needs more: at which table its
word sits (`WORD`), or what tables a topic has (`LIKENESS`). Whoever makes the trial finds that out, nearby
or far away, and lets the choice go on, from the same random stream.
"""

import math

import numpy as np

from franchise._jit import helper, inlined
from franchise.model.state import NUMBERED, TABLES, TOPICS
from franchise.random import integer, uniform

UNIFORM, BALANCED, SIMILAR = 0, 1, 2
_EVENLY = 0.2

# A choice is a row of integers: what it needs to go on; which proposal it follows; the word whose table is a
# (-1: none), and the slot of that table; the topics of both tables; the index of each among the tables of its
# topic, -1 for a table that is known by its slot.
CHOICE = ("needs", "proposal", "word_a", "slot_a", "topic_a", "topic_b", "nth_a", "nth_b")
NEEDS, FOLLOWS, WORD_A, SLOT_A, TOPIC_A, TOPIC_B, NTH_A, NTH_B = range(8)
# What a choice needs: the tables of its topics, to be made; the table of its word; those of topic a; it
# needs nothing, as no trial is possible.
READY, WORD, LIKENESS, NO_TRIAL = 0, 1, 2, 3


@helper
def place_of(ends, i):
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
def begin_choice(state, stream, choice, anchors, n_words, most_words):
    """Choose anchors, in a corpus of `n_words` words, as far as that goes without a look at any table."""
    choice[WORD_A:] = -1
    choice[NEEDS] = WORD
    if state.totals[TABLES] < 2:
        choice[NEEDS] = NO_TRIAL
        return
    if anchors == UNIFORM:
        n_tables = state.totals[TABLES]
        p = integer(stream, n_tables)
        q = integer(stream, n_tables - 1)
        if q >= p:
            q += 1
        choice[TOPIC_A], choice[NTH_A] = _table_at(state, p)
        choice[TOPIC_B], choice[NTH_B] = _table_at(state, q)
        _finish_choice(state, choice, most_words)
        return
    choice[WORD_A] = integer(stream, n_words)


@helper
def _table_at(state, position):
    """Return the topic of the table at this position, all in the order of topics, and its place there."""
    k = np.int64(0)
    while position >= state.m_k[k]:
        position -= state.m_k[k]
        k += 1
    return k, position


@helper
def continue_choice(state, stream, choice, anchors, most_words):
    """Continue a choice after the slot and the topic of its word have been filled in."""
    k = choice[TOPIC_A]
    choice[NEEDS] = NO_TRIAL
    if state.n_k[k] > most_words:
        return  # with any other topic it has more words still
    if uniform(stream) < 0.5:
        if state.m_k[k] > 1:
            choice[TOPIC_B], choice[NTH_B] = k, integer(stream, state.m_k[k] - 1)
            choice[NEEDS] = READY
    elif state.totals[TOPICS] > 1:
        choice[NEEDS] = LIKENESS
        if anchors == BALANCED:
            _take_topic(state, stream, choice, _any_other_topic(state, stream, k), most_words)


@helper
def choose_by_likeness(state, trial, choice, n_seen):
    """Choose topic b by its likeness to a's, whose words are on side 0, and a table of it."""
    k = choice[TOPIC_A]
    total = weigh_likeness(state, trial, k, k, n_seen)
    if total > 0.0 and uniform(trial.stream) >= _EVENLY:
        other = _topic_by_weight(state, trial, total)
    else:
        other = _any_other_topic(state, trial.stream, k)
    _take_topic(state, trial.stream, choice, other, trial.most_words[0])


@helper
def _take_topic(state, stream, choice, k, most_words):
    """Choose any table of topic k as b."""
    choice[TOPIC_B], choice[NTH_B] = k, integer(stream, state.m_k[k])
    _finish_choice(state, choice, most_words)


@helper
def _finish_choice(state, choice, most_words):
    """Leave out a trial whose topics have more than so many words together."""
    k1, k2 = choice[TOPIC_A], choice[TOPIC_B]
    united = state.n_k[k1] if k1 == k2 else state.n_k[k1] + state.n_k[k2]
    choice[NEEDS] = NO_TRIAL if united > most_words else READY


@helper
def position_a(state, trial, choice):
    """Return the position of table a among the tables listed."""
    first, m_k = trial.start_k[choice[TOPIC_A]], state.m_k[choice[TOPIC_A]]
    if choice[NTH_A] >= 0:
        return first + choice[NTH_A]
    return _position_of(trial, choice[SLOT_A], first, m_k)


@helper
def position_b(state, trial, choice, of_a):
    """Return the position of table b: where the choice says, or the last of its topic if a is there."""
    first, m_k = trial.start_k[choice[TOPIC_B]], state.m_k[choice[TOPIC_B]]
    position = first + choice[NTH_B]
    return first + m_k - 1 if position == of_a else position


@helper
def _position_of(trial, slot, first, m_k):
    """Return the position of the table at `slot` among the `m_k` from `first` on, which are by slot."""
    low, high = first, first + m_k
    while high - low > 1:
        middle = (low + high) // 2
        if trial.slot[middle] <= slot:
            low = middle
        else:
            high = middle
    return low


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


@inlined
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
def _topic_by_weight(state, trial, total):
    """Draw a topic by trial.weight, whose sum is `total`."""
    u = uniform(trial.stream) * total
    last = -1
    for i in range(state.totals[TOPICS]):
        other = state.live[i]
        if trial.weight[other] > 0.0:
            last = other
            u -= trial.weight[other]
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
