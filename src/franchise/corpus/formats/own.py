"""Franchise's own file of a corpus, which is what a model's folder has too: mapped from disk, not read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from franchise._files import read_arrays
from franchise._version import check_version
from franchise.corpus.corpus import Corpus
from franchise.corpus.files import Source
from franchise.corpus.stored import KIND, corpus_of, pieces_of
from franchise.errors import CorpusError, ModelError, SettingsError

# After the length of the header, in eight bytes.
_HEAD = b'{"__metadata__":{"franchise":'


def looks_like(head: bytes) -> bool:
    """Return whether a file that starts like this is in this format."""
    return head[8 : 8 + len(_HEAD)] == _HEAD


def read(source: Source, vocabulary: Sequence[str] | None) -> Corpus:
    """Map a corpus; a vocabulary that is given takes the place of its own."""
    path = source.plain_path()
    if path is None:
        raise source.fault("this format is mapped from disk; unpack it, and give the path of the file")
    try:
        arrays, facts = read_arrays(path, KIND, map_large=True)
        check_version(path, facts)
        corpus = corpus_of(arrays, facts)
    except ModelError as error:
        reason = str(error).removeprefix(f"{path}: ").partition(";")[0]
        raise source.fault(f"{reason}; write it again with `franchise convert`") from error
    except (KeyError, IndexError, TypeError, ValueError, CorpusError, SettingsError) as error:
        raise source.fault(
            f"it does not hold a corpus ({error}); write it again with `franchise convert`"
        ) from error
    source.report(1.0)
    try:
        return corpus if vocabulary is None else corpus.with_vocabulary(vocabulary)
    except CorpusError as error:
        raise source.fault(f"the vocabulary does not fit: {error}") from None


def write(corpus: Corpus) -> Iterator[bytes | memoryview]:
    """Return the file, in pieces."""
    return pieces_of(corpus)
