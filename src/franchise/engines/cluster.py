"""The parallel engine on many machines: documents and seats live with workers, and never move.

A sweep is that of the parallel engine, to the bit. The head, here, has topics and counts. It sends these to
the workers; each draws G_0 from them and the key, as everyone would, then the topics and tables of its
documents, and sends its counts back. The documents whose words are drawn one by one in this sweep, and the
tables of topics that are tried to be split or merged, come to the head.

When a worker is lost, the chain takes up its last snapshot and makes the sweeps since then again: the same
keys make the same sweeps.
"""

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp

from franchise._draw_parts import PARTS, PartsOfDraw
from franchise.corpus import Corpus, ShardedCorpus
from franchise.corpus.shards import Shard
from franchise.engines import parallel
from franchise.engines.collapsed import CollapsedEngine, by_size, counts_of, topic_terms_of
from franchise.engines.crew import Crew, Hands, shards_for, worker_replaced
from franchise.engines.engine import Counts, EngineSettings, Swept, Trials
from franchise.engines.head import SEATS, Head, facts_of, packed_head, unpacked_head, without_seats
from franchise.engines.parallel import joint_by_sizes, passes_for, trials_due
from franchise.engines.part import Part, Seats, added_up, divided
from franchise.engines.revealer import Revealer, epsilon_for
from franchise.engines.revealing import DocumentsInfo, number_of_turns, renumber
from franchise.engines.starting_topics import StartingTopics
from franchise.engines.table_source import TablesInParts
from franchise.engines.threads import Threads
from franchise.engines.worker import WorkersLostError, check_seats, other_seats, read_seats, write_seats
from franchise.errors import ClusterError, SettingsError
from franchise.model import Joint, State
from franchise.model.capacity import compact
from franchise.model.counts import ranks
from franchise.model.packing import packed, unpacked
from franchise.model.state import TOPICS, Array, copy_state
from franchise.random import INITIALIZE, Key

T = TypeVar("T")


class Snapshot(NamedTuple):
    """What a chain can be taken up from."""

    head: dict[str, Array]
    seats: Path | list[dict[str, Array]]  # of every shard: where they were written, or themselves


