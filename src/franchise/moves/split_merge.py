"""The split-merge move over the tables of one or two topics (the paper's section 3.2 and algorithm figure).

A trial picks two tables, a and b (`moves.parts.anchors`). Where they share a topic, all of its tables are
divided into two topics, one with a, one with b (`moves.parts.allocation`); where they do not, their topics
are merged, and the division that exists is scored as if it had been proposed. With S the tables concerned::

    log united  = log G(m) + log f(S)
    log divided = log gamma + log G(m_0) + log f(S_0) + log G(m_1) + log f(S_1)

Let W = divided / q, q the chance of the division. A split is accepted with probability min(1, W / united),
a merge with min(1, united / W); chances of the pair of anchors multiply both sides where they depend on
the topics. With several particles, W is the mean over as many divisions drawn independently: a split
takes one of them in proportion to its W, a merge counts the existing division among them.

A trial goes through the words of the topics concerned; with similar anchors also through the other topics
of their terms. An index of all tables is made once per sweep and after every acceptance.

A split leaves its topic to the larger part and opens a new one for the smaller; a merge moves the
smaller topic into the larger: so a topic keeps its name as long as most of it lives on.
"""

import math
from typing import NamedTuple

import numpy as np

from franchise._jit import helper, kernel, part
from franchise.model.capacity import is_full, open_topic
from franchise.model.likelihood import log_gamma
from franchise.model.seating import move_table
from franchise.model.state import ETA, GAMMA, TOPICS
from franchise.moves.parts.allocation import add_table, allocate, clear_sides
from franchise.moves.parts.anchors import (
    SIMILAR,
    SIZE,
    another_table,
    another_topic,
    likeness_of_sides,
    log_chance_of_topic,
    table_by_size,
    two_tables,
    weigh_likeness,
)
from franchise.moves.parts.scratch import TRIAL
from franchise.moves.parts.table_index import index_tables, square_topics
from franchise.random import shuffle, start_stream, uniform

# Columns of `proposals`: chance up to and with this one, anchors, launch, scans, particles.
UP_TO, ANCHORS, LAUNCH, SCANS, PARTICLES = 0, 1, 2, 3, 4
# Columns of `records`, one row per trial (see `sampling.trials.Trial`).
RECORD = (
    *("proposal", "split", "accepted", "log_acceptance"),
    *("topic", "other", "tables", "words", "words_moved"),
)
PROPOSAL, SPLIT, ACCEPTED, LOG_ACCEPTANCE, TOPIC, OTHER, N_TABLES, N_WORDS, WORDS_MOVED = range(9)


class SplitMergeInfo(NamedTuple):
    """What the trials of a sweep did."""

    complete: bool  # False: out of topic numbers; make room and call again
    splits_tried: int
    splits: int  # accepted
    merges_tried: int
    merges: int  # accepted
    words_moved: int
    words_visited: int  # of the topics concerned


@helper
def _gather_topic(state, trial, k, side, n_seen):
    """Put all tables of topic k on a side and list their terms; return how many terms are listed."""
    for position in range(trial.start_k[k], trial.start_k[k] + state.m_k[k]):
        begin, end = trial.begin[position], trial.end[position]
        add_table(trial, side, begin, end)
        for i in range(begin, end):
            v = trial.table_words[i]
            if not trial.is_seen[v]:
                trial.is_seen[v] = True
                trial.seen[n_seen] = v
                n_seen += 1
    return n_seen


@part
def _log_united(trial, eta, v_eta, n_seen):
    """Return log G(m) + log f(S) of both sides together."""
    n, m = trial.sizes[0, 0] + trial.sizes[1, 0], trial.sizes[0, 1] + trial.sizes[1, 1]
    total = math.lgamma(m) + trial.lgv[0] - log_gamma(trial.lgv, v_eta, n)
    for e in range(n_seen):
        v = trial.seen[e]
        total += log_gamma(trial.lg, eta, trial.words[v, 0] + trial.words[v, 1]) - trial.lg[0]
    return total


@helper
def _log_side(trial, eta, v_eta, n_seen, side):
    """Return log G(m) + log f(S) of one side."""
    total = (
        math.lgamma(trial.sizes[side, 1]) + trial.lgv[0] - log_gamma(trial.lgv, v_eta, trial.sizes[side, 0])
    )
    for e in range(n_seen):
        total += log_gamma(trial.lg, eta, trial.words[trial.seen[e], side]) - trial.lg[0]
    return total


