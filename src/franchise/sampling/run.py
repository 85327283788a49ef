"""Several chains side by side: threads, checkpoints, Ctrl-C, a time budget.

Threads change how long a run takes and nothing else: a chain's random streams are its own. The chain that is
furthest behind goes next, so that a run that is stopped early leaves chains of nearly equal length.
"""

import heapq
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Literal, Protocol

from franchise._progress import Monitor
from franchise._threads import MOST_THREADS, threads
from franchise.engines import GPU
from franchise.engines.partitions.cuda.device import choice_of_gpu
from franchise.errors import ClusterError, GpuError, ModelError
from franchise.sampling.chain import Chain
from franchise.sampling.schedule import SHARED
from franchise.sampling.short_runs import prepare

Callback = Callable[[Chain], object]
Ending = Literal["complete", "interrupted", "out of time"]

_NOT_KEPT = (ModelError, ClusterError, GpuError)  # errors in keeping a chain, wherever it lives
_SECONDS_A_LOOK = 1.0
# Before a thread checks whether another chain is further behind. Chains of which only some work at a time may
# have to make room for each other, which takes a while: they have longer turns.
_SECONDS_A_TURN, _SECONDS_A_LONG_TURN = 0.25, 5.0
_SECONDS_TO_START = 1.0  # left by a time budget that ran out while starting topics were found


class Keeper(Protocol):
    """What keeps the chains of a run, so that they survive it (`storage.checkpoints`)."""

    def keeping(self, chains: Sequence[Chain]) -> AbstractContextManager[None]:
        """Make ready to keep these chains, for as long as the run lasts."""

    def save(self, chain: Chain, *, now: bool) -> None:
        """Keep a chain that is whole and has something new: now, or if it is time."""

    def save_runs(self, chain: Chain) -> None:
        """Keep the short runs that the start of a chain was found by."""


class _NoKeeper:
    def keeping(self, chains: Sequence[Chain]) -> AbstractContextManager[None]:
        return nullcontext()

    def save(self, chain: Chain, *, now: bool) -> None:
        """Keep nothing."""

    def save_runs(self, chain: Chain) -> None:
        """Keep nothing."""


def shares(jobs: int | None, chains: int, at_once: int | None = None) -> tuple[int, int]:
    """Return how many chains run side by side, and how many threads each has; neither changes a bit.

    Parameters
    ----------
    jobs
        Threads in all; -1 for all cores, None for one.
    chains
        How many there are.
    at_once
        How many may run side by side (`Engine.at_once`); None: any number.
    """
    workers = threads(jobs, chains if at_once is None else min(chains, at_once))
    return workers, threads(jobs, MOST_THREADS) // workers


def run_chains(
    chains: Sequence[Chain],
    *,
    jobs: int | None = -1,
    monitor: Monitor | None = None,
    callback: Callback | None = None,
    keeper: Keeper | None = None,
    time_budget: float | None = None,
    workers: object = None,
) -> Ending:
    """Let every chain make the sweeps that its schedule still has.

    Ctrl-C ends the run after the sweeps under way; it raises nothing. An error ends it too: it is raised
    again when every intact chain has been kept. Of one that was stopped inside a sweep, the last
    checkpoint stays.

    Parameters
    ----------
    chains
        The chains; they are changed in place.
    jobs
        Threads: -1 for all cores, None for one. Chains run side by side; what is left over is shared
        by the documents of each, where its engine can use it. Of an engine that shares something else, such
        as a GPU, only some run side by side, and have the threads of all.
    monitor
        What shows how far the run is.
    callback
        Called with a chain after its start and after each of its sweeps, one call at a time. An exception
        from it ends the run after the sweeps under way, and is raised again.
    keeper
        What keeps the chains now and then, and at the end; nothing by default.
    time_budget
        Seconds after which no new sweep is begun. Nor is a chain started that, to judge by the others, would
        not have started by then. Finding the topics to start from is not cut short.
    workers
        Those of a cluster, for chains whose documents they hold (`engines.pools.workers`).

    Returns
    -------
    str
        How the run ended: ``"complete"``, ``"interrupted"`` or ``"out of time"``.
    """
    limits = [chain.at_once for chain in chains if chain.at_once is not None]
    at_once, own_threads = shares(jobs, len(chains), min(limits, default=None))
    for chain in chains:
        chain.use_threads(own_threads)
        chain.keep_in(None)  # unless the keeper has a folder for it
        if workers is not None:
            chain.use_workers(workers)
    keeper = keeper or _NoKeeper()
    run = _Run(chains, monitor or Monitor(), callback, keeper, time_budget)
    # A second Ctrl-C must not cut off the saving.
    with keeper.keeping(chains), _interrupts_end(run):
        run.monitor.begin(chains)
        try:
            run.prepare(jobs)
            with ThreadPoolExecutor(at_once, "franchise", _chosen_gpu(chains)) as pool:
                futures = [pool.submit(run.work) for _ in range(at_once)]
                while wait(futures, _SECONDS_A_LOOK).not_done:
                    run.monitor.look()
            for future in futures:
                future.result()  # raises what went wrong in a thread
        except BaseException:
            with suppress(*_NOT_KEPT):  # the first error is the one to report
                run.save_all()
            raise
        else:
            run.save_all()
        finally:
            run.monitor.end()
    for chain in chains:
        chain.rest()
    return run.ending


