"""Corpora from data already in memory: lists of words, and matrices of counts.

Reading files is in ``readers``; splitting raw text into words is not here.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import numpy.typing as npt

from franchise.corpus.corpus import MAX_WORDS, Corpus, numbered, strings
from franchise.corpus.layout import lay_words
from franchise.errors import CorpusError

_SPLIT_FIRST = "a document is a list of words; split the text first"


def from_tokens(
    documents: Iterable[Sequence[str] | Sequence[int] | npt.NDArray[Any]],
    *,
    vocabulary: Sequence[str] | None = None,
    document_names: Sequence[str] | None = None,
) -> Corpus:
    """Make a corpus from documents already split into words.

    Parameters
    ----------
    documents
        One sequence of words a document. With a vocabulary, a document may also be a sequence of term ids.
    vocabulary
        The terms; a word outside it is an error. By default, every word seen, in alphabetical order.
    document_names
        One name a document; by default ``"0"``, ``"1"``, and so on.

    Returns
    -------
    Corpus
        Words in the order given; empty documents are kept.

    Examples
    --------
    >>> from_tokens([["bee", "ant"], ["bee"]]).vocabulary
    ('ant', 'bee')
    """
    if vocabulary is None:
        x, doc_ptr, terms = _learn_vocabulary(documents)
    else:
        terms = strings(vocabulary, "vocabulary", "term")
        x, doc_ptr = _apply_vocabulary(documents, terms)
    return Corpus(x, doc_ptr, terms, document_names)


def from_counts(
    counts: Any,
    *,
    vocabulary: Sequence[str] | None = None,
    document_names: Sequence[str] | None = None,
) -> Corpus:
    """Make a corpus from a matrix of counts, documents by terms.

    Parameters
    ----------
    counts
        A dense two-dimensional array, any SciPy sparse matrix or array (duplicate entries add up), or a
        DataFrame. Whole numbers, zero or more, of any numeric dtype.
    vocabulary
        One term a column. By default, a DataFrame's columns, otherwise ``"0"``, ``"1"``, and so on.
    document_names
        One name a row. By default, a DataFrame's index, otherwise ``"0"``, ``"1"``, and so on.

    Returns
    -------
    Corpus
        Words of each document in term order, repeats adjacent; all columns are terms, all rows are documents.

    Examples
    --------
    >>> from_counts([[2, 0], [1, 1]], vocabulary=["ant", "bee"]).x.tolist()
    [0, 0, 0, 1]
    """
    if hasattr(counts, "to_numpy") and hasattr(counts, "columns"):
        vocabulary = [str(label) for label in counts.columns] if vocabulary is None else vocabulary
        document_names = [str(label) for label in counts.index] if document_names is None else document_names
        counts = counts.to_numpy()
    (n_documents, n_terms), rows, columns, values = _entries(counts)
    terms = numbered(n_terms) if vocabulary is None else strings(vocabulary, "vocabulary", "term")
    _check_width(terms, n_documents, n_terms)
    whole = _whole_numbers(rows, columns, values)
    x, doc_ptr = lay_words(rows, columns, whole, n_documents)
    return Corpus(x, doc_ptr, terms, document_names)


def _learn_vocabulary(
    documents: Iterable[Any],
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], tuple[str, ...]]:
    seen: defaultdict[str, int] = defaultdict()
    seen.default_factory = seen.__len__  # a new word gets the next number
    ids, doc_ptr = array("i"), array("q", [0])
    for j, document in enumerate(documents):
        words = _words(document, j)
        if not _all_strings(words):
            raise _not_a_word(words, j, "words are strings; for term ids give a vocabulary too")
        ids.extend(map(seen.__getitem__, words))
        doc_ptr.append(len(ids))
    terms = tuple(sorted(seen))
    rank = np.empty(len(terms), dtype=np.int32)
    rank[[seen[term] for term in terms]] = np.arange(len(terms), dtype=np.int32)
    return rank[np.asarray(ids)] if ids else np.empty(0, np.int32), np.asarray(doc_ptr), terms


def _apply_vocabulary(
    documents: Iterable[Any], vocabulary: Sequence[str]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    index = {term: v for v, term in enumerate(vocabulary)}
    ids, doc_ptr = array("i"), array("q", [0])
    for j, document in enumerate(documents):
        words = _words(document, j)
        if _all_strings(words):
            unknown = next((word for word in words if word not in index), None)
            if unknown is not None:
                raise CorpusError(
                    f"document {j}: {unknown!r} is not in the vocabulary; add it, or drop such words first"
                )
            ids.extend(map(index.__getitem__, words))
        else:
            ids.extend(_term_ids(words, j, len(vocabulary)))
        doc_ptr.append(len(ids))
    return np.asarray(ids), np.asarray(doc_ptr)


def _words(document: Any, j: int) -> list[Any]:
    if isinstance(document, str | bytes):
        raise CorpusError(f"document {j} is a single string; {_SPLIT_FIRST}")
    if isinstance(document, AbstractSet | Mapping):
        raise CorpusError(
            f"document {j} is a {type(document).__name__}; give a list, which keeps order and repeats"
        )
    if isinstance(document, np.ndarray):
        return document.tolist() if document.ndim == 1 else [document]
    try:
        return list(document)
    except TypeError:
        raise CorpusError(
            f"document {j} is {document!r} ({type(document).__name__}); {_SPLIT_FIRST}"
        ) from None


def _all_strings(words: list[Any]) -> bool:
    # The set of types is quick; only exotic strings (NumPy's) need the second look.
    return set(map(type, words)) <= {str} or all(isinstance(word, str) for word in words)


def _term_ids(words: list[Any], j: int, n_terms: int) -> list[int]:
    if not all(isinstance(word, int | np.integer) and not isinstance(word, bool) for word in words):
        raise _not_a_word(words, j, "give all words as strings, or all as term ids")
    for word in words:
        if not 0 <= word < n_terms:
            raise CorpusError(
                f"document {j}: term id {word} is outside the vocabulary of {n_terms:,} terms; "
                "ids count from 0"
            )
    return words


def _not_a_word(words: list[Any], j: int, advice: str) -> CorpusError:
    i, word = next((i, word) for i, word in enumerate(words) if not isinstance(word, str))
    return CorpusError(f"document {j}, word {i} is {word!r} ({type(word).__name__}); {advice}")


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
                "the counts are ragged: rows differ in length; give one column a term"
            ) from None
    if len(matrix.shape) != 2:
        raise CorpusError(
            f"the counts have {len(matrix.shape)} dimensions; give a 2-D array, documents by terms"
        )
    if matrix.dtype.kind not in "biuf":
        raise CorpusError(f"the counts have dtype {matrix.dtype}, which is not numeric; give whole numbers")
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
    advice = "give one term a column"
    if len(vocabulary) == n_documents:
        advice = "the matrix looks transposed: rows are documents and columns are terms, so pass counts.T"
    raise CorpusError(
        f"the vocabulary has {len(vocabulary):,} terms, but the counts have {n_terms:,} columns; {advice}"
    )


def _whole_numbers(
    rows: npt.NDArray[Any], columns: npt.NDArray[Any], values: npt.NDArray[Any]
) -> npt.NDArray[np.int64]:
    checks = (
        (np.isfinite, "is not a finite number; counts are whole numbers, put 0 where there is none"),
        (lambda v: v >= 0, "is negative; counts are 0 or more"),
        (lambda v: v == np.floor(v), "is fractional; give raw counts, not weights or frequencies"),
        (lambda v: v <= MAX_WORDS, f"is too large; counts go up to {MAX_WORDS:,}"),
    )
    for passes, complaint in checks:
        bad = np.flatnonzero(~passes(values))
        if bad.size:
            i = bad[0]
            raise CorpusError(f"the count at (row {rows[i]}, column {columns[i]}), {values[i]}, {complaint}")
    return values.astype(np.int64)
