"""The tables of a franchise of cells: words of one term at one table are a count, not words.

The state is that of words (`model.state`), but for this: words have no seats of their own, so ``t_ji`` is
empty; and slots have no gaps, table t of document j being slot ``slot_ptr[j] + t``. That is all that most
moves and counts know of documents, and they are given it as a corpus without words (`slots_as_corpus`).
Terms have room for as many topics as there is room for in the state, or as many as they have words.
"""

from typing import NamedTuple

import numpy as np

from franchise._arrays import Array, CellArrays, CorpusArrays
from franchise.model.state import State, state_of_counts


class CellTables(NamedTuple):
    """What each table holds: terms, each once, with counts."""

    slot_ptr: Array  # int64: tables before each document
    pair_ptr: Array  # int64: pairs of a term and a count before each table
    term: Array  # int32
    words: Array  # int32, 1 or more: how many of the term


def no_tables(n_documents: int) -> CellTables:
    """Return the tables of documents whose words sit nowhere yet."""
    empty = np.zeros(0, np.int32)
    return CellTables(np.zeros(n_documents + 1, np.int64), np.zeros(1, np.int64), empty, empty.copy())


def slots_as_corpus(cells: CellArrays, tables: CellTables) -> CorpusArrays:
    """Return what moves and counts take for a corpus."""
    doc_ptr, x = tables.slot_ptr.copy(), np.zeros(0, np.int32)
    doc_ptr.flags.writeable = x.flags.writeable = False  # of the same type as the arrays of a corpus
    return CorpusArrays(x, doc_ptr, cells.n_terms)


def term_counts(cells: CellArrays) -> Array:
    """Return the number of words of each term."""
    return np.bincount(cells.terms, weights=cells.counts, minlength=cells.n_terms).astype(np.int64)


def empty_cell_state(cells: CellArrays, capacity: int) -> State:
    """Return the state in which no word is seated and there is no topic."""
    return state_of_counts(term_counts(cells), cells.doc_ptr.size - 1, capacity)
