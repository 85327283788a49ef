"""Words to leave out, by language: a file for each, made for this project and under its licence.

They are articles, pronouns, prepositions, conjunctions, auxiliary verbs and a few adverbs, without words of
one letter, which do not count as words anyway. English is scikit-learn's.
"""

from __future__ import annotations

from importlib import resources

#: The languages that have a list.
LANGUAGES = ("english", "dutch", "french", "german", "italian", "portuguese", "spanish")


def stop_words_of(language: str) -> list[str]:
    """Return the words of a language, in alphabetical order."""
    if language == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS  # takes a second to import

        return sorted(ENGLISH_STOP_WORDS)
    return resources.files(__name__).joinpath(f"{language}.txt").read_text("utf-8").split()
