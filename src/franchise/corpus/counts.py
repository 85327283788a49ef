"""Corpora from counts: equal counts from a matrix or a file give equal corpora.

The words of a document are in term order, repeats adjacent. Words are exchangeable in the model, so their
order has no meaning; a fixed order makes runs reproducible. If words would take much more memory than the
counts, they are laid out only when needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from franchise._arrays import CellArrays, offsets_of
from franchise.corpus.cells import cells_from, cells_pay, check_sum, words_of
from franchise.corpus.checks import MAX_WORDS, is_frame, names_of, numbered, strings
from franchise.corpus.corpus import Corpus
from franchise.corpus.large_arrays import BLOCK, Growing, blocks, handed_over, let_go
from franchise.corpus.metadata import check_same_order
from franchise.corpus.texts import Offsets, Words
from franchise.errors import CorpusError


def from_counts(
    counts: Any,
    *,
    vocabulary: Sequence[str] | None = None,
    document_names: Sequence[str] | None = None,
    metadata: Any = None,
) -> Corpus:
    """Make a corpus from a matrix of counts, documents by terms.

    Parameters
    ----------
    counts
        A dense two-dimensional array, any SciPy sparse matrix or array (duplicate entries add up), or a
        DataFrame, with whole numbers, zero or more, of any numeric dtype.
    vocabulary
        One term per column. By default, a DataFrame's columns, otherwise ``"0"``, ``"1"``, and so on.
    document_names
        One name per row. By default, a DataFrame's index, otherwise ``"0"``, ``"1"``, and so on.
    metadata
        Further columns about the documents, as for :class:`Corpus`.

    Returns
    -------
    Corpus
        The words of each document in term order, repeats adjacent. All columns are terms, all rows are
        documents. With eight words or more per count, the corpus keeps the counts (``keeps_cells``) and lays
        out its words only when needed.

    Examples
    --------
    >>> from_counts([[2, 0], [1, 1]], vocabulary=["ant", "bee"]).x.tolist()
    [0, 0, 0, 1]
    """
    matrix, columns = split_columns(counts)
    names = names_of(counts) if document_names is None else document_names
    check_same_order(counts, metadata)
    terms = columns if vocabulary is None else strings(vocabulary, "vocabulary", "term")
    n_documents, entries, terms = _checked_entries(matrix, terms, names)
    return corpus_of_entries(*entries, n_documents, terms, names, metadata=metadata)


def split_columns(counts: Any) -> tuple[Any, tuple[str, ...] | None]:
    """Split a DataFrame into its values and column names; return None as names for other objects."""
    if not is_frame(counts):
        return counts, None
    values = counts.to_numpy()
    refuse_texts(values, counts.columns)
    if values.dtype == object:
        with suppress(TypeError):  # values that are not numbers are refused later
            values = values.astype(np.float64)  # for the nullable integers of pandas
    return values, tuple(str(label) for label in counts.columns)


def refuse_texts(values: Any, columns: Iterable[Any] | None = None) -> None:
    """Refuse data with texts or words in place of counts; name the column."""
    if values.ndim != 2 or values.dtype.kind not in "OUST":
        return
    labels = range(values.shape[1]) if columns is None else columns
    for column, label in zip(values.T, labels):
        if any(isinstance(value, str | list | tuple | np.ndarray) for value in column):
            one = f"X[:, {label}]" if columns is None else f"df[{label!r}]"
            raise CorpusError(
                f"column {label!r} holds texts or lists, not counts; to use these, pass {one}",
                code="texts-not-counts",
            )


def words_of_counts(
    counts: Any, terms: tuple[str, ...] | None, names: Sequence[str] | None = None
) -> tuple[Words, Offsets, tuple[str, ...]]:
    """Lay out the words of a matrix, which may have none. By default, terms are named by number."""
    n_documents, entries, terms = _checked_entries(counts, terms, names)
    cells = cells_from(*entries, n_documents, len(terms))
    return words_of(cells), cells.doc_ptr, terms


def _checked_entries(
    counts: Any, terms: tuple[str, ...] | None, names: Sequence[str] | None
) -> tuple[int, tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[np.int64]], tuple[str, ...]]:
    """Return the number of documents, the entries that are not zero, and the terms."""
    (n_documents, n_terms), rows, columns, values = _entries(counts)
    terms = numbered(n_terms) if terms is None else terms
    if len(terms) != n_terms:
        advice = "give one term per column"
        if len(terms) == n_documents:
            advice = "the matrix looks transposed: rows are documents and columns are terms, so pass counts.T"
        raise CorpusError(
            f"the vocabulary has {len(terms):,} terms, but the counts have {n_terms:,} columns; {advice}",
            code="vocabulary-mismatch",
        )
    _check_counts(rows, columns, values, names, terms)
    return n_documents, (rows, columns, values.astype(np.int64)), terms


def _entries(counts: Any) -> tuple[tuple[int, int], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Return shape, rows, columns and values of nonzero entries, row by row, with increasing columns."""
    sparse = hasattr(counts, "tocsr") and hasattr(counts, "nnz")
    if sparse:
        matrix = counts
    else:
        try:
            matrix = np.asarray(counts)
        except ValueError:
            raise CorpusError(
                "the counts are ragged: rows differ in length; give one column per term", code="ragged-counts"
            ) from None
    if len(matrix.shape) != 2:
        raise CorpusError(
            f"the counts have {len(matrix.shape)} dimensions; give a 2-D array, documents by terms",
            code="wrong-shape",
        )
    if matrix.dtype.kind not in "biuf":
        raise CorpusError(
            f"the counts have dtype {matrix.dtype}, which is not numeric; give whole numbers, "
            "or a flat list if these are texts",
            code="counts-not-numeric",
        )
    shape = (int(matrix.shape[0]), int(matrix.shape[1]))
    if not sparse:
        rows, columns = np.nonzero(matrix)
        return shape, rows, columns, matrix[rows, columns]
    # Widen before summing duplicates: booleans would saturate and 8-bit counts overflow.
    csr = matrix.astype(np.float64 if matrix.dtype.kind in "fu" else np.int64).tocsr(copy=True)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    return shape, np.repeat(np.arange(shape[0]), np.diff(csr.indptr)), csr.indices, csr.data


