"""Matrices in files: SciPy's CSR (``scipy.sparse.save_npz``), documents by terms; AnnData, cells by genes.

Two more arrays, ``vocabulary`` and ``document_names``, are written and, if there, read; SciPy does not mind
them. Arrays are read only when the bytes that their headers promise are there, and never by pickle.

AnnData's file (``.h5ad``) is read through anndata.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from franchise._extras import needed
from franchise.corpus.corpus import Corpus
from franchise.corpus.counts import from_counts
from franchise.corpus.files import Source
from franchise.corpus.formats.entries import check_size, check_width
from franchise.corpus.formats.vocabulary import found_beside, terms_of
from franchise.corpus.other_libraries import from_anndata
from franchise.errors import CorpusError

MAGIC = b"PK\x03\x04"

Array = npt.NDArray[Any]

_SAVE_AGAIN = "write the file again with scipy.sparse.save_npz"

_PARTS = ("data", "indices", "indptr", "shape")

# NumPy gives every string the room of the longest; one very long term must not fill the disk.
_MAX_STRINGS = 2**28


def read_npz(source: Source, vocabulary: Sequence[str] | None) -> Corpus:
    """Read a corpus; a vocabulary that is given takes precedence over the one in the file."""
    from scipy.sparse import csr_array

    arrays = _arrays(source)
    n_documents, n_terms = _checked_shape(source, arrays)
    names = _strings(source, arrays, "document_names")
    if vocabulary is None:
        vocabulary = _strings(source, arrays, "vocabulary")
    if vocabulary is None and (beside := found_beside(source.path)):
        vocabulary = terms_of(beside, source.encoding)
    if vocabulary is None:
        check_size(source, n_terms, len(arrays["data"]), "terms")
    check_width(source, vocabulary, n_documents, n_terms)
    # SciPy knows no 16-bit floats, and no unsigned numbers of columns.
    data = arrays["data"].astype(np.float64) if arrays["data"].dtype.kind == "f" else arrays["data"]
    parts = (data, arrays["indices"].astype(np.int32), arrays["indptr"].astype(np.int64))
    try:
        counts = csr_array(parts, shape=(n_documents, n_terms))
        return from_counts(counts, vocabulary=vocabulary, document_names=names)
    except CorpusError as error:
        raise source.fault(str(error), code=error.code) from None


def fits(strings: Sequence[str]) -> bool:
    """Return whether strings can be an array of the file."""
    longest = max(map(len, strings), default=0)
    return 4 * longest * len(strings) <= _MAX_STRINGS and not any("\0" in text for text in strings)


def write_npz(corpus: Corpus) -> Iterator[bytes]:
    """Return the file; terms and names are in it if they fit."""
    counts = corpus.to_counts()
    arrays: dict[str, Any] = {
        "data": counts.data,
        "indices": counts.indices,
        "indptr": counts.indptr,
        "shape": np.array(counts.shape),
        "format": np.array(b"csr"),  # SciPy asks for it
    }
    for name, strings in (("vocabulary", corpus.vocabulary), ("document_names", corpus.document_names)):
        if fits(strings):
            arrays[name] = np.array(strings, dtype=np.str_)
    file = io.BytesIO()
    np.savez(file, **arrays)
    yield file.getvalue()


def read_h5ad(source: Source, vocabulary: Sequence[str] | None, layer: str | None = None) -> Corpus:
    """Read a corpus; a vocabulary that is given takes the place of the names of the genes."""
    with needed("reading .h5ad", "anndata"):
        import anndata
    try:
        data = anndata.read_h5ad(source.random_access())
    except Exception as error:  # a damaged file fails in a dozen ways
        reason = " ".join(str(error).split())[:200]
        raise source.fault(
            f"not a whole .h5ad file ({reason}); make or fetch it again", code="damaged-file"
        ) from error
    source.report(1.0)
    check_width(source, vocabulary, *data.shape)
    try:
        corpus = from_anndata(data, layer=layer)
        return corpus if vocabulary is None else corpus.with_vocabulary(vocabulary)
    except CorpusError as error:
        raise source.fault(str(error), code=error.code) from None


def _arrays(source: Source) -> dict[str, Array]:
    try:
        with zipfile.ZipFile(source.random_access()) as archive:
            members = {name.removesuffix(".npy"): name for name in archive.namelist()}
            missing = [part for part in _PARTS if part not in members]
            if missing:
                raise source.fault(
                    f"there is no array {missing[0]!r} in it; write it with scipy.sparse.save_npz, as CSR",
                    code="missing-array",
                )
            wanted = [name for name in (*_PARTS, "vocabulary", "document_names") if name in members]
            arrays = {name: _array(archive, members[name]) for name in wanted}
            form = _array(archive, members["format"]).tolist() if "format" in members else b"csr"
    except CorpusError:
        raise
    except Exception as error:  # a damaged archive fails in a dozen ways, most of them not documented
        raise source.fault(
            f"not a whole npz file ({' '.join(str(error).split())[:200]}); write it again",
            code="damaged-file",
        ) from error
    if form not in (b"csr", "csr"):
        raise source.fault(
            f"the matrix is in the format {form!r:.40}; save it as CSR with "
            "scipy.sparse.save_npz(path, counts.tocsr())",
            code="unsupported-format",
        )
    source.report(1.0)
    return arrays


def _array(archive: zipfile.ZipFile, member: str) -> Array:
    """Read an array as NumPy's reader does, which however would first make room for any size claimed."""
    with archive.open(member) as file:
        shape, fortran_order, dtype = _head(file)  # type: ignore[arg-type]
        if dtype.hasobject or dtype.kind not in "biufUS" or dtype.itemsize == 0:
            raise ValueError(f"{member} has dtype {dtype}, neither numbers nor strings")
        content = file.read()
    n_items = 1
    for length in shape:
        n_items *= length
    if len(content) != n_items * dtype.itemsize:
        raise ValueError(f"{member} is cut off")
    flat = np.frombuffer(content, dtype=dtype)
    return flat.astype(dtype.newbyteorder("=")).reshape(shape, order="F" if fortran_order else "C")


