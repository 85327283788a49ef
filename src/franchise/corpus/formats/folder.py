"""A folder of text files and its subfolders, one document per file; other files are ignored."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from franchise.corpus.files import Progress, open_source
from franchise.corpus.formats.columns import Rows
from franchise.errors import CorpusError

_SUFFIXES = (".txt.gz", ".txt")


def rows(folder: Path, progress: Progress | None, encoding: str | None = None) -> Rows:
    """Read one file after the other, in the order of their names, which without suffix name the documents."""
    if (folder / "model.json").is_file():
        raise CorpusError(
            f"{folder}: this is the folder of a model; give a file or folder of documents", code="is-a-model"
        )
    files = sorted(_text_files(folder))
    if not files:
        raise CorpusError(
            f"{folder}: there are no text files (*.txt) in this folder; give one with some",
            code="no-text-files",
        )
    total = sum(path.stat().st_size for _, path in files)
    done = 0
    for name, path in files:
        with open_source(path, encoding=encoding) as source:
            yield "".join(source.text_lines()), name
        done += path.stat().st_size
        if progress is not None:
            progress(done, max(done, total))  # a file may have grown


def _text_files(folder: Path) -> Iterator[tuple[str, Path]]:
    def fail(error: OSError) -> None:
        raise CorpusError(
            f"{error.filename}: cannot read it ({error.strerror}); check its permissions", code="cannot-read"
        ) from error

    for parent, _, files in os.walk(folder, onerror=fail):
        for file in files:
            suffix = next((end for end in _SUFFIXES if file.lower().endswith(end)), None)
            # Hidden files are not documents: systems put notes of their own there, under any suffix.
            if suffix is None or file.startswith("."):
                continue
            path = Path(parent, file)
            relative = path.relative_to(folder).as_posix()[: -len(suffix)]
            # A name on disk is bytes, and need not be UTF-8.
            yield os.fsencode(relative).decode("utf-8", "replace"), path
