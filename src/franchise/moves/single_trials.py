"""Split-merge trials one by one, each from the tables of its topics: the steps of `moves.split_merge` apart.

A trial leaves the state as it is until it is carried out. So many can be made at once, each from its own
stream, against the same state: up to the first that is accepted they are what one after another would be.
"""

import numpy as np

from franchise._jit import kernel
from franchise.moves.shared.anchors import (
    FOLLOWS,
    NEEDS,
    NO_TRIAL,
    TOPIC_A,
    WORD,
    choose_by_likeness,
    continue_choice,
)
from franchise.moves.shared.table_index import square_topics
from franchise.moves.shared.trial import (
    ACCEPTED,
    ANCHORS,
    begin_trial,
    carry_out,
    clear_trial,
    gather_topic,
    make_trial,
    note_no_trial,
)


@kernel
def begin_choices(key, first, state, proposals, choices, streams, n_words, most_words):
    """Begin the choices of anchors of the trials from number `first` on, one for every row of `choices`."""
    for row in range(choices.shape[0]):
        stream, choice = streams[row], choices[row]
        begin_trial(key, first + row, state, stream, proposals, choice, n_words, most_words)


@kernel
def continue_choices(state, proposals, choices, streams, most_words):
    """Continue the choices that needed the table of a word, which has been filled in."""
    for row in range(choices.shape[0]):
        choice = choices[row]
        if choice[NEEDS] == WORD:
            anchors = int(proposals[choice[FOLLOWS], ANCHORS])
            continue_choice(state, streams[row], choice, anchors, most_words)


@kernel
def finish_choice(state, trial, choice):
    """Choose a topic by its likeness to topic a, whose tables are listed, and a table of it."""
    n_seen = gather_topic(state, trial, choice[TOPIC_A], np.int64(0), np.int64(0))
    choose_by_likeness(state, trial, choice, n_seen)
    clear_trial(trial, n_seen)


@kernel
def try_single(state, trial, proposals, choice, record):
    """Make a trial and fill in its record; return how many tables it has but the anchors, -1 if rejected.

    The state stays as it is. The tables are in trial.item, their sides in trial.kept. What has chosen that no
    trial is possible, gets its record too.
    """
    if choice[NEEDS] == NO_TRIAL:
        note_no_trial(choice, record)
        return -1
    n_items = make_trial(state, trial, proposals, choice, np.int64(0), record)
    return n_items if record[ACCEPTED] else -1


@kernel
def carry_out_single(state, trial, choice, n_items, record):
    """Change the counts as a trial proposes that was accepted.

    There must be a number for a new topic. Returns the side whose tables have moved, and their topic.
    """
    return carry_out(state, trial, choice, n_items, record)


@kernel
def add_squares(state, squares_k):
    """Add up the squared counts of every topic."""
    square_topics(state, squares_k)
