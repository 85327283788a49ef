"""The collapsed engine (the paper's sampler): words one by one, topics and mixtures integrated out.

A sweep samples the table of every word, then the topic of every table, makes split-merge trials, samples the
concentrations, and numbers the topics without gaps.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from franchise._arrays import Array, CorpusArrays
from franchise.corpus import Corpus
from franchise.engines.collapsed_sampler import CollapsedSampler
from franchise.engines.copies import merge_copies, names_of_merged
from franchise.engines.engine import Counts, EngineSettings, Swept, Trials, names_of, numbers_of
from franchise.engines.starts.starting_topics import (
    StartingTopics,
    draw_first_topics,
    number_as_they_appear,
    number_of_topics,
    shuffle_documents,
    words_begin_with,
)
from franchise.engines.threads import Threads
from franchise.model import State, broken_invariants, empty_state, joint
from franchise.model.counts import count_document_topics, count_topic_terms, ranks
from franchise.model.packing import packed, unpacked
from franchise.model.seating import seat_all
from franchise.model.state import ETA, TOPICS
from franchise.random import INITIALIZE, Key


class CollapsedEngine:
    """Makes the sweeps of a chain in this process, in the calling thread.

    Attributes
    ----------
    sampler
        The state and its working memory. Before `start` or `restore`, no word is seated.
    """

    name = "collapsed"
    at_once: int | None = None
    progress = 0.0  # not tracked

    def __init__(self, corpus: Corpus, settings: EngineSettings) -> None:
        self._corpus, self._settings = corpus.arrays, settings
        self._gamma_priors = settings.priors.as_array()
        self._sampler: CollapsedSampler | None = None

    @property
    def sampler(self) -> CollapsedSampler:
        """The state and its working memory, made on first use."""
        if self._sampler is None:
            self._sampler = CollapsedSampler(self._corpus, self._empty_state(self._settings.capacity))
        return self._sampler

    @property
    def n_bytes(self) -> int:
        """Memory of the state."""
        return sum(array.nbytes for array in self.state)

    def use_threads(self, number: int) -> None:
        """Do nothing: words are sampled one by one, in the calling thread."""

    def use_workers(self, workers: Any, chain: int) -> None:
        """Do nothing: all work is done in this process."""

    def rest(self) -> None:
        """Do nothing: no other chain needs this memory."""

    def keep_in(self, folder: Path | None) -> None:
        """Do nothing: all arrays are in this process."""

    @property
    def state(self) -> State:
        """The current state."""
        return self.sampler.state

    def seat(self, state: State) -> None:
        """Continue from a state in which every word is seated."""
        self._sampler = CollapsedSampler(self._corpus, state)

    def start(self, key: Key, start: str | int | StartingTopics) -> None:
        """Seat every word: one by one (``"sequential"``), from starting topics, or in random topics."""
        key = key._replace(move=INITIALIZE)
        if start == "sequential":
            self._start_sequentially(key)
        else:
            self._start_from_topics(key, words_begin_with(start))
        self.sampler.compact()

    def _start_sequentially(self, key: Key) -> None:
        in_order = np.arange(self.state.m_j.size, dtype=np.int64)
        shuffled = in_order.copy()
        shuffle_documents(key, np.zeros(4, np.uint64), shuffled)
        self.sampler.visit(shuffled)
        self.sampler.draw_words(key)
        self.sampler.visit(in_order)

    def _start_from_topics(self, key: Key, start: int | StartingTopics) -> None:
        corpus, columns = self._corpus, number_of_topics(start)
        # A topic without words needs no room.
        state = self._empty_state(max(self._settings.capacity, min(columns, corpus.x.size)))
        draw_first_topics(key, corpus, state, start, Threads(1))
        seat_all(corpus, state, number_as_they_appear(corpus, state, np.full(columns, -1, np.int32)))
        self.seat(state)

    def sweep(self, key: Key, trials: Trials | None, eta: float | None = None, merge: bool = False) -> Swept:
        """Make one sweep, with `eta` fixed if given; then `merge` topics that are copies of each other."""
        sampler, records, gamma_priors = self.sampler, None, self._gamma_priors
        if eta is not None:
            sampler.set_eta(eta)
            gamma_priors = gamma_priors.copy()
            gamma_priors[ETA] = 0.0
        infos = sampler.gibbs(key)
        if trials is not None:
            infos["split_merge"], records = sampler.try_splits_and_merges(key, trials)
        method = self._settings.concentrations
        infos["concentrations"] = sampler.draw_concentrations(key, method, gamma_priors)
        merged = self._merge_copies() if merge else []
        sampler.compact()
        return Swept(infos, records, merged)

    def _merge_copies(self) -> list[tuple[int, int]]:
        """Merge topics that are copies of each other; return the names of the merged ones."""
        state = self.state
        live = np.sort(state.live[: state.totals[TOPICS]])
        return names_of_merged(state, merge_copies(state, live, topic_terms_of(state, live)))

    def numbers(self) -> dict[str, float]:
        """Return the numbers of the current state for the trace."""
        return numbers_of(self.state, joint(self._corpus, self.state, self._settings.priors))

    def names(self) -> Array:
        """Return the names of the living topics."""
        return names_of(self.state)

    def counts(self) -> Counts:
        """Return the counts of the current state."""
        return counts_of(self._corpus, self.state)

    def arrays(self) -> dict[str, Array]:
        """Return the used parts of the state's arrays."""
        return packed(self._corpus, self.state)

    def write_seating(self, folder: Path) -> bool:
        """Write nothing: `arrays` has everything."""
        return False

    def restore(self, arrays: dict[str, Array], seating: Path | None = None) -> None:
        """Restore a state; an inconsistent one is refused before compiled code reads it."""
        state = unpacked(self._corpus, arrays)
        if broken := broken_invariants(self._corpus, state):
            raise ValueError(broken[0])
        self.seat(state)

    def remembered(self) -> Callable[[Any], None]:
        """Return a function that gives the present state to another engine."""
        arrays = self.arrays()
        return lambda other: other.restore(arrays)

    def _empty_state(self, capacity: int) -> State:
        state = empty_state(self._corpus, capacity)
        state.concentrations[:] = self._settings.priors.initial()
        return state


