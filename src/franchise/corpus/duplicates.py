"""Documents that have the same words as others."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from franchise.corpus.corpus import Corpus
from franchise.corpus.large_arrays import blocks_of_documents
from franchise.corpus.shards.corpus import ShardedCorpus
from franchise.errors import CorpusError


def drop_duplicates(corpus: Corpus) -> Corpus:
    """Keep the first of several documents that have the same words equally often.

    Parameters
    ----------
    corpus
        The documents.

    Returns
    -------
    Corpus
        The documents that are left, with the same vocabulary, and all empty ones; the corpus itself if all
        differ.

    Raises
    ------
    CorpusError
        If the corpus is in shards, as documents of several shards are never in memory together.

    Examples
    --------
    >>> from franchise import from_texts
    >>> drop_duplicates(from_texts(["ant bee", "bee cat", "The bee and the ant"])).document_names
    ('0', '1')
    """
    if isinstance(corpus, ShardedCorpus):
        raise CorpusError(
            "the corpus is in shards, and duplicates may be in several; leave them out before `franchise "
            "shard`",
            code="in-shards",
        )
    again = repeats(corpus, corpus.n_documents)
    return corpus.select(~again) if again.any() else corpus


def repeats(corpus: Corpus, n_documents: int) -> npt.NDArray[np.bool_]:
    """Return which of the first documents have the same words, equally often, as one before them.

    Two sums of random numbers of its words, 128 bits in all, identify a document. Empty ones are no repeats.
    """
    weights = np.random.default_rng(0).integers(0, 2**64, (2, corpus.n_terms), np.uint64)
    sums = np.zeros((n_documents, 2), np.uint64)
    cells = corpus.cells if corpus.keeps_cells else None
    ptr = corpus.doc_ptr if cells is None else cells.cell_ptr
    for first, last in blocks_of_documents(ptr[: n_documents + 1]):
        chosen, ends = slice(ptr[first], ptr[last]), ptr[first : last + 1] - ptr[first]
        for i in range(2):
            values = weights[i, (corpus.x if cells is None else cells.terms)[chosen]]
            if cells is not None:
                values *= cells.counts[chosen].astype(np.uint64)
            total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values, dtype=np.uint64)])
            sums[first:last, i] = total[ends[1:]] - total[ends[:-1]]  # both wrap around alike
    order = np.lexsort((np.arange(n_documents), sums[:, 1], sums[:, 0]))
    same = np.zeros(n_documents, np.bool_)
    same[order[1:]] = np.all(sums[order[1:]] == sums[order[:-1]], axis=1)
    return same & (corpus.document_lengths[:n_documents] > 0)
