"""JSON lines: one object per line, with the text of a document, and perhaps its name, under given keys.

A key within another is ``doc.body``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from franchise.corpus.corpus import Corpus
from franchise.corpus.files import Source
from franchise.corpus.formats.columns import Columns, Rows
from franchise.corpus.formats.plain_text import check_words, joined_words
from franchise.corpus.formats.vocabulary import encoded
from franchise.corpus.metadata import plain_values


def rows(source: Source, columns: Columns) -> Rows:
    """Read one document after the other; lines of blanks are passed over."""
    for number, line in enumerate(source.text_lines(), start=1):
        if not line.strip():
            continue
        record = _object(source, line, number)
        record |= _inner(record, [name for name in columns.asked if name not in record])
        known = list(record) if columns.text in record else _keys(record)
        text = record[columns.check(source, known, number)]
        if isinstance(text, dict):
            inner = ", ".join(map(repr, _keys(text, f"{columns.text}.")[:20])) or "none"
            raise source.fault(
                f"{columns.text!r} is an object, not a text; give one of the keys in it: {inner}",
                number,
                code="not-a-text",
            )
        text = columns.text_in(source, text, number)
        columns.add(
            source, {one: record[one] for one in columns.among(list(record)) if one in record}, number
        )
        yield (
            text,
            None if columns.name is None else columns.name_in(source, record[columns.name], number),
        )


def _inner(record: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the values within others, such as "doc.body", that are there."""
    found: dict[str, Any] = {}
    for name in names:
        value: Any = record
        for key in name.split("."):
            if not isinstance(value, dict) or key not in value:
                break
            value = value[key]
        else:
            found[name] = value
    return found


def _keys(record: dict[str, Any], before: str = "") -> list[str]:
    """Return the keys of a record, and in the place of objects the keys in them."""
    keys = []
    for key, value in record.items():
        keys += _keys(value, f"{before}{key}.") if isinstance(value, dict) and value else [f"{before}{key}"]
    return keys


def write(corpus: Corpus) -> Iterator[bytes]:
    """Return ``{"id": name, "text": words joined by blanks}`` and the metadata, one line per document.

    Metadata that are called id or text would take these places, and are left out.
    """
    check_words(corpus, "jsonl")
    metadata = corpus.metadata
    columns = {} if metadata is None else {name: plain_values(metadata[name]) for name in metadata}
    for j, (name, text) in enumerate(zip(corpus.document_names, joined_words(corpus))):
        known = {key: values[j] for key, values in columns.items()}
        line = json.dumps(known | {"id": name, "text": text}, ensure_ascii=False, default=_iso)
        yield encoded(line, f"document {name!r}") + b"\n"


def _iso(moment: datetime) -> str:
    return moment.isoformat().removesuffix("T00:00:00")


def _object(source: Source, line: str, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise source.fault(
            f"not JSON at column {error.pos + 1}: {error.msg}; write one JSON object per line",
            number,
            code="bad-line",
        ) from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; brackets without end
        raise source.fault(
            f"JSON that cannot be read: {error}; correct the line", number, code="bad-line"
        ) from None
    if not isinstance(record, dict):
        raise source.fault(
            f"a JSON {type(record).__name__}, not an object; write one JSON object per line, "
            'such as {"id": "1", "text": "..."}',
            number,
            code="bad-line",
        )
    return record
