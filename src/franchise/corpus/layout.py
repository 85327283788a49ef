"""From counts to a corpus: the same counts give the same corpus, whether they came from a matrix or a file.

Words of a document are laid in term order, repeats adjacent. The model takes words as exchangeable, so their
order says nothing about the documents; one fixed order keeps runs reproducible. Where words would take much
more memory than the counts, they are not laid out before someone asks for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from franchise._arrays import offsets_of
from franchise.corpus.cells import CellArrays, cells_pay, gathered, words_of
from franchise.corpus.checks import MAX_WORDS
from franchise.corpus.corpus import Corpus
from franchise.corpus.growing import PIECE, Growing, handed_over, let_go, pieces
from franchise.errors import CorpusError


def corpus_of_entries(
    documents: npt.NDArray[Any],
    terms: npt.NDArray[Any],
    counts: npt.NDArray[np.integer[Any]],
    n_documents: int,
    vocabulary: Iterable[str],
    document_names: Iterable[str] | None = None,
    *,
    metadata: Any = None,
) -> Corpus:
    """Make a corpus of (document, term, count) entries, some documents at a time; of many, on disk.

    Parameters
    ----------
    documents, terms, counts
        One entry each: the document (in increasing order), the term, how many words. Entries of the same
        document and term add up.
    n_documents
        Number of documents, those without entries included.
    vocabulary, document_names, metadata
        As :class:`~franchise.corpus.Corpus` takes them.
    """
    terms_of_all = tuple(vocabulary)
    n_words = sum(int(counts[piece].sum(dtype=np.float64)) for piece in pieces(len(counts)))
    _check_sum(n_words)
    # Entries that share a cell are so rare that they do not matter here.
    as_cells = cells_pay(n_words, len(counts))
    columns = (Growing(), Growing()) if as_cells else (Growing(),)
    lengths, sizes = np.zeros(n_documents, np.int64), np.zeros(n_documents, np.int64)
    for begin, end in _blocks(documents):
        first, last = int(documents[begin]), int(documents[end - 1])
        entries = (documents[begin:end] - first, terms[begin:end], counts[begin:end].astype(np.int64))
        cells = cells_of_entries(*entries, last - first + 1, len(terms_of_all))
        lengths[first : last + 1], sizes[first : last + 1] = np.diff(cells.doc_ptr), np.diff(cells.cell_ptr)
        for column, values in zip(columns, cells[2:4] if as_cells else (words_of(cells),)):
            column.extend(values)
        let_go(documents, terms, counts)
    doc_ptr, arrays = handed_over(offsets_of(lengths)), [handed_over(column.array()) for column in columns]
    if not as_cells:
        return Corpus(arrays[0], doc_ptr, terms_of_all, document_names, metadata=metadata)
    own_terms, own_counts = arrays
    all_cells = CellArrays(doc_ptr, handed_over(offsets_of(sizes)), own_terms, own_counts, len(terms_of_all))
    return Corpus.from_cells(all_cells, terms_of_all, document_names, metadata=metadata)


def _blocks(documents: npt.NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Yield where whole documents begin and end, about a million entries at a time."""
    begin = 0
    while begin < len(documents):
        last = documents[min(begin + PIECE, len(documents)) - 1]
        end = int(np.searchsorted(documents, last, side="right"))
        yield begin, end
        begin = end


def cells_of_entries(
    documents: npt.NDArray[Any],
    terms: npt.NDArray[Any],
    counts: npt.NDArray[np.int64],
    n_documents: int,
    n_terms: int,
) -> CellArrays:
    """Gather entries, documents in increasing order, into cells."""
    n_words = int(counts.sum(dtype=np.float64))  # integers could wrap around before the check
    _check_sum(n_words)
    if not _in_order(documents, terms):
        order = np.lexsort((terms, documents))
        documents, terms, counts = documents[order], terms[order], counts[order]
    return gathered(documents, terms, counts, n_documents, n_terms)


def _in_order(documents: npt.NDArray[Any], terms: npt.NDArray[Any]) -> bool:
    return bool(np.all((documents[1:] > documents[:-1]) | (terms[1:] >= terms[:-1])))


def _check_sum(n_words: int) -> None:
    if n_words > MAX_WORDS:
        raise CorpusError(
            f"the counts add up to {n_words:,} words, more than the {MAX_WORDS:,} that 32-bit counts hold",
            code="too-many-words",
        )
