"""The corpora of the benchmarks: shipped, planted, and those in folders that you name.

`--only NAME ...` chooses among them. LDA-C corpora are FOLDER/NAME/NAME.ldac (or .ldac.gz) with the terms in
FOLDER/NAME/NAME.vocab.txt. `--corpora FOLDER` adds arxiv, mlir and nips, and `--only` can name any other
corpus of that folder. `--data FOLDER` adds reuters.npz and ap.npz (see `benchmarks.mixing`).

Every tenth document of shipped and planted corpora is left out for prediction, and a random fifth of an LDA-C
corpus (`experiments.corpora`).
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.mixing import read_split
from experiments.corpora import NAMES as PAPER_LIKE
from experiments.corpora import find
from experiments.corpora import read_split as read_ldac_split
from franchise import Corpus, CorpusError, from_texts
from franchise.corpus.synthetic import Planted, planted
from franchise.datasets import arxiv_abstracts

ETAS = {"arxiv": (0.1, 0.2, 0.5), "mlir": (0.1, 0.2, 0.5), "nips": (0.1, 0.2, 0.5)}


class Case(NamedTuple):
    """A corpus, and documents to predict."""

    name: str
    corpus: Corpus
    test: list[np.ndarray]
    etas: tuple[float, ...]
    truth: Planted | None = None

    def with_documents(self, documents: np.ndarray) -> "Case":
        """Keep these documents, in this order, and their planted topics; the vocabulary stays."""
        corpus, truth = self.corpus.select(documents), self.truth
        if truth is not None:
            topics_of = np.split(truth.z, self.corpus.doc_ptr[1:-1])
            truth = truth._replace(corpus=corpus, z=np.concatenate([topics_of[j] for j in documents]))
        return self._replace(corpus=corpus, truth=truth)


def less_a_tenth(name: str, corpus: Corpus, etas: tuple[float, ...], z: np.ndarray | None = None) -> Case:
    """Leave out every tenth document for prediction; `z` is the planted topic of every word."""
    is_test = np.arange(corpus.n_documents) % 10 == 9
    test = [corpus.document(j) for j in np.flatnonzero(is_test) if corpus.document(j).size > 1]
    truth = None if z is None else Planted(corpus, np.zeros((0, 0)), z)
    return Case(name, corpus, test, etas, truth).with_documents(np.flatnonzero(~is_test))


def zipf_planted(n_words: int, seed: int = 1) -> tuple[Corpus, np.ndarray]:
    """Draw 100 topics over terms whose frequencies fall as in text; return corpus and topics of words."""
    rng = np.random.default_rng(seed)
    n_terms, n_topics, length = 10_000, 100, 100
    base = 1.0 / (np.arange(n_terms) + 2.7)
    phi = [rng.dirichlet(40.0 * base / base.sum() + 1e-12) for _ in range(n_topics)]
    cumulated = np.cumsum(phi, axis=1)
    weights = rng.dirichlet(np.full(n_topics, 2.0))
    theta = rng.dirichlet(3.0 * weights, n_words // length)
    z = np.concatenate([rng.choice(n_topics, length, p=row) for row in theta])
    x = np.zeros(z.size, np.int64)
    for k in range(n_topics):
        own = np.flatnonzero(z == k)
        x[own] = np.minimum(np.searchsorted(cumulated[k], rng.random(own.size)), n_terms - 1)
    used, x = np.unique(x, return_inverse=True)
    return Corpus(x, np.arange(0, z.size + 1, length), [f"w{v}" for v in used]), z


def abstracts(name: str, number: int | None, **options: Any) -> Case:
    """Read the first abstracts that come with the library, all of them if `number` is None."""
    return less_a_tenth(name, from_texts(arxiv_abstracts()[:number], **options), (0.1, 0.3, 0.5))


def planted_30(name: str) -> Case:
    """Draw 2,000 documents from 30 topics."""
    sizes = {"n_topics": 30, "n_terms": 3_000, "n_documents": 2_000, "document_length": 50}
    truth = planted(**sizes, seed=1, topic_concentration=0.05, document_concentration=1.0)
    return less_a_tenth(name, truth.corpus, (0.1,), truth.z)


def zipf_100(name: str, n_words: int) -> Case:
    """Draw words from 100 topics over terms with the frequencies of text."""
    corpus, z = zipf_planted(n_words)
    return less_a_tenth(name, corpus, (0.1,), z)


def of_ldac(name: str, folder: Path | None) -> Case:
    """Read an LDA-C corpus."""
    split = read_ldac_split(name, folder)
    test = [split.test.document(j) for j in range(split.test.n_documents)]
    return Case(name, split.training, [one for one in test if one.size > 1], ETAS.get(name, (0.1,)))


def of_npz(name: str, folder: Path) -> Case:
    """Read a split that other programs were measured with."""
    corpus, documents = read_split(folder / f"{name}.npz")
    return Case(name, corpus, [one for one in documents if one.size > 1], (0.1,))


def cases(
    data: Path | None,
    corpora: Path | None,
    zipf_words: Sequence[int] = (100_000,),
    only: Sequence[str] = (),
) -> Iterator[Case]:
    """Return the corpora, or those in `only`; each is read when its turn comes, but looked for at once."""
    read: dict[str, Callable[[str], Case]] = {
        "abstracts 500": partial(abstracts, number=500),
        "abstracts 2000": partial(abstracts, number=None, min_df=8),
        "planted 30": planted_30,
    }
    read |= {f"zipf {n_words:,}": partial(zipf_100, n_words=n_words) for n_words in zipf_words}
    read |= {name: partial(of_ldac, folder=corpora) for name in PAPER_LIKE if corpora}
    read |= {name: partial(of_npz, folder=data) for name in ("reuters", "ap") if data}
    for name in only:
        if name not in read:
            find(name, corpora)
            read[name] = partial(of_ldac, folder=corpora)
    return (make(name) for name, make in read.items() if not only or name in only)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose corpora."""
    parser.add_argument("--data", type=Path, help="folder with reuters.npz and ap.npz")
    parser.add_argument("--corpora", type=Path, help="folder of LDA-C corpora: NAME/NAME.ldac[.gz]")
    parser.add_argument("--only", nargs="*", default=[], help="names of corpora")


def chosen(
    parser: argparse.ArgumentParser, options: argparse.Namespace, zipf_words: Sequence[int] = (100_000,)
) -> Iterator[Case]:
    """Return the corpora that the options name, or end with what is missing."""
    try:
        return cases(options.data, options.corpora, zipf_words, options.only)
    except CorpusError as problem:
        parser.error(f"--only: {problem}")
