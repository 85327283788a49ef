"""G_0 on a GPU: its terms, sampled given the counts, and the sums that the pass over documents looks up."""

from typing import Any, NamedTuple

import numpy as np

from franchise._arrays import Array
from franchise.engines.partitions.cuda.device import Device, counter_key
from franchise.engines.partitions.cuda.source import CHUNK, TERMS
from franchise.model.measure import FREE, MOST_SEATED, Measure
from franchise.moves.instantiation import ATTEMPTS, ENOUGH
from franchise.random import TOPIC_TERMS, Key


class Counts(NamedTuple):
    """Words of every term by column, on the GPU."""

    array: Any  # int32 (term, column)
    stored: Array  # the column of each topic, by its number

    @property
    def stride(self) -> int:
        """Number of allocated columns."""
        return int(self.array.shape[1])


class GivenMeasure(NamedTuple):
    """G_0 for the kernels; arrays are on the GPU."""

    moving: int
    columns: int
    phi: Any  # float32 (term, column)
    rest: Any  # (term, chunk): sums of alpha beta phi up to the end of each chunk of columns
    mass: Any  # alpha beta of each column
    survival: Any
    known: int  # number of words up to which survival is tabulated

    @property
    def chunks(self) -> int:
        """Number of chunks of the columns that move."""
        return int(self.rest.shape[1])


def wide(columns: int) -> int:
    """Return room for this number of columns, rounded up so that rows are aligned."""
    return max(1, -(-columns // 32)) * 32


def draw_measure(
    device: Device,
    key: Key,
    weights: Measure,
    concentrations: tuple[float, float],
    given: Counts,
    own: Counts,
    longest: int,
) -> tuple[GivenMeasure, Any]:
    """Sample the terms of topics with known weights, given counts; return G_0, and `own` by column.

    `own` are the counts of the documents here, `given` those of all documents; if there are no others, they
    are one object. `concentrations` are alpha and eta.
    """
    xp, (alpha, eta) = device.xp, concentrations
    moving, columns = (int(n) for n in weights.sizes)
    n_terms, stride = own.array.shape[0], wide(columns)
    numbers = weights.number[:columns]
    # Both have the same columns.
    old = np.full(columns, -1, np.int32)
    in_use = numbers != FREE
    old[in_use] = own.stored[numbers[in_use]]
    mass = device.put(alpha * weights.beta[:columns])
    counts, phi = xp.zeros((n_terms, stride), np.int32), xp.empty((n_terms, stride), np.float32)
    n_blocks = -(-n_terms // TERMS)
    sums = xp.empty((n_blocks, max(1, moving)))
    draw_key = counter_key(key._replace(move=TOPIC_TERMS), "terms")
    device.launch(
        "draw_terms", n_blocks * columns, draw_key, n_terms, moving, columns, eta, device.put(old),
        given.array, own.array, own.stride, counts, phi, stride, sums,
    )  # fmt: skip
    totals = add_up(device, sums)
    small = (device.get(totals)[:moving] < ENOUGH) & (numbers[:moving] == FREE)
    if small.any():
        which = device.put(np.flatnonzero(small).astype(np.int32))
        device.launch(
            "redraw_topics", which.size, draw_key, n_terms, eta, which, ATTEMPTS, phi, stride, totals
        )
    chunks = max(1, -(-moving // CHUNK))
    rest = xp.empty((n_terms, chunks))
    device.launch("share_terms", n_terms * chunks, moving, chunks, totals, mass, phi, stride, rest)
    device.launch("sum_chunks", n_terms, chunks, rest)
    known = min(longest, MOST_SEATED) + 1
    survival = xp.empty((columns, known + 1))
    device.launch("fill_survival", columns, mass, known, survival)
    return GivenMeasure(moving, columns, phi, rest, mass, survival, known), counts


def no_new_tables(device: Device, columns: int, longest: int) -> GivenMeasure:
    """Return a G_0 that only says that all words of a topic in a document sit at one table."""
    xp, known = device.xp, min(longest, MOST_SEATED) + 1
    nothing = xp.zeros((1, 1))
    return GivenMeasure(0, columns, nothing, nothing, xp.zeros(columns), xp.ones((columns, known + 1)), known)


def add_up(device: Device, rows: Any) -> Any:
    """Add up rows, always in the same order."""
    while len(rows) > 1:
        n_rows, width = rows.shape
        sums = device.xp.empty((-(-n_rows // 64), width))
        device.launch("add_up", sums.size, n_rows, width, rows, sums)
        rows = sums
    return rows[0]


def log_p_of_terms(device: Device, counts: Counts, log_gammas: Any, eta: float) -> float:
    """Return the terms' contribution to log p(x | c); `log_gammas` are those of small counts plus eta."""
    n_terms, n_blocks = counts.array.shape[0], -(-counts.array.shape[0] // TERMS)
    sums = device.xp.empty((n_blocks, counts.stride))
    device.launch(
        "log_p_terms", sums.size, n_terms, counts.stride, eta, log_gammas, log_gammas.size, counts.array,
        counts.stride, sums,
    )  # fmt: skip
    return float(device.get(add_up(device, sums))[counts.stored].sum())  # by number, whatever the columns
