"""Corpora from data already in memory: lists of words, and matrices of counts.

Numbering words is in ``tokens``, reading files in ``readers``, splitting raw text into words in
``vectorize``, telling the kinds of data apart in ``documents``. What follows the first two functions, and is
not private, is shared with these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from contextlib import suppress
from reprlib import repr as shortened
from typing import Any

import numpy as np
import numpy.typing as npt

from franchise.corpus.cells import words_of
from franchise.corpus.corpus import MAX_WORDS, Corpus, numbered, strings
from franchise.corpus.growing import handed_over
from franchise.corpus.layout import cells_of_entries, corpus_of_entries
from franchise.corpus.metadata import check_same_order
from franchise.corpus.tokens import Offsets, Words, apply_vocabulary, learn_vocabulary
from franchise.errors import CorpusError


def from_tokens(
    documents: Iterable[Sequence[str] | Sequence[int] | npt.NDArray[Any]],
    *,
    vocabulary: Sequence[str] | None = None,
    document_names: Sequence[str] | None = None,
    metadata: Any = None,
) -> Corpus:
    """Make a corpus from documents already split into words.

    Parameters
    ----------
    documents
        One sequence of words per document. With a vocabulary, a document may also be a sequence of term ids.
    vocabulary
        The terms; a word outside it is an error. By default, every word seen, in alphabetical order.
    document_names
        One name per document. By default, a Series' index, otherwise ``"0"``, ``"1"``, and so on.
    metadata
        What else is known of each document, as :class:`Corpus` takes it.

    Returns
    -------
    Corpus
        Words in the order given; empty documents are kept.

    Examples
    --------
    >>> from_tokens([["bee", "ant"], ["bee"]]).vocabulary
    ('ant', 'bee')
    """
    names = names_of(documents) if document_names is None else document_names
    check_same_order(documents, metadata)
    if vocabulary is None:
        x, doc_ptr, terms = learn_vocabulary(documents)
    else:
        terms = strings(vocabulary, "vocabulary", "term")
        x, doc_ptr = apply_vocabulary(documents, terms)
    return Corpus(handed_over(x), doc_ptr, terms, names, metadata=metadata)


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
        DataFrame. Whole numbers, zero or more, of any numeric dtype.
    vocabulary
        One term per column. By default, a DataFrame's columns, otherwise ``"0"``, ``"1"``, and so on.
    document_names
        One name per row. By default, a DataFrame's index, otherwise ``"0"``, ``"1"``, and so on.
    metadata
        What else is known of each document, as :class:`Corpus` takes it.

    Returns
    -------
    Corpus
        Words of each document in term order, repeats adjacent; all columns are terms, all rows are documents.
        Where there are eight words or more per count, the corpus keeps the counts (``keeps_cells``), and lays
        out its words only when they are asked for.

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


def iterate(documents: Any, what: str) -> Iterator[Any]:
    """Start to read documents; refuse what has no order, and a lone string."""
    if isinstance(documents, str | bytes):
        raise CorpusError(
            f"the {what} are a single string; give a list of texts, one string per document",
            code="single-string",
        )
    if isinstance(documents, AbstractSet | Mapping):
        raise CorpusError(
            f"the {what} are in a {type(documents).__name__}; give a list, which keeps order",
            code="unordered-collection",
        )
    try:
        return iter(documents)
    except TypeError:
        raise CorpusError(
            f"the {what} are {shortened(documents)} ({type(documents).__name__}); give a list of them",
            code="wrong-type",
        ) from None


def names_of(documents: Any) -> list[str] | None:
    """Return the labels of the rows of a Series or DataFrame, or None for what has no index."""
    index = getattr(documents, "index", None)
    # A list has a method of this name.
    return None if index is None or callable(index) else [str(label) for label in index]


def is_frame(data: Any) -> bool:
    """Return whether this is a DataFrame; any library's will do."""
    return hasattr(data, "to_numpy") and hasattr(data, "columns")


