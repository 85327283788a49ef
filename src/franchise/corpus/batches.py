"""Corpora from texts and lists of words, which need not all be in memory at once.

A `Batch` has the documents of one file, or a part of a list, with its own terms. One batch becomes a corpus
(`corpus_of`); many become shards (``shards.writing``) once all their terms are known (`TermsOfAll`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from reprlib import repr as shortened
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from franchise._arrays import count_terms
from franchise._settings import whole_number
from franchise.corpus.checks import iterate, names_of, no_words, numbered, strings
from franchise.corpus.corpus import Corpus
from franchise.corpus.downsample import Downsampling
from franchise.corpus.large_arrays import GrowingTexts, handed_over
from franchise.corpus.metadata import check_same_order
from franchise.corpus.stored import About
from franchise.corpus.text_options import TextOptions, given_options
from franchise.corpus.texts import (
    apply_vocabulary,
    choose_terms,
    document_frequencies,
    drop_unknown,
    learn_vocabulary,
    nothing_found,
    renumber,
    split_texts,
)
from franchise.errors import CorpusError

_CORPORA, _TEXTS, _LISTS = "a corpus", "a text", "a list of words"
_KINDS: dict[str, Any] = {_CORPORA: Corpus, _TEXTS: str, _LISTS: (list, tuple, np.ndarray)}
_BATCH = 20_000  # documents per batch of a list


class Batch(NamedTuple):
    """The arrays of a corpus, perhaps without words or documents.

    The terms are all words of texts, before the choice of terms (`kind` is "texts"), all words of lists
    ("lists"), or a fixed vocabulary ("vocabulary").
    """

    x: npt.NDArray[np.int32]
    doc_ptr: npt.NDArray[np.int64]
    terms: Sequence[str]
    kind: str
    about: About = About()
    text_options: TextOptions | None = None
    downsampling: Downsampling | None = None

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return len(self.doc_ptr) - 1


def batch_of(corpus: Corpus) -> Batch:
    """Return a corpus as a batch."""
    names = None if corpus.document_names == numbered(corpus.n_documents) else corpus.document_names
    about, words = About(names, corpus.texts, corpus.metadata), (corpus.x, corpus.doc_ptr, corpus.vocabulary)
    return Batch(*words, "vocabulary", about, corpus.text_options, corpus.downsampling)


def batch_of_texts(texts: Iterable[str], options: TextOptions, keep_texts: bool | int) -> Batch:
    """Split texts into words; return a batch without names."""
    most = int(keep_texts) if isinstance(keep_texts, bool) else whole_number("keep_texts", keep_texts, 0)
    kept = GrowingTexts(math.inf if keep_texts is True else most or -1)
    words = learn_vocabulary(split_texts(texts, options, kept))
    return Batch(*words, "texts", About(texts=kept.packed()), options)


def batch_of_lists(documents: Iterable[Any], vocabulary: Sequence[str] | None, first: int = 0) -> Batch:
    """Make a batch of lists of words, or with a vocabulary, of term ids, without names."""
    if vocabulary is None:
        return Batch(*learn_vocabulary(documents, first), "lists")
    return Batch(*apply_vocabulary(documents, vocabulary), vocabulary, "vocabulary")


def corpus_of(batch: Batch) -> Corpus:
    """Make a corpus of one batch; choose the terms of texts."""
    x, doc_ptr, terms = batch.x, batch.doc_ptr, batch.terms
    if batch.kind == "texts":
        all_terms = TermsOfAll()
        all_terms.add(batch)
        chosen, _ = all_terms.chosen()
        renumber(x, numbers_in(chosen, terms))
        x, doc_ptr, _ = drop_unknown(x, doc_ptr)
        terms = chosen
    names, texts, metadata = batch.about
    return Corpus(
        handed_over(x), doc_ptr, terms, names, texts=texts, text_options=batch.text_options, metadata=metadata
    )


def from_texts(
    texts: Iterable[str],
    *,
    document_names: Sequence[str] | None = None,
    keep_texts: bool | int = True,
    text_options: TextOptions | None = None,
    metadata: Any = None,
    **options: Any,
) -> Corpus:
    """Make a corpus from raw texts.

    Parameters
    ----------
    texts
        One string per document. An iterator is read once.
    document_names
        One name per document. By default, a Series' index, otherwise ``"0"``, ``"1"``, and so on.
    keep_texts
        Keep the texts in the corpus, to show them with topics. A number keeps them only if they have at most
        that many characters in all. Otherwise only their words are kept.
    text_options
        The options for splitting texts.
    metadata
        Further columns about the documents, as for :class:`Corpus`, such as ``df[["year", "category"]]``.
    **options
        Single options of :class:`TextOptions`, instead of ``text_options``.

    Returns
    -------
    Corpus
        Words in the order of the text and terms in alphabetical order. Documents without words are kept.

    Examples
    --------
    >>> from_texts(["The bee and the ant", "A bee!"]).vocabulary
    ('ant', 'bee')
    """
    text_options = given_options(TextOptions, text_options, options, "text_options")
    names = names_of(texts) if document_names is None else document_names
    check_same_order(texts, metadata)
    batch = batch_of_texts(texts, text_options, keep_texts)
    return corpus_of(batch._replace(about=About(names, batch.about.texts, metadata)))


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
        Further columns about the documents, as for :class:`Corpus`.

    Returns
    -------
    Corpus
        Words in the given order. Empty documents are kept.

    Examples
    --------
    >>> from_tokens([["bee", "ant"], ["bee"]]).vocabulary
    ('ant', 'bee')
    """
    names = names_of(documents) if document_names is None else document_names
    check_same_order(documents, metadata)
    terms = None if vocabulary is None else strings(vocabulary, "vocabulary", "term")
    return corpus_of(batch_of_lists(documents, terms)._replace(about=About(names, None, metadata)))


