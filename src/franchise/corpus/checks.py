"""Checks of the parts of a corpus, before they reach a compiled kernel, and its fingerprint."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from reprlib import repr as shortened
from typing import Any

import numpy as np
import numpy.typing as npt

from franchise.corpus.large_arrays import PackedTexts
from franchise.errors import CorpusError

# Counts of words are 32-bit in the sampler's state, and no count can exceed the number of words.
MAX_WORDS = 2**31 - 1


def numbered(n: int) -> tuple[str, ...]:
    """Return the default names ``"0"``, ``"1"``, ... of ``n`` terms or documents."""
    return tuple(map(str, range(n)))


def iterate(documents: Any, what: str) -> Iterator[Any]:
    """Return an iterator over documents; refuse a single string, and collections without order."""
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
    """Return the row labels of a Series or DataFrame, or None for objects without an index."""
    index = getattr(documents, "index", None)
    # A list has a method of this name.
    return None if index is None or callable(index) else [str(label) for label in index]


def is_frame(data: Any) -> bool:
    """Return whether this is a DataFrame of any library."""
    return hasattr(data, "to_numpy") and hasattr(data, "columns")


def integers(values: npt.ArrayLike, name: str) -> npt.NDArray[Any]:
    """Return a flat array of integers; refuse other arrays."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise CorpusError(
            f"{name} has {array.ndim} dimensions; give a flat array of integers", code="wrong-shape"
        )
    if array.size == 0:
        return array.astype(np.int64)  # an empty list arrives as floats
    if array.dtype.kind not in "iu":
        raise CorpusError(f"{name} has dtype {array.dtype}; give integers", code="wrong-type")
    return array


def check_offsets(doc_ptr: npt.NDArray[Any], n_words: int) -> None:
    """Refuse offsets that do not divide this many words into documents."""
    if len(doc_ptr) == 0 or doc_ptr[0] != 0:
        raise CorpusError(
            "doc_ptr must start at 0; give the offset of each document's first word, then the end",
            code="wrong-offsets",
        )
    falls = np.flatnonzero(doc_ptr[1:] < doc_ptr[:-1])
    if falls.size:
        j = int(falls[0])
        raise CorpusError(
            f"doc_ptr decreases at document {j}, from {doc_ptr[j]} to {doc_ptr[j + 1]}; "
            "offsets must not decrease",
            code="wrong-offsets",
        )
    if doc_ptr[-1] != n_words:
        raise CorpusError(
            f"doc_ptr ends at {doc_ptr[-1]}, but x has {n_words} words; the two must be equal",
            code="wrong-offsets",
        )


def check_words(x: npt.NDArray[Any], n_terms: int, words_before: npt.NDArray[Any] | None = None) -> None:
    """Refuse no words, too many words, and term ids of words, or of cells, outside the vocabulary.

    `words_before` has the number of words before each cell.
    """
    if len(x) == 0:
        raise no_words()
    n_words = len(x) if words_before is None else int(words_before[-1])
    if n_words > MAX_WORDS:
        raise CorpusError(
            f"{n_words:,} words are more than the {MAX_WORDS:,} that 32-bit counts hold; select fewer",
            code="too-many-words",
        )
    if x.min() < 0 or x.max() >= n_terms:
        i = int(np.flatnonzero((x < 0) | (x >= n_terms))[0])
        word = i if words_before is None else words_before[i]
        raise CorpusError(
            f"word {word} has term id {x[i]}, outside the vocabulary of {n_terms:,} terms; "
            "term ids count from 0, and the vocabulary must cover all of them",
            code="term-out-of-range",
        )


def no_words() -> CorpusError:
    """Return the error for a corpus without words."""
    return CorpusError(
        "the corpus has no words: every document is empty; give at least one word", code="empty-corpus"
    )


def strings(values: Iterable[str], name: str, item: str) -> tuple[str, ...]:
    """Return the values as plain strings; refuse a single string, and values that are not strings."""
    if isinstance(values, str | bytes):
        raise CorpusError(
            f"{name} is a single string; give a list with one string per {item}", code="single-string"
        )
    given = tuple(values)
    for i, value in enumerate(given):
        if not isinstance(value, str):
            raise CorpusError(
                f"{name}: {item} {i} is {value!r} ({type(value).__name__}); give strings", code="wrong-type"
            )
    return tuple(map(str, given))  # NumPy's own strings become plain ones


