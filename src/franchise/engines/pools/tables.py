"""The tables of all partitions of a pool, for split-merge trials."""

import numpy as np

from franchise.engines.partitions.partition import Partition
from franchise.engines.pools.pool import Pool
from franchise.engines.table_source import Tables, joined
from franchise.model.state import Array


class PooledTables:
    """Knows the tables of all documents by asking the partitions.

    Parameters
    ----------
    pool
        Who holds them.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def tables_of_words(self, words: Array) -> tuple[Array, Array]:
        """Return the slot of the table of each of these words, and its topic."""
        slots, topics = np.max(
            self._pool.all(Partition.tables_of_words, words), axis=0
        )  # -1 from all but one
        return slots, topics

    def tables_of(self, topics: Array) -> list[Tables]:
        """Return the tables of each of these topics."""
        found = self._pool.all(Partition.tables_of, topics)
        return [joined([Tables(*part) for part in of_topic]) for of_topic in zip(*found, strict=True)]

    def relabel(self, slots: Array, topic: int) -> None:
        """Give the tables at these slots, in increasing order, to a topic."""
        cuts = np.searchsorted(slots, self._pool.first_words[1:])
        self._pool.each(Partition.relabel, [(part, topic) for part in np.split(slots, cuts)])
