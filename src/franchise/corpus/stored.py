"""A corpus as arrays and facts, and their file (``corpus.safetensors`` in the folder of a model).

Cells stay cells, and a large file is mapped, so only the parts in use take memory.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from franchise._arrays import Array, CellArrays
from franchise._files import Facts, pieces_of_arrays, read_arrays
from franchise._version import VERSION, check_version
from franchise.corpus.corpus import Corpus
from franchise.corpus.downsample import Downsampling
from franchise.corpus.files import Source
from franchise.corpus.large_arrays import PackedTexts, packed, unpacked
from franchise.corpus.metadata import packed_metadata, rows_of, unpacked_metadata
from franchise.corpus.text_options import TextOptions
from franchise.errors import CorpusError, ModelError, SettingsError

if TYPE_CHECKING:
    import pandas as pd

_KIND = "corpus"

# Files with this many bytes or more are mapped. Smaller files take little memory, and some systems cannot
# remove a mapped file.
LARGE = 2**26


class About(NamedTuple):
    """Names, texts and metadata of documents, if there are any."""

    names: Sequence[str] | None = None
    texts: Sequence[str] | None = None
    metadata: pd.DataFrame | None = None

    def rows(self, first: int, last: int) -> About:
        """Return the names, texts and metadata of documents `first` to `last - 1`."""
        names, texts = (None if part is None else part[first:last] for part in self[:2])
        return About(names, texts, rows_of(self.metadata, slice(first, last)))

    def packed(self) -> tuple[dict[str, Array], Facts]:
        """Return this as arrays and facts."""
        arrays: dict[str, Array] = {}
        facts: Facts = {"metadata": None}
        if self.names is not None:
            arrays |= packed("names", self.names)
        if self.texts is not None:
            arrays |= packed("texts", self.texts)
        if self.metadata is not None:
            columns, facts["metadata"] = packed_metadata(self.metadata)
            arrays |= columns
        return arrays, facts

    @classmethod
    def unpacked(cls, arrays: dict[str, Array], facts: Facts) -> About:
        """Return the object from the arrays of `packed`; texts are read when needed."""
        texts = PackedTexts(arrays["texts"], arrays["texts.end"]) if "texts" in arrays else None
        names = tuple(unpacked("names", arrays)) if "names" in arrays else None
        return cls(names, texts, unpacked_metadata(arrays, facts.get("metadata")))


def facts_of(text_options: TextOptions | None, downsampling: Downsampling | None) -> Facts:
    """Return text options and downsampling for JSON."""
    return {
        "text_options": text_options.as_dict() if text_options else None,
        "downsampling": downsampling._asdict() if downsampling else None,
    }


def origin_of(facts: Facts) -> dict[str, Any]:
    """Return text options and downsampling from the facts of `facts_of`."""
    options, downsampling = facts["text_options"], facts.get("downsampling")
    return {
        "text_options": TextOptions.from_dict(options) if options else None,
        "downsampling": Downsampling(**downsampling) if downsampling else None,
    }


def content_of(corpus: Corpus) -> Iterator[bytes | memoryview]:
    """Yield the bytes of the file of a corpus in blocks."""
    arrays: dict[str, Array] = {"doc_ptr": corpus.doc_ptr}
    if corpus.keeps_cells:
        cells = corpus.cells
        arrays |= {"cell_ptr": cells.cell_ptr, "terms": cells.terms, "counts": cells.counts}
    else:
        arrays["x"] = corpus.x
    about, facts = About(corpus.document_names, corpus.texts, corpus.metadata).packed()
    arrays |= packed("vocabulary", corpus.vocabulary) | about
    facts |= {"version": VERSION, **facts_of(corpus.text_options, corpus.downsampling)}
    if corpus.downsampling is None:
        del facts["downsampling"]
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
            f"{path}: the file is not a corpus ({error}); restore it from a copy", code="damaged-file"
        ) from error


def _corpus_of(arrays: dict[str, Array], facts: Facts) -> Corpus:
    vocabulary, (names, texts, metadata) = unpacked("vocabulary", arrays), About.unpacked(arrays, facts)
    others: dict[str, Any] = {"texts": texts, "metadata": metadata, **origin_of(facts)}
    if "x" in arrays:
        return Corpus(arrays["x"], arrays["doc_ptr"], vocabulary, names, **others)
    doc_ptr, cell_ptr, terms, counts = (arrays[name] for name in ("doc_ptr", "cell_ptr", "terms", "counts"))
    cells = CellArrays(doc_ptr, cell_ptr, terms, counts, len(vocabulary))
    return Corpus.from_cells(cells, vocabulary, names, **others)


# ---------------------------------------------------------------- as a format of files

# After the length of the header, in eight bytes.
_HEAD = b'{"__metadata__":{"franchise":'


def looks_native(head: bytes) -> bool:
    """Return whether the start of a file is in this format."""
    return head[8 : 8 + len(_HEAD)] == _HEAD


def read_native(source: Source, vocabulary: Sequence[str] | None) -> Corpus:
    """Map the corpus of a file; a given vocabulary replaces its own."""
    path = source.plain_path()
    try:
        if path is not None:
            corpus = read_stored(path)
        else:  # gzipped, or from a pipe: copy it to a temporary file, which stays mapped after its removal
            with tempfile.NamedTemporaryFile(prefix="franchise-") as file:
                shutil.copyfileobj(source.stream, file)
                file.flush()
                path = Path(file.name)
                corpus = read_stored(path)
    except ModelError as error:
        reason = str(error).removeprefix(f"{path}: ").rpartition(";")[0]
        raise source.fault(f"{reason}; write it again with `franchise convert`", code=error.code) from error
    source.report(1.0)
    try:
        return corpus if vocabulary is None else corpus.with_vocabulary(vocabulary)
    except CorpusError as error:
        raise CorpusError(f"the vocabulary does not fit: {error}", code=error.code) from None
