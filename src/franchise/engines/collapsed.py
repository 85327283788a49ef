"""The collapsed engine: words one by one, topics and mixtures integrated out (the paper's sampler).

A sweep draws the table of every word, then the topic of every table, makes split-merge trials, draws the
concentrations, and numbers the topics without gaps.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from franchise.corpus import CorpusArrays
from franchise.engines.copies import merge_copies, names_of_merged
from franchise.engines.engine import Counts, EngineSettings, Swept, Trials
from franchise.engines.starting_topics import StartingTopics
from franchise.engines.threads import Range, Threads, falling_ranges
from franchise.engines.workbench import Workbench
from franchise.model import Joint, State, broken_invariants, empty_state, joint
from franchise.model.counts import count_document_topics, count_topic_terms, ranks
from franchise.model.packing import packed, unpacked
from franchise.model.seating import seat_all
from franchise.model.state import ALPHA, ETA, GAMMA, TABLES, TOPICS, Array
from franchise.moves.fit_topics import (
    DrawScratch,
    draw_fitted_topics,
    list_topics,
    new_draw_scratch,
    number_as_they_appear,
)
from franchise.moves.initialize import draw_topics, shuffle_documents
from franchise.random import INITIALIZE, Key


class CollapsedEngine:
    """Makes sweeps of a franchise in this process, in the calling thread.

    Attributes
    ----------
    workbench
        The state and its working memory; before `start` or `restore`, a state in which nobody sits.
    """

    name: ClassVar[str] = "collapsed"
    takes_cells: ClassVar[bool] = False
    seats_in_turn: ClassVar[bool] = True
    takes_corpus: ClassVar[bool] = False
    at_once: ClassVar[int | None] = None
    progress = 0.0

    def __init__(self, corpus: Any, settings: EngineSettings) -> None:
        self._corpus, self._settings = corpus, settings
        self._gamma_priors = settings.priors.as_array()
        self._threads = Threads(1)  # engines that use several have others
        self._workbench: Workbench | None = None

    @property
    def workbench(self) -> Workbench:
        """The state and its working memory, made when first asked for."""
        if self._workbench is None:
            self._workbench = Workbench(self._corpus, self._empty_state(self._settings.capacity))
        return self._workbench

    @property
    def n_bytes(self) -> int:
        """Memory of the state and of the words laid out by table."""
        return sum(array.nbytes for array in self.state) + 4 * int(self._corpus.x.size)

    def use_threads(self, number: int) -> None:
        """Go on in the calling thread: words are drawn one by one."""

    def use_crew(self, crew: Any, chain: int) -> None:
        """Go on in this process."""

    def rest(self) -> None:
        """Keep all: there is room for it in this process."""

    def keep_in(self, folder: Path | None) -> None:
        """Leave it to others: all is here."""

    @property
    def state(self) -> State:
        """The current state."""
        return self.workbench.state

    def seat(self, state: State) -> None:
        """Take up a state, with every word seated, as if the engine had reached it."""
        self._workbench = Workbench(self._corpus, state)

    def start(self, key: Key, start: str | int | StartingTopics) -> None:
        """Seat every word: one after another (``"sequential"``), by topics, or by random ones."""
        key = key._replace(move=INITIALIZE)
        if isinstance(start, StartingTopics):
            self._start_from_topics(key, start)
        elif start == "sequential":
            self._start_sequentially(key)
        else:
            self._start_at_random(key, 1 if start == "one" else int(start))
        self._compact()

    def _start_sequentially(self, key: Key) -> None:
        in_order = np.arange(self.state.m_j.size, dtype=np.int64)
        shuffled = in_order.copy()
        shuffle_documents(key, np.zeros(4, np.uint64), shuffled)
        self.workbench.visit(shuffled)
        self.workbench.draw_words(key)
        self.workbench.visit(in_order)

    def _start_from_topics(self, key: Key, topics: StartingTopics) -> None:
        corpus, n_topics, threads = self._corpus, topics.phi.shape[1], self._threads
        listed = list_topics(*topics)
        state = self._empty_state(max(self._settings.capacity, n_topics + 1))

        def draw(one: Range, own: DrawScratch) -> None:
            draw_fitted_topics(key, corpus, state, listed, own, 0, *one)

        longest = int(np.diff(corpus.doc_ptr).max(initial=0))
        own = [new_draw_scratch(n_topics, longest) for _ in range(threads.number)]
        threads.each(draw, falling_ranges(corpus.doc_ptr, threads.number), own)
        used = number_as_they_appear(corpus, state, np.full(n_topics + 1, -1, np.int32))
        seat_all(corpus, state, used)
        self.seat(state)

    def _start_at_random(self, key: Key, n_topics: int) -> None:
        number, table = np.full((2, n_topics), -1, np.int32)
        # A topic that no word has drawn needs no room.
        state = self._empty_state(max(self._settings.capacity, min(n_topics, self._corpus.x.size)))
        used = draw_topics(key, self._corpus, state, np.zeros(4, np.uint64), number, table, 0)
        seat_all(self._corpus, state, used)
        self.seat(state)

    def sweep(self, key: Key, trials: Trials | None, eta: float | None = None, merge: bool = False) -> Swept:
        """Make one sweep, with `eta` held at a value where one is given; then `merge` copies of topics."""
        bench, records, gamma_priors = self.workbench, None, self._gamma_priors
        if eta is not None:
            bench.set_eta(eta)
            gamma_priors = gamma_priors.copy()
            gamma_priors[ETA] = 0.0
        infos = self._gibbs(key)
        if trials is not None:
            infos["split_merge"], records = bench.try_splits_and_merges(key, trials)
        method = self._settings.concentrations
        infos["concentrations"] = bench.draw_concentrations(key, method, gamma_priors)
        into = self._merge() if merge else np.arange(0)
        merged = names_of_merged(self.workbench.state, into)
        self._compact()
        return Swept(infos, records, merged)

    def _merge(self) -> Array:
        """Merge topics that are copies of each other; return the topic that each number goes to."""
        state = self.workbench.state
        live = np.sort(state.live[: state.totals[TOPICS]])
        return merge_copies(state, live, topic_terms_of(state, live))

    def _gibbs(self, key: Key) -> dict[str, Any]:
        return self.workbench.gibbs(key)

    def _compact(self) -> None:
        self.workbench.compact()

    def numbers(self) -> dict[str, float]:
        """Return numbers of topics and tables, the log joint and its parts, and the concentrations."""
        state, parts = self.workbench.state, self._joint()
        return {
            "n_topics": int(state.totals[TOPICS]),
            "n_tables": int(state.totals[TABLES]),
            **parts._asdict(),
            "log_joint": parts.log_joint,
            "alpha": float(state.concentrations[ALPHA]),
            "gamma": float(state.concentrations[GAMMA]),
            "eta": float(state.concentrations[ETA]),
        }

    def _joint(self) -> Joint:
        return joint(self._corpus, self.state, self._settings.priors)

    def names(self) -> Array:
        """Return the names of the living topics."""
        state = self.workbench.state
        return state.name_k[state.live[: state.totals[TOPICS]]]

    def counts(self) -> Counts:
        """Return the counts of the current state."""
        return counts_of(self._corpus, self.state)

    def arrays(self) -> dict[str, Array]:
        """Return the used parts of the state's arrays."""
        return packed(self._corpus, self.state)

    def write_seats(self, folder: Path) -> bool:
        """Write nothing: all is in the arrays."""
        return False

    def restore(self, arrays: dict[str, Array], seats: Path | None = None) -> None:
        """Take up a state; one that does not add up is refused before compiled code sees it."""
        state = unpacked(self._corpus, arrays)
        if broken := broken_invariants(self._corpus, state):
            raise ValueError(broken[0])
        self.seat(state)

    def remembered(self) -> Callable[[Any], None]:
        """Return a function that gives another engine the present state of this one."""
        arrays = self.arrays()
        return lambda other: other.restore(arrays)

    def _empty_state(self, capacity: int) -> State:
        state = empty_state(self._corpus, capacity)
        state.concentrations[:] = self._settings.priors.initial()
        return state


def counts_of(corpus: CorpusArrays, state: State) -> Counts:
    """Gather the counts of a state, its topics by size, those of one size by age."""
    live = by_size(state)
    return Counts(
        names=state.name_k[live],
        topic_terms=topic_terms_of(state, live),
        document_topics=document_topics_of(corpus, state, ranks(state, live), live.size),
        m_k=state.m_k[live],
        concentrations=state.concentrations.copy(),
    )


def by_size(state: State) -> Array:
    """Return the numbers of the topics, largest first, those of one size by age."""
    live = state.live[: state.totals[TOPICS]]
    return live[np.lexsort((state.name_k[live], -state.n_k[live]))]


def topic_terms_of(state: State, topics: Array) -> sp.csr_array:
    """Return n_..k^v of all topics, which are listed in the order of the rows."""
    n_pairs = int(state.row_len.sum(dtype=np.int64))
    row_ptr = np.zeros(topics.size + 1, np.int64)
    columns, counts = np.zeros((2, n_pairs), np.int32)
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
    if counts.size < 2**31:  # or SciPy would copy the columns to the wider type
        row_ptr = row_ptr.astype(np.int32)
    return sp.csr_array((counts, columns, row_ptr), shape=shape)