def _head(file: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(file)
    raise ValueError(f"NumPy's file version {version} is not known")


def _checked_shape(source: Source, arrays: dict[str, Array]) -> tuple[int, int]:
    """Return the numbers of rows and columns; SciPy's kernels trust what passes here."""
    for part in _PARTS[1:]:
        if arrays[part].dtype.kind not in "iu" or arrays[part].ndim != 1:
            raise source.fault(
                f"{part!r} is not a flat array of whole numbers; {_SAVE_AGAIN}", code="wrong-array"
            )
    data, indices, indptr, shape = (arrays[part] for part in _PARTS)
    if data.ndim != 1 or data.dtype.kind not in "biuf":
        raise source.fault(f"'data' is not a flat array of numbers; {_SAVE_AGAIN}", code="wrong-array")
    if len(shape) != 2 or min(shape) < 0:
        raise source.fault(
            f"the shape is {shape.tolist()!s:.80}; expected documents by terms", code="wrong-array"
        )
    n_documents, n_terms = (int(size) for size in shape)
    if len(indptr) != n_documents + 1:
        raise source.fault(
            f"{n_documents:,} rows, but 'indptr' has {len(indptr):,} numbers; {_SAVE_AGAIN}",
            code="wrong-array",
        )
    if len(indices) != len(data) or indptr[0] != 0 or indptr[-1] != len(data):
        raise source.fault(
            f"'data', 'indices' and 'indptr' do not fit together; {_SAVE_AGAIN}", code="wrong-array"
        )
    if np.any(indptr[1:] < indptr[:-1]):
        raise source.fault(f"'indptr' decreases; {_SAVE_AGAIN}", code="wrong-array")
    outside = (indices < 0) | (indices >= n_terms)
    if outside.any():
        raise source.fault(
            f"column {indices[outside][0]} is outside the {n_terms:,} columns; {_SAVE_AGAIN}",
            code="term-out-of-range",
        )
    return n_documents, n_terms


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
