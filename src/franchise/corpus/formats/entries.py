"""What the formats of counts share: entries (document, term, count) that a file holds, to a corpus.

A file can claim any size in its first line. Nothing is allocated by such a claim: documents and terms without
a single word are believed only up to a limit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from franchise.corpus.checks import MAX_WORDS, numbered
from franchise.corpus.corpus import Corpus
from franchise.corpus.counts import corpus_of_entries
from franchise.corpus.files import Source
from franchise.corpus.large_arrays import Growing, blocks, let_go
from franchise.errors import CorpusError

Ints = npt.NDArray[np.int32]

# A stray huge number would ask for as many names; feature hashing, with 2**20 columns, stays below.
MAX_UNUSED = 2_000_000
# No writer holds all its text at once.
AT_ONCE = 100_000

_REAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)

Complaint = tuple[str, str]  # a code, and what is wrong and what to do


class Entries(NamedTuple):
    """Documents and terms, both numbered from 0, and how many words; three arrays of one length."""

    documents: Ints
    terms: Ints
    counts: Ints


class Gathering:
    """Entries that come in blocks; many are held in files."""

    def __init__(self) -> None:
        self._columns = [Growing() for _ in Entries._fields]

    def add(self, entries: Entries) -> None:
        """Add entries at the end."""
        for column, values in zip(self._columns, entries):
            column.extend(values)

    def joined(self) -> Entries:
        """Return all entries; none can be added after that."""
        return Entries(*(column.array() for column in self._columns))


def corpus_of(
    source: Source, entries: Entries, n_documents: int, n_terms: int, vocabulary: Sequence[str] | None
) -> Corpus:
    """Make a corpus of entries in any order; terms not given are named by number."""
    documents, terms, counts = entries
    check_size(source, n_documents, len(counts), "documents")
    if vocabulary is None:
        check_size(source, n_terms, len(counts), "terms")
    names = numbered(n_terms) if vocabulary is None else vocabulary
    if not _in_order(documents):
        order = np.lexsort((terms, documents))
        documents, terms, counts = documents[order], terms[order], counts[order]
    let_go(*entries)
    try:
        return corpus_of_entries(documents, terms, counts, n_documents, names)
    except CorpusError as error:
        raise source.fault(str(error), code=error.code) from None


def _in_order(documents: Ints) -> bool:
    """Return whether numbers do not decrease, looking at some at a time."""
    return all(
        np.all(documents[block][1:] >= documents[block][:-1])
        and (block.start == 0 or documents[block.start] >= documents[block.start - 1])
        for block in blocks(len(documents))
    )


def check_size(source: Source, size: int, n_entries: int, what: str) -> None:
    """Refuse a number of documents or terms far beyond what the entries can fill."""
    if size > n_entries + MAX_UNUSED:
        advice = "correct the file" if what == "documents" else "give the vocabulary if that is right"
        raise source.fault(
            f"{size:,} {what} for {n_entries:,} counts are too many; {advice}", code="implausible-size"
        )


def check_width(source: Source, vocabulary: Sequence[str] | None, n_documents: int, n_terms: int) -> None:
    """Refuse a vocabulary that does not belong to the file."""
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
    """Say what is wrong with a count as a file spells it, None if it is a whole number."""
    if not _REAL.fullmatch(field):
        return "not-a-count", "is not a number; counts are whole numbers"
    value = float(field)
    if value < 0:
        return "negative-count", "is negative; counts are 0 or more"
    if value > MAX_WORDS:
        return "count-too-large", f"is too large; counts go up to {MAX_WORDS:,}"
    if not value.is_integer():
        return "fractional-count", "is fractional; give raw counts, not weights or frequencies"
    return None