def counts_of(corpus: CorpusArrays, state: State) -> Counts:
    """Gather the counts of a state, largest topic first, the older one first if sizes are equal."""
    live = by_size(state)
    return Counts(
        names=state.name_k[live],
        topic_terms=topic_terms_of(state, live),
        document_topics=document_topics_of(corpus, state, ranks(state, live), live.size),
        m_k=state.m_k[live],
        concentrations=state.concentrations.copy(),
    )


def by_size(state: State) -> Array:
    """Return the numbers of the topics, largest first, the older one first if sizes are equal."""
    live = state.live[: state.totals[TOPICS]]
    return live[np.lexsort((state.name_k[live], -state.n_k[live]))]


def topic_terms_of(state: State, topics: Array) -> sp.csr_array:
    """Return n_..k^v of these topics, one row each."""
    n_pairs = int(state.row_len.sum(dtype=np.int64))
    row_ptr = np.zeros(topics.size + 1, np.int64)
    kind = np.int32 if state.n_k[topics].max(initial=0) < 2**31 else np.int64
    columns, counts = np.zeros(n_pairs, np.int32), np.zeros(n_pairs, kind)
    count_topic_terms(state, ranks(state, topics), row_ptr, columns, counts)
    return _csr(counts, columns, row_ptr, (topics.size, state.row_len.size))


def document_topics_of(corpus: CorpusArrays, state: State, rank: Array, n_topics: int) -> sp.csr_array:
    """Return n_j.k of all documents; topic k is column rank[k]."""
    row_ptr = np.zeros(state.m_j.size + 1, np.int64)
    columns, counts = np.zeros((2, int(state.m_j.sum(dtype=np.int64))), np.int32)
    count_document_topics(corpus, state, rank, row_ptr, columns, counts)
    in_use = slice(int(row_ptr[-1]))
    return _csr(counts[in_use], columns[in_use], row_ptr, (state.m_j.size, n_topics))


def _csr(counts: Array, columns: Array, row_ptr: Array, shape: tuple[int, int]) -> sp.csr_array:
    if counts.size < 2**31:  # otherwise SciPy would copy the columns to the wider type
        row_ptr = row_ptr.astype(np.int32)
    return sp.csr_array((counts, columns, row_ptr), shape=shape)