def _check_counts(
    rows: npt.NDArray[Any],
    columns: npt.NDArray[Any],
    values: npt.NDArray[Any],
    names: Sequence[str] | None,
    terms: Sequence[str],
) -> None:
    """Refuse a value that is not a count; name its place."""
    for passes, code, advice in _CHECKS:
        bad = np.flatnonzero(~passes(values))
        if not bad.size:
            continue
        row, column, value = int(rows[bad[0]]), int(columns[bad[0]]), values[bad[0]]
        where = f"{_place('row', row, 'document', names)}, {_place('column', column, 'term', terms)}"
        raise CorpusError(f"the count at {where} is {'NaN' if np.isnan(value) else value}{advice}", code=code)


_CHECKS: tuple[tuple[Callable[[npt.NDArray[Any]], npt.NDArray[np.bool_]], str, str], ...] = (
    (np.isfinite, "count-not-finite", "; give whole numbers, and 0 for no words"),
    # scikit-learn's checks look for "Negative values in data".
    (lambda v: v >= 0, "negative-count", ". Negative values in data are not counts; give 0 or more"),
    (lambda v: v == np.floor(v), "fractional-count", "; give raw counts, not weights or frequencies"),
    (lambda v: v <= MAX_WORDS, "count-too-large", f", which is too large; counts go up to {MAX_WORDS:,}"),
)


def _place(what: str, number: int, named: str, names: Sequence[str] | None) -> str:
    """Return the number of a row or column, and its name if it has one."""
    name = None if names is None or number >= len(names) else names[number]
    return f"{what} {number}" if name in (None, str(number)) else f"{what} {number} ({named} {name!r})"


# ---------------------------------------------------------------- entries (document, term, count)


def corpus_of_entries(
    documents: npt.NDArray[Any],
    terms: npt.NDArray[Any],
    counts: npt.NDArray[np.integer[Any]],
    n_documents: int,
    vocabulary: Iterable[str],
    document_names: Iterable[str] | None = None,
    *,
    metadata: Any = None,
) -> Corpus:
    """Make a corpus of entries with increasing documents, in blocks, and on disk if there are many.

    Entries of the same document and term add up. The other arguments are as for
    :class:`~franchise.corpus.Corpus`.
    """
    terms_of_all = tuple(vocabulary)
    n_words = sum(int(counts[block].sum(dtype=np.float64)) for block in blocks(len(counts)))
    check_sum(n_words)
    # Entries that share a cell are rare enough to ignore here.
    as_cells = cells_pay(n_words, len(counts))
    columns = (Growing(), Growing()) if as_cells else (Growing(),)
    lengths, sizes = np.zeros(n_documents, np.int64), np.zeros(n_documents, np.int64)
    begin = 0
    while begin < len(documents):  # whole documents, about a million entries at a time
        first, last = int(documents[begin]), int(documents[min(begin + BLOCK, len(documents)) - 1])
        end = int(np.searchsorted(documents, last, side="right"))
        entries = (documents[begin:end] - first, terms[begin:end], counts[begin:end].astype(np.int64))
        cells = cells_from(*entries, last - first + 1, len(terms_of_all))
        lengths[first : last + 1], sizes[first : last + 1] = np.diff(cells.doc_ptr), np.diff(cells.cell_ptr)
        for column, values in zip(columns, cells[2:4] if as_cells else (words_of(cells),)):
            column.extend(values)
        let_go(documents, terms, counts)
        begin = end
    doc_ptr, arrays = handed_over(offsets_of(lengths)), [handed_over(column.array()) for column in columns]
    if not as_cells:
        return Corpus(arrays[0], doc_ptr, terms_of_all, document_names, metadata=metadata)
    own_terms, own_counts = arrays
    all_cells = CellArrays(doc_ptr, handed_over(offsets_of(sizes)), own_terms, own_counts, len(terms_of_all))
    return Corpus.from_cells(all_cells, terms_of_all, document_names, metadata=metadata)
