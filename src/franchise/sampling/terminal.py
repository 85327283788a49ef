"""Show a run to people: lines of a log, or a live table in a terminal or notebook.

An error in the display is not shown, and stops nothing.
"""

import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

from franchise import _html as html
from franchise.engines.compiling import CompilingWatch
from franchise.sampling.chain import Chain
from franchise.sampling.monitor import Monitor, Progress

if TYPE_CHECKING:
    from rich.console import Console

_PATIENCE = 2.0  # seconds that a run may last without being shown
_SECONDS_A_LINE = 10.0
_SECONDS_A_LOOK = 1.0  # between two looks of a notebook
_START = -1  # stands for what is done before chains start, where they have numbers
_ENDING = "stopping after this sweep"
_COMPILING = "compiling the sampler (first run only, about half a minute)"
# Columns that a narrow terminal does without, the first first.
_DISPENSABLE = ("words/s", "merges", "splits", "joint/word", "phase", "left")


def monitor_for(verbose: int | bool, stream: IO[str] | None = None, heading: str = "") -> Monitor:
    """Return the monitor for a stream (standard error): live on a terminal or in a notebook, else lines.

    It shows the heading, if there is one, before everything else.
    """
    if not verbose:
        return Monitor()
    from rich.console import Console

    console = Console(file=stream or sys.stderr)
    if console.is_jupyter and stream is None:
        return NotebookMonitor(heading)
    return LiveMonitor(console, heading) if console.is_terminal else LogMonitor(console.file, heading=heading)


class _Showing(Monitor):
    """What monitors that show something share: the chains, and when the run began."""

    def __init__(self, heading: str = "") -> None:
        self._heading = heading
        self._rows: dict[int, Progress] = {}
        self._begun = 0.0
        self._note = self._preparing = ""
        self._compiling = CompilingWatch()

    def begin(self, chains: Sequence[Chain]) -> None:
        """Take note that a run begins."""
        self._begun = time.monotonic()
        self._rows = {chain.number: Progress(chain) for chain in chains}
        self._compiling.begin()

    def preparing(self, what: str) -> None:
        """Take note of what is done before the chains start; "" if it is done."""
        self._preparing = what

    def end(self) -> None:
        """Take note that the run has ended."""
        self._compiling.end()

    def _shown(self) -> tuple[list[dict[str, str]], list[str], str]:
        """Return the facts of each chain, the columns of a table of these, and what to say below it."""
        facts = [row.facts for row in self._rows.values()]
        note = self._note
        if not note and self._compiling.is_compiling:
            note = f"{_COMPILING}: {self._compiling.seconds:.0f} s"
        if not note and all(row.phase == "starting" for row in self._rows.values()):
            note = self._preparing
        return facts, [*max(facts, key=lambda fact: len(fact))], note


class LogMonitor(_Showing):
    """Writes one line per chain every few seconds, and when its phase changes."""

    def __init__(self, stream: IO[str], seconds: float = _SECONDS_A_LINE, heading: str = "") -> None:
        super().__init__(heading)
        self._stream, self._seconds = stream, seconds
        self._lock = threading.Lock()
        self._written: dict[int, tuple[str, float]] = {}
        self._told: list[str] = []  # of compiling

    def swept(self, chain: Chain) -> None:
        """Write how far the chain is, once the run has lasted a moment."""
        with suppress(Exception), self._lock:
            if not chain.sweeps_done:
                self._rows[chain.number].begin()
            if len(self._told) == 1 and self._rows[chain.number].has_swept:
                self._tell(f"compiled in {self._compiling.seconds:.0f} s")
            self._write_if_due(self._rows[chain.number])

    def preparing(self, what: str) -> None:
        """Write what is done before the chains start, every few seconds."""
        super().preparing(what)
        now = time.monotonic()
        with suppress(Exception), self._lock:
            _, when = self._written.get(_START, ("", 0.0))
            if what and now - self._begun >= _PATIENCE and now - when >= self._seconds:
                self._written[_START] = what, now
                self._print(what)

    def look(self) -> None:
        """Write how far chains are that take long to start, or for a sweep, and whether they compile."""
        with suppress(Exception), self._lock:
            if not self._told and self._compiling.is_compiling and self._compiling.seconds >= _PATIENCE:
                self._tell(_COMPILING)
            if len(self._told) == 1 or self._preparing:
                return  # no chain gets anywhere meanwhile
            for row in self._rows.values():
                if row.phase != "done" and time.monotonic() - self._begun >= self._seconds:
                    self._write_if_due(row)

    def _tell(self, what: str) -> None:
        self._print(what)
        self._told.append(what)

    def _print(self, line: str) -> None:
        if self._heading:
            print(self._heading, file=self._stream, flush=True)
            self._heading = ""
        print(line, file=self._stream, flush=True)

    def _write_if_due(self, row: Progress) -> None:
        now = time.monotonic()
        phase, when = self._written.get(row.chain.number, ("", 0.0))
        if now - self._begun >= _PATIENCE and (row.phase != phase or now - when >= self._seconds):
            self._write(row)

    def interrupted(self) -> None:
        """Say that the run is about to end."""
        with suppress(Exception):
            print(_ENDING, file=self._stream, flush=True)

    def end(self) -> None:
        """Write where each chain ended, unless that was said."""
        super().end()
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
        self._print("  ".join(line))
        self._written[row.chain.number] = row.phase, time.monotonic()


