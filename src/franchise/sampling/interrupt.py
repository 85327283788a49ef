"""Let Ctrl-C take effect between sweeps, never inside one."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


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
