"""Corpora to files, in every format of ``formats`` that can be written; ``readers`` reads them."""

from __future__ import annotations

from pathlib import Path

from franchise.corpus.corpus import Corpus
from franchise.corpus.files import StrPath, write_atomically
from franchise.corpus.formats import FORMATS, known_format, matrices
from franchise.corpus.formats.detect import by_name
from franchise.corpus.formats.vocabulary import beside, lines_of
from franchise.errors import SettingsError


def write_corpus(
    corpus: Corpus, path: StrPath, *, format: str | None = None, vocabulary: StrPath | None = None
) -> list[Path]:
    """Write a corpus to a file of any format that can be written, whole or not at all.

    Parameters
    ----------
    corpus
        What to write. Formats of counts (``ldac``, ``uci``, ``mm``, ``npz``) lose the order of the words
        within a document; ``txt`` and ``jsonl`` write the words, in order and joined by blanks, and lose
        terms that no word uses. Names of documents are kept by ``jsonl`` and ``npz``, metadata by ``jsonl``;
        ``franchise`` keeps everything.
    path
        Where; gzipped if the name ends in ``.gz``.
    format
        One of :data:`~franchise.corpus.FORMATS`; by default known from the end of the name.
    vocabulary
        Where to write the terms, one per line. By default beside the file, as ``read_corpus`` looks for
        them, for formats that have no place for terms.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    CorpusError
        If a term cannot be written in the format, or the file cannot be written at all.
    """
    target = Path(path)
    form = format or by_name(target)
    writable = [name for name, facts in FORMATS.items() if facts.write is not None]
    if form is None:
        raise SettingsError(
            f"{path}: the name does not show the format; give format (--output-format), "
            f"one of {', '.join(writable)}",
            code="unknown-format",
        )
    write = known_format(form).write
    if write is None:
        raise SettingsError(
            f"format={form!r} can be read but not written; give one of {', '.join(writable)}",
            code="unsupported-format",
        )
    if vocabulary is None and _needs_vocabulary(form, corpus):
        vocabulary = beside(target)
    written = []
    if vocabulary is not None:
        written.append(write_atomically(vocabulary, lines_of(corpus.vocabulary)))
    return [write_atomically(target, write(corpus)), *written]


def _needs_vocabulary(form: str, corpus: Corpus) -> bool:
    if form == "franchise":
        return False
    if form == "npz":
        return not matrices.fits(corpus.vocabulary)
    return FORMATS[form].counts is not None
