"""The corpus: all words of all documents in one flat, immutable array.

The paper's x_ji is ``x[doc_ptr[j] + i]``. A *word* is a token; a *term* is an entry of the vocabulary.
For large counts, the corpus holds cells (document, term, count) instead, and lays out words only when needed
(``cells``). ``checks`` validates a corpus; reading and converting are not here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from franchise._arrays import CellArrays, CorpusArrays, count_terms, offsets_of
from franchise._settings import RandomState, moved, seed_of
from franchise.corpus import checks
from franchise.corpus.cells import blocks_of_words, cells_of, checked, selected, words_of
from franchise.corpus.large_arrays import blocks, handed_over, ranges_of
from franchise.corpus.metadata import as_metadata, rows_of

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

    from franchise.corpus.downsample import Downsampling
    from franchise.corpus.text_options import TextOptions


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """A collection of documents, each a sequence of words over one vocabulary.

    Parameters
    ----------
    x
        Term id of each word, with documents end to end.
    doc_ptr
        Offsets: document j is ``x[doc_ptr[j]:doc_ptr[j + 1]]``. Empty documents are kept.
    vocabulary
        The terms, all different; term ``v`` is ``vocabulary[v]``. It may have terms that no word uses.
    document_names
        One name per document; by default ``"0"``, ``"1"``, and so on.
    texts
        The raw text of each document, if the corpus was made from texts.
    text_options
        The options for splitting texts, if the corpus was made from texts. New texts are split in the same
        way.
    metadata
        Further columns about the documents: a DataFrame, a Series with a name, or a dict of columns, with one
        value per document. They become a DataFrame of numbers, dates and categories
        (`franchise.corpus.metadata` describes how values are read).
    downsampling
        The record of omitted words, if `downsampled` made the corpus.

    Raises
    ------
    CorpusError
        If arrays, vocabulary and names do not fit together, or there are no words.

    Notes
    -----
    Two corpora are equal if their words, vocabularies and names are equal; ``texts``, ``text_options``,
    ``metadata`` and ``downsampling`` do not matter.

    Examples
    --------
    >>> Corpus([0, 1, 1], [0, 2, 3], ["ant", "bee"])
    Corpus(2 documents, 2 terms, 3 words)
    """

    doc_ptr: npt.NDArray[np.int64]
    vocabulary: tuple[str, ...]
    document_names: Sequence[str]
    texts: Sequence[str] | None
    text_options: TextOptions | None
    metadata: pd.DataFrame | None
    downsampling: Downsampling | None
    keeps_cells: bool  # made from cells: words are laid out only when needed
    _x: npt.NDArray[np.int32] | None
    _cells: CellArrays | None
    _fingerprint: str  # cached, because every checkpoint names its corpus

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
        downsampling: Downsampling | None = None,
    ) -> None:
        words = checks.integers(x, "x")
        offsets = checks.integers(doc_ptr, "doc_ptr")
        terms = checks.strings(vocabulary, "vocabulary", "term")
        checks.check_offsets(offsets, len(words))
        checks.check_words(words, len(terms))
        checks.check_distinct(terms)
        self._set(_x=checks.frozen(words, np.int32), _cells=None, keeps_cells=False)
        self._set(doc_ptr=checks.frozen(offsets, np.int64), vocabulary=terms)
        self._describe(document_names, texts, text_options, metadata, downsampling)

    @classmethod
    def from_cells(
        cls,
        cells: CellArrays,
        vocabulary: Iterable[str],
        document_names: Iterable[str] | None = None,
        **about: Any,
    ) -> Corpus:
        """Make a corpus from cells (document, term, count).

        It equals the corpus of these words in the order of documents and terms, but holds the cells. The
        other arguments are as for the constructor. The vocabulary may have terms that no cell has.
        """
        terms = checks.strings(vocabulary, "vocabulary", "term")
        given = checked(cells._replace(n_terms=len(terms)))
        checks.check_distinct(terms)
        corpus = Corpus.__new__(Corpus)  # also for subclasses, such as corpora in shards
        corpus._set(_x=None, _cells=given, keeps_cells=True, doc_ptr=given.doc_ptr, vocabulary=terms)
        corpus._describe(document_names, **about)
        return corpus

    def _describe(
        self,
        document_names: Iterable[str] | None,
        texts: Iterable[str] | None = None,
        text_options: TextOptions | None = None,
        metadata: Any = None,
        downsampling: Downsampling | None = None,
    ) -> None:
        n_documents = len(self.doc_ptr) - 1
        names = checks.one_each(document_names, "document_names", n_documents)
        self._set(document_names=checks.numbered(n_documents) if names is None else names)
        self._set(texts=checks.one_each(texts, "texts", n_documents), text_options=text_options)
        self._set(metadata=as_metadata(metadata, n_documents), downsampling=downsampling, _fingerprint="")

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def x(self) -> npt.NDArray[np.int32]:
        """Term of each word, with documents end to end; laid out now if the corpus holds cells."""
        if self._x is None:
            assert self._cells is not None
            self._set(_x=words_of(self._cells))
        assert self._x is not None
        return self._x

    @property
    def cells(self) -> CellArrays:
        """The number of words of each term in each document; counted once if the corpus holds words."""
        if self._cells is None:
            self._set(_cells=cells_of(self.arrays))
        assert self._cells is not None
        return self._cells

    @property
    def n_documents(self) -> int:
        """Number of documents, including empty ones."""
        return len(self.doc_ptr) - 1

    @property
    def n_words(self) -> int:
        """Number of words in all documents."""
        return int(self.doc_ptr[-1])

    @property
    def n_terms(self) -> int:
        """Size of the vocabulary, including unused terms."""
        return len(self.vocabulary)

    @property
    def document_lengths(self) -> npt.NDArray[np.int64]:
        """Number of words of each document."""
        return np.diff(self.doc_ptr)

    @property
    def documents_of_length(self) -> npt.NDArray[np.int64]:
        """Number of documents of each length: entry 0 counts the empty ones, and so on."""
        return np.bincount(self.document_lengths, minlength=1)

    @property
    def term_counts(self) -> npt.NDArray[np.int64]:
        """Number of words of each term in the whole corpus."""
        if self._cells is None:
            return count_terms(self.x, self.n_terms)
        terms, counts = self._cells.terms, self._cells.counts
        return np.bincount(terms, weights=counts, minlength=self.n_terms).astype(np.int64)

    @property
    def metadata_names(self) -> tuple[str, ...]:
        """The names of the columns of metadata."""
        return () if self.metadata is None else tuple(self.metadata)

    @property
    def arrays(self) -> CorpusArrays:
        """The arrays for compiled kernels, without copying."""
        return CorpusArrays(self.x, self.doc_ptr, self.n_terms)

    def document(self, j: int) -> npt.NDArray[np.int32]:
        """Return the term ids of the words of document ``j``, as a read-only view."""
        if not 0 <= j < self.n_documents:
            raise checks.no_such_document(j, self.n_documents)
        if self.keeps_cells and self._x is None:
            return words_of(selected(self.cells, np.array([j])))
        return self.x[self.doc_ptr[j] : self.doc_ptr[j + 1]]

    def runs(self, j: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """Return the runs of equal words of document ``j``: the term and the length of each."""
        if self.keeps_cells and self._x is None:
            cells = selected(self.cells, checks.document_numbers([j], self.n_documents))
            return cells.terms, cells.counts.astype(np.int64)
        words = self.document(j)
        starts = np.flatnonzero(np.diff(words, prepend=-1))
        return words[starts], np.diff(starts, append=words.size)

    def select(self, documents: Sequence[int] | npt.NDArray[Any]) -> Corpus:
        """Keep some documents, in the given order, with the same vocabulary.

        Parameters
        ----------
        documents
            Document numbers, or a boolean mask with one entry per document.

        Returns
        -------
        Corpus
            The chosen documents with their names, texts and metadata.
        """
        chosen = checks.document_numbers(documents, self.n_documents)
        names = [self.document_names[j] for j in chosen]
        about = self.about() | {
            "texts": None if self.texts is None else [self.texts[j] for j in chosen],
            # The defaults depend on the number of documents, which has changed.
            "text_options": self.text_options and self.text_options.resolved(self.n_documents),
            "metadata": rows_of(self.metadata, chosen),
        }
        if self.keeps_cells:
            return Corpus.from_cells(selected(self.cells, chosen), self.vocabulary, names, **about)
        lengths = self.document_lengths[chosen]
        words = handed_over(ranges_of(self.x, self.doc_ptr[chosen], lengths))
        return Corpus(words, offsets_of(lengths), self.vocabulary, names, **about)

    @moved(seed="random_state")
    def downsampled(
        self, words: int | npt.ArrayLike, *, random_state: RandomState = 0, evenly: bool = False
    ) -> Corpus:
        """Keep a limited number of words of each document, drawn without replacement.

        Parameters
        ----------
        words
            The most words that a document keeps: one number for all documents, or one per document. Shorter
            documents do not change.
        random_state
            The seed: the same number keeps the same words. The kept words of a document depend only on this
            number, its name and its words.
        evenly
            Scale counts down instead, and round them at random.

        Returns
        -------
        Corpus
            The same documents and vocabulary. The first words of each term are kept, in order.
            ``downsampling`` describes the omitted words.
        """
        from franchise.corpus.downsample import downsampled

        return downsampled(self, words, seed_of(random_state), evenly=evenly)

    def with_vocabulary(self, vocabulary: Iterable[str]) -> Corpus:
        """Return the same documents with other names for the terms, one per term."""
        return self.with_names(checks.terms_for(vocabulary, self.n_terms), self.document_names)

    def with_names(self, vocabulary: Iterable[str], document_names: Iterable[str] | None = None) -> Corpus:
        """Return the same words with other names of terms (perhaps more terms) and of documents."""
        make, (*held, _, _) = self.__reduce__()
        return make(*held, vocabulary, document_names)

    def with_metadata(self, metadata: Any) -> Corpus:
        """Return the same corpus with other metadata, as for the constructor, without copying words."""
        make, parts = self.__reduce__()
        return make(*parts, metadata=metadata)

    def to_counts(self) -> csr_array:
        """Count the words of each term in each document.

        Returns
        -------
        scipy.sparse.csr_array
            Documents by terms, int64, indices sorted and without duplicates.
        """
        from scipy.sparse import csr_array  # SciPy is slow to import and rarely needed here

        cells = self._cells or cells_of(self.arrays)
        parts = (cells.counts.astype(np.int64), cells.terms.copy(), cells.cell_ptr.copy())
        return csr_array(parts, shape=(self.n_documents, self.n_terms))

    def _blocks(self) -> Iterator[npt.NDArray[np.int32]]:
        """Yield the words in blocks."""
        if self._x is None:
            yield from blocks_of_words(self.cells)
            return
        for block in blocks(self.n_words):
            yield self._x[block]

    def fingerprint(self) -> str:
        """Return the SHA-256 (hexadecimal) of words, offsets and vocabulary; equal on every machine."""
        if not self._fingerprint:
            fingerprint = checks.Fingerprint(self.n_words, self.n_documents, self.n_terms)
            for block in self._blocks():
                fingerprint.add_words(block)
            fingerprint.add_offsets(self.doc_ptr)
            self._set(_fingerprint=fingerprint.of(self.vocabulary))
        return self._fingerprint

    def about(self) -> dict[str, Any]:
        """Return the constructor's other arguments: texts, text options, metadata and downsampling."""
        names = ("texts", "text_options", "metadata", "downsampling")
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        sizes = ((self.n_documents, "document"), (self.n_terms, "term"), (self.n_words, "word"))
        return f"Corpus({', '.join(f'{n:,} {name}' + 's' * (n != 1) for n, name in sizes)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Corpus):
            return NotImplemented
        return (
            np.array_equal(self.doc_ptr, other.doc_ptr)
            and self.vocabulary == other.vocabulary
            and self.document_names == other.document_names
            and self._same_words(other)
        )

    def _same_words(self, other: Corpus) -> bool:
        if self.keeps_cells and other.keeps_cells:
            return self.cells.has_same(other.cells)
        return all(np.array_equal(a, b) for a, b in zip(self._blocks(), other._blocks()))

    def __hash__(self) -> int:
        return hash((self.n_documents, self.n_terms, self.n_words))

    def __reduce__(self) -> tuple[Callable[..., Corpus], tuple[Any, ...]]:
        # Unpickled arrays are writable; the constructor makes them read-only again.
        names, about = (self.vocabulary, self.document_names), self.about()
        if self.keeps_cells:
            return partial(Corpus.from_cells, **about), (self.cells, *names)
        return partial(Corpus, **about), (self.x, self.doc_ptr, *names)
