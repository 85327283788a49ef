"""Corpora from files, in every format of ``formats``; ``writing`` writes them.

Texts are read one after the other and split at once, so that a file need not fit in memory, only its words.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from franchise.corpus.batches import Batch, batch_of_lists, batch_of_texts, corpus_of
from franchise.corpus.checks import numbered
from franchise.corpus.corpus import Corpus
from franchise.corpus.documents import Encoded, encode, how_split
from franchise.corpus.encodings import checked_encoding
from franchise.corpus.files import Progress, Readable, Source, StrPath, open_source, source_name
from franchise.corpus.formats import FORMATS, known_format, ldac
from franchise.corpus.formats.columns import Columns, Rows
from franchise.corpus.formats.delimited import checked_delimiter
from franchise.corpus.formats.detect import format_of
from franchise.corpus.formats.plain_text import folder_rows
from franchise.corpus.formats.vocabulary import found_beside, terms_of
from franchise.corpus.shards.corpus import open_shards
from franchise.corpus.shards.files import is_sharded
from franchise.corpus.stored import About
from franchise.corpus.strings import texts_length
from franchise.corpus.text_options import TextOptions
from franchise.errors import CorpusError, SettingsError

_NOTHING = (TextOptions(), ())  # have no effect
_FROM_TEXTS = "the vocabulary comes from the texts"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How documents are read from a file.

    Parameters
    ----------
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

    Raises
    ------
    SettingsError
        If there is no such format, encoding or delimiter.
    """

    format: str | None = None
    text_column: str | None = None
    id_column: str | None = None
    metadata: Sequence[str] | None = None
    vocabulary: StrPath | Sequence[str] | None = None
    text_options: TextOptions | None = None
    keep_texts: bool | int = True
    encoding: str | None = None
    delimiter: str | None = None
    layer: str | None = None

    def __post_init__(self) -> None:
        if self.format is not None:
            known_format(self.format)
        names = self.metadata
        if isinstance(names, str) or not all(isinstance(name, str) for name in names or ()):
            raise SettingsError(
                f"metadata={names!r}: give a list of names of columns, [] for none", code="wrong-type"
            )
        object.__setattr__(self, "metadata", None if names is None else tuple(dict.fromkeys(names)))
        object.__setattr__(self, "encoding", checked_encoding(self.encoding))
        object.__setattr__(self, "delimiter", checked_delimiter(self.delimiter))


def read_corpus(
    path: StrPath | Readable,
    read_options: ReadOptions | None = None,
    *,
    progress: Progress | None = None,
    **options: Any,
) -> Corpus:
    r"""Read a corpus from a file of any known format, plain or gzip.

    Parameters
    ----------
    path
        A file, a folder of text files, or one of shards (:func:`~franchise.corpus.shard`); ``"-"`` for
        standard input, or a file that is open for bytes.
    read_options
        How to read it.
    progress
        Called now and then with the bytes read and the size of the file, None where that is not known; for a
        gzipped file, both count gzipped bytes.
    **options
        Single options, instead of ``read_options``: see :class:`ReadOptions`.

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
    found = read_documents(path, _options(read_options, options), progress=progress)
    if isinstance(found, Corpus):
        return found
    with _named(source_name(path)):
        return corpus_of(found)


def read_new(
    path: StrPath | Readable,
    like: Corpus,
    read_options: ReadOptions | None = None,
    *,
    progress: Progress | None = None,
    **options: Any,
) -> Encoded:
    """Read documents in the terms of an existing corpus; other words are skipped and counted.

    Parameters
    ----------
    path, read_options, progress, **options
        As :func:`read_corpus` takes them.
    like
        The corpus whose vocabulary is used; texts are split as its own were. Where it, or a file of counts,
        names no terms, the numbers of terms are taken to be the same.
    """
    chosen = replace(_options(read_options, options), metadata=(), keep_texts=False)
    found = read_documents(path, chosen, like, progress=progress)
    if (
        isinstance(found, Corpus)
        and chosen.vocabulary is None
        and any(one.vocabulary == numbered(one.n_terms) for one in (found, like))
    ):
        if found.n_terms > like.n_terms:
            raise CorpusError(
                f"{source_name(path)}: there are terms up to number {found.n_terms - 1:,}, but only "
                f"{like.n_terms:,} are known; give the terms of the file (--vocabulary)",
                code="term-out-of-range",
            )
        found = found.with_names(like.vocabulary, found.document_names)
    return encode(found, like)


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


def read_documents(
    path: StrPath | Readable,
    options: ReadOptions,
    like: Corpus | None = None,
    *,
    progress: Progress | None = None,
) -> Corpus | Batch:
    """Read a file or folder: a corpus where it holds counts, and else a batch, perhaps without documents.

    Texts, and lists of term ids, are read as those of the corpus `like` were, if one is given.
    """
    try:
        if is_sharded(path):
            _check_apply("a folder of shards", options, _USELESS_FOR_SHARDS)
            return open_shards(path)  # type: ignore[arg-type]
        if _is_folder(path, options.format):
            _check_apply("the format folder", options, _useless("folder"))
            rows = folder_rows(Path(path), progress, options.encoding)  # type: ignore[arg-type]
            return _batch(str(path), rows, options, Columns(), like, has_names=True)
        with open_source(path, progress, options.encoding) as source:
            form = format_of(source, options.format)
            _check_apply(f"the format {form}", options, _useless(form))
            facts = FORMATS[form]
            if facts.rows is None:
                return _counts(source, form, options)
            columns = Columns(options.text_column, options.id_column, options.metadata)
            given = {} if options.delimiter is None else {"delimiter": options.delimiter}
            rows = facts.rows(source, columns, **given)
            has_names = facts.has_names or columns.name is not None
            return _batch(source.name, rows, options, columns, like, has_names=has_names)
    except MemoryError:
        raise CorpusError(
            f"{path}: too large for this machine's memory; read a part of it", code="out-of-memory"
        ) from None


def _options(given: ReadOptions | None, single: dict[str, Any]) -> ReadOptions:
    if given is not None and single:
        raise SettingsError(
            f"{', '.join(single)}: give read_options, or single options, not both",
            code="conflicting-settings",
        )
    known = [field.name for field in fields(ReadOptions)]
    for name in single:
        if name not in known:
            raise SettingsError(
                f"{name}: there is no such option; give {', '.join(known)}", code="unknown-option"
            )
    return given or ReadOptions(**single)


def _is_folder(path: StrPath | Readable, form: str | None) -> bool:
    """Return whether to read a folder."""
    is_there = isinstance(path, str | os.PathLike) and os.path.isdir(path) and path != "-"
    if form == "folder" and not is_there:
        raise CorpusError(f"{path}: not a folder; give one, or the format of this file", code="not-a-folder")
    return is_there and form in (None, "folder")


# ---------------------------------------------------------------- texts and lists of words


def _batch(
    name: str, rows: Rows, options: ReadOptions, columns: Columns, like: Corpus | None, *, has_names: bool
) -> Batch:
    """Read rows of texts, or of lists of words, and give each word a number."""
    first = next(rows, None)
    holds_lists = first is not None and isinstance(first[0], list)
    names: list[str] = []

    def texts() -> Iterator[Any]:
        for text, document_name in rows if first is None else chain([first], rows):
            if document_name is not None:
                names.append(document_name)
            yield text

    with _named(name):
        if not holds_lists:
            _check_apply("the format parquet", options, {"vocabulary": _FROM_TEXTS})
            chosen = options.text_options or TextOptions() if like is None else how_split(like)
            batch = batch_of_texts(texts(), chosen, options.keep_texts)
        else:
            _check_apply("the format parquet", options, {"text_options": "its column holds lists of words"})
            terms = None if options.vocabulary is None else terms_of(options.vocabulary, options.encoding)
            if like is None:
                batch = batch_of_lists(texts(), terms)
            else:
                batch = batch_of_lists(_words_of_ids(texts(), terms or like.vocabulary), None)
        about = About(names if has_names else None, batch.about.texts, columns.gathered(name))
    return batch._replace(about=about)


def _words_of_ids(documents: Iterable[Sequence[Any]], terms: Sequence[str]) -> Iterator[list[Any]]:
    """Yield lists of words; where there are term ids, the terms in their place."""
    for j, document in enumerate(documents):
        try:
            yield [terms[range(len(terms))[word]] if isinstance(word, int) else word for word in document]
        except IndexError:
            raise CorpusError(
                f"document {j} has a term id outside the vocabulary of {len(terms):,} terms; ids count from "
                "0",
                code="term-out-of-range",
            ) from None


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Name the file in errors from functions that do not know it."""
    try:
        yield
    except CorpusError as error:
        if str(error).startswith((f"{name}:", f"{name}{os.sep}")):
            raise
        raise CorpusError(f"{name}: {error}", code=error.code) from None


