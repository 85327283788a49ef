"""Peers that are Python packages: tomotopy, gensim and scikit-learn."""

import time
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.peers.interface import Array, Checkpoint, Settings, Training, counted, paced


class Package:
    """A package that may be installed or not."""

    name: str
    module: str
    distribution: str
    compiles = False

    def available(self) -> str | None:
        """Say that the package is missing, and how to get it."""
        if find_spec(self.module.partition(".")[0]) is None:
            return f"{self.distribution} is not installed: pip install {self.distribution}"
        return None

    def version(self) -> str:
        """Return the version that is installed."""
        return version(self.distribution)

    def load(self) -> None:
        """Import the package."""
        import_module(self.module)


class Tomotopy(Package):
    """`HDPModel` with its defaults but eta, one worker.

    Topics are counted from the words of the current state. The model does not report the tables of each
    topic; they are divided by the number of documents that have the topic.
    """

    name, module, distribution = "tomotopy HDP", "tomotopy", "tomotopy"

    def fit(self, training: Training, settings: Settings) -> Iterator[Checkpoint]:
        """Sample."""
        import tomotopy

        model = tomotopy.HDPModel(eta=settings.eta, seed=settings.seed)
        for document in training.documents():
            model.add_doc([str(v) for v in document])
        for seconds, passes, _ in paced(lambda n: model.train(n, workers=1), settings.moments):
            terms = np.array([int(word) for word in model.vocabs])
            words, documents = np.zeros((model.k, training.n_terms)), np.zeros(model.k)
            for one in model.docs:
                topics = np.asarray(one.topics)
                np.add.at(words, (topics, terms[np.asarray(one.words)]), 1.0)
                documents[np.unique(topics)] += 1.0
            live = words.sum(axis=1) > 0
            words, documents = words[live], documents[live]
            scale = model.alpha / (model.num_tables + model.gamma)
            prior = scale * model.num_tables * documents / documents.sum()
            yield Checkpoint(
                seconds, passes, counted(words, settings.eta), prior, scale * model.gamma, words.sum(axis=1)
            )


class Gensim(Package):
    """`HdpModel`, at most 150 topics, the corpus as one chunk, kappa 0.6 and tau 1.

    It scores better so than with its defaults, which keep more of the random start, or with smaller chunks.
    The words of a topic are those expected by gensim's own inference, at the end of the budget; before, by
    the topic's parameters, in which the random start is counted as well.
    """

    name, module, distribution = "gensim HDP", "gensim.models.hdpmodel", "gensim"

    def fit(self, training: Training, settings: Settings) -> Iterator[Checkpoint]:
        """Make passes; the first one is made by the constructor, and counted."""
        from gensim.models.hdpmodel import HdpModel

        documents = training.bags()
        names = {v: str(v) for v in range(training.n_terms)}
        online = {"chunksize": len(documents), "max_chunks": 1, "kappa": 0.6, "tau": 1.0}
        made: list[HdpModel] = []

        def step(passes: int) -> None:
            for _ in range(passes):
                if made:
                    made[0].update(documents)
                else:
                    made.append(
                        HdpModel(documents, names, eta=settings.eta, random_state=settings.seed, **online)
                    )

        for seconds, passes, is_last in paced(step, settings.moments):
            (model,) = made
            words = model.m_lambda_sum
            if is_last:
                words = (model.inference(documents) - model.lda_alpha).sum(axis=0)
            topics = model.lda_beta / model.lda_beta.sum(axis=1, keepdims=True)
            yield Checkpoint(seconds, passes, topics, model.lda_alpha.copy(), 0.0, words.copy())


class ScikitLearnLDA(Package):
    """`LatentDirichletAllocation` with a given number of topics, in batches, 1 / K for documents.

    It has no intermediate results, so it is refitted with the same seed and more iterations each time.
    Each fit is a checkpoint with its own CPU seconds. The last one used 70% of the budget or more, or the
    perplexity hardly changed.
    """

    module, distribution = "sklearn.decomposition", "scikit-learn"
    growth, enough, hardly = 3, 0.7, 1e-3

    def __init__(self, n_topics: int) -> None:
        self.n_topics = n_topics
        self.name = f"scikit-learn LDA {n_topics}"

    def fit(self, training: Training, settings: Settings) -> Iterator[Checkpoint]:
        """Fit with 1, 3, 9 ... iterations."""
        budget = settings.moments[-1]
        counts = _matrix(training)
        self._fitted(counts[:2], 1, settings)  # imports what is imported by the first fit only
        iterations, before = 1, np.inf
        while True:
            began = time.process_time()
            topics, words, perplexity = self._fitted(counts, iterations, settings)
            seconds = time.process_time() - began
            prior = np.full(self.n_topics, 1.0 / self.n_topics)
            yield Checkpoint(seconds, iterations, topics, prior, 0.0, words)
            most = int(iterations * budget / max(seconds, 1e-3))
            settled = before / perplexity - 1 < self.hardly
            if settled or seconds > self.enough * budget or most <= iterations:
                return
            iterations, before = min(self.growth * iterations, most), perplexity

    def _fitted(self, counts: Any, iterations: int, settings: Settings) -> tuple[Array, Array, float]:
        from sklearn.decomposition import LatentDirichletAllocation

        model = LatentDirichletAllocation(
            self.n_topics,
            topic_word_prior=settings.eta,
            learning_method="batch",
            max_iter=iterations,
            random_state=settings.seed,
        ).fit(counts)
        topics = model.components_ / model.components_.sum(axis=1, keepdims=True)
        return topics, (model.components_ - settings.eta).sum(axis=1), float(model.bound_)


def _matrix(training: Training) -> Any:
    from scipy.sparse import csr_matrix

    bags = training.bags()
    terms = np.concatenate([[v for v, _ in bag] for bag in bags])
    counts = np.concatenate([[float(n) for _, n in bag] for bag in bags])
    ends = np.append(0, np.cumsum([len(bag) for bag in bags]))
    return csr_matrix((counts, terms, ends), shape=(len(bags), training.n_terms))
