"""Split-merge trials from the tables of their topics, many at once.

A trial depends only on the present state and its own random stream, and few trials are accepted. So threads
make many trials against the present state. They count in the order of their numbers up to the first accepted
one; this one is carried out, and those after it are made again. The result is, to the bit, that of one trial
after another, for any number of threads and of trials at once.

The counts of topics are known. Tables are fetched as needed: those of the words that choose the anchors, and
those of the topics of the trials (`engines.table_source`).
"""

from itertools import pairwise
from threading import Lock
from typing import NamedTuple

import numpy as np

from franchise._arrays import Array
from franchise.engines.engine import Trials
from franchise.engines.listed_tables import ListedTables
from franchise.engines.table_source import TableSource
from franchise.engines.threads import Range, Threads
from franchise.model import State
from franchise.model.capacity import grown
from franchise.model.state import DEAD, NUMBERED, TOPICS
from franchise.moves.shared.anchors import (
    BALANCED,
    CHOICE,
    DONE,
    FOLLOWS,
    LIKENESS,
    NEEDS,
    SIMILAR,
    SLOT_A,
    TABLES_OF_BOTH,
    TOPIC_A,
    TOPIC_B,
    UNIFORM,
    WORD,
    WORD_A,
)
from franchise.moves.shared.scratch import (
    MOST_WORDS_OF_A_TRIAL,
    TrialScratch,
    new_trial_scratch,
    with_room_for_trials,
)
from franchise.moves.shared.trial import ANCHORS, N_TABLES, OTHER, RECORD, TOPIC, WORDS_MOVED
from franchise.moves.split_merge import (
    SplitMergeInfo,
    info_of,
    move_tables,
    square_topics,
    try_splits_and_merges,
)
from franchise.random import SPLIT_MERGE, Key

__all__ = ["ANCHOR_KINDS", "RECORD", "TrialMaker"]

ANCHOR_KINDS = {"uniform": UNIFORM, "balanced": BALANCED, "similar": SIMILAR}

_AT_ONCE = 100  # the most trials for which tables are fetched together
_FEW = 4  # trials per thread at once, after one was accepted


class TrialMaker:
    """Makes trials, and keeps their working memory.

    Parameters
    ----------
    n_terms
        Number of terms of the whole corpus.
    lg, lgv
        Tabulated functions of counts that depend on eta (`moves.shared.scratch.TableScratch`); they are
        changed in place when eta changes.
    threads
        Threads to make trials in. Results depend neither on their number nor on the next two parameters.
    at_once
        The most trials to choose topics for before any is made.
    most_kept
        Words of tables to hold, about; never fewer than a trial needs.
    most_words
        Larger trials are not made (`moves.split_merge`).
    """

    def __init__(
        self,
        n_terms: int,
        lg: Array,
        lgv: Array,
        threads: Threads | None = None,
        *,
        at_once: int = _AT_ONCE,
        most_kept: int = MOST_WORDS_OF_A_TRIAL,
        most_words: int = MOST_WORDS_OF_A_TRIAL,
    ) -> None:
        self.threads = Threads(1) if threads is None else threads
        self.at_once, self.most_kept, self.most_words = at_once, most_kept, most_words
        self._new_scratch = (n_terms, lg, lgv)
        self._own: list[TrialScratch] = []

    def make(
        self, state: State, source: TableSource, key: Key, trials: Trials
    ) -> tuple[State, SplitMergeInfo, Array]:
        """Make the trials of a sweep; return the state, their Info and their records.

        The state is that of the whole corpus, but its arrays by word and document are not used: the source
        has them. The returned state is a new tuple if topics needed more room.
        """
        made = _Trials(self, state, source, key._replace(move=SPLIT_MERGE), trials)
        while made.number < trials.number:
            made.make_some()
        return made.state, info_of(made.records), made.records

    def memory(self, capacity: int, n_tables: int) -> list[TrialScratch]:
        """Return working memory for every thread, for this number of topics and of tables per trial."""
        while len(self._own) < self.threads.number:
            self._own.append(new_trial_scratch(*self._new_scratch))
        self._own = [with_room_for_trials(own, capacity, n_tables) for own in self._own]
        return self._own[: self.threads.number]


class _Accepted(NamedTuple):
    slots: Array  # of all tables of the trial
    sides: Array


