"""The formats of files, one module each, and the list of them.

A format of texts gives rows (text and name of one document after the other), a format of counts gives a
corpus, and so does Franchise's own. A module knows how its files look; which format a file has is found in
``guess``, and what becomes of rows in ``franchise.corpus.readers``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from franchise.corpus.corpus import Corpus
from franchise.corpus.formats import delimited, h5ad, jsonl, ldac, mallet, mm, npz, own, parquet, txt, uci
from franchise.corpus.formats.columns import Rows


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
        Gives the bytes of a corpus in pieces; None for a format that can only be read.
    """

    description: str
    extensions: tuple[str, ...]
    has_columns: bool = False
    has_names: bool = False
    rows: Callable[..., Rows] | None = None
    counts: Callable[..., Corpus] | None = None
    write: Callable[[Corpus], Iterator[bytes | memoryview]] | None = None


#: Every format by its name.
FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "txt": Format("text, one document per line", (".txt",), rows=txt.rows, write=txt.write),
        "folder": Format("folder of text files (*.txt), one document per file", ()),
        "csv": Format(
            "comma-separated table, texts in one column", (".csv",), has_columns=True, rows=delimited.rows
        ),
        "tsv": Format(
            "tab-separated table, texts in one column",
            (".tsv", ".tab"),
            has_columns=True,
            rows=partial(delimited.rows, delimiter="\t"),
        ),
        "jsonl": Format(
            "JSON lines, one object per document",
            (".jsonl", ".ndjson"),
            has_columns=True,
            rows=jsonl.rows,
            write=jsonl.write,
        ),
        "parquet": Format(
            "Parquet, texts or lists of words in one column",
            (".parquet", ".pq"),
            has_columns=True,
            rows=parquet.rows,
        ),
        "mallet": Format("MALLET's text, 'name label text' per line", (), has_names=True, rows=mallet.rows),
        "ldac": Format(
            "LDA-C counts, 'M term:count ...' per line", (".ldac",), counts=ldac.read, write=ldac.write
        ),
        "uci": Format(
            "UCI bag of words, docword.X.txt with vocab.X.txt", (), counts=uci.read, write=uci.write
        ),
        "mm": Format(
            "Matrix Market counts, documents by terms", (".mtx", ".mm"), counts=mm.read, write=mm.write
        ),
        "npz": Format(
            "SciPy sparse counts (CSR), documents by terms", (".npz",), counts=npz.read, write=npz.write
        ),
        "h5ad": Format("AnnData, cells by genes", (".h5ad",), counts=h5ad.read),
        "franchise": Format(
            "Franchise's own, mapped from disk", (".franchise",), counts=own.read, write=own.write
        ),
    }
)
