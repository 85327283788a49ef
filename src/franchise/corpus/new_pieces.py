"""New documents from a file, piece by piece: for those that are more than memory holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from franchise.corpus.corpus import Corpus
from franchise.corpus.documents import Encoded, encode
from franchise.corpus.files import Progress, Readable, StrPath
from franchise.corpus.formats.columns import Columns
from franchise.corpus.opening import Documents, How, reading
from franchise.corpus.readers import counts_in_terms, words_of_ids
from franchise.corpus.sharded import ShardedCorpus

_AS_A_TEXT, _AS_A_WORD = 100, 8  # characters: what a text costs besides, and a word in a list


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

    A corpus in shards comes shard by shard; other counts come in one piece, and are read as a whole.

    Parameters
    ----------
    characters
        About how many of them a piece is to have.
    path, like, format, text_column, id_column, vocabulary, encoding, delimiter, layer, progress
        As :func:`read_new` takes them.
    """
    columns = Columns(text_column, id_column)
    how = How.checked(format, encoding, delimiter, layer)
    with reading(path, how, columns, vocabulary, None, progress) as documents:
        if isinstance(documents.counts, ShardedCorpus):
            for counts in _by_shard(documents.counts):
                yield counts_in_terms(documents, counts, like, vocabulary is not None)
            return
        if documents.counts is not None:
            yield counts_in_terms(documents, documents.counts, like, vocabulary is not None)
            return
        begin = 0
        for texts, names in _some_texts(documents, like, characters):
            own = names if documents.has_names else [str(begin + i) for i in range(len(texts))]
            yield encode(texts, like)._replace(document_names=tuple(own))
            begin += len(texts)


def _by_shard(corpus: ShardedCorpus) -> Iterator[Corpus]:
    """Yield the documents of each shard with their names."""
    for shard, (arrays, about) in zip(corpus.shards, corpus.parts(), strict=True):
        numbers = range(shard.first_document, shard.first_document + shard.n_documents)
        names = map(str, numbers) if about.names is None else about.names
        yield Corpus(arrays.x, arrays.doc_ptr, corpus.vocabulary, names)


def _some_texts(documents: Documents, like: Corpus, characters: int) -> Iterator[tuple[list[Any], list[str]]]:
    """Yield documents and their names, as many at a time as have so many characters; or nothing, once."""
    names: list[str] = []
    texts: Iterable[Any] = documents.texts(names)
    if documents.has_lists:
        texts = words_of_ids(texts, documents.terms or like.vocabulary, documents.name)
    some: list[Any] = []
    length, is_first = 0, True
    for text in texts:
        some.append(text)
        length += _AS_A_TEXT + (len(text) if isinstance(text, str) else _AS_A_WORD * len(text))
        if length >= characters:
            yield some, names.copy()
            names.clear()
            some, length, is_first = [], 0, False
    if some or is_first:
        yield some, names.copy()
