"""How well topics predict documents that they were not fitted to: held-out likelihood, in nats per word.

Two methods, both with the topics of each draw held fixed (`predict.fixed_topics`) and averaged over the draws
as probabilities, not as logarithms. Document completion is cheap: half of each document is given, the other
half predicted. Left to right estimates the probability of whole documents, in time that grows with the square
of their length. The two scores are different numbers, and neither is that of the paper's program
(`sampling.paper_heldout`).
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

# Streams of FOLD_IN: for the draws of topics, and for cutting documents in two.
_OF_DRAWS, _OF_CUTS = 0, 1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HeldOut:
    """A held-out likelihood.

    Attributes
    ----------
    method
        How it was found.
    per_word
        Log probability (natural logarithm) per scored word; the higher, the better.
    standard_error
        Of `per_word`, as the documents are a sample of all documents there could be; NaN for a single one.
    n_words, n_documents
        How many words were scored, in how many documents.
    log_p
        Log probability of each document's scored words; 0 where there are none.
    """

    method: str
    per_word: float
    standard_error: float
    n_words: int
    n_documents: int
    log_p: Array

    @property
    def perplexity(self) -> float:
        """exp(-per_word): as unsure as among this many equally likely terms."""
        return math.exp(-self.per_word)

    def __str__(self) -> str:
        return (
            f"{self.method}: {self.per_word:.4f} nats per word (standard error {self.standard_error:.4f}), "
            f"perplexity {self.perplexity:,.1f}; "
            f"{self.n_words:,} words of {counted(self.n_documents, 'document')} scored"
        )

    __repr__ = __str__  # a session shows the answer

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
    """What groups of draws, such as chains, each say of new documents.

    Attributes
    ----------
    method
        How it was found.
    log_p
        Groups by units: log probability of what the method predicts as one, a word or a document.
    document
        The document of each unit.
    n_j
        Scored words of each document.
    """

    method: str
    log_p: Array
    document: Array
    n_j: Array

    def held_out(self, weights: Sequence[float] | Array) -> HeldOut:
        """Return the score of a mixture of the groups, which is averaged inside the logarithm."""
        return put_together(self.method, self.by_document(weights), self.n_j)

    def by_document(self, weights: Sequence[float] | Array) -> Array:
        """Return the log probability of each document's scored words by a mixture of the groups."""
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
    """Predict half of each document's words from the others, by each group of draws.

    Of a document's n words, n // 2 are drawn to be given. Its mixture theta is found from these by Gibbs, and
    each other word is scored by itself: the logarithm of its probability sum_k theta_k phi_kv, **averaged
    over draws and kept sweeps inside the logarithm**. (This is the usual score per word. The probability of
    all hidden words together, whose average is taken over their product, is another number.)

    A document's cut and score depend on its own words, the draws and the random state alone, to the bit. Too
    few sweeps give too low a score, the more so with few draws. All documents with words are scored: a single
    word is scored by the topics' weights.

    Parameters
    ----------
    groups
        Groups of draws, such as those of each chain.
    corpus
        The documents, over the vocabulary that the topics were fitted with.
    sweeps, burn_in
        Gibbs sweeps over the words given, with each draw, and how many of them to leave out of the mean.
    random_state
        Of the cut and of the sweeps: a number, a NumPy Generator or RandomState, or None.
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
    """Estimate the probability of whole documents by the left-to-right method, by each group of draws.

    The estimate of a document's probability, averaged over the draws, is unbiased; its logarithm, which is
    reported, is a little too low, the less so the more particles. A document's estimate depends on its own
    words, the draws and the random state alone, to the bit.

    Parameters
    ----------
    groups, corpus, random_state, jobs
        As for `completion_densities`.
    particles
        How many go through each document with each draw.
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
    """Return what groups of draws say of new documents, by a method and its options."""
    if not is_one_of(method, _METHODS):
        raise SettingsError(
            f"method={method!r}: give 'completion' or 'left-to-right'; 'paper' scores one state, not chains",
            code="unknown-choice",
        )
    return _METHODS[method](groups, corpus, **options)


def _cut(documents: NewDocuments, n_terms: int, seed: int) -> tuple[NewDocuments, NewDocuments]:
    """Cut each document at random in two, the first half having n // 2 of its n words."""
    with interrupts_deferred():
        shuffle_words(Key(seed, _OF_CUTS, 0, FOLD_IN), documents, np.zeros(4, np.uint64))
    n_j = np.diff(documents.doc_ptr)
    n_first = n_j // 2
    place = np.arange(documents.x.size) - np.repeat(documents.doc_ptr[:-1], n_j)
    in_first = place < np.repeat(n_first, n_j)
    first = in_order(documents.x[in_first], offsets_of(n_first), n_terms)
    return first, in_order(documents.x[~in_first], offsets_of(n_j - n_first), n_terms)


def put_together(method: str, log_p: Array, n_j: Array) -> HeldOut:
    """Put the documents' log probabilities together; the error is that of a ratio (delta method).

    Given differences of log probabilities, these are the difference per word and its paired error.
    """
    n_words, n_documents = int(n_j.sum()), int(np.count_nonzero(n_j))
    if n_words == 0:
        raise FranchiseError(
            "there is nothing to score: no document has a word; give documents with words",
            code="empty-corpus",
        )
    per_word = float(log_p.sum()) / n_words
    off = log_p - per_word * n_j
    variance = float(off @ off) * n_documents / (n_documents - 1) if n_documents > 1 else math.nan
    return HeldOut(method, per_word, math.sqrt(variance) / n_words, n_words, n_documents, log_p)
