"""Corpora from files, in every format of ``formats``, which writes them, too.

Texts are read one after the other and split at once, so that a file need not fit in memory, only its words.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from franchise.corpus.batches import Batch, batch_of_lists, batch_of_texts, corpus_of
from franchise.corpus.checks import numbered
from franchise.corpus.corpus import Corpus
from franchise.corpus.counts import from_counts
from franchise.corpus.documents import how_split
from franchise.corpus.files import Progress, Readable, Source, StrPath, open_source, source_name
from franchise.corpus.formats import FORMATS, count_tables, format_of, ldac
from franchise.corpus.formats.columns import Columns, Rows
from franchise.corpus.formats.delimited import likely_delimiter
from franchise.corpus.formats.plain_text import folder_rows
from franchise.corpus.formats.vocabulary import found_beside, terms_of
from franchise.corpus.large_arrays import texts_length
from franchise.corpus.metadata import table_of
from franchise.corpus.metadata_files import MetadataFile
from franchise.corpus.read_options import (
    FROM_TEXTS,
    TABLES,
    USELESS_FOR_COUNT_TABLES,
    USELESS_FOR_SHARDS,
    ReadOptions,
    check_apply,
    useless,
)
from franchise.corpus.shards.corpus import open_shards
from franchise.corpus.shards.files import is_sharded
from franchise.corpus.stored import About
from franchise.corpus.text_options import TextOptions, given_options
from franchise.errors import CorpusError


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
    read_options = given_options(ReadOptions, read_options, options, "read_options")
    found = read_documents(path, read_options, progress=progress)
    if isinstance(found, Corpus):
        return found
    with _named(source_name(path)):
        return corpus_of(found)


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
    """
    terms = None if vocabulary is None else terms_of(vocabulary)
    with open_source(path) as source, _named(source.name):
        return ldac.read(source, terms)


class TextRows(NamedTuple):
    """Texts, or lists of words, of a file or folder that is open."""

    name: str  # what messages call the file
    rows: Rows
    columns: Columns  # what is read, and the metadata gathered so far
    has_names: bool
    first: int = 0  # how many documents have been read before, for messages


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
    more = None
    if options.metadata_file is not None and not is_sharded(path):
        more = MetadataFile(options.metadata_file, options.encoding)
    with opened(path, options, progress, more) as found:
        read = found if isinstance(found, Corpus) else batch_of_rows(found, options, like)
    return read if more is None else _with_more(read, options, more)


@contextmanager
def opened(
    path: StrPath | Readable,
    options: ReadOptions,
    progress: Progress | None,
    more: MetadataFile | None = None,
) -> Iterator[Corpus | TextRows]:
    """Open a file or folder: a corpus where it holds counts, and else texts, none of which is read yet.

    The columns that only `more` has, the file of metadata, are not looked for in the file itself.
    """
    try:
        if is_sharded(path):
            check_apply("a folder of shards", options, USELESS_FOR_SHARDS)
            yield open_shards(path)  # type: ignore[arg-type]
            return
        is_there = isinstance(path, str | os.PathLike) and os.path.isdir(path) and path != "-"
        if options.format == "folder" and not is_there:
            raise CorpusError(
                f"{path}: not a folder; give one, or the format of this file", code="not-a-folder"
            )
        if is_there and options.format in (None, "folder"):
            check_apply("the format folder", options, useless("folder", options.metadata_file))
            rows = folder_rows(Path(path), progress, options.encoding)  # type: ignore[arg-type]
            yield TextRows(str(path), rows, Columns(), has_names=True)
            return
        with open_source(path, progress, options.encoding) as source:
            form = format_of(source, options.format)
            if form == "txt" and (options.counts or options.transpose):
                form = "tsv" if likely_delimiter(source) == "\t" else "csv"
            check_apply(f"the format {form}", options, useless(form, options.metadata_file))
            yield _opened_as(form, source, options, more)
    except MemoryError:
        raise CorpusError(
            f"{path}: too large for this machine's memory; read a part of it", code="out-of-memory"
        ) from None


def _opened_as(
    form: str, source: Source, options: ReadOptions, more: MetadataFile | None
) -> Corpus | TextRows:
    facts = FORMATS[form]
    if facts.rows is None:
        return _counts(source, form, options, more)
    if form in TABLES and options.text_column is None:
        return _count_table(source, form, options, more)
    elsewhere = () if more is None else tuple(more.columns)
    columns = Columns(options.text_column, options.id_column, _within(options.metadata, elsewhere))
    given = {} if options.delimiter is None else {"delimiter": options.delimiter}
    has_names = facts.has_names or columns.name is not None
    return TextRows(source.name, facts.rows(source, columns, **given), columns, has_names)


