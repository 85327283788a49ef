"""Lines of three numbers, ``document term count`` counted from 1: the body of UCI and Matrix Market files.

Blocks of lines that a regular expression passes go to NumPy at once. Any other block, real numbers among
them, is read line by line, which also says what is wrong and where.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from franchise.corpus.corpus import MAX_WORDS
from franchise.corpus.files import Source
from franchise.corpus.formats.entries import Entries, Gathering, blocks_of_documents

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_WHOLE = re.compile(rb"(?:[ \t]*\d{1,18}[ \t]+\d{1,18}[ \t]+\d{1,18}[ \t\r]*\n)*+")
_REAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)

Block = npt.NDArray[np.int64]


class Sizes(NamedTuple):
    """What the header of the file says that it holds."""

    documents: int
    terms: int
    entries: int


def whole_number(source: Source, field: bytes, number: int, what: str) -> int:
    """Read a number in the file's header."""
    text = field.decode("ascii", "replace")
    if not (text.isascii() and text.isdigit()):
        raise source.fault(f"{text[:40]!r} is not a number; expected {what} there", number, code="bad-line")
    if len(text) > 18 or int(text) > MAX_WORDS:
        raise source.fault(
            f"{text:.40} is too many for {what}, which go up to {MAX_WORDS:,}",
            number,
            code="number-too-large",
        )
    return int(text)


def read_entries(source: Source, sizes: Sizes, number: int) -> Entries:
    """Read entries up to the end of the file, from the line of this number on."""
    gathering = Gathering()
    n_entries = 0
    for first, block in source.blocks(number):
        triples = _quickly(block, sizes)
        if triples is None:
            triples = _carefully(source, block, first, sizes)
        n_entries += len(triples)
        # Numbers within the sizes fit 32 bits; entries of zero words are allowed, and add nothing.
        documents, terms, counts = triples.astype(np.int32).T
        gathering.add(Entries(documents - 1, terms - 1, counts))
    if n_entries != sizes.entries:
        raise source.fault(
            f"the header of the file says {sizes.entries:,} entries, but {n_entries:,} follow; "
            "get the whole file, or correct the number",
            code="entries-mismatch",
        )
    return gathering.joined()


def write_entries(counts: csr_array) -> Iterator[bytes]:
    """Return the lines of a matrix of counts, in pieces."""
    for first, last in blocks_of_documents(counts.indptr):
        ends = counts.indptr[first : last + 1]
        chosen = slice(ends[0], ends[-1])
        documents = np.repeat(np.arange(first + 1, last + 1), np.diff(ends))
        columns = (documents, counts.indices[chosen] + 1, counts.data[chosen])
        lines = [f"{j} {v} {n}\n" for j, v, n in zip(*(column.tolist() for column in columns))]
        yield "".join(lines).encode("ascii")


def _quickly(block: bytes, sizes: Sizes) -> Block | None:
    """Return the triples of a block, None if anything about it is not plain."""
    if not _WHOLE.fullmatch(block):
        return None
    triples = np.fromstring(block, dtype=np.int64, sep=" ").reshape(-1, 3)
    within = (triples <= (sizes.documents, sizes.terms, MAX_WORDS)).all()
    return triples if within and triples[:, :2].all() else None


def _carefully(source: Source, block: bytes, number: int, sizes: Sizes) -> Block:
    triples = []
    for i, line in enumerate(block[:-1].split(b"\n"), start=number):
        fields = line.decode("utf-8", "replace").split()
        if not fields:
            continue
        if len(fields) != 3:
            raise source.fault(
                f"the line has {len(fields)} fields; expected three numbers, 'document term count'",
                i,
                code="bad-line",
            )
        triples.append(
            (
                _id(source, fields[0], i, sizes.documents, "document"),
                _id(source, fields[1], i, sizes.terms, "term"),
                _count(source, fields[2], i),
            )
        )
    return np.array(triples, dtype=np.int64).reshape(-1, 3)


def _id(source: Source, field: str, number: int, size: int, what: str) -> int:
    if not (field.isascii() and field.isdigit()):
        raise source.fault(
            f"{field[:40]!r} is not the number of a {what}; they count from 1", number, code="bad-line"
        )
    value = int(field) if len(field) <= 18 else MAX_WORDS + 1
    if not 1 <= value <= size:
        raise source.fault(
            f"{what} {field:.40} is outside 1 to {size:,}, the range in the header of the file; "
            "correct the line, or the header",
            number,
            code=f"{what}-out-of-range",
        )
    return value


def _count(source: Source, field: str, number: int) -> int:
    if not _REAL.fullmatch(field):
        raise source.fault(
            f"{field[:40]!r} is not a number; counts are whole numbers", number, code="not-a-count"
        )
    value = float(field)
    if value < 0:
        code, complaint = "negative-count", "is negative; counts are 0 or more"
    elif value > MAX_WORDS:
        code, complaint = "count-too-large", f"is too large; counts go up to {MAX_WORDS:,}"
    elif not value.is_integer():
        code, complaint = "fractional-count", "is fractional; give raw counts, not weights or frequencies"
    else:
        return int(value)
    raise source.fault(f"the count {field:.40} {complaint}", number, code=code)
