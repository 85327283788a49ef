"""Divide the tables of a trial between two topics: propose a division, or replay a known one.

Anchor a begins side 0, anchor b side 1; the other tables are visited in a random order. `allocate` samples
a division into ``trial.side`` and returns the log probability of that sample. With `replay`, it returns the
log probability of the division in ``trial.kept`` instead. There are two ways:

sequential
    Each table goes to side s with probability proportional to m_s f_s(x_jt), given the tables before it
    (the paper's section 3.2; Dahl 2003).
sequential, then scans
    A sequential division, then restricted Gibbs scans; only the last scan counts (Jain & Neal 2004). The
    scans always start from a sampled division, never from the current state, even in a replay.
"""

import math

import numpy as np

from franchise._jit import helper, inlined
from franchise.model.likelihood import rise
from franchise.model.seating import words_in
from franchise.random import uniform

# A product between these is a double still after the factor of one more word, 1e-100 to 1e207 for
# every eta that a prior allows.
_SMALLEST, _LARGEST = 1e-100, 1e100


@helper
def count_at(trial, i):
    """Return how many words stand at place i of the words of tables: one, unless they are counted."""
    return trial.table_counts[i] if trial.table_counts.size else np.int32(1)


@helper
def add_table(trial, side, begin, end):
    """Add the table with the words from `begin` to `end` to a side."""
    for i in range(begin, end):
        trial.words[trial.table_words[i], side] += count_at(trial, i)
    trial.sizes[side, 0] += words_in(trial, begin, end)
    trial.sizes[side, 1] += 1


@inlined
def _take_table(trial, side, begin, end):
    """Take a table from a side."""
    for i in range(begin, end):
        trial.words[trial.table_words[i], side] -= count_at(trial, i)
    trial.sizes[side, 0] -= words_in(trial, begin, end)
    trial.sizes[side, 1] -= 1


@helper
def clear_sides(trial, n_seen):
    """Empty both sides."""
    for e in range(n_seen):
        trial.words[trial.seen[e], 0] = 0
        trial.words[trial.seen[e], 1] = 0
    trial.sizes[:, :] = 0


@inlined
def seat_anchors(trial, n_items):
    """Begin the sides with the anchors, which stand behind the items."""
    for side in range(2):
        position = trial.item[n_items + side]
        add_table(trial, side, trial.begin[position], trial.end[position])


@helper
def _log_odds(trial, eta, v_eta, begin, end):
    """Return log m_0 f_0 - log m_1 f_1 of a table.

    By products rather than lnG, which is quicker for the small counts that most tables have; a
    logarithm is taken before the products can leave the range of doubles.
    """
    if trial.table_counts.size:
        return _log_odds_of_counts(trial, eta, v_eta, begin, end)
    x0, x1 = trial.sizes[0, 0] + v_eta, trial.sizes[1, 0] + v_eta
    over, under = float(trial.sizes[0, 1]), float(trial.sizes[1, 1])
    total, last, times = 0.0, -1, 0
    for i in range(begin, end):
        v = trial.table_words[i]
        times = times + 1 if v == last else 0  # equal terms stand side by side
        last = v
        over *= (x1 + (i - begin)) * (trial.words[v, 0] + eta + times)
        under *= (x0 + (i - begin)) * (trial.words[v, 1] + eta + times)
        if max(over, under) > _LARGEST or min(over, under) < _SMALLEST:
            total += math.log(over) - math.log(under)
            over, under = 1.0, 1.0
    return total + math.log(over) - math.log(under)


@helper
def _log_odds_of_counts(trial, eta, v_eta, begin, end):
    """Return the same for a table that is laid out in counts, which may be large."""
    n = words_in(trial, begin, end)
    total = math.log(trial.sizes[0, 1]) - math.log(trial.sizes[1, 1])
    total += rise(trial.lgv, v_eta, trial.sizes[1, 0], n) - rise(trial.lgv, v_eta, trial.sizes[0, 0], n)
    for i in range(begin, end):
        v, c = trial.table_words[i], np.int64(trial.table_counts[i])
        total += rise(trial.lg, eta, np.int64(trial.words[v, 0]), c)
        total -= rise(trial.lg, eta, np.int64(trial.words[v, 1]), c)
    return total


@helper
def _chance(log_odds):
    """Return 1 / (1 + exp(-log_odds)), without overflow."""
    if log_odds > 0.0:
        return 1.0 / (1.0 + math.exp(-log_odds))
    odds = math.exp(log_odds)
    return odds / (1.0 + odds)


@helper
def _choose(trial, i, log_odds, replay):
    """Set the side of item i, 0 with these log odds, or replay it; return the log chance of it."""
    side = trial.kept[i]
    if not replay:
        side = np.int8(0) if uniform(trial.stream) < _chance(log_odds) else np.int8(1)
    trial.side[i] = side
    if side == 1:
        log_odds = -log_odds
    if log_odds > 0.0:
        return -math.log1p(math.exp(-log_odds))
    return log_odds - math.log1p(math.exp(log_odds))


@helper
def _pass(trial, eta, v_eta, n_items, again, replay):
    """Visit every item once and give it a side, taking it from the one it has when seated before."""
    log_q = 0.0
    for i in range(n_items):
        begin, end = trial.begin[trial.item[i]], trial.end[trial.item[i]]
        if again:
            _take_table(trial, np.int64(trial.side[i]), begin, end)
        log_q += _choose(trial, i, _log_odds(trial, eta, v_eta, begin, end), replay)
        add_table(trial, np.int64(trial.side[i]), begin, end)
    return log_q


@helper
def allocate(trial, eta, v_eta, scans, n_seen, n_items, replay):
    """Divide the items (see above); return the log probability of the division drawn or replayed."""
    clear_sides(trial, n_seen)
    seat_anchors(trial, n_items)
    log_q = 0.0
    # The first pass is the sequential launch; only the last is replayed.
    for scan in range(scans + 1):
        log_q = _pass(trial, eta, v_eta, n_items, scan > 0, replay and scan == scans)
    return log_q
