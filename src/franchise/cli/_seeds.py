"""Seed words in a file: JSON, or lines of CSV."""

import csv
import io
import json
from pathlib import Path

from franchise.errors import CorpusError

_LINES = "give the name of a topic and its words on each line, separated by commas"
_OBJECT = 'give an object of lists of words, such as {"cosmology": ["galaxy", "redshift"]}'


def read_seed_words(path: str) -> dict[str, list[str]]:
    """Read the seed words of each topic.

    JSON is an object of lists of words. Every line of CSV has the name of a topic and one of its words, or
    several; lines of one name belong together. A first line that begins with "topic" is a heading.
    """
    try:
        text = Path(path).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror
        raise CorpusError(
            f"{path}: the seed words cannot be read ({reason}); give a JSON or CSV file", code="cannot-read"
        ) from None
    return _from_json(path, text) if text.lstrip()[:1] in ("{", "[") else _from_csv(path, text)


def _from_json(path: str, text: str) -> dict[str, list[str]]:
    try:
        pairs = json.loads(text, object_pairs_hook=list)
    except ValueError as error:
        raise CorpusError(f"{path}: this is not JSON ({error}); correct it", code="not-json") from None
    if not pairs or not all(isinstance(pair, tuple) for pair in pairs):
        raise CorpusError(f"{path}: {_OBJECT}", code="wrong-type")
    for i, (name, words) in enumerate(pairs):
        about = f"{path}: topic {name!r}"
        if name in dict(pairs[:i]):
            raise CorpusError(f"{about} is there twice; give each topic once", code="duplicate-name")
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise CorpusError(f"{about} has no list of words; {_OBJECT}", code="wrong-type")
        if not words:
            raise CorpusError(f"{about} has no seed words; give some, or leave it out", code="no-seed-words")
    return dict(pairs)


def _from_csv(path: str, text: str) -> dict[str, list[str]]:
    seeds: dict[str, list[str]] = {}
    for line, row in enumerate(csv.reader(io.StringIO(text)), start=1):
        name, *words = [cell.strip() for cell in row] or [""]
        words = [word for word in words if word]
        if (not name and not words) or (line == 1 and name.lower() == "topic"):
            continue
        if not name or not words:
            raise CorpusError(f"{path}:{line}: {_LINES}", code="bad-line")
        seeds.setdefault(name, []).extend(words)
    if not seeds:
        raise CorpusError(f"{path}: there are no seed words in it; {_LINES}", code="no-seed-words")
    return seeds
