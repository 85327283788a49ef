"""What watches a run: told of every sweep, and of how far each chain is, in numbers for people.

A monitor can never stop a run. Those that show something are in `sampling.terminal`.
"""

import time
from collections import Counter
from collections.abc import Sequence

from franchise.sampling.chain import Chain

_LONG_SWEEP = 2.0  # seconds


class Monitor:
    """Watches in silence; the others differ in what they show."""

    def begin(self, chains: Sequence[Chain]) -> None:
        """Take note that a run begins."""

    def swept(self, chain: Chain) -> None:
        """Take note that a chain has started, or made a sweep. Called from several threads."""

    def preparing(self, what: str) -> None:
        """Take note of what is done before the chains start."""

    def look(self) -> None:
        """Show how far the run is now. Called about every second, by the thread that waits for it."""

    def interrupted(self) -> None:
        """Take note that the user wants the run to end."""

    def end(self) -> None:
        """Take note that the run has ended."""


class Progress:
    """How far one chain of a run is, in numbers for people."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self._begun, self._first = time.monotonic(), chain.sweeps_done
        self._kinds: Counter[str] = Counter()  # of the events counted so far

    def begin(self) -> None:
        """Count the time from now on: what comes before the start says nothing of the sweeps."""
        self._begun = time.monotonic()

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
            self.begin()
            return facts
        last = chain.trace.last
        # A long run has very many events: each is looked at once.
        self._kinds.update(event.kind for event in chain.events[self._kinds.total() :])
        speed = n_words / last["seconds"] if last["seconds"] > 0 else 0.0
        return facts | {
            "sweep": f"{self._sweeps}/{chain.schedule.sweeps}",
            "topics": str(last["n_topics"]),
            "joint/word": f"{last['log_joint'] / n_words:.4f}",
            "splits": str(self._kinds["split"]),
            "merges": str(self._kinds["merged"]),
            "words/s": _short(speed),
            "left": self._left(),
        }

    @property
    def _sweeps(self) -> str:
        """The sweeps made; with the part of the one under way, where sweeps take seconds."""
        done, part = self.chain.sweeps_done, self.chain.progress  # 0 too where the engine cannot tell
        if not part or self.phase == "done" or self.chain.trace.last["seconds"] < _LONG_SWEEP:
            return str(done)
        return f"{done + min(part, 0.9):.1f}"

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


def _short(number: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.2f}{letter}"
    return f"{number:.0f}"
