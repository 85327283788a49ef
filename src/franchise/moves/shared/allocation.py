"""Divide the tables of a trial between two topics: propose a division, or replay a known one.

Anchor a begins side 0, anchor b side 1; the other tables are visited in random order. `allocate` samples
a division into ``own.side`` and returns the log probability of that sample. With `replay`, it returns the
log probability of the division in ``own.kept`` instead. There are two methods:

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
from franchise.random import uniform

# A product between these bounds is still a double after one more word, whose factor is 1e-100 to 1e207 for
# every eta that a prior allows.
_SMALLEST, _LARGEST = 1e-100, 1e100


@inlined
def add_table(listing, own, side, position, sign):
    """Add the table at a position of the listing to a side; with sign -1, remove it.

    Inlined, like everything that runs per table: passing tuples of arrays would take longer.
    """
    n = np.int64(0)
    for i in range(listing.begin[position], listing.end[position]):
        count = np.int64(listing.table_counts[i] if listing.table_counts.size else 1)
        own.words[listing.table_words[i], side] += sign * count
        n += count
    own.sizes[side, 0] += sign * n
    own.sizes[side, 1] += sign


@helper
def clear_sides(own, n_seen):
    """Empty both sides."""
    for e in range(n_seen):
        own.words[own.seen[e], 0] = 0
        own.words[own.seen[e], 1] = 0
    own.sizes[:, :] = 0


@inlined
def _log_odds(listing, own, eta, v_eta, begin, end):
    """Return log m_0 f_0 - log m_1 f_1 of a table.

    Products are faster than lnG for the small counts of most tables; a logarithm is taken before the products
    leave the range of doubles.
    """
    x0, x1 = own.sizes[0, 0] + v_eta, own.sizes[1, 0] + v_eta
    over, under = float(own.sizes[0, 1]), float(own.sizes[1, 1])
    total, last, times = 0.0, -1, 0
    for i in range(begin, end):
        v = listing.table_words[i]
        times = times + 1 if v == last else 0  # equal terms are next to each other
        last = v
        over *= (x1 + (i - begin)) * (own.words[v, 0] + eta + times)
        under *= (x0 + (i - begin)) * (own.words[v, 1] + eta + times)
        if max(over, under) > _LARGEST or min(over, under) < _SMALLEST:
            total += math.log(over) - math.log(under)
            over, under = 1.0, 1.0
    return total + math.log(over) - math.log(under)


@helper
def _log_odds_of_counts(listing, own, eta, v_eta, begin, end):
    """Return the same for a table with counts, which may be large."""
    n = np.int64(0)
    for i in range(begin, end):
        n += listing.table_counts[i]
    total = math.log(own.sizes[0, 1]) - math.log(own.sizes[1, 1])
    total += rise(own.lgv, v_eta, own.sizes[1, 0], n) - rise(own.lgv, v_eta, own.sizes[0, 0], n)
    for i in range(begin, end):
        v, c = listing.table_words[i], np.int64(listing.table_counts[i])
        total += rise(own.lg, eta, np.int64(own.words[v, 0]), c)
        total -= rise(own.lg, eta, np.int64(own.words[v, 1]), c)
    return total


@inlined
def _chance(log_odds):
    """Return 1 / (1 + exp(-log_odds)), without overflow."""
    if log_odds > 0.0:
        return 1.0 / (1.0 + math.exp(-log_odds))
    odds = math.exp(log_odds)
    return odds / (1.0 + odds)


@inlined
def _log_chance(log_odds):
    """Return the logarithm of `_chance`."""
    if log_odds > 0.0:
        return -math.log1p(math.exp(-log_odds))
    return log_odds - math.log1p(math.exp(log_odds))


@inlined
def _give_side(listing, own, stream, eta, v_eta, i, replay):
    """Sample or replay the side of item i; return its log probability."""
    position = own.item[i]
    begin, end = listing.begin[position], listing.end[position]
    if listing.table_counts.size:
        log_odds = _log_odds_of_counts(listing, own, eta, v_eta, begin, end)
    else:
        log_odds = _log_odds(listing, own, eta, v_eta, begin, end)
    side = np.int64(own.kept[i])
    if not replay:
        side = np.int64(uniform(stream) >= _chance(log_odds))
    own.side[i] = side
    add_table(listing, own, side, position, np.int64(1))
    return _log_chance(-log_odds if side == 1 else log_odds)


@helper
def allocate(listing, own, stream, eta, v_eta, scans, n_seen, n_items, replay):
    """Divide the items (see above); return the log probability of the sampled or replayed division."""
    clear_sides(own, n_seen)
    for side in range(2):  # begin with the anchors, which come after the items
        add_table(listing, own, side, own.item[n_items + side], np.int64(1))
    log_q = 0.0
    # The first pass is the sequential launch; only the last pass is replayed.
    for scan in range(scans + 1):
        log_q = 0.0
        for i in range(n_items):
            if scan > 0:
                add_table(listing, own, np.int64(own.side[i]), own.item[i], np.int64(-1))
            log_q += _give_side(listing, own, stream, eta, v_eta, i, replay and scan == scans)
    return log_q
