"""A draw: the kept part of a state. Its counts of documents by topic may be in files.

A file has all documents or a part of them: a range that one worker holds and writes. The parts are not
gathered. `PartsOfDraw` knows their files, and reads the ones with the requested documents. In files, columns
and counts have the narrowest type that holds them all; they are read in the usual width.
"""

import hashlib
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from franchise._arrays import Array, narrow, offsets_of, places_of
from franchise._files import Facts, read_arrays, write_arrays
from franchise._version import VERSION, check_version
from franchise.errors import ModelError

Documents = slice | Array  # a range of documents, or their numbers

_KIND = "part of a draw"
# In the folder of a chain: the place of parts of draws that are not written yet, and may never be.
PARTS = "parts"
_ARRAYS = ("data", "indices", "indptr")
LARGE_DRAW = 2**22  # bytes: draws of this size or more are kept on disk


class NarrowCounts(NamedTuple):
    """The counts of documents as in a file: rows as in a `csr_array`."""

    data: Array
    indices: Array
    indptr: Array
    n_topics: int

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return self.indptr.size - 1

    def rows(self, documents: Documents) -> sp.csr_array:
        """Return the counts of some documents in the usual width."""
        if isinstance(documents, slice):
            begin, end, _ = documents.indices(self.n_documents)
            indptr = self.indptr[begin : max(begin, end) + 1]
            places: slice | Array = slice(int(indptr[0]), int(indptr[-1]))
            indptr = indptr - indptr[0]
        else:
            first = self.indptr[documents]
            lengths = self.indptr[documents + 1] - first
            indptr = offsets_of(lengths).astype(self.indptr.dtype)
            places = places_of(first, lengths)
        return _wide(self.data[places], self.indices[places], indptr, self.n_topics)

    def check(self, n_documents: int) -> None:
        """Refuse counts in which SciPy would read out of bounds: ValueError."""
        data, indices, indptr, n_topics = self
        if (
            indptr.shape != (n_documents + 1,)
            or data.shape != (indptr[-1],)
            or indices.shape != (indptr[-1],)
            or any(part.dtype.kind not in "iu" for part in (data, indices, indptr))
            or indptr[0] != 0
            or np.any(indptr[1:] < indptr[:-1])
            or (indices.size and (indices.min() < 0 or indices.max() >= n_topics))
        ):
            raise ValueError("the arrays of the topics of documents do not match")


def narrow_arrays(counts: sp.csr_array) -> dict[str, Array]:
    """Return the arrays of counts as files have them."""
    return {
        "data": narrow(counts.data),
        "indices": narrow(counts.indices),
        "indptr": counts.indptr,
    }


class DrawPart(NamedTuple):
    """The facts about a file with the counts of a range of documents."""

    first_document: int
    n_documents: int
    n_bytes: int  # of the file
    digest: str


def parts_folder(folder: Path, sweep: int) -> Path:
    """Return the place of the parts of the draw of a sweep, in a folder of draws."""
    return folder / f"{sweep:06d}"


def part_path(folder: Path, sweep: int, part: DrawPart) -> Path:
    """Return the file of a part."""
    return parts_folder(folder, sweep) / f"{part.first_document:012d}.safetensors"


def write_part(folder: str | Path, sweep: int, first_document: int, counts: sp.csr_array) -> DrawPart:
    """Write n_j.k of a range of documents, completely or not at all.

    Parameters
    ----------
    folder
        The folder of draws, which every machine finds under this path.
    sweep
        The sweep of the draw.
    first_document
        The number of the first document.
    counts
        The counts of consecutive documents, documents by topics, topics as in the draw.

    Returns
    -------
    DrawPart
        The facts with which `PartsOfDraw` reads the file.

    Raises
    ------
    ModelError
        If the file cannot be written.
    """
    arrays = narrow_arrays(counts)
    digest = hashlib.blake2b(digest_size=16)
    for name in _ARRAYS:
        digest.update(np.ascontiguousarray(arrays[name], "<i8").data)
    part = DrawPart(first_document, counts.shape[0], 0, digest.hexdigest())
    facts = {
        "version": VERSION,
        "sweep": sweep,
        "first_document": first_document,
        "topics": counts.shape[1],
        "digest": part.digest,
    }
    path = part_path(Path(folder), sweep, part)
    write_arrays(path, _KIND, arrays, facts)
    return part._replace(n_bytes=path.stat().st_size)


