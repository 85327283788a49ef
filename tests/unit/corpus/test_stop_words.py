"""Lists of words to leave out, by language."""

import unicodedata

import pytest

from franchise.corpus import TextOptions, from_texts
from franchise.corpus.stop_words import LANGUAGES, stop_words_of
from franchise.errors import SettingsError
from tests.raising import raises

SENTENCES = {
    "english": (
        "The model finds the topics of the documents and says how many there are",
        "model finds topics",
    ),
    "german": ("Das Modell findet die Themen der Texte und sagt, wie viele es sind", "modell findet themen"),
    "french": ("Le modèle trouve les thèmes des textes et dit qu'il y en a trois", "modèle trouve thèmes"),
    "spanish": ("El modelo encuentra los temas de los textos y dice cuántos son", "modelo encuentra temas"),
    "italian": ("Il modello trova i temi dei testi e dice quanti sono", "modello trova temi"),
    "portuguese": ("O modelo encontra os temas dos textos e diz quantos são", "modelo encontra temas"),
    "dutch": (
        "Het model vindt de onderwerpen van de teksten en zegt hoeveel het er zijn",
        "model vindt onderwerpen",
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sentence_without_its_stop_words(language):
    sentence, kept = SENTENCES[language]
    corpus = from_texts([sentence], stop_words=language)  # no warning of scikit-learn's either
    assert set(corpus.vocabulary) >= set(kept.split())
    assert len(corpus.vocabulary) <= 6
    assert len(from_texts([sentence], stop_words=None).vocabulary) > len(corpus.vocabulary) + 2
    assert TextOptions.from_dict(corpus.text_options.as_dict()) == corpus.text_options


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_lists(language):
    words = stop_words_of(language)
    assert words == sorted(set(words))
    assert 200 < len(words) < 400
    assert all(word == unicodedata.normalize("NFC", word).lower() for word in words)
    assert all(len(word) > 1 and word.isalpha() for word in words if language != "english")


def test_a_language_without_a_list():
    with raises(SettingsError, "unknown-stop-words", "stop_words='klingon'", "'english'", "'dutch'"):
        TextOptions(stop_words="klingon")
