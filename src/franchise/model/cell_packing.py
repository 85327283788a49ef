"""Whether the seating of cells that a checkpoint stores adds up: nothing is trusted before that.

The tables of all documents have sizes n_jt, topics k_jt, and pairs of a term and a count, table after table.
"""

import numpy as np

from franchise._arrays import Array, CellArrays
from franchise.model.state import BORN


def broken_cells(cells: CellArrays, arrays: dict[str, Array]) -> str:
    """Return what does not add up, in words; nothing for a sound state."""
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
