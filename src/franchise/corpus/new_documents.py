"""New documents from a file, with the terms of an existing corpus: all at once, or in blocks.

With blocks, the words of all documents need not fit in memory. Texts are read from the file in blocks, and
shards one after another. Counts are read as a whole, but their words are laid out in blocks; a file in the
format franchise stays on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, count
from typing import Any, NamedTuple

import numpy as np

from franchise.corpus.batches import Batch
from franchise.corpus.cells import selected, words_of
from franchise.corpus.checks import numbered
from franchise.corpus.corpus import Corpus
from franchise.corpus.documents import Encoded, encode
from franchise.corpus.files import Progress, Readable, StrPath, source_name
from franchise.corpus.large_arrays import blocks_of_documents
from franchise.corpus.read_options import ReadOptions
from franchise.corpus.reading import (
    TextRows,
    batch_of_rows,
    opened,
    read_documents,
)
from franchise.corpus.shards.corpus import ShardedCorpus
from franchise.corpus.stored import About
from franchise.corpus.text_options import given_options
from franchise.corpus.texts import Offsets, Words
from franchise.errors import CorpusError

_CHARACTERS = 2_000_000  # per block of texts: a few seconds of inference
_AS_A_WORD = 8  # characters that a word in a list of words counts for


def read_new(
    path: StrPath | Readable,
    like: Corpus,
    read_options: ReadOptions | None = None,
    *,
    progress: Progress | None = None,
    **options: Any,
) -> Encoded:
    """Read documents with the terms of an existing corpus; other words are skipped and counted.

    Parameters
    ----------
    path, read_options, progress, **options
        As for :func:`read_corpus`.
    like
        The corpus with the vocabulary. Texts are split like its own texts. If it or a file of counts has no
        names for terms, equal term ids mean equal terms.
    """
    chosen = _without_metadata(given_options(ReadOptions, read_options, options, "read_options"))
    found = read_documents(path, chosen, like, progress=progress)
    if isinstance(found, Corpus):
        terms = _terms_of(found, like, chosen, source_name(path))
        if terms is not found.vocabulary:
            found = found.with_names(terms, found.document_names)
    return encode(found, like)


def read_new_in_blocks(
    path: StrPath | Readable,
    like: Corpus,
    read_options: ReadOptions | None = None,
    *,
    documents: int = 10_000,
    progress: Progress | None = None,
) -> Iterator[Encoded]:
    """Read documents like `read_new`, in blocks.

    Parameters
    ----------
    path, like, read_options
        As for :func:`read_new`.
    documents
        The most documents in a block. Blocks of long documents have fewer.
    progress
        As for :func:`read_corpus`. For shards, and counts that are read as a whole, it is called before each
        block with the number of documents so far, including the block, and the number of all documents.
    """
    chosen = _without_metadata(read_options or ReadOptions())
    with opened(path, chosen, progress) as found:
        if isinstance(found, TextRows):
            yield from _blocks_of_texts(found, chosen, like, documents)
            return
        terms, n_documents = _terms_of(found, like, chosen, source_name(path)), 0
        for batch in _blocks_of_counts(found, terms, documents):
            n_documents += batch.n_documents
            if progress is not None:
                progress(n_documents, found.n_documents)
            yield encode(batch, like)


def _without_metadata(options: ReadOptions) -> ReadOptions:
    return replace(options, metadata=(), metadata_file=None, keep_texts=False)


def _terms_of(found: Corpus, like: Corpus, options: ReadOptions, name: str) -> Sequence[str]:
    """Return the terms of counts: the terms of `like`, if either of the two only has numbers as terms."""
    if options.vocabulary is not None or not any(
        one.vocabulary == numbered(one.n_terms) for one in (found, like)
    ):
        return found.vocabulary
    if found.n_terms > like.n_terms:
        raise CorpusError(
            f"{name}: it has terms up to number {found.n_terms - 1:,}, but only {like.n_terms:,} "
            "are known; give the terms of the file (--vocabulary)",
            code="term-out-of-range",
        )
    return like.vocabulary


def _blocks_of_texts(
    found: TextRows, options: ReadOptions, like: Corpus, documents: int
) -> Iterator[Encoded]:
    first, left = 0, found.rows
    for row in left:
        some = found._replace(rows=_taken(chain([row], left), documents), first=first)
        encoded = encode(batch_of_rows(some, options, like), like)
        last = first + len(encoded.unknown)
        if not found.has_names:
            encoded = encoded._replace(document_names=tuple(map(str, range(first, last))))
        first = last
        yield encoded


def _taken(rows: Iterable[tuple[Any, Any]], documents: int) -> Iterator[tuple[Any, Any]]:
    """Yield rows up to a number of documents, or about a number of characters."""
    characters = 0
    for number, row in zip(count(1), rows):
        yield row
        characters += len(row[0]) if isinstance(row[0], str) else _AS_A_WORD * len(row[0])
        if number >= documents or characters >= _CHARACTERS:
            return


class _Part(NamedTuple):
    """Documents in memory or mapped."""

    doc_ptr: Offsets
    words: Callable[[int, int], Words]  # for documents from one number to another
    names: Sequence[str]


def _blocks_of_counts(found: Corpus, terms: Sequence[str], documents: int) -> Iterator[Batch]:
    for part in _shards_of(found) if isinstance(found, ShardedCorpus) else [_whole(found)]:
        for first, last in blocks_of_documents(part.doc_ptr):
            for begin in range(first, last, documents):
                end = min(begin + documents, last)
                doc_ptr = part.doc_ptr[begin : end + 1] - part.doc_ptr[begin]
                about = About(part.names[begin:end])
                yield Batch(part.words(begin, end), doc_ptr, terms, "vocabulary", about)


def _whole(corpus: Corpus) -> _Part:
    if corpus.keeps_cells:  # its words are not laid out all at once
        cells = corpus.cells

        def laid_out(begin: int, end: int) -> Words:
            return words_of(selected(cells, np.arange(begin, end)))

        return _Part(corpus.doc_ptr, laid_out, corpus.document_names)
    return _Part(corpus.doc_ptr, partial(_words, corpus.x, corpus.doc_ptr), corpus.document_names)


def _shards_of(corpus: ShardedCorpus) -> Iterator[_Part]:
    n_before = 0
    for batch in corpus.batches():
        names = batch.about.names or list(map(str, range(n_before, n_before + batch.n_documents)))
        yield _Part(batch.doc_ptr, partial(_words, batch.x, batch.doc_ptr), names)
        n_before += batch.n_documents


def _words(x: Words, doc_ptr: Offsets, begin: int, end: int) -> Words:
    return x[doc_ptr[begin] : doc_ptr[end]]
