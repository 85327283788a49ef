"""The corpora of the comparison: training documents, and documents to predict.

Splits that others were measured with come as `NAME.npz` (`benchmarks.mixing` says what is in them). Of other
files, and of a planted corpus, every fifth document is left out for prediction.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.cases import zipf_planted
from benchmarks.completion import of_topics
from benchmarks.mixing import read_split
from benchmarks.peers.interface import Array, counted
from franchise import Corpus, read_ldac
from franchise.corpus.synthetic import planted

KNOWN = ("reuters", "ap")
OF_A_DOCUMENT = 3.0  # concentration of the topics of the planted documents
TINY = {"n_topics": 5, "n_terms": 100, "n_documents": 100, "document_length": 50}


class Case(NamedTuple):
    """A corpus with its test documents, and scores to compare with."""

    name: str
    training: Corpus
    test: list[Array]
    floor: float  # of one topic, the words' frequencies
    truth: float | None = None  # of the planted topics, as the training words have them

    def write(self, path: Path) -> None:
        """Write the training documents for the processes of the peers."""
        corpus = self.training
        np.savez(path, train=corpus.x, train_ptr=corpus.doc_ptr, vocab_size=corpus.n_terms)


def case_of(name: str, training: Corpus, test: list[Array], eta: float, z: Array | None = None) -> Case:
    """Add the scores to compare with; `z` is the planted topic of every training word."""
    test = [one for one in test if one.size > 1]
    frequencies = np.bincount(training.x, minlength=training.n_terms)[None, :].astype(float)
    floor = of_topics(counted(frequencies, eta), np.ones(1), test)
    if z is None:
        return Case(name, training, test, floor)
    words = np.zeros((int(z.max()) + 1, training.n_terms))
    np.add.at(words, (z, training.x), 1.0)
    words = words[words.sum(axis=1) > 0]
    prior = OF_A_DOCUMENT * words.sum(axis=1) / words.sum()
    return Case(name, training, test, floor, of_topics(counted(words, eta), prior, test))


def less_a_fifth(name: str, corpus: Corpus, eta: float, z: Array | None = None) -> Case:
    """Leave out every fifth document for prediction."""
    is_test = np.arange(corpus.n_documents) % 5 == 4
    test = [corpus.document(j) for j in np.flatnonzero(is_test)]
    kept = None if z is None else z[~np.repeat(is_test, corpus.document_lengths)]
    return case_of(name, corpus.select(np.flatnonzero(~is_test)), test, eta, kept)


def planted_case(n_words: int, eta: float) -> Case:
    """Plant 100 topics over terms whose frequencies fall as in text."""
    corpus, z = zipf_planted(n_words)
    return less_a_fifth("planted", corpus, eta, z)


def tiny_case(eta: float) -> Case:
    """Plant five topics that are found in a second."""
    truth = planted(**TINY, seed=1, topic_concentration=0.1, document_concentration=0.5)
    return less_a_fifth("tiny", truth.corpus, eta, truth.z)


def of_file(path: Path, eta: float) -> Case:
    """Read a split (.npz), or documents in LDA-C format."""
    if path.suffix == ".npz":
        return case_of(path.stem, *read_split(path), eta)
    name = path.name.partition(".")[0]
    corpus = read_ldac(path)
    mixed = np.random.default_rng(0).permutation(corpus.n_documents)  # files are often sorted
    return less_a_fifth(name, corpus.select(mixed), eta)
