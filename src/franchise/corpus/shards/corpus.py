"""A corpus in shards of a folder (`shards`), perhaps larger than memory.

Totals are known at once. Everything that grows with the number of documents (words, offsets, names, texts,
metadata) is read only when needed. A corpus in shards works wherever any other corpus does, but may then take
the same memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from franchise._arrays import CorpusArrays, offsets_of
from franchise._settings import RandomState, moved
from franchise.corpus.batches import Batch
from franchise.corpus.checks import MAX_WORDS, document_numbers, no_such_document, terms_for
from franchise.corpus.corpus import Corpus
from franchise.corpus.large_arrays import BLOCK, Growing, handed_over, ranges_of
from franchise.corpus.metadata import as_metadata, joined, rows_of
from franchise.corpus.shards.files import Manifest, Shard, read_about, read_manifest, read_shard
from franchise.corpus.stored import About, origin_of
from franchise.errors import CorpusError

if TYPE_CHECKING:
    import pandas as pd

_FEW_SHARDS = 8


class ShardedCorpus(Corpus):
    """A corpus in shards; `open_shards` opens one, `shard` makes one.

    It equals the same documents in one piece, with the same fingerprint. It knows ``n_documents``,
    ``n_words``, ``n_terms``, ``vocabulary``, ``term_counts``, ``documents_of_length`` and its fingerprint
    without reading any shard.

    Attributes
    ----------
    folder
        The folder of the shards.
    shards
        The ranges of documents, for :func:`~franchise.corpus.read_shard`.
    """

    folder: Path
    shards: tuple[Shard, ...]
    changes: dict[str, Any]  # differences from the files: see `with_vocabulary` and `with_metadata`
    _manifest: Manifest
    _last: tuple[int, CorpusArrays] | None
    _last_about: tuple[int, About] | None

    def __init__(self, folder: str | Path) -> None:
        self._set(folder=Path(folder), _manifest=read_manifest(Path(folder)))
        facts = self._manifest.facts
        self._set(shards=self._manifest.shards, vocabulary=self._manifest.vocabulary, **origin_of(facts))
        self._set(_fingerprint=facts["fingerprint"], keeps_cells=False, _cells=None)
        self._set(changes={}, _last=None, _last_about=None)

    # ------------------------------------------------------------ known without the shards

    @property
    def n_documents(self) -> int:
        """Number of documents, including empty ones."""
        return int(self._manifest.facts["documents"])

    @property
    def n_words(self) -> int:
        """Number of words in all documents."""
        return int(self._manifest.facts["words"])

    @property
    def term_counts(self) -> npt.NDArray[np.int64]:
        """Number of words of each term in the whole corpus."""
        return self._manifest.term_counts.copy()

    @property
    def documents_of_length(self) -> npt.NDArray[np.int64]:
        """Number of documents of each length: entry 0 counts the empty ones, and so on."""
        weights = self._manifest.documents
        return np.bincount(self._manifest.lengths, weights, minlength=1).astype(np.int64)

    @property
    def is_named(self) -> bool:
        """Whether documents have names, not only numbers."""
        return bool(self._manifest.facts["named"])

    @property
    def metadata_names(self) -> tuple[str, ...]:
        """The names of the columns of metadata."""
        if "metadata" in self.changes:
            return super().metadata_names
        return tuple(column["name"] for column in self._manifest.facts["metadata"])

    # ------------------------------------------------------------ read from all shards when needed

    @cached_property
    def doc_ptr(self) -> npt.NDArray[np.int64]:
        """Offsets of all documents."""
        doc_ptr = np.zeros(self.n_documents + 1, np.int64)
        for shard, arrays in self._arrays_of_shards():
            first = shard.first_document
            doc_ptr[first + 1 : first + 1 + shard.n_documents] = arrays.doc_ptr[1:] + shard.first_word
        return handed_over(doc_ptr)

    @cached_property
    def _x(self) -> npt.NDArray[np.int32]:
        if self.n_words > MAX_WORDS:
            raise CorpusError(
                f"{self.n_words:,} words are more than the {MAX_WORDS:,} that fit in memory as one corpus; "
                "fit them with engine='parallel', 'gpu' or 'ray', which read the shards",
                code="too-many-words",
            )
        words = Growing()
        for _, arrays in self._arrays_of_shards():
            words.extend(arrays.x)
        return handed_over(words.array())

    @cached_property
    def document_names(self) -> Sequence[str]:
        """The names of all documents, each read when needed."""
        return _OfShards(self, "names")

    @cached_property
    def texts(self) -> Sequence[str] | None:
        """The texts, if they were kept, each read when needed."""
        return _OfShards(self, "texts") if self._manifest.facts["texts"] else None

    @cached_property
    def metadata(self) -> pd.DataFrame | None:
        """The metadata of all documents."""
        return self._metadata((shard, slice(None)) for shard in self.shards)

    # ------------------------------------------------------------ some documents

    def document(self, j: int) -> npt.NDArray[np.int32]:
        """Return the term ids of the words of document ``j`` as a read-only view; read only its shard."""
        if not 0 <= j < self.n_documents:
            raise no_such_document(j, self.n_documents)
        shard = self.shard_with(j)
        x, doc_ptr, _ = self._arrays(shard)
        here = j - shard.first_document
        return x[doc_ptr[here] : doc_ptr[here + 1]]

    def select(self, documents: Sequence[int] | npt.NDArray[Any]) -> Corpus:
        """Keep some documents, like `Corpus.select`; read only their shards."""
        chosen = document_numbers(documents, self.n_documents)
        increasing = np.sort(chosen)  # so that each shard is read once
        lengths = [np.zeros(0, np.int64)]
        words = [np.zeros(0, np.int32)]
        for shard, here in self._grouped(increasing):
            x, doc_ptr, _ = self._arrays(shard)
            lengths.append(np.diff(doc_ptr)[here])
            words.append(ranges_of(x, doc_ptr[here], lengths[-1]))
        has_own = "metadata" in self.changes
        metadata = (
            rows_of(self.metadata, increasing) if has_own else self._metadata(self._grouped(increasing))
        )
        found = Corpus(
            np.concatenate(words),
            offsets_of(np.concatenate(lengths)),
            self.vocabulary,
            [self.document_names[j] for j in increasing.tolist()],
            texts=None if self.texts is None else [self.texts[j] for j in increasing.tolist()],
            text_options=self.text_options and self.text_options.resolved(self.n_documents),
            metadata=metadata,
            downsampling=self.downsampling,
        )
        order = np.argsort(chosen, kind="stable")
        return found if np.array_equal(increasing, chosen) else found.select(np.argsort(order, kind="stable"))

    def spread(self, number: int) -> npt.NDArray[np.int64]:
        """Return the numbers of about `number` documents, from a few widely spaced shards.

        A sample of documents thus needs only a few files.
        """
        shards = [self.shards[i] for i in _apart(len(self.shards), _FEW_SHARDS).tolist()]
        first = np.array([shard.first_document for shard in shards])
        ends = np.cumsum([shard.n_documents for shard in shards])
        chosen = _apart(int(ends[-1]), number)
        own = np.searchsorted(ends, chosen, side="right")
        return np.asarray(first[own] + chosen - np.append(0, ends)[own])

    def with_vocabulary(self, vocabulary: Iterable[str]) -> Corpus:
        """Return the same documents with other names for the terms, without reading a shard."""
        return self._changed({"vocabulary": terms_for(vocabulary, self.n_terms)}, _fingerprint="")

    def with_metadata(self, metadata: Any) -> Corpus:
        """Return the same corpus with other metadata, as for `Corpus`, without reading a shard."""
        return self._changed({"metadata": as_metadata(metadata, self.n_documents)})

    def _changed(self, changes: dict[str, Any], **more: Any) -> ShardedCorpus:
        other = object.__new__(ShardedCorpus)
        all_changes = self.changes | changes
        other.__dict__.update(self.__dict__ | all_changes | more | {"changes": all_changes})
        return other

    @moved(seed="random_state")
    def downsampled(
        self, words: int | npt.ArrayLike, *, random_state: RandomState = 0, evenly: bool = False
    ) -> Corpus:
        """Keep a limited number of words of each document; return a corpus in one piece."""
        return self.in_one_piece().downsampled(words, random_state=random_state, evenly=evenly)

    def in_one_piece(self) -> Corpus:
        """Return the same corpus in memory."""
        make, parts = Corpus.__reduce__(self)
        return make(*parts)

    def shard_with(self, j: int) -> Shard:
        """Return the shard with document ``j``."""
        return self.shards[int(np.searchsorted(self._firsts, j, side="right")) - 1]

    def batches(self) -> Iterator[Batch]:
        """Yield the documents of one shard at a time."""
        facts = self._manifest.facts
        has_about = facts["named"] or facts["texts"] or facts["metadata"]
        for shard, (x, doc_ptr, _) in self._arrays_of_shards():
            about = read_about(self.folder, shard) if has_about else About()
            words = (x, doc_ptr, self.vocabulary, "vocabulary")
            yield Batch(*words, about, self.text_options, self.downsampling)

    @cached_property
    def _firsts(self) -> npt.NDArray[np.int64]:
        return np.array([shard.first_document for shard in self.shards])

    def _arrays_of_shards(self) -> Iterator[tuple[Shard, CorpusArrays]]:
        return ((shard, read_shard(self.folder, shard)) for shard in self.shards)

    def _arrays(self, shard: Shard) -> CorpusArrays:
        """Read a shard; the last one stays in memory, because its documents are often read next."""
        if self._last is None or self._last[0] != shard.number:
            self._set(_last=(shard.number, read_shard(self.folder, shard)))
        assert self._last is not None
        return self._last[1]

    def about_shard(self, shard: Shard) -> About:
        """Return names, texts and metadata of the documents of a shard; the last one stays in memory."""
        if self._last_about is None or self._last_about[0] != shard.number:
            self._set(_last_about=(shard.number, read_about(self.folder, shard)))
        assert self._last_about is not None
        return self._last_about[1]

    def _grouped(self, increasing: npt.NDArray[np.int64]) -> Iterator[tuple[Shard, npt.NDArray[np.int64]]]:
        """Yield each shard with some of these documents, and their places in it."""
        ends = np.searchsorted(increasing, [*self._firsts[1:], self.n_documents])
        begin = 0
        for shard, end in zip(self.shards, ends.tolist(), strict=True):
            if end > begin:
                yield shard, increasing[begin:end] - shard.first_document
            begin = end

    def _metadata(self, parts: Iterable[tuple[Shard, Any]]) -> pd.DataFrame | None:
        tables = (rows_of(self.about_shard(shard).metadata, here) for shard, here in parts)
        return joined((table for table in tables if table is not None), self._manifest.facts["metadata"])

    def _blocks(self) -> Iterator[npt.NDArray[np.int32]]:
        """Yield the words in blocks of the same size as in any corpus, so that corpora can be compared."""
        waiting, n_waiting = [], 0
        for _, (x, _, _) in self._arrays_of_shards():
            while x.size:
                part, x = np.split(x, [BLOCK - n_waiting])
                waiting.append(part)
                n_waiting += part.size
                if n_waiting == BLOCK:
                    yield np.concatenate(waiting)
                    waiting, n_waiting = [], 0
        if waiting:
            yield np.concatenate(waiting)

    def __reduce_ex__(self, protocol: Any) -> tuple[Callable[..., Corpus], tuple[Any, ...]]:
        # Other processes open the folder. `__reduce__` returns the parts of the corpus in one piece.
        written = self._manifest.facts["fingerprint"]
        return _opened_again, (str(self.folder.absolute()), written, self.changes)


class _OfShards(Sequence[str]):
    """Names or texts of documents in shards, each read when needed.

    They equal a tuple or list of the same strings. Documents without names are named by number.
    """

    def __init__(self, corpus: ShardedCorpus, what: str) -> None:
        self._corpus = corpus
        self._what = what
        self._by_number = what == "names" and not corpus.is_named

    def _of_shard(self, shard: Shard) -> Sequence[str]:
        if self._by_number:
            return [str(shard.first_document + i) for i in range(shard.n_documents)]
        names, texts, _ = self._corpus.about_shard(shard)
        return (names if self._what == "names" else texts) or ()

    def __len__(self) -> int:
        return self._corpus.n_documents

    def __getitem__(self, j: int | slice) -> Any:
        if isinstance(j, slice):
            return tuple(map(self.__getitem__, range(len(self))[j]))
        number = range(len(self))[j]  # raises an error outside the range
        if self._by_number:
            return str(number)
        shard = self._corpus.shard_with(number)
        return self._of_shard(shard)[number - shard.first_document]

    def __iter__(self) -> Iterator[str]:
        for shard in self._corpus.shards:
            yield from self._of_shard(shard)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(one == two for one, two in zip(self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self):,} strings in {len(self._corpus.shards):,} shards>"


def open_shards(folder: str | Path) -> ShardedCorpus:
    """Open a corpus in shards, without reading a shard.

    Parameters
    ----------
    folder
        A folder written by :func:`~franchise.corpus.shard` or ``franchise shard``.

    Raises
    ------
    CorpusError
        If it is not such a folder, or is incomplete, damaged, or from another version.
    """
    return ShardedCorpus(folder)


def arrays_of_shard(corpus: Corpus, shard: Shard) -> CorpusArrays:
    """Return the words of one shard of any corpus, with offsets from 0; a view if the corpus is in memory."""
    if isinstance(corpus, ShardedCorpus):
        return read_shard(corpus.folder, shard)
    doc_ptr = corpus.doc_ptr[shard.first_document : shard.first_document + shard.n_documents + 1]
    x = corpus.x[shard.first_word : shard.first_word + shard.n_words]
    return CorpusArrays(x, handed_over(doc_ptr - doc_ptr[0]), corpus.n_terms)


def _opened_again(folder: str, fingerprint: str, changes: dict[str, Any]) -> Corpus:
    corpus: Corpus = open_shards(folder)
    if corpus.fingerprint() != fingerprint:
        raise CorpusError(
            f"{folder}: it now has the shards of another corpus; write the earlier shards again",
            code="corpus-mismatch",
        )
    if "vocabulary" in changes:
        corpus = corpus.with_vocabulary(changes["vocabulary"])
    return corpus.with_metadata(changes["metadata"]) if "metadata" in changes else corpus


def _apart(n: int, number: int) -> npt.NDArray[np.int64]:
    """Return `number` evenly spaced numbers below n, or all of them."""
    if number >= n:
        return np.arange(n)
    return np.unique(np.linspace(0, n - 1, max(1, number)).astype(np.int64))
