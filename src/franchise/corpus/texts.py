"""From texts to words: a text is split, terms are chosen, and words are found again in the text.

scikit-learn's ``CountVectorizer`` does the splitting, and terms are kept as it keeps them; but words stay in
the order of the text. Texts are taken as they are: put accents in one form
(``unicodedata.normalize("NFC", text)``) before, where that matters.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from reprlib import repr as shortened
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from franchise._settings import whole_number
from franchise.corpus.checks import iterate
from franchise.corpus.html import without_html
from franchise.corpus.large_arrays import blocks_of_documents
from franchise.corpus.strings import GrowingTexts
from franchise.corpus.text_options import TextOptions
from franchise.corpus.tokens import Offsets, Words
from franchise.errors import CorpusError

Place = tuple[int, int]


class KeptTexts:
    """Texts to keep, up to a number of characters."""

    def __init__(self, keep: bool | int) -> None:
        room = int(keep) if isinstance(keep, bool) else whole_number("keep_texts", keep, 0)
        self._room = math.inf if keep is True else room
        self._texts = GrowingTexts() if self._room else None

    def add(self, text: str) -> None:
        """Keep one more text, or none at all from now on."""
        self._room -= len(text)
        if self._room < 0:
            self._texts = None
        if self._texts is not None:
            self._texts.append(text)

    @property
    def texts(self) -> Sequence[str] | None:
        """All texts, if they are kept; none can be added after that."""
        return None if self._texts is None else self._texts.packed()


def split_texts(
    texts: Iterable[str], options: TextOptions, *, keep: Callable[[str], None] | None = None
) -> Iterator[list[str]]:
    """Split one text after the other into words; ``keep`` is called with each text, if it is given.

    A text from which HTML is taken is kept without it.
    """
    analyze = replace(options, strip_html=False).build_analyzer()
    for j, text in enumerate(iterate(texts, "texts")):
        if not isinstance(text, str):
            raise CorpusError(
                f"document {j} is {shortened(text)} ({type(text).__name__}), not a text; give one string per "
                'document, and "" where there is none',
                code="not-a-text",
            )
        plain = str(text)  # NumPy's own strings become plain ones
        if options.strip_html:
            plain = without_html(plain)
        if keep is not None:
            keep(plain)
        yield analyze(plain)


def choose_terms(
    n_documents_of: npt.NDArray[np.intp],
    n_words_of: npt.NDArray[np.int64],
    n_documents: int,
    options: TextOptions,
) -> npt.NDArray[np.int64]:
    """Return the terms to keep, in increasing order.

    Terms are in alphabetical order; `n_documents_of` and `n_words_of` are the documents and words of each.
    """
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
    # Stable: terms are in alphabetical order, and ties must fall the same way on every machine.
    return np.sort(chosen[np.argsort(-n_words, kind="stable")[: options.max_features]])


def document_frequencies(x: Words, doc_ptr: Offsets, n_terms: int) -> npt.NDArray[np.intp]:
    """Return in how many documents each term is."""
    from scipy.sparse import csr_array  # scikit-learn has loaded it by now

    found = np.zeros(n_terms, dtype=np.intp)
    for first, last in blocks_of_documents(doc_ptr):
        words = x[doc_ptr[first] : doc_ptr[last]].copy()
        ends = doc_ptr[first : last + 1] - doc_ptr[first]
        # One byte per entry: how often a term occurs within a document does not matter here.
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
    """A term, and start and end in the text of each word that it is made of."""

    term: str
    places: tuple[Place, ...]


def build_locator(options: TextOptions) -> Callable[[str], list[Located]]:
    """Return the function that splits a text as the analyzer of these options does, with places.

    Parameters
    ----------
    options
        How texts become words.

    Returns
    -------
    Callable
        From a text to its terms: first the shortest n-grams, each length in the order of the text.

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
        words = [found for found in _words(text, prepare(text), pattern) if found[0] not in stop_words]
        return [
            Located(" ".join(word for word, _ in words[i : i + n]), tuple(at for _, at in words[i : i + n]))
            for n in range(shortest, longest + 1)
            for i in range(len(words) - n + 1)
        ]

    return locate


def _words(text: str, prepared: str, pattern: re.Pattern[str]) -> Iterator[tuple[str, Place]]:
    """Yield the words of a prepared text, with their places in the text as it was."""
    # A capital may become two characters in lower case; then places must be counted one by one.
    origins = None if len(prepared) == len(text) else _origins(text)
    for match in pattern.finditer(prepared):
        start, end = match.span(pattern.groups)
        if start < 0:  # an optional group that is not there: a word without letters
            start = end = match.start()
        word = prepared[start:end]
        if origins:
            start, end = origins[start], origins[end - 1] + 1 if end > start else origins[start]
        yield word, (start, end)


def _origins(text: str) -> list[int]:
    """Return, for each character of the text in lower case and for its end, where it comes from."""
    return [i for i, character in enumerate(text) for _ in character.lower()] + [len(text)]
