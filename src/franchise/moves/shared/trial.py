"""One split-merge trial, from its stream to its acceptance; the state is unchanged.

A trial uses the counts of the topics, and a listing of their tables (`Listing`): the tables of topic k are at
positions from ``start_k[k]`` on. Other listed tables, and where the tables are kept, make no difference.
"""

import math

import numpy as np

from franchise._jit import helper, inlined
from franchise.model.likelihood import log_gamma
from franchise.model.state import ETA, GAMMA, TOPICS
from franchise.moves.shared.allocation import add_table, allocate, clear_sides
from franchise.moves.shared.anchors import (
    FOLLOWS,
    SIMILAR,
    TOPIC_A,
    TOPIC_B,
    UNIFORM,
    begin_choice,
    likeness_of_sides,
    log_chance_of_topic,
    positions_of,
    weigh_likeness,
)
from franchise.random import shuffle, start_stream, uniform

# Columns of `proposals`: cumulative probability, anchors, scans.
UP_TO, ANCHORS, SCANS = 0, 1, 2
# Columns of `records`, one row per trial (see `sampling.trials.Trial`).
RECORD = (
    *("proposal", "split", "accepted", "log_acceptance"),
    *("topic", "other", "tables", "words", "words_moved"),
)
PROPOSAL, SPLIT, ACCEPTED, LOG_ACCEPTANCE, TOPIC, OTHER, N_TABLES, N_WORDS, WORDS_MOVED = range(9)
_BOTH = 2  # sides


@helper
def begin_trial(key, number, state, stream, proposals, choice, record, n_words):
    """Begin the stream of a trial, and choose its proposal, and its anchors as far as possible.

    Until the trial has been made, its record is that of an impossible trial.
    """
    start_stream(stream, key, number)
    u = uniform(stream)
    which = 0
    while which < proposals.shape[0] - 1 and u >= proposals[which, UP_TO]:
        which += 1
    choice[FOLLOWS] = which
    begin_choice(state, stream, choice, proposals[which, ANCHORS], n_words)
    record[:] = 0.0
    record[PROPOSAL], record[SPLIT], record[LOG_ACCEPTANCE] = which, -1.0, -math.inf


@helper
def gather_topic(m_k, listing, own, k, side, n_seen):
    """Put all tables of topic k on a side and list their terms; return the number of listed terms."""
    for position in range(listing.start_k[k], listing.start_k[k] + m_k[k]):
        add_table(listing, own, side, position, np.int64(1))
        for i in range(listing.begin[position], listing.end[position]):
            v = listing.table_words[i]
            if not own.is_seen[v]:
                own.is_seen[v] = True
                own.seen[n_seen] = v
                n_seen += 1
    return n_seen


@helper
def _log_side(own, eta, v_eta, n_seen, side):
    """Return log G(m) + log f(S) of one side, or of both together."""
    first, last = (0, 1) if side == _BOTH else (side, side)
    n, m = own.sizes[first, 0], own.sizes[first, 1]
    if side == _BOTH:
        n, m = n + own.sizes[last, 0], m + own.sizes[last, 1]
    total = math.lgamma(m) + own.lgv[0] - log_gamma(own.lgv, v_eta, n)
    for e in range(n_seen):
        v = own.seen[e]
        c = own.words[v, first]
        if side == _BOTH:
            c += own.words[v, last]
        total += log_gamma(own.lg, eta, c) - own.lg[0]
    return total


@inlined
def _collect(m_k, listing, own, stream, choice):
    """List the tables of the trial in random order, followed by the anchors; return how many come before."""
    k1, k2 = choice[TOPIC_A], choice[TOPIC_B]
    a, b = positions_of(m_k, listing, choice)
    n_items = np.int64(0)
    for which in range(1 if k1 == k2 else 2):
        k = k1 if which == 0 else k2
        for position in range(listing.start_k[k], listing.start_k[k] + m_k[k]):
            if position != a and position != b:
                own.item[n_items] = position
                n_items += 1
    shuffle(stream, own.item[:n_items])
    own.item[n_items], own.item[n_items + 1] = a, b
    first, end = listing.start_k[k1], listing.start_k[k1] + m_k[k1]
    for i in range(n_items):
        own.kept[i] = not first <= own.item[i] < end
    own.kept[n_items], own.kept[n_items + 1] = 0, 1
    return n_items


