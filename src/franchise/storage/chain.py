"""A chain on disk: saved whole or not at all, resumed bit for bit.

A chain's folder::

    chain.safetensors             the engine's arrays, the settings, and how much of the other files is valid
    trace-28.rows, events.rows, trials.rows    one row per sweep (28 numbers), event or trial; they only grow
    draws/000150.safetensors      one file per kept draw; more if there are many documents (`storage.draws`)
    mode/000150.safetensors       the draw with the highest log joint
    seats/000180/00007.safetensors    the seating of a chain on a cluster, one file per shard

The first file is written last and decides what is valid: anything that it does not mention was left by a run
that was killed, and is ignored. A checkpoint therefore writes only the state and new rows and draws. Random
numbers are not stored, because seed, chain and sweep name their streams (`franchise.random`).

The result of `take` can be written while the chain continues. When a large chain is loaded, its draws are
mapped and its state is read only when the next sweep needs it. So is the state of a chain whose seating has
files of its own.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from franchise._arrays import Array
from franchise._draws import PARTS, Draw
from franchise._files import Facts, read_arrays, read_facts, write_arrays
from franchise._settings import whole_number
from franchise._threads import interrupts_deferred
from franchise._version import VERSION, check_version
from franchise.corpus import Corpus
from franchise.engines import Engine
from franchise.errors import ModelError, SettingsError
from franchise.model import Priors
from franchise.sampling.chain import Chain
from franchise.sampling.schedule import Timetable
from franchise.sampling.settings import start_from_json, start_to_json
from franchise.sampling.trace import Trace
from franchise.sampling.trials import Event, Trial
from franchise.storage.draws import files_of_draw, is_large, keep_after, read_draw, remove, write_draw
from franchise.storage.rows import RowFile, checksum, read_rows

_KIND, _FILE, _DRAWS, _MODE, _SEATS = "chain", "chain.safetensors", "draws", "mode", "seats"
_EVENT_KINDS = ("born", "died", "split", "merged")
_TRIAL_KINDS = ("split", "merge", "none")
_LARGE = 2**24  # bytes: a larger state is read only when a sweep needs it


class Taken(NamedTuple):
    """The contents of a checkpoint of a chain, in arrays that the chain does not change."""

    facts: Facts
    arrays: dict[str, Array]
    rows: dict[str, Array]  # new rows, by the name of their file
    draws: list[Draw]  # new draws
    mode: Draw | None  # if it is new
    corpus: Corpus

    @property
    def n_bytes(self) -> int:
        """Bytes to write, without draws."""
        return sum(array.nbytes for array in (*self.arrays.values(), *self.rows.values()))


class ChainWriter:
    """Saves one chain repeatedly, and writes only new data.

    Parameters
    ----------
    folder
        The chain's folder.
    since
        The last sweep whose draws are already in the folder; -1 for none.
    """

    def __init__(self, folder: Path, since: int = -1) -> None:
        self._folder, self._since = folder, since
        self._rows: dict[str, RowFile] = {}
        self._ahead: set[int] = set()  # later draws that are already in the folder
        self._mode: int | None = None  # the mode of the last checkpoint written here
        self._draws: set[int] | None = None  # the draws that it mentions
        self._used: set[Path] = set()  # other files that it mentions

    def save(self, chain: Chain) -> None:
        """Save a chain; refuse a chain that an error stopped inside a sweep."""
        self.write(self.take(chain))

    @interrupts_deferred()  # it calls compiled code
    def take(self, chain: Chain) -> Taken:
        """Copy the data for `write`, so that the chain can continue meanwhile; refuse as `save` does."""
        if not chain.is_whole:
            raise ModelError(
                f"{self._folder}: an error stopped chain {chain.number} inside a sweep; there is nothing "
                "complete to save",
                code="nothing-to-save",
            )
        seats = self._write_seats(chain)
        return Taken(
            facts={**_facts(chain), "seats": seats},
            arrays={f"engine.{name}": array for name, array in chain.engine.arrays().items()},
            rows={
                name: self._new(name, rows, kinds)
                for name, rows, kinds in (
                    (_trace_name(chain.trace.columns), chain.trace.as_array(), ()),
                    ("events", chain.events, _EVENT_KINDS),
                    ("trials", chain.trials, _TRIAL_KINDS),
                )
            },
            draws=self.new_draws(chain),
            mode=chain.mode if chain.mode and chain.mode.sweep != self._mode else None,
            corpus=chain.corpus,
        )

    def _write_seats(self, chain: Chain) -> str | None:
        """Let the engine write seating that is elsewhere; return the name of its folder, or None."""
        name = f"{chain.sweeps_done:06d}"
        return name if chain.engine.write_seating(self._folder / _SEATS / name) else None

    def new_draws(self, chain: Chain) -> list[Draw]:
        """Return the draws that are not in the folder yet."""
        return [draw for draw in chain.draws if draw.sweep > self._since and draw.sweep not in self._ahead]

    def write(self, taken: Taken) -> list[tuple[Draw, Draw]]:
        """Write a checkpoint; return each large draw with the mapped draw that replaces it.

        Call `take` again only after this.
        """
        placed = self.write_draws(taken.draws, taken.corpus)
        if taken.mode:
            placed += _placed(self._folder / _MODE, [taken.mode], taken.corpus)
        rows = {name: self._rows[name].add(new) for name, new in taken.rows.items()}
        write_arrays(self._folder / _FILE, _KIND, taken.arrays, {**taken.facts, "rows": rows})
        keep_after(self._folder / PARTS, self._since)  # everything up to there is written
        used = {self._folder / f"{name}.rows" for name in rows}
        if taken.facts["mode_sweep"] is not None:
            used |= files_of_draw(self._folder / _MODE, taken.facts["mode_sweep"])
        if taken.facts["seats"]:
            used.add(self._folder / _SEATS / taken.facts["seats"])
        if self._used:  # another process may be reading the previous checkpoint, so its files stay
            there = (self._folder.glob(pattern) for pattern in ("*.rows", f"{_MODE}/*", f"{_SEATS}/*"))
            remove(set().union(*there) - self._used - used)
        self._used, self._mode = used, taken.facts["mode_sweep"]
        # Last, because from now on `new_draws` leaves these out and the chain no longer waits for them.
        self._since, self._draws = taken.facts["sweeps_done"], set(taken.facts["draws"])
        self._ahead.clear()
        return placed

    def write_draws(self, draws: Sequence[Draw], corpus: Corpus) -> list[tuple[Draw, Draw]]:
        """Write draws before the checkpoint that will mention them; return the same as `write`."""
        placed = _placed(self._folder / _DRAWS, draws, corpus)
        self._ahead |= {draw.sweep for draw in draws}
        return placed

    def _new(self, name: str, rows: Any, kinds: tuple[str, ...]) -> Array:
        file = self._rows.setdefault(name, RowFile(self._folder / f"{name}.rows"))
        new = rows[file.n_rows :]
        return _coded(new, kinds) if kinds else new.copy()

    def forget_dropped(self) -> None:
        """Remove draws and rows that are not in the last checkpoint (`Chain.reschedule`, `_trace_name`).

        Call this only at the end of a run: before, another process may be reading an earlier checkpoint.
        """
        if self._draws is not None:
            draws = self._folder / _DRAWS
            kept = set().union(*(files_of_draw(draws, sweep) for sweep in self._draws))
            remove(set(draws.glob("*")) - kept)
            shutil.rmtree(self._folder / PARTS, ignore_errors=True)
            remove(set(self._folder.glob("*.rows")) - self._used)


def save_chain(chain: Chain, folder: Path) -> None:
    """Save a chain in a folder that has none of its files yet."""
    ChainWriter(folder).save(chain)


def load_chain(folder: Path, corpus: Corpus, schedule: Timetable | None = None) -> Chain:
    """Load the chain in a folder.

    Parameters
    ----------
    folder
        The folder of the chain.
    corpus
        The documents of the chain.
    schedule
        The schedule to continue with; by default, the chain's own.

    Raises
    ------
    ModelError
        If a file is missing, damaged, from another version, or made for another corpus.
    """
    path = folder / _FILE
    is_large = path.is_file() and path.stat().st_size >= _LARGE
    arrays, facts = read_arrays(path, _KIND, mapped=is_large)
    check_version(path, facts)
    state = {name.removeprefix("engine."): array for name, array in arrays.items()}
    with _sound(path):
        if facts["corpus"] != corpus.fingerprint():
            raise ModelError(
                f"{path}: the chain was made for another corpus; give that corpus",
                code="corpus-mismatch",
            )
        chain = Chain(
            corpus,
            Priors(**facts["priors"]),
            schedule or Timetable.from_json(facts["schedule"]),
            random_state=whole_number("seed", facts["seed"], 0),
            number=facts["number"],
            init=start_from_json(facts["start"]),
            engine=facts["engine"],
            n_jobs=1,
        )
        _fill(chain, folder, facts)
    seats = folder / _SEATS / facts["seats"] if facts["seats"] else None
    chain.load_later(partial(_restore, path, state, seats))
    if not (is_large or seats):
        chain.engine  # noqa: B018 (takes up the state)
    return chain


def _restore(path: Path, state: dict[str, Array], seats: Path | None, engine: Engine) -> None:
    with _sound(path):
        engine.restore(state, seats)


@contextmanager
def _sound(path: Path) -> Iterator[None]:
    """Refuse a file whose contents do not fit together."""
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, SettingsError) as error:
        raise ModelError(
            f"{path}: the file is not a complete chain ({error}); restore it from a copy",
            code="damaged-file",
        ) from error


def _fill(chain: Chain, folder: Path, facts: Facts) -> None:
    """Give a new chain the results of the saved chain."""
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
    """Return the last sweep of a chain that its folder has, or -1 for none.

    Raises
    ------
    ModelError
        If the folder has another chain, or more sweeps of this chain because another run has continued it.
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
            f"{path}: the file is not a complete chain; restore it from a copy", code="damaged-file"
        ) from error
    raise ModelError(
        f"{folder}: another run has continued or replaced the chain there; load that chain, or give another "
        "folder",
        code="model-replaced",
    )