class PartsOfDraw:
    """The counts n_j.k of a draw whose parts are in files: small, and can be pickled.

    Parameters
    ----------
    folder
        The folder of draws.
    sweep
        The sweep of the draw.
    parts
        The results of `write_part`, in any order. Together they have every document once.
    n_topics
        Number of topics.

    Raises
    ------
    ValueError
        If a document is missing, or is there twice.
    """

    def __init__(self, folder: str | Path, sweep: int, parts: list[DrawPart], n_topics: int) -> None:
        self.folder, self.sweep, self.n_topics = Path(folder), sweep, n_topics
        self.parts = tuple(sorted(parts))
        ends = np.cumsum([0, *(part.n_documents for part in self.parts)])
        if not parts or [part.first_document for part in self.parts] != ends[:-1].tolist():
            raise ValueError("the parts of a draw do not have every document once")
        self._ends = ends
        self._sound: set[int] = set()  # parts that were checked
        # The last part used, mapped: documents are mostly read in order.
        self._last: tuple[int, NarrowCounts] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of documents, and of topics."""
        return int(self._ends[-1]), self.n_topics

    @property
    def n_bytes(self) -> int:
        """Size of the files."""
        return sum(part.n_bytes for part in self.parts)

    def path(self, part: DrawPart) -> Path:
        """Return the file of a part."""
        return part_path(self.folder, self.sweep, part)

    def check_files(self) -> None:
        """Check that all files are present and have their original length.

        Raises
        ------
        ModelError
            If a file is missing or has another length.
        """
        for part in self.parts:
            path = self.path(part)
            try:
                is_whole = path.stat().st_size == part.n_bytes
            except OSError as error:
                reason = "there is no such file" if isinstance(error, FileNotFoundError) else error.strerror
                raise ModelError(
                    f"{path}: a part of the draw of sweep {self.sweep} is missing ({reason}); restore it "
                    "from a copy",
                    code="no-such-file" if isinstance(error, FileNotFoundError) else "cannot-read",
                ) from error
            if not is_whole:
                raise _damaged(path, "its length has changed")

    def rows(self, documents: Documents) -> sp.csr_array:
        """Return n_j.k of some documents, a range or numbers; only the parts with these are read.

        Raises
        ------
        ModelError
            If a part is missing or damaged.
        """
        if isinstance(documents, slice):
            begin, end, _ = documents.indices(self.shape[0])
            return self._joined(self._of_range(begin, end))
        numbers = np.asarray(documents, np.int64)
        order = np.argsort(numbers, kind="stable")  # so that every part is read once
        return self._joined(self._of_increasing(numbers[order]))[np.argsort(order, kind="stable")]

    def _of_range(self, begin: int, end: int) -> Iterator[sp.csr_array]:
        for i, part in enumerate(self.parts):
            first, last = (
                max(begin - part.first_document, 0),
                min(end - part.first_document, part.n_documents),
            )
            if first < last:
                yield self._counts(i).rows(slice(first, last))

    def _of_increasing(self, numbers: Array) -> Iterator[sp.csr_array]:
        cuts = np.searchsorted(numbers, self._ends).tolist()
        if cuts[0] or cuts[-1] < numbers.size:
            raise IndexError(f"there are documents 0 to {self.shape[0] - 1:,}")
        for i, (first, last) in enumerate(pairwise(cuts)):
            if first < last:
                yield self._counts(i).rows(numbers[first:last] - self._ends[i])

    def _joined(self, found: Iterable[sp.csr_array]) -> sp.csr_array:
        tables = list(found)
        if not tables:
            return sp.csr_array((0, self.n_topics), dtype=np.int32)
        before = np.cumsum([0, *(table.indptr[-1] for table in tables)])
        ends = [table.indptr[1:] + first for table, first in zip(tables, before.tolist())]
        return sp.csr_array(
            (
                np.concatenate([table.data for table in tables]),
                np.concatenate([table.indices for table in tables]),
                np.concatenate([tables[0].indptr[:1], *ends]),
            ),
            shape=(sum(table.shape[0] for table in tables), self.n_topics),
        )

    def _counts(self, i: int) -> NarrowCounts:
        """Map a part; its contents are checked the first time."""
        if self._last is None or self._last[0] != i:
            part, is_new = self.parts[i], i not in self._sound
            path = self.path(part)
            arrays, facts = read_arrays(path, _KIND, mapped=True, verified=not is_new)
            try:
                check_version(path, facts)
                counts = NarrowCounts(**{name: arrays[name] for name in _ARRAYS}, n_topics=self.n_topics)
                if is_new:
                    self._check(part, facts, counts)
            except (KeyError, IndexError, TypeError, ValueError) as error:
                raise _damaged(path, str(error)) from error
            self._sound.add(i)
            self._last = i, counts
        return self._last[1]

    def _check(self, part: DrawPart, facts: Facts, counts: NarrowCounts) -> None:
        expected = (self.sweep, part.first_document, self.n_topics, part.digest)
        if tuple(facts[name] for name in ("sweep", "first_document", "topics", "digest")) != expected:
            raise ValueError("it is a part of another draw")
        counts.check(part.n_documents)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the mapped part."""
        return vars(self) | {"_last": None}


