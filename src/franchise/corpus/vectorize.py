"""From texts to words: how a text is split, and which terms are kept.

The options have scikit-learn's names and meanings, its ``CountVectorizer`` does the splitting, and terms are
kept as it keeps them; but words stay in the order of the text. Texts are taken as they are: put accents in
one form (``unicodedata.normalize("NFC", text)``) before, where that matters. Where in a text its words are
is found in ``spans``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import pairwise
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from franchise._settings import flag, is_one_of, whole_number
from franchise.corpus import growing
from franchise.corpus.convert import iterate, names_of
from franchise.corpus.corpus import Corpus
from franchise.corpus.growing import count_terms
from franchise.corpus.metadata import check_same_order
from franchise.corpus.stop_words import LANGUAGES, stop_words_of
from franchise.corpus.strings import GrowingTexts
from franchise.corpus.tokens import Offsets, Words, drop_unknown, learn_vocabulary, renumber
from franchise.errors import CorpusError, SettingsError

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer

# Below this number of documents every document counts, so the defaults keep all terms.
_FEW_DOCUMENTS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOptions:
    r"""How texts become words, with the option names of scikit-learn's ``CountVectorizer``.

    Parameters
    ----------
    lowercase
        Convert the text to lower case first.
    token_pattern
        Regular expression of a word; by default, two or more letters, digits or underscores. With a group,
        the group is the word.
    stop_words
        Words to leave out: ``"english"`` for scikit-learn's list, another language
        (:data:`~franchise.corpus.stop_words.LANGUAGES`), a list of your own (in lower case if ``lowercase``),
        or None to leave out none.
    ngram_range
        Shortest and longest sequence of words that make a term; ``(1, 2)`` takes words and pairs.
    min_df
        Leave out terms in fewer documents: a number (int), or a share of all documents (float). By default 2,
        or 1 when there are fewer than 50 documents.
    max_df
        Leave out terms in more documents: a number (int), or a share of all documents (float). By default
        half of the documents, or all when there are fewer than 50.
    max_features
        Keep only this many terms, those with the most words; ties go by the alphabet. By default, all.

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

    def __post_init__(self) -> None:
        checked = {
            "lowercase": flag("lowercase", self.lowercase),
            "token_pattern": _pattern(self.token_pattern),
            "stop_words": _stop_words(self.stop_words),
            "ngram_range": _range(self.ngram_range),
            "min_df": _document_share("min_df", self.min_df),
            "max_df": _document_share("max_df", self.max_df),
            "max_features": _limit(self.max_features),
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
        """Return the options as JSON can hold them; :meth:`from_dict` takes them back."""
        options = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()}

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> TextOptions:
        """Make options from their names and values; those not given have their defaults."""
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                raise SettingsError(
                    f"{name}: there is no such text option; give {', '.join(known)}", code="unknown-option"
                )
        return cls(**options)

    def vectorizer(self) -> CountVectorizer:
        """Return scikit-learn's vectorizer for the splitting; it is not told which terms to keep."""
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
        """Return the function that splits a text into words (and n-grams), before terms are left out."""
        analyzer: Callable[[str], list[str]] = self.vectorizer().build_analyzer()
        return analyzer

    def resolved(self, n_documents: int) -> TextOptions:
        """Return the options with `min_df` and `max_df` as they are for this many documents."""
        few = n_documents < _FEW_DOCUMENTS
        min_df = (1 if few else 2) if self.min_df is None else self.min_df
        max_df = (1.0 if few else 0.5) if self.max_df is None else self.max_df
        return replace(self, min_df=min_df, max_df=max_df)

    def document_limits(self, n_documents: int) -> tuple[float, float]:
        """Return in how many documents a term must be, at least and at most."""
        options = self.resolved(n_documents)
        min_df, max_df = options.min_df, options.max_df
        assert min_df is not None
        assert max_df is not None
        low, high = (df if isinstance(df, int) else df * n_documents for df in (min_df, max_df))
        if low > high:
            raise SettingsError(
                f"min_df={min_df} asks for terms in {low:g} documents or more, max_df={max_df} in {high:g} "
                f"or fewer, out of {n_documents:,}; lower min_df or raise max_df",
                code="conflicting-settings",
            )
        return low, high


def from_texts(
    texts: Iterable[str],
    *,
    document_names: Sequence[str] | None = None,
    keep_texts: bool | int = True,
    text_options: TextOptions | None = None,
    metadata: Any = None,
    **options: Any,
) -> Corpus:
    """Make a corpus from raw texts.

    Parameters
    ----------
    texts
        One string per document. An iterator is read once.
    document_names
        One name per document. By default, a Series' index, otherwise ``"0"``, ``"1"``, and so on.
    keep_texts
        Keep the texts in the corpus, to show them beside topics; a number keeps them only if they have no
        more characters than that in all. Otherwise only their words are kept.
    text_options
        How texts become words.
    metadata
        What else is known of each document, as :class:`Corpus` takes it: ``df[["year", "category"]]``.
    **options
        Single options, instead of ``text_options``: see :class:`TextOptions`.

    Returns
    -------
    Corpus
        Words in the order of the text, terms in alphabetical order; documents without words are kept.

    Examples
    --------
    >>> from_texts(["The bee and the ant", "A bee!"]).vocabulary
    ('ant', 'bee')
    """
    if text_options is None:
        text_options = TextOptions.from_dict(options)
    elif options:
        raise SettingsError(
            f"{', '.join(options)}: give text_options, or single options, not both",
            code="conflicting-settings",
        )
    kept = KeptTexts(keep_texts)
    names = names_of(texts) if document_names is None else document_names
    check_same_order(texts, metadata)
    x, doc_ptr, terms = learn_vocabulary(split_texts(texts, text_options, keep=kept.add))
    if not terms:
        raise nothing_found(len(doc_ptr) - 1, text_options)
    n_documents_of = document_frequencies(x, doc_ptr, len(terms))
    chosen = choose_terms(n_documents_of, partial(count_terms, x, len(terms)), len(doc_ptr) - 1, text_options)
    rank = np.full(len(terms), -1, dtype=np.int32)
    rank[chosen] = np.arange(len(chosen), dtype=np.int32)
    renumber(x, rank)
    x, doc_ptr, _ = drop_unknown(x, doc_ptr)
    vocabulary = [terms[v] for v in chosen]
    return Corpus(
        x, doc_ptr, vocabulary, names, texts=kept.texts, text_options=text_options, metadata=metadata
    )