def draws_saved(folder: Path) -> set[int]:
    """Return the sweeps of the draws of the chain in a folder."""
    return set(read_facts(folder / _FILE, _KIND).get("draws", ()))


def saved_chains(folder: Path) -> list[int]:
    """Return the numbers of the chains saved in a folder."""
    return sorted(int(path.parent.name) for path in folder.glob(f"*/{_FILE}") if path.parent.name.isdecimal())


def saved_sweeps(folder: Path) -> int:
    """Return the number of saved sweeps of the chain in a folder."""
    return int(read_facts(folder / _FILE, _KIND)["sweeps_done"])


def _facts(chain: Chain) -> Facts:
    return {
        "version": VERSION,
        "corpus": chain.corpus.fingerprint(),
        "priors": asdict(chain.priors),
        "schedule": asdict(chain.schedule),
        "seed": chain.seed,
        "number": chain.number,
        "start": start_to_json(chain.init),
        "engine": chain.engine_name,
        "sweeps_done": chain.sweeps_done,
        "trace_columns": list(chain.trace.columns),
        "draws": [draw.sweep for draw in chain.draws],
        "mode_sweep": chain.mode.sweep if chain.mode else None,
        "mode_log_joint": chain.mode_log_joint if chain.mode else None,
    }


def _placed(folder: Path, draws: Sequence[Draw], corpus: Corpus) -> list[tuple[Draw, Draw]]:
    """Write draws; return the large ones, each with the same draw read from disk."""
    placed = []
    for draw in draws:
        write_draw(folder, draw)
        if is_large(draw):
            placed.append((draw, read_draw(folder, draw.sweep, corpus)))
    return placed


def _trace_name(columns: Sequence[str]) -> str:
    """Return the name of the trace file, which contains the number of columns because that can grow."""
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
