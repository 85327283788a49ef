"""From documents to numbered words: number lists of words, split texts, and choose terms.

scikit-learn's ``CountVectorizer`` splits texts, and terms are chosen by its rules. Unlike there, words stay
in the order of the text, and `build_locator` finds their places. Unicode is not normalised: if accents may
come in several forms, call ``unicodedata.normalize("NFC", text)`` first.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from reprlib import repr as shortened
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from franchise.corpus.checks import iterate
from franchise.corpus.html import without_html
from franchise.corpus.large_arrays import (
    BLOCK,
    Growing,
    GrowingTexts,
    blocks,
    blocks_of_documents,
    handed_over,
)
from franchise.corpus.text_options import TextOptions
from franchise.errors import CorpusError

# ---------------------------------------------------------------- lists of words

Words = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]

_SPLIT_FIRST = "a document is a list of words; split the text first"


def learn_vocabulary(documents: Iterable[Any], first: int = 0) -> tuple[Words, Offsets, tuple[str, ...]]:
    """Find all terms of documents, and number each word by the alphabetical rank of its term.

    There may be no words. `first` is the number of the first document in messages.
    """
    seen: defaultdict[str, int] = defaultdict()
    seen.default_factory = seen.__len__  # gives a new word the next number

    def number(words: list[Any], j: int) -> Iterable[int]:
        if not _all_strings(words):
            raise _not_a_word(words, j, "words are strings; for term ids give a vocabulary too")
        return map(seen.__getitem__, words)

    ids, doc_ptr = _number_words(documents, number, first)
    terms = tuple(sorted(seen))
    rank = np.empty(len(terms), dtype=np.int32)
    rank[[seen[term] for term in terms]] = np.arange(len(terms), dtype=np.int32)
    renumber(ids, rank)
    return ids, doc_ptr, terms


def renumber(ids: Words, new: npt.NDArray[np.int32]) -> None:
    """Replace each number by its new one, in place."""
    # In blocks, because NumPy widens indices to 64 bits: three times the memory of the words.
    for block in blocks(len(ids)):
        ids[block] = new[ids[block]]


def drop_unknown(ids: Words, doc_ptr: Offsets) -> tuple[Words, Offsets, npt.NDArray[np.int64]]:
    """Drop the words with number -1, in place; return words, offsets, and the number dropped per document."""
    before, n_kept = np.zeros(len(doc_ptr), dtype=np.int64), 0
    for block in blocks(len(ids)):
        kept = ids[block][ids[block] >= 0]
        gone = np.flatnonzero(ids[block] < 0) + block.start
        first, last = np.searchsorted(doc_ptr, [block.start, block.stop], side="right")
        before[first:last] = block.start - n_kept + np.searchsorted(gone, doc_ptr[first:last])
        if n_kept + kept.size < block.stop:  # if no word is dropped, the array may be read-only
            ids[n_kept : n_kept + kept.size] = kept
        n_kept += kept.size
    return handed_over(ids[:n_kept]), handed_over(doc_ptr - before), np.diff(before)


def apply_vocabulary(documents: Iterable[Any], vocabulary: Sequence[str]) -> tuple[Words, Offsets]:
    """Return the numbers of words in a vocabulary, and offsets; refuse unknown words and term ids."""
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
    documents: Iterable[Any], number: Callable[[list[Any], int], Iterable[int]], first: int = 0
) -> tuple[Words, Offsets]:
    # One pass, because this may be an iterator; four bytes per word, in memory or on disk.
    ids, buffer, doc_ptr = Growing(), array("i"), array("q", [0])
    n_words = 0
    for j, document in enumerate(documents, first):
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
    # The set of types is fast; only unusual strings (NumPy's) need the second check.
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


# ---------------------------------------------------------------- texts

Place = tuple[int, int]


def split_texts(texts: Iterable[str], options: TextOptions, kept: GrowingTexts) -> Iterator[list[str]]:
    """Yield the words of each text, and keep the texts in `kept`, without HTML if it is removed."""
    analyze = replace(options, strip_html=False).build_analyzer()
    for j, text in enumerate(iterate(texts, "texts")):
        if not isinstance(text, str):
            raise CorpusError(
                f"document {j} is {shortened(text)} ({type(text).__name__}), not a text; give one string per "
                'document, and "" if it has no text',
                code="not-a-text",
            )
        plain = str(text)  # NumPy's own strings become plain ones
        if options.strip_html:
            plain = without_html(plain)
        kept.append(plain)
        yield analyze(plain)


def choose_terms(
    n_documents_of: npt.NDArray[np.intp],
    n_words_of: npt.NDArray[np.int64],
    n_documents: int,
    options: TextOptions,
) -> npt.NDArray[np.int64]:
    """Return the terms to keep, given alphabetical terms with their numbers of documents and words."""
    n_terms = len(n_documents_of)
    low, high = options.document_limits(n_documents)
    rare, common = n_documents_of < low, n_documents_of > high
    chosen = np.flatnonzero(~(rare | common))
    if not chosen.size:
        raise CorpusError(
            f"no term is left: of {n_terms:,} terms, {rare.sum():,} are in fewer than {low:g} documents "
            f"(min_df) and {common.sum():,} in more than {high:g} (max_df); lower min_df or raise max_df",
            code="no-terms-left",
        )
    if options.max_features is None or chosen.size <= options.max_features:
        return chosen
    n_words = n_words_of[chosen]
    # Stable, so that ties are broken alphabetically on every machine.
    return np.sort(chosen[np.argsort(-n_words, kind="stable")[: options.max_features]])


def document_frequencies(x: Words, doc_ptr: Offsets, n_terms: int) -> npt.NDArray[np.intp]:
    """Return the number of documents that have each term."""
    from scipy.sparse import csr_array  # scikit-learn has loaded it by now

    found = np.zeros(n_terms, dtype=np.intp)
    for first, last in blocks_of_documents(doc_ptr):
        words = x[doc_ptr[first] : doc_ptr[last]].copy()
        ends = doc_ptr[first : last + 1] - doc_ptr[first]
        # One byte per entry is enough, because counts within a document do not matter here.
        present = csr_array((np.ones(len(words), dtype=np.bool_), words, ends), shape=(last - first, n_terms))
        present.sum_duplicates()
        found += np.bincount(present.indices, minlength=n_terms)
    return found


def nothing_found(n_texts: int, options: TextOptions) -> CorpusError:
    """Return the error for texts without a single word."""
    if n_texts == 0:
        return CorpusError("there are no texts; give at least one", code="empty-corpus")
    guilty = f"token_pattern={options.token_pattern!r}"
    if options.stop_words is not None:
        guilty += f", stop_words={shortened(options.stop_words)}"
    if options.ngram_range[0] > 1:
        guilty += f", ngram_range={options.ngram_range}"
    return CorpusError(
        f"no word was found in {n_texts:,} texts with {guilty}; change these options, "
        "unless the texts are empty",
        code="no-words-found",
    )


# ---------------------------------------------------------------- places in a text


class Located(NamedTuple):
    """A term, and the start and end in the text of each of its words."""

    term: str
    places: tuple[Place, ...]


def build_locator(options: TextOptions) -> Callable[[str], list[Located]]:
    """Return a function that splits a text like the analyzer, with places; the shortest n-grams come first.

    Examples
    --------
    >>> build_locator(TextOptions(ngram_range=(1, 2)))("The ant, the Bee")[1:]
    [Located(term='bee', places=((13, 16),)), Located(term='ant bee', places=((4, 7), (13, 16)))]
    """
    vectorizer = options.vectorizer()
    prepare = vectorizer.build_preprocessor()
    pattern = re.compile(options.token_pattern)
    stop_words = vectorizer.get_stop_words() or frozenset()
    shortest, longest = options.ngram_range

    def locate(text: str) -> list[Located]:
        words = [found for found in _words_in(text, prepare(text), pattern) if found[0] not in stop_words]
        lengths = range(shortest, longest + 1)
        grams = (tuple(zip(*words[i : i + n])) for n in lengths for i in range(len(words) - n + 1))
        return [Located(" ".join(gram), places) for gram, places in grams]

    return locate


def _words_in(text: str, prepared: str, pattern: re.Pattern[str]) -> Iterator[tuple[str, Place]]:
    """Yield the words of a prepared text, with their places in the original text."""
    # A capital may become two characters in lower case. Places are then counted one by one.
    origins: list[int] = []
    if len(prepared) != len(text):
        origins = [i for i, character in enumerate(text) for _ in character.lower()] + [len(text)]
    for match in pattern.finditer(prepared):
        start, end = match.span(pattern.groups)
        if start < 0:  # an optional group did not match: a word without letters
            start = end = match.start()
        word = prepared[start:end]
        if origins:
            start, end = origins[start], origins[end - 1] + 1 if end > start else origins[start]
        yield word, (start, end)
