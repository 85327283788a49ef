"""From counts to a corpus: the same counts give the same corpus, whether they came from a matrix or a file.

Words of a document are laid in term order, repeats adjacent. The model takes words as exchangeable, so their
order says nothing about the documents; one fixed order keeps runs reproducible. Where words would take much
more memory than the counts, they are not laid out before someone asks for them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from franchise.corpus.cells import CellArrays, cells_pay, gathered, words_of
from franchise.corpus.checks import MAX_WORDS
from franchise.corpus.corpus import Corpus
from franchise.errors import CorpusError


def corpus_of_entries(
    documents: npt.NDArray[Any],
    terms: npt.NDArray[Any],
    counts: npt.NDArray[np.int64],
    n_documents: int,
    vocabulary: Iterable[str],
    document_names: Iterable[str] | None = None,
    *,
    metadata: Any = None,
) -> Corpus:
    """Make a corpus of (document, term, count) entries.

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
    cells = cells_of_entries(documents, terms, counts, n_documents, len(terms_of_all))
    if cells_pay(cells.n_words, cells.terms.size):
        return Corpus.from_cells(cells, terms_of_all, document_names, metadata=metadata)
    return Corpus(words_of(cells), cells.doc_ptr, terms_of_all, document_names, metadata=metadata)


def cells_of_entries(
    documents: npt.NDArray[Any],
    terms: npt.NDArray[Any],
    counts: npt.NDArray[np.int64],
    n_documents: int,
    n_terms: int,
) -> CellArrays:
    """Gather entries, documents in increasing order, into cells."""
    n_words = int(counts.sum(dtype=np.float64))  # integers could wrap around before the check
    if n_words > MAX_WORDS:
        raise CorpusError(
            f"the counts add up to {n_words:,} words, more than the {MAX_WORDS:,} that 32-bit counts hold"
        )
    if not _in_order(documents, terms):
        order = np.lexsort((terms, documents))
        documents, terms, counts = documents[order], terms[order], counts[order]
    return gathered(documents, terms, counts, n_documents, n_terms)


def _in_order(documents: npt.NDArray[Any], terms: npt.NDArray[Any]) -> bool:
    return bool(np.all((documents[1:] > documents[:-1]) | (terms[1:] >= terms[:-1])))
