"""Documents in any form, made into a corpus or encoded with a known vocabulary.

The content shows whether documents are texts, lists of words or counts. The work is done in ``batches``
(texts, words) and ``counts``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from numbers import Number
from reprlib import repr as shortened
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from franchise._arrays import CorpusArrays
from franchise.corpus import other_libraries
from franchise.corpus.batches import (
    Batch,
    batch_of,
    batch_of_lists,
    batch_of_texts,
    from_texts,
    from_tokens,
    numbers_in,
)
from franchise.corpus.checks import is_frame, iterate, names_of, numbered
from franchise.corpus.corpus import Corpus
from franchise.corpus.counts import from_counts, split_columns, words_of_counts
from franchise.corpus.text_options import TextOptions
from franchise.corpus.texts import drop_unknown
from franchise.errors import CorpusError, SettingsError

# The kinds of documents, as in messages.
_TEXTS, _WORDS, _COUNTS = "texts", "lists of words", "rows of counts"
_PAIRS = "lists of pairs (term id, count)"
# Kinds of single objects.
_CORPUS, _BATCH, _ANNDATA, _MATRIX = "corpus", "batch", "AnnData", "matrix"

_WHAT_IS_ONE = "a document is a text, a list of words or a row of counts"


class Encoded(NamedTuple):
    """Documents with the terms of an existing corpus. They may have no words."""

    arrays: CorpusArrays  # the words with known terms
    unknown: npt.NDArray[np.int64]  # number of skipped words in each document
    document_names: tuple[str, ...]


def as_corpus(documents: Any, text_options: TextOptions | None = None) -> Corpus:
    """Make a corpus from documents of any kind.

    Parameters
    ----------
    documents
        One of: a corpus, which is returned unchanged; texts or lists of words, in a list, an array, a Series
        or an iterator; counts, documents by terms, in a two-dimensional array, nested lists, a SciPy sparse
        matrix or a DataFrame; an AnnData object, cells by genes; gensim's bags of words, lists of pairs (term
        id, count). The index of a Series or DataFrame holds the names of the documents, and the columns of a
        DataFrame are the terms.
    text_options
        How to split texts into words; None for the defaults, and for documents that are not texts.

    Examples
    --------
    >>> as_corpus(["The ant and the bee", "Bees!"])
    Corpus(2 documents, 3 terms, 3 words)
    >>> as_corpus([["ant", "bee"], ["bee"]])
    Corpus(2 documents, 2 terms, 3 words)
    >>> as_corpus([[1, 1], [0, 1]])
    Corpus(2 documents, 2 terms, 3 words)
    """
    kind, checked = _tell_kind(documents)
    names = names_of(documents)
    if kind == _TEXTS:
        return from_texts(checked, document_names=names, text_options=text_options)
    if text_options is not None:
        raise options_without_texts()
    if kind == _CORPUS:
        return documents  # type: ignore[no-any-return]
    if kind == _ANNDATA:
        return other_libraries.from_anndata(documents)
    if kind == _PAIRS:
        return other_libraries.from_bow(checked)
    if kind == _WORDS:
        return from_tokens(checked, document_names=names)
    return from_counts(documents if kind == _MATRIX else list(checked), document_names=names)


def is_matrix(documents: Any) -> bool:
    """Return whether these are counts in an array, a sparse matrix or a DataFrame."""
    return is_frame(documents) or hasattr(documents, "tocsr") or getattr(documents, "ndim", 1) != 1


_AS_A_WHOLE: dict[str, Callable[[Any], bool]] = {
    _CORPUS: lambda documents: isinstance(documents, Corpus),
    _BATCH: lambda documents: isinstance(documents, Batch),
    _ANNDATA: other_libraries.is_anndata,
    _MATRIX: is_matrix,
}


def options_without_texts() -> SettingsError:
    """Return the error for text options with documents that are not texts."""
    return SettingsError(
        "text_options: these documents are words or counts, and text options apply only to texts; leave the "
        "options out, or give texts",
        code="conflicting-settings",
    )


def encode(documents: Any, like: Corpus, document_names: Sequence[str] | None = None) -> Encoded:
    """Encode documents of any kind with the terms of a corpus; other words are skipped and counted.

    Parameters
    ----------
    documents
        Documents as for :func:`as_corpus`. Texts are split like the texts of ``like``. Counts have one column
        per term of ``like``, in its order; the columns of a DataFrame must be named like the terms. Genes of
        AnnData are matched by name, pairs of a bag of words by term id.
    like
        The corpus with the vocabulary.
    document_names
        One name per document. By default, the index of a Series or DataFrame, otherwise numbers.

    Returns
    -------
    Encoded
        The words, the number of skipped words and the name of each document. Words that were left out of
        ``like``, for example by ``min_df``, are skipped too; stop words are not counted as skipped.

    Examples
    --------
    >>> new = encode([["bee", "cat", "bee"]], as_corpus([["ant", "bee"]]))
    >>> new.arrays.x.tolist(), new.unknown.tolist()
    ([1, 1], [1])
    """
    kind, checked = _tell_kind(documents)
    names: Any = names_of(documents) if document_names is None else document_names
    if kind == _BATCH:
        batch: Batch = documents
    elif kind == _CORPUS:
        batch = batch_of(documents)
    elif kind == _TEXTS:
        batch = batch_of_texts(checked, how_split(like), keep_texts=False)
    elif kind == _WORDS:
        batch = batch_of_lists(checked, None)
    else:
        terms = like.vocabulary
        if kind == _ANNDATA:
            counts, terms = other_libraries.counts_of_anndata(documents)
            names = map(str, documents.obs_names)
        elif kind == _MATRIX:
            counts = _checked_columns(documents, like)
        else:
            counts = (
                other_libraries.counts_of_pairs(checked, like.n_terms) if kind == _PAIRS else list(checked)
            )
        batch = Batch(*words_of_counts(counts, terms, None if kind == _ANNDATA else names), "vocabulary")
    same = batch.terms == like.vocabulary
    known = batch.x if same else numbers_in(like.vocabulary, batch.terms)[batch.x]
    x, offsets, unknown = drop_unknown(known, batch.doc_ptr)
    names = batch.about.names if names is None else names
    names = numbered(len(unknown)) if names is None else tuple(names)
    return Encoded(CorpusArrays(x, offsets, like.n_terms), unknown, names)


def how_split(like: Corpus) -> TextOptions:
    """Return the text options of a corpus; refuse a corpus that was not made from texts."""
    if like.text_options is None:
        raise CorpusError(
            "these are texts, but the corpus was made from words or counts, so no way to split texts is "
            "known; give lists of words, or make the corpus with from_texts",
            code="cannot-split-texts",
        )
    return like.text_options


def _checked_columns(counts: Any, like: Corpus) -> Any:
    """Return the values of a matrix; refuse a DataFrame whose columns are not the terms, in order."""
    matrix, columns = split_columns(counts)
    if columns is None or len(columns) != like.n_terms:
        return matrix  # a wrong number of columns is refused when the words are laid out
    for i, (column, term) in enumerate(zip(columns, like.vocabulary)):
        if column != term:
            raise CorpusError(
                f"column {i} is {column!r}, but term {i} of the corpus is {term!r}; give its terms in its "
                "order, for example df[list(corpus.vocabulary)]",
                code="vocabulary-mismatch",
            )
    return matrix


def _tell_kind(documents: Any) -> tuple[str, Iterator[Any]]:
    """Return the kind of the documents, and the documents, each of which is checked when it is read."""
    for kind, is_so in _AS_A_WHOLE.items():
        if is_so(documents):
            return kind, iter(())
    other_libraries.refuse_tables(documents)
    iterator = iterate(documents, "documents")
    looked_at, found = [], None
    for j, document in enumerate(iterator):
        looked_at.append(document)
        found = _kind(document, j)
        if found is not None:
            break
    # If every document is an empty list, they count as lists of words.
    found = found or _WORDS
    return found, _all_of_kind(found, chain(looked_at, iterator))


def _all_of_kind(kind: str, documents: Iterator[Any]) -> Iterator[Any]:
    for j, document in enumerate(documents):
        other = _kind(document, j)
        if other not in (kind, None):
            raise CorpusError(
                f"document {j} is of a different kind from earlier documents: {other} after {kind}; give "
                "documents of one kind",
                code="mixed-documents",
            )
        yield document


def _kind(document: Any, j: int) -> str | None:
    """Return the kind of a document, or None for an empty list."""
    if isinstance(document, str):
        return _TEXTS
    if isinstance(document, AbstractSet | Mapping):
        return _WORDS  # refused later, with a message
    if isinstance(document, bytes):
        raise CorpusError(
            f"document {j} is bytes; decode it first, as in document.decode('utf-8')", code="wrong-type"
        )
    try:
        # Length first: an iterator has none, and reading its first item would consume it.
        length, items = len(document), iter(document)
    except TypeError:
        raise CorpusError(
            f"document {j} is {shortened(document)} ({type(document).__name__}); {_WHAT_IS_ONE}; "
            "leave missing documents out, or give empty ones",
            code="wrong-type",
        ) from None
    if length == 0:
        return None
    first = next(items)
    if isinstance(first, str):
        return _WORDS
    if isinstance(first, Number | np.number | np.bool_):
        return _COUNTS
    if isinstance(first, tuple) and len(first) == 2 and all(isinstance(one, Number) for one in first):
        return _PAIRS
    raise CorpusError(
        f"document {j} starts with {shortened(first)} ({type(first).__name__}); {_WHAT_IS_ONE}",
        code="wrong-type",
    )
