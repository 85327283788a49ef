"""Files that people try and that are not read here: what they are, and what to do with them.

The content is believed before the name: many a table is called .csv and is a workbook.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import NamedTuple

from franchise.corpus.files import Source


class _Stranger(NamedTuple):
    """What a file is, in words, and what to do."""

    what: str
    advice: str


_WORKBOOK = _Stranger("a spreadsheet", "save the sheet as CSV (UTF-8) and give --text-column")
_WORD = _Stranger("a document of a word processor", "save it as plain text, one document per line or file")
_SLIDES = _Stranger("a presentation", "save its text as plain text, one document per line or file")
_PDF = _Stranger("a PDF", "extract the text first, with pdftotext for instance, one .txt file per document")
_BOOK = _Stranger("an e-book", "extract the text first, one .txt file per document")
_ARCHIVE = _Stranger("an archive of files", "unpack it, and give a file or the folder")
_PACKED = _Stranger("packed in a way that is not read here", "unpack it, or pack it with gzip")
_NPY = _Stranger(
    "an array of NumPy", "load it in Python, np.load(path), and fit that, or save it by scipy.sparse.save_npz"
)
_PICKLE = _Stranger(
    "a Python pickle, which could run any code", "load it in Python if you trust it, and fit what is in it"
)
_ARROW = _Stranger(
    "an Arrow or Feather file", "write it as Parquet, or load it in Python and fit the column of texts"
)
_HDF = _Stranger("an HDF5 file", "if it is AnnData's, give format='h5ad'; else load it in Python")
_R = _Stranger("data of R", "write it with write.csv, or a sparse matrix with Matrix::writeMM")
_STATISTICS = _Stranger("a file of a statistics program", "save it as CSV there and give --text-column")
_DATABASE = _Stranger("an SQLite database", "write the table as CSV: sqlite3 -header -csv FILE 'select ...'")
_JSON = _Stranger(
    "one JSON array", "write one object per line, with jq -c '.[]' for instance, and name it .jsonl"
)
_PAGE = _Stranger("a web page or XML", "extract the text first, one .txt file per document")
_MEDIA = _Stranger("an image, sound or film", "give texts or counts")
_MALLET = _Stranger("a binary file of MALLET", "give the text file that it was imported from")
_TENSORS = _Stranger("a file of tensors", "give texts or counts; of a model, give its folder")
_PROGRAM = _Stranger("a program", "give texts or counts")

_BY_NAME = {
    _WORKBOOK: ".xlsx .xls .xlsm .xlsb .ods .numbers",
    _WORD: ".docx .doc .odt .rtf .pages .wpd",
    _SLIDES: ".pptx .ppt .odp .key",
    _PDF: ".pdf .ps",
    _BOOK: ".epub .mobi .azw3",
    _ARCHIVE: ".zip .tar .tgz .7z .rar",
    _PACKED: ".bz2 .xz .zst .lz4 .br",
    _NPY: ".npy",
    _PICKLE: ".pkl .pickle .joblib .dill",
    _ARROW: ".arrow .feather",
    _HDF: ".h5 .hdf5 .hdf .loom",
    _R: ".rds .rdata .rda",
    _STATISTICS: ".sav .dta .sas7bdat .por",
    _DATABASE: ".sqlite .sqlite3 .db",
    _PAGE: ".html .htm .xml",
    _MEDIA: ".png .jpg .jpeg .gif .svg .tif .tiff .mp3 .mp4 .wav",
    _TENSORS: ".safetensors .pt .pth .onnx",
}
_NAMED = {end: stranger for stranger, ends in _BY_NAME.items() for end in ends.split()}

_OFFICE = ((b"xl/", _WORKBOOK), (b"word/", _WORD), (b"ppt/", _SLIDES))
_OPEN_DOCUMENT = ((b"spreadsheet", _WORKBOOK), (b"text", _WORD), (b"presentation", _SLIDES))

_MAGIC = (
    (b"%PDF-", _PDF),
    (b"%!PS", _PDF),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", _Stranger("a file of an older Microsoft Office", _WORKBOOK.advice)),
    (b"{\\rtf", _WORD),
    (b"7z\xbc\xaf\x27\x1c", _ARCHIVE),
    (b"Rar!\x1a\x07", _ARCHIVE),
    (b"BZh", _PACKED),
    (b"\xfd7zXZ\x00", _PACKED),
    (b"\x28\xb5\x2f\xfd", _PACKED),
    (b"\x93NUMPY", _NPY),
    (b"ARROW1", _ARROW),
    (b"\xff\xff\xff\xff", _ARROW),  # how a stream of it goes on
    (b"\x89HDF\r\n\x1a\n", _HDF),
    (b"RDX2\n", _R),
    (b"RDX3\n", _R),
    (b"X\n\x00\x00\x00", _R),
    (b"$FL2", _STATISTICS),
    (b"$FL3", _STATISTICS),
    (b"<stata_dta>", _STATISTICS),
    (b"SQLite format 3\x00", _DATABASE),
    (b"\x89PNG\r\n", _MEDIA),
    (b"\xff\xd8\xff", _MEDIA),
    (b"GIF8", _MEDIA),
    (b"\xac\xed\x00\x05", _MALLET),  # any object of Java, but who else would send one
    (b"\x7fELF", _PROGRAM),
)
_PICKLED = tuple(b"\x80" + bytes([version]) for version in range(2, 6))


def refuse_stranger(source: Source, form: str | None) -> None:
    """Refuse a file of a known kind that is not read here.

    Parameters
    ----------
    source
        The file, of which nothing has been read.
    form
        The format that was given or that its name shows, None if none.

    Raises
    ------
    CorpusError
        That says what it is and what to do.
    """
    stranger = None
    if form not in ("npz", "parquet", "h5ad"):  # these say themselves what is wrong with a file
        stranger = _by_content(source.head())
    if stranger is None and form is None:  # else what looks like JSON may be a text
        stranger = _markup(source.head()) or _by_name(source)
    if stranger is not None:
        raise source.fault(f"this is {stranger.what}; {stranger.advice}", code="unsupported-format")


def _by_name(source: Source) -> _Stranger | None:
    name = PurePath(source.path or "").name.lower().removesuffix(".gz")
    return _NAMED.get(PurePath(name).suffix)


def _by_content(head: bytes) -> _Stranger | None:
    if head.startswith(b"PK"):
        return _in_zip(head)
    if head.startswith(_PICKLED) and b"." in head:
        return _PICKLE
    if head[257:262] == b"ustar":
        return _ARCHIVE
    return next((stranger for magic, stranger in _MAGIC if head.startswith(magic)), None)


def _markup(head: bytes) -> _Stranger | None:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"["):
        return _JSON
    return _PAGE if start[:14].lower().startswith((b"<!doctype html", b"<html", b"<?xml")) else None


def _in_zip(head: bytes) -> _Stranger | None:
    """Tell what is in a zip file by the names in it; None for arrays, which are read."""
    if b"application/vnd.oasis.opendocument." in head[:200]:
        kind = head.partition(b"opendocument.")[2]
        return next((stranger for name, stranger in _OPEN_DOCUMENT if kind.startswith(name)), _WORD)
    if b"application/epub" in head[:200]:
        return _BOOK
    if b"[Content_Types].xml" in head or b"docProps/" in head or b"_rels/" in head:
        return next((stranger for name, stranger in _OFFICE if name in head), _WORKBOOK)
    return None if b".npy" in head[:200] else _ARCHIVE
