"""A corpus as cells (document, term, count), for counts in the thousands, without laying out words.

The cells of a document are in the order of their terms. If words are needed, they are laid out cell by cell,
so equal counts give equal words in both forms.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from franchise._arrays import CellArrays, CorpusArrays, offsets_of, places_of
from franchise.corpus.checks import MAX_WORDS, check_words, frozen, integers
from franchise.corpus.large_arrays import BLOCK, blocks_of_documents
from franchise.errors import CorpusError

# A word takes four bytes and a cell eight: with this many words per cell, cells take a quarter of the memory.
_WORDS_PER_CELL = 8


def cells_pay(n_words: int, n_cells: int) -> bool:
    """Return whether cells take much less memory than words."""
    return n_words >= _WORDS_PER_CELL * n_cells


def cells_of(corpus: CorpusArrays) -> CellArrays:
    """Count the words of each term in each document, with little more memory than the cells."""
    blocks = [(block.cell_ptr[1:], block.terms, block.counts) for _, block in blocks_of_cells(corpus)]
    sizes = offsets_of(np.array([terms.size for _, terms, _ in blocks], dtype=np.int64))
    ends = [np.zeros(1, np.int64), *(own + before for (own, _, _), before in zip(blocks, sizes))]
    terms, counts = (np.concatenate([np.zeros(0, np.int32), *(one[i] for one in blocks)]) for i in (1, 2))
    return _read_only(CellArrays(corpus.doc_ptr, np.concatenate(ends), terms, counts, corpus.n_terms))


def blocks_of_cells(corpus: CorpusArrays) -> Iterator[tuple[int, CellArrays]]:
    """Yield the cells in blocks of documents, each with the number of its first document."""
    doc_ptr = corpus.doc_ptr
    for first, last in blocks_of_documents(doc_ptr):
        lengths = np.diff(doc_ptr[first : last + 1])
        words = corpus.x[doc_ptr[first] : doc_ptr[last]]
        keys = np.repeat(np.arange(last - first) * np.int64(corpus.n_terms), lengths) + words
        if np.any(keys[1:] < keys[:-1]):
            keys.sort()
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        document, terms = np.divmod(keys[starts], corpus.n_terms)
        counts = np.diff(starts, append=keys.size)
        own = np.searchsorted(document, np.arange(last - first + 1))
        cells = (own, terms.astype(np.int32), counts.astype(np.int32))
        yield first, CellArrays(doc_ptr[first : last + 1] - doc_ptr[first], *cells, corpus.n_terms)


def cells_from(
    documents: npt.NDArray[Any],
    terms: npt.NDArray[Any],
    counts: npt.NDArray[np.int64],
    n_documents: int,
    n_terms: int,
) -> CellArrays:
    """Return the cells of entries with increasing documents; entries of the same cell add up."""
    check_sum(int(counts.sum(dtype=np.float64)))  # integers could overflow before the check
    if not np.all((documents[1:] > documents[:-1]) | (terms[1:] >= terms[:-1])):
        order = np.lexsort((terms, documents))
        documents, terms, counts = documents[order], terms[order], counts[order]
    present = counts > 0
    if not present.all():
        documents, terms, counts = documents[present], terms[present], counts[present]
    is_new = np.ones(terms.size, dtype=np.bool_)
    is_new[1:] = (documents[1:] != documents[:-1]) | (terms[1:] != terms[:-1])
    starts = np.flatnonzero(is_new)
    sums = np.add.reduceat(counts, starts) if starts.size else counts
    lengths = np.bincount(documents[starts], weights=sums, minlength=n_documents).astype(np.int64)
    sizes = np.bincount(documents[starts], minlength=n_documents)
    cells = (terms[starts].astype(np.int32), sums.astype(np.int32))
    return _read_only(CellArrays(offsets_of(lengths), offsets_of(sizes), *cells, n_terms))


def check_sum(n_words: int) -> None:
    """Refuse more words than 32-bit counts can hold."""
    if n_words > MAX_WORDS:
        raise CorpusError(
            f"the counts add up to {n_words:,} words, more than the {MAX_WORDS:,} that 32-bit counts hold",
            code="too-many-words",
        )


def words_of(cells: CellArrays) -> npt.NDArray[np.int32]:
    """Lay out the words, cell by cell; read-only."""
    words = np.repeat(cells.terms, cells.counts)
    words.flags.writeable = False
    return words


def blocks_of_words(cells: CellArrays, block: int = BLOCK) -> Iterator[npt.NDArray[np.int32]]:
    """Lay out the words in blocks."""
    ends = np.cumsum(cells.counts, dtype=np.int64)
    for begin in range(0, cells.n_words, block):
        end = min(begin + block, cells.n_words)
        first, last = np.searchsorted(ends, [begin, end - 1], side="right")
        own = np.minimum(ends[first : last + 1], end)
        yield np.repeat(cells.terms[first : last + 1], np.diff(own, prepend=begin))


def selected(cells: CellArrays, documents: npt.NDArray[np.int64]) -> CellArrays:
    """Return the cells of some documents, in the order given."""
    sizes = np.diff(cells.cell_ptr)[documents]
    cell_ptr = offsets_of(sizes)
    # A cell of the result has the same distance from the start of its document as before.
    places = places_of(cells.cell_ptr[documents], sizes)
    doc_ptr = offsets_of(np.diff(cells.doc_ptr)[documents])
    chosen = CellArrays(doc_ptr, cell_ptr, cells.terms[places], cells.counts[places], cells.n_terms)
    return _read_only(chosen)


def checked(cells: CellArrays) -> CellArrays:
    """Check that cells fit together; return them read-only."""
    names = cells._fields[:4]
    doc_ptr, cell_ptr, terms, counts = (integers(getattr(cells, name), name) for name in names)
    if not len(cell_ptr) == len(doc_ptr) > 0 or cell_ptr[0] != 0 or np.any(np.diff(cell_ptr) < 0):
        raise CorpusError(
            "cell_ptr does not fit doc_ptr; give the number of cells before each document",
            code="wrong-offsets",
        )
    if not cell_ptr[-1] == len(terms) == len(counts):
        raise CorpusError(
            f"cell_ptr ends at {cell_ptr[-1]}, but there are {len(terms)} terms and {len(counts)} counts; "
            "the three must be equal",
            code="wrong-offsets",
        )
    if counts.min(initial=1) < 1:
        raise CorpusError("a cell has no words; leave it out", code="empty-cell")
    if not np.isin(np.flatnonzero(terms[1:] <= terms[:-1]) + 1, cell_ptr).all():
        raise CorpusError(
            "the terms of a document must increase; give one cell per term, in their order",
            code="not-increasing",
        )
    words_before = offsets_of(counts)
    check_words(terms, cells.n_terms, words_before)
    if not np.array_equal(words_before[cell_ptr], doc_ptr):
        raise CorpusError(
            "doc_ptr does not fit the counts; give the number of words before each document",
            code="wrong-offsets",
        )
    doc_ptr, cell_ptr = frozen(doc_ptr, np.int64), frozen(cell_ptr, np.int64)
    return CellArrays(doc_ptr, cell_ptr, frozen(terms, np.int32), frozen(counts, np.int32), cells.n_terms)


def _read_only(cells: CellArrays) -> CellArrays:
    for array in cells[:4]:
        if array.flags.writeable:
            array.flags.writeable = False
    return cells
