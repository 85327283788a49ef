"""The largest topics of documents, and mixtures as sparse matrices with only these topics.

Other shares become zero and kept shares do not change, so a row then sums to less than one.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from franchise._arrays import CorpusArrays, Floats, ranges_of
from franchise._settings import whole_number
from franchise.corpus.documents import Encoded

if TYPE_CHECKING:
    from scipy.sparse import csr_array

DOCUMENTS, WORDS = 10_000, 1_000_000  # per block, at most: a few seconds of inference


def largest_topics(theta: Floats, top: int) -> npt.NDArray[np.int64]:
    """Return the `top` largest topics of each document, largest first; ties go to the lower number.

    Examples
    --------
    >>> largest_topics(np.array([[0.2, 0.5, 0.3], [0.4, 0.2, 0.4]]), 2).tolist()
    [[1, 2], [0, 2]]
    """
    top = min(whole_number("top", top, 1), theta.shape[1])
    return np.argsort(-theta, axis=1, kind="stable")[:, :top].astype(np.int64, copy=False)


def sparse_rows(theta: Floats, top: int | None = None) -> "csr_array":
    """Return mixtures as a CSR matrix without zeros; with `top`, only the largest of each document.

    Examples
    --------
    >>> sparse_rows(np.array([[0.2, 0.5, 0.3], [0.9, 0.0, 0.1]]), 2).toarray().tolist()
    [[0.0, 0.5, 0.3], [0.9, 0.0, 0.1]]
    """
    from scipy.sparse import csr_array

    if top is None:
        return csr_array(theta)
    chosen = np.sort(largest_topics(theta, top), axis=1)
    shares = np.take_along_axis(theta, chosen, axis=1)
    ends = np.arange(0, chosen.size + 1, chosen.shape[1])
    rows = csr_array((shares.ravel(), chosen.ravel(), ends), shape=theta.shape)
    rows.eliminate_zeros()
    return rows


def blocks_of(new: Encoded) -> Iterator[Encoded]:
    """Yield documents in blocks, so that their mixtures need not all be in memory."""
    x, doc_ptr, n_terms = new.arrays
    for first, last in ranges_of(doc_ptr, WORDS):
        for begin in range(first, last, DOCUMENTS):
            end = min(begin + DOCUMENTS, last)
            own = CorpusArrays(
                x[doc_ptr[begin] : doc_ptr[end]], doc_ptr[begin : end + 1] - doc_ptr[begin], n_terms
            )
            yield Encoded(own, new.unknown[begin:end], new.document_names[begin:end])
