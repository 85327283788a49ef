"""Split-merge trials from the tables of the topics concerned, many at once.

A trial is made from the state as it is and from a random stream of its own, and few are accepted. So trials
are made in threads, all against the present state, and count in the order of their numbers up to the first
that is accepted; it is carried out, and those after it are made again. That is, to the bit, what
`moves.split_merge` does, whatever the number of threads, and however many are made at once.

Whoever makes them knows the counts of the topics. Tables are asked for: those of the words that anchors are
chosen by, and those of the topics of the trials (`engines.table_source`).
"""

from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import NamedTuple

import numpy as np

from franchise.engines.engine import Trials
from franchise.engines.listed_tables import ListedTables
from franchise.engines.table_source import TableSource
from franchise.engines.threads import Range, Threads
from franchise.model import State
from franchise.model.capacity import grown
from franchise.model.state import DEAD, NUMBERED, Array
from franchise.moves.shared.anchors import (
    CHOICE,
    FOLLOWS,
    LIKENESS,
    NEEDS,
    NO_TRIAL,
    READY,
    SIMILAR,
    SLOT_A,
    TOPIC_A,
    TOPIC_B,
    WORD,
    WORD_A,
)
from franchise.moves.shared.scratch import (
    MOST_WORDS_OF_A_TRIAL,
    TrialScratch,
    new_trial_scratch,
    with_room_for_items,
)
from franchise.moves.shared.trial import ANCHORS, RECORD
from franchise.moves.single_trials import (
    add_squares,
    begin_choices,
    carry_out_single,
    continue_choices,
    finish_choice,
    try_single,
)
from franchise.moves.split_merge import SplitMergeInfo, info_of
from franchise.random import SPLIT_MERGE, Key

_AT_ONCE = 100  # trials, at most: what is asked for them together
_FEW = 4  # of them for each thread, after one was accepted
_MOST_KEPT = MOST_WORDS_OF_A_TRIAL  # words of tables


class TrialMaker:
    """Makes trials; keeps the working memory for them.

    Parameters
    ----------
    n_words, n_terms
        Of the whole corpus.
    lg, lgv
        The functions of counts that follow eta (`moves.shared.scratch.TableScratch`); whoever changes eta
        changes them in place.
    threads
        Who makes them. Their number changes no bit, nor do the rest:
    at_once
        How many trials to choose topics for before any is made, at most.
    most_kept
        Words of tables to hold, about; never fewer than a trial needs.
    most_words
        A trial of more is not made (`moves.split_merge`).
    """

    def __init__(
        self,
        n_words: int,
        n_terms: int,
        lg: Array,
        lgv: Array,
        threads: Threads | None = None,
        *,
        at_once: int = _AT_ONCE,
        most_kept: int = _MOST_KEPT,
        most_words: int = MOST_WORDS_OF_A_TRIAL,
    ) -> None:
        self.threads = Threads(1) if threads is None else threads
        self.n_words, self.at_once, self.most_kept, self.most_words = n_words, at_once, most_kept, most_words
        self._new_scratch = partial(new_trial_scratch, n_terms, 0, lg, lgv)
        self._own: list[TrialScratch] = []

    def make(
        self, state: State, source: TableSource, key: Key, trials: Trials
    ) -> tuple[State, SplitMergeInfo, Array]:
        """Make the trials of a sweep; return the state, their Info and their records.

        The state is that of the whole corpus, its arrays by word and document left out of account: they
        are the source's. It is another tuple when more room for topics was needed.
        """
        made = _Trials(self, state, source, key._replace(move=SPLIT_MERGE), trials)
        while made.number < trials.number:
            made.make_some()
        return made.state, info_of(made.records), made.records

    def memory(self, capacity: int, n_tables: int) -> list[TrialScratch]:
        """Return working memory for every thread, for so many topics and trials of so many tables."""
        while len(self._own) < self.threads.number:
            self._own.append(self._new_scratch())
        for number, own in enumerate(self._own):
            wider = own if own.weight.size >= capacity else own._replace(weight=np.zeros(capacity))
            self._own[number] = with_room_for_items(wider, n_tables)
            own.most_words[0] = self.most_words
        return self._own[: self.threads.number]


class _Accepted(NamedTuple):
    row: int
    item: Array  # as in TrialScratch
    kept: Array


