"""A draw on disk: one file each, never changed once it is written.

A large draw is not read: its arrays are mapped, and brought into memory as far as they are looked at. Of the
counts by document, which are most of it, columns and counts are stored in the narrowest type that holds them
all; whoever asks for some documents gets these in the usual width.
"""

from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import scipy.sparse as sp

from franchise._files import Array, read_arrays, write_arrays
from franchise.corpus import Corpus
from franchise.sampling.trace import LARGE_DRAW, Documents, Draw
from franchise.storage.version import VERSION, check_version

_KIND = "draw"
_PARTS = ("data", "indices", "indptr")
_LARGE = LARGE_DRAW
_WIDER = 4  # times: what a draw takes in memory, at most, of what it takes on disk


class _Narrow(NamedTuple):
    """The counts of documents as they lie in a file."""

    data: Array
    indices: Array
    indptr: Array
    n_topics: int

    def rows(self, documents: Documents) -> sp.csr_array:
        """Return the counts of some documents in the usual width."""
        if isinstance(documents, slice):
            begin, end, _ = documents.indices(self.indptr.size - 1)
            indptr = self.indptr[begin : max(begin, end) + 1]
            places: slice | Array = slice(int(indptr[0]), int(indptr[-1]))
            indptr = indptr - indptr[0]
        else:
            first = self.indptr[documents]
            lengths = self.indptr[documents + 1] - first
            indptr = np.zeros(lengths.size + 1, self.indptr.dtype)
            np.cumsum(lengths, out=indptr[1:])
            places = np.repeat(first - indptr[:-1], lengths) + np.arange(indptr[-1])
        return _wide(self.data[places], self.indices[places], indptr, self.n_topics)


class _MappedDraw(Draw):
    """A draw whose counts by document stay in its file, and are made wide when someone asks for them."""

    __slots__ = ()

    @property
    def document_topics(self) -> sp.csr_array:
        """All of n_j.k, in memory of its own; `of_documents` takes less."""
        return self.of_documents(slice(None))

    def of_documents(self, documents: Documents) -> sp.csr_array:
        """Return n_j.k of some documents."""
        narrow = cast(_Narrow, super().document_topics)
        return narrow.rows(documents)


def draw_path(folder: Path, sweep: int) -> Path:
    """Return where the draw of a sweep is."""
    return folder / f"{sweep:06d}.safetensors"


def is_large(draw: Draw) -> bool:
    """Return whether a draw takes so much memory that it should be on disk, and is not."""
    return not isinstance(draw, _MappedDraw) and draw.n_bytes >= _LARGE


def write_draw(folder: Path, draw: Draw) -> None:
    """Write a draw, whole or not at all."""
    arrays = {"names": draw.names, "m_k": draw.m_k, "concentrations": draw.concentrations}
    tables = {"topic_terms": draw.topic_terms, "document_topics": draw.document_topics}
    for counts, table in tables.items():
        arrays |= {f"{counts}.{part}": getattr(table, part) for part in _PARTS}
    for part in ("data", "indices"):
        arrays[f"document_topics.{part}"] = _narrowed(arrays[f"document_topics.{part}"])
    facts = {"version": VERSION, "sweep": draw.sweep}
    write_arrays(draw_path(folder, draw.sweep), _KIND, arrays, facts)


def read_draw(folder: Path, sweep: int, corpus: Corpus) -> Draw:
    """Read the draw of a sweep, or map it if it is large; ValueError and KeyError say what does not fit."""
    path = draw_path(folder, sweep)
    mapped = path.is_file() and path.stat().st_size >= _LARGE / _WIDER
    arrays, facts = read_arrays(path, _KIND, mapped=mapped)
    check_version(path, facts)
    n_topics = arrays["names"].size
    if (
        facts["sweep"] != sweep
        or arrays["m_k"].shape != (n_topics,)
        or arrays["concentrations"].shape != (3,)
    ):
        raise ValueError("the parts of a draw do not fit together")
    topic_terms = sp.csr_array(_parts(arrays, "topic_terms"), shape=(n_topics, corpus.n_terms))
    topic_terms.check_format(full_check=True)
    data, indices, indptr = _parts(arrays, "document_topics")
    documents = _Narrow(data, indices, indptr, n_topics)
    _check(documents, corpus.n_documents)
    make = _MappedDraw if mapped else Draw
    return make(
        sweep=sweep,
        names=arrays["names"],
        topic_terms=topic_terms,
        document_topics=documents if mapped else documents.rows(slice(None)),
        m_k=arrays["m_k"],
        concentrations=arrays["concentrations"],
    )


def _parts(arrays: dict[str, Array], name: str) -> tuple[Array, ...]:
    return tuple(arrays[f"{name}.{part}"] for part in _PARTS)


def _check(counts: _Narrow, n_documents: int) -> None:
    """Refuse counts in which SciPy would look for numbers where there are none."""
    data, indices, indptr, n_topics = counts
    if (
        indptr.shape != (n_documents + 1,)
        or data.shape != (indptr[-1],)
        or indices.shape != (indptr[-1],)
        or any(part.dtype.kind not in "iu" for part in (data, indices, indptr))
        or indptr[0] != 0
        or np.any(indptr[1:] < indptr[:-1])
        or (indices.size and (indices.min() < 0 or indices.max() >= n_topics))
    ):
        raise ValueError("the topics of documents do not fit together")


def _narrowed(numbers: Array) -> Array:
    """Return numbers from 0 on in the narrowest type that holds all of them."""
    kind = np.min_scalar_type(int(numbers.max(initial=0)))
    return numbers.astype(kind) if kind.itemsize < numbers.dtype.itemsize else numbers


def _wide(data: Array, indices: Array, indptr: Array, n_topics: int) -> sp.csr_array:
    """Return counts as an engine returns them (`engines.engine.Counts`)."""
    return sp.csr_array(
        (data.astype(np.int32, copy=False), indices.astype(indptr.dtype, copy=False), indptr),
        shape=(indptr.size - 1, n_topics),
    )
