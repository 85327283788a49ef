"""The layout of documents in the memory of a GPU.

Documents up to a certain length are updated by one thread each. They are sorted by length, and groups of 32
lie side by side: all first words, all second words, and so on. So the threads of a warp read neighbouring
memory. Longer documents follow, each on its own.
"""

from typing import NamedTuple

import numpy as np

from franchise._arrays import Array
from franchise.engines.partitions.cuda.source import SIDE_BY_SIDE

LONG = 4096  # words; longer documents have all their words sampled at once


class Layout(NamedTuple):
    """The layout; documents without words have no rank."""

    documents: Array  # int64: the document of each rank
    ranks: Array  # int64: the rank of each document, -1 if it has no words
    regular: int  # ranks below it lie side by side
    base: Array  # int64, of each rank: the place of its first word
    length: Array  # int32, of each rank
    n_places: int

    @property
    def long_places(self) -> slice:
        """The places of words of long documents."""
        has_long = self.regular < self.base.size
        return slice(int(self.base[self.regular]) if has_long else self.n_places, self.n_places)


def lay_out(doc_ptr: Array) -> Layout:
    """Lay out the documents that `doc_ptr` describes."""
    lengths = np.diff(doc_ptr)
    is_regular = (lengths > 0) & (lengths <= LONG)
    regular, long = np.flatnonzero(is_regular), np.flatnonzero(lengths > LONG)
    regular = regular[np.argsort(-lengths[regular], kind="stable")]
    documents = np.concatenate([regular, long])
    length = lengths[documents]
    # As wide as the longest, which comes first.
    widths = length[: regular.size : SIDE_BY_SIDE] * SIDE_BY_SIDE
    ends = np.cumsum(widths)
    beside = np.arange(regular.size)
    base = np.concatenate(
        [
            (ends - widths)[beside // SIDE_BY_SIDE] + beside % SIDE_BY_SIDE,
            widths.sum() + np.cumsum(length[regular.size :]) - length[regular.size :],
        ]
    ).astype(np.int64)
    ranks = np.full(lengths.size, -1, np.int64)
    ranks[documents] = np.arange(documents.size)
    n_places = int(widths.sum() + length[regular.size :].sum())
    return Layout(documents, ranks, regular.size, base, length.astype(np.int32), n_places)
