"""One split-merge trial, from its anchors to the change of the counts.

It knows the counts of the topics and the tables of those concerned, which are listed in its scratch: position
by position, those of topic k from ``start_k[k]`` on. Whether other tables are listed there too, and where the
tables are kept, makes no difference to it.
"""

import math

import numpy as np

from franchise._jit import helper, inlined
from franchise.model.capacity import open_topic
from franchise.model.likelihood import log_gamma
from franchise.model.seating import move_words, words_in
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
    position_a,
    position_b,
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


@helper
def begin_trial(key, number, state, stream, proposals, choice, n_words, most_words):
    """Begin the stream of a trial, choose what it follows, and its anchors as far as that goes."""
    start_stream(stream, key, number)
    u = uniform(stream)
    which = 0
    while which < proposals.shape[0] - 1 and u >= proposals[which, UP_TO]:
        which += 1
    choice[FOLLOWS] = which
    begin_choice(state, stream, choice, int(proposals[which, ANCHORS]), n_words, most_words)


@helper
def gather_topic(state, trial, k, side, n_seen):
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


@inlined
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
def _collect(state, trial, choice):
    """List the tables of the trial in random order, the anchors behind them; return how many are before."""
    k1, k2 = choice[TOPIC_A], choice[TOPIC_B]
    a = position_a(state, trial, choice)
    b = position_b(state, trial, choice, a)
    n_items = 0
    for which in range(1 if k1 == k2 else 2):
        k = k1 if which == 0 else k2
        for position in range(trial.start_k[k], trial.start_k[k] + state.m_k[k]):
            if position != a and position != b:
                trial.item[n_items] = position
                n_items += 1
    shuffle(trial.stream, trial.item[:n_items])
    trial.item[n_items], trial.item[n_items + 1] = a, b
    first, end = trial.start_k[k1], trial.start_k[k1] + state.m_k[k1]
    for i in range(n_items):
        trial.kept[i] = not first <= trial.item[i] < end
    trial.kept[n_items], trial.kept[n_items + 1] = 0, 1
    return n_items


@inlined
def _log_pair_divided(state, trial, anchors, k1, k2, n_seen, n_others):
    """Return log rho of the anchors in a divided state, sides as they are (see `moves.shared.anchors`)."""
    if anchors == UNIFORM:
        return 0.0
    likeness, total = 0.0, 0.0
    if anchors == SIMILAR:
        likeness = likeness_of_sides(trial, n_seen)
        total = weigh_likeness(state, trial, k1, k2, n_seen) + likeness
    return math.log(0.5) + log_chance_of_topic(likeness, total, n_others) - math.log(trial.sizes[1, 1])


@inlined
def _log_divided(state, trial, proposal, k1, k2, n_seen, n_items, n_others, replay):
    """Draw or replay a division; return log W."""
    gamma, eta = state.concentrations[GAMMA], state.concentrations[ETA]
    v_eta = state.row_len.size * eta
    log_q = allocate(trial, eta, v_eta, int(proposal[SCANS]), n_seen, n_items, replay)
    log_pair = _log_pair_divided(state, trial, int(proposal[ANCHORS]), k1, k2, n_seen, n_others)
    log_sides = _log_side(trial, eta, v_eta, n_seen, np.int64(0))
    log_sides += _log_side(trial, eta, v_eta, n_seen, np.int64(1))
    return math.log(gamma) + log_sides + log_pair - log_q


@inlined
def _log_acceptance(state, trial, proposal, k1, k2, n_seen, n_items):
    """Return the log acceptance ratio of the trial; of a split, leave its division in trial.kept.

    The sides hold the current state: everything on side 0, or each topic on its own.
    """
    split = k1 == k2
    eta = state.concentrations[ETA]
    log_united = _log_united(trial, eta, state.row_len.size * eta, n_seen)
    if proposal[ANCHORS] != UNIFORM:
        log_united += math.log(0.5) - math.log(n_items + 1)
    n_others = state.totals[TOPICS] if split else state.totals[TOPICS] - 1
    log_w = _log_divided(state, trial, proposal, k1, k2, n_seen, n_items, n_others, not split)
    if split:
        for i in range(n_items):
            trial.kept[i] = trial.side[i]
        return log_w - log_united
    return log_united - log_w


