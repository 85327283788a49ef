"""The tables of some topics, listed for trials: fetched when a trial needs them, then kept."""

from collections.abc import Iterable, Sequence

import numpy as np

from franchise._arrays import Array
from franchise.engines.table_source import Tables, TableSource, joined
from franchise.model import State
from franchise.moves.shared.scratch import Listing


class ListedTables:
    """A `Listing` of requested topics.

    Parameters
    ----------
    source
        Where tables come from.
    most_words
        The most words to hold, unless the present trials need more.
    """

    def __init__(self, source: TableSource, most_words: int) -> None:
        self._source, self._most_words = source, most_words
        self._n_tables: dict[int, int] = {}  # of the listed topics
        self.start_k = np.zeros(0, np.int64)  # -1: not listed
        self.slot, self.begin, self.end = np.zeros((3, 0), np.int64)
        self.words, self.counts = np.zeros((2, 0), np.int32)
        self._used_tables, self._used_words = 0, 0

    @property
    def listing(self) -> Listing:
        """The listing for kernels; a call of any method makes a new one."""
        return Listing(self.start_k, self.slot, self.begin, self.end, self.words, self.counts)

    def make_room_for_topics(self, capacity: int) -> None:
        """Allow topic numbers up to `capacity`."""
        more = np.full(max(0, capacity - self.start_k.size), -1, np.int64)
        self.start_k = np.concatenate([self.start_k, more])

    def how_many_fit(self, state: State, trials: Sequence[set[int]]) -> int:
        """Return how many of these trials (sets of topics) can have their tables held; at least one."""
        needed: set[int] = set()
        for number, topics in enumerate(trials):
            needed |= topics
            if number and state.n_k[list(needed)].sum() > self._most_words:
                return number
        return len(trials)

    def hold(self, state: State, topics: set[int]) -> None:
        """List the tables of these topics; drop those of others if there are too many words."""
        missing = np.array(sorted(topics - self._n_tables.keys()), np.int64)
        if not missing.size:
            return
        fetched = self._source.tables_of(missing)
        for k, tables in zip(missing, fetched, strict=True):
            # Kernels trust these sizes.
            n_words = tables.counts.sum(dtype=np.int64) if tables.counts.size else tables.words.size
            if (tables.slot.size, n_words) != (state.m_k[k], state.n_k[k]):
                raise RuntimeError(f"the tables of topic {k} are not those that were counted")
        if state.n_k[[*self._n_tables, *missing]].sum() > self._most_words:
            self._forget(self._n_tables.keys() - topics)
        self._append(dict(zip(missing.tolist(), fetched, strict=True)))

    def positions(self, topic: int, slots: Array) -> Array:
        """Return the positions of the tables at these slots, all of one listed topic."""
        first = self.start_k[topic]
        found: Array = first + np.searchsorted(self.slot[first : first + self._n_tables[topic]], slots)
        return found

    def n_words(self, topic: int, slots: Array) -> int:
        """Return the number of words of the tables at these slots, all of one listed topic."""
        tables = self._tables(topic)
        tables = tables.taken(np.searchsorted(tables.slot, slots))
        return int(tables.counts.sum(dtype=np.int64) if tables.counts.size else tables.words.size)

    def pass_on(self, leaves: int, goes_to: int, positions: Array) -> Array:
        """Note that the tables at these positions, of one topic, go to another; return their slots.

        The tables of both topics are then listed again without being fetched.
        """
        moved = np.sort(positions)
        slots: Array = self.slot[moved]
        parts = [self._tables(k) for k in (leaves, goes_to) if k in self._n_tables]
        stay = np.ones(parts[0].slot.size, np.bool_)
        stay[moved - self.start_k[leaves]] = False
        more = joined([parts[0].taken(np.flatnonzero(~stay)), *parts[1:]])
        new = {goes_to: more.taken(np.argsort(more.slot)), leaves: parts[0].taken(np.flatnonzero(stay))}
        self._forget((leaves, goes_to))
        self._append({k: tables for k, tables in new.items() if tables.slot.size})
        return slots

    def _tables(self, k: int) -> Tables:
        positions = slice(self.start_k[k], self.start_k[k] + self._n_tables[k])
        begin, end = self.begin[positions], self.end[positions]
        words = slice(begin[0], end[-1])
        n, counts = (end - begin).astype(np.int32), self.counts[words] if self.counts.size else self.counts
        return Tables(self.slot[positions], n, self.words[words], counts)

    def _forget(self, topics: Iterable[int]) -> None:
        for k in topics:
            self.start_k[k] = -1
            self._n_tables.pop(k, None)

    def _append(self, more: dict[int, Tables]) -> None:
        n_tables = sum(tables.slot.size for tables in more.values())
        n_words = sum(tables.words.size for tables in more.values())
        if self._used_tables + n_tables > self.slot.size or self._used_words + n_words > self.words.size:
            more = {**{k: self._tables(k) for k in self._n_tables}, **more}
            self._renew(more)
        for k, tables in more.items():
            at = slice(self._used_tables, self._used_tables + tables.slot.size)
            self.slot[at] = tables.slot
            np.cumsum(tables.n, out=self.end[at])
            self.end[at] += self._used_words
            self.begin[at] = self.end[at] - tables.n
            words = slice(self._used_words, self._used_words + tables.words.size)
            self.words[words] = tables.words
            if tables.counts.size:
                self.counts[words] = tables.counts
            self.start_k[k], self._n_tables[k] = at.start, tables.slot.size
            self._used_tables, self._used_words = at.stop, words.stop

    def _renew(self, contents: dict[int, Tables]) -> None:
        """Make room for these tables, and half as many more."""
        n_tables = sum(tables.slot.size for tables in contents.values())
        n_words = sum(tables.words.size for tables in contents.values())
        self.slot, self.begin, self.end = np.empty((3, n_tables + n_tables // 2), np.int64)
        self.words = np.empty(n_words + n_words // 2, np.int32)
        holds_counts = any(tables.counts.size for tables in contents.values())
        self.counts = np.empty(self.words.size if holds_counts else 0, np.int32)
        self._used_tables, self._used_words = 0, 0
