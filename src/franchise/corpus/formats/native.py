"""Franchise's own format, the same file as in a model's folder; large files are mapped, not read."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from franchise.corpus.corpus import Corpus
from franchise.corpus.files import Source
from franchise.corpus.stored import content_of, read_stored
from franchise.errors import CorpusError, ModelError

# After the length of the header, in eight bytes.
_HEAD = b'{"__metadata__":{"franchise":'


def looks_like(head: bytes) -> bool:
    """Return whether a file that starts like this is in this format."""
    return head[8 : 8 + len(_HEAD)] == _HEAD


def read(source: Source, vocabulary: Sequence[str] | None) -> Corpus:
    """Map a corpus; a vocabulary that is given takes the place of its own."""
    with _on_disk(source) as path:
        corpus = _mapped(source, path)
    source.report(1.0)
    try:
        return corpus if vocabulary is None else corpus.with_vocabulary(vocabulary)
    except CorpusError as error:
        raise source.fault(f"the vocabulary does not fit: {error}", code=error.code) from None


@contextmanager
def _on_disk(source: Source) -> Iterator[Path]:
    """Give the path of the file; what is packed, or comes through a pipe, is put into a temporary one."""
    plain = source.plain_path()
    if plain is not None:
        yield plain
        return
    with tempfile.NamedTemporaryFile(prefix="franchise-") as file:
        shutil.copyfileobj(source.stream, file)
        file.flush()
        yield Path(file.name)  # what is mapped stays there when the name has gone


def _mapped(source: Source, path: Path) -> Corpus:
    try:
        return read_stored(path)
    except ModelError as error:
        reason = str(error).removeprefix(f"{path}: ").rpartition(";")[0]
        raise source.fault(f"{reason}; write it again with `franchise convert`", code=error.code) from error


def write(corpus: Corpus) -> Iterator[bytes | memoryview]:
    """Return the file, in blocks."""
    return content_of(corpus)
