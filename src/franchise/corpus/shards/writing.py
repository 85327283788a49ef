"""Writing a corpus as shards, one shard at a time, from batches of documents.

The folder appears whole, under its name, or not at all.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from franchise._arrays import offsets_of
from franchise._files import read_arrays, write_arrays
from franchise._folders import new_folder, take_place, writing_in
from franchise._settings import whole_number
from franchise.corpus.batches import Batch, TermsOfAll, batch_of, batches_of_documents, numbers_in
from franchise.corpus.checks import Fingerprint
from franchise.corpus.corpus import Corpus
from franchise.corpus.downsample import Downsampling
from franchise.corpus.formats import by_name
from franchise.corpus.large_arrays import blocks_of_documents, packed, unpacked
from franchise.corpus.metadata import Kind, joined, settle, settled
from franchise.corpus.shards import files
from franchise.corpus.shards.corpus import ShardedCorpus, open_shards
from franchise.corpus.stored import About, facts_of
from franchise.corpus.text_options import TextOptions
from franchise.corpus.texts import drop_unknown
from franchise.errors import CorpusError

Progress = Callable[[int, int], None]

_BATCHES, _KIND = "batches", "batch of a corpus"
SHARDS = 64  # many more than machines, so that each machine can get an equal share
# Approximate words per shard: half of what 32 bits can count, so that a partition has room for a shard.
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
        A corpus, or an iterable of corpora, of texts, or of lists of words. Only a part of an iterable is in
        memory at a time. Corpora may have different terms.
    folder
        The folder to create, whole or not at all.
    shards
        Number of ranges of documents with about equal numbers of words. There are fewer if there are few
        documents, and more if a shard would have over a billion words.
    text_options
        The options for splitting texts.
    overwrite
        Replace existing shards. Nothing but shards is ever replaced.
    progress
        Called at intervals with the number of written words and of all words.

    Returns
    -------
    ShardedCorpus
        The corpus. It equals the same documents in one piece, with the same fingerprint.

    Raises
    ------
    CorpusError
        If documents are of no known kind, have no words, or cannot be written.
    """
    batches: Iterable[Corpus | Batch] = [documents]
    if isinstance(documents, ShardedCorpus):
        batches = documents.batches()
    elif not isinstance(documents, Corpus):
        batches = batches_of_documents(documents, text_options or TextOptions())
    return shard_batches(batches, folder, shards, overwrite=overwrite, progress=progress)