# ---------------------------------------------------------------- counts


def _counts(source: Source, form: str, options: ReadOptions) -> Corpus:
    read = FORMATS[form].counts
    assert read is not None
    if options.layer is not None:
        read = partial(read, layer=options.layer)
    vocabulary, beside = options.vocabulary, None
    if vocabulary is None and form not in ("npz", "h5ad", "franchise"):  # which have a place for terms
        vocabulary = beside = found_beside(source.path)
    try:
        corpus = read(source, None if vocabulary is None else terms_of(vocabulary, options.encoding))
    except CorpusError as error:
        if beside is None or error.code not in ("term-out-of-range", "vocabulary-mismatch"):
            raise
        # No one has named that file.
        raise CorpusError(f"{error} (the vocabulary is in {beside})", code=error.code) from None
    most = math.inf if options.keep_texts is True else int(options.keep_texts)
    if corpus.texts is None or texts_length(corpus.texts) <= most:
        return corpus
    make, parts = corpus.__reduce__()
    return make(*parts, texts=None)


# ---------------------------------------------------------------- options that do not apply

_USELESS_FOR_SHARDS = {
    **dict.fromkeys(
        (field.name for field in fields(ReadOptions) if field.name not in ("keep_texts", "text_options")),
        "it holds words with their terms and names",
    ),
    "text_options": "it holds words",
}


def _useless(form: str) -> dict[str, str]:
    """Return the options that have no effect on a format, and why."""
    facts = FORMATS[form]
    why: dict[str, str] = {}
    if not facts.has_columns:
        why |= dict.fromkeys(("text_column", "id_column"), "it has no columns")
        if form != "mallet":  # which has labels
            why["metadata"] = "it has no columns"
    if facts.counts is not None:
        why["text_options"] = f"it holds {'words' if form == 'franchise' else 'counts'}"
    elif form != "parquet":
        why["vocabulary"] = _FROM_TEXTS
    if form in ("parquet", "h5ad", "franchise"):
        why["encoding"] = "it is always UTF-8"
    if form not in ("csv", "tsv"):
        why["delimiter"] = "it has no delimiter"
    if form != "h5ad":
        why["layer"] = "it has no layers"
    return why


def _check_apply(what: str, options: ReadOptions, useless: dict[str, str]) -> None:
    """Refuse options that would have no effect."""
    for name, reason in useless.items():
        value = getattr(options, name)
        if value is not None and not (isinstance(value, tuple | TextOptions) and value in _NOTHING):
            raise SettingsError(
                f"{name} does not apply to {what}: {reason}; leave it out", code="does-not-apply"
            )
