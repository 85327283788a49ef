"""What a chain leaves behind: numbers a sweep, and draws."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from franchise.corpus import CorpusArrays
from franchise.model.state import TOPICS, Array, State, word_topics

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
    """One row of numbers a sweep; row 0 is the start.

    The first columns are the same for every run (`log_joint` is log_p_tables + log_p_topics +
    log_p_words); what the moves report follows, as ``<move>.<number>``.
    """

    def __init__(self) -> None:
        self._rows: list[dict[str, float]] = []
        self._columns = dict.fromkeys(_COLUMNS)  # kept, as all rows would have to be searched for them

    def append(self, numbers: dict[str, float], infos: dict[str, Any]) -> None:
        """Add a row: the common columns, and an Info for each move that was made."""
        row = {name: numbers[name] for name in _COLUMNS}
        for move, info in infos.items():
            row |= {
                f"{move}.{name}": float(value) for name, value in info._asdict().items() if name != "complete"
            }
        self._add(row)

    def _add(self, row: dict[str, float]) -> None:
        self._rows.append(row)
        self._columns |= dict.fromkeys(row)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, column: str) -> Array:
        """Return one column; a move that was not made in a sweep has NaN there."""
        if column not in self._columns:
            raise KeyError(f"{column!r} is not in the trace; it has {', '.join(self.columns)}")
        return np.array([row.get(column, np.nan) for row in self._rows])

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._columns)

    @property
    def last(self) -> dict[str, float]:
        """The latest row."""
        return dict(self._rows[-1])

    @property
    def rows(self) -> tuple[dict[str, float], ...]:
        """All rows, each with the numbers that its sweep has."""
        return tuple(self._rows)

    def as_array(self) -> Array:
        """Return the trace as one array, rows by `columns`, NaN for what a sweep does not have."""
        return np.column_stack([self[column] for column in self.columns])

    @classmethod
    def from_array(cls, numbers: Array, columns: Sequence[str]) -> "Trace":
        """Return the trace that `as_array` and `columns` were taken from."""
        trace = cls()
        for row in numbers.tolist():
            named = zip(columns, row, strict=True)
            trace._add({name: int(x) if name in _WHOLE else x for name, x in named if not np.isnan(x)})
        return trace

    def write_csv(self, path: str | Path) -> None:
        """Write the trace as CSV, numbers in full."""
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, self.columns)
            writer.writeheader()
            writer.writerows(self._rows)


class Draw(NamedTuple):
    """What is kept of a state: all that topics, weights and mixtures are computed from.

    Topics are ordered by their number of words, largest first.
    """

    sweep: int
    names: Array  # serial number of each topic's birth in its chain
    topic_terms: sp.csr_array  # n_..k^v
    document_topics: sp.csr_array  # n_j.k
    m_k: Array
    concentrations: Array  # alpha, gamma, eta


def draw_of(corpus: CorpusArrays, state: State, sweep: int) -> Draw:
    """Gather the draw of a state."""
    live = state.live[: state.totals[TOPICS]]
    live = live[np.lexsort((state.name_k[live], -state.n_k[live]))]
    rank = np.zeros(state.n_k.size, np.int64)
    rank[live] = np.arange(live.size)
    z = rank[word_topics(corpus, state)]
    documents = np.repeat(np.arange(state.m_j.size), np.diff(corpus.doc_ptr))
    return Draw(
        sweep=sweep,
        names=state.name_k[live],
        topic_terms=_count_pairs(z, corpus.x, (live.size, corpus.n_terms)),
        document_topics=_count_pairs(documents, z, (state.m_j.size, live.size)),
        m_k=state.m_k[live],
        concentrations=state.concentrations.copy(),
    )


def _count_pairs(rows: Array, columns: Array, shape: tuple[int, int]) -> sp.csr_array:
    counts = sp.coo_array((np.ones(rows.size, np.int32), (rows, columns)), shape=shape).tocsr()
    counts.sum_duplicates()
    return counts
