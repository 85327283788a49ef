"""Which format a file has: by the end of its name, and where that says nothing, by how it starts."""

from __future__ import annotations

from pathlib import PurePath

from franchise.corpus.files import Source
from franchise.corpus.formats import FORMATS, ldac, mm, npz, own, parquet, uci


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


def by_content(source: Source) -> str | None:
    """Return the format that the start of a file shows, None if none; plain text shows nothing."""
    head = source.head()
    if head.startswith(npz.MAGIC):
        return "npz"
    if head.startswith(parquet.MAGIC):
        return "parquet"
    if own.looks_like(head):
        return "franchise"
    if mm.looks_like(head):
        return "mm"
    if head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return "jsonl"
    # The last line of the head may be cut.
    lines = head.split(b"\n") if len(head) < source.HEAD else head.split(b"\n")[:-1]
    if uci.looks_like(lines):
        return "uci"
    return "ldac" if ldac.looks_like(lines) else None
