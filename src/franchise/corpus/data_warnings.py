"""Warnings about documents that can be fitted but look wrong, in a sentence each."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from franchise.corpus.corpus import Corpus
from franchise.corpus.count_tables import FEW_TERMS
from franchise.corpus.shards.corpus import ShardedCorpus
from franchise.corpus.text_hints import text_hints
from franchise.errors import FranchiseWarning

# In texts, the numbers of different terms per document vary by 0.1 to 0.6 of their mean, and the numbers of
# documents per term by 1.2 to 5; in counts of mutations both vary by less than 0.1.
_TERMS_VARY, _TIMES_AS_MUCH = 1.0, 2.0
# Where hardly a count is 0, only the totals can tell. Those of tumours vary by 5, those of types of mutation
# by 1.3. Rows that vary little are samples: with many genes, most vary by less than 0.5.
_DENSE, _TIMES_AS_MANY, _TOTALS_VARY = 0.95, 5, 0.7
_MOST_WORDS = 2_000_000  # to look at
_ENOUGH = 20  # rows and columns to tell by
# In texts, a document that has a term has it one to two times, and a cell has a gene two to ten times.
_LARGE_COUNTS, _MANY_WORDS = 50, 100_000
_ADVISED = 1000
_FEW_DOCUMENTS = 100  # of fewer, no share says much
_VERY_FEW_DOCUMENTS = 50  # where the defaults of `TextOptions` keep all terms
# Names of types of mutation and genes, which are terms.
_NAMES_OF_TERMS = re.compile(r"[ACGT]?\[?[CT]>[ACGT]\]?[ACGT]?( [ACGT]{3})?|ENS[A-Z]*G\d{9,}(\.\d+)?")


def corpus_warnings(corpus: Corpus) -> list[FranchiseWarning]:
    """Return what looks wrong, nothing if all is well."""
    found = []
    if corpus.documents_of_length[1:].sum() == 1:
        found.append(
            FranchiseWarning(
                "there is only one document with words, and topics are what documents have in common; "
                "split it, into paragraphs for instance",
                code="only-one-document",
            )
        )
    is_table = corpus.text_options is None and corpus.n_terms <= FEW_TERMS
    if not (is_table or isinstance(corpus, ShardedCorpus)):
        found += _few_documents(corpus) + text_hints(corpus)
    if corpus.text_options is None and (why := _why_transposed(corpus)):
        message = (
            f"the counts look transposed: {why}; rows must be documents and columns terms: read them with "
            "transpose=True, or give counts.T"
        )
        found.append(FranchiseWarning(message, code="transposed-counts"))
    is_large = corpus.n_terms > FEW_TERMS and corpus.n_words >= _MANY_WORDS
    if corpus.text_options is None and corpus.downsampling is None and is_large:
        found += _count_warnings(corpus)
    return found


def _few_documents(corpus: Corpus) -> list[FranchiseWarning]:
    n_documents = int(corpus.documents_of_length[1:].sum())
    if not 1 < n_documents < _VERY_FEW_DOCUMENTS:
        return []
    message = (
        f"there are only {n_documents} documents with words, so a topic can be what a single one is about; "
        "give more, or cut long texts into paragraphs, each a document"
    )
    return [FranchiseWarning(message, code="few-documents")]


def _count_warnings(corpus: Corpus) -> list[FranchiseWarning]:
    some = _some_of(corpus)
    words_per_cell = some.n_words / some.to_counts().nnz
    if words_per_cell < _LARGE_COUNTS:
        return []
    message = (
        f"the counts are very large, {words_per_cell:,.0f} on average where a document has a term at all: to "
        "the model every one of them is evidence of its own, so differences that mean nothing become topics, "
        "and there will be many near-copies of the same few; keep fewer words of each document, for "
        f"example {_ADVISED:,} (corpus.downsampled({_ADVISED}), or --downsample {_ADVISED})"
    )
    return [FranchiseWarning(message, code="large-counts")]


def topic_warnings(n_topics: int, corpus: Corpus) -> list[FranchiseWarning]:
    """Return what looks wrong about a number of topics, nothing if all is well."""
    n_terms = int(np.count_nonzero(corpus.term_counts))
    n_documents = int(corpus.documents_of_length[1:].sum())
    if n_topics > n_terms:
        message = f"there are more topics ({n_topics:,}) than terms ({n_terms:,}); a larger eta gives fewer"
        return [FranchiseWarning(message, code="many-topics")]
    if n_documents >= _FEW_DOCUMENTS and n_topics > n_documents / 10:
        message = (
            f"there are {n_topics:,} topics for {n_documents:,} documents, so that many have few documents "
            "to stand on; a larger eta gives fewer"
        )
        return [FranchiseWarning(message, code="many-topics")]
    return []


def held_out_warnings(doc_ptr: npt.NDArray[np.int64]) -> list[FranchiseWarning]:
    """Return what looks wrong about documents to score a model on, nothing if all is well."""
    if np.count_nonzero(np.diff(doc_ptr)) == 1:
        message = "only one document with known words was held out, so its score says little; give more"
        return [FranchiseWarning(message, code="one-document-held-out")]
    return []


def unknown_words_warnings(known: int, unknown: int) -> list[FranchiseWarning]:
    """Return what looks wrong about new documents with these numbers of words, nothing if all is well."""
    if unknown <= known:
        return []
    message = f"{unknown:,} of {unknown + known:,} words are not in the model's vocabulary and were skipped"
    return [FranchiseWarning(message, code="unknown-words")]


def _why_transposed(corpus: Corpus) -> str:
    """Say why rows look like terms and columns like documents; nothing if they do not."""
    names = corpus.document_names[:_ENOUGH]
    if len(names) > 4 and all(map(_NAMES_OF_TERMS.fullmatch, names)):
        return f"rows are called {names[0]!r} and so on, as terms are"
    counts = _some_of(corpus).to_counts()
    terms_of_each = np.diff(counts.indptr)
    documents_of_each = np.bincount(counts.indices, minlength=1)
    rows, columns = (numbers[numbers > 0] for numbers in (terms_of_each, documents_of_each))
    if min(rows.size, columns.size) < _ENOUGH:
        return ""
    n_rows, n_columns = corpus.n_documents, corpus.n_terms
    if _variation(rows) > max(_TERMS_VARY, _TIMES_AS_MUCH * _variation(columns)):
        return f"the {n_rows:,} rows vary as terms do, the {n_columns:,} columns as documents do"
    is_dense = counts.nnz > _DENSE * rows.size * columns.size
    if not is_dense or n_columns < _TIMES_AS_MANY * n_rows:
        return ""
    by_row, by_column = (_variation(counts.sum(axis=axis, dtype=np.float64)) for axis in (1, 0))
    if not _TOTALS_VARY < by_row < by_column:
        return ""
    return f"nearly all of the {n_columns:,} columns have counts in all of the {n_rows:,} rows"


def _variation(numbers: npt.NDArray[Any]) -> float:
    """Return the standard deviation of the positive numbers, divided by their mean."""
    numbers = numbers[numbers > 0]
    return float(numbers.std() / numbers.mean())


def _some_of(corpus: Corpus) -> Corpus:
    """Return the corpus, or every n-th document of one that is too large to look at."""
    size = corpus.cells.terms.size if corpus.keeps_cells else corpus.n_words
    step = -(-size // _MOST_WORDS)
    if isinstance(corpus, ShardedCorpus) and step > 1:
        some = corpus.spread(corpus.n_documents // step)
        has_words = any(corpus.document(j).size for j in some.tolist())
        return corpus.select(some if has_words else np.arange(corpus.shards[0].n_documents))
    chosen = np.arange(0, corpus.n_documents, step)
    if chosen.size == corpus.n_documents or not corpus.document_lengths[chosen].any():
        return corpus
    return corpus.select(chosen)
