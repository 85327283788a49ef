"""A corpus as arrays and facts, and as the file of these (``corpus.safetensors`` in the folder of a model).

What is kept as cells stays cells, and a large file is mapped, not read, so a corpus costs what is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from franchise._files import Array, Facts, pieces_of_arrays, read_arrays
from franchise._version import VERSION, check_version
from franchise.corpus.cells import CellArrays
from franchise.corpus.corpus import Corpus
from franchise.corpus.downsample import Downsampling
from franchise.corpus.metadata import packed_metadata, unpacked_metadata
from franchise.corpus.strings import PackedTexts, packed, unpacked
from franchise.corpus.vectorize import TextOptions
from franchise.errors import CorpusError, ModelError, SettingsError

_KIND = "corpus"

# Bytes from which on a file is mapped. Smaller ones cost little, and a file that is mapped cannot be removed
# on every system.
LARGE = 2**26


def pieces_of(corpus: Corpus) -> Iterator[bytes | memoryview]:
    """Return the bytes of a corpus' file, in pieces."""
    arrays: dict[str, Array] = {"doc_ptr": corpus.doc_ptr}
    if corpus.keeps_cells:
        cells = corpus.cells
        arrays |= {"cell_ptr": cells.cell_ptr, "terms": cells.terms, "counts": cells.counts}
    else:
        arrays["x"] = corpus.x
    arrays |= packed("vocabulary", corpus.vocabulary) | packed("names", corpus.document_names)
    if corpus.texts is not None:
        arrays |= packed("texts", corpus.texts)
    options = corpus.text_options.as_dict() if corpus.text_options else None
    facts: Facts = {"version": VERSION, "text_options": options}
    if corpus.downsampling is not None:
        facts["downsampling"] = corpus.downsampling._asdict()
    if corpus.metadata is not None:
        columns, facts["metadata"] = packed_metadata(corpus.metadata)
        arrays |= columns
    return pieces_of_arrays(_KIND, arrays, facts)


def read_stored(path: Path) -> Corpus:
    """Return the corpus in a file; a large one is mapped.

    Raises
    ------
    ModelError
        If the file is missing, damaged, of another kind or version, or does not hold a corpus.
    """
    arrays, facts = read_arrays(path, _KIND, mapped=path.is_file() and path.stat().st_size >= LARGE)
    check_version(path, facts)
    try:
        return _corpus_of(arrays, facts)
    except (KeyError, IndexError, TypeError, ValueError, CorpusError, SettingsError) as error:
        raise ModelError(
            f"{path}: the file does not hold a corpus ({error}); restore it from a copy", code="damaged-file"
        ) from error


def _corpus_of(arrays: dict[str, Array], facts: Facts) -> Corpus:
    vocabulary, names = unpacked("vocabulary", arrays), unpacked("names", arrays)
    options, downsampling = facts["text_options"], facts.get("downsampling")
    about: dict[str, Any] = {
        "texts": texts_in(arrays) if "texts" in arrays else None,
        "text_options": TextOptions.from_dict(options) if options else None,
        "metadata": unpacked_metadata(arrays, facts.get("metadata")),
        "downsampling": Downsampling(**downsampling) if downsampling else None,
    }
    if "x" in arrays:
        return Corpus(arrays["x"], arrays["doc_ptr"], vocabulary, names, **about)
    doc_ptr, cell_ptr, terms, counts = (arrays[name] for name in ("doc_ptr", "cell_ptr", "terms", "counts"))
    cells = CellArrays(doc_ptr, cell_ptr, terms, counts, len(vocabulary))
    return Corpus.from_cells(cells, vocabulary, names, **about)


def texts_in(arrays: dict[str, Array]) -> Sequence[str]:
    """Return the texts; many are read when they are asked for."""
    if arrays["texts"].nbytes < LARGE:
        return unpacked("texts", arrays)
    return PackedTexts(arrays["texts"], arrays["texts.end"])
