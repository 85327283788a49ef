"""Held-out likelihood, in nats per word: how well topics predict new documents.

There are two methods. Both hold the topics of each draw fixed (`predict.fixed_topics`) and average
probabilities, not logarithms, over the draws. Document completion is fast: it predicts half of each document
from the other half. Left to right estimates the probability of whole documents, in time that grows with the
square of their length. The two scores are different numbers, and both differ from the score of the paper's
program (`sampling.paper_heldout`).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import logsumexp

from franchise import _html as html
from franchise._arrays import Array, CorpusArrays, offsets_of
from franchise._draws import Draw
from franchise._settings import RandomState, is_one_of, moved, seed_of, whole_number
from franchise._text import counted
from franchise._threads import interrupts_deferred
from franchise.corpus import Corpus
from franchise.errors import FranchiseError, SettingsError
from franchise.predict.fixed_topics import (
    fixed_topics,
    fold_in_settings,
    in_order,
    new_documents,
    visit_in_blocks,
)
from franchise.predict.fold_in import (
    NewDocuments,
    new_fold_in_scratch,
    predict_words,
    shuffle_words,
)
from franchise.predict.left_to_right import left_to_right as estimate_log_p
from franchise.predict.left_to_right import new_left_to_right_scratch
from franchise.random import FOLD_IN, LEFT_TO_RIGHT, Key

# Streams of FOLD_IN: for drawing topics, and for cutting documents in two.
_OF_DRAWS, _OF_CUTS = 0, 1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HeldOut:
    """A held-out likelihood.

    Attributes
    ----------
    method
        The name of the method.
    per_word
        Log probability (natural logarithm) per scored word. Higher is better.
    standard_error
        The standard error of `per_word`, with the documents as a sample of all possible documents; NaN for a
        single document.
    n_words, n_documents
        Number of scored words, and of documents with scored words.
    log_p
        Log probability of the scored words of each document; 0 if it has none.
    """

    method: str
    per_word: float
    standard_error: float
    n_words: int
    n_documents: int
    log_p: Array

    @property
    def perplexity(self) -> float:
        """exp(-per_word): the number of equally likely terms with the same uncertainty."""
        return math.exp(-self.per_word)

    def __str__(self) -> str:
        return (
            f"{self.method}: {self.per_word:.4f} nats per word (standard error {self.standard_error:.4f}), "
            f"perplexity {self.perplexity:,.1f}; "
            f"{self.n_words:,} words of {counted(self.n_documents, 'document')} scored"
        )

    __repr__ = __str__  # so that an interactive session shows the answer

    def _repr_html_(self) -> str:
        facts = {
            "method": self.method,
            "nats per word": f"{self.per_word:.4f}",
            "standard error": f"{self.standard_error:.4f}",
            "perplexity": f"{self.perplexity:,.1f}",
            "documents": f"{self.n_documents:,}",
            "words scored": f"{self.n_words:,}",
        }
        return html.block(
            html.line("Held-out likelihood", strong=True), html.table(list(facts), [[*facts.values()]])
        )


@dataclass(frozen=True, slots=True, eq=False)
class Densities:
    """The log probabilities of new documents by each group of draws, such as a chain.

    Attributes
    ----------
    method
        The name of the method.
    log_p
        Groups by units: the log probability of each unit that the method predicts, a word or a document.
    document
        The document of each unit.
    n_j
        Number of scored words in each document.
    """

    method: str
    log_p: Array
    document: Array
    n_j: Array

    def held_out(self, weights: Sequence[float] | Array) -> HeldOut:
        """Return the score of a mixture of the groups, averaged inside the logarithm."""
        return put_together(self.method, self.by_document(weights), self.n_j)

    def by_document(self, weights: Sequence[float] | Array) -> Array:
        """Return the log probability of the scored words of each document by a mixture of the groups."""
        with np.errstate(divide="ignore"):
            mixed = logsumexp(self.log_p + np.log(weights)[:, None], axis=0)
        return np.bincount(self.document, weights=mixed, minlength=self.n_j.size)


@moved(seed="random_state")
def completion_densities(
    groups: Sequence[Sequence[Draw]],
    corpus: Corpus | CorpusArrays,
    *,
    sweeps: int = 100,
    burn_in: int = 10,
    random_state: RandomState = 0,
    jobs: int = 1,
) -> Densities:
    """Predict half of the words of each document from the other half, by each group of draws.

    At random, n // 2 of the n words of a document are observed. Gibbs sampling estimates its mixture theta
    from these. Each other word is scored alone: the logarithm of its probability sum_k theta_k phi_kv,
    **averaged over draws and kept sweeps inside the logarithm**. (This is the usual score per word. The
    probability of all hidden words together, which averages their product, is another number.)

    The cut and the score of a document depend only on its own words, the draws and the random state, bit for
    bit. With too few sweeps the score is too low, especially with few draws. Every document with words is
    scored: a single word is scored by the weights of the topics.

    Parameters
    ----------
    groups
        Groups of draws, such as the draws of each chain.
    corpus
        The documents, over the vocabulary that the topics were fitted with.
    sweeps, burn_in
        Gibbs sweeps over the observed words with each draw, and the number of first sweeps left out of the
        mean.
    random_state
        The seed of the cut and the sweeps: a number, a NumPy Generator or RandomState, or None.
    jobs
        Number of threads.
    """
    draws = [draw for group in groups for draw in group]
    documents, seed = new_documents(draws, corpus), seed_of(random_state)
    observed, hidden = _cut(documents, corpus.n_terms, seed)
    probability = np.zeros((len(groups), hidden.x.size))
    numbers = iter(range(len(draws)))
    for row, group in zip(probability, groups, strict=True):
        settings = fold_in_settings(sweeps, burn_in, len(group))
        for draw in group:
            key, topics = Key(seed, _OF_DRAWS, next(numbers), FOLD_IN), fixed_topics(draw)
            visit_in_blocks(
                predict_words, new_fold_in_scratch, jobs, key, observed, topics, settings, hidden, row
            )
    n_j = np.diff(hidden.doc_ptr)
    return Densities("document completion", np.log(probability), np.repeat(np.arange(n_j.size), n_j), n_j)


@moved(seed="random_state")
def left_to_right_densities(
    groups: Sequence[Sequence[Draw]],
    corpus: Corpus | CorpusArrays,
    *,
    particles: int = 20,
    random_state: RandomState = 0,
    jobs: int = 1,
) -> Densities:
    """Estimate the probability of whole documents with the left-to-right method, by each group of draws.

    The estimate of a document's probability, averaged over the draws, is unbiased. The reported logarithm is
    slightly too low; more particles reduce this bias. The estimate of a document depends only on its own
    words, the draws and the random state, bit for bit.

    Parameters
    ----------
    groups, corpus, random_state, jobs
        As for `completion_densities`.
    particles
        Number of particles per document and draw.
    """
    draws = [draw for group in groups for draw in group]
    documents, seed = new_documents(draws, corpus), seed_of(random_state)
    n_j = np.diff(documents.doc_ptr)
    new_scratch = partial(new_left_to_right_scratch, particles=whole_number("particles", particles, 1))
    log_p = np.zeros((len(draws), n_j.size))
    for number, draw in enumerate(draws):
        key, topics = Key(seed, 0, number, LEFT_TO_RIGHT), fixed_topics(draw)
        visit_in_blocks(estimate_log_p, new_scratch, jobs, key, documents, topics, log_p[number])
    ends = np.cumsum([len(group) for group in groups])[:-1]
    means = [logsumexp(own, axis=0) - math.log(len(own)) for own in np.split(log_p, ends)]
    return Densities("left to right", np.array(means), np.arange(n_j.size), n_j)


_METHODS: dict[str, Callable[..., Densities]] = {
    "completion": completion_densities,
    "left-to-right": left_to_right_densities,
}


def densities(
    groups: Sequence[Sequence[Draw]], corpus: Corpus | CorpusArrays, method: str, **options: Any
) -> Densities:
    """Return the log probabilities of new documents by each group of draws, for a method and its options."""
    if not is_one_of(method, _METHODS):
        raise SettingsError(
            f"method={method!r}: give 'completion' or 'left-to-right'; 'paper' scores one state, not chains",
            code="unknown-choice",
        )
    return _METHODS[method](groups, corpus, **options)


def _cut(documents: NewDocuments, n_terms: int, seed: int) -> tuple[NewDocuments, NewDocuments]:
    """Cut each document in two at random; the first half has n // 2 of its n words."""
    with interrupts_deferred():
        shuffle_words(Key(seed, _OF_CUTS, 0, FOLD_IN), documents, np.zeros(4, np.uint64))
    n_j = np.diff(documents.doc_ptr)
    n_first = n_j // 2
    place = np.arange(documents.x.size) - np.repeat(documents.doc_ptr[:-1], n_j)
    in_first = place < np.repeat(n_first, n_j)
    first = in_order(documents.x[in_first], offsets_of(n_first), n_terms)
    return first, in_order(documents.x[~in_first], offsets_of(n_j - n_first), n_terms)


def put_together(method: str, log_p: Array, n_j: Array) -> HeldOut:
    """Combine the log probabilities of documents; the error is that of a ratio (delta method).

    For differences of log probabilities, the result is the difference per word and its paired error.
    """
    n_words, n_documents = int(n_j.sum()), int(np.count_nonzero(n_j))
    if n_words == 0:
        raise FranchiseError(
            "nothing to score: no document has a word; give documents with words",
            code="empty-corpus",
        )
    per_word = float(log_p.sum()) / n_words
    off = log_p - per_word * n_j
    variance = float(off @ off) * n_documents / (n_documents - 1) if n_documents > 1 else math.nan
    return HeldOut(method, per_word, math.sqrt(variance) / n_words, n_words, n_documents, log_p)
