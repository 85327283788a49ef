"""Matrix Market: a header, comments, a line of sizes, then entries ``row column value`` counted from 1.

Rows are documents, columns are terms. SciPy's reader is not used: it believes any sizes in the header, and
its errors name no line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from franchise.corpus.corpus import Corpus
from franchise.corpus.files import Source
from franchise.corpus.formats.entries import check_width, corpus_of
from franchise.corpus.formats.triples import Sizes, read_entries, whole_number, write_entries

MAGIC = b"%%MatrixMarket"

_EXPECTED = "expected '%%MatrixMarket matrix coordinate integer general', or real instead of integer"
_SIZES = ("the number of documents", "the number of terms", "the number of entries")


def looks_like(head: bytes) -> bool:
    """Return whether a file that starts like this is in this format."""
    return head[: len(MAGIC)].lower() == MAGIC.lower()


def read(source: Source, vocabulary: Sequence[str] | None) -> Corpus:
    """Read a corpus; rows and columns without entries count too."""
    lines = enumerate(source.lines(), start=1)
    _check_head(source, next(lines, (1, b""))[1])
    number, fields = next(
        ((n, line.split()) for n, line in lines if line.strip() and not line.startswith(b"%")), (2, [])
    )
    if len(fields) != 3:
        raise source.fault(
            "expected the numbers of documents, of terms and of entries", number, code="bad-line"
        )
    sizes = Sizes(*(whole_number(source, field, number, what) for field, what in zip(fields, _SIZES)))
    check_width(source, vocabulary, sizes.documents, sizes.terms)
    entries = read_entries(source, sizes, number + 1)
    return corpus_of(source, entries, sizes.documents, sizes.terms, vocabulary)


def write(corpus: Corpus) -> Iterator[bytes]:
    """Return the file's text, in pieces."""
    counts = corpus.to_counts()
    yield MAGIC + b" matrix coordinate integer general\n"
    yield f"{corpus.n_documents} {corpus.n_terms} {counts.nnz}\n".encode("ascii")
    yield from write_entries(counts)


def _check_head(source: Source, line: bytes) -> None:
    words = line.decode("utf-8", "replace").lower().split()
    if not words or words[0] != MAGIC.decode("ascii").lower():
        raise source.fault(f"not a Matrix Market file; {_EXPECTED}", 1, code="wrong-format")
    wanted = (("matrix",), ("coordinate",), ("integer", "real"), ("general",))
    for i, allowed in enumerate(wanted, start=1):
        if len(words) <= i or words[i] not in allowed:
            given = repr(words[i][:40]) if len(words) > i else "nothing"
            raise source.fault(
                f"{given} where {' or '.join(allowed)} is expected; {_EXPECTED}", 1, code="unsupported-format"
            )
