"""Adding documents to a corpus: new documents and terms follow the old ones, which do not change.

A term that the corpus does not have joins the vocabulary. If the corpus was made from texts, the number of
new documents with the term must satisfy `min_df` and `max_df`, as if the new documents were fitted alone.
Words of other unknown terms are left out, as rare words were left out of the old documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from franchise._arrays import CellArrays, offsets_of
from franchise.corpus.batches import from_texts, numbers_in
from franchise.corpus.cells import cells_from
from franchise.corpus.checks import is_frame, names_of, numbered
from franchise.corpus.corpus import Corpus
from franchise.corpus.documents import (
    _ANNDATA,
    _CORPUS,
    _COUNTS,
    _MATRIX,
    _TEXTS,
    _tell_kind,
    as_corpus,
    how_split,
)
from franchise.corpus.metadata import joined as joined_tables
from franchise.corpus.metadata import settle, settled
from franchise.corpus.text_options import TextOptions
from franchise.corpus.texts import document_frequencies, drop_unknown
from franchise.errors import CorpusError

if TYPE_CHECKING:
    import pandas as pd

_NAMED = 3  # documents in one message


def splitting(corpus: Corpus) -> TextOptions:
    """Return the text options for new texts: the options of the corpus, but with all terms kept.

    Raise CorpusError if the corpus was not made from texts.
    """
    return replace(how_split(corpus), min_df=1, max_df=1.0, max_features=None)


def more_documents(documents: Any, before: Corpus) -> Corpus:
    """Return new documents with the terms of a corpus and new terms, under distinct names.

    Parameters
    ----------
    documents
        Documents as for `as_corpus`. Texts are split like the texts of the corpus. The columns of unnamed
        counts are the terms of the corpus; columns of a DataFrame have their names.
    before
        The corpus.

    Returns
    -------
    Corpus
        The new documents alone. The terms of `before` come first in the vocabulary, in their order.

    Raises
    ------
    CorpusError
        If the documents are of no known kind, have names that are already in the corpus, or have no words.
    """
    given = _as_corpus(documents, before)
    number, vocabulary = _numbers(given, before)
    names = _names(given.document_names, before.document_names)
    about = given.about() | {"text_options": None}
    if before.keeps_cells or given.keeps_cells:
        cells = _renumbered_cells(given, number, len(vocabulary))
        if cells.n_words:
            return Corpus.from_cells(cells, vocabulary, names, **about)
    else:
        x, doc_ptr, _ = drop_unknown(number[given.x], given.doc_ptr)
        if x.size:
            return Corpus(x, doc_ptr, vocabulary, names, **about)
    raise CorpusError(
        f"the new documents have no word among the model's {before.n_terms:,} terms, and none that could "
        "join them; give documents of the same kind as the model's",
        code="no-common-terms",
    )


def joined(before: Corpus, new: Corpus) -> Corpus:
    """Join two corpora, in this order; `new` comes from `more_documents`.

    If only one of them has a column of metadata, its values are missing in the documents of the other. Texts
    are kept if both have them.
    """
    texts = None
    if before.texts is not None and new.texts is not None:
        texts = [*before.texts, *new.texts]
    options = before.text_options
    about = {
        # The defaults depend on the number of documents, which changes.
        "text_options": options and options.resolved(before.n_documents),
        "texts": texts,
        "metadata": _metadata(before, new),
        "downsampling": _downsampling(before, new),
    }
    names = (new.vocabulary, (*before.document_names, *new.document_names))
    doc_ptr = _end_to_end(before.doc_ptr, new.doc_ptr)
    if not before.keeps_cells:
        return Corpus(np.concatenate([before.x, new.x]), doc_ptr, *names, **about)
    ours, theirs = before.cells, new.cells
    cells = CellArrays(
        doc_ptr,
        _end_to_end(ours.cell_ptr, theirs.cell_ptr),
        np.concatenate([ours.terms, theirs.terms]),
        np.concatenate([ours.counts, theirs.counts]),
        new.n_terms,
    )
    return Corpus.from_cells(cells, *names, **about)


def missing_columns(before: Corpus, metadata_names: Sequence[str]) -> list[str]:
    """Return the columns of metadata that the new documents lack."""
    return [name for name in before.metadata_names if name not in metadata_names]


def _as_corpus(documents: Any, before: Corpus) -> Corpus:
    """Return documents of any kind as a corpus with all their terms."""
    kind, checked = _tell_kind(documents)
    if kind == _CORPUS:
        return documents  # type: ignore[no-any-return]
    names = names_of(documents)
    if kind == _TEXTS:
        return from_texts(checked, document_names=names, text_options=splitting(before))
    is_whole = kind in (_MATRIX, _ANNDATA)
    corpus = as_corpus(documents if is_whole else list(checked))
    if not is_whole and names is not None:
        corpus = corpus.with_names(corpus.vocabulary, names)
    if is_frame(documents) or corpus.vocabulary != numbered(corpus.n_terms):
        return corpus
    # Unnamed columns and term ids refer to the terms of the corpus.
    if corpus.n_terms != before.n_terms and kind in (_MATRIX, _COUNTS):
        raise CorpusError(
            f"the counts have {corpus.n_terms:,} columns, but the model has {before.n_terms:,} terms; give "
            "one column per term in the model's order, or a DataFrame with the terms as columns",
            code="vocabulary-mismatch",
        )
    if corpus.n_terms > before.n_terms:
        raise CorpusError(
            f"the documents have the term id {corpus.n_terms - 1:,}, but the model has terms 0 to "
            f"{before.n_terms - 1:,}; give ids of its terms",
            code="term-out-of-range",
        )
    return corpus.with_names(before.vocabulary, corpus.document_names)


def _numbers(given: Corpus, before: Corpus) -> tuple[npt.NDArray[np.int32], tuple[str, ...]]:
    """Return the number of each term of new documents, -1 if it is left out, and all terms."""
    number = numbers_in(before.vocabulary, given.vocabulary)
    joins = (number < 0) & (given.term_counts > 0)
    if before.text_options is not None:
        joins &= _often_enough(given, before.text_options.resolved(before.n_documents), joins, before.n_terms)
    new = np.flatnonzero(joins)
    number[new] = before.n_terms + np.arange(new.size)
    return number, (*before.vocabulary, *(given.vocabulary[v] for v in new))


def _often_enough(
    given: Corpus, options: TextOptions, unknown: npt.NDArray[np.bool_], n_terms: int
) -> npt.NDArray[np.bool_]:
    """Return which unknown terms satisfy `min_df`, `max_df` and `max_features` in the new documents."""
    within = document_frequencies(given.x, given.doc_ptr, given.n_terms)
    low, high = (df if isinstance(df, int) else df * given.n_documents for df in _limits(options))
    enough = unknown & (within >= low) & (within <= high)
    if options.max_features is not None:
        room, terms = max(0, options.max_features - n_terms), np.flatnonzero(enough)
        order = np.argsort(-given.term_counts[terms], kind="stable")
        enough[terms[order[room:]]] = False
    return enough


def _limits(options: TextOptions) -> tuple[float | int, float | int]:
    assert options.min_df is not None
    assert options.max_df is not None
    return options.min_df, options.max_df


def _names(new: Sequence[str], before: Sequence[str]) -> tuple[str, ...]:
    """Return the names of new documents; default numbers continue the numbers of the old documents."""
    if tuple(new) == numbered(len(new)):
        new = [str(j) for j in range(len(before), len(before) + len(new))]
    known = set(before)
    there = list(dict.fromkeys(name for name in new if name in known))
    twice = list(dict.fromkeys(name for name in _repeated(new) if name not in known))
    for names, what in ((there, "the model already has"), (twice, "the new documents have twice")):
        if names:
            named = ", ".join(repr(name[:80]) for name in names[:_NAMED])
            more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
            raise CorpusError(
                f"{what} documents named {named}{more}; leave these out, or give them other names",
                code="duplicate-documents",
            )
    return tuple(new)


def _repeated(names: Sequence[str]) -> list[str]:
    seen: set[str] = set()
    return [name for name in names if name in seen or seen.add(name)]  # type: ignore[func-returns-value]


def _renumbered_cells(given: Corpus, number: npt.NDArray[np.int32], n_terms: int) -> CellArrays:
    cells = given.cells
    documents = np.repeat(np.arange(given.n_documents), np.diff(cells.cell_ptr))
    terms = number[cells.terms]
    kept = terms >= 0
    entries = documents[kept], terms[kept], cells.counts[kept].astype(np.int64)
    return cells_from(*entries, given.n_documents, n_terms)


def _end_to_end(one: npt.NDArray[np.int64], two: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return offsets_of(np.concatenate([np.diff(one), np.diff(two)]))


def _metadata(before: Corpus, new: Corpus) -> pd.DataFrame | None:
    """Return the joined tables, with every column that either corpus has."""
    import pandas as pd

    names = list(dict.fromkeys([*before.metadata_names, *new.metadata_names]))
    tables, kinds = [], None
    for one in (before, new):
        missing = pd.Series(np.full(one.n_documents, np.nan))
        own = one.metadata
        columns = {name: missing if own is None or name not in own else own[name] for name in names}
        tables.append(pd.DataFrame(columns))
        kinds = settle(kinds, tables[-1])
    table = joined_tables(tables, settled(kinds))
    if table is None or before.metadata is None:
        return table
    for name, column in before.metadata.items():
        if hasattr(table[name], "cat") and hasattr(column, "cat"):  # in their original order
            order = _in_order(column.cat.categories, table[name].cat.categories)
            table[name] = table[name].cat.reorder_categories(order)
    return table


def _in_order(first: Sequence[str], every: Sequence[str]) -> list[str]:
    there = set(every)
    return list(dict.fromkeys([*(one for one in first if one in there), *every]))


def _downsampling(before: Corpus, new: Corpus) -> Any:
    """Describe the words left out of both corpora together."""
    ours, theirs = before.downsampling, new.downsampling
    if ours is None or theirs is None:
        return ours
    return ours._replace(
        words=max(ours.words, theirs.words),
        n_documents=ours.n_documents + theirs.n_documents,
        n_words_before=ours.n_words_before + theirs.n_words_before,
    )
