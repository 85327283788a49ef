"""New documents from a file, piece by piece: for those that are more than memory holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from franchise.corpus.corpus import Corpus
from franchise.corpus.documents import Encoded, encode
from franchise.corpus.files import Progress, Readable, StrPath
from franchise.corpus.formats.columns import Columns
from franchise.corpus.readers import _Documents, _How, _reading, _texts_of, counts_in_terms

_AS_A_TEXT = 100  # characters: what a text costs besides


def read_new_in_pieces(
    path: StrPath | Readable,
    like: Corpus,
    *,
    characters: int,
    format: str | None = None,
    text_column: str | None = None,
    id_column: str | None = None,
    vocabulary: StrPath | Sequence[str] | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    layer: str | None = None,
    progress: Progress | None = None,
) -> Iterator[Encoded]:
    """Read documents as `read_new` does, but texts piece by piece, so that not all words are in memory.

    Counts come in one piece: they are read as a whole.

    Parameters
    ----------
    characters
        About how many of them a piece is to have.
    path, like, format, text_column, id_column, vocabulary, encoding, delimiter, layer, progress
        As :func:`read_new` takes them.
    """
    columns = Columns(text_column, id_column)
    how = _How.checked(format, encoding, delimiter, layer)
    with _reading(path, how, columns, vocabulary, None, progress) as documents:
        if documents.counts is not None:
            yield counts_in_terms(documents, documents.counts, like, vocabulary is not None)
            return
        begin = 0
        for texts, names in _some_texts(documents, characters):
            own = names if documents.has_names else [str(begin + i) for i in range(len(texts))]
            yield encode(texts, like)._replace(document_names=tuple(own))
            begin += len(texts)


def _some_texts(documents: _Documents, characters: int) -> Iterator[tuple[list[str], list[str]]]:
    """Yield texts and their names, as many at a time as have so many characters; nothing as an empty list."""
    names: list[str] = []
    texts: list[str] = []
    length, is_first = 0, True
    for text in _texts_of(documents, names):
        texts.append(text)
        length += len(text) + _AS_A_TEXT
        if length >= characters:
            yield texts, names.copy()
            names.clear()
            texts, length, is_first = [], 0, False
    if texts or is_first:
        yield texts, names.copy()
