"""How many threads to use, and Ctrl-C while compiled code runs."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from franchise._settings import cores, whole_number
from franchise.errors import SettingsError


def threads(jobs: int | None, most: int) -> int:
    """Return how many threads to use: all cores for None or -1, never more than there is work for."""
    if jobs is None or jobs == -1:
        jobs = cores()
    try:
        return min(whole_number("n_jobs", jobs, 1), max(most, 1))
    except SettingsError:
        raise SettingsError(
            f"n_jobs={jobs!r}: give a number of threads, or None or -1 for all cores",
            code="not-a-whole-number",
        ) from None


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Hold back Ctrl-C until the end of the block.

    A KeyboardInterrupt while Numba hands over arguments or results would crash the interpreter, and one
    between two moves would leave a sweep half made.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # other threads are never interrupted
        return
    struck = []
    before = signal.signal(signal.SIGINT, lambda *_: struck.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if struck:
            signal.raise_signal(signal.SIGINT)