class KeptTexts:
    """Texts that are kept as long as there are not too many characters; of many, on disk."""

    def __init__(self, keep: bool | int) -> None:
        room = int(keep) if isinstance(keep, bool) else whole_number("keep_texts", keep, 0)
        self._texts: list[str] | GrowingTexts | None = [] if room else None
        self._room = math.inf if keep is True else room
        self._in_memory = growing.MOST_IN_MEMORY

    def add(self, text: str) -> None:
        """Keep one more text, or none at all from now on."""
        self._room -= len(text)
        self._in_memory -= len(text)
        if self._room < 0:
            self._texts = None
        if isinstance(self._texts, list) and self._in_memory < 0:
            few, self._texts = self._texts, GrowingTexts()
            for one in few:
                self._texts.append(one)
        if self._texts is not None:
            self._texts.append(text)

    @property
    def texts(self) -> Sequence[str] | None:
        """All texts, if they are kept; none can be added after that."""
        return self._texts.packed() if isinstance(self._texts, GrowingTexts) else self._texts


def split_texts(
    texts: Iterable[str], options: TextOptions, *, keep: Callable[[str], None] | None = None
) -> Iterator[list[str]]:
    """Split one text after the other into words; ``keep`` is called with each text, if it is given."""
    analyze = options.build_analyzer()
    for j, text in enumerate(iterate(texts, "texts")):
        if not isinstance(text, str):
            raise CorpusError(
                f"document {j} is {shortened(text)} ({type(text).__name__}), not a text; give one string per "
                'document, and "" where there is none',
                code="not-a-text",
            )
        plain = str(text)  # NumPy's own strings become plain ones
        if keep is not None:
            keep(plain)
        yield analyze(plain)


def choose_terms(
    n_documents_of: npt.NDArray[np.intp],
    n_words_of: Callable[[], npt.NDArray[np.int64]],
    n_documents: int,
    options: TextOptions,
) -> npt.NDArray[np.int64]:
    """Return the terms to keep, in increasing order.

    Terms are in alphabetical order. `n_words_of` counts the words of each; it is asked only where
    ``max_features`` needs it.
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
    n_words = n_words_of()[chosen]
    # Stable: terms are in alphabetical order, and ties must fall the same way on every machine.
    return np.sort(chosen[np.argsort(-n_words, kind="stable")[: options.max_features]])


def document_frequencies(x: Words, doc_ptr: Offsets, n_terms: int) -> npt.NDArray[np.intp]:
    """Return in how many documents each term is."""
    from scipy.sparse import csr_array  # scikit-learn has loaded it by now

    found = np.zeros(n_terms, dtype=np.intp)
    starts = np.unique(np.searchsorted(doc_ptr, np.arange(0, len(x), growing.PIECE), side="right")) - 1
    for first, last in pairwise([*starts, len(doc_ptr) - 1]):
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


def _pattern(value: object) -> str:
    if not isinstance(value, str):
        raise SettingsError(
            f"token_pattern={value!r}: give a regular expression, as a string", code="wrong-type"
        )
    try:
        pattern = re.compile(value)
    except (re.error, OverflowError) as error:
        raise SettingsError(
            f"token_pattern={value!r}: not a regular expression: {error}; correct it", code="bad-pattern"
        ) from None
    if pattern.groups > 1:
        raise SettingsError(
            f"token_pattern={value!r}: it has {pattern.groups} groups; only one can be the word, "
            "write the others as (?:...)",
            code="bad-pattern",
        )
    if pattern.search(""):
        raise SettingsError(
            f"token_pattern={value!r}: it matches empty strings; use + instead of *", code="bad-pattern"
        )
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
    return tuple(sorted(set(map(str, words))))  # the order says nothing


def _range(value: Any) -> tuple[int, int]:
    try:
        shortest, longest = value
        numbers = whole_number("shortest", shortest, 1), whole_number("longest", longest, 1)
        if numbers[0] > numbers[1]:
            raise ValueError
    except (TypeError, ValueError):
        raise SettingsError(
            f"ngram_range={value!r}: give two whole numbers, shortest and longest, such as (1, 2)",
            code="not-a-range",
        ) from None
    return numbers


def _limit(value: object) -> int | None:
    return None if value is None else whole_number("max_features", value, 1)


def _document_share(name: str, value: object) -> float | int | None:
    if value is None:
        return None
    try:
        if not isinstance(value, float | np.floating):
            return whole_number(name, value, 1)
        if 0 <= value <= 1:
            return float(value)
    except SettingsError:
        pass  # the message below names both ways to say it
    raise SettingsError(
        f"{name}={value!r}: give a share of the documents from 0.0 to 1.0, or their number, 1 or more",
        code="out-of-range",
    )
