"""Corpora cut into shards: written one shard at a time, from documents that come one piece at a time.

The folder appears whole, under its name, or not at all.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from franchise._arrays import offsets_of
from franchise._folders import new_folder, take_place, writing_in
from franchise._settings import whole_number
from franchise.corpus.cells import blocks_of_documents
from franchise.corpus.checks import Fingerprint
from franchise.corpus.corpus import Corpus
from franchise.corpus.downsample import Downsampling
from franchise.corpus.formats.guess import by_name
from franchise.corpus.metadata import Kind, in_kinds, joined, rows_of, settle, settled
from franchise.corpus.pieces import Piece, Terms, piece_of, pieces_of_documents, put_aside
from franchise.corpus.sharded import ShardedCorpus, open_shards
from franchise.corpus.shards import (
    About,
    Manifest,
    Shard,
    has_shards,
    is_first,
    is_sharded,
    read_shard,
    write_about,
    write_manifest,
    write_words,
)
from franchise.corpus.tokens import drop_unknown
from franchise.corpus.vectorize import TextOptions
from franchise.errors import CorpusError, ModelError

Progress = Callable[[int, int], None]

_PIECES = "pieces"
SHARDS = 64  # many more than there are machines, so that each can have about its share
# Words of a shard, about: half of what 32 bits count, so that a partition has room for one.
_MOST_WORDS = 2**30


def shard(
    documents: Any,
    folder: str | Path,
    shards: int = SHARDS,
    *,
    text_options: TextOptions | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> ShardedCorpus:
    """Write documents into a folder of shards, and open it.

    Parameters
    ----------
    documents
        A corpus; or an iterable of corpora, of texts, or of lists of words, of which only a part is in memory
        at a time. Corpora may have different terms.
    folder
        Where to; created, whole or not at all.
    shards
        How many ranges of documents of about equal numbers of words; fewer where documents are few, more
        where one would have over a billion words.
    text_options
        For texts, how they become words.
    overwrite
        Replace shards that are there. Nothing but shards is ever replaced.
    progress
        Called now and then with the words that have been written, and with all that there are.

    Returns
    -------
    ShardedCorpus
        The same corpus as in one piece, with the same fingerprint.

    Raises
    ------
    CorpusError
        If documents are of no known kind, have no words at all, or cannot be written there.
    """
    if isinstance(documents, ShardedCorpus):
        own = _pieces_of_shards(documents)
        return shard_pieces(own, folder, shards, overwrite=overwrite, progress=progress)
    if isinstance(documents, Corpus):
        return shard_pieces([piece_of(documents)], folder, shards, overwrite=overwrite, progress=progress)
    pieces = pieces_of_documents(documents, text_options or TextOptions())
    return shard_pieces(pieces, folder, shards, overwrite=overwrite, progress=progress)


def shard_pieces(
    pieces: Iterable[Piece],
    folder: str | Path,
    shards: int = SHARDS,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> ShardedCorpus:
    """Write pieces of a corpus, which come one after the other, into a folder of shards; as `shard` does."""
    number, target = whole_number("shards", shards, 1, 99_999), Path(folder)
    try:
        refuse_to_replace(target, overwrite)
        with writing_in(target, has_shards):
            _write(pieces, target.resolve(), number, overwrite, progress or (lambda done, total: None))
    except ModelError as error:
        raise CorpusError(str(error), code=error.code) from error
    return open_shards(target)


def files_of(path: str) -> list[str]:
    """Return the files of a folder of tables or counts, such as those of Spark; else the path itself.

    A folder of shards, and one of text files, is read as a whole.
    """
    folder = Path(path)
    if path == "-" or not folder.is_dir() or is_sharded(folder):
        return [path]
    there = sorted(one for one in folder.iterdir() if one.is_file() and not one.name.startswith((".", "_")))
    if any(by_name(one) == "txt" for one in there):
        return [path]
    return [str(one) for one in there if by_name(one) is not None] or [path]


def refuse_to_replace(folder: Path, overwrite: bool) -> None:
    """Refuse to write where something already exists, except for shards that may be replaced."""
    if is_sharded(folder):
        if not overwrite:
            raise CorpusError(
                f"{folder}: there are shards already; give another name, or overwrite=True",
                code="folder-exists",
            )
    elif folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise CorpusError(
            f"{folder}: what is there is not a folder of shards; give another name", code="not-shards"
        )


def _write(pieces: Iterable[Piece], folder: Path, number: int, overwrite: bool, progress: Progress) -> None:
    with new_folder(folder) as temporary:
        _Writing(temporary, number, progress).write(pieces)
        refuse_to_replace(folder, overwrite)
        take_place(temporary, folder)


class _Block(NamedTuple):
    """Some documents in the terms of all."""

    x: npt.NDArray[np.int32]
    lengths: npt.NDArray[np.int64]
    about: About


class _Writing:
    """Shards under way."""

    def __init__(self, folder: Path, number: int, progress: Progress) -> None:
        self._folder, self._number, self._progress = folder, number, progress
        self._shards: list[Shard] = []
        self._waiting: list[_Block] = []  # of the shard under way
        self._lengths: Counter[int] = Counter()  # how many documents have each
        self._n_documents = self._n_words = 0  # so far, those that wait included
        self._earlier = -1  # words before the document before the next

    def write(self, pieces: Iterable[Piece]) -> None:
        """Put all pieces aside, then write them in the terms of all."""
        terms = Terms()
        kinds: dict[str, set[Kind]] | None = None
        again: list[Callable[[], Piece]] = []
        named, with_texts = False, True
        downsampling: dict[Downsampling | None, None] = {}
        for piece in pieces:
            if not piece.n_documents:
                continue
            terms.add(piece)
            kinds = settle(kinds, piece.about.metadata)
            named = named or piece.about.names is not None
            with_texts = with_texts and piece.about.texts is not None
            downsampling[piece.downsampling] = None
            again.append(self._again(piece, len(again), in_memory=isinstance(pieces, list)))
        self._vocabulary, term_counts = terms.chosen()
        self._total = int(term_counts.sum())
        self._number = max(self._number, -(-self._total // _MOST_WORDS))
        self._columns, self._named, self._with_texts = settled(kinds), named, with_texts
        self._fingerprint = Fingerprint(self._total, terms.n_documents, len(self._vocabulary))
        self._write_all(again)
        shutil.rmtree(self._folder / _PIECES, ignore_errors=True)
        about = next(iter(downsampling)) if len(downsampling) == 1 else None
        facts = {
            "documents": self._n_documents,
            "words": self._n_words,
            "named": named,
            "texts": with_texts,
            "metadata": self._columns,
            "text_options": terms.text_options.as_dict() if terms.text_options else None,
            "downsampling": about._asdict() if about else None,
            "fingerprint": self._finished_fingerprint(),
        }
        lengths = sorted(self._lengths)
        documents = [self._lengths[length] for length in lengths]
        write_manifest(
            self._folder,
            Manifest(
                facts,
                tuple(self._shards),
                self._vocabulary,
                term_counts,
                np.array(lengths, np.int64),
                np.array(documents, np.int64),
            ),
        )

    def _again(self, piece: Piece, number: int, *, in_memory: bool) -> Callable[[], Piece]:
        if in_memory:
            return lambda: piece
        return put_aside(piece, self._folder / _PIECES / f"{number:06d}.safetensors")

    def _write_all(self, again: list[Callable[[], Piece]]) -> None:
        index = {term: v for v, term in enumerate(self._vocabulary)}
        for take_up in again:
            piece = take_up()
            new = np.array([index.get(term, -1) for term in piece.terms], np.int32)
            for first, last in blocks_of_documents(piece.doc_ptr):
                self._add(self._block(piece, new, first, last))
        self._flush()

    def _block(self, piece: Piece, new: npt.NDArray[np.int32], first: int, last: int) -> _Block:
        """Return some documents of a piece in the terms of all."""
        ends = piece.doc_ptr[first : last + 1]
        x, doc_ptr, _ = drop_unknown(new[piece.x[ends[0] : ends[-1]]], ends - ends[0])
        names, texts, metadata = piece.about
        numbers = range(self._n_documents, self._n_documents + last - first)
        own = rows_of(metadata, slice(first, last))
        about = About(
            (list(map(str, numbers)) if names is None else names[first:last]) if self._named else None,
            texts[first:last] if texts is not None and self._with_texts else None,
            in_kinds(own, self._columns) if own is not None and self._columns else None,
        )
        return _Block(x, np.diff(doc_ptr), about)

    def _add(self, block: _Block) -> None:
        """Add documents to the shard under way, and begin others where it is time."""
        offsets = offsets_of(block.lengths)
        before = self._n_words + offsets[:-1]
        cuts = np.flatnonzero(is_first(before, self._earlier, self._total, self._number)).tolist()
        for begin, end in pairwise(dict.fromkeys([0, *cuts, len(block.lengths)])):
            if begin in cuts:
                self._flush()
            self._waiting.append(
                _Block(
                    block.x[offsets[begin] : offsets[end]],
                    block.lengths[begin:end],
                    _cut(block.about, begin, end),
                )
            )
        self._earlier = int(before[-1])
        self._n_documents += len(block.lengths)
        self._n_words += len(block.x)
        lengths, documents = np.unique(block.lengths, return_counts=True)
        self._lengths.update(dict(zip(lengths.tolist(), documents.tolist(), strict=True)))

    def _flush(self) -> None:
        """Write the shard under way."""
        if not self._waiting:
            return
        blocks, self._waiting = self._waiting, []
        x = np.concatenate([block.x for block in blocks])
        lengths = np.concatenate([block.lengths for block in blocks])
        last = self._shards[-1] if self._shards else Shard(-1, 0, 0, 0, 0, 0)
        shard = Shard(
            last.number + 1,
            last.first_document + last.n_documents,
            len(lengths),
            last.first_word + last.n_words,
            len(x),
            int(np.count_nonzero(lengths)),
        )
        shard = write_words(self._folder, shard, x, offsets_of(lengths), len(self._vocabulary))
        write_about(self._folder, shard, self._joined([block.about for block in blocks]))
        self._fingerprint.add_words(x)
        self._shards.append(shard)
        self._progress(shard.first_word + shard.n_words, self._total)

    def _joined(self, parts: list[About]) -> About:
        columns = [part.metadata for part in parts if part.metadata is not None]
        return About(
            [name for part in parts for name in part.names or ()] if self._named else None,
            [text for part in parts for text in part.texts or ()] if self._with_texts else None,
            joined(columns, self._columns) if columns else None,
        )

    def _finished_fingerprint(self) -> str:
        self._fingerprint.add_offsets(np.zeros(1, np.int64))
        for shard in self._shards:  # which looks at every file that was written
            self._fingerprint.add_offsets(read_shard(self._folder, shard).doc_ptr[1:] + shard.first_word)
        return self._fingerprint.of(self._vocabulary)


def _cut(about: About, begin: int, end: int) -> About:
    names, texts, metadata = about
    return About(
        None if names is None else names[begin:end],
        None if texts is None else texts[begin:end],
        rows_of(metadata, slice(begin, end)),
    )


def _pieces_of_shards(corpus: ShardedCorpus) -> Iterator[Piece]:
    """Yield the shards of a corpus, each as a piece."""
    for arrays, about in corpus.parts():
        yield Piece(
            arrays.x,
            arrays.doc_ptr,
            corpus.vocabulary,
            "vocabulary",
            about,
            corpus.text_options,
            corpus.downsampling,
        )
