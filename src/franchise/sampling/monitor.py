"""What watches a run: nothing, lines of a log, or a live table in a terminal.

A monitor is told of every sweep and can never stop a run: what goes wrong in showing is not shown.
"""

import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

from franchise.sampling.chain import Chain

if TYPE_CHECKING:
    from rich.console import Console

_PATIENCE = 2.0  # seconds that a run may last without being shown
_SECONDS_A_LINE = 10.0
_ENDING = "ending after this sweep"


class Monitor:
    """Watches in silence; the others differ in what they show."""

    def begin(self, chains: Sequence[Chain]) -> None:
        """Take note that a run begins."""

    def swept(self, chain: Chain) -> None:
        """Take note that a chain has started, or made a sweep. Called from several threads."""

    def interrupted(self) -> None:
        """Take note that the user wants the run to end."""

    def end(self) -> None:
        """Take note that the run has ended."""


def monitor_for(verbose: int | bool, stream: IO[str] | None = None) -> Monitor:
    """Return the monitor for a stream (standard error): live on a terminal, lines elsewhere, 0 for none."""
    if not verbose:
        return Monitor()
    from rich.console import Console

    console = Console(file=stream or sys.stderr)
    return LiveMonitor(console) if console.is_terminal or console.is_jupyter else LogMonitor(console.file)


class Progress:
    """How far one chain of a run is, in numbers for people."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self._begun, self._first = time.monotonic(), chain.sweeps_done
        self._kinds: Counter[str] = Counter()  # of the events counted so far

    @property
    def phase(self) -> str:
        """What the chain is doing."""
        chain = self.chain
        if not len(chain.trace):
            return "starting"
        if chain.sweeps_done >= chain.schedule.sweeps:
            return "done"
        return "burn-in" if chain.sweeps_done < chain.schedule.burn_in else "sampling"

    @property
    def has_swept(self) -> bool:
        """Whether a sweep of this run is behind the chain, and so all compiling."""
        return self.chain.sweeps_done > self._first

    @property
    def facts(self) -> dict[str, str]:
        """What to show: name of the column, and text."""
        chain, n_words = self.chain, self.chain.corpus.n_words
        facts = {"chain": str(chain.number), "phase": self.phase}
        if not len(chain.trace):
            return facts
        last = chain.trace.last
        # A long run has very many events: each is looked at once.
        self._kinds.update(event.kind for event in chain.events[self._kinds.total() :])
        speed = n_words / last["seconds"] if last["seconds"] > 0 else 0.0
        return facts | {
            "sweep": f"{chain.sweeps_done}/{chain.schedule.sweeps}",
            "topics": str(last["n_topics"]),
            "joint/word": f"{last['log_joint'] / n_words:.4f}",
            "splits": str(self._kinds["split"]),
            "merges": str(self._kinds["merged"]),
            "words/s": _short(speed),
            "left": self._left(),
        }

    def _left(self) -> str:
        done = self.chain.sweeps_done - self._first
        to_go = self.chain.schedule.sweeps - self.chain.sweeps_done
        if to_go <= 0:
            return "0:00"
        if done <= 1:  # the first sweep may have been compiling
            return "?"
        seconds = round((time.monotonic() - self._begun) / done * to_go)
        hours, minutes = seconds // 3600, seconds // 60 % 60
        return f"{hours}:{minutes:02d}:{seconds % 60:02d}" if hours else f"{minutes}:{seconds % 60:02d}"


class _Showing(Monitor):
    """What the two that show something share: the chains, and since when."""

    def __init__(self) -> None:
        self._rows: dict[int, Progress] = {}
        self._begun = 0.0

    def begin(self, chains: Sequence[Chain]) -> None:
        """Take note that a run begins."""
        self._begun = time.monotonic()
        self._rows = {chain.number: Progress(chain) for chain in chains}


class LogMonitor(_Showing):
    """Writes a line a chain every few seconds, and when its phase changes."""

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
    """Keeps a table on the terminal, one row a chain; it looks at the chains by itself."""

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
        columns = max(facts, key=len)
        note = self._note
        if not note and not any(row.has_swept for row in self._rows.values()):
            note = "the first run after installing compiles for about half a minute"
        table = Table(box=None, pad_edge=False, padding=(0, 1), caption=note or None, caption_justify="left")
        for name in columns:
            table.add_column(name, justify="left" if name in ("chain", "phase") else "right", no_wrap=True)
        for fact in facts:
            table.add_row(*(fact.get(name, "") for name in columns))
        return table


def _short(number: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.2f}{letter}"
    return f"{number:.0f}"
