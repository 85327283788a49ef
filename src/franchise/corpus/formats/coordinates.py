"""Counts as lines ``document term count``, with ids from 1: UCI's files and Matrix Market.

UCI's ``docword.X.txt`` begins with the numbers of documents, terms and entries, one line each; the terms are
in ``vocab.X.txt``. Matrix Market has a header, comments, and a line of sizes; rows are documents, columns are
terms. SciPy's reader is not used, because it trusts any sizes in the header and its errors name no line.

Blocks of lines that match a regular expression go to NumPy at once. Other blocks, such as those with real
numbers, are read line by line, for precise messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from franchise.corpus.checks import MAX_WORDS, numbered
from franchise.corpus.corpus import Corpus
from franchise.corpus.counts import corpus_of_entries
from franchise.corpus.files import Source
from franchise.corpus.large_arrays import Growing, blocks, blocks_of_documents, let_go

if TYPE_CHECKING:
    pass

# ---------------------------------------------------------------- entries

Ints = npt.NDArray[np.int32]

# A single wrong, huge number would create that many names. Feature hashing, with 2**20 columns, stays below.
MAX_UNUSED = 2_000_000
# Writers hold only a part of their text at once.
AT_ONCE = 100_000

REAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)

Complaint = tuple[str, str]  # code and message


class Entries(NamedTuple):
    """Documents and terms, both numbered from 0, and counts: three arrays of the same length."""

    documents: Ints
    terms: Ints
    counts: Ints


def joined(blocks: Iterable[Entries]) -> Entries:
    """Join blocks of entries; large arrays are in files."""
    columns = [Growing() for _ in Entries._fields]
    for block in blocks:
        for column, values in zip(columns, block):
            column.extend(values)
    return Entries(*(column.array() for column in columns))


def corpus_of(
    source: Source, entries: Entries, n_documents: int, n_terms: int, vocabulary: Sequence[str] | None
) -> Corpus:
    """Make a corpus of entries in any order; by default, terms are named by number."""
    documents, terms, counts = entries
    check_size(source, n_documents, len(counts), "documents")
    if vocabulary is None:
        check_size(source, n_terms, len(counts), "terms")
    names = numbered(n_terms) if vocabulary is None else vocabulary
    # In blocks; the first number of a block is compared with the last number of the previous block.
    parts = (documents[max(0, block.start - 1) : block.stop] for block in blocks(len(documents)))
    if any(np.any(part[1:] < part[:-1]) for part in parts):
        order = np.lexsort((terms, documents))
        documents, terms, counts = documents[order], terms[order], counts[order]
    let_go(*entries)
    return corpus_of_entries(documents, terms, counts, n_documents, names)


def check_size(source: Source, size: int, n_entries: int, what: str) -> None:
    """Refuse far more documents or terms than the entries can fill."""
    if size > n_entries + MAX_UNUSED:
        advice = "correct the file" if what == "documents" else "give the vocabulary if that is right"
        raise source.fault(
            f"{size:,} {what} for {n_entries:,} counts are too many; {advice}", code="implausible-size"
        )


def check_width(source: Source, vocabulary: Sequence[str] | None, n_documents: int, n_terms: int) -> None:
    """Refuse a vocabulary of another size than in the file."""
    if vocabulary is None or len(vocabulary) == n_terms:
        return
    advice = "check that the vocabulary belongs to this file"
    if len(vocabulary) == n_documents:
        advice = "the matrix looks transposed: rows are documents and columns are terms"
    raise source.fault(
        f"the vocabulary has {len(vocabulary):,} terms, but the file has {n_terms:,}; {advice}",
        code="vocabulary-mismatch",
    )


def count_complaint(field: str) -> Complaint | None:
    """Return code and message for an invalid count; None for a whole number."""
    if not REAL.fullmatch(field):
        return "not-a-count", "is not a number; counts are whole numbers"
    value = float(field)
    if value < 0:
        return "negative-count", "is negative; counts are 0 or more"
    if value > MAX_WORDS:
        return "count-too-large", f"is too large; counts go up to {MAX_WORDS:,}"
    if not value.is_integer():
        return "fractional-count", "is fractional; give raw counts, not weights or frequencies"
    return None


# ---------------------------------------------------------------- UCI

_MAGIC = b"%%MatrixMarket"
_EXPECTED = "expected '%%MatrixMarket matrix coordinate integer general', or real instead of integer"
_SIZES = ("the number of documents", "the number of terms", "the number of entries")
_WHOLE = re.compile(rb"(?:[ \t]*\d{1,18}[ \t]+\d{1,18}[ \t]+\d{1,18}[ \t\r]*\n)*+")


def looks_like_uci(head: bytes) -> bool:
    """Return whether the start of a file is in this format."""
    fields = [line.split() for line in head.split(b"\n", 4)[:4]]
    return [len(numbers) for numbers in fields] == [1, 1, 1, 3] and all(
        number.isdigit() for numbers in fields for number in numbers
    )


def read_uci(source: Source, vocabulary: Sequence[str] | None) -> Corpus:
    """Read a corpus, including documents and terms without entries."""
    lines = source.lines()
    head = []
    for number, what in enumerate(_SIZES, start=1):
        fields = next(lines, b"").split()
        if len(fields) != 1:
            raise source.fault(
                f"expected {what}, alone on its line; check that this is a UCI file", number, code="bad-line"
            )
        head.append(_whole_number(source, fields[0], number, what))
    return _read(source, vocabulary, 4, *head)


def write_uci(corpus: Corpus) -> Iterator[bytes]:
    """Yield the text of the file in blocks."""
    return _write(corpus, "{}\n{}\n{}\n")


# ---------------------------------------------------------------- Matrix Market


def looks_like_mm(head: bytes) -> bool:
    """Return whether the start of a file is in this format."""
    return head[: len(_MAGIC)].lower() == _MAGIC.lower()


def read_mm(source: Source, vocabulary: Sequence[str] | None) -> Corpus:
    """Read a corpus, including rows and columns without entries."""
    lines = enumerate(source.lines(), start=1)
    _check_head(source, next(lines, (1, b""))[1])
    number, fields = next(
        ((n, line.split()) for n, line in lines if line.strip() and not line.startswith(b"%")), (2, [])
    )
    if len(fields) != 3:
        raise source.fault(
            "expected the numbers of documents, of terms and of entries", number, code="bad-line"
        )
    sizes = (_whole_number(source, field, number, what) for field, what in zip(fields, _SIZES))
    return _read(source, vocabulary, number + 1, *sizes)


def write_mm(corpus: Corpus) -> Iterator[bytes]:
    """Yield the text of the file in blocks."""
    return _write(corpus, "%%MatrixMarket matrix coordinate integer general\n{} {} {}\n")


def _check_head(source: Source, line: bytes) -> None:
    words = line.decode("utf-8", "replace").lower().split()
    if not words or words[0] != _MAGIC.decode("ascii").lower():
        raise source.fault(f"not a Matrix Market file; {_EXPECTED}", 1, code="wrong-format")
    wanted = (("matrix",), ("coordinate",), ("integer", "real"), ("general",))
    for i, allowed in enumerate(wanted, start=1):
        if len(words) <= i or words[i] not in allowed:
            given = repr(words[i][:40]) if len(words) > i else "nothing"
            raise source.fault(
                f"{given} where {' or '.join(allowed)} is expected; {_EXPECTED}", 1, code="unsupported-format"
            )


# ---------------------------------------------------------------- lines of three numbers


def _whole_number(source: Source, field: bytes, number: int, what: str) -> int:
    """Read a number in the header."""
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


def _read(
    source: Source,
    vocabulary: Sequence[str] | None,
    line: int,
    n_documents: int,
    n_terms: int,
    n_entries: int,
) -> Corpus:
    """Read the entries from this line to the end of the file, given the numbers in its header."""
    check_width(source, vocabulary, n_documents, n_terms)
    entries = joined(_blocks(source, line, (n_documents, n_terms, MAX_WORDS)))
    if len(entries.counts) != n_entries:
        raise source.fault(
            f"the header announces {n_entries:,} entries, but {len(entries.counts):,} follow; get the "
            "whole file, or correct the number",
            code="entries-mismatch",
        )
    return corpus_of(source, entries, n_documents, n_terms, vocabulary)


def _blocks(source: Source, line: int, most: tuple[int, int, int]) -> Iterator[Entries]:
    for first, block in source.blocks(line):
        triples = None
        if _WHOLE.fullmatch(block):
            triples = np.fromstring(block, dtype=np.int64, sep=" ").reshape(-1, 3)
        if triples is None or (triples > most).any() or not triples[:, :2].all():
            triples = _carefully(source, block, first, most)
        # Numbers within the limits fit into 32 bits. Entries with zero words are allowed and ignored.
        documents, terms, counts = triples.astype(np.int32).T
        yield Entries(documents - 1, terms - 1, counts)


def _write(corpus: Corpus, head: str) -> Iterator[bytes]:
    """Yield the numbers of documents, terms and entries, then the entries in blocks of lines."""
    counts = corpus.to_counts()
    yield head.format(corpus.n_documents, corpus.n_terms, counts.nnz).encode("ascii")
    for first, last in blocks_of_documents(counts.indptr, AT_ONCE):
        ends = counts.indptr[first : last + 1]
        chosen = slice(ends[0], ends[-1])
        documents = np.repeat(np.arange(first + 1, last + 1), np.diff(ends))
        columns = (documents, counts.indices[chosen] + 1, counts.data[chosen])
        lines = [f"{j} {v} {n}\n" for j, v, n in zip(*(column.tolist() for column in columns))]
        yield "".join(lines).encode("ascii")


def _carefully(
    source: Source, block: bytes, number: int, most: tuple[int, int, int]
) -> npt.NDArray[np.int64]:
    """Read a block line by line; name the line in errors."""
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
        if complaint := count_complaint(fields[2]):
            raise source.fault(f"the count {fields[2][:40]!r} {complaint[1]}", i, code=complaint[0])
        j = _id(source, fields[0], i, most[0], "document")
        triples.append((j, _id(source, fields[1], i, most[1], "term"), int(float(fields[2]))))
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