def shard_batches(
    batches: Iterable[Corpus | Batch],
    folder: str | Path,
    shards: int = SHARDS,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> ShardedCorpus:
    """Write batches of documents into a folder of shards, like `shard`."""
    number, target = whole_number("shards", shards, 1, 99_999), Path(folder)
    with files.as_corpus_errors():
        refuse_to_replace(target, overwrite)
        with writing_in(target, files.has_shards):
            place = target.resolve()
            with new_folder(place) as temporary:
                _Writing(temporary, number, progress or (lambda done, total: None)).write(batches)
                refuse_to_replace(place, overwrite)
                take_place(temporary, place)
    return open_shards(target)


def files_of(path: str) -> list[str]:
    """Return the files of a folder of tables or counts, such as a folder of Spark, or else the path itself.

    Folders of shards or of text files are read as a whole.
    """
    folder = Path(path)
    if path == "-" or not folder.is_dir() or files.is_sharded(folder):
        return [path]
    there = sorted(one for one in folder.iterdir() if one.is_file() and not one.name.startswith((".", "_")))
    if any(by_name(one) == "txt" for one in there):
        return [path]
    return [str(one) for one in there if by_name(one) is not None] or [path]


def refuse_to_replace(folder: Path, overwrite: bool) -> None:
    """Refuse to write over anything except shards that may be replaced."""
    if files.is_sharded(folder):
        if not overwrite:
            raise CorpusError(
                f"{folder}: shards already exist there; give another name, or overwrite=True",
                code="folder-exists",
            )
    elif folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise CorpusError(
            f"{folder}: exists and is not a folder of shards; give another name", code="not-shards"
        )


class _Writing:
    """The state of writing shards."""

    def __init__(self, folder: Path, number: int, progress: Progress) -> None:
        self._folder, self._number, self._progress = folder, number, progress
        self._shards: list[files.Shard] = []
        self._waiting: list[Batch] = []  # documents of the current shard, with the final terms
        self._lengths: Counter[int] = Counter()  # number of documents of each length
        self._n_documents = self._n_words = 0  # so far, including waiting documents
        self._earlier = -1  # words before the last document

    def write(self, batches: Iterable[Corpus | Batch]) -> None:
        """Store all batches, then write them with the terms of all."""
        terms = TermsOfAll()
        kinds: dict[str, set[Kind]] | None = None
        again: list[Callable[[], Batch]] = []
        named, with_texts = False, True
        downsampling: dict[Downsampling | None, None] = {}
        for found in batches:
            batch = batch_of(found) if isinstance(found, Corpus) else found
            if not batch.n_documents:
                continue
            terms.add(batch)
            kinds = settle(kinds, batch.about.metadata)
            named = named or batch.about.names is not None
            with_texts = with_texts and batch.about.texts is not None
            downsampling[batch.downsampling] = None
            again.append(self._again(batch, len(again), in_memory=isinstance(batches, list)))
        self._vocabulary, term_counts = terms.chosen()
        self._total = int(term_counts.sum())
        self._number = max(self._number, -(-self._total // _MOST_WORDS))
        self._columns, self._named, self._with_texts = settled(kinds), named, with_texts
        self._fingerprint = Fingerprint(self._total, terms.n_documents, len(self._vocabulary))
        for load in again:
            batch = load()
            new = numbers_in(self._vocabulary, batch.terms)
            for first, last in blocks_of_documents(batch.doc_ptr):
                self._add(self._in_terms_of_all(batch, new, first, last))
        self._flush()
        shutil.rmtree(self._folder / _BATCHES, ignore_errors=True)
        about = next(iter(downsampling)) if len(downsampling) == 1 else None
        facts = {
            "documents": self._n_documents,
            "words": self._n_words,
            "named": named,
            "texts": with_texts,
            "metadata": self._columns,
            **facts_of(terms.text_options, about),
            "fingerprint": self._finished_fingerprint(),
        }
        numbers = np.array(sorted(self._lengths.items()), np.int64).T  # lengths, documents with each
        manifest = files.Manifest(facts, tuple(self._shards), self._vocabulary, term_counts, *numbers)
        files.write_manifest(self._folder, manifest)

    def _again(self, batch: Batch, number: int, *, in_memory: bool) -> Callable[[], Batch]:
        """Return a function that returns a batch again, from memory or from a mapped file."""
        if in_memory:
            return lambda: batch
        path = self._folder / _BATCHES / f"{number:06d}.safetensors"
        arrays, facts = batch.about.packed()
        arrays |= packed("terms", batch.terms) | {"x": batch.x, "doc_ptr": batch.doc_ptr}
        write_arrays(path, _KIND, arrays, facts)
        kind = batch.kind

        def load() -> Batch:
            arrays, facts = read_arrays(path, _KIND, mapped=True)
            terms, about = unpacked("terms", arrays), About.unpacked(arrays, facts)
            return Batch(arrays["x"], arrays["doc_ptr"], terms, kind, about)

        return load

    def _in_terms_of_all(self, batch: Batch, new: npt.NDArray[np.int32], first: int, last: int) -> Batch:
        """Return some documents of a batch with the final terms; by default, they are named by number."""
        ends = batch.doc_ptr[first : last + 1]
        x, doc_ptr, _ = drop_unknown(new[batch.x[ends[0] : ends[-1]]], ends - ends[0])
        names, texts, metadata = batch.about.rows(first, last)
        if self._named and names is None:
            names = [str(self._n_documents + i) for i in range(last - first)]
        about = About(names, texts if self._with_texts else None, metadata)
        return Batch(x, doc_ptr, self._vocabulary, "vocabulary", about)

    def _add(self, batch: Batch) -> None:
        """Add documents to the current shard, and begin new shards as needed."""
        offsets = batch.doc_ptr
        before = self._n_words + offsets[:-1]
        cuts = np.flatnonzero(files.is_first(before, self._earlier, self._total, self._number)).tolist()
        for begin, end in pairwise(dict.fromkeys([0, *cuts, batch.n_documents])):
            if begin in cuts:
                self._flush()
            x, doc_ptr = batch.x[offsets[begin] : offsets[end]], offsets[begin : end + 1]
            self._waiting.append(batch._replace(x=x, doc_ptr=doc_ptr, about=batch.about.rows(begin, end)))
        self._earlier = int(before[-1])
        self._n_documents += batch.n_documents
        self._n_words += len(batch.x)
        lengths, documents = np.unique(np.diff(offsets), return_counts=True)
        self._lengths.update(dict(zip(lengths.tolist(), documents.tolist(), strict=True)))

    def _flush(self) -> None:
        """Write the current shard."""
        if not self._waiting:
            return
        batches, self._waiting = self._waiting, []
        x = np.concatenate([batch.x for batch in batches])
        lengths = np.concatenate([np.diff(batch.doc_ptr) for batch in batches])
        last = self._shards[-1] if self._shards else files.Shard(-1, 0, 0, 0, 0, 0)
        first = (last.first_document + last.n_documents, last.first_word + last.n_words)
        n_not_empty = int(np.count_nonzero(lengths))
        shard = files.Shard(last.number + 1, first[0], len(lengths), first[1], len(x), n_not_empty)
        shard = files.write_words(self._folder, shard, x, offsets_of(lengths), len(self._vocabulary))
        files.write_about(self._folder, shard, self._joined([batch.about for batch in batches]))
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
        for shard in self._shards:  # this checks every written file
            self._fingerprint.add_offsets(
                files.read_shard(self._folder, shard).doc_ptr[1:] + shard.first_word
            )
        return self._fingerprint.of(self._vocabulary)
