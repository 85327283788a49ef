"""Progress of everything that takes time: the chains of a run, or a bar for other work.

It is written to standard error. An error in the display is not shown and stops nothing; Ctrl-C passes
through. Chains are shown live on a terminal and in a notebook, and elsewhere as lines of a log; bars only on
a terminal.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from contextvars import ContextVar
from datetime import timedelta
from typing import IO, TYPE_CHECKING, Any, Self

from franchise import _html as html

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from franchise.sampling import Chain

_PATIENCE = 2.0  # seconds without display at the beginning
_SECONDS_A_LINE = 10.0
_LONG_SWEEP = 2.0  # seconds
_START, _COMPILER = -1, -2  # in place of the number of a chain
_ENDING = "stopping after this sweep"
_COMPILING = "compiling the sampler (first run only, about half a minute)"
# Columns that a narrow terminal omits, in this order.
_DISPENSABLE = ("words/s", "merges", "splits", "joint/word", "phase", "left")

_around: ContextVar[Bar | None] = ContextVar("bar around the work", default=None)


def advance(steps: int = 1) -> None:
    """Count steps as done on the surrounding bar, if any."""
    if (bar := _around.get()) is not None:
        bar.advance(steps)


class Monitor:
    """Watches a run in silence; subclasses show it."""

    def begin(self, chains: Sequence[Chain]) -> None:
        """Note that a run begins."""

    def swept(self, chain: Chain) -> None:
        """Note that a chain has started, or made a sweep. Called from several threads."""

    def preparing(self, what: str) -> None:
        """Note what is done before the chains start; "" when it is done."""

    def look(self) -> None:
        """Show the progress. Called about every second, by the thread that waits for the run."""

    def interrupted(self) -> None:
        """Note that the user wants the run to end."""

    def end(self) -> None:
        """Note that the run has ended."""


class Bar(Monitor):
    """A bar on a terminal, once the work has lasted a moment; elsewhere only notes are written.

    It can also watch runs: then its steps are sweeps. `total` is the number of steps, None if unknown;
    nothing is shown if `verbose` is 0.
    """

    def __init__(
        self,
        what: str,
        total: float | None = None,
        *,
        in_bytes: bool = False,
        verbose: int | bool = 1,
        stream: IO[str] | None = None,
    ) -> None:
        self._bar: Any = None
        self._began, self._lock = time.monotonic(), threading.Lock()
        if not verbose:
            return
        with suppress(Exception):
            from rich import progress
            from rich.console import Console

            console = Console(file=stream or sys.stderr)
            self._bar = progress.Progress(
                progress.TextColumn("{task.description}"),
                progress.BarColumn(bar_width=None if in_bytes else 40),
                progress.DownloadColumn() if in_bytes else progress.TaskProgressColumn(),
                progress.TimeRemainingColumn(),
                console=console,
                transient=True,
                redirect_stdout=False,  # otherwise printed text would go to standard error
                disable=not (console.is_terminal or console.is_jupyter),
            )
            self._task = self._bar.add_task(what, total=total)

    def __enter__(self) -> Self:
        self._token = _around.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        _around.reset(self._token)
        with suppress(Exception):
            if self._bar.live.is_started:
                self._bar.stop()

    def advance(self, steps: int = 1) -> None:
        """Count steps as done; any thread may call this."""
        with suppress(Exception):
            self._bar.advance(self._task, steps)
            self._show_if_due()

    def update(self, done: float | None, total: float | None, what: str) -> None:
        """Set what is being done, and how much of it; None leaves a number unchanged."""
        with suppress(Exception):
            self._bar.update(self._task, completed=done, total=total, description=what)
            self._show_if_due()

    def _show_if_due(self) -> None:
        with self._lock:
            if not self._bar.live.is_started and time.monotonic() - self._began > _PATIENCE:
                self._bar.start()

    def swept(self, chain: Chain) -> None:
        """Count a sweep; the start of a chain does not count."""
        if chain.sweeps_done:
            self.advance()

    def interrupted(self) -> None:
        """Show that the run is about to end."""
        self.note(_ENDING)

    def note(self, text: str) -> None:
        """Write a line that stays."""
        with suppress(Exception):
            if not self._bar.disable:
                self._bar.console.print(text, highlight=False)
            else:  # lines are not broken
                print(text, file=self._bar.console.file, flush=True)


def monitor_for(verbose: int | bool, stream: IO[str] | None = None, heading: str = "") -> Monitor:
    """Return a monitor that shows a heading and then a run: live, or as lines of a log."""
    if not verbose:
        return Monitor()
    from rich.console import Console

    console = Console(file=stream or sys.stderr)
    if console.is_jupyter and stream is None:
        return NotebookMonitor(heading)
    return LiveMonitor(console, heading) if console.is_terminal else LogMonitor(console.file, heading=heading)


class Progress:
    """The progress of one chain, in readable numbers."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.begun, self.first_sweep = time.monotonic(), chain.sweeps_done
        self._kinds: Counter[str] = Counter()  # of the events counted so far

    @property
    def phase(self) -> str:
        """What the chain is doing."""
        done, schedule = self.chain.sweeps_done, self.chain.schedule
        if not len(self.chain.trace):
            return "starting"
        return "done" if done >= schedule.sweeps else "burn-in" if done < schedule.burn_in else "sampling"

    @property
    def facts(self) -> dict[str, str]:
        """Names and texts of columns to show."""
        chain, n_words = self.chain, self.chain.corpus.n_words
        facts = {"chain": str(chain.number), "phase": self.phase}
        if not len(chain.trace):
            self.begun = time.monotonic()  # exclude the time before the start
            return facts
        last = chain.trace.last
        # A long run has very many events: count each only once.
        self._kinds.update(event.kind for event in chain.events[self._kinds.total() :])
        return facts | {
            "sweep": f"{self._sweeps}/{chain.schedule.sweeps}",
            "topics": str(last["n_topics"]),
            "joint/word": f"{last['log_joint'] / n_words:.4f}",
            "splits": str(self._kinds["split"]),
            "merges": str(self._kinds["merged"]),
            "words/s": _short(n_words / last["seconds"] if last["seconds"] > 0 else 0.0),
            "left": self._left(),
        }

    @property
    def _sweeps(self) -> str:
        """The completed sweeps, with a fraction of the present one if sweeps take seconds."""
        done, part = self.chain.sweeps_done, self.chain.progress  # 0 if the engine does not know
        is_long = part and self.phase != "done" and self.chain.trace.last["seconds"] >= _LONG_SWEEP
        return f"{done + min(part, 0.9):.1f}" if is_long else str(done)

    def _left(self) -> str:
        done = self.chain.sweeps_done - self.first_sweep
        to_go = self.chain.schedule.sweeps - self.chain.sweeps_done
        if to_go > 0 and done <= 1:  # the first sweep may include compiling
            return "?"
        seconds = (time.monotonic() - self.begun) / done * to_go if to_go > 0 else 0
        return str(timedelta(seconds=round(seconds))).removeprefix("0:").removeprefix("0")


