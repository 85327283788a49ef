"""Which documents the page holds, and which words of them are marked for which topic.

A page cannot hold a hundred thousand documents: those that show best what a topic is about come first, the
rest is a sample. A word is marked for the topic that is most probable for it, ``argmax_k theta_jk phi_kv``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from franchise._text import printable
from franchise.corpus import Corpus
from franchise.corpus.text_options import TextOptions
from franchise.corpus.texts import Place, build_locator
from franchise.posterior.estimates import Posterior

MOST_DOCUMENTS = 2_000
MOST_CHARACTERS = 4_000_000  # of all documents together
LONGEST_DOCUMENT = 8_000  # characters of one
_SMALLEST_SHARE = 0.005  # of a topic that is named beside a document
_SEED = 0  # the same sample every time


Integers = npt.NDArray[np.int64]


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
    terms, lengths = corpus.runs(j)
    widths = (len(corpus.vocabulary[v]) + 1 for v in terms)
    return min(sum(width * int(times) for width, times in zip(widths, lengths)), LONGEST_DOCUMENT)


class Finder:
    """Finds the words of the vocabulary in texts, as the corpus was made from them."""

    def __init__(self, corpus: Corpus) -> None:
        self._locate = build_locator(corpus.text_options or TextOptions(stop_words=None))
        self._number = {term: v for v, term in enumerate(corpus.vocabulary)}

    def __call__(self, text: str) -> list[Span]:
        """Return the words of a text, in order; of terms that overlap, the longer."""
        found: dict[Place, int] = {}
        for term, places in sorted(self._locate(text), key=lambda located: -len(located.places)):
            number = self._number.get(term)
            if number is not None and found.keys().isdisjoint(places):
                found.update(dict.fromkeys(places, number))
        spans = (Span(*place, number) for place, number in sorted(found.items()))
        return [span for span in spans if span.start < span.end]


def describe_documents(posterior: Posterior, corpus: Corpus, chosen: Sequence[int]) -> list[dict[str, Any]]:
    """Return what the page needs of each chosen document.

    `marks` is a flat list of three numbers per marked word: how many characters (as JavaScript counts them)
    after the end of the last one it begins, its length, and its topic.
    """
    finder = Finder(corpus) if corpus.texts is not None else None
    log_phi = np.ascontiguousarray(np.log(posterior.phi).T)
    described = []
    for j, theta in zip(chosen, posterior.mixtures(np.array(chosen, np.int64)), strict=True):
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
    for v, times in zip(*(run.tolist() for run in corpus.runs(j))):
        if len(text) > LONGEST_DOCUMENT:
            return text, spans, True
        word = printable(corpus.vocabulary[v])
        spans.append(Span(len(text), len(text) + len(word), v))
        text += f"{word} ×{times} " if times > 1 else f"{word} "
    return text.rstrip(" "), spans, False


def _topics_of(spans: list[Span], theta: npt.NDArray[Any], log_phi: npt.NDArray[Any]) -> Integers:
    """Return the topic of each word; `log_phi` has a row per term."""
    with np.errstate(divide="ignore"):  # a topic that the document cannot have
        scores = log_phi[[span.term for span in spans]] + np.log(theta)
    topics: Integers = np.argmax(scores, axis=1)
    return topics


def _mixture(theta: npt.NDArray[Any]) -> list[tuple[int, float]]:
    order = np.argsort(-theta, kind="stable")
    large = order[: np.count_nonzero(theta >= _SMALLEST_SHARE)]
    return list(zip(large.tolist(), theta[large].tolist()))


def _marks(text: str, spans: list[Span], topics: Integers) -> Integers:
    characters = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    at = np.zeros(characters.size + 1, np.int64)  # where characters begin in UTF-16
    np.cumsum(1 + (characters > 0xFFFF), out=at[1:])
    start, end, _ = np.array(spans, np.int64).reshape(-1, 3).T
    gaps = np.diff(np.column_stack([at[start], at[end]]).ravel(), prepend=0)
    return np.column_stack([gaps.reshape(-1, 2), topics]).ravel()
