"""The rows of terms, n_..k^v, without unused places: the form in which they are sent.

They take a few bytes per pair of a term and a topic with words of it, whatever the room of the state.
"""

from typing import NamedTuple

import numpy as np

from franchise._arrays import Array, narrow, offsets_of
from franchise._jit import kernel
from franchise.model.packing import gathered
from franchise.model.state import State, state_of_counts


class Rows(NamedTuple):
    """Pairs of a topic and a count, term after term, in the narrowest types that hold them."""

    lengths: Array  # number of pairs of each term
    topics: Array
    counts: Array

    @property
    def n_bytes(self) -> int:
        """Size of the arrays when they are sent."""
        return sum(array.nbytes for array in self)


class WideRows(NamedTuple):
    """The same in the types of compiled code."""

    row_ptr: Array
    row_k: Array
    row_n: Array


def rows_of(state: State) -> Rows:
    """Return the rows of a state, in its order."""
    return Rows(
        narrow(state.row_len),
        gathered(state.row_ptr, state.row_len, state.row_k),
        gathered(state.row_ptr, state.row_len, state.row_n),
    )


def widened(rows: Rows) -> WideRows:
    """Return rows in arrays of the state's types."""
    return WideRows(offsets_of(rows.lengths), rows.topics.astype(np.uint32), rows.counts.astype(np.uint32))


def state_of_rows(rows: Rows) -> State:
    """Return a state with these rows and no documents or topics."""
    wide = widened(rows)
    state = state_of_counts(np.zeros(rows.lengths.size, np.int64), 0, 0)
    lengths = np.diff(wide.row_ptr).astype(np.int32)
    return state._replace(row_ptr=wide.row_ptr, row_len=lengths, row_k=wide.row_k, row_n=wide.row_n)


@kernel
def add_rows(rows, dense, begin, end):
    """Add the counts of terms `begin` to `end` to `dense`, whose first row is that of `begin`."""
    for v in range(begin, end):
        for pair in range(rows.row_ptr[v], rows.row_ptr[v + 1]):
            dense[v - begin, rows.row_k[pair]] += rows.row_n[pair]
