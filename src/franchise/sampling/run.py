"""Several chains side by side: threads, checkpoints, Ctrl-C, a time budget.

The number of threads changes only how long a run takes: each chain has its own random streams. The chain that
is furthest behind goes next, so a run that is stopped early leaves chains of nearly equal length.
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

_NOT_KEPT = (ModelError, ClusterError, GpuError)  # errors when saving a chain, wherever it is
_SECONDS_A_LOOK = 1.0
# Time before a thread checks whether another chain is further behind. If only some chains can work at a time,
# they must make room for each other, which takes a while, so they have longer turns.
_SECONDS_A_TURN, _SECONDS_A_LONG_TURN = 0.25, 5.0
_SECONDS_TO_START = 1.0  # granted if the time budget ran out during the search for starting topics


class Keeper(Protocol):
    """Saves the chains of a run, so that they outlive it (`storage.checkpoints`)."""

    def keeping(self, chains: Sequence[Chain]) -> AbstractContextManager[None]:
        """Prepare to save these chains while the run lasts."""

    def save(self, chain: Chain, *, now: bool) -> None:
        """Save a chain that is whole and has something new: now, or if it is time."""

    def save_runs(self, chain: Chain) -> None:
        """Save the short runs that found the start of a chain."""


class _NoKeeper:
    def keeping(self, chains: Sequence[Chain]) -> AbstractContextManager[None]:
        return nullcontext()

    def save(self, chain: Chain, *, now: bool) -> None:
        """Keep nothing."""

    def save_runs(self, chain: Chain) -> None:
        """Keep nothing."""


def shares(jobs: int | None, chains: int, at_once: int | None = None) -> tuple[int, int]:
    """Return the number of chains that run side by side, and the threads of each. Results do not change.

    Parameters
    ----------
    jobs
        Threads in all; -1 for all cores, None for one.
    chains
        Number of chains.
    at_once
        The most chains that may run side by side (`Engine.at_once`); None for no limit.
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
    """Make the remaining sweeps of every chain.

    Ctrl-C ends the run after the current sweeps and raises nothing. An error also ends the run; it is raised
    after every intact chain has been saved. A chain that was stopped inside a sweep keeps its last
    checkpoint.

    Parameters
    ----------
    chains
        The chains. They are changed in place.
    jobs
        Threads: -1 for all cores, None for one. Chains run side by side. If there are more threads than
        chains, each chain uses several, if its engine can. If chains share something scarce, such as a GPU,
        only some run side by side and share all threads.
    monitor
        Shows the progress of the run.
    callback
        Called with a chain after its start and after each of its sweeps, one call at a time. An exception
        in it ends the run after the current sweeps, and is raised again.
    keeper
        Saves the chains at intervals and at the end; by default, nothing is saved.
    time_budget
        Seconds after which no new sweep begins. A chain is not started if, judging by the other chains, it
        could not start in time. The search for topics to start from is not cut short.
    workers
        The workers of a cluster, for chains whose documents they hold (`engines.pools.workers`).

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
    # A second Ctrl-C must not interrupt saving.
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
    """Return a function for each thread to call first: it selects the caller's GPU for chains on a GPU."""
    return choice_of_gpu() if any(chain.engine_name == GPU for chain in chains) else None


@contextmanager
def _interrupts_end(run: "_Run") -> Iterator[None]:
    """Let Ctrl-C end the run instead of raising an exception."""
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
    """The state that the threads of a run share."""

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
        """Find the topics that chains share as a start. The time budget does not cut this short."""
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
        """Run the chain that is furthest behind for a while, again and again until the run ends."""
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
        """Let a chain release shared resources, if other chains wait for their turn."""
        if self._waiting:
            chain.rest()

    def interrupt(self) -> None:
        """Begin no new sweep."""
        if any(map(_is_open, self._chains)):  # not while a complete run is being saved
            self.ending = "interrupted"
        self._stop.set()
        self.monitor.interrupted()

    def save_all(self) -> None:
        """Save every chain with something new, even if one of them cannot be saved."""
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
        """Return whether a chain can start before the time is up. A start takes longer than a sweep."""
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
