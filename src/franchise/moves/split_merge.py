"""The split-merge move over the tables of one or two topics (the paper's section 3.2 and algorithm figure).

A trial picks two tables, a and b (`moves.shared.anchors`). If they share a topic, all of its tables are
divided into two topics, one with a, one with b (`moves.shared.allocation`). Otherwise their topics are
merged, and the present division is scored as if it had been proposed. With S the tables concerned::

    log united  = log G(m) + log f(S)
    log divided = log gamma + log G(m_0) + log f(S_0) + log G(m_1) + log f(S_1)

Let W = divided / q, where q is the probability of the division. A split is accepted with probability
min(1, W / united), a merge with min(1, united / W). W and united are each multiplied by the
probability of the pair of anchors in that state, as far as it depends on the topics.

A trial visits the tables of its topics, and with similar anchors also the other topics of their terms. It
leaves the state unchanged until it is carried out. So many trials can be made at once, each from its own
stream, against the same state: up to the first accepted one, they are what one after another would be
(`engines.trials`).

Topics with more than `shared.scratch.MOST_WORDS_OF_A_TRIAL` words together are left alone, which bounds the
time and memory of a trial. The words of a split and of the merge that undoes it are the same: both are made
or neither, so detailed balance holds.

A split leaves its topic to the larger part and opens a new one for the smaller; a merge moves the smaller
topic into the larger. So a topic keeps its name as long as most of it lives on.
"""

from typing import NamedTuple

import numpy as np

from franchise._arrays import Array
from franchise._jit import inlined, kernel
from franchise.model.capacity import open_topic
from franchise.model.seating import move_words
from franchise.model.state import NUMBERED
from franchise.moves.shared.anchors import (
    DONE,
    FOLLOWS,
    LIKENESS,
    NEEDS,
    START,
    TABLES_OF_BOTH,
    TOPIC_A,
    TOPIC_B,
    WORD,
    choose_by_likeness,
    continue_choice,
)
from franchise.moves.shared.trial import (
    ACCEPTED,
    ANCHORS,
    N_WORDS,
    RECORD,
    SPLIT,
    WORDS_MOVED,
    begin_trial,
    clear_trial,
    gather_topic,
    make_trial,
)

__all__ = ["RECORD", "SplitMergeInfo", "info_of"]


class SplitMergeInfo(NamedTuple):
    """Numbers of the trials of a sweep."""

    complete: bool
    splits_tried: int
    splits: int  # accepted splits
    merges_tried: int
    merges: int  # accepted merges
    words_moved: int
    words_visited: int  # words of the topics concerned


@inlined
def _can_be_made(state, listing, own, choice, most_words):
    """Return whether the tables of a trial are listed, with room for them; drop a trial that is too large."""
    k1, k2 = choice[TOPIC_A], choice[TOPIC_B]
    n, m = state.n_k[k1], state.m_k[k1]
    if k1 != k2:
        n, m = n + state.n_k[k2], m + state.m_k[k2]
    if n > most_words:
        choice[NEEDS] = DONE
        return False
    return listing.start_k[k1] >= 0 and listing.start_k[k2] >= 0 and m <= own.item.size


@kernel
def try_splits_and_merges(
    key, first, state, listing, own, proposals, choices, streams, records, begin, end, n_words, most_words
):
    """Continue the trials in rows `begin` to `end` as far as the listed tables allow.

    Row r is trial number `first` + r. A trial begins without tables; its choice says what it needs. The table
    of a requested word must have been filled in. Returns the row of the first accepted trial, whose tables
    are then in own.item and own.kept, or `end` if there is none.
    """
    for row in range(begin, end):
        choice, stream, record = choices[row], streams[row], records[row]
        if choice[NEEDS] == START:
            begin_trial(key, first + row, state, stream, proposals, choice, record, n_words)
        elif choice[NEEDS] == WORD:
            anchors = proposals[choice[FOLLOWS], ANCHORS]
            continue_choice(state, stream, choice, anchors, most_words)
        if choice[NEEDS] == LIKENESS and listing.start_k[choice[TOPIC_A]] >= 0:
            n_seen = gather_topic(state.m_k, listing, own, choice[TOPIC_A], np.int64(0), np.int64(0))
            choose_by_likeness(state, own, stream, choice, n_seen)
            clear_trial(own, n_seen)
        if choice[NEEDS] == TABLES_OF_BOTH and _can_be_made(state, listing, own, choice, most_words):
            make_trial(state, listing, own, stream, proposals, choice, record)
            choice[NEEDS] = DONE
            if record[ACCEPTED] == 1.0:
                return row
    return end


@kernel
def move_tables(state, listing, positions, leaves, goes_to):
    """Move the counts of tables at some positions of the listing from topic `leaves` to `goes_to`.

    -1 is a new topic, for which there must be a number. Returns the topic. The holder of the tables must give
    them the same topic.
    """
    if goes_to < 0:
        goes_to = np.int64(open_topic(state))
    for position in positions:
        begin, end = listing.begin[position], listing.end[position]
        move_words(state, leaves, goes_to, listing.table_words, listing.table_counts, begin, end)
    return goes_to


@kernel
def square_topics(state, squares_k):
    """Compute the sum of squared counts of every topic."""
    squares_k[: state.totals[NUMBERED]] = 0.0
    for v in range(state.row_len.size):
        first = state.row_ptr[v]
        for place in range(first, first + state.row_len[v]):
            count = float(state.row_n[place])
            squares_k[state.row_k[place]] += count * count


def info_of(records: Array) -> SplitMergeInfo:
    """Return the numbers of completed trials from their records."""
    made = records[records[:, SPLIT] >= 0.0]
    split, accepted = made[:, SPLIT] == 1.0, made[:, ACCEPTED] == 1.0
    return SplitMergeInfo(
        complete=True,
        splits_tried=int(split.sum()),
        splits=int((split & accepted).sum()),
        merges_tried=int((~split).sum()),
        merges=int((~split & accepted).sum()),
        words_moved=int(made[:, WORDS_MOVED].sum()),
        words_visited=int(made[:, N_WORDS].sum()),
    )
