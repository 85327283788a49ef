"""A corpus whose documents lie in shards of a folder (`shards`), perhaps more than fit in memory.

What is known of all documents together is there at once. What grows with their number (words, offsets, names,
texts, metadata) is brought together only when someone asks for it: a corpus in shards can be used wherever
any other can, and costs as much there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from franchise._arrays import offsets_of
from franchise.corpus.by_shard import NamesOfShards, TextsOfShards
from franchise.corpus.checks import (
    MAX_WORDS,
    check_distinct,
    check_document,
    check_n_names,
    document_numbers,
    strings,
)
from franchise.corpus.corpus import Corpus, CorpusArrays
from franchise.corpus.downsample import Downsampling
from franchise.corpus.growing import PIECE, Growing, handed_over
from franchise.corpus.metadata import as_metadata, joined, rows_of
from franchise.corpus.shards import About, Manifest, Shard, read_about, read_manifest, read_shard
from franchise.corpus.vectorize import TextOptions
from franchise.errors import CorpusError

if TYPE_CHECKING:
    import pandas as pd

    from franchise.corpus.cells import CellArrays

_FEW_SHARDS = 8


class ShardedCorpus(Corpus):
    """A corpus in shards; `open_shards` opens one, `shard` makes one.

    Equal to the same documents in one piece, and with the same fingerprint. Without a look at any shard it
    knows ``n_documents``, ``n_words``, ``n_terms``, ``vocabulary``, ``term_counts``,
    ``documents_of_length`` and its fingerprint.

    Attributes
    ----------
    folder
        Where the shards are.
    shards
        The ranges of documents, as :func:`~franchise.corpus.read_shard` takes them.
    """

    folder: Path
    shards: tuple[Shard, ...]
    changes: dict[str, Any]  # what is other than on disk: see `with_vocabulary` and `with_metadata`
    _manifest: Manifest
    _last: tuple[int, CorpusArrays] | None
    _last_about: tuple[int, About] | None

    def __init__(self, folder: str | Path) -> None:
        self._set(folder=Path(folder), _manifest=read_manifest(Path(folder)))
        facts = self._manifest.facts
        options, downsampling = facts["text_options"], facts["downsampling"]
        self._set(
            shards=self._manifest.shards,
            vocabulary=self._manifest.vocabulary,
            text_options=TextOptions.from_dict(options) if options else None,
            downsampling=Downsampling(**downsampling) if downsampling else None,
            keeps_cells=False,
            changes={},
            _cells=None,
            _fingerprint=facts["fingerprint"],
            _last=None,
            _last_about=None,
        )

    @classmethod
    def from_cells(
        cls,
        cells: CellArrays,
        vocabulary: Iterable[str],
        document_names: Iterable[str] | None = None,
        **about: Any,
    ) -> Corpus:
        """Make a corpus from cells; it is in one piece."""
        return Corpus.from_cells(cells, vocabulary, document_names, **about)

    # ------------------------------------------------------------ known without the shards

    @property
    def n_documents(self) -> int:
        """Number of documents, empty ones included."""
        return int(self._manifest.facts["documents"])

    @property
    def n_words(self) -> int:
        """Number of words in all documents together."""
        return int(self._manifest.facts["words"])

    @property
    def term_counts(self) -> npt.NDArray[np.int64]:
        """Number of words of each term in the whole corpus."""
        return self._manifest.term_counts.copy()

    @property
    def documents_of_length(self) -> npt.NDArray[np.int64]:
        """Number of documents of each length: entry 0 counts the empty ones, and so on."""
        lengths = self._manifest.lengths
        counts = np.zeros(int(lengths.max(initial=0)) + 1, np.int64)
        counts[lengths] = self._manifest.documents
        return counts

    @property
    def is_named(self) -> bool:
        """Whether documents have names of their own, and not just numbers."""
        return bool(self._manifest.facts["named"])

    @property
    def metadata_names(self) -> tuple[str, ...]:
        """The names of the columns of metadata."""
        if "metadata" in self.changes:
            return _names(self.metadata)
        return tuple(column["name"] for column in self._manifest.facts["metadata"])

    # ------------------------------------------------------------ brought together when asked for

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
                f"{self.n_words:,} words are more than the {MAX_WORDS:,} that one piece can have; fit them "
                "with engine='parallel', 'gpu' or 'ray', which leave them in their shards",
                code="too-many-words",
            )
        words = Growing()
        for _, arrays in self._arrays_of_shards():
            words.extend(arrays.x)
        return handed_over(words.array())

    @cached_property
    def document_names(self) -> Sequence[str]:
        """The names of all documents; each is read when it is asked for."""
        return NamesOfShards(self)

    @cached_property
    def texts(self) -> Sequence[str] | None:
        """The texts, where they were kept; each is read when it is asked for."""
        return TextsOfShards(self) if self._manifest.facts["texts"] else None

    @cached_property
    def metadata(self) -> pd.DataFrame | None:
        """The metadata of all documents."""
        return self._metadata((shard, None) for shard in self.shards)

    # ------------------------------------------------------------ some documents

    def document(self, j: int) -> npt.NDArray[np.int32]:
        """Term ids of the words of document ``j``, a read-only view; only its shard is read."""
        check_document(j, self.n_documents)
        shard = self.shard_with(j)
        x, doc_ptr, _ = self._arrays(shard)
        here = j - shard.first_document
        return x[doc_ptr[here] : doc_ptr[here + 1]]

    def select(self, documents: Sequence[int] | npt.NDArray[Any]) -> Corpus:
        """Keep some documents, as `Corpus.select` does; only the shards that have them are read."""
        chosen = document_numbers(documents, self.n_documents)
        order = np.argsort(chosen, kind="stable")  # so that every shard is read once
        back = np.argsort(order, kind="stable")
        words: list[npt.NDArray[np.int32]] = []
        names: list[str] = []
        texts: list[str] = []
        for shard, here in self._grouped(chosen[order]):
            x, doc_ptr, _ = self._arrays(shard)
            words += [x[doc_ptr[i] : doc_ptr[i + 1]].copy() for i in here.tolist()]
            there = (shard.first_document + here).tolist()
            names += [self.document_names[j] for j in there]
            if self.texts is not None:
                texts += [self.texts[j] for j in there]
        in_order = [words[i] for i in back.tolist()]
        metadata = self._metadata_of(chosen[order])
        return Corpus(
            np.concatenate([np.empty(0, np.int32), *in_order]),
            offsets_of(np.array([len(one) for one in in_order], np.int64)),
            self.vocabulary,
            [names[i] for i in back.tolist()],
            texts=None if self.texts is None else [texts[i] for i in back.tolist()],
            text_options=self.text_options and self.text_options.resolved(self.n_documents),
            metadata=rows_of(metadata, back),
            downsampling=self.downsampling,
        )

    def spread(self, number: int) -> npt.NDArray[np.int64]:
        """Return the numbers of about so many documents, of a few shards that lie far from each other.

        To look at some documents, not all files have to be read.
        """
        shards = [self.shards[i] for i in _apart(len(self.shards), _FEW_SHARDS).tolist()]
        first = np.array([shard.first_document for shard in shards])
        ends = np.cumsum([shard.n_documents for shard in shards])
        chosen = _apart(int(ends[-1]), number)
        own = np.searchsorted(ends, chosen, side="right")
        return np.asarray(first[own] + chosen - np.append(0, ends)[own])

    def with_vocabulary(self, vocabulary: Iterable[str]) -> Corpus:
        """Return the same documents with as many other names for the terms; no shard is read."""
        terms = strings(vocabulary, "vocabulary", "term")
        check_distinct(terms)
        check_n_names(terms, self.n_terms)
        changed = self._changed("vocabulary", terms)
        changed._set(_fingerprint="")
        return changed

    def with_metadata(self, metadata: Any) -> Corpus:
        """Return the same corpus with other metadata, as the constructor takes them; no shard is read."""
        return self._changed("metadata", as_metadata(metadata, self.n_documents))

    def _changed(self, name: str, value: Any) -> ShardedCorpus:
        other = object.__new__(ShardedCorpus)
        changes = self.changes | {name: value}
        other.__dict__.update(self.__dict__ | changes | {"changes": changes})
        return other

    def downsampled(self, words: int | npt.ArrayLike, *, seed: int = 0, evenly: bool = False) -> Corpus:
        """Keep a limited number of words of each document; what comes out is in one piece."""
        return self.in_one_piece().downsampled(words, seed=seed, evenly=evenly)

    def in_one_piece(self) -> Corpus:
        """Return the same corpus, all of it in memory."""
        make, parts = Corpus.__reduce__(self)
        return make(*parts)

    def shard_with(self, j: int) -> Shard:
        """Return the shard that has document ``j``."""
        return self.shards[int(np.searchsorted(self._firsts, j, side="right")) - 1]

    def parts(self) -> Iterator[tuple[CorpusArrays, About]]:
        """Yield shard after shard: its words, and what else is known of its documents."""
        facts = self._manifest.facts
        has_about = facts["named"] or facts["texts"] or facts["metadata"]
        for shard, arrays in self._arrays_of_shards():
            yield arrays, read_about(self.folder, shard) if has_about else About(None, None, None)

    @cached_property
    def _firsts(self) -> npt.NDArray[np.int64]:
        return np.array([shard.first_document for shard in self.shards])

    def _arrays_of_shards(self) -> Iterator[tuple[Shard, CorpusArrays]]:
        return ((shard, read_shard(self.folder, shard)) for shard in self.shards)

    def _arrays(self, shard: Shard) -> CorpusArrays:
        """Read a shard; whoever looks at one document often looks at its neighbour next."""
        if self._last is None or self._last[0] != shard.number:
            self._set(_last=(shard.number, read_shard(self.folder, shard)))
        assert self._last is not None
        return self._last[1]

    def about_shard(self, shard: Shard) -> About:
        """Return names, texts and metadata of the documents of a shard; the last one stays at hand."""
        if self._last_about is None or self._last_about[0] != shard.number:
            self._set(_last_about=(shard.number, read_about(self.folder, shard)))
        assert self._last_about is not None
        return self._last_about[1]

    def _grouped(self, increasing: npt.NDArray[np.int64]) -> Iterator[tuple[Shard, npt.NDArray[np.int64]]]:
        """Yield each shard that has some of these documents, and their places in it."""
        ends = np.searchsorted(increasing, [*self._firsts[1:], self.n_documents])
        begin = 0
        for shard, end in zip(self.shards, ends.tolist(), strict=True):
            if end > begin:
                yield shard, increasing[begin:end] - shard.first_document
            begin = end

    def _metadata_of(self, increasing: npt.NDArray[np.int64]) -> pd.DataFrame | None:
        if "metadata" in self.changes:
            return rows_of(self.metadata, increasing)
        return self._metadata(self._grouped(increasing))

    def _metadata(self, parts: Iterable[tuple[Shard, npt.NDArray[np.int64] | None]]) -> pd.DataFrame | None:
        if not self._manifest.facts["metadata"]:
            return None

        def columns() -> Iterator[pd.DataFrame]:
            for shard, here in parts:
                metadata = self.about_shard(shard).metadata
                assert metadata is not None
                yield metadata if here is None else metadata.iloc[here]

        return joined(columns(), self._manifest.facts["metadata"])

    def _pieces(self) -> Iterator[npt.NDArray[np.int32]]:
        """Yield the words in pieces as long as those of any corpus: two can be compared piece by piece."""
        waiting, n_waiting = [], 0
        for _, (x, _, _) in self._arrays_of_shards():
            while x.size:
                part, x = np.split(x, [PIECE - n_waiting])
                waiting.append(part)
                n_waiting += part.size
                if n_waiting == PIECE:
                    yield np.concatenate(waiting)
                    waiting, n_waiting = [], 0
        if waiting:
            yield np.concatenate(waiting)

    def __reduce_ex__(self, protocol: Any) -> tuple[Callable[..., Corpus], tuple[Any, ...]]:
        # Other processes open the folder. `__reduce__` gives the parts of the corpus in one piece.
        written = self._manifest.facts["fingerprint"]
        return _opened_again, (str(self.folder.absolute()), written, self.changes)


def open_shards(folder: str | Path) -> ShardedCorpus:
    """Open a corpus that lies in shards; no shard is read.

    Parameters
    ----------
    folder
        The folder that :func:`~franchise.corpus.shard` or ``franchise shard`` has written.

    Raises
    ------
    CorpusError
        If it is not such a folder, is not whole, damaged, or from another version.
    """
    return ShardedCorpus(folder)


def arrays_of_shard(corpus: Corpus, shard: Shard) -> CorpusArrays:
    """Return the words of one shard of any corpus, with offsets from 0 on; of one in memory, a view."""
    if isinstance(corpus, ShardedCorpus):
        return read_shard(corpus.folder, shard)
    doc_ptr = corpus.doc_ptr[shard.first_document : shard.first_document + shard.n_documents + 1]
    x = corpus.x[shard.first_word : shard.first_word + shard.n_words]
    return CorpusArrays(x, handed_over(doc_ptr - doc_ptr[0]), corpus.n_terms)


def metadata_names(corpus: Corpus) -> tuple[str, ...]:
    """Return the names of the columns of metadata of any corpus; no shard is read."""
    if isinstance(corpus, ShardedCorpus):
        return corpus.metadata_names
    return _names(corpus.metadata)


def _names(metadata: pd.DataFrame | None) -> tuple[str, ...]:
    return () if metadata is None else tuple(map(str, metadata))


def _opened_again(folder: str, fingerprint: str, changes: dict[str, Any]) -> Corpus:
    corpus: Corpus = open_shards(folder)
    if corpus.fingerprint() != fingerprint:
        raise CorpusError(
            f"{folder}: the shards there are of another corpus now; write the former ones again",
            code="corpus-mismatch",
        )
    if "vocabulary" in changes:
        corpus = corpus.with_vocabulary(changes["vocabulary"])
    return corpus.with_metadata(changes["metadata"]) if "metadata" in changes else corpus


def _apart(n: int, number: int) -> npt.NDArray[np.int64]:
    """Return so many of the numbers below n, at equal distances; all if there are no more."""
    if number >= n:
        return np.arange(n)
    return np.unique(np.linspace(0, n - 1, max(1, number)).astype(np.int64))
