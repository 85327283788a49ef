"""One bar for many short runs, such as those of a search: how far all of them are, and when it ends."""

import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any

from franchise.sampling.chain import Chain
from franchise.sampling.monitor import Monitor


class BarMonitor(Monitor):
    """Shows how many sweeps of all runs are made: a bar on a terminal, elsewhere only what is noted.

    Parameters
    ----------
    n_sweeps
        Sweeps of all chains of all runs.
    verbose
        0 for nothing at all.
    stream
        Where to show it; standard error by default.
    """

    def __init__(self, n_sweeps: int, verbose: int | bool = 1, stream: IO[str] | None = None) -> None:
        self._lock, self._bar = threading.Lock(), None
        if not verbose:
            return
        with suppress(Exception):
            self._bar, self._task = _new_bar(n_sweeps, stream or sys.stderr)

    def __enter__(self) -> "BarMonitor":
        with suppress(Exception):
            self._started().start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(Exception):
            bar = self._started()
            if not bar.disable:  # rich before 14.3 would write an empty line
                bar.stop()

    def begin(self, chains: Sequence[Chain]) -> None:
        """Take note of the next run."""

    def swept(self, chain: Chain) -> None:
        """Count a sweep; the start of a chain is none."""
        if chain.sweeps_done:
            with suppress(Exception), self._lock:
                self._started().advance(self._task)

    def interrupted(self) -> None:
        """Say that the run is about to end."""
        self.note("stopping after this sweep")

    def note(self, text: str) -> None:
        """Write a line that stays."""
        with suppress(Exception):
            bar = self._started()
            if bar.console.is_terminal or bar.console.is_jupyter:
                bar.console.print(text, highlight=False)
            else:  # no bar is drawn there, and lines are not to be broken
                print(text, file=bar.console.file, flush=True)

    def _started(self) -> Any:
        if self._bar is None:
            raise RuntimeError("nothing is shown")
        return self._bar


def _new_bar(n_sweeps: int, stream: IO[str]) -> tuple[Any, Any]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    console = Console(file=stream)
    shows = console.is_terminal or console.is_jupyter
    columns = TextColumn("fitting"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    bar = Progress(*columns, console=console, transient=True, disable=not shows)
    return bar, bar.add_task("fitting", total=n_sweeps)
