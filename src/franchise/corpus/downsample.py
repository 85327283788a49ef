"""Fewer words per document, by cells, so that counts in the millions cost nothing.

Words are drawn without replacement: the number of words of each term that a document keeps is multivariate
hypergeometric. Or counts are scaled down evenly, and only their fractions are rounded at random: that adds
hardly any noise, where a draw would add its own to that of the counts.
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

# NumPy draws from no more words than this at a time.
_MOST_WORDS = 10**9 - 1


class Downsampling(NamedTuple):
    """How words were left out of a corpus."""

    words: int  # the most words that any document could keep
    seed: int  # what the draws began with
    n_documents: int  # number of documents that lost words
    n_words_before: int  # number of words of the whole corpus before
    by_document: bool = False  # each document had a limit of its own, `words` or less
    evenly: bool = False  # counts were scaled down instead of drawn
    # Of documents around mixtures of topics, where that decided how many counts each is worth.
    concentration: float | None = None

    def in_words(self) -> str:
        """Say what was done.

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
    """Keep no more words of each document than its limit; `Corpus.downsampled` says what comes out."""
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
    """Return the limit of each document, and whether these were given one by one."""
    if np.ndim(words) == 0:
        return np.full(corpus.n_documents, whole_number("words", words, 1, MAX_WORDS)), False
    limits = integers(words, "words")
    if limits.size != corpus.n_documents:
        raise CorpusError(
            f"words has {limits.size:,} numbers for {corpus.n_documents:,} documents; give one for each",
            code="wrong-length",
        )
    # A document without words keeps none, whatever its limit.
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
        # Which of the words of one term a word is, from 0 on.
        order = np.argsort(cell, kind="stable")
        rank = np.empty(words.size, dtype=np.int64)
        rank[order] = np.arange(words.size) - np.repeat(np.cumsum(counts) - counts, counts)
        blocks.append(words[rank < kept[cell]])
    blocks.append(corpus.x[corpus.doc_ptr[last] :])
    return np.concatenate(blocks), offsets_of(np.minimum(corpus.document_lengths, limits))


def _drawn(counts: npt.NDArray[Any], name: str, limit: int, done: Downsampling) -> npt.NDArray[np.int64]:
    """Return how many words of each term a document keeps."""
    n_words = int(counts.sum(dtype=np.int64))
    if n_words > _MOST_WORDS:
        raise CorpusError(
            f"document {name!r} has {n_words:,} words, and words are drawn from no more than "
            f"{_MOST_WORDS:,}; split it",
            code="document-too-long",
        )
    # Each document has a random stream, so what it keeps does not depend on its place.
    known_by = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    entropy = [done.seed, n_words, *np.frombuffer(known_by, dtype="<u4").tolist()]
    generator = np.random.Generator(np.random.PCG64(entropy))
    if done.evenly:
        # Cumulated counts are scaled and rounded down, all from one random fraction: every count keeps its
        # expected value, and the sum is the limit.
        ends = (np.cumsum(counts, dtype=np.int64) * limit + generator.integers(n_words)) // n_words
        return np.diff(ends, prepend=0)
    return generator.multivariate_hypergeometric(counts.astype(np.int64), limit, method="marginals")
