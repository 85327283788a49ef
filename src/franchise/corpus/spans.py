"""Where the words of a text are: the splitting of ``vectorize``, with places.

scikit-learn's analyzer says which words and n-grams a text has, but not where, and whoever marks words in a
text must know both. The terms found here are the analyzer's, in its order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from franchise.corpus.vectorize import TextOptions

Place = tuple[int, int]


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
