"""Texts without columns: one document per line, MALLET's lines, or a folder with one document per file.

In text, an empty line is an empty document. MALLET's text file, for ``mallet import-file``, has ``name label
text`` per line. Name and label end at the first blanks, and labels become the metadata column ``label``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from franchise.corpus.corpus import Corpus
from franchise.corpus.files import Progress, Source, open_source
from franchise.corpus.formats.columns import Columns, Rows
from franchise.corpus.formats.vocabulary import encoded
from franchise.errors import CorpusError

_BLANK = re.compile(r"\s")
_MARK = "\ufeff"
_SUFFIXES = (".txt.gz", ".txt")


def txt_rows(source: Source, columns: Columns) -> Rows:
    """Yield one document at a time; there are no columns."""
    for line in source.text_lines():
        yield line.removesuffix("\n").removesuffix("\r"), None


def write_txt(corpus: Corpus) -> Iterator[bytes]:
    """Yield one line per document, with its words joined by blanks."""
    check_words(corpus, "txt")
    for j, text in enumerate(joined_words(corpus)):
        if "\0" in text:
            raise CorpusError(
                f"document {j}: a term has a zero byte, which no text file can hold; rename it",
                code="unwritable-term",
            )
        # Readers drop a byte order mark at the start of a file.
        yield encoded(_MARK + text if j == 0 and text.startswith(_MARK) else text, f"document {j}") + b"\n"


def check_words(corpus: Corpus, form: str) -> None:
    """Refuse terms that would not be read back as one word."""
    for v, term in enumerate(corpus.vocabulary):
        if not term or _BLANK.search(term):
            raise CorpusError(
                f"term {v}, {term!r}, is empty or has blanks, and words are joined by blanks in {form}; "
                "write ldac, uci, mm or npz instead, or rename the term",
                code="unwritable-term",
            )


def joined_words(corpus: Corpus) -> Iterator[str]:
    """Yield the words of each document, in order, joined by blanks."""
    terms = corpus.vocabulary
    for j in range(corpus.n_documents):
        yield " ".join([terms[v] for v in corpus.document(j).tolist()])


def mallet_rows(source: Source, columns: Columns) -> Rows:
    """Yield one document at a time; skip blank lines, like MALLET."""
    for number, line in enumerate(source.text_lines(), start=1):
        fields = line.split(maxsplit=2)
        if len(fields) == 1:
            raise source.fault(
                "expected a name, a label and a text, separated by blanks; check that this is a file for "
                "`mallet import-file`",
                number,
                code="bad-line",
            )
        if fields:
            columns.add(source, {"label": fields[1]}, number)
            yield fields[2].rstrip("\r\n") if len(fields) == 3 else "", fields[0]


def folder_rows(folder: Path, progress: Progress | None, encoding: str | None = None) -> Rows:
    """Yield one file at a time, sorted by name; documents are named like their files, without the suffix."""
    if (folder / "model.json").is_file():
        raise CorpusError(
            f"{folder}: this is the folder of a model; give a file or folder of documents", code="is-a-model"
        )
    files = sorted(_text_files(folder))
    if not files:
        raise CorpusError(
            f"{folder}: this folder has no text files (*.txt); give a folder with text files",
            code="no-text-files",
        )
    total = sum(path.stat().st_size for _, path in files)
    done = 0
    for name, path in files:
        with open_source(path, encoding=encoding) as source:
            yield "".join(source.text_lines()), name
        done += path.stat().st_size
        if progress is not None:
            progress(done, max(done, total))  # in case a file has grown


def _text_files(folder: Path) -> Iterator[tuple[str, Path]]:
    def fail(error: OSError) -> None:
        raise CorpusError(
            f"{error.filename}: cannot read it ({error.strerror}); check its permissions", code="cannot-read"
        ) from error

    for parent, _, files in os.walk(folder, onerror=fail):
        for file in files:
            suffix = next((end for end in _SUFFIXES if file.lower().endswith(end)), None)
            # Hidden files are not documents: systems create their own, with any suffix.
            if suffix is None or file.startswith("."):
                continue
            path = Path(parent, file)
            relative = path.relative_to(folder).as_posix()[: -len(suffix)]
            # File names are bytes, and may not be UTF-8.
            yield os.fsencode(relative).decode("utf-8", "replace"), path