class _Trials:
    """The trials of a sweep; those before `number` are done."""

    def __init__(
        self, maker: TrialMaker, state: State, source: TableSource, key: Key, trials: Trials
    ) -> None:
        self._maker, self.state, self._key = maker, state, key
        self._proposals, self.number = trials.proposals, 0
        self.records = np.zeros((trials.number, len(RECORD)))
        self._tables = ListedTables(source, maker.most_kept)
        self._words = _KnownWords(source)
        self._source = source
        self._squares_k: Array | None = None  # None: to be added up
        self._at_once = maker.at_once
        self._accepted: _Accepted | None = None  # the first, among those that are made at once
        self._lock = Lock()

    def make_some(self) -> None:
        """Make some trials at once, up to the first that is accepted."""
        self._choose(min(self._at_once, len(self.records) - self.number))
        self._accepted = None
        self._in_threads(LIKENESS, self._finish_choice)
        self._in_threads(READY, self._try)
        self.number += self._carry_out_first()

    # ------------------------------------------------------------ anchors

    def _choose(self, n_trials: int) -> None:
        """Choose anchors as far as it goes without the tables of a topic."""
        maker, state, proposals = self._maker, self.state, self._proposals
        choices, streams = np.zeros((n_trials, len(CHOICE)), np.int64), np.zeros((n_trials, 4), np.uint64)
        n_words, most_words = maker.n_words, maker.most_words
        begin_choices(self._key, self.number, state, proposals, choices, streams, n_words, most_words)
        if (waiting := np.flatnonzero(choices[:, NEEDS] == WORD)).size:
            self._answer(choices, waiting)
            continue_choices(state, proposals, choices, streams, most_words)
        self._choices, self._streams = choices, streams
        if self._squares_k is None and np.any(proposals[choices[:, FOLLOWS], ANCHORS] == SIMILAR):
            self._squares_k = np.zeros(state.n_k.size)
            add_squares(state, self._squares_k)

    def _answer(self, choices: Array, rows: Array) -> None:
        """Fill in the tables of the words that these choices ask for."""
        words = choices[rows, WORD_A]
        self._words.learn(words)
        choices[rows, SLOT_A], choices[rows, TOPIC_A] = self._words.tables_of(words)

    def _topics(self, row: int) -> set[int]:
        """Return the topics whose tables a choice needs to go on."""
        columns = {READY: (TOPIC_A, TOPIC_B), LIKENESS: (TOPIC_A,), NO_TRIAL: ()}
        return {int(self._choices[row, column]) for column in columns[int(self._choices[row, NEEDS])]}

    # ------------------------------------------------------------ trials

    def _in_threads(self, needs: int, work: Callable[[int, TrialScratch], None]) -> None:
        """Do some work for the choices that need the same, in order, as many at once as memory allows."""
        of_interest = (needs, NO_TRIAL) if needs == READY else (needs,)
        rows = [row for row, it in enumerate(self._choices[:, NEEDS].tolist()) if it in of_interest]
        while rows and self._accepted is None:
            topics = [self._topics(row) for row in rows]
            n = self._tables.how_many_fit(self.state, topics)
            memory = self._list_tables(topics[:n])
            here, rows = rows[:n], rows[n:]

            def one_row(one: Range, own: TrialScratch, here: list[int] = here) -> None:
                row = here[one[0]]
                if self._accepted is None or row < self._accepted.row:
                    work(row, own._replace(stream=self._streams[row]))

            self._maker.threads.each(one_row, [(i, i + 1) for i in range(n)], memory)

    def _list_tables(self, topics: list[set[int]]) -> list[TrialScratch]:
        """Get the tables of trials; return the memory of threads with them."""
        state, tables, maker = self.state, self._tables, self._maker
        tables.make_room_for_topics(state.n_k.size)
        tables.hold(state, set().union(*topics))
        n_tables = max(int(state.m_k[list(own)].sum()) for own in topics)
        shared = {name: getattr(tables, name) for name in ("start_k", "slot", "begin", "end")}
        shared |= {"table_words": tables.words}
        if self._squares_k is not None:
            shared |= {"squares_k": self._squares_k}
        return [own._replace(**shared) for own in maker.memory(state.n_k.size, n_tables)]

    def _finish_choice(self, row: int, own: TrialScratch) -> None:
        finish_choice(self.state, own, self._choices[row])

    def _try(self, row: int, own: TrialScratch) -> None:
        record = self.records[self.number + row]
        n_items = try_single(self.state, own, self._proposals, self._choices[row], record)
        if n_items < 0:
            return
        with self._lock:
            if self._accepted is None or row < self._accepted.row:
                tables = slice(n_items + 2)
                self._accepted = _Accepted(row, own.item[tables].copy(), own.kept[tables].copy())

    def _carry_out_first(self) -> int:
        """Change counts and tables as the first accepted trial proposes; return how many are done then."""
        accepted, few = self._accepted, _FEW * self._maker.threads.number
        # Where one is accepted, more may be: fewer are to be made again then.
        self._at_once = min(few if accepted else _FEW * self._at_once, self._maker.at_once)
        if accepted is None:
            return len(self._choices)
        if self.state.totals[DEAD] == 0 and self.state.totals[NUMBERED] == self.state.n_k.size:
            self.state = grown(self.state)
        choice, record = self._choices[accepted.row], self.records[self.number + accepted.row]
        own = self._list_tables([self._topics(accepted.row)])[0]
        own = own._replace(item=accepted.item, kept=accepted.kept)
        side, goes_to = carry_out_single(self.state, own, choice, accepted.item.size - 2, record)
        # Those of anchor a have side 0, and a is of topic a.
        leaves = int(choice[TOPIC_A] if choice[TOPIC_A] == choice[TOPIC_B] or side == 0 else choice[TOPIC_B])
        slots = self._tables.pass_on(leaves, int(goes_to), accepted.item[accepted.kept == side])
        self._source.relabel(slots, int(goes_to))
        self._words.relabel(slots, int(goes_to))
        self._squares_k = None
        return accepted.row + 1


class _KnownWords:
    """The tables of words that were asked for before: trials that are made again ask for the same."""

    def __init__(self, source: TableSource) -> None:
        self._source = source
        self._words, self._slots, self._topics = np.zeros((3, 0), np.int64)

    def learn(self, words: Array) -> None:
        """Ask for the tables of words that are not known."""
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
