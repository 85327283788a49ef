"""Shards: contiguous ranges of documents, and the separate files of each.

A folder of shards::

    shards.json                          sizes, facts about the shards, fingerprint; written last
    terms.safetensors                    vocabulary, words of each term, documents of each length
    documents/00012.words.safetensors    words and offsets of a shard: all that sampling needs
    documents/00012.about.safetensors    names, texts and metadata of its documents, if there are any

A worker needs the folder and a `Shard`, and reads no other documents.
"""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from franchise import _files
from franchise._arrays import Array, CorpusArrays
from franchise._folders import put_back
from franchise._settings import whole_number
from franchise._version import VERSION, check_version
from franchise.corpus.checks import check_offsets
from franchise.corpus.corpus import Corpus
from franchise.corpus.large_arrays import handed_over, packed, unpacked
from franchise.corpus.stored import LARGE, About
from franchise.errors import CorpusError, ModelError

MANIFEST, _TERMS, _DOCUMENTS = "shards.json", "terms.safetensors", "documents"
_FORMAT = "franchise shards"
_KIND_OF_WORDS, _KIND_ABOUT, _KIND_OF_TERMS = "shard of words", "shard of names", "terms of shards"
_AGAIN = "write the shards again with `franchise shard`, or restore the folder from a copy"


class Shard(NamedTuple):
    """The facts about a range of documents, small enough to send to the worker that reads it."""

    number: int  # its place among the shards, from 0
    first_document: int
    n_documents: int  # at least one
    first_word: int  # the number of words before it
    n_words: int  # at least one
    n_not_empty: int  # number of documents with words
    digest: str = ""  # identifies its words on disk; empty if the corpus is in memory


class Manifest(NamedTuple):
    """Facts about all documents together."""

    facts: _files.Facts
    shards: tuple[Shard, ...]
    vocabulary: tuple[str, ...]
    term_counts: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]  # the lengths of documents, increasing
    documents: npt.NDArray[np.int64]  # the number of documents of each length


def shards_of(corpus: Corpus, number: int) -> tuple[Shard, ...]:
    """Cut a corpus into ranges of documents with about equal numbers of words.

    Parameters
    ----------
    corpus
        Any corpus. A corpus in shards keeps its shards, regardless of `number`.
    number
        Number of shards. There are fewer if documents are few or long, but always at least one.

    Returns
    -------
    tuple of Shard
        The shards in the order of the documents. Each has words.
    """
    number = whole_number("shards", number, 1)
    existing: tuple[Shard, ...] | None = getattr(corpus, "shards", None)
    if existing is not None:
        return existing
    lengths, doc_ptr = corpus.document_lengths, corpus.doc_ptr
    starts = np.flatnonzero(is_first(doc_ptr[:-1], -1, corpus.n_words, number)).tolist()
    return tuple(
        Shard(
            i, first, end - first, words, int(doc_ptr[end]) - words, int(np.count_nonzero(lengths[first:end]))
        )
        for i, (first, end) in enumerate(pairwise([*starts, corpus.n_documents]))
        for words in [int(doc_ptr[first])]
    )