# ---------------------------------------------------------------- many batches


def batches_of_documents(documents: Any, options: TextOptions) -> Iterator[Batch]:
    """Cut an iterable of texts, of lists of words or of corpora into batches."""
    left, first, kind = iterate(documents, "documents"), 0, ""
    # A corpus is one batch. The first document is a batch of its own, because it shows the kind.
    while some := list(islice(left, _BATCH if kind in (_TEXTS, _LISTS) else 1)):
        for j, document in enumerate(some, start=first):
            found = next((name for name, types in _KINDS.items() if isinstance(document, types)), "")
            if found == "" or found != (kind or found):
                shown = found or f"{shortened(document)} ({type(document).__name__})"
                before = f", after {kind}" if kind else ""
                raise CorpusError(
                    f"document {j} is {shown}{before}; give only texts, only lists of words, or only corpora",
                    code="mixed-documents" if found else "wrong-type",
                )
            kind = found
        if kind == _TEXTS:
            yield batch_of_texts(some, options, keep_texts=False)
        else:
            yield batch_of_lists(some, None, first) if kind == _LISTS else batch_of(some.pop())
        first += len(some)


class TermsOfAll:
    """The terms of all batches, with the numbers of words and documents of each."""

    def __init__(self) -> None:
        self._index: dict[str, int] = {}
        self._words = self._documents = np.zeros(0, np.int64)
        self._kinds: dict[str, None] = {}
        self._options: dict[TextOptions | None, None] = {}
        self.n_documents = 0

    def add(self, batch: Batch) -> None:
        """Count the words of a batch."""
        self._kinds[batch.kind] = None
        self._options[batch.text_options] = None
        self.n_documents += batch.n_documents
        index = self._index
        numbers = np.array([index.setdefault(term, len(index)) for term in batch.terms], np.int64)
        more = np.zeros(len(index) - len(self._words), np.int64)
        self._words, self._documents = (np.append(own, more) for own in (self._words, self._documents))
        self._words[numbers] += count_terms(batch.x, len(batch.terms))
        if batch.kind == "texts":
            self._documents[numbers] += document_frequencies(batch.x, batch.doc_ptr, len(batch.terms))

    def chosen(self) -> tuple[tuple[str, ...], npt.NDArray[np.int64]]:
        """Return the vocabulary of all batches together, and the number of words of each term."""
        if len(self._kinds) > 1:
            raise CorpusError(
                "some documents are texts, and others are counts with a fixed vocabulary; give texts or "
                "counts, not both",
                code="mixed-documents",
            )
        vocabulary = tuple(self._index)
        if set(self._kinds) & {"texts", "lists"}:
            vocabulary = tuple(sorted(vocabulary))
        numbers = np.array([self._index[term] for term in vocabulary], np.int64)
        words = self._words[numbers]
        if "texts" in self._kinds:
            options = self.text_options or TextOptions()
            if not vocabulary:
                raise nothing_found(self.n_documents, options)
            kept = choose_terms(self._documents[numbers], words, self.n_documents, options)
            vocabulary, words = tuple(vocabulary[v] for v in kept), words[kept]
        if not words.sum():
            raise no_words()
        return vocabulary, words

    @property
    def text_options(self) -> TextOptions | None:
        """The text options, if they are equal for all batches."""
        return next(iter(self._options)) if len(self._options) == 1 else None


def numbers_in(vocabulary: Sequence[str], terms: Sequence[str]) -> npt.NDArray[np.int32]:
    """Return the number of each term in a vocabulary, or -1 if it is not in it."""
    index = {term: v for v, term in enumerate(vocabulary)}
    return np.array([index.get(term, -1) for term in terms], np.int32)
