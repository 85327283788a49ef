"""The tables of documents on a GPU, for split-merge trials (`engines.table_source`)."""

from typing import Any

import numpy as np

from franchise._arrays import Array
from franchise.engines.partitions.cuda.block import Block
from franchise.engines.partitions.cuda.source import SIDE_BY_SIDE
from franchise.engines.table_source import RANGES_EACH, Tables
from franchise.engines.threads import Range, Threads, falling_ranges
from franchise.model.table_words import GatherScratch, group_tables, new_gather_scratch


class BlockTables:
    """The tables of a block whose seating is written out, with topics as stored there.

    Parameters
    ----------
    block
        The documents.
    threads
        Threads for work on the host; results do not depend on their number.
    """

    def __init__(self, block: Block, threads: Threads) -> None:
        self._block, self.threads = block, threads
        ranks = block.layout.ranks
        documents = np.flatnonzero(ranks >= 0)
        first_words = block.first_word + block.corpus.doc_ptr[documents]
        self._ranks = block.device.put(ranks[documents])
        self._first_words = block.device.put(first_words.astype(np.int64))
        self._own: list[GatherScratch] = []

    def tables_of_words(self, words: Array) -> tuple[Array, Array]:
        """Return slots and topics of the tables of these words; -1 and -1 for words that are not here."""
        block, (i, here, documents) = self._block, self._find(words)
        slots, topics = np.full((2, here.size), -1, np.int64)
        begins, base, step = self._where(documents)
        put, get = block.device.put, block.device.get
        with block.on_device("t_ji", "k_jt") as (t_ji, k_jt):
            t = get(t_ji[put(base + (i - begins) * step)]).astype(np.int64)
            topics[here] = get(k_jt[put(base + t * step)])
        slots[here] = block.first_word + begins + t
        return slots, topics

    def _find(self, numbers: Array) -> tuple[Array, Array, Array]:
        """Find the words or slots that are here; return their numbers here, a mask, and their documents."""
        block = self._block
        i = np.asarray(numbers, np.int64) - block.first_word
        here = (i >= 0) & (i < block.corpus.x.size)
        i = i[here]
        return i, here, np.searchsorted(block.corpus.doc_ptr, i, side="right") - 1

    def _where(self, documents: Array) -> tuple[Array, Array, Array]:
        """Return where words of documents begin in the corpus and on the GPU, and their distance there."""
        layout = self._block.layout
        ranks = layout.ranks[documents]
        step = np.where(ranks < layout.regular, SIDE_BY_SIDE, 1)
        return self._block.corpus.doc_ptr[documents], layout.base[ranks], step

    def tables_of(self, topics: Array) -> list[Tables]:
        """Return the tables of each of these topics, by document."""
        block, names = self._block, ("x", "t_ji", "k_jt", "n_jt")
        with block.on_device(*names) as arrays:
            return [self._tables_of(int(topic), arrays) for topic in topics]

    def _tables_of(self, topic: int, arrays: list[Any]) -> Tables:
        block, (x, t_ji, k_jt, n_jt) = self._block, arrays
        device, xp, n = block.device, block.device.xp, self._ranks.size
        tables, words = xp.zeros(n, np.int32), xp.zeros(n, np.int64)
        where = (self._ranks, topic, block.layout.regular, block.base)
        device.launch("count_tables", n, *where, k_jt, n_jt, block.m_j, tables, words)
        table_ends, word_ends = xp.cumsum(tables, dtype=np.int64), xp.cumsum(words)
        n_tables, n_words = (int(ends[-1]) if n else 0 for ends in (table_ends, word_ends))
        slots, sizes = xp.empty(n_tables, np.int64), xp.empty(n_tables, np.int32)
        listed = xp.empty(n_words, np.int32)
        device.launch(
            "list_tables", n, *where, block.length, self._first_words, x, t_ji, k_jt, n_jt, block.m_j, tables,
            table_ends - tables, word_ends - words, slots, sizes, listed,
        )  # fmt: skip
        found = Tables(*(device.get(array) for array in (slots, sizes, listed)))
        self._group(found)
        return found

    def _group(self, tables: Tables) -> None:
        """Put equal terms of every table next to each other."""
        ends = np.concatenate([[0], np.cumsum(tables.n, dtype=np.int64)])
        corpus, number = self._block.corpus, self.threads.number
        if not self._own:
            longest = int(np.diff(corpus.doc_ptr).max(initial=0))
            self._own = [new_gather_scratch(corpus.n_terms, longest) for _ in range(number)]

        def group(one: Range, own: GatherScratch) -> None:
            group_tables(tables.words, ends, own, *one)

        self.threads.each(group, falling_ranges(ends, number, each=RANGES_EACH), self._own)

    def relabel(self, slots: Array, topic: int, counts: Any) -> None:
        """Give the tables at these slots to a topic; slots that are not here are skipped.

        `counts` (term, topic) on the GPU follow.
        """
        block, (i, _, documents) = self._block, self._find(slots)
        put, layout = block.device.put, block.layout
        table = (i - block.corpus.doc_ptr[documents]).astype(np.int32)
        with block.on_device("x", "t_ji", "k_jt", "z", changes=("k_jt", "z")) as (x, t_ji, k_jt, z):
            block.device.launch(
                "relabel", i.size, put(layout.ranks[documents]), put(table), topic, layout.regular,
                block.base, block.length, x, t_ji, k_jt, z, counts, counts.shape[1],
            )  # fmt: skip
