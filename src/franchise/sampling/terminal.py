"""Show a run to people: lines of a log, or a live table in a terminal or notebook.

An error in the display is not shown, and stops nothing.
"""

import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

from franchise.sampling.chain import Chain
from franchise.sampling.monitor import Monitor, Progress

if TYPE_CHECKING:
    from rich.console import Console

_PATIENCE = 2.0  # seconds that a run may last without being shown
_SECONDS_A_LINE = 10.0
_ENDING = "stopping after this sweep"
# Columns that a narrow terminal does without, the first first.
_DISPENSABLE = ("words/s", "merges", "splits", "joint/word", "phase", "left")


def monitor_for(verbose: int | bool, stream: IO[str] | None = None) -> Monitor:
    """Return the monitor for a stream (standard error): live on a terminal, lines elsewhere, 0 for none."""
    if not verbose:
        return Monitor()
    from rich.console import Console

    console = Console(file=stream or sys.stderr)
    return LiveMonitor(console) if console.is_terminal or console.is_jupyter else LogMonitor(console.file)


class _Showing(Monitor):
    """What both monitors that show something share: the chains, and when the run began."""

    def __init__(self) -> None:
        self._rows: dict[int, Progress] = {}
        self._begun = 0.0

    def begin(self, chains: Sequence[Chain]) -> None:
        """Take note that a run begins."""
        self._begun = time.monotonic()
        self._rows = {chain.number: Progress(chain) for chain in chains}


class LogMonitor(_Showing):
    """Writes one line per chain every few seconds, and when its phase changes."""

    def __init__(self, stream: IO[str], seconds: float = _SECONDS_A_LINE) -> None:
        super().__init__()
        self._stream, self._seconds = stream, seconds
        self._lock = threading.Lock()
        self._written: dict[int, tuple[str, float]] = {}

    def swept(self, chain: Chain) -> None:
        """Write how far the chain is, once the run has lasted a moment."""
        with suppress(Exception), self._lock:
            row, now = self._rows[chain.number], time.monotonic()
            phase, when = self._written.get(chain.number, ("", 0.0))
            if now - self._begun >= _PATIENCE and (row.phase != phase or now - when >= self._seconds):
                self._write(row)

    def interrupted(self) -> None:
        """Say that the run is about to end."""
        with suppress(Exception):
            print(_ENDING, file=self._stream, flush=True)

    def end(self) -> None:
        """Write where each chain ended, unless that was said."""
        with suppress(Exception):
            for number, row in self._rows.items():
                if number in self._written and self._written[number][0] != "done":
                    self._write(row)

    def _write(self, row: Progress) -> None:
        facts = row.facts
        line = [
            f"chain {facts.pop('chain')}",
            facts.pop("phase"),
            *(f"{name} {x}" for name, x in facts.items()),
        ]
        print("  ".join(line), file=self._stream, flush=True)
        self._written[row.chain.number] = row.phase, time.monotonic()


class LiveMonitor(_Showing):
    """Keeps a table on the terminal, one row per chain; it looks at the chains by itself."""

    def __init__(self, console: "Console") -> None:
        super().__init__()
        self._console = console
        self._live: Any = None
        self._note = ""

    def begin(self, chains: Sequence[Chain]) -> None:
        """Open the display, empty until the run has lasted a moment."""
        super().begin(chains)
        from rich.live import Live

        with suppress(Exception):
            self._live = Live(
                get_renderable=self._table, console=self._console, refresh_per_second=4, transient=True
            )
            self._live.start()

    def interrupted(self) -> None:
        """Say under the table that the run is about to end."""
        self._note = _ENDING

    def end(self) -> None:
        """Leave the table as it stands."""
        with suppress(Exception):
            self._live.stop()
            if time.monotonic() - self._begun >= _PATIENCE:
                self._console.print(self._table())

    def _table(self) -> Any:
        from rich.table import Table
        from rich.text import Text

        if time.monotonic() - self._begun < _PATIENCE:
            return Text("")
        facts = [row.facts for row in self._rows.values()]
        columns = _columns_that_fit(facts, self._console.width)
        note = self._note
        if not note and not any(row.has_swept for row in self._rows.values()):
            note = "the first run after installing compiles for about half a minute"
        table = Table(box=None, pad_edge=False, padding=(0, 1), caption=note or None, caption_justify="left")
        for name in columns:
            table.add_column(name, justify="left" if name in ("chain", "phase") else "right", no_wrap=True)
        for fact in facts:
            table.add_row(*(fact.get(name, "") for name in columns))
        return table


def _columns_that_fit(facts: list[dict[str, str]], width: int) -> list[str]:
    """Return the columns to show: all, or, where there is no room, those that matter most."""
    columns: list[str] = max((list(fact) for fact in facts), key=len)
    widths = {name: max(len(name), *(len(fact.get(name, "")) for fact in facts)) + 2 for name in columns}
    for name in _DISPENSABLE:
        if sum(widths[column] for column in columns) <= width:
            break
        if name in columns:
            columns.remove(name)
    return columns