def _within(wanted: Sequence[str] | None, elsewhere: Sequence[str]) -> Sequence[str] | None:
    """Return the columns that a table itself must have."""
    return None if wanted is None else [name for name in wanted if name not in elsewhere]


def _with_more(found: Corpus | Batch, options: ReadOptions, more: MetadataFile) -> Corpus | Batch:
    """Add the metadata of a file of their own, which take the place of columns with the same names."""
    if isinstance(found, Corpus):
        given, own = found.document_names, found.metadata
        names = None if given == numbered(found.n_documents) else given
    else:
        names, own = found.about.names, found.about.metadata
    n_documents, known = found.n_documents, () if own is None else tuple(own)
    wanted = options.metadata
    if wanted is not None:
        wanted = [name for name in wanted if name in more.columns or name not in known]
    if names is None:
        table, names = more.in_order(n_documents, wanted, options.id_column)
    else:
        table = more.by_name(names, wanted)
    columns = {} if own is None else {str(name): own[name] for name in own}
    columns |= {} if table is None else {str(name): table[name] for name in table}
    metadata = table_of(columns)
    if isinstance(found, Batch):
        return found._replace(about=found.about._replace(names=names, metadata=metadata))
    if names is not None:
        found = found.with_names(found.vocabulary, names)
    return found.with_metadata(metadata)


# ---------------------------------------------------------------- texts and lists of words


def batch_of_rows(found: TextRows, options: ReadOptions, like: Corpus | None) -> Batch:
    """Read rows of texts, or of lists of words, and give each word a number."""
    name, rows, columns, has_names, n_before = found
    first = next(rows, None)
    holds_lists = first is not None and isinstance(first[0], list)
    names: list[str] = []

    def texts() -> Iterator[Any]:
        for text, document_name in rows if first is None else chain([first], rows):
            if document_name is not None:
                names.append(document_name)
            yield text

    with _named(name, n_before):
        if not holds_lists:
            check_apply("the format parquet", options, {"vocabulary": FROM_TEXTS})
            chosen = options.text_options or TextOptions() if like is None else how_split(like)
            batch = batch_of_texts(texts(), chosen, options.keep_texts)
        else:
            check_apply("the format parquet", options, {"text_options": "its column holds lists of words"})
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
def _named(name: str, n_before: int = 0) -> Iterator[None]:
    """Name the file in errors from functions that do not know it, nor how many documents came before."""
    try:
        yield
    except CorpusError as error:
        if str(error).startswith((f"{name}:", f"{name}{os.sep}")):
            raise
        where = f"{name}: of the documents from {n_before:,} on, " if n_before else f"{name}: "
        raise CorpusError(f"{where}{error}", code=error.code) from None


# ---------------------------------------------------------------- counts


def _count_table(source: Source, form: str, options: ReadOptions, more: MetadataFile | None) -> Corpus:
    elsewhere = () if more is None else tuple(more.columns)
    if options.counts or options.transpose:
        check_apply("a table of counts", options, USELESS_FOR_COUNT_TABLES)
    with _named(source.name):
        if form == "parquet":
            corpus = count_tables.read_parquet(source, options, elsewhere)
        else:
            delimiter = options.delimiter or {"csv": ",", "tsv": "\t"}[form]
            corpus = count_tables.read_delimited(source, options, elsewhere, delimiter)
    check_apply("a table of counts", options, USELESS_FOR_COUNT_TABLES)
    return corpus


def _counts(source: Source, form: str, options: ReadOptions, more: MetadataFile | None) -> Corpus:
    read = FORMATS[form].counts
    assert read is not None
    if form == "h5ad":
        metadata = options.metadata if more is None else _within(options.metadata, tuple(more.columns))
        read = partial(read, layer=options.layer, metadata=metadata)
    vocabulary, beside = options.vocabulary, None
    if vocabulary is None and form not in ("npz", "h5ad", "franchise"):  # which have a place for terms
        vocabulary = beside = found_beside(source.path)
    terms = None if vocabulary is None else terms_of(vocabulary, options.encoding)
    try:
        with _named(source.name):
            corpus = _transposed(read(source, None), terms) if options.transpose else read(source, terms)
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


def _transposed(corpus: Corpus, terms: Sequence[str] | None) -> Corpus:
    """Return the corpus whose documents are the columns of a matrix; terms name its rows."""
    return from_counts(
        corpus.to_counts().T,
        vocabulary=corpus.document_names if terms is None else terms,
        document_names=corpus.vocabulary,
    )
