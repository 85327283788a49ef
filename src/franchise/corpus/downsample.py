"""Fewer words per document, computed on cells, so that counts in the millions are fast.

Words are drawn without replacement: the counts that a document keeps have a multivariate hypergeometric
distribution. Alternatively, counts are scaled down evenly and only their fractions are rounded at random.
That adds hardly any noise, while a draw adds its own noise to that of the counts.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from franchise._arrays import CellArrays, offsets_of
from franchise._settings import whole_number
from franchise.corpus.cells import cells_pay, words_of
from franchise.corpus.checks import MAX_WORDS, integers
from franchise.errors import CorpusError

if TYPE_CHECKING:
    from franchise.corpus.corpus import Corpus

# NumPy can draw from at most this many words at a time.
_MOST_WORDS = 10**9 - 1


class Downsampling(NamedTuple):
    """How words were left out of a corpus."""

    words: int  # the largest limit of any document
    seed: int  # the seed of the draws
    n_documents: int  # number of documents that lost words
    n_words_before: int  # number of words of the whole corpus before
    by_document: bool = False  # each document had its own limit, `words` or less
    evenly: bool = False  # counts were scaled down instead of drawn
    # For documents around mixtures of topics, if that decided the limit of each document.
    concentration: float | None = None

    def in_words(self) -> str:
        """Describe the downsampling.

        Examples
        --------
        >>> Downsampling(1000, 0, 12, 50_000).in_words()
        'at most 1,000 words per document (seed 0), of 50,000 words; 12 documents lost words'
        """
        limit = f"at most {self.words:,} words per document"
        if self.by_document:
            limit = f"a limit for each document, {self.words:,} words or less"
        if self.evenly:
            limit += ", counts scaled down"
        lost = f"{self.n_documents:,} document{'s' * (self.n_documents != 1)} lost words"
        return f"{limit} (seed {self.seed}), of {self.n_words_before:,} words; {lost}"


def downsampled(corpus: Corpus, words: int | npt.ArrayLike, seed: int, *, evenly: bool = False) -> Corpus:
    """Keep at most `words` words of each document; see `Corpus.downsampled`."""
    limits, by_document = _limits(corpus, words)
    changed = np.flatnonzero(corpus.document_lengths > limits)
    done = Downsampling(int(limits.max()), seed, changed.size, corpus.n_words, by_document, evenly)
    if not changed.size:
        make, parts = corpus.__reduce__()
        return make(*parts, downsampling=done)
    about = corpus.about() | {"downsampling": done}
    names = (corpus.vocabulary, corpus.document_names)
    if corpus.keeps_cells:
        cells = _fewer_cells(corpus, changed, limits, done)
        if cells_pay(cells.n_words, cells.terms.size):
            return type(corpus).from_cells(cells, *names, **about)
        return type(corpus)(words_of(cells), cells.doc_ptr, *names, **about)
    x, doc_ptr = _fewer_words(corpus, changed, limits, done)
    return type(corpus)(x, doc_ptr, *names, **about)


def _limits(corpus: Corpus, words: int | npt.ArrayLike) -> tuple[npt.NDArray[np.int64], bool]:
    """Return the limit of each document, and whether limits were given per document."""
    if np.ndim(words) == 0:
        return np.full(corpus.n_documents, whole_number("words", words, 1, MAX_WORDS)), False
    limits = integers(words, "words")
    if limits.size != corpus.n_documents:
        raise CorpusError(
            f"words has {limits.size:,} numbers for {corpus.n_documents:,} documents; give one per document",
            code="wrong-length",
        )
    # A document without words keeps none, with any limit.
    wrong = np.flatnonzero((limits < 1) & (corpus.document_lengths > 0))
    if wrong.size:
        j = int(wrong[0])
        whole_number(f"words[{j}]", int(limits[j]), 1, MAX_WORDS)
    return np.clip(limits, 1, MAX_WORDS).astype(np.int64), True


def _fewer_cells(
    corpus: Corpus, changed: npt.NDArray[np.intp], limits: npt.NDArray[np.int64], done: Downsampling
) -> CellArrays:
    cells = corpus.cells
    counts = cells.counts.copy()
    for j in changed.tolist():
        own = slice(cells.cell_ptr[j], cells.cell_ptr[j + 1])
        counts[own] = _drawn(cells.counts[own], corpus.document_names[j], int(limits[j]), done)
    left = counts > 0
    cell_ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(left)])[cells.cell_ptr]
    doc_ptr = offsets_of(np.minimum(corpus.document_lengths, limits))
    return CellArrays(doc_ptr, cell_ptr, cells.terms[left], counts[left], cells.n_terms)


def _fewer_words(
    corpus: Corpus, changed: npt.NDArray[np.intp], limits: npt.NDArray[np.int64], done: Downsampling
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    blocks, last = [], 0
    for j in changed.tolist():
        blocks.append(corpus.x[corpus.doc_ptr[last] : corpus.doc_ptr[j]])
        words, last = corpus.document(j), j + 1
        _, cell, counts = np.unique(words, return_inverse=True, return_counts=True)
        kept = _drawn(counts, corpus.document_names[j], int(limits[j]), done)
        # The place of each word among the words of its term, from 0.
        order = np.argsort(cell, kind="stable")
        rank = np.empty(words.size, dtype=np.int64)
        rank[order] = np.arange(words.size) - np.repeat(np.cumsum(counts) - counts, counts)
        blocks.append(words[rank < kept[cell]])
    blocks.append(corpus.x[corpus.doc_ptr[last] :])
    return np.concatenate(blocks), offsets_of(np.minimum(corpus.document_lengths, limits))


def _drawn(counts: npt.NDArray[Any], name: str, limit: int, done: Downsampling) -> npt.NDArray[np.int64]:
    """Return the number of words of each term that a document keeps."""
    n_words = int(counts.sum(dtype=np.int64))
    if n_words > _MOST_WORDS:
        raise CorpusError(
            f"document {name!r} has {n_words:,} words, but words can be drawn from at most "
            f"{_MOST_WORDS:,}; split it",
            code="document-too-long",
        )
    # Each document has its own random stream, so its words do not depend on its place.
    known_by = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    entropy = [done.seed, n_words, *np.frombuffer(known_by, dtype="<u4").tolist()]
    generator = np.random.Generator(np.random.PCG64(entropy))
    if done.evenly:
        # Cumulated counts are scaled, shifted by one random fraction, and rounded down. Each count keeps its
        # expected value, and the sum is the limit.
        ends = (np.cumsum(counts, dtype=np.int64) * limit + generator.integers(n_words)) // n_words
        return np.diff(ends, prepend=0)
    return generator.multivariate_hypergeometric(counts.astype(np.int64), limit, method="marginals")
