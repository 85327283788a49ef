"""Files of any format, opened: which format it is, which options fit it, and what is found in it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from franchise.corpus.corpus import Corpus
from franchise.corpus.encodings import checked_encoding
from franchise.corpus.files import Progress, Readable, Source, StrPath, open_source
from franchise.corpus.formats import FORMATS, Format, folder, guess
from franchise.corpus.formats.columns import Columns, Rows
from franchise.corpus.formats.delimited import checked_delimiter
from franchise.corpus.formats.strangers import refuse_stranger
from franchise.corpus.formats.vocabulary import found_beside, terms_of
from franchise.corpus.sharded import open_shards
from franchise.corpus.shards import is_sharded
from franchise.corpus.vectorize import TextOptions
from franchise.errors import CorpusError, SettingsError

_FROM_TEXTS = "the vocabulary comes from the texts"


class Documents(NamedTuple):
    """What is found in a file: texts or lists of words to read one after the other, or counts."""

    name: str
    rows: Rows
    has_names: bool
    counts: Corpus | None = None
    has_lists: bool = False
    terms: Sequence[str] | None = None  # of lists, where they are given

    def texts(self, names: list[str]) -> Iterator[str]:
        """Yield one text, or list, after the other; their names are added to `names`."""
        for text, name in self.rows:
            if name is not None:
                names.append(name)
            yield text


class How(NamedTuple):
    """How to read a file, as far as the user has said it."""

    form: str | None
    encoding: str | None
    delimiter: str | None
    layer: str | None

    @classmethod
    def checked(cls, form: str | None, encoding: object, delimiter: object, layer: str | None) -> How:
        """Refuse what cannot be."""
        if form is not None:
            known_format(form)
        return cls(form, checked_encoding(encoding), checked_delimiter(delimiter), layer)


@contextmanager
def reading(
    path: StrPath | Readable,
    how: How,
    columns: Columns,
    vocabulary: StrPath | Sequence[str] | None,
    text_options: TextOptions | None,
    progress: Progress | None,
) -> Iterator[Documents]:
    """Open a file or folder and find out what is in it."""
    try:
        if is_sharded(path):
            _check_options_of_shards(how, columns, vocabulary, text_options)
            yield Documents(str(path), iter(()), True, open_shards(path))  # type: ignore[arg-type]
            return
        if _is_folder(path, how.form):
            _check_options("folder", how, columns, vocabulary, text_options)
            rows = folder.rows(Path(path), progress, how.encoding)  # type: ignore[arg-type]
            yield Documents(str(path), rows, True)
            return
        with open_source(path, progress, how.encoding) as source:
            form = _told(source, how.form)
            _check_options(form, how, columns, vocabulary, text_options)
            facts = FORMATS[form]
            if facts.rows is not None:
                read = facts.rows if how.delimiter is None else partial(facts.rows, delimiter=how.delimiter)
                has_names = facts.has_names or columns.name is not None
                found = Documents(source.name, read(source, columns), has_names)
                yield _told_apart(found, how, vocabulary, text_options) if form == "parquet" else found
            else:
                yield Documents(source.name, iter(()), False, _from_counts(source, form, how, vocabulary))
    except MemoryError:
        raise CorpusError(
            f"{path}: too large for this machine's memory; read a part of it", code="out-of-memory"
        ) from None


def _told_apart(
    documents: Documents,
    how: How,
    vocabulary: StrPath | Sequence[str] | None,
    text_options: TextOptions | None,
) -> Documents:
    """Find out whether a table has texts or lists of words, by the first row, and which options fit."""
    first = next(documents.rows, None)
    if first is None:
        return documents
    documents = documents._replace(rows=chain([first], documents.rows))
    if isinstance(first[0], list):
        _refuse_text_options("parquet", text_options, "its column holds lists of words")
        terms = None if vocabulary is None else terms_of(vocabulary, how.encoding)
        return documents._replace(has_lists=True, terms=terms)
    if vocabulary is not None:
        raise _does_not_apply("vocabulary", "the format parquet", _FROM_TEXTS)
    return documents


def known_format(form: str) -> Format:
    """Return a format by its name, or say which there are."""
    if form not in FORMATS:
        raise SettingsError(
            f"format={form!r}: there is no such format; give one of {', '.join(FORMATS)}",
            code="unknown-format",
        )
    return FORMATS[form]


def _is_folder(path: StrPath | Readable, form: str | None) -> bool:
    """Return whether to read a folder."""
    is_there = isinstance(path, str | os.PathLike) and os.path.isdir(path) and path != "-"
    if form == "folder" and not is_there:
        raise CorpusError(f"{path}: not a folder; give one, or the format of this file", code="not-a-folder")
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
            f"neither its name nor its content shows the format; give format (--input-format), one of {known}",
            code="unknown-format",
        )
    return form


def _check_options(
    form: str, how: How, columns: Columns, vocabulary: object, text_options: TextOptions | None
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
        ("vocabulary", vocabulary is not None and not holds_counts and form != "parquet", _FROM_TEXTS),
        (
            "encoding",
            how.encoding is not None and in_utf_8,
            "it is always UTF-8",
        ),
        ("delimiter", how.delimiter is not None and form not in ("csv", "tsv"), "it has no delimiter"),
        ("layer", how.layer is not None and form != "h5ad", "it has no layers"),
    )
    for name, is_useless, reason in useless:
        if is_useless:
            raise _does_not_apply(name, f"the format {form}", reason)
    if holds_counts:
        _refuse_text_options(form, text_options, f"it holds {holds}")


def _check_options_of_shards(
    how: How, columns: Columns, vocabulary: object, text_options: TextOptions | None
) -> None:
    wanted = columns.others.wanted if columns.others else None
    given = (
        ("format", how.form),
        ("text_column", columns.text),
        ("id_column", columns.name),
        ("metadata", wanted),
        ("vocabulary", vocabulary),
        ("encoding", how.encoding),
        ("delimiter", how.delimiter),
        ("layer", how.layer),
    )
    for name, value in given:
        if value is not None:
            raise _does_not_apply(name, "a folder of shards", "it holds words with their terms and names")
    if text_options not in (None, TextOptions()):
        raise _does_not_apply("text_options", "a folder of shards", "it holds words")


def _refuse_text_options(form: str, text_options: TextOptions | None, reason: str) -> None:
    if text_options not in (None, TextOptions()):
        raise _does_not_apply("text_options", f"the format {form}", reason)


def _does_not_apply(name: str, what: str, reason: str) -> SettingsError:
    return SettingsError(f"{name} does not apply to {what}: {reason}; leave it out", code="does-not-apply")


def _from_counts(source: Source, form: str, how: How, vocabulary: StrPath | Sequence[str] | None) -> Corpus:
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
        if found is None or error.code not in ("term-out-of-range", "vocabulary-mismatch"):
            raise
        raise CorpusError(
            f"{error} (the vocabulary is in {found})", code=error.code
        ) from None  # no one has named that file
