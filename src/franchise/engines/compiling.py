"""Compiling, which the first run after an installation does: on two cores, and seen by who waits for it.

Numba compiles one function at a time in a process. What takes longest, the split-merge trials, is needed
last in a sweep: so it is compiled by a process of its own, while this one reads, starts, and compiles the
rest. Machine code passes through Numba's cache on disk. Without a second process, or if it fails or hangs,
the trials are compiled here, like everything else.
"""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numba import typeof
from numba.core import event

from franchise._jit import is_cached
from franchise.corpus import Corpus
from franchise.model.state import empty_state
from franchise.moves.shared.anchors import CHOICE
from franchise.moves.shared.scratch import new_trial_scratch
from franchise.moves.single_trials import finish_choice, try_single
from franchise.moves.split_merge import RECORD, split_merge
from franchise.moves.table_topics import table_topics
from franchise.moves.word_tables import word_tables
from franchise.random import Key

FEW_WORDS = Corpus([0, 1, 0, 1], [0, 2, 4], ["a", "b"])
_LONGEST = (word_tables, table_topics, split_merge)
_TRIALS = {"collapsed": (split_merge,), "parallel": (try_single, finish_choice)}  # of each engine
_PATIENCE = 300.0  # seconds to wait for the other process, which takes half a minute on a core of its own
_COMPILE = "numba:compile"  # Numba's name for the event
_PROGRAM = (
    "import sys; sys.path.append(sys.argv[1]); from franchise.engines.compiling import compile_trials; "
)
_PROGRAM += "compile_trials(sys.argv[2])"

_process: "subprocess.Popen[bytes] | None" = None  # that compiles the trials
_lock = threading.Lock()


def is_compiled() -> bool:
    """Return whether the sampler has been compiled on this machine."""
    return all(is_cached(kernel) for kernel in _LONGEST)


@contextmanager
def trials_compiled_ahead(engine: str) -> Iterator[None]:
    """Let another process compile the trials of an engine meanwhile, unless that has been done."""
    global _process
    with _lock:
        if _process is None and not all(is_cached(move) for move in _TRIALS.get(engine, ())):
            _process = _started(engine)
    try:
        yield
    except BaseException:
        if _process is not None:
            _process.terminate()
        raise
    finally:
        wait_for_trials()


def wait_for_trials() -> None:
    """Wait for the process that compiles the trials, if it runs, up to a limit."""
    global _process
    if _process is None:
        return
    with _lock:
        if _process is not None:
            try:
                _process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:  # this process compiles them
                _process.kill()
            _process = None


def compile_trials(engine: str) -> None:
    """Compile the trials of an engine."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run that waits for this decides what Ctrl-C ends
    for move, types in types_of_trials(engine):
        move.compile(types)


def types_of_trials(engine: str) -> list[tuple[Any, tuple[Any, ...]]]:
    """Return the moves by which an engine makes trials, with the types of the arguments that it has."""
    corpus, log_gammas, proposals = FEW_WORDS.arrays, np.zeros(1), np.zeros((1, 5))
    state, trial = empty_state(corpus), new_trial_scratch(corpus.n_terms, 0, log_gammas, log_gammas)
    choice, record = np.zeros(len(CHOICE), np.int64), np.zeros(len(RECORD))
    arguments: dict[Any, tuple[Any, ...]] = {
        split_merge: (Key(0, 0, 0, 0), corpus, state, trial, proposals, record[None]),
        try_single: (state, trial, proposals, choice, record),
        finish_choice: (state, trial, choice),
    }
    return [(move, tuple(typeof(one) for one in arguments[move])) for move in _TRIALS[engine]]


class CompilingWatch(event.Listener):  # type: ignore[misc]
    """Knows whether something is being compiled, here or in the other process, and for how long."""

    def __init__(self) -> None:
        self._depth, self._began, self._last = 0, 0.0, 0.0

    @property
    def is_compiling(self) -> bool:
        """Whether something is being compiled now."""
        if self._depth > 0 or _process is not None:
            self._last = time.monotonic()
            return True
        return False

    @property
    def seconds(self) -> float:
        """Seconds from when it was first compiling to when it last was."""
        return self._last - self._began if self._began else 0.0

    def begin(self) -> None:
        """Watch from now on."""
        event.register(_COMPILE, self)

    def end(self) -> None:
        """Watch no more."""
        with suppress(ValueError):  # it did not begin
            event.unregister(_COMPILE, self)

    # Numba calls these from one thread at a time, the one that has the right to compile.
    def on_start(self, event: Any) -> None:
        """Take note that something is being compiled; within it, more may be."""
        self._last = time.monotonic()
        self._began = self._began or self._last
        self._depth += 1

    def on_end(self, event: Any) -> None:
        """Take note that it has been."""
        self._depth, self._last = self._depth - 1, time.monotonic()


def _started(engine: str) -> "subprocess.Popen[bytes] | None":
    """Return a process that compiles; None where none can be started."""
    is_python = Path(sys.executable or "").stem.lower().startswith("py") and not hasattr(sys, "frozen")
    if not is_python:  # but a program of its own, which would be started again
        return None
    package = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-P", "-c", _PROGRAM, str(package), engine]
    silent = subprocess.DEVNULL
    with suppress(OSError):
        return subprocess.Popen(command, stdin=silent, stdout=silent, stderr=silent)
    return None
