"""LDA-C, one document per line: ``M term:count term:count ...``, with M pairs and terms counted from 0.

Lines that match a regular expression go to NumPy. Only other lines are checked field by field, for a precise
message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from franchise.corpus.checks import MAX_WORDS
from franchise.corpus.corpus import Corpus
from franchise.corpus.files import Source
from franchise.corpus.formats.coordinates import (
    AT_ONCE,
    MAX_UNUSED,
    Complaint,
    Entries,
    corpus_of,
    count_complaint,
    joined,
)
from franchise.corpus.large_arrays import blocks_of_documents

_MALFORMED = "malformed; expected 'M term:count term:count ...', separated by blanks"

# Ten digits cover every 32-bit number, and never overflow the 64-bit integers used for parsing.
_LINE = re.compile(rb"\d{1,10}(?:[ \t]+\d{1,10}:0*[1-9]\d{0,9})*")


def looks_like(head: bytes) -> bool:
    """Return whether the start of a file is in this format."""
    lines = head.split(b"\n")[: -1 if len(head) >= Source.HEAD else None]  # the last may be incomplete
    return any(b":" in line for line in lines) and all(
        _LINE.fullmatch(line.strip() or b"0") for line in lines
    )


def read(source: Source, vocabulary: Sequence[str] | None) -> Corpus:
    """Read a corpus. An empty line, or ``0``, is an empty document; pairs with the same term add up."""
    n_documents = 0

    def parsed() -> Iterator[Entries]:
        nonlocal n_documents
        for number, block in source.blocks():
            lines = block[:-1].split(b"\n")
            n_documents += len(lines)
            yield _parse(source, lines, number, vocabulary)

    entries = joined(parsed())
    if not len(entries.terms):
        raise source.fault("no words in the file; expected lines such as '2 0:1 7:3'", code="empty-corpus")
    n_terms, limit = int(entries.terms.max()) + 1, len(entries.terms) + MAX_UNUSED
    if vocabulary is None and n_terms > limit:  # refuse a single wrong, huge id with its line
        i = int(np.argmax(entries.terms >= limit))
        raise source.fault(
            f"term id {entries.terms[i]} is over {limit:,}, too many terms for this file; correct the line, "
            "or give the vocabulary if the id is right",
            int(entries.documents[i]) + 1,
            code="implausible-size",
        )
    return corpus_of(source, entries, n_documents, n_terms, vocabulary)


def write(corpus: Corpus) -> Iterator[bytes]:
    """Yield the lines of a corpus in blocks."""
    counts = corpus.to_counts()
    for first, last in blocks_of_documents(counts.indptr, AT_ONCE):
        ends = counts.indptr[first : last + 1]
        chosen = slice(ends[0], ends[-1])
        terms, numbers = counts.indices[chosen].tolist(), counts.data[chosen].tolist()
        pairs = [f" {v}:{n}" for v, n in zip(terms, numbers)]
        lines = [f"{b - a}{''.join(pairs[a:b])}\n" for a, b in pairwise((ends - ends[0]).tolist())]
        yield "".join(lines).encode("ascii")


def _parse(source: Source, lines: list[bytes], number: int, vocabulary: Sequence[str] | None) -> Entries:
    """Return the entries of lines; `number` is the line number of the first."""
    stripped = [line.strip() or b"0" for line in lines]
    if not all(map(_LINE.fullmatch, stripped)):
        i = next(i for i, line in enumerate(stripped) if not _LINE.fullmatch(line))
        code, complaint = _complaint(stripped[i])
        raise source.fault(complaint, number + i, code=code)
    n_pairs = np.array([line.count(b":") for line in stripped])
    numbers = np.fromstring(b" ".join(stripped).replace(b":", b" "), dtype=np.int64, sep=" ")
    heads = np.cumsum(2 * n_pairs + 1) - 2 * n_pairs - 1
    wrong = np.flatnonzero(numbers[heads] != n_pairs)
    if wrong.size:
        code, complaint = _complaint(stripped[wrong[0]])
        raise source.fault(complaint, number + int(wrong[0]), code=code)
    pairs = np.delete(numbers, heads).reshape(-1, 2)
    documents = np.repeat(np.arange(number - 1, number - 1 + len(lines)), n_pairs)
    limit = MAX_WORDS if vocabulary is None else len(vocabulary)
    bad = np.flatnonzero((pairs[:, 0] >= limit) | (pairs[:, 1] > MAX_WORDS))
    if bad.size:
        term, count = pairs[bad[0]].tolist()
        code, complaint = _range_complaint(term, count, vocabulary)
        raise source.fault(complaint, int(documents[bad[0]]) + 1, code=code)
    return Entries(documents.astype(np.int32), *pairs.astype(np.int32).T)


def _range_complaint(term: int, count: int, vocabulary: Sequence[str] | None) -> Complaint:
    if count > MAX_WORDS:
        return "count-too-large", f"the count in '{term}:{count}' is too large; counts go up to {MAX_WORDS:,}"
    if vocabulary is None:
        return "term-out-of-range", f"term id {term} is too large; ids go up to {MAX_WORDS - 1:,}"
    return (
        "term-out-of-range",
        f"term id {term} is outside the vocabulary of {len(vocabulary):,} terms; ids count from 0, "
        "so check that the vocabulary belongs to this file and the ids do not count from 1",
    )


def _complaint(line: bytes) -> Complaint:
    """Return code and message for a line that did not parse."""
    try:
        size, *pairs = line.decode("utf-8").split()
    except UnicodeDecodeError:
        return "wrong-encoding", "not UTF-8 text; check that this is an LDA-C file"
    except ValueError:  # only Unicode blanks
        return "bad-line", _MALFORMED
    if not (size.isascii() and size.isdigit()):
        return "bad-line", f"{_short(size)} is not a number; a line starts with its number of pairs"
    for pair in pairs:
        term, colon, count = pair.partition(":")
        where, digits = _short(pair), term.removeprefix("-")
        if not colon:
            return "bad-line", f"{where} has no colon; write term:count"
        if not (digits.isascii() and digits.isdigit()):
            return "bad-line", f"{_short(term)} in {where} is not a number; term ids are whole numbers from 0"
        if term != digits:
            return "term-out-of-range", f"term id {term:.20} in {where} is negative; ids count from 0"
        if len(term) > 10:
            return "term-out-of-range", f"term id {term:.20} is too large; ids go up to {MAX_WORDS - 1:,}"
        if complaint := count_complaint(count):
            return complaint[0], f"the count {_short(count)} in {where} {complaint[1]}"
        if not float(count):
            return "not-a-count", f"the count {_short(count)} in {where} is zero; leave the pair out"
    if len(size) > 10 or int(size) != len(pairs):
        return (
            "bad-line",
            f"the line says {size:.20} pairs but has {len(pairs)}; correct the first number, or the pairs",
        )
    return "bad-line", _MALFORMED


def _short(text: str) -> str:
    """Quote a field, shortened if it is long."""
    return repr(text) if len(text) <= 40 else f"{text[:40]!r}..."