@helper
def _collect(state, trial, k1, k2, a, b):
    """List the tables of the trial in random order, the anchors behind them; return how many are before."""
    n_items, position_a, position_b = 0, -1, -1
    for which in range(1 if k1 == k2 else 2):
        k = k1 if which == 0 else k2
        for position in range(trial.start_k[k], trial.start_k[k] + state.m_k[k]):
            if trial.slot[position] == a:
                position_a = position
            elif trial.slot[position] == b:
                position_b = position
            else:
                trial.item[n_items] = position
                n_items += 1
    shuffle(trial.stream, trial.item[:n_items])
    trial.item[n_items] = position_a
    trial.item[n_items + 1] = position_b
    for i in range(n_items):
        trial.kept[i] = state.k_jt[trial.slot[trial.item[i]]] != k1
    trial.kept[n_items] = 0
    trial.kept[n_items + 1] = 1
    return n_items


@part
def _log_pair_divided(state, trial, anchors, k1, k2, n_seen, n_others):
    """Return log rho of the anchors in a divided state, sides as they are (see `moves.parts.anchors`)."""
    if anchors <= SIZE:
        return 0.0
    likeness, total = 0.0, 0.0
    if anchors == SIMILAR:
        likeness = likeness_of_sides(trial, n_seen)
        total = weigh_likeness(state, trial, k1, k2, n_seen) + likeness
    return math.log(0.5) + log_chance_of_topic(likeness, total, n_others) - math.log(trial.sizes[1, 1])


@part
def _move_side(state, trial, n_items, side, k):
    """Move the tables of one side of trial.kept to topic k."""
    for i in range(n_items + 2):
        if trial.kept[i] == side:
            position = trial.item[i]
            begin, end = trial.begin[position], trial.end[position]
            move_table(state, trial.slot[position], k, trial, begin, end)


@part
def _words_of_side(state, trial, n_items, side):
    """Return the words of one side of trial.kept."""
    words = 0
    for i in range(n_items + 2):
        if trial.kept[i] == side:
            words += state.n_jt[trial.slot[trial.item[i]]]
    return words


@part
def _choose_anchors(corpus, state, trial, anchors):
    """Return the slots of the anchors (-1: no trial possible) and the number of terms seen so far."""
    if anchors <= SIZE:
        a, b = two_tables(corpus, state, trial, anchors == SIZE)
        return a, b, 0
    a = table_by_size(corpus, state, trial)
    k = np.int64(state.k_jt[a])
    if uniform(trial.stream) < 0.5:
        return a, another_table(state, trial, k, a) if state.m_k[k] > 1 else -1, 0
    if state.totals[TOPICS] == 1:
        return a, -1, 0
    n_seen, total = 0, 0.0
    if anchors == SIMILAR:
        n_seen = _gather_topic(state, trial, k, np.int64(0), np.int64(0))
        total = weigh_likeness(state, trial, k, k, n_seen)
    other = another_topic(state, trial, k, total)
    return a, another_table(state, trial, other, np.int64(-1)), n_seen


@part
def _log_divided(state, trial, proposal, k1, k2, n_seen, n_items, n_others, replay):
    """Draw or replay a division; return log W."""
    gamma, eta = state.concentrations[GAMMA], state.concentrations[ETA]
    v_eta = state.row_len.size * eta
    launch, scans = int(proposal[LAUNCH]), int(proposal[SCANS])
    log_q = allocate(trial, eta, v_eta, launch, scans, n_seen, n_items, replay)
    log_pair = _log_pair_divided(state, trial, int(proposal[ANCHORS]), k1, k2, n_seen, n_others)
    log_sides = _log_side(trial, eta, v_eta, n_seen, np.int64(0))
    log_sides += _log_side(trial, eta, v_eta, n_seen, np.int64(1))
    return math.log(gamma) + log_sides + log_pair - log_q


@part
def log_acceptance(state, trial, proposal, k1, k2, n_seen, n_items):
    """Return the log acceptance ratio of the trial; of a split, leave its division in trial.kept.

    The sides hold the current state: everything on side 0, or each topic on its own.
    """
    split = k1 == k2
    eta = state.concentrations[ETA]
    log_united = _log_united(trial, eta, state.row_len.size * eta, n_seen)
    if proposal[ANCHORS] > SIZE:
        log_united += math.log(0.5) - math.log(n_items + 1)
    n_others = state.totals[TOPICS] if split else state.totals[TOPICS] - 1
    n_particles = int(proposal[PARTICLES])
    log_sum = -math.inf
    for particle in range(n_particles):
        replay = not split and particle == 0
        log_w = _log_divided(state, trial, proposal, k1, k2, n_seen, n_items, n_others, replay)
        larger = max(log_sum, log_w)
        log_sum = larger + math.log(math.exp(log_sum - larger) + math.exp(log_w - larger))
        # One division is kept with the chance of its weight among those so far.
        if split and (particle == 0 or uniform(trial.stream) < math.exp(log_w - log_sum)):
            for i in range(n_items):
                trial.kept[i] = trial.side[i]
    log_ratio = log_sum - math.log(n_particles) - log_united
    return log_ratio if split else -log_ratio