def _chosen_gpu(chains: Sequence[Chain]) -> Callable[[], object] | None:
    """Return what a thread calls first, so that chains on a GPU are on the one that the caller has chosen."""
    return choice_of_gpu() if any(chain.engine_name == GPU for chain in chains) else None


@contextmanager
def _interrupts_end(run: "_Run") -> Iterator[None]:
    """Let Ctrl-C end the run instead of raising an exception somewhere in it."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: run.interrupt())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Run:
    """What the threads of a run share."""

    def __init__(
        self,
        chains: Sequence[Chain],
        monitor: Monitor,
        callback: Callback | None,
        keeper: Keeper,
        time_budget: float | None,
    ) -> None:
        self.monitor = monitor
        self.ending: Ending = "complete"
        self._chains, self._callback, self._keeper = chains, callback, keeper
        self._stop = threading.Event()
        self._deadline = None if time_budget is None else time.monotonic() + time_budget
        self._waiting = [(chain.sweeps_done, i, chain) for i, chain in enumerate(chains) if _is_open(chain)]
        heapq.heapify(self._waiting)
        self._longest_start = 0.0
        self._lock, self._callback_lock = threading.Lock(), threading.Lock()

    def prepare(self, jobs: int | None) -> None:
        """Find the topics that the chains start from together; that is part of the start, however long."""
        chains = [chain for _, _, chain in self._waiting if chain.init in SHARED]
        chains = [chain for chain in chains if not len(chain.trace) and chain.first_topics is None]
        if not chains:
            return
        together: dict[object, list[Chain]] = {}  # a run may have chains of several corpora
        for chain in chains:
            kind = id(chain.corpus), chain.priors, chain.seed, chain.init
            together.setdefault(kind, []).append(chain)
        for own in together.values():
            prepare(own, threads(jobs, MOST_THREADS), self._stop.is_set, self._tell)
        self._tell("")
        for chain in chains:
            self._keeper.save_runs(chain)
        if self._deadline is not None:  # so that at least one chain can start
            self._deadline = max(self._deadline, time.monotonic() + _SECONDS_TO_START)

    def _tell(self, what: str) -> None:
        self.monitor.preparing(what)
        self.monitor.look()

    def work(self) -> None:
        """Take the chain that is furthest behind, let it run for a while, and again, to the end."""
        try:
            while turn := self._next():
                _, i, chain = turn
                self._take_turn(chain)
                self._make_room(chain)
                if _is_open(chain):
                    with self._lock:
                        heapq.heappush(self._waiting, (chain.sweeps_done, i, chain))
                else:
                    self._keeper.save(chain, now=True)
        except BaseException:
            self._stop.set()
            raise

    def _make_room(self, chain: Chain) -> None:
        """Let a chain leave to those that wait for their turn what they may need."""
        if self._waiting:
            chain.rest()

    def interrupt(self) -> None:
        """Begin no new sweep."""
        if any(map(_is_open, self._chains)):  # not while a complete run is saved
            self.ending = "interrupted"
        self._stop.set()
        self.monitor.interrupted()

    def save_all(self) -> None:
        """Save what has not been saved yet; where one chain cannot be saved, the others are all the same."""
        errors = []
        for chain in self._chains:
            try:
                self._keeper.save(chain, now=True)
            except _NOT_KEPT as error:
                errors.append(error)
        if errors:
            raise errors[0]

    def _next(self) -> tuple[int, int, Chain] | None:
        with self._lock:
            while self._waiting and not self._must_end():
                turn = heapq.heappop(self._waiting)
                if len(turn[2].trace) or self._has_time_to_start():
                    return turn
                self.ending = "out of time"
            return None

    def _has_time_to_start(self) -> bool:
        """Return whether a chain can start before the time is out; a start takes longer than a sweep."""
        return self._deadline is None or time.monotonic() + self._longest_start <= self._deadline

    def _take_turn(self, chain: Chain) -> None:
        end = time.monotonic() + (_SECONDS_A_TURN if chain.at_once is None else _SECONDS_A_LONG_TURN)
        while _is_open(chain) and not self._must_end():
            is_new = not len(chain.trace)
            if not is_new:
                chain.sweep()
            else:
                began = time.monotonic()
                chain.start()
                self._longest_start = max(self._longest_start, time.monotonic() - began)
            self.monitor.swept(chain)
            # After a crash before the first checkpoint, the short runs would have to be made again.
            self._keeper.save(chain, now=is_new and chain.runs is not None)
            if self._callback:
                with self._callback_lock:
                    self._callback(chain)
            if time.monotonic() >= end:
                return

    def _must_end(self) -> bool:
        if self._deadline is not None and time.monotonic() >= self._deadline and not self._stop.is_set():
            self.ending = "out of time"
            self._stop.set()
        return self._stop.is_set()


def _is_open(chain: Chain) -> bool:
    return chain.sweeps_done < chain.schedule.sweeps or not len(chain.trace)
