"""The file of terms that belongs to a file of counts: one term per line, in the order of the ids."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from franchise.corpus.files import Source, StrPath, open_source
from franchise.errors import CorpusError

_MARK = "\ufeff"


def terms_of(vocabulary: StrPath | Sequence[str], encoding: str | None = None) -> Sequence[str]:
    """Return the terms; read them if a path is given."""
    if isinstance(vocabulary, str | os.PathLike):
        with open_source(Path(vocabulary), encoding=encoding) as source:
            return _read(source)
    return vocabulary


def beside(path: Path) -> Path:
    """Return the path of the terms for a file of counts: ``docs.vocab.txt``, or ``vocab.X.txt`` for UCI.

    Examples
    --------
    >>> beside(Path("ap.ldac.gz")).name, beside(Path("docword.nips.txt")).name
    ('ap.vocab.txt', 'vocab.nips.txt')
    """
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    if plain.name.startswith("docword."):
        return plain.with_name("vocab." + plain.name.removeprefix("docword."))
    return plain.with_name(f"{plain.stem}.vocab.txt")


def found_beside(path: Path | None) -> Path | None:
    """Return the file of terms next to a file of counts, gzipped or not, or None.

    gensim writes ``docs.uci.vocab`` for ``docs.uci``.
    """
    if path is None:
        return None
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    places = (beside(path), plain.with_name(f"{plain.name}.vocab"))
    candidates = [one for place in places for one in (place, place.with_name(f"{place.name}.gz"))]
    return next((candidate for candidate in candidates if os.path.isfile(candidate)), None)


def lines_of(vocabulary: Sequence[str]) -> Iterator[bytes]:
    """Yield the terms as lines of a file."""
    for v, term in enumerate(vocabulary):
        if not term.strip() or "\n" in term or "\0" in term or term.endswith("\r"):
            raise CorpusError(
                f"term {v}, {term!r}, cannot be a line of a vocabulary file; rename it first",
                code="unwritable-term",
            )
        # Readers drop a byte order mark at the start of a file.
        yield encoded(_MARK + term if v == 0 and term.startswith(_MARK) else term, f"term {v}") + b"\n"


def encoded(text: str, what: str) -> bytes:
    """Return a text as UTF-8; refuse half of a surrogate pair."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise CorpusError(
            f"{what}, {text!r}, has half a character and cannot be written; rename it first",
            code="not-a-character",
        ) from None


def _read(source: Source) -> tuple[str, ...]:
    line_of: dict[str, int] = {}
    for number, line in enumerate(source.text_lines(), start=1):
        term = line.removesuffix("\n").removesuffix("\r")
        if not term.strip():
            raise source.fault(
                "empty line; a vocabulary has one term per line, in the order of the ids",
                number,
                code="bad-line",
            )
        if term in line_of:
            raise source.fault(
                f"{term!r} is already on line {line_of[term]}; each term must appear once",
                number,
                code="duplicate-term",
            )
        line_of[term] = number
    return tuple(line_of)
