"""Corpora from the objects of other libraries: AnnData, gensim's bags of words, Hugging Face's datasets.

Objects are recognised by their attributes; none of these libraries is imported.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.corpus.checks import iterate, numbered
from franchise.corpus.corpus import Corpus
from franchise.corpus.counts import from_counts
from franchise.corpus.metadata import nearest, small_columns
from franchise.errors import CorpusError, SettingsError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# A single wrong, huge id would create that many names of terms.
_MOST_TERMS = 50_000_000


def from_anndata(data: Any, *, layer: str | None = None, metadata: Sequence[str] | None = None) -> Corpus:
    """Make a corpus from an AnnData object: cells are documents, genes are terms.

    Parameters
    ----------
    data
        The object. ``obs_names`` become the names of the documents, ``var_names`` the terms.
    layer
        The layer with the counts (a key of ``layers``); by default, ``X``.
    metadata
        The columns of ``obs`` to keep, ``[]`` for none. The default keeps all small columns: at most 200
        characters per value, 10 million characters per column, and 50 columns.

    Returns
    -------
    Corpus
        All cells and genes, in their order.

    Raises
    ------
    CorpusError
        If counts are not whole numbers, as after normalisation, or gene names are not unique.
    """
    counts, genes = counts_of_anndata(data, layer)
    try:
        names = [str(name) for name in data.obs_names]
        return from_counts(counts, vocabulary=genes, document_names=names, metadata=_kept(data, metadata))
    except CorpusError as error:
        hint = _other_layer(data, layer) if error.code == "fractional-count" else ""
        if error.code == "duplicate-term" and not data.var_names.is_unique:
            hint = "; call data.var_names_make_unique() first"
        raise CorpusError(f"{error}{hint}", code=error.code) from None


def _kept(data: Any, wanted: Sequence[str] | None) -> dict[str, Any] | None:
    """Return the columns of ``obs`` to keep, or None."""
    obs = getattr(data, "obs", None)
    columns = {} if obs is None else {str(label): obs[label] for label in obs.columns}
    for name in wanted or ():
        if name not in columns:
            raise CorpusError(
                f"there is no column {name!r} in obs; {nearest(name, columns)}", code="unknown-column"
            )
    kept = small_columns(columns) if wanted is None else {name: columns[name] for name in wanted}
    return kept or None


def counts_of_anndata(data: Any, layer: str | None = None) -> tuple[Any, tuple[str, ...]]:
    """Return the counts, cells by genes, and the names of the genes."""
    if layer is not None and layer not in data.layers:
        known = ", ".join(map(repr, data.layers)) or "none"
        raise SettingsError(f"layer={layer!r}: no such layer; the layers are {known}", code="unknown-choice")
    counts = data.X if layer is None else data.layers[layer]
    if counts is None:
        raise CorpusError(f"X is empty{_other_layer(data, layer)}", code="no-counts")
    return counts, tuple(str(name) for name in data.var_names)


def is_anndata(documents: Any) -> bool:
    """Return whether this is an AnnData object."""
    return all(hasattr(documents, name) for name in ("X", "obs_names", "var_names", "layers"))


def _other_layer(data: Any, layer: str | None) -> str:
    others = [name for name in data.layers if name != layer]
    if not others:
        return ""
    best = "counts" if "counts" in others else others[0]
    return f"; raw counts may be in another layer: give layer={best!r} to from_anndata"


def from_bow(documents: Iterable[Iterable[tuple[int, int]]], dictionary: Any = None) -> Corpus:
    """Make a corpus from gensim's bags of words.

    Parameters
    ----------
    documents
        The pairs (term id, count) of each document. An iterator, such as a gensim corpus, is read once.
    dictionary
        The terms: gensim's ``Dictionary``, a mapping of ids to terms or of terms to ids, or a list of terms
        in the order of their ids. By default, terms are named ``"0"``, ``"1"``, and so on.

    Returns
    -------
    Corpus
        Ids do not change, and terms of the dictionary that no document has are kept.

    Examples
    --------
    >>> from_bow([[(0, 2), (1, 1)], [(1, 1)]], {0: "ant", 1: "bee"})
    Corpus(2 documents, 2 terms, 4 words)
    """
    terms = None if dictionary is None else _terms(dictionary)
    counts = counts_of_pairs(documents, None if terms is None else len(terms))
    return from_counts(counts, vocabulary=terms)


def counts_of_pairs(documents: Iterable[Any], n_terms: int | None = None) -> csr_array:
    """Return pairs (term id, count) as a matrix, documents by terms."""
    from scipy.sparse import csr_array

    ids, counts, ends = array("q"), array("d"), array("q", [0])
    for j, document in enumerate(iterate(documents, "documents")):
        for pair in document:
            term, count = _checked_pair(pair, j, n_terms)
            ids.append(term)
            counts.append(count)
        ends.append(len(ids))
    width = max(ids, default=-1) + 1 if n_terms is None else n_terms
    return csr_array((np.asarray(counts), np.asarray(ids), np.asarray(ends)), shape=(len(ends) - 1, width))


def _checked_pair(pair: Any, j: int, n_terms: int | None) -> tuple[int, float]:
    try:
        term, count = pair
        is_id = isinstance(term, int | np.integer) and not isinstance(term, bool)
        if not is_id or isinstance(count, bool | str):
            raise TypeError
        number = float(count)
    except (TypeError, ValueError):
        raise CorpusError(
            f"document {j}: {shortened(pair)} is not a pair (term id, count); give whole numbers, ids from 0",
            code="not-a-pair",
        ) from None
    if not 0 <= term < (_MOST_TERMS if n_terms is None else n_terms):
        known = "too large" if n_terms is None else f"outside the vocabulary of {n_terms:,} terms"
        raise CorpusError(
            f"document {j}: term id {term} is {known if term >= 0 else 'negative'}; ids count from 0",
            code="term-out-of-range",
        )
    return int(term), number


def _terms(dictionary: Any) -> tuple[str, ...]:
    """Return the terms in the order of their ids."""
    named = getattr(dictionary, "token2id", dictionary)
    if isinstance(named, Mapping):
        pairs = [(v, k) if isinstance(k, str) else (k, v) for k, v in named.items()]
        if not all(isinstance(i, int | np.integer) and isinstance(term, str) for i, term in pairs):
            raise CorpusError(
                "the dictionary must map whole numbers to terms, or terms to whole numbers",
                code="wrong-type",
            )
        terms = list(numbered(max((i for i, _ in pairs), default=-1) + 1))
        for i, term in pairs:
            if i < 0:
                message = f"the dictionary has the id {i}; ids count from 0"
                raise CorpusError(message, code="term-out-of-range")
            terms[i] = term
        return tuple(terms)
    if isinstance(named, Sequence | np.ndarray) and not isinstance(named, str):
        return tuple(str(term) for term in named)
    raise CorpusError(
        f"the dictionary is {shortened(dictionary)} ({type(dictionary).__name__}); give gensim's Dictionary, "
        "a mapping of ids to terms, or a list of terms",
        code="wrong-type",
    )


def refuse_tables(documents: Any) -> None:
    """Refuse a whole Hugging Face dataset: only one of its columns holds the texts."""
    columns = getattr(documents, "column_names", None)
    if isinstance(documents, Mapping) and isinstance(columns, Mapping):
        split, columns = next(iter(columns.items()), ("train", []))
        what, advice = "parts", f"give a column of one part: dataset[{split!r}]"
    elif columns is not None and hasattr(documents, "features"):
        what, advice = "columns", "give the column of texts, such as dataset"
    else:
        return
    listed = ", ".join(map(repr, documents if what == "parts" else columns))
    first = "text" if "text" in columns or not columns else columns[0]
    raise CorpusError(f"the dataset has the {what} {listed}; {advice}[{first!r}]", code="not-one-column")
