"""Corpora from files and back: the LDA-C format, one document a line.

A line is ``M term:count term:count ...`` with M the number of pairs and terms counted from 0. A regular
expression passes well-formed lines to NumPy; only a line that fails is looked at field by field, to say what
is wrong with it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from franchise.corpus.corpus import MAX_WORDS, Corpus, numbered
from franchise.corpus.files import StrPath, read_lines, write_atomically
from franchise.corpus.layout import lay_words
from franchise.errors import CorpusError

# Ten digits cover every 32-bit number, and never overflow the 64-bit integers that they are parsed into.
_LINE = re.compile(rb"\d{1,10}(?:[ \t]+\d{1,10}:0*[1-9]\d{0,9})*")

# A stray huge id would ask for as many invented names; real vocabularies of this size come with their terms.
_MAX_UNNAMED_TERMS = 10_000_000


def read_ldac(path: StrPath, *, vocabulary: StrPath | Sequence[str] | None = None) -> Corpus:
    """Read a corpus in LDA-C format.

    Parameters
    ----------
    path
        A file of lines ``M term:count term:count ...``, plain or gzip. An empty line, or ``0``, is an empty
        document. Pairs with the same term add up.
    vocabulary
        A file with one term a line, or the terms themselves; by default the terms are named ``"0"``, ``"1"``,
        ... up to the largest id in the file.

    Returns
    -------
    Corpus
        Words of each document in term order, repeats adjacent.

    Raises
    ------
    CorpusError
        With file, line, what is wrong and what to do.
    """
    terms = None if vocabulary is None else _vocabulary(vocabulary)
    parsed = [_parse(line, path, number) for number, line in enumerate(read_lines(path), start=1)]
    n_pairs = np.array([len(numbers) // 2 for numbers in parsed], dtype=np.int64)
    if n_pairs.sum() == 0:
        raise CorpusError(f"{path}: no words in the file; expected lines such as '2 0:1 7:3'")
    documents = np.repeat(np.arange(len(parsed)), n_pairs)
    ids = np.concatenate([numbers[1::2] for numbers in parsed])
    counts = np.concatenate([numbers[2::2] for numbers in parsed])
    _check_ids(ids, documents, path, None if terms is None else len(terms))
    x, doc_ptr = lay_words(documents, ids, counts, len(parsed))
    return Corpus(x, doc_ptr, numbered(int(ids.max()) + 1) if terms is None else terms)


def write_ldac(corpus: Corpus, path: StrPath, *, vocabulary: StrPath | None = None) -> None:
    """Write a corpus in LDA-C format, whole or not at all.

    The format keeps counts: the order of the words within a document and the names of the documents are not
    written.

    Parameters
    ----------
    corpus
        What to write.
    path
        Where; packed if the name ends in ``.gz``.
    vocabulary
        Where to write the terms, one a line; by default they are not written.
    """
    if vocabulary is not None:
        write_atomically(vocabulary, _vocabulary_bytes(corpus.vocabulary))
    counts = corpus.to_counts()
    ends = counts.indptr.tolist()
    pairs = [f" {v}:{n}" for v, n in zip(counts.indices.tolist(), counts.data.tolist(), strict=True)]
    lines = [f"{b - a}{''.join(pairs[a:b])}\n" for a, b in pairwise(ends)]
    write_atomically(path, "".join(lines).encode("ascii"))


def _parse(line: bytes, path: StrPath, number: int) -> npt.NDArray[np.int64]:
    """Return M, then term and count of each pair."""
    line = line.strip() or b"0"
    if _LINE.fullmatch(line):
        numbers = np.fromstring(line.replace(b":", b" "), dtype=np.int64, sep=" ")
        if len(numbers) == 2 * numbers[0] + 1:
            return numbers
    raise CorpusError(f"{path}:{number}: {_complaint(line)}")


def _complaint(line: bytes) -> str:
    """Say what is wrong with a line that did not parse, and what to do."""
    try:
        size, *pairs = line.decode("utf-8").split()
    except UnicodeDecodeError:
        return "not UTF-8 text; check that this is an LDA-C file"
    if not _is_digits(size):
        return f"{size!r} is not a number; a line starts with its number of term:count pairs"
    for pair in pairs:
        complaint = _pair_complaint(pair)
        if complaint:
            return complaint
    if int(size) != len(pairs):
        return f"the line says {size} pairs but has {len(pairs)}; correct the first number, or the pairs"
    return "malformed; expected 'M term:count term:count ...', separated by blanks"


def _pair_complaint(pair: str) -> str | None:
    term, colon, count = pair.partition(":")
    if not colon:
        return f"{pair!r} has no colon; write term:count"
    if term.startswith("-") and _is_digits(term[1:]):
        return f"term id {term} in {pair!r} is negative; ids count from 0"
    if not _is_digits(term):
        return f"{term!r} in {pair!r} is not a number; term ids are whole numbers from 0"
    if len(term) > 10:
        return f"term id {term} is too large; ids go up to {MAX_WORDS:,}"
    return _count_complaint(pair, count)


def _count_complaint(pair: str, count: str) -> str | None:
    if _is_digits(count):
        if int(count) == 0:
            return f"the count in {pair!r} is zero; leave the pair out"
        return None if len(count.lstrip("0")) <= 10 else f"the count in {pair!r} is too large; check the file"
    try:
        value = float(count)
    except ValueError:
        return f"{count!r} in {pair!r} is not a number; counts are whole numbers from 1"
    if value < 0:
        return f"the count in {pair!r} is negative; counts are whole numbers from 1"
    return f"the count in {pair!r} is fractional, not a whole number; give raw counts"


def _is_digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _check_ids(
    ids: npt.NDArray[np.int64], documents: npt.NDArray[np.int64], path: StrPath, n_terms: int | None
) -> None:
    limit = _MAX_UNNAMED_TERMS if n_terms is None else n_terms
    if ids.max() < limit:
        return
    i = int(np.flatnonzero(ids >= limit)[0])
    where = f"{path}:{documents[i] + 1}: term id {ids[i]}"
    if n_terms is None:
        raise CorpusError(
            f"{where} is over {limit:,}; give the vocabulary if that is right, correct the line if not"
        )
    raise CorpusError(
        f"{where} is outside the vocabulary of {n_terms:,} terms; ids count from 0, "
        "so check that the vocabulary belongs to this file and the ids do not count from 1"
    )


def _vocabulary(vocabulary: StrPath | Sequence[str]) -> Sequence[str]:
    if isinstance(vocabulary, str | os.PathLike):
        return _read_vocabulary(Path(vocabulary))
    return vocabulary


def _read_vocabulary(path: Path) -> tuple[str, ...]:
    line_of: dict[str, int] = {}
    for number, line in enumerate(read_lines(path), start=1):
        try:
            term = line.decode("utf-8-sig" if number == 1 else "utf-8").removesuffix("\r")
        except UnicodeDecodeError:
            raise CorpusError(f"{path}:{number}: not UTF-8 text; save the vocabulary as UTF-8") from None
        if not term.strip():
            raise CorpusError(
                f"{path}:{number}: empty line; a vocabulary has one term a line, in the order of the ids"
            )
        if term in line_of:
            raise CorpusError(
                f"{path}:{number}: {term!r} is on line {line_of[term]} already; each term must appear once"
            )
        line_of[term] = number
    return tuple(line_of)


def _vocabulary_bytes(vocabulary: Sequence[str]) -> bytes:
    for v, term in enumerate(vocabulary):
        if not term.strip() or "\n" in term or term.endswith("\r"):
            raise CorpusError(f"term {v}, {term!r}, cannot be a line of a vocabulary file; rename it first")
    return "".join(f"{term}\n" for term in vocabulary).encode("utf-8")
