"""From counts to words: the same counts give the same corpus, whether they came from a matrix or a file.

Words of a document are laid in term order, repeats adjacent. The model takes words as exchangeable, so their
order says nothing about the documents; one fixed order keeps runs reproducible.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from franchise.corpus.corpus import MAX_WORDS, offsets_of
from franchise.errors import CorpusError


def lay_words(
    documents: npt.NDArray[Any],
    terms: npt.NDArray[Any],
    counts: npt.NDArray[np.int64],
    n_documents: int,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Repeat each (document, term) entry as often as its count says.

    Parameters
    ----------
    documents, terms, counts
        One entry each: the document (in increasing order), the term, how many words. Entries of the same
        document and term add up.
    n_documents
        Number of documents, those without entries included.

    Returns
    -------
    x, doc_ptr
        The words and the document offsets, as :class:`~franchise.corpus.Corpus` takes them, read-only.
    """
    n_words = int(counts.sum(dtype=np.float64))  # integers could wrap around before the check
    if n_words > MAX_WORDS:
        raise CorpusError(
            f"the counts add up to {n_words:,} words, more than the {MAX_WORDS:,} that 32-bit counts hold"
        )
    if not _in_order(documents, terms):
        order = np.lexsort((terms, documents))
        terms, counts = terms[order], counts[order]
    x = np.repeat(terms.astype(np.int32, copy=False), counts)
    lengths = np.zeros(n_documents, dtype=np.int64)
    np.add.at(lengths, documents, counts)
    doc_ptr = offsets_of(lengths)
    x.flags.writeable = doc_ptr.flags.writeable = False  # so that Corpus need not copy them
    return x, doc_ptr


def _in_order(documents: npt.NDArray[Any], terms: npt.NDArray[Any]) -> bool:
    return bool(np.all((documents[1:] > documents[:-1]) | (terms[1:] >= terms[:-1])))