def check_distinct(vocabulary: tuple[str, ...]) -> None:
    """Refuse a vocabulary with a repeated term."""
    if len(set(vocabulary)) == len(vocabulary):
        return
    first: dict[str, int] = {}
    for v, term in enumerate(vocabulary):
        if term in first:
            raise CorpusError(
                f"the vocabulary has {term!r} twice, as terms {first[term]} and {v}; "
                "each term must appear once",
                code="duplicate-term",
            )
        first[term] = v


def terms_for(vocabulary: Iterable[str], n_terms: int) -> tuple[str, ...]:
    """Return other names for the terms; refuse a wrong number of names."""
    terms = strings(vocabulary, "vocabulary", "term")
    check_distinct(terms)
    if len(terms) != n_terms:
        raise CorpusError(
            f"{len(terms):,} names for {n_terms:,} terms; give one per term", code="vocabulary-mismatch"
        )
    return terms


def one_each(values: Iterable[str] | None, name: str, n_documents: int) -> Sequence[str] | None:
    """Return one name or text per document, if there are any. Packed texts stay packed."""
    if values is None:
        return None
    given = values if isinstance(values, PackedTexts) else strings(values, name, "document")
    if len(given) != n_documents:
        what = name.replace("_", " ")
        raise CorpusError(
            f"{len(given):,} {what} for {n_documents:,} documents; give one per document", code="wrong-length"
        )
    return given


def frozen(values: npt.NDArray[Any], dtype: type[np.integer[Any]]) -> npt.NDArray[Any]:
    """Return a read-only array; copy it only if it could be changed."""
    array = np.ascontiguousarray(values, dtype=dtype)
    if np.may_share_memory(array, values) and _changeable(array):
        array = array.copy()
    array.flags.writeable = False
    return array


def _changeable(array: npt.NDArray[Any]) -> bool:
    # A read-only view of a writable array can still change.
    owner: Any = array
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            return True
        owner = owner.base
    return False


def no_such_document(j: int, n_documents: int, where: str = "") -> CorpusError:
    """Return the error for a document number outside the corpus."""
    message = f"{where}document {j}: the corpus has documents 0 to {n_documents - 1:,}"
    return CorpusError(message, code="no-such-document")


def document_numbers(documents: Sequence[int] | npt.NDArray[Any], n_documents: int) -> npt.NDArray[np.int64]:
    """Return the numbers of selected documents, given as numbers or as a mask."""
    chosen = np.asarray(documents)
    if chosen.dtype == np.bool_:
        if chosen.shape != (n_documents,):
            raise CorpusError(
                f"select: the mask has shape {chosen.shape} for {n_documents:,} documents; "
                "give one True or False per document",
                code="wrong-shape",
            )
        return np.flatnonzero(chosen)
    chosen = integers(chosen, "select: documents")
    outside = (chosen < 0) | (chosen >= n_documents)
    if outside.any():
        raise no_such_document(chosen[outside][0], n_documents, "select: ")
    return chosen.astype(np.int64, copy=False)


class Fingerprint:
    """SHA-256 of words, offsets and terms, added in this order, in blocks of any size.

    It is the same on every machine: numbers are hashed little-endian, each part after its length.
    """

    def __init__(self, n_words: int, n_documents: int, n_terms: int) -> None:
        self._digest = hashlib.sha256()
        self._digest.update(np.array([n_words, n_documents, n_terms], dtype="<i8").tobytes())

    def add_words(self, x: npt.NDArray[np.int32]) -> None:
        """Add the next words."""
        self._digest.update(np.ascontiguousarray(x, dtype="<i4").data)

    def add_offsets(self, doc_ptr: npt.NDArray[np.int64]) -> None:
        """Add the next offsets, which count words from the first document."""
        self._digest.update(np.ascontiguousarray(doc_ptr, dtype="<i8").data)

    def of(self, vocabulary: Sequence[str]) -> str:
        """Add the vocabulary, and return the fingerprint in hexadecimal digits."""
        for term in vocabulary:
            encoded = term.encode("utf-8", "surrogatepass")
            self._digest.update(len(encoded).to_bytes(8, "little") + encoded)
        return self._digest.hexdigest()
