"""What users pass to the estimator: checked as scikit-learn checks it, and turned into words."""

from __future__ import annotations

import math
import sys
import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from franchise._files import Facts
from franchise.corpus import Corpus, TextOptions, from_counts
from franchise.corpus.checks import is_frame, names_of
from franchise.corpus.count_tables import is_count_table
from franchise.corpus.counts import refuse_texts
from franchise.corpus.data_warnings import corpus_warnings, unknown_words_warnings
from franchise.corpus.documents import Encoded, as_corpus, encode, is_matrix, options_without_texts
from franchise.corpus.metadata import check_same_order
from franchise.engines.starts.tables import MOST_USED, Effective, effective_table
from franchise.errors import FranchiseWarning
from franchise.predict.fixed_topics import scaled_down_counts

_MANY_CELLS = 50_000  # that take seconds to look at
_FEW_COUNTS = 500  # of a document, with which rare topics go unseen


def training_corpus(
    estimator: Any, X: Any, metadata: Any = None, text_options: Facts | None = None
) -> Corpus:
    """Return the documents of a fit; sets the estimator's `n_features_in_` and names.

    What looks wrong about them is a warning.
    """
    corpus = _corpus_of(estimator, X, text_options)
    warn_of(corpus_warnings(corpus), stacklevel=4)
    if metadata is None:
        return corpus  # one that was given may have its own
    check_same_order(X, metadata)
    return corpus.with_metadata(metadata)


def effective_corpus(corpus: Corpus, seed: int, verbose: int | bool) -> Corpus:
    """Return a table whose documents have as many counts as they are worth; other documents as they are."""
    if corpus.downsampling is not None or not is_count_table(corpus):
        return corpus
    if verbose and corpus.cells.terms.size >= _MANY_CELLS:
        print("choosing the number of topics", file=sys.stderr, flush=True)
    found = effective_table(corpus, seed)
    if found.corpus is not corpus:
        warn_of([_used_counts(corpus, found)], stacklevel=4)
    return found.corpus


def _used_counts(corpus: Corpus, found: Effective) -> FranchiseWarning:
    """Say how many counts are used, and why."""
    used = f"{found.corpus.n_words:,} of {corpus.n_words:,} counts are used"
    if math.isinf(found.concentration):
        message = (
            f"documents of more than {MOST_USED:,} counts are scaled down to {MOST_USED:,}, as no mixture of "
            f"topics fits larger ones exactly: {used} (effective_counts=False, or --all-counts, uses all)"
        )
        return FranchiseWarning(message, code="scaled-counts")
    message = (
        f"the counts of a document vary together, more than mixtures of topics explain: {used}, as many as "
        "would say as much if they were independent (effective_counts=False, or --all-counts, uses all)"
    )
    typical = int(np.median(found.corpus.document_lengths))
    if typical < _FEW_COUNTS:
        message += (
            f". A typical document is worth {typical:,} counts: topics that are rare, or much like "
            "others, cannot be told from this variation"
        )
    return FranchiseWarning(message, code="overdispersed-counts")


def warn_of(found: list[FranchiseWarning], stacklevel: int) -> None:
    """Make a warning of each doubt."""
    for doubt in found:
        warnings.warn(doubt, stacklevel=stacklevel)


def _corpus_of(estimator: Any, X: Any, text_options: Facts | None) -> Corpus:
    options = None if text_options is None else TextOptions.from_dict(text_options)
    if not _are_counts(X):
        vars(estimator).pop("feature_names_in_", None)
        corpus = as_corpus(X, options)
        estimator.n_features_in_ = corpus.n_terms
        return corpus
    if options is not None:
        raise options_without_texts()
    names = names_of(X)
    counts = _checked(estimator, X, reset=True)
    return from_counts(counts, vocabulary=getattr(estimator, "feature_names_in_", None), document_names=names)


def in_known_terms(estimator: Any, X: Any, *, scaled: bool = False) -> Encoded:
    """Return new documents in the terms of a fitted estimator; warn if most of their words are unknown.

    With `scaled`, large rows of counts are those that mixtures are found by.
    """
    documents = X
    if _are_counts(X):
        documents = _checked(estimator, X, reset=False)
        documents = scaled_down_counts(documents) if scaled else documents
    encoded = encode(documents, estimator.corpus_, names_of(X))
    known, unknown = encoded.arrays.x.size, int(encoded.unknown.sum())
    warn_of(unknown_words_warnings(known, unknown), stacklevel=4)
    return encoded


def _are_counts(X: Any) -> bool:
    if hasattr(X, "__array__") and not hasattr(X, "shape"):
        X = np.asarray(X)
    return is_matrix(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "biufc")


def _checked(estimator: Any, X: Any, *, reset: bool) -> Any:
    # Before scikit-learn looks at them: it would quote a text in full.
    if is_frame(X):
        refuse_texts(X.to_numpy(), X.columns)
    elif isinstance(X, np.ndarray):
        refuse_texts(X)
    # Values that are no counts are refused later, with their row and column.
    return validate_data(
        estimator, X, accept_sparse="csr", dtype="numeric", ensure_all_finite=False, reset=reset
    )
