"""Corpora from files, in every format of ``formats``; ``writers`` writes them.

Texts are read one after the other and split at once, so that a file need not fit in memory, only its words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from franchise.corpus.convert import from_tokens
from franchise.corpus.corpus import Corpus, numbered
from franchise.corpus.documents import Encoded, encode
from franchise.corpus.files import Progress, Readable, StrPath, open_source
from franchise.corpus.formats import ldac
from franchise.corpus.formats.columns import Columns, OtherColumns, column_names
from franchise.corpus.formats.vocabulary import terms_of
from franchise.corpus.opening import Documents, How, reading
from franchise.corpus.pieces import Piece, piece_of, piece_of_lists, piece_of_texts
from franchise.corpus.sharded import ShardedCorpus
from franchise.corpus.shards import About
from franchise.corpus.strings import texts_length
from franchise.corpus.vectorize import TextOptions, from_texts
from franchise.errors import CorpusError


def read_corpus(
    path: StrPath | Readable,
    *,
    format: str | None = None,
    text_column: str | None = None,
    id_column: str | None = None,
    metadata: Sequence[str] | None = None,
    vocabulary: StrPath | Sequence[str] | None = None,
    text_options: TextOptions | None = None,
    keep_texts: bool | int = True,
    encoding: str | None = None,
    delimiter: str | None = None,
    layer: str | None = None,
    progress: Progress | None = None,
) -> Corpus:
    r"""Read a corpus from a file of any known format, plain or gzip.

    Parameters
    ----------
    path
        A file, a folder of text files, or one of shards (:func:`~franchise.corpus.shard`); ``"-"`` for
        standard input, or a file that is open for bytes.
    format
        One of :data:`~franchise.corpus.FORMATS`. By default known from the end of the name, or else from how
        the file starts.
    text_column
        Which column, or key of JSON lines, holds the texts; needed for tables. In Parquet it may have lists
        of words, or of term ids, which are taken as they are.
    id_column
        Which column holds the names of the documents; by default they are named ``"0"``, ``"1"``, and so on.
    metadata
        Which other columns to keep with the documents, ``[]`` for none. By default all that are small: no
        value of more than 200 characters, no more than 10 million in all, and no more than 50 columns.
    vocabulary
        For counts, the terms: a file with one per line, or the terms themselves. By default
        ``docs.vocab.txt`` beside ``docs.ldac``, ``vocab.X.txt`` beside ``docword.X.txt``; without a file,
        terms are named ``"0"``, ``"1"``, and so on.
    text_options
        For texts, how they become words; by default as ``TextOptions()`` says.
    keep_texts
        Keep the texts in the corpus, to show them beside topics; a number keeps them only if they have no
        more characters than that in all. Otherwise only their words are kept.
    encoding
        Of texts, and of the file of terms, where it is not UTF-8.
    delimiter
        What separates the fields of a table: one character, or ``"tab"``; by default a comma in CSV.
    layer
        Which layer of an AnnData file holds the counts; by default they are in its X.
    progress
        Called now and then with the bytes read and the size of the file, None where that is not known; for a
        gzipped file, both count gzipped bytes.

    Returns
    -------
    Corpus
        Documents in the order of the file, empty ones included; those of a folder by their names.

    Raises
    ------
    CorpusError
        If the file cannot be read: the message names the file, the line, what is wrong and what to do.
    SettingsError
        If an option is given that does not apply to the format.

    Examples
    --------
    >>> import io
    >>> read_corpus(io.BytesIO(b"2 0:1 3:2\n1 3:1\n"))
    Corpus(2 documents, 4 terms, 4 words)
    """
    columns = Columns(text_column, id_column, OtherColumns(column_names(metadata)))
    how = How.checked(format, encoding, delimiter, layer)
    with reading(path, how, columns, vocabulary, text_options, progress) as documents:
        if documents.counts is not None:
            return _with_texts_up_to(documents.counts, keep_texts)
        corpus = _from_rows(documents, text_options, keep_texts)
    return corpus.with_metadata(columns.others.gathered(documents.name)) if columns.others else corpus


def read_new(
    path: StrPath | Readable,
    like: Corpus,
    *,
    format: str | None = None,
    text_column: str | None = None,
    id_column: str | None = None,
    vocabulary: StrPath | Sequence[str] | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    layer: str | None = None,
    progress: Progress | None = None,
) -> Encoded:
    """Read documents in the terms of an existing corpus; other words are skipped and counted.

    Parameters
    ----------
    like
        The corpus whose vocabulary is used; texts are split as its own were. Where it, or a file of counts,
        names no terms, the numbers of terms are taken to be the same.
    path, format, text_column, id_column, vocabulary, encoding, delimiter, layer, progress
        As :func:`read_corpus` takes them.
    """
    columns = Columns(text_column, id_column)
    how = How.checked(format, encoding, delimiter, layer)
    with reading(path, how, columns, vocabulary, None, progress) as documents:
        if documents.counts is None:
            names: list[str] = []
            texts: Iterable[Any] = documents.texts(names)
            if documents.has_lists:
                texts = _words_of_ids(texts, documents.terms or like.vocabulary, documents.name)
            encoded = encode(texts, like)
            return encoded._replace(document_names=tuple(names)) if documents.has_names else encoded
        return _counts_in_terms(documents, documents.counts, like, vocabulary is not None)


def _counts_in_terms(documents: Documents, counts: Corpus, like: Corpus, has_terms: bool) -> Encoded:
    """Bring counts into the terms of a corpus; where neither names its terms, by their numbers."""
    if not has_terms and any(one.vocabulary == numbered(one.n_terms) for one in (counts, like)):
        if counts.n_terms > like.n_terms:
            raise CorpusError(
                f"{documents.name}: there are terms up to number {counts.n_terms - 1:,}, but only "
                f"{like.n_terms:,} are known; give the terms of the file (--vocabulary)",
                code="term-out-of-range",
            )
        counts = counts.with_names(like.vocabulary, counts.document_names)
    return encode(counts, like)


def read_ldac(path: StrPath, *, vocabulary: StrPath | Sequence[str] | None = None) -> Corpus:
    """Read a corpus in LDA-C format.

    Parameters
    ----------
    path
        A file of lines ``M term:count term:count ...``, plain or gzip. An empty line, or ``0``, is an empty
        document. Pairs with the same term add up.
    vocabulary
        A file with one term per line, or the terms themselves; by default the terms are named ``"0"``,
        ``"1"``, ... up to the largest id in the file.

    Returns
    -------
    Corpus
        Words of each document in term order, repeats adjacent.

    Raises
    ------
    CorpusError
        With file, line, what is wrong and what to do.
    """
    terms = None if vocabulary is None else terms_of(vocabulary)
    with open_source(path) as source:
        return ldac.read(source, terms)


def read_piece(
    path: StrPath | Readable,
    *,
    format: str | None = None,
    text_column: str | None = None,
    id_column: str | None = None,
    metadata: Sequence[str] | None = None,
    vocabulary: StrPath | Sequence[str] | None = None,
    text_options: TextOptions | None = None,
    keep_texts: bool | int = True,
    encoding: str | None = None,
    delimiter: str | None = None,
    layer: str | None = None,
    progress: Progress | None = None,
) -> Piece:
    """Read a file as a part of a corpus, as :func:`read_corpus` reads all of one.

    Terms are left out when those of all files are known (`pieces.Terms`). A file of texts may have none.
    """
    columns = Columns(text_column, id_column, OtherColumns(column_names(metadata)))
    how = How.checked(format, encoding, delimiter, layer)
    with reading(path, how, columns, vocabulary, text_options, progress) as documents:
        if documents.counts is not None:
            return piece_of(_with_texts_up_to(documents.counts, keep_texts))
        names: list[str] = []
        with _named_faults(documents) as texts:
            if documents.has_lists:
                piece = piece_of_lists(texts(names), documents.terms)
            else:
                piece = piece_of_texts(texts(names), text_options or TextOptions(), keep_texts)
        metadata_of_all = columns.others.gathered(documents.name) if columns.others else None
        about = About(names if documents.has_names else None, piece.about.texts, metadata_of_all)
        return piece._replace(about=about)


def _with_texts_up_to(corpus: Corpus, keep_texts: bool | int) -> Corpus:
    """Return a corpus without its texts, if it has any, and they are not wanted or too long."""
    if isinstance(corpus, ShardedCorpus):
        return corpus  # texts stay on disk until someone asks for one
    most = math.inf if keep_texts is True else int(keep_texts)
    texts = corpus.texts
    if texts is None or texts_length(texts) <= most:
        return corpus
    make, parts = corpus.__reduce__()
    return make(*parts, texts=None)


def _words_of_ids(documents: Iterable[Sequence[Any]], terms: Sequence[str], name: str) -> Iterator[list[Any]]:
    """Yield lists of words; where there are term ids, the terms in their place."""
    for j, document in enumerate(documents):
        try:
            yield [terms[range(len(terms))[word]] if isinstance(word, int) else word for word in document]
        except IndexError:
            raise CorpusError(
                f"{name}: document {j} has a term id outside the vocabulary of {len(terms):,} terms; ids "
                "count from 0",
                code="term-out-of-range",
            ) from None


def _from_rows(documents: Documents, text_options: TextOptions | None, keep_texts: bool | int) -> Corpus:
    names: list[str] = []
    given = names if documents.has_names else None
    # The list of names is filled while the documents are read; the corpus looks at it after that.
    with _named_faults(documents) as texts:
        if documents.has_lists:
            return from_tokens(texts(names), vocabulary=documents.terms, document_names=given)
        return from_texts(
            texts(names), document_names=given, keep_texts=keep_texts, text_options=text_options
        )


@contextmanager
def _named_faults(documents: Documents) -> Iterator[Callable[[list[str]], Iterator[str]]]:
    """Give what yields the documents; name the file in errors of those who know of no files."""
    faults: list[CorpusError] = []

    def texts(names: list[str]) -> Iterator[str]:
        try:
            yield from documents.texts(names)
        except CorpusError as fault:
            faults.append(fault)
            raise

    try:
        yield texts
    except CorpusError as error:
        if error in faults:
            raise
        raise CorpusError(f"{documents.name}: {error}", code=error.code) from None
