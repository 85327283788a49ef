"""Long documents on a GPU: mixtures are sampled, then all words at once given the mixtures."""

from typing import Any, NamedTuple

import numpy as np

from franchise.engines.partitions.cuda.device import Device, counter_key
from franchise.engines.partitions.cuda.layout import Layout
from franchise.engines.partitions.cuda.measure import GivenMeasure
from franchise.random import Key


class LongDocuments(NamedTuple):
    """Documents that are not side by side; all arrays but the first two are on the GPU."""

    places: slice  # of their words, among all words
    ranks: slice
    base: Any  # of each document, among these words
    length: Any
    owner: Any  # int32, of each word
    place: Any  # int32: the number of the word in its document
    listed: Any = None  # int32 (document, column): words, after an update


def new_long_documents(device: Device, layout: Layout) -> LongDocuments:
    """Return the long documents of a layout."""
    length = layout.length[layout.regular :]
    base = np.cumsum(length, dtype=np.int64) - length
    owner = np.repeat(np.arange(length.size, dtype=np.int32), length)
    place = (np.arange(owner.size) - base[owner]).astype(np.int32)
    ranks = slice(layout.regular, layout.base.size)
    return LongDocuments(
        layout.long_places, ranks, *(device.put(one) for one in (base, length, owner, place))
    )


def update(
    device: Device,
    key: Key,
    long: LongDocuments,
    given: GivenMeasure,
    column_of: Any,
    counts: Any,
    passes: int,
    tally: tuple[Any, Any, Any],
    x: Any,
    z: Any,
    number: Any,
) -> LongDocuments:
    """Update topics and tables of all words given G_0; return the documents with their new counts."""
    xp, number = device.xp, number[long.ranks]
    x, z = x[long.places], z[long.places]
    n_documents, n_words = int(long.length.size), int(long.owner.size)
    listed = xp.zeros((n_documents, given.columns), np.int32)
    device.launch("count_long", n_words, long.owner, given.columns, column_of, z, listed)
    theta = xp.empty((n_documents, given.moving))
    for turn in range(passes):
        device.launch(
            "draw_theta", theta.size, counter_key(key, "theta", turn), given.moving, given.columns, number,
            given.mass, listed, theta,
        )  # fmt: skip
        device.launch(
            "draw_long", n_words, counter_key(key, "long words", turn), long.owner, long.place, number, x, z,
            given.moving, given.columns, given.phi, counts.shape[1], theta, counts, listed,
        )  # fmt: skip
    long = long._replace(listed=listed)
    tables = xp.empty(listed.shape, np.int32)
    device.launch(
        "seat_long", listed.size, counter_key(key, "seats"), given.columns, number, listed,
        _slots(device, long), given.mass, given.survival, given.known, xp.empty(n_words, np.int32), *tally,
        tables,
    )  # fmt: skip
    return long


def _slots(device: Device, long: LongDocuments) -> Any:
    """Return where the sizes of the tables of each topic and document go; there is room for one per word."""
    listed, xp = long.listed, device.xp
    return long.base[:, None] + xp.cumsum(listed, axis=1, dtype=np.int64) - listed


def write_long_seats(
    device: Device,
    key: Key,
    long: LongDocuments,
    given: GivenMeasure,
    z: Any,
    seats: dict[str, Any],
    number: Any,
) -> Any:
    """Write out the seating after an update with the same key; return the tables of each document."""
    xp, listed, seat_key = device.xp, long.listed, counter_key(key, "seats")
    number, n_words, slots = number[long.ranks], int(long.owner.size), _slots(device, long)
    unused = [xp.zeros(n, np.uint64) for n in (given.columns, given.columns, int(long.length.max()) + 1)]
    tables, scratch = xp.empty(listed.shape, np.int32), xp.empty(n_words, np.int32)
    device.launch(
        "seat_long", listed.size, seat_key, given.columns, number, listed, slots, given.mass, given.survival,
        given.known, scratch, *unused, tables,
    )  # fmt: skip
    ends = xp.cumsum(tables, axis=1, dtype=np.int32)
    t_ji, k_jt, n_jt = (seats[name][long.places] for name in ("t_ji", "k_jt", "n_jt"))
    device.launch(
        "seat_long_words", listed.size, seat_key, given.columns, long.base, long.length, number, listed,
        slots, ends - tables, given.mass, given.survival, given.known, scratch, z[long.places], t_ji, k_jt,
        n_jt,
    )  # fmt: skip
    return ends[:, -1]


def count_together(
    device: Device, long: LongDocuments, n_topics: int, z: Any, tally: tuple[Any, Any, Any]
) -> LongDocuments:
    """Count words and tables, one table per topic and document; return the documents with these counts."""
    xp = device.xp
    listed = xp.zeros((int(long.length.size), n_topics), np.int32)
    same = xp.arange(n_topics, dtype=np.uint16)
    device.launch("count_long", int(long.owner.size), long.owner, n_topics, same, z[long.places], listed)
    words, tables, sizes = tally
    words += listed.sum(axis=0).astype(np.uint64)
    tables += (listed > 0).sum(axis=0).astype(np.uint64)
    counted = xp.bincount(listed.ravel(), minlength=int(sizes.size)).astype(np.uint64)
    counted[0] = 0
    sizes += counted
    return long._replace(listed=listed)
