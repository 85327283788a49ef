"""Plain text, one document per line; an empty line is an empty document."""

from __future__ import annotations

import re
from collections.abc import Iterator

from franchise.corpus.corpus import Corpus
from franchise.corpus.files import Source
from franchise.corpus.formats.columns import Columns, Rows
from franchise.corpus.formats.vocabulary import encoded
from franchise.errors import CorpusError

_BLANK = re.compile(r"\s")
_MARK = "\ufeff"


def rows(source: Source, columns: Columns) -> Rows:
    """Read one document after the other; there are no columns."""
    for line in source.text_lines():
        yield line.removesuffix("\n").removesuffix("\r"), None


def write(corpus: Corpus) -> Iterator[bytes]:
    """Return one line per document, its words joined by blanks."""
    check_words(corpus, "txt")
    for j, text in enumerate(joined_words(corpus)):
        if "\0" in text:
            raise CorpusError(
                f"document {j}: a term has a zero byte, which no text file can hold; rename it",
                code="unwritable-term",
            )
        # Readers drop one byte order mark at the start of a file.
        yield encoded(_MARK + text if j == 0 and text.startswith(_MARK) else text, f"document {j}") + b"\n"


def check_words(corpus: Corpus, form: str) -> None:
    """Refuse terms that would not come back as one word from words joined by blanks."""
    for v, term in enumerate(corpus.vocabulary):
        if not term or _BLANK.search(term):
            raise CorpusError(
                f"term {v}, {term!r}, is empty or has blanks, and words are joined by blanks in {form}; "
                "write ldac, uci, mm or npz instead, or rename the term",
                code="unwritable-term",
            )


def joined_words(corpus: Corpus) -> Iterator[str]:
    """Return the words of each document, in their order, joined by blanks."""
    terms = corpus.vocabulary
    for j in range(corpus.n_documents):
        yield " ".join([terms[v] for v in corpus.document(j).tolist()])
