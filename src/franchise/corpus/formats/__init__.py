"""File formats: a list of them, recognition of the format of a file, and writing.

A format of texts yields rows (text and name of one document at a time). A format of counts returns a corpus,
and so does Franchise's own. The suffix of a file decides its format, or else its first bytes. Files that
cannot be read are recognised by content before the suffix, because many workbooks are named .csv. Rows are
processed in ``franchise.corpus.reading``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import NamedTuple

from franchise.corpus.corpus import Corpus
from franchise.corpus.files import Source, StrPath, write_atomically
from franchise.corpus.formats import coordinates, delimited, jsonl, ldac, matrices, parquet
from franchise.corpus.formats.columns import Rows
from franchise.corpus.formats.plain_text import mallet_rows, txt_rows, write_txt
from franchise.corpus.formats.vocabulary import beside, lines_of
from franchise.corpus.stored import content_of, looks_native, read_native
from franchise.errors import SettingsError


class Format(NamedTuple):
    """A file format. It reads either rows of texts or counts, and can be written if it has `write`."""

    description: str  # in one line
    extensions: tuple[str, ...] = ()  # suffixes of file names
    has_columns: bool = False  # the column with the texts must be given
    has_names: bool = False  # every document has a name
    rows: Callable[..., Rows] | None = None  # for CSV and TSV, also takes a delimiter
    counts: Callable[..., Corpus] | None = None  # takes the terms, if known; for AnnData, also a layer
    write: Callable[[Corpus], Iterator[bytes | memoryview]] | None = None  # in blocks
    looks_like: Callable[[bytes], bool] | None = None  # recognises the start of a file, if it is typical


def _starts(magic: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(magic)


_ZIPPED, _BOM = b"PK\x03\x04", b"\xef\xbb\xbf"
_table = partial(Format, has_columns=True)
_tabs = partial(delimited.rows, delimiter="\t")
# fmt: off
#: All formats by name.
FORMATS: Mapping[str, Format] = MappingProxyType({
    "txt": Format("text, one document per line", (".txt",), rows=txt_rows, write=write_txt),
    "folder": Format("folder of text files (*.txt), one document per file"),
    "csv": _table("comma-separated table, texts in one column or counts", (".csv",), rows=delimited.rows),
    "tsv": _table("tab-separated table, texts in one column or counts", (".tsv", ".tab"), rows=_tabs),
    "jsonl": _table("JSON lines, one object per document", (".jsonl", ".ndjson"), rows=jsonl.rows,
                    write=jsonl.write, looks_like=lambda head: _text(head).startswith(b"{")),
    "parquet": _table("Parquet, texts or lists of words in one column, or counts", (".parquet", ".pq"),
                      rows=parquet.rows, looks_like=_starts(parquet.MAGIC)),
    "mallet": Format("MALLET's text, 'name label text' per line", has_names=True, rows=mallet_rows),
    "ldac": Format("LDA-C counts, 'M term:count ...' per line", (".ldac",), counts=ldac.read,
                   write=ldac.write, looks_like=ldac.looks_like),
    "uci": Format("UCI bag of words, docword.X.txt with vocab.X.txt", counts=coordinates.read_uci,
                  write=coordinates.write_uci, looks_like=coordinates.looks_like_uci),
    "mm": Format("Matrix Market counts, documents by terms", (".mtx", ".mm"), counts=coordinates.read_mm,
                 write=coordinates.write_mm, looks_like=coordinates.looks_like_mm),
    "npz": Format("SciPy sparse counts (CSR), documents by terms", (".npz",), counts=matrices.read_npz,
                  write=matrices.write_npz, looks_like=_starts(_ZIPPED)),
    "h5ad": Format("AnnData, cells by genes", (".h5ad",), counts=matrices.read_h5ad),
    "franchise": Format("Franchise's own, mapped from disk", (".franchise",), counts=read_native,
                        write=content_of, looks_like=looks_native),
})
# fmt: on


def known_format(form: str) -> Format:
    """Return a format by its name; refuse an unknown name."""
    if form not in FORMATS:
        raise SettingsError(
            f"format={form!r}: no such format; give one of {', '.join(FORMATS)}",
            code="unknown-format",
        )
    return FORMATS[form]


# ---------------------------------------------------------------- recognition

_SEE_PYTHON = "load it in Python, and fit its contents"
_AS_CSV = "save it as CSV and give --text-column"
_AS_TEXT = "extract the text first, one .txt file per document"
_ARCHIVE = ("an archive of files", "unpack it")
_ZIP = ("an archive, a workbook or a document", "save a table as CSV, unpack texts and give the folder")
_JSON = ("one JSON array", "write one object per line, with jq -c '.[]' for instance, and name it .jsonl")
_PICKLE = "a Python pickle, which could run any code"
_R = "a data file of R or another statistics program"
_MALLET = "give the text file that it was imported from"

# The kind of file, the advice, its suffixes, and its first bytes (alternatives separated by "|").
_UNSUPPORTED = (
    ("a spreadsheet", _AS_CSV, ".xlsx .xls .xlsm .xlsb .ods .numbers", b""),
    ("a document, book or presentation", _AS_TEXT, ".docx .doc .odt .rtf .pptx .odp .epub", b"{\\rtf"),
    ("a file of an old Microsoft Office version", "save it as CSV or plain text", "", b"\xd0\xcf\x11\xe0"),
    ("a PDF", _AS_TEXT, ".pdf .ps", b"%PDF-|%!PS"),
    (*_ARCHIVE, ".zip .tar .tgz .7z .rar", b"7z\xbc\xaf|Rar!\x1a"),
    (
        "compressed, but not with gzip",
        "unpack it",
        ".bz2 .xz .zst .lz4 .br",
        b"BZh|\xfd7zXZ\0|(\xb5/\xfd",
    ),
    ("a NumPy array", _SEE_PYTHON, ".npy", b"\x93NUMPY"),
    (_PICKLE, _SEE_PYTHON, ".pkl .pickle .joblib", b"\x80\2|\x80\3|\x80\4|\x80\5"),
    ("an Arrow or Feather file", "write it as Parquet", ".arrow .feather", b"ARROW1|\xff\xff\xff\xff"),
    ("an HDF5 file", "if it is AnnData's, give format='h5ad'", ".h5 .hdf5 .loom", b"\x89HDF\r\n"),
    (_R, _AS_CSV, ".rds .rdata .rda .sav .dta .sas7bdat", b"RDX2\n|RDX3\n|X\n\0\0\0|$FL2|$FL3|<stata_dta>"),
    ("an SQLite database", "write the table as CSV", ".sqlite .sqlite3 .db", b"SQLite format 3\0"),
    ("a web page or XML", _AS_TEXT, ".html .htm .xml", b""),
    ("an image, sound or film", "give texts", ".png .jpg .jpeg .gif .mp3 .mp4", b"\x89PNG|\xff\xd8\xff"),
    ("a binary MALLET file", _MALLET, "", b"\xac\xed\0\5"),
    ("a file of tensors", "for a model, give its folder", ".safetensors .pt .pth", b""),
)


def format_of(source: Source, given: str | None) -> str:
    """Return the given format, or the format by the name or content of a file."""
    form = given or (by_name(source.path) if source.path is not None else None)
    unsupported = _unsupported(source, form)
    if unsupported is not None:
        raise source.fault(f"this is {unsupported[0]}; {unsupported[1]}", code="unsupported-format")
    if form is None:
        shown = (name for name, one in FORMATS.items() if one.looks_like and one.looks_like(source.head()))
        form = next(shown, None)
    if form is None:
        known = ", ".join(name for name in FORMATS if name != "folder")
        raise source.fault(
            "neither its name nor its content shows the format; give format (--input-format), one of "
            f"{known}",
            code="unknown-format",
        )
    return form


def by_name(path: PurePath) -> str | None:
    """Return the format by the name of a file, or None.

    Examples
    --------
    >>> by_name(PurePath("docs.CSV.gz")), by_name(PurePath("docword.nips.txt")), by_name(PurePath("ap.dat"))
    ('csv', 'uci', None)
    """
    name = path.name.lower().removesuffix(".gz")
    if name.startswith("docword."):
        return "uci"
    suffix = PurePath(name).suffix
    return next((form for form, facts in FORMATS.items() if suffix in facts.extensions), None)


def _unsupported(source: Source, form: str | None) -> tuple[str, str] | None:
    """Return the kind of a file that cannot be read, with advice; None for other files."""
    head = source.head()
    if form not in ("npz", "parquet", "h5ad"):  # their readers have better messages
        if head.startswith(_ZIPPED) and b".npy" not in head[:200]:
            return _ZIP
        if head[257:262] == b"ustar":
            return _ARCHIVE
        for what, advice, _, starts in _UNSUPPORTED:
            if starts and head.startswith(tuple(starts.split(b"|"))):
                return what, advice
    if form is not None:
        return None  # a text may look like JSON
    start = _text(head)[:14].lower()
    if start.startswith(b"["):
        return _JSON
    suffix = PurePath(PurePath(source.path or "").name.lower().removesuffix(".gz")).suffix
    is_page = start.startswith((b"<!doctype html", b"<html", b"<?xml"))
    for what, advice, ends, _ in _UNSUPPORTED:
        if (".xml" if is_page else suffix) in ends.split():
            return what, advice
    return None


def _text(head: bytes) -> bytes:
    return head.removeprefix(_BOM).lstrip()


# ---------------------------------------------------------------- writing


def write_corpus(
    corpus: Corpus, path: StrPath, *, format: str | None = None, vocabulary: StrPath | None = None
) -> list[Path]:
    """Write a corpus to a file, whole or not at all.

    Parameters
    ----------
    corpus
        The corpus. Formats of counts (``ldac``, ``uci``, ``mm``, ``npz``) lose the order of words within a
        document. ``txt`` and ``jsonl`` have the words in order, joined by blanks, and lose terms that no word
        uses. ``jsonl`` and ``npz`` keep names of documents, ``jsonl`` keeps metadata, and ``franchise`` keeps
        everything.
    path
        The file. It is gzipped if the name ends in ``.gz``.
    format
        One of :data:`~franchise.corpus.FORMATS`; by default, the suffix of the name decides.
    vocabulary
        The file for the terms, one per line. By default, formats that cannot hold terms get this file next to
        the corpus, where ``read_corpus`` looks for it.

    Returns
    -------
    list of Path
        The written files.

    Raises
    ------
    CorpusError
        If a term cannot be written in the format, or the file cannot be written at all.
    """
    target = Path(path)
    form = format or by_name(target)
    writable = [name for name, facts in FORMATS.items() if facts.write is not None]
    if form is None:
        raise SettingsError(
            f"{path}: the name does not show the format; give format (--output-format), "
            f"one of {', '.join(writable)}",
            code="unknown-format",
        )
    write = known_format(form).write
    if write is None:
        raise SettingsError(
            f"format={form!r} can be read but not written; give one of {', '.join(writable)}",
            code="unsupported-format",
        )
    has_place = form == "franchise" or (form == "npz" and matrices.fits(corpus.vocabulary))
    if vocabulary is None and FORMATS[form].counts is not None and not has_place:
        vocabulary = beside(target)
    written = []
    if vocabulary is not None:
        written.append(write_atomically(vocabulary, lines_of(corpus.vocabulary)))
    return [write_atomically(target, write(corpus)), *written]
