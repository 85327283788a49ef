"""Whether the sampler is compiled, as the first run after an installation does, and how long that takes."""

import time
from contextlib import suppress
from typing import Any

from numba.core import event

from franchise._jit import is_cached
from franchise.corpus import Corpus
from franchise.moves.split_merge import try_splits_and_merges
from franchise.moves.table_topics import table_topics
from franchise.moves.word_tables import word_tables

FEW_WORDS = Corpus([0, 1, 0, 1], [0, 2, 4], ["a", "b"])
_LONGEST = (word_tables, table_topics, try_splits_and_merges)
_COMPILE = "numba:compile"  # Numba's name for the event


def is_compiled() -> bool:
    """Return whether the sampler has been compiled on this machine."""
    return all(is_cached(kernel) for kernel in _LONGEST)


class CompilingWatch(event.Listener):  # type: ignore[misc]
    """Measures whether and how long Numba compiles."""

    def __init__(self) -> None:
        self._depth, self._began, self._last = 0, 0.0, 0.0

    @property
    def is_compiling(self) -> bool:
        """Whether something is being compiled now."""
        if self._depth > 0:
            self._last = time.monotonic()
            return True
        return False

    @property
    def seconds(self) -> float:
        """Seconds from the beginning of the first compilation to the end of the last."""
        return self._last - self._began if self._began else 0.0

    def begin(self) -> None:
        """Start watching."""
        event.register(_COMPILE, self)

    def end(self) -> None:
        """Stop watching."""
        with suppress(ValueError):  # it was not started
            event.unregister(_COMPILE, self)

    # Numba calls these from one thread at a time, the one that holds the compiler lock.
    def on_start(self, event: Any) -> None:
        """Note that a compilation begins; it may contain others."""
        self._last = time.monotonic()
        self._began = self._began or self._last
        self._depth += 1

    def on_end(self, event: Any) -> None:
        """Note that a compilation ends."""
        self._depth, self._last = self._depth - 1, time.monotonic()
