"""Matrices in files: SciPy's CSR (``scipy.sparse.save_npz``), documents by terms; AnnData, cells by genes.

Two optional arrays, ``vocabulary`` and ``document_names``, are also written and read; SciPy ignores them.
Nothing is read with pickle.

AnnData's files (``.h5ad``) are read with anndata.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise._arrays import Array
from franchise._extras import needed
from franchise.corpus.corpus import Corpus
from franchise.corpus.counts import from_counts
from franchise.corpus.files import Source
from franchise.corpus.formats.coordinates import check_size, check_width
from franchise.corpus.formats.vocabulary import found_beside, terms_of
from franchise.corpus.other_libraries import from_anndata
from franchise.errors import CorpusError

if TYPE_CHECKING:
    from scipy.sparse import csr_array


_SAVE_AGAIN = "write the counts again as a CSR matrix, with scipy.sparse.save_npz"

_PARTS = ("data", "indices", "indptr", "shape")

# In NumPy, every string takes the room of the longest. A single long term must not fill the disk.
_MAX_STRINGS = 2**28


def read_npz(source: Source, vocabulary: Sequence[str] | None) -> Corpus:
    """Read a corpus; a given vocabulary takes precedence over the one in the file."""
    arrays = _arrays(source)
    counts = _matrix(source, arrays)
    names = _strings(source, arrays, "document_names")
    if vocabulary is None:
        vocabulary = _strings(source, arrays, "vocabulary")
    if vocabulary is None and (beside := found_beside(source.path)):
        vocabulary = terms_of(beside, source.encoding)
    if vocabulary is None:
        check_size(source, counts.shape[1], counts.data.size, "terms")
    check_width(source, vocabulary, *counts.shape)
    return from_counts(counts, vocabulary=vocabulary, document_names=names)


def fits(strings: Sequence[str]) -> bool:
    """Return whether strings can be stored as an array in the file."""
    longest = max(map(len, strings), default=0)
    return 4 * longest * len(strings) <= _MAX_STRINGS and not any("\0" in text for text in strings)


def write_npz(corpus: Corpus) -> Iterator[bytes]:
    """Yield the bytes of the file, with terms and names if they fit."""
    counts = corpus.to_counts()
    arrays: dict[str, Any] = {
        "data": counts.data,
        "indices": counts.indices,
        "indptr": counts.indptr,
        "shape": np.array(counts.shape),
        "format": np.array(b"csr"),  # required by SciPy
    }
    for name, strings in (("vocabulary", corpus.vocabulary), ("document_names", corpus.document_names)):
        if fits(strings):
            arrays[name] = np.array(strings, dtype=np.str_)
    file = io.BytesIO()
    np.savez(file, **arrays)
    yield file.getvalue()


def read_h5ad(
    source: Source,
    vocabulary: Sequence[str] | None,
    layer: str | None = None,
    metadata: Sequence[str] | None = None,
) -> Corpus:
    """Read a corpus; a given vocabulary replaces the names of the genes."""
    with needed("reading .h5ad", "anndata"):
        import anndata
    with source.whole(".h5ad file", "make or fetch it again"):
        data = anndata.read_h5ad(source.random_access())
    source.report(1.0)
    check_width(source, vocabulary, *data.shape)
    corpus = from_anndata(data, layer=layer, metadata=metadata)
    return corpus if vocabulary is None else corpus.with_vocabulary(vocabulary)


def _arrays(source: Source) -> dict[str, Array]:
    with source.whole("npz file", "write it again"):
        with np.load(source.random_access(), allow_pickle=False) as archive:
            wanted = (*_PARTS, "format", "vocabulary", "document_names")
            arrays = {name: np.asarray(archive[name]) for name in wanted if name in archive}
        form = arrays.pop("format", np.array(b"csr")).tolist()
    for part in _PARTS:
        if part not in arrays:
            raise source.fault(f"it has no array {part!r}; {_SAVE_AGAIN}", code="missing-array")
    if form not in (b"csr", "csr"):
        raise source.fault(
            f"the matrix is in the format {form!r:.40}; {_SAVE_AGAIN}", code="unsupported-format"
        )
    source.report(1.0)
    return arrays


def _matrix(source: Source, arrays: dict[str, Array]) -> csr_array:
    """Check that the arrays fit together, since SciPy's kernels trust them; return their matrix."""
    from scipy.sparse import csr_array

    for part in _PARTS:
        if arrays[part].dtype.kind not in ("biuf" if part == "data" else "iu") or arrays[part].ndim != 1:
            raise source.fault(f"{part!r} is not a flat array of numbers; {_SAVE_AGAIN}", code="wrong-array")
    data, indices, indptr, shape = (arrays[part] for part in _PARTS)
    # SciPy supports neither 16-bit floats nor unsigned column indices.
    data = data.astype(np.float64 if data.dtype.kind == "f" else data.dtype.newbyteorder("="))
    try:
        n_documents, n_terms = shape.tolist()
        parts = (data, indices.astype(np.int64), indptr.astype(np.int64))
        counts = csr_array(parts, shape=(n_documents, n_terms))
        if indptr[-1] != data.size:
            raise ValueError(f"'indptr' ends at {indptr[-1]}, but 'data' has {data.size} numbers")
        outside = (indices < 0) | (indices >= n_terms)
        if outside.any():
            raise source.fault(
                f"column {indices[outside][0]} is outside the {n_terms:,} columns; {_SAVE_AGAIN}",
                code="term-out-of-range",
            )
        counts.check_format(full_check=True)
    except CorpusError:
        raise
    except (ValueError, IndexError) as error:
        raise source.fault(
            f"'data', 'indices', 'indptr' and 'shape' do not fit together ({error}); {_SAVE_AGAIN}",
            code="wrong-array",
        ) from None
    return counts


def _strings(source: Source, arrays: dict[str, Array], name: str) -> Sequence[str] | None:
    array = arrays.get(name)
    if array is None:
        return None
    if array.dtype.kind != "U" or array.ndim != 1:
        raise source.fault(
            f"{name!r} is not a flat array of strings; write np.array(terms, dtype=str)", code="wrong-array"
        )
    letters = np.ascontiguousarray(array).view(np.uint32)
    bad = letters[(letters > 0x10FFFF) | ((letters >= 0xD800) & (letters < 0xE000))]
    if bad.size:
        raise source.fault(
            f"{name!r} has U+{bad[0]:04X}, which is not a character; write it again", code="not-a-character"
        )
    strings: list[str] = array.tolist()
    return strings
