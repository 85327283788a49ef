"""One chain: start, sweep, draw."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from franchise._arrays import Array
from franchise._draws import Draw
from franchise._settings import LARGEST_SEED, RandomState, moved, seed_of, whole_number
from franchise._threads import MOST_THREADS, interrupts_deferred, threads
from franchise.corpus import Corpus
from franchise.engines import (
    Engine,
    EngineSettings,
    GivenTopics,
    Start,
    Swept,
    Trials,
    engine_for,
    engine_named,
)
from franchise.engines.starts.consensus import Runs
from franchise.engines.starts.em import first_topics
from franchise.engines.starts.starting_topics import StartingTopics
from franchise.errors import ClusterError, FranchiseError, SettingsError
from franchise.model import Priors, State
from franchise.model.state import ETA
from franchise.random import Key
from franchise.sampling.schedule import SHARED, Schedule, Timetable
from franchise.sampling.trace import Trace
from franchise.sampling.trials import Event, Trial, events_of, trials_of


@moved(seed="random_state", start="init", threads="n_jobs")
class Chain:
    """A Markov chain over the franchises of a corpus.

    The same corpus, settings, random state and number give the same chain, bit for bit, whether it runs at
    once or sweep by sweep.

    Parameters
    ----------
    corpus
        The documents.
    priors
        The concentrations, fixed or with priors.
    schedule, sweeps, burn_in, random_state, engine, n_jobs
        As for `HDPTopicModel`. (A `Timetable` is a schedule that includes the sweeps and the burn-in.)
    number
        The number of this chain in its run. Chains with the same random state are independent.
    init
        As for `HDPTopicModel`: ``"sequential"``, ``"fitted"``, ``"documents"``, ``"one"``, a number of random
        topics, or `GivenTopics`. The other starts need several chains.
    capacity
        Initial room for topics. It grows as needed and does not affect results.

    Attributes
    ----------
    trace
        One row of numbers per sweep.
    draws
        The states that the schedule keeps. In a run (`sampling.run`), large draws are moved to disk.
    events
        The family tree of topics: births, deaths, splits and merges, with their sweeps.
    trials
        Every split-merge trial, if the schedule keeps them (`SplitMerge.keep_trials`).
    mode
        The draw with the highest log joint, priors included, after the burn-in (the paper's mode); None
        during the burn-in.
    first_topics
        The topics to start from, if the chains of a run share them; None after the start.
    runs
        The topics of the short runs that found the start, if there were any.
    sweeps_done
        Number of complete sweeps.
    state
        The current state.

    Examples
    --------
    >>> from franchise.corpus import from_tokens
    >>> corpus = from_tokens([["dog", "bone", "dog"], ["cat", "milk"], ["dog", "cat"]])
    >>> chain = Chain(corpus, random_state=1)
    >>> chain.run(10)
    >>> len(chain.trace)  # the start and ten sweeps
    11
    """

    def __init__(
        self,
        corpus: Corpus,
        priors: Priors | None = None,
        schedule: Schedule | Timetable | None = None,
        *,
        sweeps: int = 500,
        burn_in: int | None = None,
        random_state: RandomState = None,
        number: int = 0,
        init: Start = "sequential",
        engine: str = "auto",
        capacity: int = 64,
        n_jobs: int | None = -1,
    ) -> None:
        self.corpus = corpus
        self.priors = priors or Priors()
        self.init = _checked_start(init, corpus)
        if not isinstance(schedule, Timetable):
            is_fixed = not isinstance(self.priors.eta, tuple)
            schedule = (schedule or Schedule()).timetable(sweeps, burn_in, init, eta_is_fixed=is_fixed)
        self.schedule = schedule
        # The same type for every seed: another type would compile every kernel again.
        self.seed = seed_of(random_state)
        self.number = whole_number("number", number, 0, LARGEST_SEED)
        self.first_topics: StartingTopics | None = None
        self.runs: Runs | None = None
        self.sweeps_done = 0
        self.trace = Trace()
        self.draws: list[Draw] = []
        self.trials: list[Trial] = []
        self.events: list[Event] = []
        self.mode: Draw | None = None
        self.mode_log_joint = -math.inf
        self._cut_off = False
        self._load: Callable[[Engine], None] | None = None
        made_by = engine_named(engine_for(engine, corpus, in_turn=init == "sequential"))
        self._engine: Engine = made_by.new(
            corpus,
            EngineSettings(
                self.priors,
                self.schedule.concentrations,
                whole_number("capacity", capacity, 1),
                threads(n_jobs, MOST_THREADS),
            ),
        )

    @property
    def started_from(self) -> str | int:
        """Where the chain started: `init`, or the kind of the given topics."""
        return self.init.kind if isinstance(self.init, GivenTopics) else self.init

    @property
    def engine(self) -> Engine:
        """The engine that makes the sweeps."""
        if self._load is not None:
            self._load(self._engine)
            self._load = None
        return self._engine

    @property
    def engine_name(self) -> str:
        """The name of the engine. Unlike `engine`, this does not load its state."""
        return self._engine.name

    def load_later(self, load: Callable[[Engine], None]) -> None:
        """Load the state of the engine with `load` when it is first needed, which may be never."""
        self._load = load

    @property
    def state(self) -> State:
        """The current state."""
        return self.engine.state

    @property
    def progress(self) -> float:
        """The approximate share of the current sweep that is done."""
        return self._engine.progress  # read by another thread, which must not load a state

    def use_threads(self, number: int) -> None:
        """Use this many threads from now on, if the engine can."""
        self._engine.use_threads(whole_number("threads", number, 1))

    def use_workers(self, workers: Any) -> None:
        """Let these workers hold the documents, if the engine supports it; None releases the workers."""
        if self.is_whole:
            self.engine.use_workers(workers, self.number)

    @property
    def at_once(self) -> int | None:
        """The largest number of chains that the engine can sweep at once; None for no limit but the cores."""
        return self._engine.at_once

    def rest(self) -> None:
        """Release shared resources to other chains until the next sweep. Results do not change."""
        if self.is_whole:
            self._engine.rest()

    def keep_in(self, folder: Path | None) -> None:
        """Let the engine save in this folder what it keeps outside this process."""
        self._engine.keep_in(folder)

    @property
    def is_whole(self) -> bool:
        """False after an error inside a sweep. Nothing in the chain may be saved then."""
        return not self._cut_off

    def start(self) -> None:
        """Seat every word for the first time. `run` and `sweep` do this if necessary."""
        self._start(lambda: self.engine.start(self._key(0), self._first_topics()))

    def _first_topics(self) -> str | int | StartingTopics:
        if self.first_topics is not None:
            return self.first_topics
        if self.init in SHARED:
            raise FranchiseError(
                f"init={self.init!r}: the chains of a run find these topics together before they start; "
                "make the chain with run_chains, or fit a model",
                code="start-not-prepared",
            )
        return first_topics(self.init, self.corpus, self.priors, self.seed)

    def start_at(self, state: State | dict[str, Array]) -> None:
        """Start from a given state, in which every word is seated, or from its arrays."""
        is_state = isinstance(state, State)
        self._start(lambda: self.engine.seat(state) if is_state else self.engine.restore(state))  # type: ignore[arg-type]

    @interrupts_deferred()
    def _start(self, seat: Callable[[], None]) -> None:
        if len(self.trace):
            raise FranchiseError(
                "the chain has already started; make a new chain to start again", code="already-started"
            )
        with self._whole_or_not_at_all():
            began = time.perf_counter()
            seat()
            self.first_topics = None  # large, and no longer needed
            self._record(0, {}, began)

    @interrupts_deferred()
    def sweep(self) -> None:
        """Make one sweep, add its row to the trace, and keep its draw if the schedule says so.

        Ctrl-C takes effect after the sweep. After an error inside a sweep, the chain cannot continue.
        """
        if not len(self.trace):
            self.start()
        with self._whole_or_not_at_all():
            began, sweep = time.perf_counter(), self.sweeps_done + 1
            names = self._names()
            merge = sweep in self.schedule.merges
            swept = self.engine.sweep(self._key(sweep), self._trials(sweep), self._held_eta(sweep), merge)
            self._note_events(sweep, names, swept)
            self._record(sweep, swept.infos, began)
            self._keep(sweep)
            self.sweeps_done = sweep

    @contextmanager
    def _whole_or_not_at_all(self) -> Iterator[None]:
        if self._cut_off:
            raise FranchiseError(
                f"an error stopped chain {self.number} in the sweep after {self.sweeps_done}; resume from "
                "its last checkpoint, or make a new chain",
                code="chain-cut-off",
            )
        self._cut_off = True
        yield
        self._cut_off = False

    def run(self, sweeps: int | None = None, callback: Callable[["Chain"], None] | None = None) -> None:
        """Make `sweeps` more sweeps; by default, all remaining sweeps of the schedule.

        `callback` is called with the chain after the start and after every sweep.
        """
        if sweeps is None:
            sweeps = max(0, self.schedule.sweeps - self.sweeps_done)
        whole_number("sweeps", sweeps, 0)
        if not len(self.trace):
            self.start()
            if callback:
                callback(self)
        for _ in range(sweeps):
            self.sweep()
            if callback:
                callback(self)

    def reschedule(self, schedule: Timetable) -> None:
        """Continue with a timetable that has another number of sweeps, burn-in or thinning.

        Draws that the new schedule does not keep are dropped. Draws that only the new schedule would have
        kept cannot be recovered. The mode stays if it comes after the new burn-in; otherwise the best
        remaining draw becomes the mode, until a sweep is better.
        """
        self.schedule = schedule
        self.draws = [draw for draw in self.draws if schedule.keeps(draw.sweep)]
        if self.mode is None or self.mode.sweep > schedule.burn_in:
            return
        log_joint = self.trace["log_joint"] + self.trace["log_prior"]
        self.mode = max(self.draws, key=lambda draw: log_joint[draw.sweep], default=None)
        self.mode_log_joint = float(log_joint[self.mode.sweep]) if self.mode else -math.inf

    @interrupts_deferred()  # it calls compiled code
    def remembered(self) -> Callable[[], "Chain"]:
        """Return a function that recreates this chain as it is now, even if the chain changes later."""
        names = ["first_topics", "runs", "sweeps_done", "trace", "draws", "trials", "events"]
        names += ["mode", "mode_log_joint"]
        results = {name: getattr(self, name) for name in names}
        load, schedule = self._load, self.schedule
        if load is None and len(self.trace):
            try:
                load = self._engine.remembered()
            except ClusterError:  # its workers are gone; only new workers can restore its state
                return lambda: self
        # The current lists may be in use elsewhere, so the chain continues with copies.
        self.trace = Trace.from_array(self.trace.as_array(), self.trace.columns)
        self.draws, self.trials, self.events = [*self.draws], [*self.trials], [*self.events]

        def again() -> Chain:
            chain = Chain(
                self.corpus,
                self.priors,
                schedule,
                random_state=self.seed,
                number=self.number,
                init=self.init,
                engine=self.engine_name,
            )
            vars(chain).update(results)
            if load is not None:
                chain.load_later(load)
            return chain

        return again

    @interrupts_deferred()  # it calls compiled code
    def draw(self) -> Draw:
        """Return the topics and mixtures of the current state."""
        if self.draws and self.draws[-1].sweep == self.sweeps_done:
            return self.draws[-1]  # without loading the state, which may still be on disk
        return Draw(self.sweeps_done, *self.engine.counts())

    def exchange(self, draw: Draw, same: Draw) -> None:
        """Replace a draw by the same draw stored elsewhere."""
        self.draws[:] = [same if one is draw else one for one in self.draws]
        if self.mode is draw:
            self.mode = same

    def _trials(self, sweep: int) -> Trials | None:
        setting = self.schedule.split_merge
        number = setting.trials_in(sweep, self.trace) if setting else 0
        return Trials(number, setting.as_array()) if setting and number else None

    def _held_eta(self, sweep: int) -> float | None:
        """Return the eta of a sweep in the warm-up; None for a sweep with the chain's own eta."""
        share = self.schedule.eta_share(sweep)
        return None if share is None else share * float(self.priors.initial()[ETA])

    def _note_events(self, sweep: int, names: set[int], swept: Swept) -> None:
        trials = trials_of(swept.records, sweep) if swept.records is not None else []
        if self.schedule.split_merge and self.schedule.split_merge.keep_trials:
            self.trials += trials
        accepted = [trial for trial in trials if trial.accepted]
        self.events += events_of(sweep, names, self._names(), accepted, swept.merged)

    def _keep(self, sweep: int) -> None:
        is_kept = self.schedule.keeps(sweep)
        last = self.trace.last
        log_joint = last["log_joint"] + last["log_prior"]
        is_mode = sweep > self.schedule.burn_in and log_joint > self.mode_log_joint
        if not (is_kept or is_mode):
            return
        draw = Draw(sweep, *self.engine.counts())
        if is_kept:
            self.draws.append(draw)
        if is_mode:
            self.mode, self.mode_log_joint = draw, log_joint

    def _key(self, sweep: int) -> Key:
        return Key(self.seed, self.number, sweep, 0)

    def _names(self) -> set[int]:
        return set(self.engine.names().tolist())

    def _record(self, sweep: int, infos: dict[str, Any], began: float) -> None:
        numbers = self.engine.numbers()
        self.trace.append(numbers | {"sweep": sweep, "seconds": time.perf_counter() - began}, infos)


def _checked_start(init: Start, corpus: Corpus) -> Start:
    if isinstance(init, GivenTopics):
        init.check(corpus)
        return init
    if init in ("sequential", "one", "fitted", "documents", *SHARED):
        return init
    try:
        return whole_number("init", init, 1)
    except SettingsError:
        raise SettingsError(
            f"init={init!r}: give 'sequential', 'fitted', 'documents', 'one', or a number of random topics",
            code="unknown-choice",
        ) from None
