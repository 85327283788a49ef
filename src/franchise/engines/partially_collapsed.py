"""The partially collapsed engines: they update all documents at once, given sampled weights and topics.

A sweep instantiates G_0 given the seating, down to topics of a certain weight (`model.measure`); samples the
topics of all words given G_0, document by document; and seats the words again. The result is a seating, and
G_0 is dropped. Then come the collapsed moves: words and tables of some documents, others in every sweep,
through which topics are born and large ones move; split-merge trials; concentrations.

The documents are in partitions (`partitions`), which a pool holds (`pools`). The topics and the counts of all
documents are here, with the coordinator. Results do not depend on the number of partitions, or on the pool.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from franchise._arrays import Array
from franchise._draws import PARTS
from franchise.corpus import Corpus, ShardedCorpus
from franchise.engines.checkpoints import (
    check_whole,
    divided_seating,
    joined_seating,
    packed_coordinator,
    unpacked_coordinator,
    with_table_sizes,
)
from franchise.engines.collapsed import CollapsedEngine, by_size, topic_terms_of
from franchise.engines.coordinator import Coordinator, DocumentsInfo, facts_of, state_without_seating
from franchise.engines.copies import merge_copies, names_of_merged
from franchise.engines.engine import Counts, EngineSettings, Swept, Trials, names_of, numbers_of
from franchise.engines.instantiation import Instantiator, epsilon_for
from franchise.engines.kinds import Kind
from franchise.engines.partitions.partition import (
    CountingPartition,
    GpuPartition,
    Partition,
    Passed,
    divided,
    joined,
    sizes_together,
    totals,
)
from franchise.engines.pools import lives_apart, pool_for
from franchise.engines.pools.local import LocalPool
from franchise.engines.pools.pool import PooledTables, Snapshot
from franchise.engines.pools.ranges import shards_for
from franchise.engines.pools.seating_files import other_seating
from franchise.engines.starts.starting_topics import StartingTopics, words_begin_with
from franchise.engines.threads import Threads
from franchise.errors import SettingsError
from franchise.model import Joint, State
from franchise.model.capacity import compact
from franchise.model.counts import ranks
from franchise.model.measure import Measure
from franchise.model.packing import packed, unpacked
from franchise.model.state import DEAD, ETA, TOPICS, copy_state
from franchise.random import INITIALIZE, Key

# Approximate cost of one gamma variable, in sampled words.
_GAMMA_IN_WORDS = 0.5
_MOST_PASSES = 4


class PartiallyCollapsedEngine:
    """Makes sweeps of a chain whose documents are in partitions.

    Without workers or a GPU it can be made and restored, but cannot sweep.

    Parameters
    ----------
    kind
        The kind of the partitions, and the pool that holds them.
    corpus
        The documents.
    settings
        The settings of sweeps.
    """

    def __init__(self, kind: Kind, corpus: Corpus, settings: EngineSettings) -> None:
        self.kind, self.name, self.at_once = kind, kind.name, kind.at_once
        self._corpus, self._settings = corpus, settings
        self._facts = facts_of(corpus, kind.has_counts)
        self._epsilon = epsilon_for(*self._facts.lengths)
        self._gamma_priors = settings.priors.as_array()
        self._instantiator = Instantiator(0, 0, 1)  # samples weights only; partitions sample terms
        self._pool = pool_for(kind, corpus, settings.threads)
        self._pool.serve(self)
        self._is_apart = lives_apart(kind, corpus)  # the documents may be too large for one place
        self._folder: Path | None = None
        self.use_threads(settings.threads)
        self.forget()

    def forget(self) -> None:
        """Remove all topics."""
        state = state_without_seating(self._facts, self._settings.capacity)
        state.concentrations[:] = self._settings.priors.initial()
        self._coordinator = Coordinator(self._facts, state, self.kind.words_to_keep)
        self._sizes = np.zeros((2, 0), np.int64)  # different sizes of tables, and the number of each
        self._log_p_terms: float | None = None  # the terms' contribution to log p(x | c)
        self._has_rows = True  # the coordinator has the counts of terms by topic
        self._at = 0  # the last sweep

    # ------------------------------------------------------------ a start

    def start(self, key: Key, start: str | int | StartingTopics) -> None:
        """Seat every word for the first time: from topics, in a number of random topics, or one by one."""
        key = key._replace(move=INITIALIZE)
        if start == "sequential":
            self._start_in_turn(key)
            return
        begin = words_begin_with(start)
        if isinstance(begin, int):  # topics beyond the number of words need no room
            begin = min(begin, max(1, self._facts.n_words))
        self._pool.complete(partial(self._start, key, begin))

    def _start(self, key: Key, start: int | StartingTopics) -> None:
        self.forget()
        passed = totals(self._pool.all(Partition.start, key, self._pool.share(start)))
        columns = self._coordinator.name_first_topics(*passed)
        self._name(columns, with_rows=False)
        self._finish(None)

    def _start_in_turn(self, key: Key) -> None:
        if not self.kind.seats_in_turn:
            raise SettingsError(
                "start='sequential': neither several workers nor cells with counts can seat words "
                "one by one; start from 'fitted', 'one' or a number of random "
                "topics",
                code="conflicting-settings",
            )
        one_by_one = CollapsedEngine(self._corpus, self._settings)
        one_by_one.start(key, "sequential")
        self.seat(one_by_one.state)

    # ------------------------------------------------------------ a sweep

    def sweep(self, key: Key, trials: Trials | None, eta: float | None = None, merge: bool = False) -> Swept:
        """Make one sweep, with `eta` fixed if given; then `merge` topics that are copies of each other."""
        return self._pool.complete(partial(self._sweep, key, trials, eta, merge))

    def _sweep(self, key: Key, trials: Trials | None, eta: float | None, merge: bool) -> Swept:
        sampler, gamma_priors = self._coordinator.sampler, self._gamma_priors
        self._at = key.sweep
        if eta is not None:
            sampler.set_eta(eta)
            gamma_priors = gamma_priors.copy()
            gamma_priors[ETA] = 0.0
        is_due = self.kind.is_due(key.sweep, self._facts.n_words)
        needs_rows = is_due or merge or bool(gamma_priors[ETA, 0] > 0.0)
        infos: dict[str, Any] = {"documents": self._update_documents(key, needs_rows)}
        records, merged = None, []
        if is_due:
            infos |= self._visit_some(key)
            if due := self.kind.trials_due(trials, key.sweep, self._facts.n_words):
                tables = PooledTables(self._pool)
                infos["split_merge"], records = sampler.try_splits_and_merges(key, due, tables, self._threads)
        infos["concentrations"] = sampler.draw_concentrations(
            key, self._settings.concentrations, gamma_priors
        )
        if merge:
            merged = self._merge_copies()
        has_changed = is_due or bool(self._coordinator.state.totals[DEAD])
        self._finish(self._coordinator.new_order() if has_changed else None)
        return Swept(infos, records, merged)

    def _update_documents(self, key: Key, with_rows: bool = True) -> DocumentsInfo:
        """Instantiate G_0, update topics and tables of all documents given it, and drop it."""
        coordinator, pool = self._coordinator, self._pool
        weights = self._instantiator.weights(key, coordinator.state, self._epsilon)
        counts = pool.counts_to_send(coordinator) if self._has_rows else None
        given = (key, counts, weights, coordinator.state.concentrations, self._passes(weights))
        passed = totals(pool.all(Partition.update, *given))
        columns, info = coordinator.renumber(weights, *passed)
        self._name(columns, with_rows)
        return info

    def _passes(self, weights: Measure) -> int:
        """Return how often to update all words with this G_0: about as long as it took to instantiate it."""
        if self.kind.has_counts:
            return 1
        gammas = self._facts.n_terms * int(weights.sizes[0])
        return min(max(1, round(gammas * _GAMMA_IN_WORDS / self._facts.n_words)), _MOST_PASSES)

    def _name(self, columns: Array, with_rows: bool) -> None:
        """Tell the partitions the topics; fill in rows, unless they can stay on the only GPU for now."""
        pool, coordinator, on_gpu = self._pool, self._coordinator, self.kind.on_gpu
        self._has_rows = with_rows or not on_gpu or pool.size > 1
        in_place = isinstance(pool, LocalPool) and pool.size == 1 and not on_gpu  # nothing is copied
        rows = pool.all(Partition.name, columns, self._has_rows and not in_place)
        if in_place:
            pool.first(CountingPartition.fill_rows, coordinator.state)
        elif self._has_rows:
            coordinator.fill_rows([own for own in rows if own is not None], self._threads)

    def _bring_rows(self) -> None:
        """Fill in the counts of terms by topic, if they are missing here."""
        if not self._has_rows:
            self._pool.ask(lambda: self._coordinator.fill_rows(self._pool.all(Partition.rows), self._threads))
            self._has_rows = True

    def _visit_some(self, key: Key) -> dict[str, Any]:
        """Make the collapsed moves on the documents whose turn it is."""
        coordinator, pool, facts = self._coordinator, self._pool, self._facts
        turn = self.kind.turn(key.sweep, facts.n_words, facts.n_cells)
        taken = pool.all(Partition.take, coordinator.state.n_k.size, *turn)
        brought = joined(taken)
        coordinator.bring(brought)
        infos = coordinator.sampler.gibbs(key)
        pool.each(Partition.put, [(own,) for own in divided(coordinator.take_away(brought), taken)])
        return infos

    def _merge_copies(self) -> list[tuple[int, int]]:
        """Merge topics that are copies of each other; return the names of the merged ones."""
        state = self._coordinator.state
        live = np.sort(state.live[: state.totals[TOPICS]])
        into = merge_copies(state, live, topic_terms_of(state, live))
        merged = names_of_merged(state, into)
        if merged:
            self._pool.all(Partition.merge, into)
        return merged

    def _finish(self, order: Array | None) -> None:
        """End a sweep or a start: number the topics without gaps, and compute sums for the trace."""
        pool, coordinator = self._pool, self._coordinator
        self._sizes = np.stack(sizes_together(pool.all(Partition.finish, order)))
        if self.kind.on_gpu:
            eta = float(coordinator.state.concentrations[ETA])
            counts = None if pool.size == 1 else pool.counts_to_send(coordinator)
            self._log_p_terms = pool.first(GpuPartition.log_p_terms, eta, counts)

    # ------------------------------------------------------------ results for the chain

    @property
    def n_topics(self) -> int:
        """The number of topics."""
        return self._coordinator.n_topics

    @property
    def progress(self) -> float:
        """The completed share of the present pass."""
        return self._pool.progress

    @property
    def n_bytes(self) -> int:
        """Memory of the coordinator, and of the partitions in this process."""
        return sum(array.nbytes for array in self._coordinator.state) + self._pool.n_bytes

    def numbers(self) -> dict[str, float]:
        """Return the numbers of the current state for the trace."""
        return numbers_of(self._coordinator.state, self._joint())

    def _joint(self) -> Joint:
        of_terms = self._log_p_terms
        if of_terms is None:
            of_terms = self._coordinator.log_p_terms(self._threads)
        return self._coordinator.joint(self._settings.priors, (self._sizes[0], self._sizes[1]), of_terms)

    def names(self) -> Array:
        """Return the names of the living topics."""
        return names_of(self._coordinator.state)

    def counts(self) -> Counts:
        """Return the counts of the current state."""
        self._bring_rows()
        state = self._coordinator.state
        live = by_size(state)
        return Counts(
            names=state.name_k[live],
            topic_terms=topic_terms_of(state, live),
            document_topics=self._document_topics(ranks(state, live), live.size),
            m_k=state.m_k[live],
            concentrations=state.concentrations.copy(),
        )

    def _document_topics(self, rank: Array, n_topics: int) -> Any:
        """Return n_j.k, in files if it may be too large for one place."""
        if self._folder is None or not (self._is_apart and isinstance(self._corpus, ShardedCorpus)):
            return self._pool.document_topics(rank, n_topics)
        return self._pool.write_document_topics((self._folder / PARTS).resolve(), self._at, rank, n_topics)

    # ------------------------------------------------------------ threads and workers

    def use_threads(self, number: int) -> None:
        """Use this number of threads for sweeps; results stay the same."""
        self._threads = Threads(number)
        self._pool.use_threads(number)

    def use_workers(self, workers: Any, chain: int) -> None:
        """Let these workers hold the documents, if the pool is on a cluster; `chain` is its number."""
        self._pool.use_workers(workers, chain)

    def rest(self) -> None:
        """Free memory that other chains may need, as no sweep follows for a while."""
        self._pool.rest()

    # ------------------------------------------------------------ storing and restoring

    def keep_in(self, folder: Path | None) -> None:
        """Write arrays that live elsewhere and must be kept into this folder, which is the chain's own."""
        self._folder = folder

    @property
    def state(self) -> State:
        """The current state, gathered here."""
        arrays = {
            **self.arrays_of_coordinator(),
            **joined_seating(self._pool.seating(), self.kind.has_counts),
        }
        if self.kind.has_counts:
            return self._coordinator.state._replace(
                **{name: arrays[name] for name in ("m_j", "n_jt", "k_jt")}
            )
        return unpacked(self._corpus.arrays, arrays)

    def seat(self, state: State) -> None:
        """Continue from a state in which every word is seated."""
        if self.kind.has_counts:
            raise SettingsError(
                f"engine={self.name!r}: it cannot continue a state of words; start from topics",
                code="unsupported-start",
            )
        state = copy_state(state)
        compact(self._corpus.arrays, state)
        arrays = with_table_sizes(packed(self._corpus.arrays, state))
        self._begin_at(Snapshot(arrays, divided_seating(arrays, shards_for(self._corpus))))

    def arrays(self) -> dict[str, Array]:
        """Return the arrays of a checkpoint; if documents live apart, `write_seating` writes the rest."""
        arrays = self.arrays_of_coordinator()
        if not self._is_apart:
            arrays |= joined_seating(self._pool.seating(), self.kind.has_counts)
        return arrays

    def write_seating(self, folder: Path) -> bool:
        """Write what `arrays` omits because it lives elsewhere; return whether there is any."""
        if self._is_apart:
            stays = self._folder is not None and folder.is_relative_to(self._folder)
            self._pool.write_seating(folder, stays)
        return self._is_apart

    def restore(self, arrays: dict[str, Array], seating: Path | None = None) -> None:
        """Restore the state from the result of `arrays` and the files of `write_seating`."""
        if not self._is_apart:
            check_whole(self._corpus, self.kind.has_counts, arrays)
            self._begin_at(Snapshot(arrays, divided_seating(arrays, shards_for(self._corpus))))
        elif seating is None:
            raise ValueError("there is no seating")
        else:
            self._begin_at(Snapshot(arrays, seating))

    def remembered(self) -> Callable[[Any], None]:
        """Return a function that gives the present state to another engine of this kind."""
        snapshot = Snapshot(self.arrays_of_coordinator(), self._pool.seating())
        return lambda other: other._begin_at(snapshot)

    def _begin_at(self, snapshot: Snapshot) -> None:
        self.restore_coordinator(snapshot.arrays)
        self._pool.restore(snapshot)

    def arrays_of_coordinator(self) -> dict[str, Array]:
        """Return the arrays of the coordinator."""
        self._bring_rows()
        return packed_coordinator(self._coordinator, self._sizes, self._at)

    def restore_coordinator(self, arrays: dict[str, Array]) -> None:
        """Restore the coordinator from its arrays."""
        state = unpacked_coordinator(self._facts, arrays)
        self._coordinator = Coordinator(self._facts, state, self.kind.words_to_keep)
        sizes = arrays["table_sizes"], arrays["tables_of_size"]
        self._sizes = np.stack(sizes, dtype=np.int64, casting="safe")
        self._at, self._has_rows, self._log_p_terms = int(arrays["at"].item()), True, None

    def check_recount(self, counted: Passed, source: Any) -> None:
        """Refuse a seating that does not match the counts."""
        state, n_topics = self._coordinator.state, self.n_topics
        expected = state.n_k[:n_topics], state.m_k[:n_topics]
        if not all(np.array_equal(a, b) for a, b in zip(counted, expected, strict=True)):
            raise other_seating(source)
