"""Corpora from files, in every format of ``formats``; ``writers`` writes them.

Texts are read one after the other and split at once, so that a file need not fit in memory, only its words.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from franchise.corpus.corpus import Corpus, numbered
from franchise.corpus.documents import Encoded, encode
from franchise.corpus.encodings import checked_encoding
from franchise.corpus.files import Progress, Readable, Source, StrPath, open_source
from franchise.corpus.formats import FORMATS, Format, folder, guess, ldac
from franchise.corpus.formats.columns import Columns, OtherColumns, Rows, column_names
from franchise.corpus.formats.delimited import checked_delimiter
from franchise.corpus.formats.strangers import refuse_stranger
from franchise.corpus.formats.vocabulary import found_beside, terms_of
from franchise.corpus.texts import texts_length
from franchise.corpus.vectorize import TextOptions, from_texts
from franchise.errors import CorpusError, SettingsError


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
        A file, or a folder of text files; ``"-"`` for standard input, or a file that is open for bytes.
    format
        One of :data:`~franchise.corpus.FORMATS`. By default known from the end of the name, or else from how
        the file starts.
    text_column
        Which column, or key of JSON lines, holds the texts; needed for tables.
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
    how = _How.checked(format, encoding, delimiter, layer)
    with _reading(path, how, columns, vocabulary, text_options, progress) as documents:
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
    how = _How.checked(format, encoding, delimiter, layer)
    with _reading(path, how, columns, vocabulary, None, progress) as documents:
        if documents.counts is None:
            names: list[str] = []
            encoded = encode(_texts_of(documents, names), like)
            return encoded._replace(document_names=tuple(names)) if documents.has_names else encoded
        return counts_in_terms(documents, documents.counts, like, vocabulary is not None)


def counts_in_terms(documents: _Documents, counts: Corpus, like: Corpus, has_terms: bool) -> Encoded:
    """Bring counts into the terms of a corpus; where neither names its terms, by their numbers."""
    if not has_terms and any(one.vocabulary == numbered(one.n_terms) for one in (counts, like)):
        if counts.n_terms > like.n_terms:
            raise CorpusError(
                f"{documents.name}: there are terms up to number {counts.n_terms - 1:,}, but only "
                f"{like.n_terms:,} are known; give the terms of the file (--vocabulary)"
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


class _Documents(NamedTuple):
    """What is found in a file: texts to read one after the other, or counts."""

    name: str
    rows: Rows
    has_names: bool
    counts: Corpus | None


class _How(NamedTuple):
    """How to read a file, as far as the user has said it."""

    form: str | None
    encoding: str | None
    delimiter: str | None
    layer: str | None

    @classmethod
    def checked(cls, form: str | None, encoding: object, delimiter: object, layer: str | None) -> _How:
        """Refuse what cannot be."""
        if form is not None:
            known_format(form)
        return cls(form, checked_encoding(encoding), checked_delimiter(delimiter), layer)


@contextmanager
def _reading(
    path: StrPath | Readable,
    how: _How,
    columns: Columns,
    vocabulary: StrPath | Sequence[str] | None,
    text_options: TextOptions | None,
    progress: Progress | None,
) -> Iterator[_Documents]:
    """Open a file or folder and find out what is in it."""
    try:
        if _is_folder(path, how.form):
            _check_options("folder", how, columns, vocabulary, text_options)
            rows = folder.rows(Path(path), progress, how.encoding)  # type: ignore[arg-type]
            yield _Documents(str(path), rows, True, None)
            return
        with open_source(path, progress, how.encoding) as source:
            form = _told(source, how.form)
            _check_options(form, how, columns, vocabulary, text_options)
            facts = FORMATS[form]
            if facts.rows is not None:
                read = facts.rows if how.delimiter is None else partial(facts.rows, delimiter=how.delimiter)
                has_names = facts.has_names or columns.name is not None
                yield _Documents(source.name, read(source, columns), has_names, None)
            else:
                yield _Documents(source.name, iter(()), False, _from_counts(source, form, how, vocabulary))
    except MemoryError:
        raise CorpusError(f"{path}: too large for this machine's memory; read a part of it") from None


def known_format(form: str) -> Format:
    """Return a format by its name, or say which there are."""
    if form not in FORMATS:
        raise SettingsError(f"format={form!r}: there is no such format; give one of {', '.join(FORMATS)}")
    return FORMATS[form]


def _is_folder(path: StrPath | Readable, form: str | None) -> bool:
    """Return whether to read a folder."""
    is_there = isinstance(path, str | os.PathLike) and os.path.isdir(path) and path != "-"
    if form == "folder" and not is_there:
        raise CorpusError(f"{path}: not a folder; give one, or the format of this file")
    return is_there and form in (None, "folder")


def _told(source: Source, given: str | None) -> str:
    """Return the format that was given, or that a file's name or content shows."""
    named = guess.by_name(source.path) if source.path is not None else None
    form = given or named
    refuse_stranger(source, form)
    form = form or guess.by_content(source)
    if form is None:
        known = ", ".join(name for name in FORMATS if name != "folder")
        raise source.fault(
            f"neither its name nor its content shows the format; give format (--format-in), one of {known}"
        )
    return form


