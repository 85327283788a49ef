"""The trace of a chain: a row of numbers per sweep."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from franchise._arrays import Array

_COLUMNS = (
    "sweep",
    "n_topics",
    "n_tables",
    "log_p_tables",
    "log_p_topics",
    "log_p_words",
    "log_joint",
    "log_prior",
    "alpha",
    "gamma",
    "eta",
    "seconds",
)
_WHOLE = frozenset({"sweep", "n_topics", "n_tables"})


class Trace:
    """One row of numbers per sweep; row 0 is the start.

    The first columns are the same for every run (`log_joint` is log_p_tables + log_p_topics +
    log_p_words). The numbers that moves report follow as ``<move>.<number>``.
    """

    def __init__(self) -> None:
        self._columns: dict[str, int] = {name: i for i, name in enumerate(_COLUMNS)}
        self._n_rows = 0
        # Rows by columns, with room for more of both, so adding a row costs the same at any length.
        self._numbers = np.full((16, 2 * len(_COLUMNS)), np.nan)

    def append(self, numbers: dict[str, float], infos: dict[str, Any]) -> None:
        """Add a row: the common columns, and an Info for each move."""
        row = {name: numbers[name] for name in _COLUMNS}
        for move, info in infos.items():
            row |= {f"{move}.{name}": x for name, x in info._asdict().items() if name != "complete"}
        for name in row:
            self._columns.setdefault(name, len(self._columns))
        self._make_room(self._n_rows + 1)
        for name, x in row.items():
            self._numbers[self._n_rows, self._columns[name]] = x
        self._n_rows += 1

    def _make_room(self, n_rows: int) -> None:
        room = self._numbers.shape
        needed = (n_rows, len(self._columns))
        if needed[0] > room[0] or needed[1] > room[1]:
            wider = np.full([2 * n if n > has else has for n, has in zip(needed, room, strict=True)], np.nan)
            wider[: room[0], : room[1]] = self._numbers
            self._numbers = wider

    def __len__(self) -> int:
        return self._n_rows

    def __getitem__(self, column: str) -> Array:
        """Return one column, with NaN in sweeps that do not have it."""
        if column not in self._columns:
            raise KeyError(f"{column!r} is not in the trace; it has {', '.join(self.columns)}")
        values = self._numbers[: self._n_rows, self._columns[column]]
        return values.astype(np.int64) if column in _WHOLE else values.copy()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._columns)

    @property
    def last(self) -> dict[str, float]:
        """The latest row."""
        return self._row(self._n_rows - 1)

    @property
    def rows(self) -> tuple[dict[str, float], ...]:
        """All rows, each with the numbers of its sweep."""
        return tuple(self._row(i) for i in range(self._n_rows))

    def _row(self, i: int) -> dict[str, float]:
        values = zip(self._columns, self._numbers[i].tolist())
        return {name: int(x) if name in _WHOLE else x for name, x in values if x == x}

    def as_array(self) -> Array:
        """Return a view of the trace as one array, rows by `columns`, with NaN for missing numbers."""
        return self._numbers[: self._n_rows, : len(self._columns)]

    @classmethod
    def from_array(cls, numbers: Array, columns: Sequence[str]) -> "Trace":
        """Return the trace with these numbers (`as_array`) and `columns`."""
        if numbers.shape[1:] != (len(columns),):
            raise ValueError(f"the trace has {numbers.shape[1:]} columns and {len(columns)} names for them")
        trace = cls()
        trace._columns = {name: i for i, name in enumerate(columns)}
        trace._make_room(len(numbers))
        trace._numbers[: len(numbers), : len(columns)] = numbers
        trace._n_rows = len(numbers)
        return trace
