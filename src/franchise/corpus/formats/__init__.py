"""The formats of files, and the list of them.

A format of texts gives rows (text and name of one document after the other), a format of counts gives a
corpus, and so does Franchise's own. A module knows how its files look; which format a file has is found in
``detect``, and what becomes of rows in ``franchise.corpus.reading``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from franchise.corpus.corpus import Corpus
from franchise.corpus.formats import delimited, jsonl, ldac, native, parquet
from franchise.corpus.formats.columns import Rows
from franchise.corpus.formats.coordinates import read_mm, read_uci, write_mm, write_uci
from franchise.corpus.formats.matrices import read_h5ad, read_npz, write_npz
from franchise.corpus.formats.plain_text import mallet_rows, txt_rows, write_txt
from franchise.errors import SettingsError


class Format(NamedTuple):
    """A format of files.

    Attributes
    ----------
    description
        What it is, in one line.
    extensions
        How names of such files end.
    has_columns
        Whether the column that holds the texts must be given.
    has_names
        Whether every document has a name.
    rows
        Reads texts; None for a format of counts. Those of tables take a delimiter, too.
    counts
        Reads counts, with the terms if they are known; None for a format of texts. That of AnnData takes a
        layer, too.
    write
        Gives the bytes of a corpus in blocks; None for a format that can only be read.
    """

    description: str
    extensions: tuple[str, ...] = ()
    has_columns: bool = False
    has_names: bool = False
    rows: Callable[..., Rows] | None = None
    counts: Callable[..., Corpus] | None = None
    write: Callable[[Corpus], Iterator[bytes | memoryview]] | None = None


_TABLE = partial(Format, has_columns=True)

#: Every format by its name.
FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "txt": Format("text, one document per line", (".txt",), rows=txt_rows, write=write_txt),
        "folder": Format("folder of text files (*.txt), one document per file"),
        "csv": _TABLE("comma-separated table, texts in one column or counts", (".csv",), rows=delimited.rows),
        "tsv": _TABLE(
            "tab-separated table, texts in one column or counts",
            (".tsv", ".tab"),
            rows=partial(delimited.rows, delimiter="\t"),
        ),
        "jsonl": _TABLE(
            "JSON lines, one object per document", (".jsonl", ".ndjson"), rows=jsonl.rows, write=jsonl.write
        ),
        "parquet": _TABLE(
            "Parquet, texts or lists of words in one column, or counts",
            (".parquet", ".pq"),
            rows=parquet.rows,
        ),
        "mallet": Format("MALLET's text, 'name label text' per line", has_names=True, rows=mallet_rows),
        "ldac": Format(
            "LDA-C counts, 'M term:count ...' per line", (".ldac",), counts=ldac.read, write=ldac.write
        ),
        "uci": Format("UCI bag of words, docword.X.txt with vocab.X.txt", counts=read_uci, write=write_uci),
        "mm": Format(
            "Matrix Market counts, documents by terms", (".mtx", ".mm"), counts=read_mm, write=write_mm
        ),
        "npz": Format(
            "SciPy sparse counts (CSR), documents by terms", (".npz",), counts=read_npz, write=write_npz
        ),
        "h5ad": Format("AnnData, cells by genes", (".h5ad",), counts=read_h5ad),
        "franchise": Format(
            "Franchise's own, mapped from disk", (".franchise",), counts=native.read, write=native.write
        ),
    }
)


def known_format(form: str) -> Format:
    """Return a format by its name, or say which there are."""
    if form not in FORMATS:
        raise SettingsError(
            f"format={form!r}: there is no such format; give one of {', '.join(FORMATS)}",
            code="unknown-format",
        )
    return FORMATS[form]
