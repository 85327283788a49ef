"""MALLET's text file of documents: ``name label text`` per line, for ``mallet import-file``.

Name and label end at the first blanks. The label is passed over.
"""

from __future__ import annotations

from franchise.corpus.files import Source
from franchise.corpus.formats.columns import Columns, Rows


def rows(source: Source, columns: Columns) -> Rows:
    """Read one document after the other; lines of blanks are passed over, as MALLET does."""
    for number, line in enumerate(source.text_lines(), start=1):
        fields = line.split(maxsplit=2)
        if len(fields) == 1:
            raise source.fault(
                "expected a name, a label and a text, separated by blanks; check that this is a file for "
                "`mallet import-file`",
                number,
                code="bad-line",
            )
        if fields:
            yield fields[2].rstrip("\r\n") if len(fields) == 3 else "", fields[0]
