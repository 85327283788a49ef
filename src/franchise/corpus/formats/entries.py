"""What the formats of counts share: entries (document, term, count) that a file holds, to a corpus.

A file can claim any size in its first line. Nothing is allocated by such a claim: documents and terms without
a single word are believed only up to a limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from franchise.corpus.checks import numbered
from franchise.corpus.corpus import Corpus
from franchise.corpus.counts import corpus_of_entries
from franchise.corpus.files import Source
from franchise.corpus.large_arrays import Growing, blocks, let_go
from franchise.errors import CorpusError

Ints = npt.NDArray[np.int32]

# A stray huge number would ask for as many names; feature hashing, with 2**20 columns, stays below.
MAX_UNUSED = 2_000_000


class Entries(NamedTuple):
    """Documents and terms, both numbered from 0, and how many words; three arrays of one length."""

    documents: Ints
    terms: Ints
    counts: Ints


class Gathering:
    """Entries that come in pieces; many are held in files."""

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
        np.all(documents[piece][1:] >= documents[piece][:-1])
        and (piece.start == 0 or documents[piece.start] >= documents[piece.start - 1])
        for piece in blocks(len(documents))
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


def blocks_of_documents(doc_ptr: npt.NDArray[Any], n_entries: int = 100_000) -> list[tuple[int, int]]:
    """Cut documents into runs of about this many entries, so that no writer holds all its text at once."""
    last = len(doc_ptr) - 1
    starts = np.unique(np.searchsorted(doc_ptr, np.arange(0, doc_ptr[-1], n_entries)))
    return [(int(a), int(b)) for a, b in pairwise([0, *starts[starts > 0], last]) if b > a]
