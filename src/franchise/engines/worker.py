"""What one process of a cluster does: it holds a range of the documents, and their seats in every chain."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from franchise._draw_parts import DrawPart, write_part
from franchise._files import read_arrays, write_arrays
from franchise._version import VERSION, check_version
from franchise.corpus import CorpusArrays
from franchise.corpus.shards import Shard, read_shard
from franchise.engines.part import AnyPart, NewPart, Part
from franchise.errors import ModelError
from franchise.model.state import Array

_KIND = "seats"
# What begins the seats of a chain: with all else, a worker that has none is new, and must be told first.
_STARTS = ("draw_fitted", "draw_random", "start")


class WorkersLostError(Exception):
    """A worker does not answer any more, or is new and knows nothing of the chain."""


class Worker:
    """Holds documents, and does what is asked for in one chain or another.

    Parameters
    ----------
    threads
        How many to work in.
    new_part
        What makes a part of the documents with their seats: takes what `Part` takes.
    """

    def __init__(self, threads: int, new_part: NewPart = Part) -> None:
        self._threads, self._new_part = threads, new_part
        self._shards: tuple[Shard, ...] = ()
        self._parts: dict[int, AnyPart] = {}
        self._corpus: CorpusArrays
        self._longest = 0

    def load(self, shards: tuple[Shard, ...], source: str | CorpusArrays, longest: int) -> None:
        """Take up documents: those of shards that lie in a folder, or as they were sent."""
        if isinstance(source, str):
            read = [read_shard(source, one) for one in shards]
            doc_ptr = np.concatenate([[0], *(np.diff(one.doc_ptr) for one in read)]).cumsum()
            source = CorpusArrays(np.concatenate([one.x for one in read]), doc_ptr, read[0].n_terms)
        for array in source[:2]:
            array.flags.writeable = False  # as in every corpus: compiled code tells them apart
        self._corpus, self._shards, self._longest = source, shards, longest
        self._parts.clear()

    def ask(self, chain: int, what: str, *arguments: Any) -> Any:
        """Let the part of a chain do something (`Part`, or what takes its place)."""
        if what in _STARTS:
            self._begin(chain)
        return getattr(self._part(chain), what)(*arguments)

    def progress(self, chain: int) -> float:
        """Return the share of the pass under way that is done."""
        return self._parts[chain].progress if chain in self._parts else 0.0

    def _part(self, chain: int) -> AnyPart:
        if chain not in self._parts:
            raise WorkersLostError
        return self._parts[chain]

    def _begin(self, chain: int) -> AnyPart:
        first = self._shards[0]
        place = (first.first_document, first.first_word)
        self._parts[chain] = self._new_part(self._corpus, self._longest, self._threads, *place)
        return self._parts[chain]

    # ------------------------------------------------------------ on disk

    def write_part(self, chain: int, folder: str, sweep: int, rank: Array, n_topics: int) -> DrawPart:
        """Write the counts by document of a draw (`_draw_parts`)."""
        part = self._part(chain)
        counts = part.document_topics(rank, n_topics)
        return write_part(Path(folder), sweep, part.first_document, counts)

    def write_seats(self, chain: int, folder: str) -> None:
        """Write the seats of every shard, each as a file that is whole or not there."""
        for shard, bounds in self._bounds():
            write_seats(Path(folder), shard, self._part(chain).seated(*bounds))

    def send_seats(self, chain: int) -> list[dict[str, Array]]:
        """Return the seats of every shard."""
        return [self._part(chain).seated(*bounds) for _, bounds in self._bounds()]

    def take_up(self, chain: int, source: Any, n_topics: int) -> tuple[Array, Array]:
        """Take up seats, from the folder where they were written or as they were sent.

        Returns the words and tables of each topic.
        """
        self._parts.pop(chain, None)  # its memory first
        part = self._begin(chain)
        try:
            for i, (shard, bounds) in enumerate(self._bounds()):
                part.seat(*bounds, read_seats(Path(source), shard) if isinstance(source, str) else source[i])
            return part.added_up(n_topics)
        except (KeyError, TypeError, ValueError) as error:
            where = f"{source}: " if isinstance(source, str) else ""
            raise ModelError(
                f"{where}the files do not hold who sits where in these documents ({error}); restore them "
                "from a copy",
                code="damaged-file",
            ) from error

    def _bounds(self) -> list[tuple[Shard, tuple[int, int]]]:
        """Return the shards, and where the documents of each begin and end here."""
        first = self._shards[0].first_document
        begins = [one.first_document - first for one in self._shards]
        return [(one, (begin, begin + one.n_documents)) for one, begin in zip(self._shards, begins)]


def write_seats(folder: Path, shard: Shard, seats: dict[str, Array]) -> None:
    """Write the seats of a shard, whole or not at all."""
    facts = {"version": VERSION, "shard": list(shard)}
    write_arrays(_path(folder, shard), _KIND, seats, facts)


def read_seats(folder: Path, shard: Shard) -> dict[str, Array]:
    """Read the seats of a shard."""
    path = _path(folder, shard)
    seats, facts = read_arrays(path, _KIND)
    check_version(path, facts)
    if facts["shard"] != list(shard):
        raise ValueError(f"{path} has the seats of other documents")
    return seats


def check_seats(folder: Path, shards: Sequence[Shard]) -> None:
    """See to it that what workers have written is where others will look for it."""
    missing = [one for one in shards if not _path(folder, one).is_file()]
    if missing:
        raise ModelError(
            f"{_path(folder, missing[0])}: a worker has written this file, but it is not there: the folder "
            "of the model must be one that all machines share, under the same path",
            code="folder-not-shared",
        )


def other_seats(source: Any) -> ModelError:
    """Return the error for seats, or a folder of them, that do not belong to the counts of the chain."""
    where = f"{source}: " if isinstance(source, Path) else ""
    return ModelError(
        f"{where}who sits where does not belong to the counts; restore both", code="seats-mismatch"
    )


def _path(folder: Path, shard: Shard) -> Path:
    return folder / f"{shard.number:05d}.safetensors"
