"""Saving during a run: checkpoints of its chains in one folder, or only their large draws.

A checkpoint of a large corpus takes seconds to write. Its contents are therefore copied from the chain at
once, and a thread writes them while the chain continues; the next checkpoint waits for that thread. Large
draws are written in the same way as soon as they are kept, and the chain continues with draws mapped from
their files.
"""

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path

from franchise._draws import PartsOfDraw
from franchise._folders import locked
from franchise.corpus import Corpus
from franchise.errors import ModelError
from franchise.sampling import Draw
from franchise.sampling.chain import Chain
from franchise.sampling.plan import Plan, check_thin
from franchise.storage.chain import ChainWriter, draws_saved, load_chain, saved_chains, sweeps_saved
from franchise.storage.draws import is_large, read_draw, write_draw
from franchise.storage.runs import load_runs, save_runs

_SECONDS_BETWEEN = 30.0
_LARGE = 2**24  # bytes: smaller checkpoints are written at once
_MOST_DRAWS = 3  # large draws per chain that may wait in memory until they are written
_OTHER = "give another folder, or the settings that it was made with"

_Placed = list[tuple[Draw, Draw]]  # draws, each with its replacement


class Checkpoints:
    """Saves the chains of a run (`sampling.run.Keeper`).

    Parameters
    ----------
    folder
        The folder for the chains; each has a subfolder named by its number.
    seconds
        Time between two checkpoints of a chain; 0 for a checkpoint after every sweep.
    """

    def __init__(self, folder: Path, seconds: float = _SECONDS_BETWEEN) -> None:
        self._folder, self._seconds = folder, seconds
        self._writers: dict[int, ChainWriter] = {}
        self._saved: dict[int, tuple[int, float]] = {}  # by chain: the number of saved sweeps, and the time
        self._under_way: dict[int, Future[_Placed]] = {}  # by chain: the write in progress
        self._pool: ThreadPoolExecutor

    @contextmanager
    def keeping(self, chains: Sequence[Chain]) -> Iterator[None]:
        """Lock the folder while these chains run."""
        with locked(self._folder), ThreadPoolExecutor(max(1, len(chains)), "checkpoints") as self._pool:
            for chain in chains:
                own = self._folder / str(chain.number)
                chain.keep_in(own)
                sweep = sweeps_saved(own, chain)
                writer = self._writers[chain.number] = ChainWriter(own, sweep)
                if sweep >= 0 and chain.is_whole and draws_saved(own) - {draw.sweep for draw in chain.draws}:
                    writer.save(chain)  # or else the folder would still count dropped draws
                    sweep = chain.sweeps_done
                self._saved[chain.number] = sweep, time.monotonic()
            yield
            for writer in self._writers.values():
                writer.forget_dropped()

    def save(self, chain: Chain, *, now: bool) -> None:
        """Save a chain that is whole and has something new, if it is time.

        The chain may continue while the checkpoint is written; with `now`, it is complete when this method
        returns. A write error is raised here or at the next call for the chain.
        """
        writer = self._writers[chain.number]
        large = [draw for draw in writer.new_draws(chain) if is_large(draw)]
        if not self._is_free(chain, wait=now or len(large) >= _MOST_DRAWS):
            return
        sweep, when = self._saved[chain.number]
        if not (chain.is_whole and len(chain.trace)) or sweep == chain.sweeps_done:
            return
        if now or time.monotonic() - when >= self._seconds:
            taken = writer.take(chain)
            self._write(chain, lambda: writer.write(taken), now or taken.n_bytes < _LARGE)
            self._saved[chain.number] = chain.sweeps_done, time.monotonic()
        elif large := [draw for draw in writer.new_draws(chain) if is_large(draw)]:
            self._write(chain, lambda: writer.write_draws(large, chain.corpus), at_once=False)

    def save_runs(self, chain: Chain) -> None:
        """Save the short runs that found the start of a chain."""
        save_runs(self._folder, chain)

    def _write(self, chain: Chain, write: Callable[[], _Placed], at_once: bool) -> None:
        if at_once:
            _exchange(chain, write())
        else:
            self._under_way[chain.number] = self._pool.submit(write)

    def _is_free(self, chain: Chain, *, wait: bool) -> bool:
        """Return whether the last write of a chain has ended, and raise its error."""
        future = self._under_way.get(chain.number)
        if future is None:
            return True
        if not (wait or future.done()):
            return False
        del self._under_way[chain.number]
        try:
            _exchange(chain, future.result())
        except BaseException:
            self._saved[chain.number] = -1, self._saved[chain.number][1]  # must be written again
            raise
        return True


