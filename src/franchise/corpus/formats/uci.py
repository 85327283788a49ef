"""UCI's bag of words: ``docword.X.txt`` with the numbers of documents, terms and entries, one line each.

Then follow entries ``document term count``, counted from 1. The terms are in ``vocab.X.txt``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from franchise.corpus.corpus import Corpus
from franchise.corpus.files import Source
from franchise.corpus.formats.entries import check_width, corpus_of
from franchise.corpus.formats.triples import Sizes, read_entries, whole_number, write_entries

_HEAD = ("the number of documents", "the number of terms", "the number of entries")


def looks_like(lines: list[bytes]) -> bool:
    """Return whether lines, the first of a file, are in this format."""
    fields = [line.split() for line in lines[:4]]
    return [len(numbers) for numbers in fields] == [1, 1, 1, 3] and all(
        number.isdigit() for numbers in fields for number in numbers
    )


def read(source: Source, vocabulary: Sequence[str] | None) -> Corpus:
    """Read a corpus; documents and terms without entries count too."""
    lines = source.lines()
    head = []
    for number, what in enumerate(_HEAD, start=1):
        fields = next(lines, b"").split()
        if len(fields) != 1:
            raise source.fault(
                f"expected {what}, alone on its line; check that this is a UCI file", number, code="bad-line"
            )
        head.append(whole_number(source, fields[0], number, what))
    sizes = Sizes(*head)
    check_width(source, vocabulary, sizes.documents, sizes.terms)
    entries = read_entries(source, sizes, 4)
    return corpus_of(source, entries, sizes.documents, sizes.terms, vocabulary)


def write(corpus: Corpus) -> Iterator[bytes]:
    """Return the file's text, in pieces."""
    counts = corpus.to_counts()
    yield f"{corpus.n_documents}\n{corpus.n_terms}\n{counts.nnz}\n".encode("ascii")
    yield from write_entries(counts)
