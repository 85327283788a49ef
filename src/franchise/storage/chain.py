"""A chain on disk: saved whole or not at all, resumed to the bit.

A chain's folder::

    chain.safetensors             the engine's arrays, the settings, and how much of the other files counts
    trace-28.rows, events.rows, trials.rows    one row per sweep (of 28 numbers), event, trial; they only grow
    draws/000150.safetensors      one file per kept draw
    mode/000150.safetensors       the draw of the highest log joint

The first is the one that counts, and is written last: whatever is not mentioned there is left over from a run
that was killed, and is not looked at. So a checkpoint costs the state and what is new. No random numbers are
stored: their streams are named by seed, chain and sweep (`franchise.random`).
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from franchise._files import Array, Facts, read_arrays, read_facts, write_arrays
from franchise._version import VERSION, check_version
from franchise.corpus import Corpus
from franchise.engines import GivenTopics, Start
from franchise.errors import ModelError, SettingsError
from franchise.model import Priors
from franchise.sampling.chain import Chain
from franchise.sampling.schedule import Schedule
from franchise.sampling.trace import Trace
from franchise.sampling.trials import Event, Proposal, SplitMerge, Trial
from franchise.storage.draws import draw_path, read_draw, write_draw
from franchise.storage.rows import RowFile, checksum, read_rows

_KIND, _FILE, _DRAWS, _MODE = "chain", "chain.safetensors", "draws", "mode"
_EVENT_KINDS = ("born", "died", "split", "merged")
_TRIAL_KINDS = ("split", "merge", "none")


class ChainWriter:
    """Saves one chain again and again, each time what is new.

    Parameters
    ----------
    folder
        The chain's folder.
    since
        The sweep up to which the folder already has the chain's draws; -1 for none.
    """

    def __init__(self, folder: Path, since: int = -1) -> None:
        self._folder, self._since = folder, since
        self._rows: dict[str, RowFile] = {}
        self._mode: int | None = None  # of the last checkpoint that was written here
        self._draws: set[int] | None = None  # likewise

    def save(self, chain: Chain) -> None:
        """Save a chain; one that an error stopped in the middle of a sweep is refused."""
        if not chain.is_whole:
            raise ModelError(
                f"{self._folder}: an error stopped chain {chain.number} in the middle of a sweep; there is "
                "nothing complete to save"
            )
        for draw in chain.draws:
            if draw.sweep > self._since:
                write_draw(self._folder / _DRAWS, draw)
        if chain.mode and chain.mode.sweep != self._mode:
            write_draw(self._folder / _MODE, chain.mode)
        trace = _trace_name(chain.trace.columns)
        rows = {
            trace: self._added(trace, chain.trace.as_array()),
            "events": self._added("events", chain.events, _EVENT_KINDS),
            "trials": self._added("trials", chain.trials, _TRIAL_KINDS),
        }
        arrays = {f"engine.{name}": array for name, array in chain.engine.arrays().items()}
        write_arrays(self._folder / _FILE, _KIND, arrays, {**_facts(chain), "rows": rows})
        self._since, self._draws = chain.sweeps_done, {draw.sweep for draw in chain.draws}
        if chain.mode:
            self._forget_earlier_modes(chain.mode.sweep)

    def _added(self, name: str, rows: Any, kinds: tuple[str, ...] = ()) -> Facts:
        file = self._rows.setdefault(name, RowFile(self._folder / f"{name}.rows"))
        new = rows[file.n_rows :]
        return file.add(_coded(new, kinds) if kinds else new)

    def _forget_earlier_modes(self, mode: int) -> None:
        """Remove modes but for this and the one before: someone may just be reading the last checkpoint."""
        kept = {draw_path(self._folder / _MODE, sweep) for sweep in (mode, self._mode) if sweep is not None}
        if self._mode is not None:
            with suppress(OSError):
                for path in set((self._folder / _MODE).iterdir()) - kept:
                    path.unlink()
        self._mode = mode

    def forget_dropped(self) -> None:
        """Remove draws that the last checkpoint no longer has (`Chain.reschedule`).

        Only at the end of a run: someone may still have been reading the checkpoint before.
        """
        if self._draws is None:
            return
        kept = {draw_path(self._folder / _DRAWS, sweep) for sweep in self._draws}
        with suppress(OSError):
            for path in set((self._folder / _DRAWS).iterdir()) - kept:
                path.unlink()


def save_chain(chain: Chain, folder: Path) -> None:
    """Save a chain in a folder that has nothing of it yet."""
    ChainWriter(folder).save(chain)


def load_chain(folder: Path, corpus: Corpus, schedule: Schedule | None = None) -> Chain:
    """Take up the chain of a folder.

    Parameters
    ----------
    folder
        Where it was saved.
    corpus
        The documents that it was made for.
    schedule
        A schedule to continue with; its own when not given.

    Raises
    ------
    ModelError
        If a file is missing, damaged, from another version, or made for another corpus.
    """
    path = folder / _FILE
    arrays, facts = read_arrays(path, _KIND)
    check_version(path, facts)
    try:
        if facts["corpus"] != corpus.fingerprint():
            raise ModelError(
                f"{path}: the chain was made for another corpus; give the one that it was made for"
            )
        chain = Chain(
            corpus,
            priors_from(facts["priors"]),
            schedule or schedule_from(facts["schedule"]),
            seed=facts["seed"],
            number=facts["number"],
            start=_start_from(facts["start"]),
            engine=facts["engine"],
        )
        _fill(chain, folder, facts)
        chain.engine.restore({name.removeprefix("engine."): array for name, array in arrays.items()})
    except (KeyError, IndexError, TypeError, ValueError, SettingsError) as error:
        raise ModelError(
            f"{path}: the file does not hold what a chain needs ({error}); restore it from a copy"
        ) from error
    return chain


def _fill(chain: Chain, folder: Path, facts: Facts) -> None:
    """Give a new chain what an earlier one had gathered."""
    rows = {name: read_rows(folder / f"{name}.rows", about) for name, about in facts["rows"].items()}
    columns = facts["trace_columns"]
    chain.sweeps_done = facts["sweeps_done"]
    chain.trace = Trace.from_array(rows[_trace_name(columns)], columns)
    if len(chain.trace) != chain.sweeps_done + 1:
        raise ValueError("the trace is not as long as the chain")
    chain.events = [Event(*row) for row in _decoded(rows["events"], Event, _EVENT_KINDS)]
    chain.trials = [Trial(*row) for row in _decoded(rows["trials"], Trial, _TRIAL_KINDS)]
    if facts["mode_sweep"] is not None:
        chain.mode = read_draw(folder / _MODE, facts["mode_sweep"], chain.corpus)
        chain.mode_log_joint = facts["mode_log_joint"]
    chain.draws = [read_draw(folder / _DRAWS, sweep, chain.corpus) for sweep in facts["draws"]]


def sweeps_saved(folder: Path, chain: Chain) -> int:
    """Return up to which sweep a folder has a chain, -1 for not at all.

    Raises
    ------
    ModelError
        If the folder has another chain, or has this one further than it is: another run has continued it.
    """
    path = folder / _FILE
    if not path.is_file():
        return -1
    facts = read_facts(path, _KIND)
    try:
        trace = facts["rows"][_trace_name(facts["trace_columns"])]
        own = chain.trace.as_array()[: trace["rows"], : trace["width"]]
        if len(own) == trace["rows"] and checksum(own) == trace["checksum"]:
            return int(facts["sweeps_done"])
    except (KeyError, TypeError) as error:
        raise ModelError(
            f"{path}: the file does not hold what a chain needs; restore it from a copy"
        ) from error
    raise ModelError(
        f"{folder}: another run has continued the chain there, or began it anew; load what is there, or give "
        "another folder"
    )


def draws_saved(folder: Path) -> set[int]:
    """Return the sweeps of the draws that the chain of a folder has."""
    return set(read_facts(folder / _FILE, _KIND).get("draws", ()))


def saved_chains(folder: Path) -> list[int]:
    """Return the numbers of the chains that were saved in a folder."""
    return sorted(int(path.parent.name) for path in folder.glob(f"*/{_FILE}") if path.parent.name.isdecimal())


def priors_from(facts: Facts) -> Priors:
    """Return the priors that `dataclasses.asdict` has turned into facts."""
    return Priors(**{name: tuple(x) if isinstance(x, list) else x for name, x in facts.items()})


def schedule_from(facts: Facts) -> Schedule:
    """Return the schedule that `dataclasses.asdict` has turned into facts."""
    split_merge = facts["split_merge"]
    return Schedule(**{**facts, "split_merge": split_merge_from(split_merge) if split_merge else None})


def split_merge_from(facts: Facts) -> SplitMerge:
    """Return the setting that `dataclasses.asdict` has turned into facts."""
    proposals = tuple(Proposal(**proposal) for proposal in facts["proposals"])
    return SplitMerge(**{**facts, "proposals": proposals})


def start_facts(start: Start) -> Any:
    """Return where a chain starts as JSON can hold it; of given topics, how many and their digest."""
    if not isinstance(start, GivenTopics):
        return start
    return {"given": start.kind, "topics": start.n_topics, "digest": start.digest}


def _start_from(facts: Any) -> Start:
    if not isinstance(facts, dict):
        return facts
    return GivenTopics(facts["given"], None, n_topics=facts["topics"], digest=facts["digest"])


def _facts(chain: Chain) -> Facts:
    return {
        "version": VERSION,
        "corpus": chain.corpus.fingerprint(),
        "priors": asdict(chain.priors),
        "schedule": asdict(chain.schedule),
        "seed": chain.seed,
        "number": chain.number,
        "start": start_facts(chain.start_from),
        "engine": chain.engine.name,
        "sweeps_done": chain.sweeps_done,
        "trace_columns": list(chain.trace.columns),
        "draws": [draw.sweep for draw in chain.draws],
        "mode_sweep": chain.mode.sweep if chain.mode else None,
        "mode_log_joint": chain.mode_log_joint if chain.mode else None,
    }


def _trace_name(columns: Sequence[str]) -> str:
    """Return a name for the file of the trace; it changes with the number of columns, which grows once."""
    return f"trace-{len(columns)}"


def _coded(records: Sequence[Any], kinds: tuple[str, ...]) -> Array:
    width = len(Event._fields if kinds is _EVENT_KINDS else Trial._fields)
    coded = [record._replace(kind=kinds.index(record.kind)) for record in records]
    return np.array(coded, np.float64).reshape(len(coded), width)


def _decoded(numbers: Array, record: type[Any], kinds: tuple[str, ...]) -> list[list[Any]]:
    types = [kinds.__getitem__ if name == "kind" else record.__annotations__[name] for name in record._fields]
    return [
        [kind(int(x)) if kind is not float else x for kind, x in zip(types, row, strict=True)]
        for row in numbers.tolist()
    ]