def is_first(before: npt.NDArray[np.int64], earlier: int, n_words: int, number: int) -> npt.NDArray[np.bool_]:
    """Return which documents begin a shard, for at most `number` shards.

    `before` has the number of words before each of these documents, `earlier` is the number before the
    preceding document (-1 if there is none), and `n_words` is the number in all documents.
    """
    part = before * number // n_words  # each share of the words begins a new shard
    previous = np.concatenate([[-1 if earlier < 0 else earlier * number // n_words], part[:-1]])
    # Empty documents at the end do not form a shard.
    return np.asarray((part > previous) & (before < n_words))


# ---------------------------------------------------------------- one shard


def write_words(folder: Path, shard: Shard, x: Array, doc_ptr: Array, n_terms: int) -> Shard:
    """Write the words of a shard; return the shard with their digest."""
    arrays: dict[str, Array] = {
        "x": np.ascontiguousarray(x, np.int32),
        "doc_ptr": np.ascontiguousarray(doc_ptr, np.int64),
    }
    shard = shard._replace(digest=_digest(arrays))
    facts = {"version": VERSION, "n_terms": n_terms, "shard": list(shard)}
    _files.write_arrays(_path(folder, shard, "words"), _KIND_OF_WORDS, arrays, facts)
    return shard


def read_shard(folder: str | Path, shard: Shard) -> CorpusArrays:
    """Read the words of one shard, and no other part of the folder.

    Parameters
    ----------
    folder
        The folder of the shards.
    shard
        One of `ShardedCorpus.shards`.

    Returns
    -------
    CorpusArrays
        Words and offsets from 0, both read-only, and mapped if they are large.

    Raises
    ------
    CorpusError
        If the file is missing, damaged, or belongs to another corpus.
    """
    path = _path(folder, shard, "words")
    if not path.parent.is_dir():
        raise CorpusError(
            f"{folder}: this machine ({socket.gethostname()}) finds no shards there; every machine that "
            "works on the documents needs the folder at this path",
            code="no-such-folder",
        )
    arrays, facts = _read(path, _KIND_OF_WORDS)
    with _fitting(path):
        x, doc_ptr, n_terms = arrays["x"], arrays["doc_ptr"], int(facts["n_terms"])
        if facts["shard"] != list(shard):
            raise ValueError("it is a shard of another corpus")
        check_offsets(doc_ptr, shard.n_words)
        if x.dtype != np.int32 or x.shape != (shard.n_words,) or doc_ptr.shape != (shard.n_documents + 1,):
            raise ValueError("it does not have the words that it should")
        if x.min() < 0 or x.max() >= n_terms:
            raise ValueError("there are words that are not in the vocabulary")
    return CorpusArrays(_read_only(x), _read_only(doc_ptr.astype(np.int64, copy=False)), n_terms)


def write_about(folder: Path, shard: Shard, about: About) -> None:
    """Write names, texts and metadata of the documents of a shard, if there are any."""
    if all(part is None for part in about):
        return
    arrays, facts = about.packed()
    facts |= {"version": VERSION, "digest": shard.digest}
    _files.write_arrays(_path(folder, shard, "about"), _KIND_ABOUT, arrays, facts)


def read_about(folder: str | Path, shard: Shard) -> About:
    """Read names, texts and metadata of the documents of a shard; raise errors like `read_shard`."""
    path = _path(folder, shard, "about")
    arrays, facts = _read(path, _KIND_ABOUT)
    with _fitting(path):
        if facts["digest"] != shard.digest:
            raise ValueError("it is a shard of another corpus")
        about = About.unpacked(arrays, facts)
        if any(part is not None and len(part) != shard.n_documents for part in about):
            raise ValueError("it does not have the documents that it should")
        return about


def _path(folder: str | Path, shard: Shard, what: str) -> Path:
    return Path(folder, _DOCUMENTS, f"{shard.number:05d}.{what}.safetensors")


# ---------------------------------------------------------------- all of them


def is_sharded(path: Any) -> bool:
    """Return whether a path is a folder of shards, even if files are missing.

    An interrupted replacement of shards is undone first.
    """
    with as_corpus_errors(), suppress(OSError, TypeError, ValueError):
        folder = Path(path)
        put_back(folder, has_shards)
        return has_shards(folder)
    return False


def has_shards(folder: Path) -> bool:
    """Return whether a folder holds shards, without changing it."""
    return (folder / MANIFEST).is_file() or (folder / _TERMS).is_file()


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest of all shards; after this, the folder can be opened."""
    arrays = packed("vocabulary", manifest.vocabulary) | {
        name: np.asarray(getattr(manifest, name), np.int64)
        for name in ("term_counts", "lengths", "documents")
    }
    digest = _digest(arrays)
    _files.write_arrays(folder / _TERMS, _KIND_OF_TERMS, arrays, {"version": VERSION, "digest": digest})
    facts = {"format": _FORMAT, "version": VERSION, **manifest.facts, "terms": digest}
    facts["shards"] = [shard._asdict() for shard in manifest.shards]
    _files.write_text(folder / MANIFEST, _files.to_json({**facts, "checksum": _files.checksum_of(facts)}))


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest, without reading any shard."""
    path, sharded = folder / MANIFEST, is_sharded(folder)
    if not sharded and not folder.is_dir():
        raise CorpusError(
            f"{folder}: there is no such folder; give a folder written by `franchise shard`",
            code="no-such-folder",
        )
    if not path.is_file():
        if sharded:
            raise CorpusError(
                f"{folder}: the folder is incomplete: it has shards, but no {MANIFEST}; {_AGAIN}",
                code="incomplete-shards",
            )
        raise CorpusError(
            f"{folder}: it has no {MANIFEST}; give a folder written by `franchise shard`",
            code="not-shards",
        )
    with as_corpus_errors(path):
        facts = _files.from_json(_files.read_text(path), path)
    if facts.get("format") != _FORMAT:
        raise CorpusError(f"{path}: these are not the shards of a corpus; {_AGAIN}", code="not-shards")
    with as_corpus_errors():
        check_version(path, facts)
    checksum = facts.pop("checksum", None)
    if checksum != _files.checksum_of(facts):
        raise CorpusError(f"{path}: the file is damaged or was edited; {_AGAIN}", code="damaged-file")
    arrays, about = _read(folder / _TERMS, _KIND_OF_TERMS)
    if about.get("digest") != facts["terms"]:
        raise CorpusError(
            f"{folder / _TERMS}: it does not match {MANIFEST} in the same folder; {_AGAIN}",
            code="files-disagree",
        )
    numbers = (_read_only(arrays[name]) for name in ("term_counts", "lengths", "documents"))
    shards = tuple(Shard(**shard) for shard in facts["shards"])
    return Manifest(facts, shards, tuple(unpacked("vocabulary", arrays)), *numbers)


def _read(path: Path, kind: str) -> tuple[dict[str, Array], _files.Facts]:
    with as_corpus_errors(path):
        arrays, facts = _files.read_arrays(path, kind, mapped=path.is_file() and path.stat().st_size >= LARGE)
    with as_corpus_errors():
        check_version(path, facts)
    return arrays, facts


@contextmanager
def as_corpus_errors(path: Path | None = None) -> Iterator[None]:
    """Turn file errors into corpus errors; for a file of shards, add advice."""
    try:
        yield
    except ModelError as error:
        message = str(error)
        if path is not None:
            message = f"{path}: {message.removeprefix(f'{path}: ').split('; ')[0]}; {_AGAIN}"
        raise CorpusError(message, code=error.code) from error


@contextmanager
def _fitting(path: Path) -> Iterator[None]:
    """Turn errors into the message that a file does not hold the expected shard."""
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError) as error:
        message = f"{path}: the file does not hold the expected shard ({error}); {_AGAIN}"
        raise CorpusError(message, code="wrong-shard") from error


def _read_only(array: Array) -> Array:
    return handed_over(array) if array.flags.writeable else array


def _digest(arrays: Mapping[str, Array]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name}\0{array.size}\0".encode())
        digest.update(array.astype(array.dtype.newbyteorder("<"), copy=False).data)
    return digest.hexdigest()
