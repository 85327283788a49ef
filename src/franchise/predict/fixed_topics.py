"""The mixtures of new documents, with the topics of a draw held fixed.

A draw gives phi_kv = (n_kv + eta) / (n_k + V eta), the probability of term v in topic k, and
beta_k = m_k / (m + gamma), the weight of topic k. The remaining weight, gamma / (m + gamma), goes to one more
topic, the rest, in which all terms are equally likely. `predict.fold_in` describes the sampling.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from franchise._arrays import Array, CorpusArrays, offsets_of
from franchise._draws import Draw
from franchise._progress import advance
from franchise._settings import LARGEST_SEED, whole_number
from franchise._threads import interrupts_deferred
from franchise.corpus import Corpus
from franchise.corpus.checks import MAX_WORDS
from franchise.errors import CorpusError, FranchiseError, SettingsError
from franchise.predict.fold_in import (
    FoldInSettings,
    NewDocuments,
    fold_in,
    hash_documents,
    heats,
    new_fold_in_scratch,
)
from franchise.random import FOLD_IN, Key

SWEEPS, BURN_IN = 25, 5
MOST_WORDS = 20_000  # words per document that determine its mixture; more would hardly change it
_DOCUMENTS_A_BLOCK = 16  # some milliseconds of work


class FixedTopics(NamedTuple):
    """Topics for kernels: by term, only the topics that have the term."""

    row_ptr: Array  # int64, term axis: the pairs of term v are row_ptr[v] : row_ptr[v + 1]
    row_k: Array  # uint32: the topic of a pair
    row_p: Array  # n_kv / (n_k + V eta)
    # Topic axis, the rest last.
    s_k: Array  # eta / (n_k + V eta), added for every term; 1 / V for the rest
    a_k: Array  # alpha beta_k
    corpus_cumulated: Array  # a_k s_k, cumulated
    alpha: float


def fixed_topics(draw: Draw) -> FixedTopics:
    """Return the topics of a draw for the kernels of `predict.fold_in` and `predict.left_to_right`."""
    alpha, gamma, eta = map(float, draw.concentrations)
    by_term = draw.topic_terms.tocsc()
    by_term.sort_indices()
    n_terms = by_term.shape[1]
    w_k = 1.0 / (draw.topic_terms.sum(axis=1) + n_terms * eta)
    s_k = np.append(eta * w_k, 1.0 / n_terms)
    a_k = alpha * np.append(draw.m_k, gamma) / (draw.m_k.sum() + gamma)
    return FixedTopics(
        row_ptr=by_term.indptr.astype(np.int64),
        row_k=by_term.indices.astype(np.uint32),
        row_p=by_term.data * w_k[by_term.indices],
        s_k=s_k,
        a_k=a_k,
        corpus_cumulated=np.cumsum(a_k * s_k),
        alpha=alpha,
    )


def mixtures(
    draws: Sequence[Draw],
    corpus: Corpus | CorpusArrays,
    columns: Sequence[Array],
    n_columns: int,
    *,
    sweeps: int = SWEEPS,
    burn_in: int = BURN_IN,
    seed: int = 0,
    jobs: int = 1,
) -> Array:
    """Find the topics of new documents: the posterior mean of each document's mixture.

    A document's mixture depends only on its own words, the draws and the seed, bit for bit: not on the order
    of its words, other documents or `jobs`. A document without words gets the weights of the topics. A
    document with more than 20,000 words is scaled down evenly to that many: its terms keep their shares.

    Parameters
    ----------
    draws
        Draws of the topics; the mixtures are averaged over them.
    corpus
        The documents, over the vocabulary that the topics were fitted with.
    columns
        For each draw, the column of each of its topics. Several topics may share a column. The last column
        also receives topics with -1, and the share of the rest.
    n_columns
        Number of columns.
    sweeps, burn_in
        Gibbs sweeps over a document with each draw, and the number of first sweeps left out of the mean. The
        first sweep seats the words one after another.
    seed
        The seed of the random numbers, from 0 to 2**63 - 1.
    jobs
        Number of threads.

    Returns
    -------
    numpy.ndarray
        Documents by columns, float64; each row sums to one.
    """
    find = mixtures_with(draws, columns, n_columns, sweeps=sweeps, burn_in=burn_in, seed=seed)
    return find(corpus, jobs)


def mixtures_with(
    draws: Sequence[Draw],
    columns: Sequence[Array],
    n_columns: int,
    *,
    sweeps: int = SWEEPS,
    burn_in: int = BURN_IN,
    seed: int = 0,
) -> Callable[[Corpus | CorpusArrays, int], Array]:
    """Return a function that takes documents and a number of threads, and returns their `mixtures`.

    It prepares the topics only once, for documents in many blocks.
    """
    settings, seed = fold_in_settings(sweeps, burn_in, max(len(draws), 1)), checked_seed(seed)
    n_columns = whole_number("n_columns", n_columns, 1)
    if len(columns) != len(draws):
        raise SettingsError(
            f"columns: {len(columns)} arrays for {len(draws)} draws; give one per draw", code="wrong-length"
        )
    column_ks = [_columns(columns[s], draw.m_k.size, n_columns, s) for s, draw in enumerate(draws)]
    prepared = [fixed_topics(draw) for draw in draws]

    def find(corpus: Corpus | CorpusArrays, jobs: int) -> Array:
        documents = _scaled_down(new_documents(draws, corpus))
        result = np.zeros((documents.content.size, n_columns))
        for number, (topics, column_k) in enumerate(zip(prepared, column_ks, strict=True)):
            a_c = np.bincount(column_k, weights=topics.a_k, minlength=n_columns)
            key = Key(seed, 0, number, FOLD_IN)
            visit_in_blocks(
                fold_in, new_fold_in_scratch, jobs, key, documents, topics, settings, column_k, a_c, result
            )
        return result

    return find


def _columns(columns: Array, n_topics: int, n_columns: int, number: int) -> Array:
    """Return the column of each topic, and of the rest."""
    given = np.asarray(columns)
    if given.shape != (n_topics,) or given.dtype.kind not in "iu":
        raise SettingsError(
            f"columns of draw {number}: an array of {given.dtype}, shape {given.shape}; give a whole number "
            f"for each of its {n_topics:,} topics",
            code="wrong-shape",
        )
    if given.min(initial=0) < -1 or given.max(initial=0) >= n_columns:
        raise SettingsError(
            f"columns of draw {number} reach from {given.min()} to {given.max()}; give numbers from 0 to "
            f"{n_columns - 1}, or -1 for the last column",
            code="out-of-range",
        )
    return np.append(np.where(given < 0, n_columns - 1, given), n_columns - 1).astype(np.int64)


def checked_seed(seed: int) -> int:
    """Return the seed as a plain int. Any other type would compile every kernel again."""
    return whole_number("seed", seed, 0, LARGEST_SEED)


def fold_in_settings(sweeps: int, burn_in: int, n_draws: int) -> FoldInSettings:
    """Return the settings of a fold-in that averages over this many draws."""
    sweeps = whole_number("sweeps", sweeps, 1)
    return FoldInSettings(sweeps, heats(whole_number("burn_in", burn_in, 0, sweeps - 1)), 1.0 / n_draws)


def new_documents(draws: Sequence[Draw], corpus: Corpus | CorpusArrays) -> NewDocuments:
    """Check that the draws fit the documents, and return the documents for the kernels."""
    if not draws:
        raise FranchiseError(
            "there are no draws: run the chain beyond its burn-in, so that it keeps draws", code="no-draws"
        )
    for draw in draws:
        n_terms = draw.topic_terms.shape[1]
        if n_terms != corpus.n_terms:
            raise CorpusError(
                f"the documents have a vocabulary of {corpus.n_terms:,} terms, the topics have {n_terms:,}; "
                "make the documents with the vocabulary of the model",
                code="vocabulary-mismatch",
            )
    return in_order(corpus.x, corpus.doc_ptr, corpus.n_terms)


def in_order(x: Array, doc_ptr: Array, n_terms: int) -> NewDocuments:
    """Sort the words of each document by term, and name the documents by their words."""
    document = np.repeat(np.arange(doc_ptr.size - 1), np.diff(doc_ptr))
    is_in_order = np.all((x[1:] >= x[:-1]) | (document[1:] > document[:-1]))  # true for counts
    ordered = x if is_in_order else np.sort(document * n_terms + x) % n_terms
    documents = NewDocuments(ordered.astype(np.int32), doc_ptr.copy(), np.zeros(doc_ptr.size - 1, np.uint64))
    with interrupts_deferred():
        hash_documents(documents)
    return documents


def _scaled_down(documents: NewDocuments) -> NewDocuments:
    """Return documents with at most `MOST_WORDS` words: every n-th word of a longer one, in term order."""
    lengths = np.diff(documents.doc_ptr)
    if lengths.max(initial=0) <= MOST_WORDS:
        return documents
    doc_ptr = offsets_of(np.minimum(lengths, MOST_WORDS))
    shorter = documents._replace(x=np.empty(doc_ptr[-1], np.int32), doc_ptr=doc_ptr)
    for j, n in enumerate(lengths.tolist()):
        own = _kept_places(n) if n > MOST_WORDS else np.arange(n)
        shorter.x[doc_ptr[j] : doc_ptr[j + 1]] = documents.x[documents.doc_ptr[j] + own]
    with interrupts_deferred():
        hash_documents(shorter)
    return shorter


def _kept_places(n: int) -> npt.NDArray[np.int64]:
    """Return the places of the words to keep, out of n > `MOST_WORDS` words in term order."""
    return (2 * np.arange(MOST_WORDS, dtype=np.int64) + 1) * n // (2 * MOST_WORDS)


def scaled_down_counts(counts: Any) -> Any:
    """Scale large rows of counts down as `mixtures` does, without listing their words.

    Rows that are not counts are unchanged, so that the later check of counts refuses them.
    """
    from scipy.sparse import csr_array

    if counts.dtype.kind not in "iuf" or counts.ndim != 2 or not _has_large_rows(counts):
        return counts
    rows = csr_array(counts, dtype=np.float64 if counts.dtype.kind == "f" else np.int64, copy=True)
    rows.sum_duplicates()
    for begin, end in pairwise(rows.indptr.tolist()):
        values = rows.data[begin:end]
        n = float(values.sum(dtype=np.float64))
        if MOST_WORDS < n <= MAX_WORDS and values.min() >= 0 and np.array_equal(values, np.floor(values)):
            ends = np.cumsum(values.astype(np.int64))
            cells = np.searchsorted(ends, _kept_places(int(n)), side="right")
            rows.data[begin:end] = np.bincount(cells, minlength=ends.size)
    return rows


def _has_large_rows(counts: Any) -> bool:
    with np.errstate(all="ignore"):
        return bool(np.any(np.asarray(counts.sum(axis=1)) > MOST_WORDS))


def visit_in_blocks(
    kernel: Callable[..., None],
    new_scratch: Callable[[FixedTopics, int], Any],
    jobs: int,
    key: Key,
    documents: NewDocuments,
    topics: FixedTopics,
    *more_arguments: Any,
) -> None:
    """Call a kernel for all documents, one block at a time, in `jobs` threads.

    A thread is used even if `jobs` is 1: Ctrl-C might crash a running kernel, and with threads it waits for
    the current blocks.
    """
    longest = int(np.diff(documents.doc_ptr).max(initial=0))

    def visit(begin: int) -> None:
        end = min(begin + _DOCUMENTS_A_BLOCK, documents.content.size)
        kernel(key, documents, topics, new_scratch(topics, longest), begin, end, *more_arguments)

    with ThreadPoolExecutor(whole_number("jobs", jobs, 1)) as pool:
        # A new thread has default settings (such as NumPy's for overflow): give it the caller's.
        blocks = range(0, documents.content.size, _DOCUMENTS_A_BLOCK)
        futures = [pool.submit(copy_context().run, visit, begin) for begin in blocks]
        try:
            for begin, future in zip(blocks, futures, strict=True):
                future.result()
                advance(min(_DOCUMENTS_A_BLOCK, documents.content.size - begin))
        finally:
            for future in futures:
                future.cancel()
