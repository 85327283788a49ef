"""Which documents the page holds, and which words of them are marked for which topic.

A page cannot hold a hundred thousand documents: those that show best what a topic is about come first, the
rest is a sample. A word is marked for the topic that is most probable for it, ``argmax_k theta_jk phi_kv``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from franchise._text import printable
from franchise.corpus import Corpus
from franchise.corpus.vectorize import TextOptions

if TYPE_CHECKING:
    from franchise.posterior.estimates import Posterior

MOST_DOCUMENTS = 2_000
MOST_CHARACTERS = 4_000_000  # of all documents together
LONGEST_DOCUMENT = 8_000  # characters of one
_SMALLEST_SHARE = 0.005  # of a topic that is named beside a document
_SEED = 0  # the same sample every time


class Span(NamedTuple):
    """A stretch of a text that is a word of the vocabulary."""

    start: int
    end: int
    term: int


def choose_documents(corpus: Corpus, representatives: Sequence[Sequence[int]]) -> list[int]:
    """Return the numbers of the documents to show, in order.

    The best of each topic come first, then the second best, and so on, then a random sample, until
    there are `MOST_DOCUMENTS` or the texts have `MOST_CHARACTERS`.
    """
    chosen: dict[int, None] = {}
    characters = 0
    for j in _by_interest(corpus.n_documents, representatives):
        if j in chosen:
            continue
        characters += _characters(corpus, j)
        if chosen and characters > MOST_CHARACTERS:
            break
        chosen[j] = None
        if len(chosen) == MOST_DOCUMENTS:
            break
    return sorted(chosen)


def _by_interest(n_documents: int, representatives: Sequence[Sequence[int]]) -> Iterator[int]:
    for rank in range(max(map(len, representatives), default=0)):
        for of_topic in representatives:
            yield from of_topic[rank : rank + 1]
    yield from np.random.default_rng(_SEED).permutation(n_documents).tolist()


def _characters(corpus: Corpus, j: int) -> int:
    if corpus.texts is not None:
        return min(len(corpus.texts[j]), LONGEST_DOCUMENT)
    return min(sum(len(corpus.vocabulary[v]) + 1 for v in corpus.document(j)), LONGEST_DOCUMENT)


class Finder:
    """Finds the words of the vocabulary in texts, as the corpus was made from them."""

    def __init__(self, corpus: Corpus) -> None:
        options = corpus.text_options or TextOptions(stop_words=None)
        self._pattern = re.compile(options.token_pattern)
        self._lowercase = options.lowercase
        self._ngrams = options.ngram_range
        self._is_kept = _stop_word_filter(options)
        self._term = {term: v for v, term in enumerate(corpus.vocabulary)}

    def __call__(self, text: str) -> list[Span]:
        """Return the words of a text, in order; of terms that overlap, the longer."""
        tokens = [token for token in self._tokens(text) if self._is_kept(token[2])]
        found: list[Span | None] = [None] * len(tokens)
        for n in range(self._ngrams[1], self._ngrams[0] - 1, -1):
            for i in range(len(tokens) - n + 1):
                term = self._term.get(" ".join(token[2] for token in tokens[i : i + n]))
                if term is not None and not any(found[i : i + n]):
                    found[i : i + n] = [Span(start, end, term) for start, end, _ in tokens[i : i + n]]
        return [span for span in found if span]

    def _tokens(self, text: str) -> Iterator[tuple[int, int, str]]:
        lowered = text.lower() if self._lowercase else text
        # A capital may become two characters in lower case; then places must be counted one by one.
        where = None if len(lowered) == len(text) else _origins(text)
        group = self._pattern.groups
        for match in self._pattern.finditer(lowered):
            start, end = match.span(group)
            if start == end:  # an optional group that is not there
                continue
            if where:
                yield where[start], where[end - 1] + 1, match.group(group)
            else:
                yield start, end, match.group(group)


def _origins(text: str) -> list[int]:
    """Return, for each character of the text in lower case, the character that it comes from."""
    return [i for i, character in enumerate(text) for _ in character.lower()]


def _stop_word_filter(options: TextOptions) -> Any:
    if options.stop_words == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        stop_words = frozenset(ENGLISH_STOP_WORDS)
    else:
        stop_words = frozenset(options.stop_words or ())
    return lambda token: token not in stop_words


def describe_documents(posterior: Posterior, corpus: Corpus, chosen: Sequence[int]) -> list[dict[str, Any]]:
    """Return what the page needs of each chosen document.

    `marks` is a flat list of three numbers a marked word: how many characters (as JavaScript counts them)
    after the end of the last one it begins, its length, and its topic.
    """
    finder = Finder(corpus) if corpus.texts is not None else None
    log_phi = np.log(posterior.phi)
    described = []
    for j in chosen:
        theta = posterior.document_topics[j]
        if finder and corpus.texts is not None:
            text, cut = _shortened(printable(corpus.texts[j]))
            spans = finder(text)
        else:
            text, spans, cut = _words_in_place_of_text(corpus, j)
        described.append(
            {
                "number": j,
                "name": corpus.document_names[j],
                "words": int(corpus.document_lengths[j]),
                "mixture": _mixture(theta[:-1]),
                "text": text,
                "cut": cut,
                "marks": _marks(text, spans, _topics_of(spans, theta[:-1], log_phi)),
            }
        )
    return described


def _shortened(text: str) -> tuple[str, bool]:
    if len(text) <= LONGEST_DOCUMENT:
        return text, False
    start = text[:LONGEST_DOCUMENT]
    whole_words = start[: start.rfind(" ")] if " " in start else start
    return whole_words, True


def _words_in_place_of_text(corpus: Corpus, j: int) -> tuple[str, list[Span], bool]:
    """Write the words of a document one after another; equal ones in a row are counted."""
    text, spans = "", list[Span]()
    for v, group in groupby(corpus.document(j).tolist()):
        if len(text) > LONGEST_DOCUMENT:
            return text, spans, True
        word, times = printable(corpus.vocabulary[v]), len(list(group))
        spans.append(Span(len(text), len(text) + len(word), v))
        text += f"{word} ×{times} " if times > 1 else f"{word} "
    return text.rstrip(" "), spans, False


def _topics_of(spans: list[Span], theta: npt.NDArray[Any], log_phi: npt.NDArray[Any]) -> list[int]:
    terms = [span.term for span in spans]
    with np.errstate(divide="ignore"):  # a topic that the document cannot have
        scores = np.log(theta)[:, None] + log_phi[:, terms]
    return [int(k) for k in scores.argmax(axis=0)]


def _mixture(theta: npt.NDArray[Any]) -> list[tuple[int, float]]:
    order = np.argsort(-theta, kind="stable")
    return [(int(k), float(theta[k])) for k in order if theta[k] >= _SMALLEST_SHARE]


def _marks(text: str, spans: list[Span], topics: list[int]) -> list[int]:
    units = len if all(character <= "\uffff" for character in text) else _utf16_units
    marks, last = [], 0
    for span, topic in zip(spans, topics, strict=True):
        marks += [units(text[last : span.start]), units(text[span.start : span.end]), topic]
        last = span.end
    return marks


def _utf16_units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2
