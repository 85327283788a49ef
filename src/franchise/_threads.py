"""The number of threads to use, and Ctrl-C while compiled code runs."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from franchise._settings import cores, whole_number
from franchise.errors import SettingsError

MOST_THREADS = 1024  # more never help


def threads(jobs: int | None, most: int) -> int:
    """Return the number of threads that `n_jobs` requests, at most the number of tasks.

    As in scikit-learn, None is 1, or the setting of a surrounding `joblib.parallel_config`; -1 is all cores,
    -2 all but one.
    """
    if jobs is None:
        from joblib import effective_n_jobs

        return min(int(effective_n_jobs(None)), max(most, 1))
    try:
        number = whole_number("n_jobs", jobs, -(2**31))
        if number == 0:
            raise SettingsError("no threads at all", code="not-a-whole-number")
    except SettingsError:
        raise SettingsError(
            f"n_jobs={jobs!r}: give a number of threads, -1 for all cores, or None for one",
            code="not-a-whole-number",
        ) from None
    if number < 0:
        number = max(1, cores() + 1 + number)  # outside: its error is about the environment
    return min(number, max(most, 1))


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Hold back Ctrl-C until the end of the block.

    A KeyboardInterrupt while Numba converts arguments or results would crash the interpreter, and one between
    two moves would leave a sweep incomplete.
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