def split_columns(counts: Any) -> tuple[Any, tuple[str, ...] | None]:
    """Split a DataFrame into its values and column names; anything else has no names."""
    if not is_frame(counts):
        return counts, None
    values = counts.to_numpy()
    refuse_texts(values, counts.columns)
    if values.dtype == object:
        with suppress(TypeError):  # what cannot be numbers is refused with the other matrices
            values = values.astype(np.float64)  # as pandas returns its nullable integers
    return values, tuple(str(label) for label in counts.columns)


def refuse_texts(values: Any, columns: Iterable[Any] | None = None) -> None:
    """Refuse data that have texts or words where counts should be, and say which column they are in."""
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
    """Lay out the words of a matrix, which may have none; terms not given are named by number."""
    n_documents, entries, terms = _checked_entries(counts, terms, names)
    cells = cells_of_entries(*entries, n_documents, len(terms))
    return words_of(cells), cells.doc_ptr, terms


def _checked_entries(
    counts: Any, terms: tuple[str, ...] | None, names: Sequence[str] | None
) -> tuple[int, tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[np.int64]], tuple[str, ...]]:
    """Return the number of documents, what is not zero, and the terms."""
    (n_documents, n_terms), rows, columns, values = _entries(counts)
    terms = numbered(n_terms) if terms is None else terms
    _check_width(terms, n_documents, n_terms)
    _check_counts(rows, columns, values, names, terms)
    return n_documents, (rows, columns, values.astype(np.int64)), terms


def _entries(counts: Any) -> tuple[tuple[int, int], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Shape, rows, columns and values of the entries that are not zero, row by row, columns increasing."""
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
    return shape, *_sparse_entries(matrix)


def _sparse_entries(matrix: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    # Widen before duplicates are summed: booleans would saturate and 8-bit counts wrap around.
    csr = matrix.astype(np.float64 if matrix.dtype.kind in "fu" else np.int64).tocsr(copy=True)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    rows = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
    return rows, csr.indices, csr.data


def _check_width(vocabulary: Sequence[str], n_documents: int, n_terms: int) -> None:
    if len(vocabulary) == n_terms:
        return
    advice = "give one term per column"
    if len(vocabulary) == n_documents:
        advice = "the matrix looks transposed: rows are documents and columns are terms, so pass counts.T"
    raise CorpusError(
        f"the vocabulary has {len(vocabulary):,} terms, but the counts have {n_terms:,} columns; {advice}",
        code="vocabulary-mismatch",
    )


def _check_counts(
    rows: npt.NDArray[Any],
    columns: npt.NDArray[Any],
    values: npt.NDArray[Any],
    names: Sequence[str] | None,
    terms: Sequence[str],
) -> None:
    """Refuse what is not a count, and say where it is."""
    for passes, code, advice in _CHECKS:
        bad = np.flatnonzero(~passes(values))
        if not bad.size:
            continue
        row, column, value = int(rows[bad[0]]), int(columns[bad[0]]), values[bad[0]]
        where = f"{_place('row', row, 'document', names)}, {_place('column', column, 'term', terms)}"
        raise CorpusError(f"the count at {where} is {'NaN' if np.isnan(value) else value}{advice}", code=code)


_CHECKS: tuple[tuple[Callable[[npt.NDArray[Any]], npt.NDArray[np.bool_]], str, str], ...] = (
    (np.isfinite, "count-not-finite", "; give whole numbers, and 0 where there is none"),
    # scikit-learn's checks look for the first words.
    (lambda v: v >= 0, "negative-count", ". Negative values in data are not counts; give 0 or more"),
    (lambda v: v == np.floor(v), "fractional-count", "; give raw counts, not weights or frequencies"),
    (lambda v: v <= MAX_WORDS, "count-too-large", f", which is too large; counts go up to {MAX_WORDS:,}"),
)


def _place(what: str, number: int, named: str, names: Sequence[str] | None) -> str:
    """Return the number of a row or column, and its name where it has one."""
    name = None if names is None or number >= len(names) else names[number]
    return f"{what} {number}" if name in (None, str(number)) else f"{what} {number} ({named} {name!r})"
