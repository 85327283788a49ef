"""The split-merge move over the tables of one or two topics (the paper's section 3.2 and algorithm figure).

A trial picks two tables, a and b (`moves.shared.anchors`). Where they share a topic, all of its tables are
divided into two topics, one with a, one with b (`moves.shared.allocation`); where they do not, their topics
are merged, and the division that exists is scored as if it had been proposed. With S the tables concerned::

    log united  = log G(m) + log f(S)
    log divided = log gamma + log G(m_0) + log f(S_0) + log G(m_1) + log f(S_1)

Let W = divided / q, q the chance of the division. A split is accepted with probability min(1, W / united),
a merge with min(1, united / W); chances of the pair of anchors multiply both sides where they depend on
the topics.

A trial goes through the words of the topics concerned; with similar anchors also through the other topics
of their terms. The kernel here makes trials one after another, from an index of all tables that it makes once
and after every acceptance; `moves.single_trials` makes them one by one, from the tables of their topics.

Topics that have more than `parts.scratch.MOST_WORDS_OF_A_TRIAL` words together are left alone, so that what
a trial takes in time and memory has a bound. The words of a split and of the merge that undoes it are the
same: both are made or neither, and detailed balance holds.

A split leaves its topic to the larger part and opens a new one for the smaller; a merge moves the
smaller topic into the larger: so a topic keeps its name as long as most of it lives on.
"""

from typing import NamedTuple

import numpy as np

from franchise._jit import helper, inlined, kernel
from franchise.model.capacity import is_full
from franchise.model.state import Array
from franchise.moves.shared.anchors import (
    FOLLOWS,
    LIKENESS,
    NEEDS,
    NO_TRIAL,
    SIMILAR,
    SLOT_A,
    TOPIC_A,
    WORD,
    WORD_A,
    choose_by_likeness,
    continue_choice,
    place_of,
)
from franchise.moves.shared.scratch import TRIAL
from franchise.moves.shared.table_index import index_tables, square_topics
from franchise.moves.shared.trial import (
    ACCEPTED,
    ANCHORS,
    N_WORDS,
    RECORD,
    SPLIT,
    WORDS_MOVED,
    begin_trial,
    carry_out,
    clear_trial,
    gather_topic,
    make_trial,
    note_no_trial,
)

__all__ = ["RECORD", "SplitMergeInfo", "info_of", "split_merge"]


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
def _find_table(corpus, state, trial, i):
    """Return the slot of the table of word i."""
    if trial.size_ptr.size:
        return np.int64(place_of(trial.size_ptr, i))
    return np.int64(corpus.doc_ptr[place_of(corpus.doc_ptr, i)] + state.t_ji[i])


@inlined
def _answer(corpus, state, trial, choice):
    """Fill in the table of the word that a choice asks for."""
    choice[SLOT_A] = _find_table(corpus, state, trial, choice[WORD_A])
    choice[TOPIC_A] = state.k_jt[choice[SLOT_A]]


@inlined
def _trial(key, number, corpus, state, trial, proposals, record):
    """Make one trial; fill in its record."""
    choice, most_words = trial.choice, trial.most_words[0]
    n_words = trial.size_ptr[-1] if trial.size_ptr.size else np.int64(corpus.x.size)
    begin_trial(key, number, state, trial.stream, proposals, choice, n_words, most_words)
    anchors, n_seen = int(proposals[choice[FOLLOWS], ANCHORS]), np.int64(0)
    if choice[NEEDS] == WORD:
        _answer(corpus, state, trial, choice)
        continue_choice(state, trial.stream, choice, anchors, most_words)
    if choice[NEEDS] == LIKENESS:
        n_seen = gather_topic(state, trial, choice[TOPIC_A], np.int64(0), np.int64(0))
        choose_by_likeness(state, trial, choice, n_seen)
    if choice[NEEDS] == NO_TRIAL:
        clear_trial(trial, n_seen)
        note_no_trial(choice, record)
        return
    n_items = make_trial(state, trial, proposals, choice, n_seen, record)
    if record[ACCEPTED]:
        side, k = carry_out(state, trial, choice, n_items, record)
        for i in range(n_items + 2):
            if trial.kept[i] == side:
                state.k_jt[trial.slot[trial.item[i]]] = k


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
                square_topics(state, trial.squares_k)
        record = records[number]
        _trial(key, number, corpus, state, trial, proposals, record)
        stale = record[ACCEPTED] == 1.0
        if record[SPLIT] >= 0.0:
            splits_tried += record[SPLIT] == 1.0
            merges_tried += record[SPLIT] == 0.0
            splits += record[SPLIT] == 1.0 and stale
            merges += record[SPLIT] == 0.0 and stale
            words_moved += int(record[WORDS_MOVED])
            words_visited += int(record[N_WORDS])
    trial.cursor[TRIAL] = 0
    return SplitMergeInfo(True, splits_tried, splits, merges_tried, merges, words_moved, words_visited)


def info_of(records: Array) -> SplitMergeInfo:
    """Return what trials did that have all been made, from their records."""
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
