"""Split-merge trials one after another, without Python between them: each from a new list of all tables."""

from typing import NamedTuple

import numpy as np

from franchise._arrays import Array, CorpusArrays
from franchise._jit import kernel
from franchise.model import State
from franchise.model.table_words import GatherScratch, list_tables, new_gather_scratch
from franchise.moves.shared.anchors import (
    CHOICE,
    DONE,
    NEEDS,
    SLOT_A,
    START,
    TOPIC_A,
    TOPIC_B,
    WORD,
    WORD_A,
)
from franchise.moves.shared.scratch import (
    MOST_WORDS_OF_A_TRIAL,
    Listing,
    TrialScratch,
    new_trial_scratch,
    with_room_for_trials,
)
from franchise.moves.shared.trial import ACCEPTED, N_TABLES, OTHER, TOPIC, WORDS_MOVED
from franchise.moves.split_merge import move_tables, square_topics, try_splits_and_merges


class OneByOne(NamedTuple):
    """Working memory, with room for as many topics and tables as words."""

    listing: Listing
    own: TrialScratch
    gather: GatherScratch
    column: Array
    at: Array  # (topic, 2): where tables and words end
    sizes: Array
    document: Array  # of every word
    positions: Array
    choices: Array
    streams: Array
    most_words: Array  # of a trial


def new_one_by_one(
    corpus: CorpusArrays, state: State, lg: Array, lgv: Array, most_words: int = MOST_WORDS_OF_A_TRIAL
) -> OneByOne:
    """Allocate working memory for trials one after another."""
    n, capacity, n_j = corpus.x.size, state.n_k.size, np.diff(corpus.doc_ptr)
    own = with_room_for_trials(new_trial_scratch(corpus.n_terms, lg, lgv), capacity, n)
    start_k, slot, begin, end = np.zeros(capacity, np.int64), *np.zeros((3, n), np.int64)
    return OneByOne(
        listing=Listing(start_k, slot, begin, end, np.zeros(n, np.int32), np.zeros(0, np.int32)),
        own=own._replace(squares_k=np.zeros(capacity)),
        gather=new_gather_scratch(corpus.n_terms, int(n_j.max(initial=0))),
        column=np.arange(capacity, dtype=np.int32),
        at=np.zeros((capacity, 2), np.int64),
        sizes=np.zeros(n, np.int32),
        document=np.repeat(np.arange(n_j.size), n_j),
        positions=np.zeros(n, np.int64),
        choices=np.zeros((1, len(CHOICE)), np.int64),
        streams=np.zeros((1, 4), np.uint64),
        most_words=np.array([most_words]),
    )


@kernel
def one_after_another(key, corpus, state, one, proposals, records):
    """Make a trial for every row of `records`."""
    choice = one.choices[0]
    for number in range(records.shape[0]):
        list_all(corpus, state, one)
        square_topics(state, one.own.squares_k)
        choice[NEEDS] = START
        while choice[NEEDS] != DONE:
            if choice[NEEDS] == WORD:
                answer(corpus, state, one, choice)
            try_splits_and_merges(
                *(key, number, state, one.listing, one.own, proposals, one.choices, one.streams),
                *(records[number : number + 1], 0, 1, corpus.x.size, one.most_words[0]),
            )
        if records[number, ACCEPTED] == 1.0:
            carry_out(state, one, choice, records[number])


@kernel
def list_all(corpus, state, one):
    """List the tables of all topics."""
    listing, tables, words = one.listing, 0, 0
    for k in range(state.n_k.size):
        listing.start_k[k] = tables
        one.at[k, 0], one.at[k, 1] = tables, words
        tables, words = tables + state.m_k[k], words + state.n_k[k]
    list_tables(
        *(corpus, state, one.column, one.at, listing.slot, one.sizes, listing.table_words, one.gather),
        *(0, state.m_j.size),
    )
    end = 0
    for position in range(tables):
        listing.begin[position] = end
        end += one.sizes[position]
        listing.end[position] = end


@kernel
def answer(corpus, state, one, choice):
    """Fill in the table of the word that is asked for."""
    i = choice[WORD_A]
    choice[SLOT_A] = corpus.doc_ptr[one.document[i]] + state.t_ji[i]
    choice[TOPIC_A] = state.k_jt[choice[SLOT_A]]


@kernel
def carry_out(state, one, choice, record):
    """Give the tables of the smaller side another topic."""
    k1, k2, n_tables = choice[TOPIC_A], choice[TOPIC_B], int(record[N_TABLES])
    listing, item, kept = one.listing, one.own.item, one.own.kept
    n_a, n_b = 0, 0
    for i in range(n_tables):
        n_a += one.sizes[item[i]] * (kept[i] == 0)
        n_b += one.sizes[item[i]] * (kept[i] == 1)
    side, n_moved = 0 if n_a < n_b else 1, 0
    for i in range(n_tables):
        if kept[i] == side:
            one.positions[n_moved] = item[i]
            n_moved += 1
    leaves, goes_to = (k1, k2) if n_a < n_b else (k2, k1)
    stays = goes_to
    if k1 == k2:
        goes_to = -1
    goes_to = move_tables(state, listing, one.positions[:n_moved], leaves, goes_to)
    record[TOPIC] = state.name_k[stays]
    record[OTHER] = state.name_k[goes_to if k1 == k2 else leaves]
    record[WORDS_MOVED] = min(n_a, n_b)
    for i in range(n_moved):
        state.k_jt[listing.slot[one.positions[i]]] = goes_to