def _check_options(
    form: str, how: _How, columns: Columns, vocabulary: object, text_options: TextOptions | None
) -> None:
    """Refuse options that would have no effect: whoever gave them expects one."""
    facts = FORMATS[form]
    holds_counts = facts.counts is not None
    holds = "words" if form == "franchise" else "counts"
    in_utf_8 = form in ("parquet", "h5ad", "franchise")
    useless = (
        ("text_column", columns.text is not None and not facts.has_columns, "it has no columns"),
        ("id_column", columns.name is not None and not facts.has_columns, "it has no columns"),
        (
            "metadata",
            bool(columns.others and columns.others.wanted) and not facts.has_columns,
            "it has no columns",
        ),
        ("vocabulary", vocabulary is not None and not holds_counts, "the vocabulary comes from the texts"),
        (
            "encoding",
            how.encoding is not None and in_utf_8,
            "it is always UTF-8",
        ),
        ("delimiter", how.delimiter is not None and form not in ("csv", "tsv"), "it has no delimiter"),
        ("layer", how.layer is not None and form != "h5ad", "it has no layers"),
        (
            "text_options",
            holds_counts and text_options not in (None, TextOptions()),
            f"it holds {holds}",
        ),
    )
    for name, is_useless, reason in useless:
        if is_useless:
            raise SettingsError(f"{name} does not apply to the format {form}: {reason}; leave it out")


def _with_texts_up_to(corpus: Corpus, keep_texts: bool | int) -> Corpus:
    """Return a corpus without its texts, if it has any, and they are not wanted or too long."""
    most = math.inf if keep_texts is True else int(keep_texts)
    texts = corpus.texts
    if texts is None or texts_length(texts) <= most:
        return corpus
    make, parts = corpus.__reduce__()
    return make(*parts, texts=None)


def _texts_of(documents: _Documents, names: list[str]) -> Iterator[str]:
    """Yield one text after the other; their names are added to `names`."""
    for text, name in documents.rows:
        if name is not None:
            names.append(name)
        yield text


def _from_rows(documents: _Documents, text_options: TextOptions | None, keep_texts: bool | int) -> Corpus:
    names: list[str] = []
    faults: list[CorpusError] = []

    def texts() -> Iterator[str]:
        try:
            yield from _texts_of(documents, names)
        except CorpusError as fault:
            faults.append(fault)
            raise

    try:
        # The list of names is filled while the texts are read; the corpus looks at it after that.
        return from_texts(
            texts(),
            document_names=names if documents.has_names else None,
            keep_texts=keep_texts,
            text_options=text_options,
        )
    except CorpusError as error:
        if error in faults:
            raise
        raise CorpusError(f"{documents.name}: {error}") from None  # who splits texts knows of no files


def _from_counts(source: Source, form: str, how: _How, vocabulary: StrPath | Sequence[str] | None) -> Corpus:
    read = FORMATS[form].counts
    assert read is not None
    if how.layer is not None:
        read = partial(read, layer=how.layer)
    found = None
    if vocabulary is None and form not in ("npz", "h5ad", "franchise"):  # which have a place for terms
        vocabulary = found = found_beside(source.path)
    try:
        return read(source, None if vocabulary is None else terms_of(vocabulary, how.encoding))
    except CorpusError as error:
        if found is None or "the vocabulary" not in str(error):
            raise
        raise CorpusError(f"{error} (the vocabulary is in {found})") from None  # no one has named that file