@helper
def clear_trial(trial, n_seen):
    """Empty both sides, and forget the terms seen."""
    clear_sides(trial, n_seen)
    for e in range(n_seen):
        trial.is_seen[trial.seen[e]] = False


@helper
def note_no_trial(choice, record):
    """Fill in the record of a trial that is not possible."""
    record[:] = 0.0
    record[PROPOSAL], record[SPLIT], record[LOG_ACCEPTANCE] = choice[FOLLOWS], -1.0, -math.inf


@helper
def make_trial(state, trial, proposals, choice, n_seen, record):
    """Make the trial of a choice, and fill in its record; return how many tables it has but the anchors.

    The tables of its topics must be listed; `n_seen` terms of topic a are on side 0, none of them where that
    is 0. The state stays as it is: `carry_out` changes it.
    """
    k1, k2 = choice[TOPIC_A], choice[TOPIC_B]
    proposal, split = proposals[choice[FOLLOWS]], k1 == k2
    if n_seen == 0:
        n_seen = gather_topic(state, trial, k1, np.int64(0), np.int64(0))
    if not split:
        n_seen = gather_topic(state, trial, k2, np.int64(1), np.int64(n_seen))
    record[:] = 0.0
    record[PROPOSAL] = choice[FOLLOWS]
    record[SPLIT] = 1.0 if split else 0.0
    record[TOPIC], record[OTHER] = state.name_k[k1], state.name_k[k2]
    record[N_TABLES] = trial.sizes[0, 1] + trial.sizes[1, 1]
    record[N_WORDS] = trial.sizes[0, 0] + trial.sizes[1, 0]
    n_items = _collect(state, trial, choice)
    record[LOG_ACCEPTANCE] = _log_acceptance(state, trial, proposal, k1, k2, n_seen, n_items)
    accepted = math.log(1.0 - uniform(trial.stream)) < record[LOG_ACCEPTANCE]
    record[ACCEPTED] = 1.0 if accepted else 0.0
    clear_trial(trial, n_seen)
    return n_items


@helper
def _words_of_side(trial, n_items, side):
    """Return the words of one side of trial.kept."""
    words = 0
    for i in range(n_items + 2):
        if trial.kept[i] == side:
            words += words_in(trial, trial.begin[trial.item[i]], trial.end[trial.item[i]])
    return words


@helper
def carry_out(state, trial, choice, n_items, record):
    """Change the counts as the trial proposes; note names and words moved in its record.

    Returns the side of the trial whose tables have moved and the topic that has them now: who holds the
    tables has still to be told.
    """
    k1, k2 = choice[TOPIC_A], choice[TOPIC_B]
    words_0 = _words_of_side(trial, n_items, np.int8(0))
    words_1 = _words_of_side(trial, n_items, np.int8(1))
    side = np.int8(0) if words_0 < words_1 else np.int8(1)
    if k1 == k2:
        leaves, goes_to = k1, np.int64(open_topic(state))
        record[TOPIC], record[OTHER] = state.name_k[k1], state.name_k[goes_to]
    else:
        leaves, goes_to = (k1, k2) if side == 0 else (k2, k1)
        record[TOPIC], record[OTHER] = state.name_k[goes_to], state.name_k[leaves]
    record[WORDS_MOVED] = min(words_0, words_1)
    for i in range(n_items + 2):
        if trial.kept[i] == side:
            begin, end = trial.begin[trial.item[i]], trial.end[trial.item[i]]
            move_words(state, leaves, goes_to, trial, begin, end, words_in(trial, begin, end))
    return side, goes_to
