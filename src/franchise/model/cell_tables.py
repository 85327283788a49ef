"""The tables of a state of cells: the words of one term at one table are a count.

The state is that of words (`model.state`), with two differences. Words have no seats of their own, so
``t_ji`` is empty. And slots have no gaps: table t of document j is slot ``slot_ptr[j] + t``. Most moves and
counts need only the slots of documents, so they receive a corpus without words (`slots_as_corpus`). The row
of a term has room for as many topics as the state, or as many as the term has words.

A checkpoint stores the sizes n_jt of the tables of all documents, their topics k_jt, and pairs of a term and
a count, table after table. `broken_cells` checks that they are consistent; nothing is used before.
"""

from typing import NamedTuple

import numpy as np

from franchise._arrays import Array, CellArrays, CorpusArrays
from franchise.model.state import BORN


class CellTables(NamedTuple):
    """The contents of each table: different terms with counts."""

    slot_ptr: Array  # int64: number of tables before each document
    pair_ptr: Array  # int64: number of pairs (term, count) before each table
    term: Array  # int32
    words: Array  # int32, 1 or more: the number of words of the term


def no_tables(n_documents: int) -> CellTables:
    """Return the tables of documents without any seated word."""
    empty = np.zeros(0, np.int32)
    return CellTables(np.zeros(n_documents + 1, np.int64), np.zeros(1, np.int64), empty, empty.copy())


def slots_as_corpus(cells: CellArrays, tables: CellTables) -> CorpusArrays:
    """Return the slots as a corpus, for moves and counts."""
    doc_ptr, x = tables.slot_ptr.copy(), np.zeros(0, np.int32)
    doc_ptr.flags.writeable = x.flags.writeable = False  # the same type as the arrays of a corpus
    return CorpusArrays(x, doc_ptr, cells.n_terms)


def term_counts(cells: CellArrays) -> Array:
    """Return the number of words of each term."""
    return np.bincount(cells.terms, weights=cells.counts, minlength=cells.n_terms).astype(np.int64)


def broken_cells(cells: CellArrays, arrays: dict[str, Array]) -> str:
    """Return what is inconsistent, in words; empty for a sound state."""
    return _out_of_bounds(cells, arrays) or _does_not_add_up(cells, arrays)


def _out_of_bounds(cells: CellArrays, arrays: dict[str, Array]) -> str:
    kinds = dict.fromkeys(("m_j", "n_jt", "k_jt", "n_pairs", "term", "count"), np.int32)
    kinds |= {"name_k": np.int64, "totals": np.int64, "concentrations": np.float64}  # type: ignore[dict-item]
    for name, kind in kinds.items():
        if arrays[name].dtype != kind or arrays[name].ndim != 1:
            return f"{name} is not a list of numbers of the right kind"
    m_j, n_jt, n_pairs = arrays["m_j"], arrays["n_jt"], arrays["n_pairs"]
    n_tables, n_topics, c = n_jt.size, arrays["name_k"].size, arrays["concentrations"]
    checks = {
        "the number of documents differs": m_j.size == cells.doc_ptr.size - 1,
        "a document has an impossible number of tables": np.all(m_j >= 0) and m_j.sum() == n_tables,
        "tables and topics of tables differ in number": arrays["k_jt"].size == n_pairs.size == n_tables,
        "a table has an impossible number of terms": np.all(n_pairs >= 1)
        and n_pairs.sum() == arrays["term"].size == arrays["count"].size,
        "a table has a topic that does not exist": _within(arrays["k_jt"], n_topics),
        "a table has a term that does not exist": _within(arrays["term"], cells.n_terms),
        "a table has less than one word of a term": np.all(arrays["count"] >= 1),
        "the names of topics are impossible": np.unique(arrays["name_k"]).size == n_topics
        and arrays["totals"].size == 5
        and _within(arrays["name_k"], int(arrays["totals"][BORN])),
        "a concentration is not a positive number": c.size == 3 and np.all(np.isfinite(c) & (c > 0)),
    }
    return next((complaint for complaint, passes in checks.items() if not passes), "")


def _within(values: Array, end: int) -> bool:
    return bool(np.all((values >= 0) & (values < end)))


def _does_not_add_up(cells: CellArrays, arrays: dict[str, Array]) -> str:
    n_pairs, counts = arrays["n_pairs"], arrays["count"].astype(np.int64)
    table = np.repeat(np.arange(n_pairs.size), n_pairs)
    document = np.repeat(np.repeat(np.arange(arrays["m_j"].size), arrays["m_j"]), n_pairs)
    if np.any(_sums(table, counts, n_pairs.size) != arrays["n_jt"]):
        return "the sizes of tables differ from a recount"
    if np.unique(table * np.int64(cells.n_terms) + arrays["term"]).size != table.size:
        return "a table has a term twice"
    if np.unique(arrays["k_jt"]).size != arrays["name_k"].size:
        return "a topic has no tables"
    own = np.repeat(np.arange(arrays["m_j"].size), np.diff(cells.cell_ptr)) * np.int64(cells.n_terms)
    keys, which = np.unique(document * np.int64(cells.n_terms) + arrays["term"], return_inverse=True)
    if not np.array_equal(keys, own + cells.terms) or np.any(_sums(which, counts, keys.size) != cells.counts):
        return "the words at the tables are not those of the documents"
    return ""


def _sums(which: Array, values: Array, size: int) -> Array:
    return np.bincount(which, weights=values, minlength=size).astype(np.int64)
