"""Documents that come in pieces, each with terms of its own: the files of a large corpus, one at a time.

A piece is read, counted and put aside on disk; when all have been, the terms of all of them are known, and
whoever comes next takes the pieces up one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from franchise._files import Array, Facts, read_arrays, write_arrays
from franchise.corpus.checks import numbered
from franchise.corpus.convert import iterate
from franchise.corpus.corpus import Corpus
from franchise.corpus.downsample import Downsampling
from franchise.corpus.growing import count_terms
from franchise.corpus.metadata import packed_metadata, unpacked_metadata
from franchise.corpus.shards import About
from franchise.corpus.stored import texts_in
from franchise.corpus.strings import packed, unpacked
from franchise.corpus.tokens import apply_vocabulary, learn_vocabulary
from franchise.corpus.vectorize import (
    KeptTexts,
    TextOptions,
    choose_terms,
    document_frequencies,
    nothing_found,
    split_texts,
)
from franchise.errors import CorpusError

_KIND = "piece of a corpus"
_CORPORA, _TEXTS, _LISTS = "a corpus", "a text", "a list of words"
_BATCH = 20_000  # documents of a list that make a piece


class Piece(NamedTuple):
    """Documents, which may have no words, and of which there may be none.

    Attributes
    ----------
    x, doc_ptr
        Words and offsets, as a corpus has them.
    terms
        What the numbers in `x` mean.
    kind
        Whether terms are all words of texts, of which some are left out yet ("texts"), all words of lists
        ("lists"), or a vocabulary that is to stay as it is ("vocabulary").
    about
        Names (None if documents go by number), texts and metadata.
    """

    x: npt.NDArray[np.int32]
    doc_ptr: npt.NDArray[np.int64]
    terms: Sequence[str]
    kind: str
    about: About
    text_options: TextOptions | None = None
    downsampling: Downsampling | None = None

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return len(self.doc_ptr) - 1


def piece_of(corpus: Corpus, *, keep_texts: bool = True) -> Piece:
    """Return a corpus as a piece."""
    names = corpus.document_names
    about = About(
        None if names == numbered(corpus.n_documents) else names,
        corpus.texts if keep_texts else None,
        corpus.metadata,
    )
    return Piece(
        corpus.x,
        corpus.doc_ptr,
        corpus.vocabulary,
        "vocabulary",
        about,
        corpus.text_options,
        corpus.downsampling,
    )


def piece_of_texts(texts: Iterable[str], options: TextOptions, keep_texts: bool | int) -> Piece:
    """Split texts into words; their documents have no names yet."""
    kept = KeptTexts(keep_texts)
    x, doc_ptr, terms = learn_vocabulary(split_texts(texts, options, keep=kept.add))
    return Piece(x, doc_ptr, terms, "texts", About(None, kept.texts, None), options)


def piece_of_lists(documents: Iterable[Any], vocabulary: Sequence[str] | None) -> Piece:
    """Take lists of words, or with a vocabulary of term ids, as they are; documents have no names yet."""
    if vocabulary is None:
        x, doc_ptr, terms = learn_vocabulary(documents)
        return Piece(x, doc_ptr, terms, "lists", About(None, None, None))
    x, doc_ptr = apply_vocabulary(documents, vocabulary)
    return Piece(x, doc_ptr, vocabulary, "vocabulary", About(None, None, None))


def pieces_of_documents(documents: Any, options: TextOptions) -> Iterator[Piece]:
    """Cut an iterable of texts, of lists of words or of corpora into pieces."""
    left, n_before, kind = iterate(documents, "documents"), 0, ""
    # One corpus is a piece, and so is the first document, which tells what there is.
    while batch := list(islice(left, _BATCH if kind in (_TEXTS, _LISTS) else 1)):
        for j, document in enumerate(batch, start=n_before):
            own = _kind_of(document)
            if own == "" or own != (kind or own):
                found = own or f"{shortened(document)} ({type(document).__name__})"
                before = f", after {kind}" if kind else ""
                raise CorpusError(
                    f"document {j} is {found}{before}; give texts, lists of words, or corpora: one kind",
                    code="mixed-documents" if own else "wrong-type",
                )
            kind = own
        n_before += len(batch)
        if kind == _CORPORA:
            yield piece_of(batch.pop())
        elif kind == _TEXTS:
            yield piece_of_texts(batch, options, keep_texts=False)
        else:
            with _counted_from(n_before - len(batch)):
                piece = piece_of_lists(batch, None)
            yield piece


@contextmanager
def _counted_from(first: int) -> Iterator[None]:
    """Say where the count of documents in an error begins, if not at the first of all."""
    try:
        yield
    except CorpusError as error:
        raise CorpusError(
            f"of the documents from {first:,} on, {error}" if first else str(error), code=error.code
        ) from None


def _kind_of(document: Any) -> str:
    if isinstance(document, Corpus):
        return _CORPORA
    if isinstance(document, str):
        return _TEXTS
    return _LISTS if isinstance(document, list | tuple | np.ndarray) else ""


class Terms:
    """The terms of all pieces, with how many words and documents have each."""

    def __init__(self) -> None:
        self._index: dict[str, int] = {}
        self._words = self._documents = np.zeros(0, np.int64)
        self._kinds: dict[str, None] = {}
        self.options: dict[TextOptions | None, None] = {}
        self.n_documents = 0

    def add(self, piece: Piece) -> None:
        """Count the words of a piece."""
        self._kinds[piece.kind] = None
        self.options[piece.text_options] = None
        self.n_documents += piece.n_documents
        index = self._index
        numbers = np.array([index.setdefault(term, len(index)) for term in piece.terms], np.int64)
        more = np.zeros(len(index) - len(self._words), np.int64)
        self._words, self._documents = (np.append(own, more) for own in (self._words, self._documents))
        self._words[numbers] += count_terms(piece.x, len(piece.terms))
        if piece.kind == "texts":
            self._documents[numbers] += document_frequencies(piece.x, piece.doc_ptr, len(piece.terms))

    def chosen(self) -> tuple[tuple[str, ...], npt.NDArray[np.int64]]:
        """Return the vocabulary of all pieces together, and the number of words of each term.

        Raises
        ------
        CorpusError
            If pieces are of different kinds, or no words are left.
        """
        if len(self._kinds) > 1:
            raise CorpusError(
                "some of the documents are texts, whose terms are still to be chosen, and others are counts "
                "with a vocabulary; give texts or counts, not both",
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
            kept = choose_terms(self._documents[numbers], lambda: words, self.n_documents, options)
            vocabulary, words = tuple(vocabulary[v] for v in kept), words[kept]
        if not words.sum():
            raise CorpusError(
                "there are no words at all: every document is empty; give at least one word",
                code="empty-corpus",
            )
        return vocabulary, words

    @property
    def text_options(self) -> TextOptions | None:
        """How texts became words, if all were treated alike."""
        return next(iter(self.options)) if len(self.options) == 1 else None


# ---------------------------------------------------------------- put aside


def put_aside(piece: Piece, path: Path) -> Callable[[], Piece]:
    """Write a piece into a file, and return what takes it up again; it is mapped then."""
    arrays: dict[str, Array] = packed("terms", piece.terms)
    arrays |= {"x": piece.x, "doc_ptr": piece.doc_ptr}
    facts: Facts = {"metadata": None}
    names, texts, metadata = piece.about
    if names is not None:
        arrays |= packed("names", names)
    if texts is not None:
        arrays |= packed("texts", texts)
    if metadata is not None:
        columns, facts["metadata"] = packed_metadata(metadata)
        arrays |= columns
    write_arrays(path, _KIND, arrays, facts)
    like = piece._replace(
        x=np.empty(0, np.int32), doc_ptr=np.zeros(1, np.int64), terms=(), about=About(None, None, None)
    )

    def taken_up() -> Piece:
        stored, about = read_arrays(path, _KIND, mapped=True)
        return like._replace(
            x=stored["x"],
            doc_ptr=stored["doc_ptr"],
            terms=unpacked("terms", stored),
            about=About(
                unpacked("names", stored) if "names" in stored else None,
                texts_in(stored) if "texts" in stored else None,
                unpacked_metadata(stored, about["metadata"]),
            ),
        )

    return taken_up