def _exchange(chain: Chain, placed: _Placed) -> None:
    for draw, same in placed:
        chain.exchange(draw, same)


class Overflow:
    """Keeps only the large draws of chains, in temporary files (`sampling.run.Keeper`).

    This is for runs without a folder. A file is removed as soon as it is mapped; its contents last as long as
    the draw or the process. If the disk is full, draws stay in memory. Draws in parts are already on disk.
    """

    def keeping(self, chains: Sequence[Chain]) -> AbstractContextManager[None]:
        """Do nothing: no other process uses these files."""
        return nullcontext()

    def save_runs(self, chain: Chain) -> None:
        """Do nothing: short runs are small."""

    def save(self, chain: Chain, *, now: bool) -> None:
        """Move the draw that the chain has just kept to disk, if it is large."""
        for draw in chain.draws[-1:]:
            in_parts = isinstance(draw.document_counts, PartsOfDraw)
            if draw.sweep == chain.sweeps_done and is_large(draw) and not in_parts:
                with suppress(ModelError, OSError):
                    chain.exchange(draw, _on_disk(draw, chain))


def _on_disk(draw: Draw, chain: Chain) -> Draw:
    with tempfile.TemporaryDirectory(prefix="franchise-", ignore_cleanup_errors=True) as folder:
        write_draw(Path(folder), draw)
        return read_draw(Path(folder), draw.sweep, chain.corpus)


def load_chains(plan: Plan, folder: Path, corpus: Corpus, *, resumed: bool = False) -> list[Chain]:
    """Return the chains of a plan: saved chains from a folder, and new ones in place of the others.

    Parameters
    ----------
    plan
        The plan of the chains.
    folder
        The folder of the chains.
    corpus
        The documents.
    resumed
        Use the burn-in and the thinning of the plan, which may have changed since a chain was saved.

    Raises
    ------
    ModelError
        If a saved chain cannot be read, or follows another plan (the number of sweeps may differ).
    SettingsError
        If the thinning of the plan would drop most of its draws.
    """
    saved = {}
    for i in saved_chains(folder):
        if i >= len(plan.starts):
            raise ModelError(
                f"{folder}: it has a chain {i}, but the plan has {len(plan.starts)} in all; {_OTHER}",
                code="settings-mismatch",
            )
        saved[i] = chain = load_chain(folder / str(i), corpus)
        sweeps = max(chain.schedule.sweeps, plan.schedule.sweeps)
        schedule = replace(chain.schedule, sweeps=sweeps)
        if resumed:
            schedule = replace(schedule, burn_in=plan.schedule.burn_in, thin=plan.schedule.thin)
            check_thin(chain, schedule)
        chain.reschedule(schedule)
        if what := _difference(chain, plan):
            raise ModelError(
                f"{folder / str(i)}: the chain was made with {what}; {_OTHER}", code="settings-mismatch"
            )
    chains = plan.chains(corpus, saved)
    load_runs(folder, chains)
    return chains


def _difference(chain: Chain, plan: Plan) -> str:
    """Return the settings in which a chain differs from its plan, as text; empty if there are none."""
    schedule = ("burn_in", "thin", "warm_up", "warm_up_from", "merges", "concentrations", "split_merge")
    pairs = {
        "seed": (chain.seed, plan.seed),
        "init": (chain.init, plan.starts_on(chain.corpus)[chain.number]),
        "priors": (chain.priors, plan.priors),
        "engine": (chain.engine_name, plan.engine_of(chain.corpus)),
        **{name: (getattr(chain.schedule, name), getattr(plan.schedule, name)) for name in schedule},
    }
    different = [
        f"{name}={own!r}, not {planned!r}" for name, (own, planned) in pairs.items() if own != planned
    ]
    return different[0] if different else ""
