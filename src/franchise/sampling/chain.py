"""One chain: start, sweep, draw."""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from franchise._settings import whole_number
from franchise.corpus import Corpus
from franchise.errors import FranchiseError, SettingsError
from franchise.model import Priors, State, empty_state, joint
from franchise.model.state import ALPHA, ETA, GAMMA, TABLES, TOPICS
from franchise.moves import complete_move
from franchise.moves.concentrations import auxiliary_concentrations, slice_concentrations
from franchise.moves.initialize import draw_topics, seat_all, shuffle_documents
from franchise.moves.parts.scratch import fill_tables, new_scratch, with_room_for_tables
from franchise.moves.split_merge import RECORD, split_merge
from franchise.moves.table_topics import table_topics
from franchise.moves.word_tables import word_tables
from franchise.random import CONCENTRATIONS, INITIALIZE, SPLIT_MERGE, TABLE_TOPICS, WORD_TABLES, Key
from franchise.sampling.interrupt import interrupts_deferred
from franchise.sampling.schedule import Schedule
from franchise.sampling.trace import Draw, Trace, draw_of
from franchise.sampling.trials import Event, SplitMerge, Trial, events_of, trials_of

Start = str | int
_LARGEST = 2**63 - 1


class Chain:
    """A Markov chain over the franchises of a corpus.

    The same corpus, settings, seed and number give the same chain, to the bit, whether it runs in
    one piece or sweep by sweep.

    Parameters
    ----------
    corpus
        The documents.
    priors
        The concentrations, fixed or with priors.
    schedule
        Which moves, how many sweeps, what is kept.
    seed
        Any whole number from 0 to 2**63 - 1.
    number
        Which chain of a run this is; chains of one seed are independent of each other.
    start
        ``"sequential"``: the paper's, every word seated given the words before it; a number: that
        many random topics; ``"one"``: one topic.
    capacity
        Room for topics to begin with. It grows as needed and changes nothing.

    Attributes
    ----------
    trace
        A row of numbers a sweep.
    draws
        What the schedule keeps of the states.
    events
        The family tree of topics: which was born, died, split from, merged into which, and when.
    trials
        Every split-merge trial, where the schedule asks for it (`SplitMerge.keep_trials`).
    mode
        The draw of the highest log joint, priors included, after the burn-in (the paper's mode); None
        before.
    state
        The present state.

    Examples
    --------
    >>> from franchise.corpus import from_tokens
    >>> corpus = from_tokens([["dog", "bone", "dog"], ["cat", "milk"], ["dog", "cat"]])
    >>> chain = Chain(corpus, seed=1)
    >>> chain.run(10)
    >>> len(chain.trace)  # the start and ten sweeps
    11
    """

    def __init__(
        self,
        corpus: Corpus,
        priors: Priors | None = None,
        schedule: Schedule | None = None,
        *,
        seed: int = 0,
        number: int = 0,
        start: Start = "sequential",
        capacity: int = 64,
    ) -> None:
        self.corpus = corpus
        self.priors = priors or Priors()
        self.schedule = schedule or Schedule()
        # One type for all seeds, or every kernel would be compiled anew.
        self.seed = whole_number("seed", seed, 0, _LARGEST)
        self.number = whole_number("number", number, 0, _LARGEST)
        self.start_from = start if start in ("sequential", "one") else _random_topics(start)
        self.sweeps_done = 0
        self.trace = Trace()
        self.draws: list[Draw] = []
        self.trials: list[Trial] = []
        self.events: list[Event] = []
        self.mode: Draw | None = None
        self.mode_log_joint = -math.inf
        self._arrays = corpus.arrays
        self._gamma_priors = self.priors.as_array()
        self._plans = self.schedule.split_merge.plans() if self.schedule.split_merge else np.zeros((0, 5))
        self.state = empty_state(self._arrays, whole_number("capacity", capacity, 1))
        self.state.concentrations[:] = self.priors.initial()
        self._scratch = new_scratch(self._arrays, self.state)

    @interrupts_deferred()
    def start(self) -> None:
        """Seat every word for the first time; `run` and `sweep` do it when it has not been done."""
        if len(self.trace):
            raise FranchiseError("the chain has started already; make a new one to start again")
        began = time.perf_counter()
        key = self._key(INITIALIZE)
        if self.start_from == "sequential":
            shuffle_documents(key, self._scratch.words.stream, self._scratch.words.documents)
            self._complete(word_tables, key, "words")
            self._scratch.words.documents.sort()
        else:
            n_topics = 1 if self.start_from == "one" else int(self.start_from)
            number, table = np.full((2, n_topics), -1, np.int32)
            used = draw_topics(key, self._arrays, self.state, self._scratch.words.stream, number, table)
            state = empty_state(self._arrays, max(used, self.state.n_k.size))
            state.t_ji[:], state.k_jt[:] = self.state.t_ji, self.state.k_jt
            state.concentrations[:] = self.state.concentrations
            seat_all(self._arrays, state, used)
            self.state, self._scratch = state, new_scratch(self._arrays, state)
        self._record({}, began)

    @interrupts_deferred()
    def sweep(self) -> None:
        """Make one sweep and add its row to the trace, and its draw to the draws if it is kept.

        Ctrl-C takes effect after the sweep.
        """
        if not len(self.trace):
            self.start()
        began = time.perf_counter()
        self.sweeps_done += 1
        names = self._names()
        infos: dict[str, Any] = {
            "word_tables": self._complete(word_tables, self._key(WORD_TABLES), "words"),
            "table_topics": self._complete(table_topics, self._key(TABLE_TOPICS), "tables"),
        }
        accepted: list[Trial] = []
        if setting := self.schedule.split_merge_in(self.sweeps_done):
            infos["split_merge"], accepted = self._try_splits_and_merges(setting)
        self.events += events_of(self.sweeps_done, names, self._names(), accepted)
        infos["concentrations"] = self._draw_concentrations()
        self._record(infos, began)
        self._keep()

    def run(self, sweeps: int | None = None, callback: Callable[["Chain"], None] | None = None) -> None:
        """Make `sweeps` more sweeps, by default those that the schedule still has.

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

    def draw(self) -> Draw:
        """Gather topics and mixtures of the current state."""
        return draw_of(self._arrays, self.state, self.sweeps_done)

    def restore(self, state: State, sweeps_done: int, trace: Trace) -> None:
        """Take up a state that a chain of the same corpus, settings, seed and number has left.

        The caller hands over what else that chain had gathered (draws, events, trials, mode).
        """
        self.state, self.sweeps_done, self.trace = state, sweeps_done, trace
        self._scratch = new_scratch(self._arrays, state)

    def _keep(self) -> None:
        is_kept = self.schedule.keeps(self.sweeps_done)
        last = self.trace.last
        log_joint = last["log_joint"] + last["log_prior"]
        is_mode = self.sweeps_done > self.schedule.burn_in and log_joint > self.mode_log_joint
        if not (is_kept or is_mode):
            return
        draw = self.draw()
        if is_kept:
            self.draws.append(draw)
        if is_mode:
            self.mode, self.mode_log_joint = draw, log_joint

    def _key(self, move: int) -> Key:
        return Key(self.seed, self.number, self.sweeps_done, move)

    def _draw_concentrations(self) -> Any:
        move = slice_concentrations if self.schedule.concentrations == "slice" else auxiliary_concentrations
        own = self._scratch.concentrations
        info = move(self._key(CONCENTRATIONS), self._arrays, self.state, own, self._gamma_priors)
        if isinstance(self.priors.eta, tuple):
            fill_tables(self.state, self._scratch.tables)
        return info

    def _names(self) -> set[int]:
        return set(self.state.name_k[self.state.live[: self.state.totals[TOPICS]]].tolist())

    def _try_splits_and_merges(self, setting: SplitMerge) -> tuple[Any, list[Trial]]:
        records = np.zeros((setting.trials, len(RECORD)))
        self._scratch = with_room_for_tables(self._scratch, self.state)
        info = self._complete(split_merge, self._key(SPLIT_MERGE), "trial", self._plans, records)
        trials = trials_of(records, self.sweeps_done)
        if setting.keep_trials:
            self.trials += trials
        return info, [trial for trial in trials if trial.accepted]

    def _complete(self, move: Callable[..., Any], key: Key, own: str, *more_arguments: Any) -> Any:
        self.state, self._scratch, info = complete_move(
            move, key, self._arrays, self.state, self._scratch, own, *more_arguments
        )
        return info

    def _record(self, infos: dict[str, Any], began: float) -> None:
        state: State = self.state
        parts = joint(self._arrays, state, self.priors)
        numbers = {
            "sweep": self.sweeps_done,
            "n_topics": int(state.totals[TOPICS]),
            "n_tables": int(state.totals[TABLES]),
            **parts._asdict(),
            "log_joint": parts.log_joint,
            "alpha": float(state.concentrations[ALPHA]),
            "gamma": float(state.concentrations[GAMMA]),
            "eta": float(state.concentrations[ETA]),
        }
        self.trace.append(numbers | {"seconds": time.perf_counter() - began}, infos)


def _random_topics(start: object) -> int:
    try:
        return whole_number("start", start, 1)
    except SettingsError:
        raise SettingsError(
            f"start={start!r}: give 'sequential', 'one', or a number of random topics"
        ) from None
