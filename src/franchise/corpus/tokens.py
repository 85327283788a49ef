"""Numbers for the words of documents, which are lists of words or of term ids."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from reprlib import repr as shortened
from typing import Any

import numpy as np
import numpy.typing as npt

from franchise.corpus.large_arrays import BLOCK, Growing, blocks, handed_over, is_mapped
from franchise.errors import CorpusError

Words = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]

_SPLIT_FIRST = "a document is a list of words; split the text first"


def learn_vocabulary(documents: Iterable[Any]) -> tuple[Words, Offsets, tuple[str, ...]]:
    """Find all terms of documents, which may have none, and give each word its term's alphabetical rank."""
    seen: defaultdict[str, int] = defaultdict()
    seen.default_factory = seen.__len__  # a new word gets the next number

    def number(words: list[Any], j: int) -> Iterable[int]:
        if not _all_strings(words):
            raise _not_a_word(words, j, "words are strings; for term ids give a vocabulary too")
        return map(seen.__getitem__, words)

    ids, doc_ptr = _number_words(documents, number)
    terms = tuple(sorted(seen))
    rank = np.empty(len(terms), dtype=np.int32)
    rank[[seen[term] for term in terms]] = np.arange(len(terms), dtype=np.int32)
    renumber(ids, rank)
    return ids, doc_ptr, terms


def renumber(ids: Words, new: npt.NDArray[np.int32]) -> None:
    """Replace each number by its new one, in place."""
    # In blocks: NumPy widens what it looks up to 64 bits, which for all at once is three times the words.
    for block in blocks(len(ids)):
        ids[block] = new[ids[block]]


def drop_unknown(ids: Words, doc_ptr: Offsets) -> tuple[Words, Offsets, npt.NDArray[np.int64]]:
    """Drop the words with number -1; return words, offsets, and how many each document lost.

    Words that are mapped from a file are moved there, and not copied.
    """
    if is_mapped(ids):
        return _drop_in_place(ids, doc_ptr)
    before = np.searchsorted(np.flatnonzero(ids < 0), doc_ptr)
    x, offsets = ids[ids >= 0], doc_ptr - before
    x.flags.writeable = offsets.flags.writeable = False  # so that Corpus need not copy them
    return x, offsets, np.diff(before)


def _drop_in_place(ids: Words, doc_ptr: Offsets) -> tuple[Words, Offsets, npt.NDArray[np.int64]]:
    before = np.zeros(len(doc_ptr), dtype=np.int64)
    n_kept = 0
    for block in blocks(len(ids)):
        words = ids[block]
        kept = words[words >= 0]
        first, last = np.searchsorted(doc_ptr, [block.start, block.stop], side="right")
        gone = np.flatnonzero(words < 0) + block.start
        before[first:last] = block.start - n_kept + np.searchsorted(gone, doc_ptr[first:last])
        ids[n_kept : n_kept + kept.size] = kept
        n_kept += kept.size
    offsets = doc_ptr - before
    offsets.flags.writeable = False
    return handed_over(ids[:n_kept]), offsets, np.diff(before)


def apply_vocabulary(documents: Iterable[Any], vocabulary: Sequence[str]) -> tuple[Words, Offsets]:
    """Give each word of documents, or term id, its number in a vocabulary; refuse what is not there."""
    index = {term: v for v, term in enumerate(vocabulary)}

    def number(words: list[Any], j: int) -> Iterable[int]:
        if not _all_strings(words):
            return _term_ids(words, j, len(vocabulary))
        unknown = next((word for word in words if word not in index), None)
        if unknown is not None:
            raise CorpusError(
                f"document {j}: {unknown!r} is not in the vocabulary; add it, or drop such words first",
                code="unknown-term",
            )
        return map(index.__getitem__, words)

    return _number_words(documents, number)


def _number_words(
    documents: Iterable[Any], number: Callable[[list[Any], int], Iterable[int]]
) -> tuple[Words, Offsets]:
    # One pass over what may be an iterator; four bytes per word, in memory or on disk.
    ids, buffer, doc_ptr = Growing(), array("i"), array("q", [0])
    n_words = 0
    for j, document in enumerate(documents):
        buffer.extend(number(_words(document, j), j))
        doc_ptr.append(n_words + len(buffer))
        if len(buffer) >= BLOCK:
            n_words += len(buffer)
            ids.extend(buffer)
            buffer = array("i")
    ids.extend(buffer)
    return ids.array(), np.asarray(doc_ptr)


def _words(document: Any, j: int) -> list[Any]:
    if isinstance(document, str | bytes):
        raise CorpusError(f"document {j} is a single string; {_SPLIT_FIRST}", code="single-string")
    if isinstance(document, AbstractSet | Mapping):
        raise CorpusError(
            f"document {j} is a {type(document).__name__}; give a list, which keeps order and repeats",
            code="unordered-collection",
        )
    if isinstance(document, np.ndarray):
        return document.tolist() if document.ndim == 1 else [document]
    try:
        return list(document)
    except TypeError:
        raise CorpusError(
            f"document {j} is {shortened(document)} ({type(document).__name__}); {_SPLIT_FIRST}",
            code="wrong-type",
        ) from None


def _all_strings(words: list[Any]) -> bool:
    # The set of types is quick; only exotic strings (NumPy's) need the second look.
    return set(map(type, words)) <= {str} or all(isinstance(word, str) for word in words)


def _term_ids(words: list[Any], j: int, n_terms: int) -> list[int]:
    if not all(isinstance(word, int | np.integer) and not isinstance(word, bool) for word in words):
        raise _not_a_word(words, j, "give all words as strings, or all as term ids")
    for word in words:
        if not 0 <= word < n_terms:
            raise CorpusError(
                f"document {j}: term id {word} is outside the vocabulary of {n_terms:,} terms; "
                "ids count from 0",
                code="term-out-of-range",
            )
    return words


def _not_a_word(words: list[Any], j: int, advice: str) -> CorpusError:
    i, word = next((i, word) for i, word in enumerate(words) if not isinstance(word, str))
    return CorpusError(
        f"document {j}, word {i} is {shortened(word)} ({type(word).__name__}); {advice}", code="not-a-word"
    )