@inlined
def _log_pair_divided(state, own, anchors, k1, k2, n_seen, n_others):
    """Return log rho of the anchors in a divided state, sides as they are (see `moves.shared.anchors`)."""
    if anchors == UNIFORM:
        return 0.0
    likeness, total = 0.0, 0.0
    if anchors == SIMILAR:
        likeness = likeness_of_sides(own, n_seen)
        total = weigh_likeness(state, own, k1, k2, n_seen) + likeness
    return math.log(0.5) + log_chance_of_topic(likeness, total, n_others) - math.log(own.sizes[1, 1])


@inlined
def _log_acceptance(state, listing, own, stream, proposal, k1, k2, n_seen, n_items):
    """Return the log acceptance ratio of the trial; for a split, store its division in own.kept.

    The sides hold the current state: everything on side 0, or each topic on its own side.
    """
    split, anchors = k1 == k2, proposal[ANCHORS]
    gamma, eta = state.concentrations[GAMMA], state.concentrations[ETA]
    v_eta = state.row_len.size * eta
    log_united = _log_side(own, eta, v_eta, n_seen, np.int64(_BOTH))
    if anchors != UNIFORM:
        log_united += math.log(0.5) - math.log(n_items + 1)
    n_others = state.totals[TOPICS] if split else state.totals[TOPICS] - 1
    log_q = allocate(listing, own, stream, eta, v_eta, int(proposal[SCANS]), n_seen, n_items, not split)
    log_pair = _log_pair_divided(state, own, anchors, k1, k2, n_seen, n_others)
    log_sides = _log_side(own, eta, v_eta, n_seen, np.int64(0))
    log_sides += _log_side(own, eta, v_eta, n_seen, np.int64(1))
    log_w = math.log(gamma) + log_sides + log_pair - log_q
    if split:
        for i in range(n_items):
            own.kept[i] = own.side[i]
        return log_w - log_united
    return log_united - log_w


@helper
def clear_trial(own, n_seen):
    """Empty both sides, and clear the list of terms."""
    clear_sides(own, n_seen)
    for e in range(n_seen):
        own.is_seen[own.seen[e]] = False


@helper
def make_trial(state, listing, own, stream, proposals, choice, record):
    """Make the trial of a choice, with its topics' tables listed, and fill in its record.

    Afterwards its tables are in own.item, the anchors last, and their sides in own.kept.
    """
    k1, k2 = choice[TOPIC_A], choice[TOPIC_B]
    split, m_k = k1 == k2, state.m_k
    n_seen = gather_topic(m_k, listing, own, k1, np.int64(0), np.int64(0))
    if not split:
        n_seen = gather_topic(m_k, listing, own, k2, np.int64(1), np.int64(n_seen))
    record[SPLIT] = 1.0 if split else 0.0
    record[TOPIC], record[OTHER] = state.name_k[k1], state.name_k[k2]
    record[N_TABLES] = own.sizes[0, 1] + own.sizes[1, 1]
    record[N_WORDS] = own.sizes[0, 0] + own.sizes[1, 0]
    n_items = _collect(m_k, listing, own, stream, choice)
    proposal = proposals[choice[FOLLOWS]]
    log_acceptance = _log_acceptance(state, listing, own, stream, proposal, k1, k2, n_seen, n_items)
    record[LOG_ACCEPTANCE] = log_acceptance
    record[ACCEPTED] = 1.0 if math.log(1.0 - uniform(stream)) < log_acceptance else 0.0
    clear_trial(own, n_seen)