class ClusterEngine(CollapsedEngine):
    """Makes the sweeps of the parallel engine with a crew of workers.

    It can be made, and take up what was saved, without a crew; sweeps need one (`use_crew`).
    """

    name: ClassVar[str] = "ray"
    seats_in_turn: ClassVar[bool] = False
    takes_corpus: ClassVar[bool] = True

    def __init__(self, corpus: Corpus, settings: EngineSettings) -> None:
        super().__init__(corpus, settings)
        self._whole, self._facts = corpus, facts_of(corpus)
        self._epsilon = epsilon_for(*self._facts.lengths)
        self._head: Head | None = None
        self._sizes = np.zeros(1, np.int64)  # how many tables have each number of words
        self._crew: Crew | None = None
        self._chain = 0
        self._hands: Hands | None = None  # workers who have the seats; None: they must be told first
        self._at = 0  # the last sweep
        self._folder: Path | None = None
        self._passing = False  # workers are going through their documents
        self._snapshot: Snapshot | None = None
        self._since: list[Callable[[], object]] = []  # what was done since then
        self.use_threads(settings.threads)

    @property
    def progress(self) -> float:
        """The share of the pass under way that is done."""
        crew = self._crew
        return crew.progress(self._chain) if crew is not None and self._passing else 0.0

    @progress.setter
    def progress(self, share: float) -> None:
        """Do nothing: workers begin every pass anew."""

    def use_threads(self, number: int) -> None:
        """Let the head work in so many threads from now on; it changes no bit."""
        self._threads = Threads(number)
        self._revealer = Revealer(self._facts.n_terms, self._facts.longest, number)

    def use_crew(self, crew: Crew | None, chain: int) -> None:
        """Let a crew do the work from now on, in which the chain has this number; None: nobody.

        A crew that is left is asked for the seats first, unless what was saved last has them. If it is gone,
        what was done since then is done again with the next one.
        """
        try:
            if self._is_ahead and self._crew is not None:
                self._snapshot, self._since = Snapshot(self.arrays(), self._gathered_seats()), []
        except ClusterError:
            if crew is None:
                raise
        finally:
            self._crew, self._chain, self._hands = crew, chain, None

    @property
    def _is_ahead(self) -> bool:
        """Whether workers have something that no snapshot has."""
        return bool(self._since)

    def keep_in(self, folder: Path | None) -> None:
        """Let the workers write what is to be kept somewhere in this folder; None: nowhere."""
        self._folder = folder

    # ------------------------------------------------------------ what is asked of every engine

    @property
    def workbench(self) -> Head:
        """The topics and counts, and their working memory."""
        if self._head is None:
            state = without_seats(self._facts, self._settings.capacity)
            state.concentrations[:] = self._settings.priors.initial()
            self._head = Head(self._facts, state)
        return self._head

    @property
    def n_bytes(self) -> int:
        """Memory of the head."""
        return sum(array.nbytes for array in self.workbench.state)

    @property
    def state(self) -> State:
        """The current state, gathered here."""
        self._bring_counts()
        arrays, part = packed_head(self.workbench), Part(self._whole.arrays, self._facts.longest, 1)
        begin = 0
        for shard, seats in zip(self._shards(), self._seats_by_shard(), strict=True):
            part.seat(begin, begin := begin + shard.n_documents, seats)
        gathered = packed(part.corpus, part.state)
        return unpacked(part.corpus, {**gathered, **arrays})

    def seat(self, state: State) -> None:
        """Take up a state, with every word seated, as if the engine had reached it."""
        whole = self._whole.arrays
        part = Part(whole, self._facts.longest, 1)
        part.state = copy_state(state)
        compact(whole, part.state)
        arrays = packed(whole, part.state)
        seats = [
            part.seated(one.first_document, one.first_document + one.n_documents) for one in self._shards()
        ]
        head = {name: arrays[name] for name in arrays if name not in SEATS}
        sizes = np.bincount(arrays["n_jt"], minlength=1)
        self._begin_at(Snapshot({**head, "tables_of_size": sizes, "at": np.zeros(1, np.int64)}, seats))

    def start(self, key: Key, start: str | int | StartingTopics) -> None:
        """Seat every word by topics, or by random ones."""
        if start == "sequential":
            raise SettingsError(
                "start='sequential': words that are seated one after another cannot be seated by several "
                "workers; start from 'fitted', 'one' or a number of random topics",
                code="conflicting-settings",
            )
        self._do(partial(self._start, key._replace(move=INITIALIZE), start))

    def sweep(self, key: Key, trials: Trials | None, eta: float | None = None, merge: bool = False) -> Swept:
        """Make one sweep, with `eta` held at a value where one is given; then `merge` copies of topics."""
        swept = self._do(partial(self._sweep, key, trials, eta, merge))
        self._crew_here().went_well(self._chain)
        return swept

    def counts(self) -> Counts:
        """Return the counts of the current state."""
        if self._crew is None:
            return counts_of(self._whole.arrays, self.state)
        self._bring_counts()
        state = self.workbench.state
        live = by_size(state)
        return Counts(
            names=state.name_k[live],
            topic_terms=topic_terms_of(state, live),
            document_topics=self._document_topics(ranks(state, live), live.size),
            m_k=state.m_k[live],
            concentrations=state.concentrations.copy(),
        )

    def _bring_counts(self) -> None:
        """Bring what the head has not been told of counts yet: here it always has."""

    def _document_topics(self, rank: Array, n_topics: int) -> Any:
        """Return n_j.k: written in parts by the workers, if there may be more than should come together."""
        if self._folder is None or not isinstance(self._whole, ShardedCorpus):
            return sp.vstack(
                self._do_again(lambda: self._at_hand().ask("document_topics", rank, n_topics)), format="csr"
            )
        folder = (self._folder / PARTS).resolve()
        ask = (str(folder), self._at, rank, n_topics)
        parts = self._do_again(lambda: self._at_hand().call_all("write_part", *ask))
        return PartsOfDraw(folder, self._at, parts, n_topics)

    def _joint(self) -> Joint:
        lengths = self._facts.lengths
        return joint_by_sizes(self.workbench, self._settings.priors, self._sizes, lengths, self._threads)

    # ------------------------------------------------------------ on disk, and again

    def arrays(self) -> dict[str, Array]:
        """Return the topics and counts; seats are written by `write_seats`."""
        self._bring_counts()
        return {**packed_head(self.workbench), "tables_of_size": self._sizes, "at": np.array([self._at])}

    def write_seats(self, folder: Path) -> bool:
        """Let the workers write the seats of every shard, or write those that were gathered or saved."""
        if self._is_ahead and self._crew is not None:
            self._do_again(lambda: self._at_hand().call_all("write_seats", str(folder.resolve())))
            check_seats(folder, self._shards())
            if self._folder is not None and folder.is_relative_to(self._folder):  # where it stays
                self._snapshot, self._since = Snapshot(self.arrays(), folder), []
        else:
            for shard, arrays in zip(self._shards(), self._seats_by_shard(), strict=True):
                write_seats(folder, shard, arrays)
        return True

    def restore(self, arrays: dict[str, Array], seats: Path | None = None) -> None:
        """Take up what was saved; the seats when there is a crew."""
        if seats is None:
            raise ValueError("there are no seats")
        self._begin_at(Snapshot(arrays, seats))

    def remembered(self) -> Callable[[Any], None]:
        """Return a function that gives another engine the present state of this one."""
        snapshot = Snapshot(self.arrays(), self._seats_by_shard())
        return lambda other: other._begin_at(snapshot)

    def _begin_at(self, snapshot: Snapshot) -> None:
        self._take_up(snapshot)
        self._snapshot, self._since, self._hands = snapshot, [], None

    def _take_up(self, snapshot: Snapshot) -> None:
        arrays = dict(snapshot.head)
        self._sizes, self._at = arrays.pop("tables_of_size"), int(arrays.pop("at")[0])
        self._head = unpacked_head(self._facts, arrays)

    # ------------------------------------------------------------ a crew that may be lost

    def _crew_here(self) -> Crew:
        if self._crew is None:
            raise ClusterError(
                f"engine={self.name!r}: the chain has no workers; fit or resume its model", code="no-workers"
            )
        return self._crew

    def _at_hand(self) -> Hands:
        """Return workers who have the seats."""
        assert self._hands is not None
        return self._hands

    def _do(self, step: Callable[[], T]) -> T:
        """Do something that changes the state, and remember it until the next snapshot."""
        done = self._do_again(step)
        self._since.append(step)
        return done

    def _do_again(self, step: Callable[[], T]) -> T:
        """Do something, again from the last snapshot as often as workers are lost meanwhile."""
        crew = self._crew_here()
        while True:
            hands = self._hands or Hands(crew, self._chain)
            try:
                if self._hands is None:
                    self._hands = hands
                    self._catch_up(hands)
                return step()
            except WorkersLostError:
                self._hands = None
                if crew.repair(hands.generation, self._chain):
                    warnings.warn(worker_replaced(), stacklevel=2)
            except BaseException:
                self._hands = None  # nobody knows what they have
                raise

    def _catch_up(self, hands: Hands) -> None:
        """Bring workers who know nothing of the chain, and the head, to where it was."""
        if self._snapshot is not None:
            self._take_up(self._snapshot)
            self._send_seats(hands, self._snapshot)
        else:
            self._head = None
        for step in self._since:
            step()

    def _send_seats(self, hands: Hands, snapshot: Snapshot) -> None:
        n_topics, seats = int(self.workbench.state.totals[TOPICS]), snapshot.seats
        given: list[Any] = []
        for job in hands.jobs:
            first, last = job.shards[0].number, job.shards[-1].number
            given.append(str(seats.resolve()) if isinstance(seats, Path) else seats[first : last + 1])
        sums = hands.call("take_up", [(self._chain, one, n_topics) for one in given])
        for name, parts in zip(("n_k", "m_k"), zip(*sums, strict=True), strict=True):
            if not np.array_equal(np.sum(parts, axis=0), getattr(self.workbench.state, name)[:n_topics]):
                raise other_seats(seats)

    def _shards(self) -> tuple[Shard, ...]:
        return shards_for(self._whole)

    def _seats_by_shard(self) -> list[dict[str, Array]]:
        if self._is_ahead and self._crew is not None:
            return self._gathered_seats()
        if self._snapshot is None or self._is_ahead:
            raise ClusterError(f"engine={self.name!r}: the seating is lost; call resume", code="seating-lost")
        seats = self._snapshot.seats
        return [read_seats(seats, one) for one in self._shards()] if isinstance(seats, Path) else seats

    def _gathered_seats(self) -> list[dict[str, Array]]:
        parts = self._do_again(lambda: self._at_hand().call_all("send_seats"))
        return [seats for part in parts for seats in part]

    # ------------------------------------------------------------ the start

    def _start(self, key: Key, start: str | int | StartingTopics) -> None:
        hands = self._at_hand()
        if isinstance(start, StartingTopics):
            drawn = hands.ask("draw_fitted", key, hands.share(start))
        else:
            drawn = hands.ask("draw_random", key, 1 if start == "one" else int(start))
        number: dict[int, int] = {}  # in the order in which they appear
        for one in np.concatenate(drawn).tolist():
            number.setdefault(one, len(number))
        numbers = [np.array([number[one] for one in own.tolist()], np.int32) for own in drawn]
        summed = hands.each("settle", [(own,) for own in numbers])
        self._head = None
        self.workbench.open_topics(numbers, summed)
        self._sizes = added_up(hands.ask("finish", None))

    # ------------------------------------------------------------ a sweep

    def _sweep(self, key: Key, trials: Trials | None, eta: float | None, merge: bool) -> Swept:
        self._at = key.sweep
        if eta is not None:
            self.workbench.set_eta(eta)
        documents, self._number = self._update_documents(key)
        self.workbench.tables = TablesInParts([job.first_word for job in self._at_hand().jobs], self._tables)
        self.workbench.threads = self._threads
        swept = super().sweep(key, self._trials_due(trials, key.sweep), eta, merge)
        return swept._replace(infos={"documents": documents, **swept.infos})

    def _update_documents(self, key: Key) -> tuple[DocumentsInfo, Array]:
        hands, head, facts = self._at_hand(), self.workbench, self._facts
        measure = self._revealer.weights(key, head.state, self._epsilon)
        passes = passes_for(measure, facts.n_terms, facts.n_words)
        topics = hands.share(head.topics())
        self._passing = True
        try:
            shares = hands.shared_by_neighbours("share_of_terms", key, topics, self._epsilon)
            given = [(key, topics, self._epsilon, passes, *own) for own in shares]
            summed = hands.each("update", given)
        finally:
            self._passing = False
        words, tables = (
            np.sum([getattr(one, name) for one in summed], axis=0) for name in ("words", "tables")
        )
        number, info = renumber(head, measure, words, tables)
        head.fill_rows(summed, number, self._threads)
        return info, number

    def _gibbs(self, key: Key) -> dict[str, Any]:
        """Draw words and tables, one by one, of the documents whose turn it is."""
        hands, head, taken = self._at_hand(), self.workbench, self._taken(key)
        head.bring(Seats(*(np.concatenate(parts) for parts in zip(*taken, strict=True))))
        infos = head.gibbs(key)
        hands.each("put", [(one,) for one in divided(head.take_away(), taken)])
        return infos

    def _taken(self, key: Key) -> list[Seats]:
        n_turns = number_of_turns(self._facts.n_words, parallel.COLLAPSED_WORDS)
        taken: list[Seats] = self._at_hand().ask("take", self._number, key.sweep % n_turns, n_turns)
        return taken

    def _trials_due(self, trials: Trials | None, sweep: int) -> Trials | None:
        return trials_due(trials, sweep, self._facts.n_words)

    def _tables(self, what: str, arguments: list[tuple[Any, ...]]) -> list[Any]:
        return self._at_hand().each("tables", [(what, *own) for own in arguments])

    def _compact(self) -> None:
        hands, number = self._at_hand(), self.workbench.new_numbers()
        self._sizes = added_up(hands.ask("finish", number))
