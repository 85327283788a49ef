"""Runs side by side, each kept in a file when it ends, so that a batch can be stopped and resumed."""

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from franchise import ModelError, __version__
from franchise._files import read_arrays, write_arrays

Array = npt.NDArray[Any]
Pause = Callable[[], None]  # to be called now and then; raises Stopped when the batch is to end
_KIND = "experiment"


class Stopped(Exception):
    """The batch was interrupted."""


@dataclass(frozen=True)
class Run:
    """One run: what decides its outcome, and how to carry it out."""

    name: str  # of its file
    round: int  # which repetition of all settings it belongs to
    settings: dict[str, Any]
    work: Callable[[Pause], dict[str, Array]]


@dataclass(frozen=True)
class Outcome:
    """The settings of a run, and the arrays that it left."""

    settings: dict[str, Any]
    arrays: dict[str, Array]

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]


def finished(runs: Sequence[Run], folder: Path) -> list[Outcome]:
    """Return the outcomes of all runs, in their order, but only of complete rounds."""
    outcomes = [(run.round, _kept(run, folder)) for run in runs]
    missing = {number for number, outcome in outcomes if outcome is None}
    return [outcome for number, outcome in outcomes if outcome and number not in missing]


def carry_out(runs: Sequence[Run], folder: Path, *, jobs: int, title: str) -> list[Outcome]:
    """Carry out the runs that have not ended yet, and return the outcomes of all.

    Ctrl-C ends the batch after the sweeps under way; the runs that have ended stay.
    """
    waiting = [run for run in runs if not _kept(run, folder)]
    # In a fixed order the same two would run side by side in every round, and slow each other down.
    random.Random(0).shuffle(waiting)
    waiting.sort(key=lambda run: run.round)
    stop = threading.Event()

    def pause() -> None:
        if stop.is_set():
            raise Stopped

    def work(run: Run) -> None:
        pause()
        write_arrays(folder / f"{run.name}.safetensors", _KIND, run.work(pause), _facts(run))

    with ThreadPoolExecutor(jobs, "experiment") as pool:
        futures = [pool.submit(work, run) for run in waiting]
        try:
            for future in _shown(as_completed(futures), title, len(runs), len(runs) - len(waiting)):
                future.result()
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    return finished(runs, folder)


def _shown(done: Iterator[Any], title: str, total: int, before: int) -> Iterator[Any]:
    """Show how many have ended: a bar in a terminal, else a line now and then."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task(title, total=total, completed=before)
        for number, one in enumerate(done, before + 1):
            yield one
            progress.advance(task)
            if not console.is_terminal and (number == total or number % max(total // 20, 1) == 0):
                console.print(f"{title}: {number} of {total} runs", highlight=False)


def _facts(run: Run) -> dict[str, Any]:
    return {"settings": run.settings, "franchise": __version__}


def _kept(run: Run, folder: Path) -> Outcome | None:
    """Return the outcome if the run has ended with the same settings and version."""
    path = folder / f"{run.name}.safetensors"
    if not path.exists():
        return None
    with suppress(ModelError):  # a damaged file: the run is made again
        arrays, facts = read_arrays(path, _KIND)
        if facts == _facts(run):
            return Outcome(run.settings, {name: np.asarray(array) for name, array in arrays.items()})
    return None
