"""The text corpora, and their division into training and test documents."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from franchise import Corpus, CorpusError
from franchise.corpus import read_corpus

HERE = Path(__file__).parent
SHIPPED = HERE / "corpora"  # only what its licence allows
NAMES = ("arxiv", "mlir", "nips")
TITLES = {"arxiv": "arXiv", "mlir": "ML+IR", "nips": "NIPS"}
_TRAINING = 0.8


class Split(NamedTuple):
    """A corpus cut in two, over one vocabulary."""

    name: str
    training: Corpus
    test: Corpus


def find(name: str, folder: Path | None) -> Path:
    """Return the file of a corpus: in the folder given, or among those that come with the project."""
    for place in (folder, SHIPPED):
        for end in ("ldac", "ldac.gz"):
            if place and (path := place / name / f"{name}.{end}").exists():
                return path
    where = folder / name / f"{name}.ldac" if folder else f"FOLDER/{name}/{name}.ldac with --corpora FOLDER"
    raise CorpusError(
        f"there is no corpus {name!r}: give {where} (LDA-C counts) and {name}.vocab.txt in the same folder",
        code="no-such-file",
    )


def read_split(name: str, folder: Path | None) -> Split:
    """Read a corpus, and put a fifth of its documents aside, the same ones every time."""
    corpus = read_corpus(find(name, folder))
    order = np.random.default_rng(0).permutation(corpus.n_documents)
    cut = round(_TRAINING * corpus.n_documents)
    return Split(name, corpus.select(np.sort(order[:cut])), corpus.select(np.sort(order[cut:])))
