"""Metadata that come in parts: of files, or of shards, one after the other.

Parts decide for themselves which kind a column has. All of them together have the kind that all parts have,
and are texts where these differ; a part without any value has no say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from franchise.corpus.metadata import Column, Kind, Metadata


class Settling:
    """Finds out which columns all parts have, and of which kind."""

    def __init__(self) -> None:
        self._kinds: dict[str, set[Kind]] | None = None

    def add(self, part: Metadata | None) -> None:
        """Look at the next part."""
        own = {name: _kinds(column) for name, column in (part or {}).items()}
        before = own if self._kinds is None else self._kinds
        self._kinds = {name: before[name] | own[name] for name in before if name in own}

    def settled(self) -> list[dict[str, Any]]:
        """Return name and kind of the columns that every part has, in the order of the first."""
        return [{"name": name, "kind": _kind_of_all(found)} for name, found in (self._kinds or {}).items()]


def in_kinds(metadata: Metadata, described: Sequence[dict[str, Any]]) -> Metadata:
    """Return some columns of documents, each in the kind that was settled for it."""
    return Metadata(_as(metadata[one["name"]], one["kind"]) for one in described)


def joined(parts: Iterable[Metadata], described: Sequence[dict[str, Any]]) -> Metadata | None:
    """Return the columns of all documents; those of every part have the kinds that were settled."""
    values: list[list[npt.NDArray[Any]]] = [[] for _ in described]
    texts: list[dict[str, int]] = [{} for _ in described]
    for part in parts:
        for i, one in enumerate(described):
            column = part[one["name"]]
            values[i].append(_renumbered(column, texts[i]) if column.kind == "text" else column.values)
    columns = [
        _joined(one["name"], one["kind"], own, seen)
        for one, own, seen in zip(described, values, texts, strict=True)
    ]
    return Metadata(columns) if columns else None


def _kinds(column: Column) -> set[Kind]:
    return set() if column.missing.all() else {column.kind}


def _kind_of_all(found: set[Kind]) -> Kind:
    if len(found) > 1:
        return "text"
    return next(iter(found), "number")


def _as(column: Column, kind: Kind) -> Column:
    n_documents = len(column.values)
    if column.kind == kind == "text":
        used, codes = np.unique(column.values, return_inverse=True)
        there = used[used >= 0]  # they stay in the order of the alphabet
        codes = codes - (used.size - there.size)
        return Column(column.name, kind, codes.astype(np.int32), tuple(column.categories[i] for i in there))
    if column.kind == kind:
        return column
    if kind != "text":  # it has no value at all
        missing = np.full(n_documents, np.datetime64("NaT", "s") if kind == "date" else np.nan)
        return Column(column.name, kind, missing)
    # A day without a time is written as a day.
    shown = [None if one is None else str(one).removesuffix(" 00:00:00") for one in column.as_list()]
    categories = tuple(sorted({text for text in shown if text is not None}))
    rank = {text: i for i, text in enumerate(categories)}
    codes = np.array([-1 if text is None else rank[text] for text in shown], np.int32)
    return Column(column.name, kind, codes, categories)


def _renumbered(column: Column, seen: dict[str, int]) -> npt.NDArray[np.int32]:
    """Return places of texts in the order in which they came; -1, where there is none, stays."""
    new = np.array([*(seen.setdefault(text, len(seen)) for text in column.categories), -1], np.int32)
    return np.asarray(new[column.values])


def _joined(name: str, kind: Kind, values: list[npt.NDArray[Any]], seen: dict[str, int]) -> Column:
    together = np.concatenate(values)
    if kind == "text":
        rank = np.full(len(seen) + 1, -1, np.int32)
        categories = tuple(sorted(seen))
        rank[[seen[text] for text in categories]] = np.arange(len(categories))
        together = rank[together]
    together.flags.writeable = False
    return Column(name, kind, together, tuple(sorted(seen)) if kind == "text" else ())
