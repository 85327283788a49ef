"""The options for splitting texts into words, with scikit-learn's names and meanings.

scikit-learn's ``CountVectorizer`` splits the texts. The choice of terms, and the order of words, is in
``texts``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from franchise._settings import flag, is_one_of, whole_number
from franchise.corpus.html import without_html
from franchise.corpus.stop_words import LANGUAGES, stop_words_of
from franchise.errors import SettingsError

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer

Options = TypeVar("Options")

# With fewer documents, each one matters, so the defaults keep all terms.
_FEW_DOCUMENTS = 50


def given_options(
    kind: type[Options], given: Options | None, single: Mapping[str, Any], name: str
) -> Options:
    """Return options given together as the argument `name`, or one by one."""
    if given is not None and single:
        raise SettingsError(
            f"{', '.join(single)}: give {name} or single options, not both", code="conflicting-settings"
        )
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    for one in single:
        if one not in known:
            what = name.replace("_", " ").removeprefix("read ").removesuffix("s")
            raise SettingsError(
                f"{one}: no such {what}; give one of {', '.join(known)}", code="unknown-option"
            )
    return given or kind(**single)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOptions:
    r"""Options for splitting texts into words, named as in scikit-learn's ``CountVectorizer``.

    Parameters
    ----------
    lowercase
        Convert the text to lower case first.
    token_pattern
        Regular expression of a word; by default, two or more letters, digits or underscores. If it has a
        group, the group is the word.
    stop_words
        Words to leave out: ``"english"`` for scikit-learn's list, another language
        (:data:`~franchise.corpus.stop_words.LANGUAGES`), a list of your own (in lower case if ``lowercase``),
        or None to leave out none.
    ngram_range
        Shortest and longest sequence of words that form a term; ``(1, 2)`` means words and pairs.
    min_df
        Leave out terms in fewer documents: a number (int), or a share of all documents (float). By default 2,
        or 1 with fewer than 50 documents.
    max_df
        Leave out terms in more documents: a number (int), or a share of all documents (float). By default
        half of the documents, or all with fewer than 50.
    max_features
        Keep only this many terms, those with the most words; ties are broken alphabetically. By default, all.
    strip_html
        Remove HTML from the texts first: tags, comments, scripts and styles are dropped, and entities such as
        ``&amp;`` become characters.

    Raises
    ------
    SettingsError
        If an option is out of its range.

    Examples
    --------
    >>> TextOptions(ngram_range=(1, 2)).build_analyzer()("The ant, the bee")
    ['ant', 'bee', 'ant bee']
    """

    lowercase: bool = True
    token_pattern: str = r"(?u)\b\w\w+\b"
    stop_words: str | Sequence[str] | None = "english"
    ngram_range: tuple[int, int] = (1, 1)
    min_df: float | int | None = None
    max_df: float | int | None = None
    max_features: int | None = None
    strip_html: bool = False

    def __post_init__(self) -> None:
        most = self.max_features
        checked = {
            "lowercase": flag("lowercase", self.lowercase),
            "token_pattern": _pattern(self.token_pattern),
            "stop_words": _stop_words(self.stop_words),
            "ngram_range": _range(self.ngram_range),
            "min_df": _document_share("min_df", self.min_df),
            "max_df": _document_share("max_df", self.max_df),
            "max_features": None if most is None else whole_number("max_features", most, 1),
            "strip_html": flag("strip_html", self.strip_html),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        low, high = self.min_df, self.max_df
        if low is not None and high is not None and type(low) is type(high) and low > high:
            raise SettingsError(
                f"min_df={low} is more than max_df={high}; no term can satisfy both; change one",
                code="conflicting-settings",
            )

    def as_dict(self) -> dict[str, Any]:
        """Return the options for JSON; :meth:`from_dict` is the inverse."""
        options = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()}

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> TextOptions:
        """Make options from names and values; missing options have their defaults."""
        return given_options(cls, None, options, "text_options")

    def vectorizer(self) -> CountVectorizer:
        """Return scikit-learn's vectorizer, used only for splitting."""
        from sklearn.feature_extraction.text import CountVectorizer  # takes a second to import

        stop_words = self.stop_words
        if stop_words is not None:
            stop_words = stop_words_of(stop_words) if isinstance(stop_words, str) else list(stop_words)
        return CountVectorizer(
            lowercase=self.lowercase,
            token_pattern=self.token_pattern,
            stop_words=stop_words,
            ngram_range=self.ngram_range,
        )

    def build_analyzer(self) -> Callable[[str], list[str]]:
        """Return the function that splits a text into words (and n-grams), before the choice of terms."""
        analyze: Callable[[str], list[str]] = self.vectorizer().build_analyzer()
        return (lambda text: analyze(without_html(text))) if self.strip_html else analyze

    def resolved(self, n_documents: int) -> TextOptions:
        """Return the options with the values of `min_df` and `max_df` for this many documents."""
        few = n_documents < _FEW_DOCUMENTS
        min_df = (1 if few else 2) if self.min_df is None else self.min_df
        max_df = (1.0 if few else 0.5) if self.max_df is None else self.max_df
        return replace(self, min_df=min_df, max_df=max_df)

    def document_limits(self, n_documents: int) -> tuple[float, float]:
        """Return the least and the largest number of documents that a term may be in."""
        options = self.resolved(n_documents)
        min_df, max_df = options.min_df, options.max_df
        assert min_df is not None
        assert max_df is not None
        low, high = (df if isinstance(df, int) else df * n_documents for df in (min_df, max_df))
        if low > high:
            raise SettingsError(
                f"min_df={min_df} keeps terms in {low:g} documents or more, max_df={max_df} in {high:g} "
                f"or fewer, out of {n_documents:,}; lower min_df or raise max_df",
                code="conflicting-settings",
            )
        return low, high