def _damaged(path: Path, reason: str) -> ModelError:
    return ModelError(
        f"{path}: the part of a draw is damaged ({reason}); restore it from a copy", code="damaged-file"
    )


def _wide(data: Array, indices: Array, indptr: Array, n_topics: int) -> sp.csr_array:
    """Return counts as an engine returns them (`engines.engine.Counts`)."""
    return sp.csr_array(
        (data.astype(np.int32, copy=False), indices.astype(indptr.dtype, copy=False), indptr),
        shape=(indptr.size - 1, n_topics),
    )


class MergedCounts(NamedTuple):
    """Counts of documents in which some topics are merged."""

    counts: "sp.csr_array | NarrowCounts | PartsOfDraw"
    place: Array  # of each topic, the topic that it counts as
    n_topics: int

    def rows(self, documents: Documents) -> sp.csr_array:
        """Return the counts of some documents."""
        counts = self.counts
        own = counts[documents] if isinstance(counts, sp.csr_array) else counts.rows(documents)
        topics = np.arange(self.place.size)
        to = sp.csr_array(
            (np.ones(topics.size, own.dtype), (topics, self.place)), shape=(topics.size, self.n_topics)
        )
        return sp.csr_array(own @ to)


class Draw(NamedTuple):
    """The kept part of a state, from which topics, weights and mixtures are computed.

    Topics are ordered by their number of words, largest first.
    """

    sweep: int
    names: Array  # serial number of each topic's birth in its chain
    topic_terms: sp.csr_array  # n_..k^v
    document_counts: sp.csr_array | NarrowCounts | PartsOfDraw | MergedCounts  # n_j.k in memory, or in files
    m_k: Array
    concentrations: Array  # alpha, gamma, eta
    is_stored: bool = False  # whether all of it is in the files of `storage.draws`

    @property
    def n_bytes(self) -> int:
        """Memory of the counts."""
        tables = [self.topic_terms, self.document_counts]
        in_memory = [table for table in tables if isinstance(table, sp.csr_array)]
        return sum(part.nbytes for table in in_memory for part in (table.data, table.indices, table.indptr))

    @property
    def document_topics(self) -> sp.csr_array:
        """All of n_j.k; if it is in files, `of_documents` takes less memory."""
        counts = self.document_counts
        return counts if isinstance(counts, sp.csr_array) else counts.rows(slice(None))

    def of_documents(self, documents: Documents) -> sp.csr_array:
        """Return n_j.k of some documents."""
        counts = self.document_counts
        return counts[documents] if isinstance(counts, sp.csr_array) else counts.rows(documents)