@part
def _carry_out(state, trial, k1, k2, n_items, record):
    """Change the state as the trial proposes; note names and words moved in its record."""
    words_0 = _words_of_side(state, trial, n_items, np.int8(0))
    words_1 = _words_of_side(state, trial, n_items, np.int8(1))
    smaller = np.int8(0) if words_0 < words_1 else np.int8(1)
    if k1 == k2:
        goes_to = np.int64(open_topic(state))
        record[TOPIC], record[OTHER] = state.name_k[k1], state.name_k[goes_to]
    else:
        goes_to, ends = (k2, k1) if smaller == 0 else (k1, k2)
        record[TOPIC], record[OTHER] = state.name_k[goes_to], state.name_k[ends]
    record[WORDS_MOVED] = min(words_0, words_1)
    _move_side(state, trial, n_items, smaller, goes_to)


@part
def _trial(corpus, state, trial, proposals, record):
    """Make one trial; fill in its record. Returns whether it was a split, a merge, and accepted."""
    record[:] = 0.0
    u = uniform(trial.stream)
    which = 0
    while which < proposals.shape[0] - 1 and u >= proposals[which, UP_TO]:
        which += 1
    proposal = proposals[which]
    record[PROPOSAL] = which
    a, b, n_seen = _choose_anchors(corpus, state, trial, int(proposal[ANCHORS]))
    if b < 0:
        record[SPLIT] = -1.0
        record[LOG_ACCEPTANCE] = -math.inf
        return False, False
    k1, k2 = np.int64(state.k_jt[a]), np.int64(state.k_jt[b])
    split = k1 == k2
    if n_seen == 0:
        n_seen = _gather_topic(state, trial, k1, np.int64(0), np.int64(0))
    if not split:
        n_seen = _gather_topic(state, trial, k2, np.int64(1), np.int64(n_seen))
    record[SPLIT] = 1.0 if split else 0.0
    record[TOPIC], record[OTHER] = state.name_k[k1], state.name_k[k2]
    record[N_TABLES] = trial.sizes[0, 1] + trial.sizes[1, 1]
    record[N_WORDS] = trial.sizes[0, 0] + trial.sizes[1, 0]
    n_items = _collect(state, trial, k1, k2, a, b)
    record[LOG_ACCEPTANCE] = log_acceptance(state, trial, proposal, k1, k2, n_seen, n_items)
    accepted = math.log(1.0 - uniform(trial.stream)) < record[LOG_ACCEPTANCE]
    record[ACCEPTED] = 1.0 if accepted else 0.0
    clear_sides(trial, n_seen)
    for e in range(n_seen):
        trial.is_seen[trial.seen[e]] = False
    if accepted:
        _carry_out(state, trial, k1, k2, n_items, record)
    return split, accepted


@kernel
def split_merge(key, corpus, state, trial, proposals, records):
    """Make one trial for every row of `records`.

    The words must have been laid out by tables, as the table move leaves them.
    """
    splits_tried, splits, merges_tried, merges, words_moved, words_visited = 0, 0, 0, 0, 0, 0
    by_likeness = False
    for which in range(proposals.shape[0]):
        by_likeness |= proposals[which, ANCHORS] == SIMILAR
    stale = True
    for number in range(trial.cursor[TRIAL], records.shape[0]):
        if is_full(state):
            trial.cursor[TRIAL] = number
            return SplitMergeInfo(
                False, splits_tried, splits, merges_tried, merges, words_moved, words_visited
            )
        if stale:
            index_tables(corpus, state, trial)
            if by_likeness:
                square_topics(state, trial)
        start_stream(trial.stream, key, number)
        split, accepted = _trial(corpus, state, trial, proposals, records[number])
        stale = accepted
        if records[number, SPLIT] >= 0.0:
            splits_tried += split
            merges_tried += not split
            splits += split and accepted
            merges += accepted and not split
            words_moved += int(records[number, WORDS_MOVED])
            words_visited += int(records[number, N_WORDS])
    trial.cursor[TRIAL] = 0
    return SplitMergeInfo(True, splits_tried, splits, merges_tried, merges, words_moved, words_visited)
