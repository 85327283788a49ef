"""A corpus as cells (document, term, count), for counts in the thousands: no word is laid out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from franchise.corpus.corpus import CorpusArrays


class CellArrays(NamedTuple):
    """What compiled kernels take of a corpus of counts.

    Attributes
    ----------
    doc_ptr
        Words before each document, as in `CorpusArrays`; ``doc_ptr[-1]`` is the number of words.
    cell_ptr
        Cells before each document.
    terms
        Term of each cell, increasing within a document; int32.
    counts
        Words of each cell, 1 or more; int32.
    n_terms
        Size of the vocabulary (the paper's V).
    """

    doc_ptr: npt.NDArray[np.int64]
    cell_ptr: npt.NDArray[np.int64]
    terms: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int32]
    n_terms: int


def cells_of(corpus: CorpusArrays) -> CellArrays:
    """Count the words of each term in each document."""
    cell_ptr = np.zeros(corpus.doc_ptr.size, np.int64)
    terms, counts = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    for j in range(corpus.doc_ptr.size - 1):
        own, times = np.unique(corpus.x[corpus.doc_ptr[j] : corpus.doc_ptr[j + 1]], return_counts=True)
        cell_ptr[j + 1] = cell_ptr[j] + own.size
        terms.append(own)
        counts.append(times.astype(np.int32))
    cells = CellArrays(
        corpus.doc_ptr, cell_ptr, np.concatenate(terms), np.concatenate(counts), corpus.n_terms
    )
    for array in cells[:4]:
        array.flags.writeable = False
    return cells
