"""A draw on disk: one file each, never changed once it is written."""

from pathlib import Path

import scipy.sparse as sp

from franchise._files import Array, read_arrays, write_arrays
from franchise._version import VERSION, check_version
from franchise.corpus import Corpus
from franchise.sampling.trace import Draw

_KIND = "draw"
_COUNTS, _PARTS = ("topic_terms", "document_topics"), ("data", "indices", "indptr")


def draw_path(folder: Path, sweep: int) -> Path:
    """Return where the draw of a sweep is."""
    return folder / f"{sweep:06d}.safetensors"


def write_draw(folder: Path, draw: Draw) -> None:
    """Write a draw, whole or not at all."""
    arrays = {"names": draw.names, "m_k": draw.m_k, "concentrations": draw.concentrations}
    for counts in _COUNTS:
        arrays |= {f"{counts}.{part}": getattr(getattr(draw, counts), part) for part in _PARTS}
    facts = {"version": VERSION, "sweep": draw.sweep}
    write_arrays(draw_path(folder, draw.sweep), _KIND, arrays, facts)


def read_draw(folder: Path, sweep: int, corpus: Corpus) -> Draw:
    """Read the draw of a sweep; ValueError and KeyError say what does not fit."""
    path = draw_path(folder, sweep)
    arrays, facts = read_arrays(path, _KIND)
    check_version(path, facts)
    n_topics = arrays["names"].size
    if (
        facts["sweep"] != sweep
        or arrays["m_k"].shape != (n_topics,)
        or arrays["concentrations"].shape != (3,)
    ):
        raise ValueError("the parts of a draw do not fit together")
    return Draw(
        sweep=sweep,
        names=arrays["names"],
        topic_terms=_counts(arrays, "topic_terms", (n_topics, corpus.n_terms)),
        document_topics=_counts(arrays, "document_topics", (corpus.n_documents, n_topics)),
        m_k=arrays["m_k"],
        concentrations=arrays["concentrations"],
    )


def _counts(arrays: dict[str, Array], name: str, shape: tuple[int, int]) -> sp.csr_array:
    counts = sp.csr_array(tuple(arrays[f"{name}.{part}"] for part in _PARTS), shape=shape)
    counts.check_format(full_check=True)
    return counts
