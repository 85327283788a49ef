"""What engines share that draw G_0 for a sweep: reveal it, and name the topics that words have moved to."""

import math
from typing import Any, NamedTuple

import numpy as np

from franchise.engines.collapsed import CollapsedEngine
from franchise.engines.engine import EngineSettings
from franchise.engines.revealer import BLOCK, Revealer, epsilon_for
from franchise.engines.threads import Threads
from franchise.engines.workbench import Workbench
from franchise.model.measure import FREE, Measure
from franchise.model.state import BORN, DEAD, NUMBERED, TABLES, TOPICS, Array
from franchise.moves.shared.scratch import different_lengths
from franchise.random import Key

_GOLDEN_RATIO = (np.sqrt(5.0) - 1.0) / 2.0


class DocumentsInfo(NamedTuple):
    """What the pass over all documents did."""

    topics_revealed: int
    births: int
    deaths: int


class RevealingEngine(CollapsedEngine):
    """Draws G_0 for a sweep, down to topics of a certain weight (`model.measure`)."""

    def __init__(self, corpus: Any, settings: EngineSettings) -> None:
        super().__init__(corpus, settings)
        self._lengths = different_lengths(np.diff(corpus.doc_ptr))
        self._epsilon = epsilon_for(*self._lengths)
        self._block = BLOCK
        self.use_threads(settings.threads)

    def use_threads(self, number: int) -> None:
        """Make sweeps in so many threads from now on; it changes no bit."""
        self._threads = Threads(number)
        self._revealer = Revealer(self._corpus.n_terms, self._longest(), number, self._block)

    def _longest(self) -> int:
        """Return the most words of a document that are seated one after another."""
        return int(self._lengths[0].max(initial=0))

    def _reveal(self, key: Key) -> Measure:
        state = self.workbench.state
        measure = self._revealer.weights(key, state, self._epsilon)
        self._revealer.terms_of(key, state, measure)
        return measure


def renumber(bench: Workbench, measure: Measure, words: Array, tables: Array) -> tuple[Array, DocumentsInfo]:
    """Give numbers to the topics that have words, those in use first; fill in what is known of each.

    `words` and `tables` are those of each column. Returns the number of every column.
    """
    columns = int(measure.sizes[1])
    before = bench.state
    old = before.live[: before.totals[TOPICS]]
    survivors = [c for c in measure.column[old] if words[c]]
    is_free = measure.number[:columns] == FREE
    born = np.flatnonzero(is_free & (words > 0)).tolist()
    order = np.array(survivors + born, np.int64)
    n_topics, born_before = order.size, int(before.totals[BORN])
    bench.make_room(n_topics)
    state = bench.state
    names = np.concatenate([before.name_k[measure.number[survivors]], born_before + np.arange(len(born))])
    number = np.zeros(columns, np.int32)
    number[order] = np.arange(n_topics)
    state.n_k[:n_topics] = words[order]
    state.m_k[:n_topics] = tables[order]
    state.name_k[:n_topics] = names
    state.live[:n_topics] = state.place[:n_topics] = np.arange(n_topics)
    state.totals[TOPICS] = state.totals[NUMBERED] = n_topics
    state.totals[TABLES] = tables.sum()
    state.totals[DEAD] = 0
    state.totals[BORN] = born_before + len(born)
    return number, DocumentsInfo(int(is_free.sum()), len(born), old.size - len(survivors))


def turns(n_documents: int, n_turns: int, first: int = 0) -> list[Array]:
    """Return the documents of the sweeps that take turns: spread over the corpus, each in one of them.

    By its number alone, so a range of the documents may be asked for, which begins at `first`.
    """
    places = np.arange(first, first + n_documents) * _GOLDEN_RATIO % 1.0
    turn = np.minimum((places * n_turns).astype(np.int64), n_turns - 1)
    ends = np.cumsum(np.bincount(turn, minlength=n_turns))
    return np.split(np.argsort(turn, kind="stable"), ends[:-1])


def number_of_turns(cost: int, at_once: float) -> int:
    """Return in how many sweeps all documents are visited, about `at_once` of their cost in one."""
    return max(1, math.ceil(cost / at_once))
