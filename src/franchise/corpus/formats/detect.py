"""Which format a file has: by the end of its name, and where that says nothing, by how it starts.

Of files that cannot be read, it is said what they are. Their content is believed before their name: many a
table is called .csv and is a workbook.
"""

from __future__ import annotations

from pathlib import PurePath

from franchise.corpus.files import Source
from franchise.corpus.formats import FORMATS, coordinates, ldac, matrices, native, parquet

_SEE_PYTHON = "load it in Python, and fit what is in it"
_AS_CSV = "save it as CSV and give --text-column"
_AS_TEXT = "extract the text first, one .txt file per document"

_ARCHIVE = ("an archive of files", "unpack it")
_ZIP = ("an archive, a workbook or a document", "save a table as CSV, unpack texts and give the folder")
_JSON = ("one JSON array", "write one object per line, with jq -c '.[]' for instance, and name it .jsonl")

# What it is, what to do, how names of such files end, how the files start.
_UNSUPPORTED: tuple[tuple[str, str, str, tuple[bytes, ...]], ...] = (
    ("a spreadsheet", _AS_CSV, ".xlsx .xls .xlsm .xlsb .ods .numbers", ()),
    ("a document, book or presentation", _AS_TEXT, ".docx .doc .odt .rtf .pptx .odp .epub", (b"{\\rtf",)),
    ("a file of an older Microsoft Office", "save it as CSV or plain text", "", (b"\xd0\xcf\x11\xe0",)),
    ("a PDF", _AS_TEXT, ".pdf .ps", (b"%PDF-", b"%!PS")),
    (*_ARCHIVE, ".zip .tar .tgz .7z .rar", (b"7z\xbc\xaf", b"Rar!\x1a")),
    (
        "compressed, but not by gzip",
        "unpack it",
        ".bz2 .xz .zst .lz4 .br",
        (b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"),
    ),
    ("an array of NumPy", _SEE_PYTHON, ".npy", (b"\x93NUMPY",)),
    (
        "a Python pickle, which could run any code",
        _SEE_PYTHON,
        ".pkl .pickle .joblib",
        tuple(b"\x80" + bytes([version]) for version in range(2, 6)),
    ),
    ("an Arrow or Feather file", "write it as Parquet", ".arrow .feather", (b"ARROW1", b"\xff\xff\xff\xff")),
    ("an HDF5 file", "if it is AnnData's, give format='h5ad'", ".h5 .hdf5 .loom", (b"\x89HDF\r\n",)),
    (
        "data of R or of a statistics program",
        _AS_CSV,
        ".rds .rdata .rda .sav .dta .sas7bdat",
        (b"RDX2\n", b"RDX3\n", b"X\n\x00\x00\x00", b"$FL2", b"$FL3", b"<stata_dta>"),
    ),
    ("an SQLite database", "write the table as CSV", ".sqlite .sqlite3 .db", (b"SQLite format 3\x00",)),
    ("a web page or XML", _AS_TEXT, ".html .htm .xml", ()),
    (
        "an image, sound or film",
        "give texts",
        ".png .jpg .jpeg .gif .mp3 .mp4",
        (b"\x89PNG", b"\xff\xd8\xff"),
    ),
    (
        "a binary file of MALLET",
        "give the text file that it was imported from",
        "",
        (b"\xac\xed\0\5",),
    ),
    ("a file of tensors", "of a model, give its folder", ".safetensors .pt .pth", ()),
)


def format_of(source: Source, given: str | None) -> str:
    """Return the format that was given, or that a file's name or content shows.

    Raises
    ------
    CorpusError
        If there is none; if it is a file that people have and that cannot be read, the error says so.
    """
    form = given or (by_name(source.path) if source.path is not None else None)
    unsupported = _unsupported(source, form)
    if unsupported is not None:
        raise source.fault(f"this is {unsupported[0]}; {unsupported[1]}", code="unsupported-format")
    form = form or _by_content(source)
    if form is None:
        known = ", ".join(name for name in FORMATS if name != "folder")
        raise source.fault(
            "neither its name nor its content shows the format; give format (--input-format), one of "
            f"{known}",
            code="unknown-format",
        )
    return form


def by_name(path: PurePath) -> str | None:
    """Return the format that a file's name shows, None if it shows none.

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


def _by_content(source: Source) -> str | None:
    """Return the format that the start of a file shows, None if none; plain text shows nothing."""
    head = source.head()
    if head.startswith(matrices.MAGIC):
        return "npz"
    if head.startswith(parquet.MAGIC):
        return "parquet"
    if native.looks_like(head):
        return "franchise"
    if coordinates.looks_like_mm(head):
        return "mm"
    if head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return "jsonl"
    # The last line of the head may be cut.
    lines = head.split(b"\n") if len(head) < source.HEAD else head.split(b"\n")[:-1]
    if coordinates.looks_like_uci(lines):
        return "uci"
    return "ldac" if ldac.looks_like(lines) else None


def _unsupported(source: Source, form: str | None) -> tuple[str, str] | None:
    """Return what a file is that cannot be read, and what to do; None of all others."""
    head = source.head()
    if form not in ("npz", "parquet", "h5ad"):  # these say themselves what is wrong with a file
        if head.startswith(matrices.MAGIC) and b".npy" not in head[:200]:
            return _ZIP
        if head[257:262] == b"ustar":
            return _ARCHIVE
        for what, advice, _, starts in _UNSUPPORTED:
            if head.startswith(starts):
                return what, advice
    if form is not None:
        return None  # what looks like JSON may be a text
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:14].lower()
    if start.startswith(b"["):
        return _JSON
    suffix = PurePath(PurePath(source.path or "").name.lower().removesuffix(".gz")).suffix
    is_page = start.startswith((b"<!doctype html", b"<html", b"<?xml"))
    for what, advice, ends, _ in _UNSUPPORTED:
        if (".xml" if is_page else suffix) in ends.split():
            return what, advice
    return None
