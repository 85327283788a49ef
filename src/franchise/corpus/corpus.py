"""The corpus: every word of every document in one flat array, immutable once made.

The paper's x_ji is ``x[doc_ptr[j] + i]``. A *word* is a token; a *term* is an entry of the vocabulary.
Whatever reaches a compiled kernel has been checked here, once, so that no kernel needs to check it again.
Reading and converting are not here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from franchise.corpus.metadata import Metadata, as_metadata
from franchise.errors import CorpusError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from franchise.corpus.cells import CellArrays
    from franchise.corpus.vectorize import TextOptions

IntArray = npt.NDArray[np.int64]

# Counts of words are 32-bit in the sampler's state, and none of them can exceed the number of words.
MAX_WORDS = 2**31 - 1


class CorpusArrays(NamedTuple):
    """What compiled kernels take: the corpus without its names.

    Attributes
    ----------
    x
        Term of each word (the paper's x_ji), documents end to end; int32, C-contiguous, read-only.
    doc_ptr
        Document j is ``x[doc_ptr[j]:doc_ptr[j + 1]]``; int64, one longer than the number of documents,
        read-only.
    n_terms
        Size of the vocabulary (the paper's V).
    """

    x: npt.NDArray[np.int32]
    doc_ptr: npt.NDArray[np.int64]
    n_terms: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Corpus:
    """A collection of documents, each a sequence of words over one vocabulary.

    Parameters
    ----------
    x
        Term id of each word, documents laid end to end.
    doc_ptr
        Offsets: document j is ``x[doc_ptr[j]:doc_ptr[j + 1]]``. Empty documents are kept.
    vocabulary
        The terms, all different; term ``v`` is ``vocabulary[v]``. Terms that no word uses still count.
    document_names
        One name per document; by default ``"0"``, ``"1"``, and so on.
    texts
        The raw text of each document, where the corpus was made from texts.
    text_options
        How texts became words, where the corpus was made from texts; new texts are split in the same way.
    metadata
        What else is known of each document: a DataFrame, a Series with a name, or a dict of columns, with
        one value per document (`franchise.corpus.metadata` says how values are read).

    Raises
    ------
    CorpusError
        If the arrays, the vocabulary and the names do not fit together, or there are no words at all.

    Notes
    -----
    Two corpora are equal when their words, vocabularies and names are; ``texts``, ``text_options`` and
    ``metadata`` only say where the words came from.

    Examples
    --------
    >>> Corpus([0, 1, 1], [0, 2, 3], ["ant", "bee"])
    Corpus(2 documents, 2 terms, 3 words)
    """

    x: npt.NDArray[np.int32]
    doc_ptr: npt.NDArray[np.int64]
    vocabulary: tuple[str, ...]
    document_names: tuple[str, ...]
    texts: tuple[str, ...] | None
    text_options: TextOptions | None
    metadata: Metadata | None
    _fingerprint: str  # once it has been asked for: every checkpoint names its corpus

    def __init__(
        self,
        x: npt.ArrayLike,
        doc_ptr: npt.ArrayLike,
        vocabulary: Iterable[str],
        document_names: Iterable[str] | None = None,
        *,
        texts: Iterable[str] | None = None,
        text_options: TextOptions | None = None,
        metadata: Any = None,
    ) -> None:
        words = _integers(x, "x")
        offsets = _integers(doc_ptr, "doc_ptr")
        terms = strings(vocabulary, "vocabulary", "term")
        _check_offsets(offsets, len(words))
        _check_words(words, len(terms))
        _check_distinct(terms)
        object.__setattr__(self, "x", _frozen(words, np.int32))
        object.__setattr__(self, "doc_ptr", _frozen(offsets, np.int64))
        object.__setattr__(self, "vocabulary", terms)
        object.__setattr__(self, "document_names", _names(document_names, len(offsets) - 1))
        object.__setattr__(self, "texts", _texts(texts, len(offsets) - 1))
        object.__setattr__(self, "text_options", text_options)
        object.__setattr__(self, "metadata", as_metadata(metadata, len(offsets) - 1))
        object.__setattr__(self, "_fingerprint", "")

    @property
    def n_documents(self) -> int:
        """Number of documents, empty ones included."""
        return len(self.doc_ptr) - 1

    @property
    def n_words(self) -> int:
        """Number of words in all documents together."""
        return len(self.x)

    @property
    def n_terms(self) -> int:
        """Size of the vocabulary, unused terms included."""
        return len(self.vocabulary)

    @property
    def document_lengths(self) -> npt.NDArray[np.int64]:
        """Number of words of each document."""
        return np.diff(self.doc_ptr)

    @property
    def term_counts(self) -> npt.NDArray[np.int64]:
        """Number of words of each term in the whole corpus."""
        return np.bincount(self.x, minlength=self.n_terms).astype(np.int64, copy=False)

    @property
    def arrays(self) -> CorpusArrays:
        """The arrays that compiled kernels take; nothing is copied."""
        return CorpusArrays(self.x, self.doc_ptr, self.n_terms)

    @property
    def cells(self) -> CellArrays:
        """The words as cells (document, term, count), as engines for counts take them."""
        from franchise.corpus.cells import cells_of

        return cells_of(self.arrays)

    def document(self, j: int) -> npt.NDArray[np.int32]:
        """Term ids of the words of document ``j``, a read-only view."""
        if not 0 <= j < self.n_documents:
            raise CorpusError(f"document {j}: the corpus has documents 0 to {self.n_documents - 1:,}")
        return self.x[self.doc_ptr[j] : self.doc_ptr[j + 1]]

    def select(self, documents: Sequence[int] | npt.NDArray[Any]) -> Corpus:
        """Keep some documents, in the order given, with the same vocabulary.

        Parameters
        ----------
        documents
            Document numbers, or a boolean mask with one entry per document.

        Returns
        -------
        Corpus
            The chosen documents with their names, texts and metadata.
        """
        chosen = self._document_numbers(documents)
        lengths = self.document_lengths[chosen]
        doc_ptr = offsets_of(lengths)
        # Word i of the result sits in its old document at the same distance from that document's start.
        shift = np.repeat(self.doc_ptr[chosen] - doc_ptr[:-1], lengths)
        words = self.x[np.arange(doc_ptr[-1]) + shift]
        return Corpus(
            words,
            doc_ptr,
            self.vocabulary,
            [self.document_names[j] for j in chosen],
            texts=None if self.texts is None else [self.texts[j] for j in chosen],
            text_options=self.text_options,
            metadata=None if self.metadata is None else self.metadata.select(chosen),
        )

    def with_vocabulary(self, vocabulary: Iterable[str]) -> Corpus:
        """Return the same documents with other names for the terms, as many as there are."""
        terms = strings(vocabulary, "vocabulary", "term")
        if len(terms) != self.n_terms:
            raise CorpusError(f"{len(terms):,} names for {self.n_terms:,} terms; give one per term")
        _check_distinct(terms)
        renamed = copy(self)
        object.__setattr__(renamed, "vocabulary", terms)
        object.__setattr__(renamed, "_fingerprint", "")
        return renamed

    def with_metadata(self, metadata: Any) -> Corpus:
        """Return the same corpus with other metadata, as the constructor takes them; no word is copied."""
        make, parts = self.__reduce__()
        return make(*parts, metadata=metadata)

    def _document_numbers(self, documents: Sequence[int] | npt.NDArray[Any]) -> IntArray:
        chosen = np.asarray(documents)
        if chosen.dtype == np.bool_:
            if chosen.shape != (self.n_documents,):
                raise CorpusError(
                    f"select: the mask has shape {chosen.shape} for {self.n_documents:,} documents; "
                    "give one True or False per document"
                )
            return np.flatnonzero(chosen)
        chosen = _integers(chosen, "select: documents")
        outside = (chosen < 0) | (chosen >= self.n_documents)
        if outside.any():
            raise CorpusError(
                f"select: document {chosen[outside][0]}: "
                f"the corpus has documents 0 to {self.n_documents - 1:,}"
            )
        return chosen.astype(np.int64, copy=False)

    def to_counts(self) -> csr_array:
        """Count the words of each term in each document.

        Returns
        -------
        scipy.sparse.csr_array
            Documents by terms, int64, indices sorted and without duplicates.
        """
        from scipy.sparse import csr_array  # SciPy is slow to import and most runs never need it here

        ones = np.ones(self.n_words, dtype=np.int64)
        counts = csr_array((ones, self.x.copy(), self.doc_ptr.copy()), shape=(self.n_documents, self.n_terms))
        counts.sum_duplicates()
        return counts

    def fingerprint(self) -> str:
        """SHA-256 (hexadecimal) of the words, the offsets and the vocabulary; nothing else matters.

        The same on every machine: numbers are hashed little-endian, each part after its length.
        """
        if self._fingerprint:
            return self._fingerprint
        digest = hashlib.sha256()
        digest.update(np.array([self.n_words, self.n_documents, self.n_terms], dtype="<i8").tobytes())
        digest.update(np.ascontiguousarray(self.x, dtype="<i4").data)
        digest.update(np.ascontiguousarray(self.doc_ptr, dtype="<i8").data)
        for term in self.vocabulary:
            encoded = term.encode("utf-8", "surrogatepass")
            digest.update(len(encoded).to_bytes(8, "little"))
            digest.update(encoded)
        object.__setattr__(self, "_fingerprint", digest.hexdigest())
        return self._fingerprint

    def __repr__(self) -> str:
        sizes = ((self.n_documents, "document"), (self.n_terms, "term"), (self.n_words, "word"))
        return f"Corpus({', '.join(f'{n:,} {name}' + 's' * (n != 1) for n, name in sizes)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Corpus):
            return NotImplemented
        return (
            np.array_equal(self.x, other.x)
            and np.array_equal(self.doc_ptr, other.doc_ptr)
            and self.vocabulary == other.vocabulary
            and self.document_names == other.document_names
        )

    def __hash__(self) -> int:
        return hash((self.n_documents, self.n_terms, self.n_words))

    def __reduce__(self) -> tuple[Callable[..., Corpus], tuple[Any, ...]]:
        # Unpickled arrays come back writable; going through the constructor freezes them again.
        make = partial(Corpus, texts=self.texts, text_options=self.text_options, metadata=self.metadata)
        return make, (self.x, self.doc_ptr, self.vocabulary, self.document_names)


def offsets_of(lengths: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int64]:
    """Return the offsets (``doc_ptr``) of documents of these lengths laid end to end."""
    doc_ptr = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=doc_ptr[1:])
    return doc_ptr


def numbered(n: int) -> tuple[str, ...]:
    """Name ``n`` terms or documents ``"0"``, ``"1"``, ..., the default."""
    return tuple(map(str, range(n)))


def _integers(values: npt.ArrayLike, name: str) -> npt.NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise CorpusError(f"{name} has {array.ndim} dimensions; give a flat array of integers")
    if array.size == 0:
        return array.astype(np.int64)  # an empty list arrives as floats
    if array.dtype.kind not in "iu":
        raise CorpusError(f"{name} has dtype {array.dtype}; give integers")
    return array


def _check_offsets(doc_ptr: npt.NDArray[Any], n_words: int) -> None:
    if len(doc_ptr) == 0 or doc_ptr[0] != 0:
        raise CorpusError(
            "doc_ptr must start at 0; give the offset of each document's first word, then the end"
        )
    falls = np.flatnonzero(doc_ptr[1:] < doc_ptr[:-1])
    if falls.size:
        j = int(falls[0])
        raise CorpusError(
            f"doc_ptr decreases at document {j}, from {doc_ptr[j]} to {doc_ptr[j + 1]}; "
            "offsets must not decrease"
        )
    if doc_ptr[-1] != n_words:
        raise CorpusError(f"doc_ptr ends at {doc_ptr[-1]}, but x has {n_words} words; the two must be equal")


def _check_words(x: npt.NDArray[Any], n_terms: int) -> None:
    if len(x) == 0:
        raise CorpusError("there are no words at all: every document is empty; give at least one word")
    if len(x) > MAX_WORDS:
        raise CorpusError(
            f"{len(x):,} words are more than the {MAX_WORDS:,} that 32-bit counts hold; select fewer"
        )
    if x.min() < 0 or x.max() >= n_terms:
        i = int(np.flatnonzero((x < 0) | (x >= n_terms))[0])
        raise CorpusError(
            f"word {i} has term id {x[i]}, outside the vocabulary of {n_terms:,} terms; "
            "term ids count from 0, and the vocabulary must cover all of them"
        )


def strings(values: Iterable[str], name: str, item: str) -> tuple[str, ...]:
    """Return the values as plain strings; refuse a lone string, and whatever is not a string."""
    if isinstance(values, str | bytes):
        raise CorpusError(f"{name} is a single string; give a list with one string per {item}")
    given = tuple(values)
    for i, value in enumerate(given):
        if not isinstance(value, str):
            raise CorpusError(f"{name}: {item} {i} is {value!r} ({type(value).__name__}); give strings")
    return tuple(map(str, given))  # NumPy's own strings become plain ones


def _check_distinct(vocabulary: tuple[str, ...]) -> None:
    if len(set(vocabulary)) == len(vocabulary):
        return
    first: dict[str, int] = {}
    for v, term in enumerate(vocabulary):
        if term in first:
            raise CorpusError(
                f"the vocabulary has {term!r} twice, as terms {first[term]} and {v}; "
                "each term must appear once"
            )
        first[term] = v


def _names(names: Iterable[str] | None, n_documents: int) -> tuple[str, ...]:
    if names is None:
        return numbered(n_documents)
    return _one_each(strings(names, "document_names", "document"), "document names", n_documents)


def _texts(texts: Iterable[str] | None, n_documents: int) -> tuple[str, ...] | None:
    return None if texts is None else _one_each(strings(texts, "texts", "document"), "texts", n_documents)


def _one_each(given: tuple[str, ...], what: str, n_documents: int) -> tuple[str, ...]:
    if len(given) != n_documents:
        raise CorpusError(f"{len(given):,} {what} for {n_documents:,} documents; give one per document")
    return given


def _frozen(values: npt.NDArray[Any], dtype: type[np.integer[Any]]) -> npt.NDArray[Any]:
    array = np.ascontiguousarray(values, dtype=dtype)
    if np.may_share_memory(array, values) and _changeable(array):
        array = array.copy()
    array.flags.writeable = False
    return array


def _changeable(array: npt.NDArray[Any]) -> bool:
    # A read-only view can still change under us through the writable array that it looks at.
    owner: Any = array
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            return True
        owner = owner.base
    return False
