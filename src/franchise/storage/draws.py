"""Draws on disk, each in a file that never changes.

A large draw is mapped, not read: only the parts in use are in memory. The counts by document are most of it.
Columns and counts are stored in the narrowest type that holds them, and widened when they are read.

The counts by document may be in parts (`_draws`), written by several workers::

    draws/000150.safetensors                 everything else, and the list of parts; written after them
    draws/000150/000000000000.safetensors    the documents from number 0
    draws/000150/000000081920.safetensors    the documents from number 81,920, and so on
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from franchise._arrays import Array
from franchise._draws import (
    LARGE_DRAW,
    Draw,
    DrawPart,
    NarrowCounts,
    PartsOfDraw,
    narrow_arrays,
    part_path,
    parts_folder,
)
from franchise._files import cannot_write, read_arrays, whole_file, write_arrays
from franchise._version import VERSION, check_version
from franchise.corpus import Corpus

_KIND = "draw"
_PARTS = ("data", "indices", "indptr")
_WIDER = 4  # a draw takes at most this many times more space in memory than on disk


def draw_path(folder: Path, sweep: int) -> Path:
    """Return the path of the draw of a sweep."""
    return folder / f"{sweep:06d}.safetensors"


def is_large(draw: Draw) -> bool:
    """Return whether a draw in memory is so large that it should be on disk.

    This is True for a draw in parts: most of it is already on disk, and the rest should be.
    """
    in_parts = isinstance(draw.document_counts, PartsOfDraw)
    return not draw.is_stored and (in_parts or draw.n_bytes >= LARGE_DRAW)


def write_draw(folder: Path, draw: Draw) -> None:
    """Write a draw and its parts, whole or not at all."""
    arrays = {"names": draw.names, "m_k": draw.m_k, "concentrations": draw.concentrations}
    arrays |= {f"topic_terms.{part}": getattr(draw.topic_terms, part) for part in _PARTS}
    facts: dict[str, Any] = {"version": VERSION, "sweep": draw.sweep}
    if isinstance(draw.document_counts, PartsOfDraw):
        _bring(draw.document_counts, folder)
        facts["parts"] = [list(part) for part in draw.document_counts.parts]
    else:
        arrays |= {f"document_topics.{part}": x for part, x in narrow_arrays(draw.document_topics).items()}
    write_arrays(draw_path(folder, draw.sweep), _KIND, arrays, facts)


def _bring(parts: PartsOfDraw, folder: Path) -> None:
    """Put the files of all parts into the folder for the draw's parts, and remove all other files there."""
    place = parts_folder(folder, parts.sweep)
    parts.check_files()
    try:
        place.mkdir(parents=True, exist_ok=True)
        for part in parts.parts:
            source, target = parts.path(part), part_path(folder, parts.sweep, part)
            if not (target.exists() and source.samefile(target)):
                _link_or_copy(source, target)
        # A killed run with other ranges of documents may have left files.
        for path in set(place.iterdir()) - {part_path(folder, parts.sweep, part) for part in parts.parts}:
            path.unlink()
    except OSError as error:
        raise cannot_write(place, error) from error


def _link_or_copy(source: Path, target: Path) -> None:
    """Link a file that never changes under a second name; copy it if that fails."""
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:  # on another disk, or on a file system without links
        with open(source, "rb") as content, whole_file(target) as file:
            shutil.copyfileobj(content, file, 2**20)


def read_draw(folder: Path, sweep: int, corpus: Corpus) -> Draw:
    """Read the draw of a sweep, or map it if it is large; raise ValueError or KeyError if it is damaged.

    All parts must exist. Each is read when its documents are needed.
    """
    path = draw_path(folder, sweep)
    mapped = path.is_file() and path.stat().st_size >= LARGE_DRAW / _WIDER
    arrays, facts = read_arrays(path, _KIND, mapped=mapped)
    check_version(path, facts)
    n_topics = arrays["names"].size
    if (
        facts["sweep"] != sweep
        or arrays["m_k"].shape != (n_topics,)
        or arrays["concentrations"].shape != (3,)
    ):
        raise ValueError("the parts of a draw do not fit together")
    topic_terms = sp.csr_array(_parts(arrays, "topic_terms"), shape=(n_topics, corpus.n_terms))
    topic_terms.check_format(full_check=True)
    documents: NarrowCounts | PartsOfDraw
    if "parts" in facts:
        documents = PartsOfDraw(folder, sweep, [DrawPart(*part) for part in facts["parts"]], n_topics)
        if documents.shape[0] != corpus.n_documents:
            raise ValueError("the parts of a draw do not have every document")
        documents.check_files()
    else:
        data, indices, indptr = _parts(arrays, "document_topics")
        documents = NarrowCounts(data, indices, indptr, n_topics)
        documents.check(corpus.n_documents)
    is_stored = mapped or "parts" in facts
    return Draw(
        sweep=sweep,
        names=arrays["names"],
        topic_terms=topic_terms,
        document_counts=documents if is_stored else documents.rows(slice(None)),
        m_k=arrays["m_k"],
        concentrations=arrays["concentrations"],
        is_stored=is_stored,
    )


def files_of_draw(folder: Path, sweep: int) -> set[Path]:
    """Return the paths of the draw of a sweep and of the folder of its parts."""
    return {draw_path(folder, sweep), parts_folder(folder, sweep)}


def keep_after(folder: Path, sweep: int) -> None:
    """Remove the parts of draws up to and including a sweep."""
    remove({path for path in folder.glob("*") if path.name.isdecimal() and int(path.name) <= sweep})


def remove(paths: set[Path]) -> None:
    """Remove files before folders: parts without a draw are harmless; a draw without its parts is damaged."""
    with suppress(OSError):
        for path in sorted(paths, key=Path.is_dir):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()


def _parts(arrays: dict[str, Array], name: str) -> tuple[Array, ...]:
    return tuple(arrays[f"{name}.{part}"] for part in _PARTS)
