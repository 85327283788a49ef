"""Names and texts of documents in shards, each read when it is asked for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from franchise.corpus.sharded import ShardedCorpus
    from franchise.corpus.shards import Shard


class _ByShard(Sequence[str]):
    """One string for each document; equal to a tuple or list of the same strings."""

    def __init__(self, corpus: ShardedCorpus) -> None:
        self._corpus = corpus

    @abstractmethod
    def of_shard(self, shard: Shard) -> Sequence[str]:
        """Return the strings of the documents of a shard."""

    def __len__(self) -> int:
        return self._corpus.n_documents

    @overload
    def __getitem__(self, j: int) -> str: ...

    @overload
    def __getitem__(self, j: slice) -> tuple[str, ...]: ...

    def __getitem__(self, j: int | slice) -> str | tuple[str, ...]:
        if isinstance(j, slice):
            return tuple(map(self.__getitem__, range(len(self))[j]))
        return self._one(range(len(self))[j])  # an error where there is none

    def _one(self, j: int) -> str:
        shard = self._corpus.shard_with(j)
        return self.of_shard(shard)[j - shard.first_document]

    def __iter__(self) -> Iterator[str]:
        for shard in self._corpus.shards:
            yield from self.of_shard(shard)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(one == two for one, two in zip(self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self):,} strings in {len(self._corpus.shards):,} shards>"


class TextsOfShards(_ByShard):
    """The texts of documents in shards."""

    def of_shard(self, shard: Shard) -> Sequence[str]:
        """Return the texts of the documents of a shard."""
        texts = self._corpus.about_shard(shard).texts
        assert texts is not None
        return texts


class NamesOfShards(_ByShard):
    """The names of documents in shards; where none were given, their numbers."""

    def of_shard(self, shard: Shard) -> Sequence[str]:
        """Return the names of the documents of a shard."""
        if not self._corpus.is_named:
            last = shard.first_document + shard.n_documents
            return [str(j) for j in range(shard.first_document, last)]
        names = self._corpus.about_shard(shard).names
        assert names is not None
        return names

    def _one(self, j: int) -> str:
        return super()._one(j) if self._corpus.is_named else str(j)