class LiveMonitor(_Showing):
    """Keeps a table on the terminal, one row per chain; it looks at the chains by itself."""

    def __init__(self, console: "Console", heading: str = "") -> None:
        super().__init__(heading)
        self._console = console
        self._live: Any = None

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
        super().end()
        with suppress(Exception):
            self._live.stop()
            if time.monotonic() - self._begun >= _PATIENCE:
                self._console.print(self._table())

    def _table(self) -> Any:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        if time.monotonic() - self._begun < _PATIENCE:
            return Text("")
        facts, columns, note = self._shown()
        columns = _columns_that_fit(facts, columns, self._console.width)
        table = Table(box=None, pad_edge=False, padding=(0, 1))
        for name in columns:
            table.add_column(name, justify="left" if name in ("chain", "phase") else "right", no_wrap=True)
        for fact in facts:
            table.add_row(*(fact.get(name, "") for name in columns))
        # A title and a caption of the table would be as narrow as the table.
        above = [Text(self._heading)] if self._heading else []
        return Group(*above, table, *([Text(note, style="italic")] if note else []))


class NotebookMonitor(_Showing):
    """Keeps one table below the cell of a notebook, one row per chain, and changes it in its place.

    It needs no widgets, and leaves one output, however long the run is.
    """

    def __init__(self, heading: str = "") -> None:
        super().__init__(heading)
        self._lock = threading.Lock()
        self._looked = 0.0
        self._handle: Any = None

    def begin(self, chains: Sequence[Chain]) -> None:
        """Take a place below the cell, empty until the run has lasted a moment."""
        super().begin(chains)
        with suppress(Exception):
            from IPython.display import HTML, display

            # From here: the threads of the chains do not know which cell they belong to.
            self._handle = display(HTML(""), display_id=True)

    def look(self) -> None:
        """Show how far the chains are, once the run has lasted a moment."""
        self._show_if_due()

    def swept(self, chain: Chain) -> None:
        """Show how far the chains are, once the run has lasted a moment, and about every second then."""
        self._show_if_due()

    def _show_if_due(self) -> None:
        with suppress(Exception), self._lock:
            now = time.monotonic()
            if now - self._begun >= _PATIENCE and now - self._looked >= _SECONDS_A_LOOK:
                self._looked = now
                self._show()

    def interrupted(self) -> None:
        """Say under the table that the run is about to end, at the next look.

        Not now: Ctrl-C comes in the middle of anything, perhaps of a look, which holds the lock.
        """
        self._note = _ENDING

    def end(self) -> None:
        """Leave the table as it stands, if there is one."""
        super().end()
        with suppress(Exception), self._lock:
            if self._looked:
                self._show()

    def _show(self) -> None:
        from IPython.display import HTML

        facts, columns, note = self._shown()
        rows = [[fact.get(name, "") for name in columns] for fact in facts]
        above, below = ([html.line(text, soft=True)] if text else [] for text in (self._heading, note))
        self._handle.update(HTML(html.block(*above, html.table(columns, rows), *below)))


def _columns_that_fit(facts: list[dict[str, str]], columns: list[str], width: int) -> list[str]:
    """Return the columns to show: all, or, where there is no room, those that matter most."""
    columns = list(columns)
    widths = {name: max(len(name), *(len(fact.get(name, "")) for fact in facts)) + 2 for name in columns}
    for name in _DISPENSABLE:
        if sum(widths[column] for column in columns) <= width:
            break
        if name in columns:
            columns.remove(name)
    return columns