def _pattern(value: object) -> str:
    if not isinstance(value, str):
        raise SettingsError(
            f"token_pattern={value!r}: give a regular expression, as a string", code="wrong-type"
        )
    wrong = ""
    try:
        pattern = re.compile(value)
        if pattern.groups > 1:
            wrong = f"it has {pattern.groups} groups; only one can be the word, write the others as (?:...)"
        elif pattern.search(""):
            wrong = "it matches empty strings; use + instead of *"
    except (re.error, OverflowError) as error:
        wrong = f"not a regular expression: {error}; correct it"
    if wrong:
        raise SettingsError(f"token_pattern={value!r}: {wrong}", code="bad-pattern")
    return value


def _stop_words(value: object) -> str | tuple[str, ...] | None:
    if value is None or is_one_of(value, LANGUAGES):
        return value  # type: ignore[return-value]
    words = list(value) if isinstance(value, Iterable) and not isinstance(value, str | bytes) else [None]
    if not all(isinstance(word, str) for word in words):
        raise SettingsError(
            f"stop_words={shortened(value)}: give {', '.join(map(repr, LANGUAGES))}, a list of words, or "
            "None for none",
            code="unknown-stop-words",
        )
    return tuple(sorted(set(map(str, words))))  # the order has no meaning


def _range(value: Any) -> tuple[int, int]:
    try:
        shortest, longest = value
        shortest = whole_number("shortest", shortest, 1)
        return shortest, whole_number("longest", longest, shortest)
    except (TypeError, ValueError):
        raise SettingsError(
            f"ngram_range={value!r}: give two whole numbers, shortest and longest, such as (1, 2)",
            code="not-a-range",
        ) from None


def _document_share(name: str, value: object) -> float | int | None:
    if value is None:
        return None
    try:
        if not isinstance(value, float | np.floating):
            return whole_number(name, value, 1)
        if 0 <= value <= 1:
            return float(value)
    except SettingsError:
        pass  # the message below explains both forms
    raise SettingsError(
        f"{name}={value!r}: give a share of the documents from 0.0 to 1.0, or their number, 1 or more",
        code="out-of-range",
    )