def _short(number: float) -> str:
    power = min(int(math.log10(max(number, 1.0))) // 3, 2)
    return f"{number / 1000**power:.2f}{' kM'[power]}" if power else f"{number:.0f}"


class _Showing(Monitor):
    """Base of monitors that show something: it holds the chains, and the time when the run began."""

    def __init__(self, heading: str = "") -> None:
        from franchise.engines.compiling import CompilingWatch

        self._heading, self._note, self._preparing = heading, "", ""
        self._rows: dict[int, Progress] = {}
        self._begun = 0.0
        self._compiling = CompilingWatch()

    def begin(self, chains: Sequence[Chain]) -> None:
        self._begun = time.monotonic()
        self._rows = {chain.number: Progress(chain) for chain in chains}
        self._compiling.begin()

    def preparing(self, what: str) -> None:
        self._preparing = what

    def interrupted(self) -> None:
        self._note = _ENDING  # shown with the next update, as one may be in progress

    def end(self) -> None:
        self._compiling.end()

    def _lasts(self, seconds: float) -> bool:
        return time.monotonic() - self._begun >= seconds

    def _shown(self) -> tuple[list[dict[str, str]], list[str], str]:
        """Return the facts of each chain, the columns of their table, and a note below it."""
        facts = [row.facts for row in self._rows.values()]
        note = self._note
        if not note and self._compiling.is_compiling:
            note = f"{_COMPILING}: {self._compiling.seconds:.0f} s"
        if not note and all(row.phase == "starting" for row in self._rows.values()):
            note = self._preparing
        return facts, [*max(facts, key=len)], note


class LogMonitor(_Showing):
    """Writes one line per chain every few seconds, and when its phase changes."""

    def __init__(self, stream: IO[str], seconds: float = _SECONDS_A_LINE, heading: str = "") -> None:
        super().__init__(heading)
        self._stream, self._seconds, self._lock = stream, seconds, threading.Lock()
        self._written: dict[int, tuple[str, float]] = {}  # phase and time of the last line, by chain

    def swept(self, chain: Chain) -> None:
        """Write the chain's progress, once the run has lasted a moment."""
        with suppress(Exception), self._lock:
            row = self._rows[chain.number]
            if not chain.sweeps_done:
                row.begun = time.monotonic()
            if self._last(_COMPILER) == "compiling" and chain.sweeps_done > row.first_sweep:
                self._write(_COMPILER, "compiled", f"compiled in {self._compiling.seconds:.0f} s")
            self._write_if_due(row.chain.number, row.phase, row)

    def look(self) -> None:
        """Write the progress of chains that take long to start, or for a sweep, and of compilation."""
        with suppress(Exception), self._lock:
            watch = self._compiling
            if _COMPILER not in self._written and watch.is_compiling and watch.seconds >= _PATIENCE:
                self._write(_COMPILER, "compiling", _COMPILING)
            if self._preparing:
                self._write_if_due(_START, "", self._preparing)
            elif self._last(_COMPILER) != "compiling" and self._lasts(self._seconds):
                for row in self._rows.values():
                    if row.phase != "done":
                        self._write_if_due(row.chain.number, row.phase, row)

    def interrupted(self) -> None:
        """Write that the run is about to end."""
        with suppress(Exception):
            print(_ENDING, file=self._stream, flush=True)

    def end(self) -> None:
        """Write the final state of each chain, unless it has been written."""
        super().end()
        with suppress(Exception):
            for number, row in self._rows.items():
                if self._last(number) not in ("", "done"):
                    self._write(number, row.phase, row)

    def _last(self, number: int) -> str:
        return self._written.get(number, ("", 0.0))[0]

    def _write_if_due(self, number: int, phase: str, what: Progress | str) -> None:
        before, when = self._written.get(number, ("", -math.inf))
        if self._lasts(_PATIENCE) and (phase != before or time.monotonic() - when >= self._seconds):
            self._write(number, phase, what)

    def _write(self, number: int, phase: str, what: Progress | str) -> None:
        if isinstance(what, Progress):
            (_, chain), (_, doing), *facts = what.facts.items()
            what = "  ".join([f"chain {chain}", doing, *(f"{name} {x}" for name, x in facts)])
        print(*filter(None, [self._heading, what]), sep="\n", file=self._stream, flush=True)
        self._heading, self._written[number] = "", (phase, time.monotonic())


class LiveMonitor(_Showing):
    """Shows a table on the terminal, one row per chain, and updates it by itself."""

    _live: Any = None

    def __init__(self, console: Console, heading: str = "") -> None:
        super().__init__(heading)
        self._console = console

    def begin(self, chains: Sequence[Chain]) -> None:
        """Open the display, empty until the run has lasted a moment."""
        super().begin(chains)
        with suppress(Exception):
            from rich.live import Live

            self._live = Live(get_renderable=self._table, console=self._console, transient=True)
            self._live.start()

    def end(self) -> None:
        """Leave the table as it is."""
        super().end()
        with suppress(Exception):
            self._live.stop()
            if self._lasts(_PATIENCE):
                self._console.print(self._table())

    def _table(self) -> Any:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        if not self._lasts(_PATIENCE):
            return Text("")
        facts, columns, note = self._shown()
        widths = {name: max(len(name), *(len(fact.get(name, "")) for fact in facts)) + 2 for name in columns}
        for name in _DISPENSABLE:
            if sum(widths[column] for column in columns) > self._console.width:
                columns = [column for column in columns if column != name]
        table = Table(box=None, pad_edge=False, padding=(0, 1))
        for name in columns:
            table.add_column(name, justify="left" if name in ("chain", "phase") else "right", no_wrap=True)
        for fact in facts:
            table.add_row(*(fact.get(name, "") for name in columns))
        # Rich would make a title or caption as narrow as the table.
        above = [Text(self._heading)] if self._heading else []
        return Group(*above, table, *([Text(note, style="italic")] if note else []))


class NotebookMonitor(_Showing):
    """Shows one table below the cell of a notebook and updates it in place; it needs no widgets."""

    _handle: Any = None

    def begin(self, chains: Sequence[Chain]) -> None:
        """Open the display below the cell, empty until the run has lasted a moment."""
        super().begin(chains)
        with suppress(Exception):
            from IPython.display import HTML, display

            # Created here, because the threads of chains do not know their cell.
            self._handle = display(HTML(""), display_id=True)

    def look(self) -> None:
        """Show the progress, once the run has lasted a moment."""
        with suppress(Exception):
            if self._lasts(_PATIENCE):
                self._show()

    def end(self) -> None:
        """Leave the table as it is."""
        super().end()
        self.look()

    def _show(self) -> None:
        from IPython.display import HTML

        facts, columns, note = self._shown()
        rows = [[fact.get(name, "") for name in columns] for fact in facts]
        above, below = ([html.line(text, soft=True)] if text else [] for text in (self._heading, note))
        self._handle.update(HTML(html.block(*above, html.table(columns, rows), *below)))