class _Trials:
    """The trials of a sweep; those before `number` are done."""

    def __init__(
        self, maker: TrialMaker, state: State, source: TableSource, key: Key, trials: Trials
    ) -> None:
        self._maker, self.state, self._key = maker, state, key
        self._proposals, self.number = trials.proposals, 0
        self.records = np.zeros((trials.number, len(RECORD)))
        self._n_words = int(state.n_k[state.live[: state.totals[TOPICS]]].sum())
        self._tables = ListedTables(source, maker.most_kept)
        self._words = _KnownWords(source)
        self._source = source
        self._squares_k: Array | None = None  # None: not computed yet
        self._at_once = maker.at_once
        self._accepted: _Accepted | None = None
        self._lock = Lock()

    def make_some(self) -> None:
        """Make some trials at once, up to the first accepted one."""
        n = min(self._at_once, len(self.records) - self.number)
        self._choices, self._streams = np.zeros((n, len(CHOICE)), np.int64), np.zeros((n, 4), np.uint64)
        self._end, self._accepted = n, None  # of the first accepted one
        self._tables.make_room_for_topics(self.state.n_k.size)
        while (rows := np.flatnonzero(self._choices[: self._end, NEEDS] != DONE)).size:
            self._answer(rows)
            self._continue(rows)
        self._carry_out_first()

    def _answer(self, rows: Array) -> None:
        """Fill in the table of the word that each of these trials asks for."""
        choices = self._choices
        rows = rows[choices[rows, NEEDS] == WORD]
        words = choices[rows, WORD_A]
        self._words.learn(words)
        choices[rows, SLOT_A], choices[rows, TOPIC_A] = self._words.tables_of(words)

    def _continue(self, rows: Array) -> None:
        """Fetch the tables that these trials need, for as many trials as fit, and continue them."""
        state, maker, key, number = self.state, self._maker, self._key, self.number
        topics = [self._topics(row) for row in rows]
        topics = topics[: self._tables.how_many_fit(state, topics)]
        self._tables.hold(state, set().union(*topics))
        n_tables = max(int(state.m_k[list(own)].sum()) for own in topics)
        memory = maker.memory(state.n_k.size, n_tables)
        if np.any(self._proposals[self._choices[rows, FOLLOWS], ANCHORS] == SIMILAR):
            memory = [own._replace(squares_k=self._squares()) for own in memory]
        listing, records = self._tables.listing, self.records[number:]
        arrays = self._proposals, self._choices, self._streams, records
        bounds = self._n_words, maker.most_words

        def work(one: Range, own: TrialScratch) -> None:
            if one[0] > self._end:
                return
            row = try_splits_and_merges(key, number, state, listing, own, *arrays, *one, *bounds)
            if row < one[1]:
                with self._lock:
                    if row < self._end:
                        tables = slice(int(records[row, N_TABLES]))
                        slots, sides = listing.slot[own.item[tables]], own.kept[tables].copy()
                        self._end, self._accepted = row, _Accepted(slots, sides)

        # Without tables there is little work.
        marks = rows.tolist() if any(topics) and maker.threads.number > 1 else [int(rows[0])]
        maker.threads.each(work, [*pairwise([*marks, self._end])], memory)

    def _topics(self, row: int) -> set[int]:
        """Return the topics whose tables are needed next for a trial."""
        columns = {LIKENESS: (TOPIC_A,), TABLES_OF_BOTH: (TOPIC_A, TOPIC_B)}
        choice = self._choices[row]
        return {int(choice[column]) for column in columns.get(int(choice[NEEDS]), ())}

    def _squares(self) -> Array:
        if self._squares_k is None:
            self._squares_k = np.zeros(self.state.n_k.size)
            square_topics(self.state, self._squares_k)
        return self._squares_k

    def _carry_out_first(self) -> None:
        """Carry out the first accepted trial; those before it are done."""
        accepted, few = self._accepted, _FEW * self._maker.threads.number
        # After an accepted trial, more may be accepted: with fewer at once, fewer are made again.
        self._at_once = min(few if accepted else _FEW * self._at_once, self._maker.at_once)
        if accepted is None:
            self.number += self._end
            return
        if self.state.totals[DEAD] == 0 and self.state.totals[NUMBERED] == self.state.n_k.size:
            self.state = grown(self.state)
            self._tables.make_room_for_topics(self.state.n_k.size)
        state, tables = self.state, self._tables
        k1, k2 = (int(k) for k in self._choices[self._end, [TOPIC_A, TOPIC_B]])
        tables.hold(state, {k1, k2})
        in_a, in_b = (accepted.slots[accepted.sides == side] for side in (0, 1))
        if k1 == k2:
            n_b = tables.n_words(k1, in_b)
            n_a = int(state.n_k[k1]) - n_b
        else:
            n_a, n_b = int(state.n_k[k1]), int(state.n_k[k2])
        moves = in_a if n_a < n_b else in_b
        leaves, goes_to = (k1, k2) if n_a < n_b else (k2, k1)
        positions = tables.positions(leaves, moves)
        goes_to = int(move_tables(state, tables.listing, positions, leaves, -1 if k1 == k2 else goes_to))
        stays, other = (k1, goes_to) if k1 == k2 else (goes_to, leaves)
        record = self.records[self.number + self._end]
        record[TOPIC], record[OTHER], record[WORDS_MOVED] = *state.name_k[[stays, other]], min(n_a, n_b)
        slots = tables.pass_on(leaves, goes_to, positions)
        self._source.relabel(slots, goes_to)
        self._words.relabel(slots, goes_to)
        self._squares_k = None
        self.number += self._end + 1


class _KnownWords:
    """The tables of words that were requested before: repeated trials request the same ones."""

    def __init__(self, source: TableSource) -> None:
        self._source = source
        self._words, self._slots, self._topics = np.zeros((3, 0), np.int64)

    def learn(self, words: Array) -> None:
        """Fetch the tables of unknown words."""
        new = np.setdiff1d(words, self._words)
        if new.size:
            slots, topics = self._source.tables_of_words(new)
            words = np.concatenate([self._words, new])
            order = np.argsort(words)
            self._words = words[order]
            self._slots = np.concatenate([self._slots, slots])[order]
            self._topics = np.concatenate([self._topics, topics])[order]

    def tables_of(self, words: Array) -> tuple[Array, Array]:
        """Return slots and topics of the tables of these words."""
        found = np.searchsorted(self._words, words)
        return self._slots[found], self._topics[found]

    def relabel(self, slots: Array, topic: int) -> None:
        """Note that the tables at these slots have another topic."""
        self._topics[np.isin(self._slots, slots)] = topic
