"""Words to leave out, by language. Each list is a file made for this project, under its licence.

The lists have articles, pronouns, prepositions, conjunctions, auxiliary verbs and a few adverbs, but no words
with one letter, which never count as words. The English list is scikit-learn's.
"""

from __future__ import annotations

from importlib import resources

#: The languages with a list.
LANGUAGES = ("english", "dutch", "french", "german", "italian", "portuguese", "spanish")


def stop_words_of(language: str) -> list[str]:
    """Return the stop words of a language, in alphabetical order."""
    if language == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS  # takes a second to import

        return sorted(ENGLISH_STOP_WORDS)
    return resources.files(__name__).joinpath(f"{language}.txt").read_text("utf-8").split()
