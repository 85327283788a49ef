"""Hints about texts before a fit: another language, no spaces, HTML, documents that are there twice.

Some hundred documents are looked at, spread over the corpus; of duplicates, all documents of up to 20 million
words. Each hint names the option that helps.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache

import numpy as np

from franchise._text import counted
from franchise.corpus.corpus import Corpus
from franchise.corpus.duplicates import repeats
from franchise.corpus.html import html_in
from franchise.corpus.stop_words import LANGUAGES, stop_words_of
from franchise.errors import FranchiseWarning

_SAMPLE, _MOST_CHARACTERS = 400, 4_000  # documents, and of each
_MOST_WORDS = 20_000_000

_ENOUGH_WORDS = 8  # to tell a language by
_HITS = 3  # different stop words
# Of the words of two letters or more, 35 to 50% are in the list of their own language and up to 10% in that
# of another. The words below are 10 to 25%.
_SHARE, _SHARE_OF_FEW, _TIMES_AS_MANY = 0.15, 0.08, 2.0
_MANY_DOCUMENTS = 0.2
_FEW_WITH_HTML, _SHARE_WITH_HTML = 3, 0.02
_SHARE_REPEATED, _FEW_REPEATED, _ENOUGH_TO_REPEAT = 0.1, 5, 10

_NO_BLANKS = r"\S+"
_WORD = re.compile(r"[^\W\d_]{2,}")
_LETTER = re.compile(r"[^\W\d_]")
# Words of Chinese and Japanese have one to four characters, of Thai, Lao, Khmer and Burmese three to six.
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")
_SOUTH_EAST = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+")
_LONG_HAN, _LONG_SOUTH_EAST, _SHARE_UNSPACED = 4.5, 8.0, 0.3

# The most frequent words of languages that have no list.
_OTHERS = {
    "Arabic": "في من على إلى أن عن مع هذا هذه التي الذي ما لا كان بين",
    "Czech": "na je se že do ale jako za jsou by pro jeho které jeho byl podle také",
    "Danish": "og det er at til af på en for med den der ikke har de som et var",
    "Finnish": "ja on ei että se oli mutta kun hän niin kuin myös ovat joka tai mukaan sen ole",
    "Greek": "και το να του της με για την από που των στο είναι τα θα οι τον δεν",
    "Hungarian": "az hogy és nem is egy ez meg volt de már csak még ha mint vagy szerint",
    "Indonesian": "yang dan di untuk dengan ini dari dalam pada tidak itu adalah akan ke oleh",
    "Norwegian": "og det er til av på en for med den som ikke har de et var jeg å",
    "Polish": "na się nie że do to jest jak od przez ale po tym są za oraz dla jego",
    "Romanian": "și în de la pe cu că nu din care mai este au pentru sunt fost ce",
    "Russian": "не на что как по это из от за но он его для так же был все она они при",
    "Swedish": "och att det som är på av för med den till har inte om ett men var jag",
    "Turkish": "ve bir bu için ile da de olarak daha çok olan gibi sonra kadar ise ne",
    "Ukrainian": "та не на що як до це за від але він його для так був із про які при",
}


def text_hints(corpus: Corpus) -> list[FranchiseWarning]:
    """Return what should be known about texts before they are fitted, nothing if all is well."""
    options = corpus.text_options
    if options is None:
        return _repeated(corpus)
    texts = _sample_of(corpus)
    found = _unspaced(texts)
    if not found and options.stop_words in LANGUAGES:
        found = _other_language(texts, str(options.stop_words))
    if not options.strip_html:
        found += _html(texts)
    return found + _repeated(corpus)


def _sample_of(corpus: Corpus) -> list[str]:
    """Return some texts; words where the texts were not kept."""
    full = np.flatnonzero(corpus.document_lengths)
    chosen = full[:: -(-full.size // _SAMPLE)].tolist()
    if corpus.texts is not None:
        return [corpus.texts[j][:_MOST_CHARACTERS] for j in chosen]
    terms, most = corpus.vocabulary, _MOST_CHARACTERS // 5
    return [" ".join(terms[v] for v in corpus.document(j)[:most].tolist()) for j in chosen]


# ---------------------------------------------------------------- languages


def _unspaced(texts: list[str]) -> list[FranchiseWarning]:
    text = " ".join(texts)
    letters = len(_LETTER.findall(text))
    for script, long in ((_HAN, _LONG_HAN), (_SOUTH_EAST, _LONG_SOUTH_EAST)):
        runs = script.findall(text)
        length = sum(map(len, runs))
        if not runs or length < _SHARE_UNSPACED * letters or length < long * len(runs):
            continue
        if script is _SOUTH_EAST:
            # Vowel signs are no letters to regular expressions.
            language = "Thai or a relative"
            how = f"pythainlp: ' '.join(pythainlp.word_tokenize(text)), with token_pattern={_NO_BLANKS!r}"
        elif re.search(r"[\u3040-\u30ff]", text):
            language, how = "Japanese", "fugashi: ' '.join(word.surface for word in fugashi.Tagger()(text))"
        else:
            language, how = "Chinese", "jieba: ' '.join(jieba.cut(text))"
        message = (
            f"the texts look {language} and have no spaces between words, so whole phrases become terms; put "
            f"spaces between the words first, for example with {how}"
        )
        return [FranchiseWarning(message, code="no-spaces")]
    return []


def _other_language(texts: list[str], chosen: str) -> list[FranchiseWarning]:
    of_word = _languages_of_words()
    found, n_told = Counter[str](), 0
    for text in texts:
        words = _WORD.findall(text.lower())
        if len(words) < _ENOUGH_WORDS:
            continue
        n_told += 1
        hits = Counter(language for word in words for language in of_word.get(word, ()))
        different = Counter(language for word in set(words) for language in of_word.get(word, ()))
        language, most = max(hits.items(), key=lambda one: one[1], default=("", 0))
        least = _SHARE if language in LANGUAGES else _SHARE_OF_FEW
        is_clear = most >= least * len(words) and different[language] >= _HITS
        if language != chosen and is_clear and most >= _TIMES_AS_MANY * hits[chosen]:
            found[language] += 1
    if not found or sum(found.values()) < max(_HITS, _MANY_DOCUMENTS * n_told):
        return []
    language = found.most_common(1)[0][0]
    share = f"{sum(found.values()) / n_told:.0%} of the documents"
    if language in LANGUAGES:
        seen = f"{share} look {language.capitalize()}" + (" or other languages" if len(found) > 1 else "")
        advice = f"give stop_words={language!r}"
    else:
        seen = f"{share} look {language}"
        advice = "there is no list for it, so give your own as stop_words (--stop-words)"
    message = f"{seen}, but the stop words that are left out are {chosen.capitalize()}; {advice}"
    return [FranchiseWarning(message, code="other-language")]


@cache
def _languages_of_words() -> Mapping[str, tuple[str, ...]]:
    """Return the languages in which a word is a stop word."""
    found: dict[str, tuple[str, ...]] = {}
    lists = {language: stop_words_of(language) for language in LANGUAGES}
    for language, words in (lists | {name: words.split() for name, words in _OTHERS.items()}).items():
        for word in words:
            found[word] = (*found.get(word, ()), language)
    return found


# ---------------------------------------------------------------- HTML and duplicates


def _html(texts: list[str]) -> list[FranchiseWarning]:
    examples = [found for text in texts if (found := html_in(text))]
    if len(examples) < max(_FEW_WITH_HTML, _SHARE_WITH_HTML * len(texts)):
        return []
    example = Counter(examples).most_common(1)[0][0]
    message = (
        f"{len(examples) / len(texts):.0%} of the documents have HTML in them, such as {example[:40]!r}, and "
        "its names become terms; take it out with strip_html=True"
    )
    return [FranchiseWarning(message, code="html-in-texts")]


def _repeated(corpus: Corpus) -> list[FranchiseWarning]:
    n_documents = int(np.searchsorted(corpus.doc_ptr, _MOST_WORDS, side="right")) - 1
    long = corpus.document_lengths[:n_documents] >= _ENOUGH_TO_REPEAT
    again = int((repeats(corpus, n_documents) & long).sum()) if n_documents > 0 else 0
    if again < max(_FEW_REPEATED, _SHARE_REPEATED * long.sum()):
        return []
    message = (
        f"{again:,} of {counted(int(long.sum()), 'document')} have the same words as another one, so the "
        "same words count several times; keep one of each with drop_duplicates (--drop-duplicates)"
    )
    return [FranchiseWarning(message, code="duplicate-documents")]
