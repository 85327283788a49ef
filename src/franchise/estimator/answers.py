"""What a fitted model answers: topics, documents, scores, diagnosis, and exports to other tools."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from franchise.corpus import Corpus
from franchise.corpus.documents import Encoded
from franchise.errors import SettingsError
from franchise.estimator.inputs import in_known_terms
from franchise.posterior import adapters, tables
from franchise.posterior.coherence import coherence, effective_terms, exclusivity
from franchise.posterior.describe import describe
from franchise.posterior.diagnostics import Diagnosis, diagnose
from franchise.posterior.estimates import Posterior
from franchise.predict import heldout
from franchise.predict.fixed_topics import mixtures
from franchise.predict.paper_heldout import PaperHeldOut, paper_held_out
from franchise.sampling import Chain
from franchise.sampling.run import threads

if TYPE_CHECKING:
    from sklearn.decomposition import LatentDirichletAllocation

    from franchise._files import Array

_MOST_DRAWS = 10  # whose topics new documents are folded into: more cost time and change little


class Answers:
    """The part of `HDPTopicModel` that needs a fitted model and changes nothing."""

    corpus_: Corpus
    posterior_: Posterior
    n_jobs: int | None
    _chains: list[Chain]

    @property
    def components_(self) -> Array:
        """Topics by terms, probabilities."""
        return self._fitted().phi

    @property
    def topic_weights_(self) -> Array:
        """Share of the words that each topic has."""
        return self._fitted().weights

    def _fitted(self) -> Posterior:
        if "posterior_" not in self.__dict__:
            raise AttributeError("the model is not fitted yet; call fit first")
        return self.posterior_

    # ------------------------------------------------------------ new documents

    def transform(self, X: Any) -> Array:
        """Return the topic proportions of documents, one row each, summing to one.

        Topics are held fixed at several draws of all chains, and the proportions averaged. A document gets
        the same numbers in whatever batch it comes. Unknown words are skipped; a document without known
        words gets the average proportions.
        """
        check_is_fitted(self)
        posterior, new = self.posterior_, in_known_terms(self, X)
        chosen = self._chosen()
        theta = mixtures(
            [posterior.flat_draws[i] for i in chosen],
            new.arrays,
            [posterior.columns[i] for i in chosen],
            posterior.n_topics + 1,
            jobs=threads(self.n_jobs, new.arrays.doc_ptr.size - 1),
        )
        listed = theta[:, :-1]
        return listed / listed.sum(axis=1, keepdims=True)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the held-out log-likelihood a word, in nats, by document completion; higher is better."""
        return self.held_out(X).per_word

    def perplexity(self, X: Any) -> float:
        """Return the held-out perplexity by document completion; lower is better."""
        return math.exp(-self.score(X))

    def held_out(self, X: Any, method: str = "completion", **options: Any) -> heldout.HeldOut | PaperHeldOut:
        """Return the held-out log-likelihood a word with its standard error.

        Parameters
        ----------
        X
            Documents that the model was not fitted to.
        method
            ``"completion"``: half of each document is given, the other half predicted; ``"left-to-right"``:
            whole documents, unbiased, slower; ``"paper"``: the number of the paper's program, of one state,
            which compares with nothing else.
        options
            More options of the method: see `franchise.predict.heldout`.
        """
        check_is_fitted(self)
        new = in_known_terms(self, X)
        if method == "paper":
            return self._paper_held_out(new, **options)
        methods: dict[str, Any] = {
            "completion": heldout.document_completion,
            "left-to-right": heldout.left_to_right,
        }
        if method not in methods:
            raise SettingsError(f"method={method!r}: give 'completion', 'left-to-right' or 'paper'")
        draws = [self.posterior_.flat_draws[i] for i in self._chosen()]
        jobs = threads(self.n_jobs, new.arrays.doc_ptr.size - 1)
        return methods[method](draws, new.arrays, jobs=jobs, **options)

    def _paper_held_out(self, new: Encoded, sweeps: int = 50, **options: Any) -> PaperHeldOut:
        chain = max(self._chains, key=lambda chain: chain.trace.last["log_joint"])
        test = Corpus(new.arrays.x, new.arrays.doc_ptr, chain.corpus.vocabulary, new.document_names)
        return paper_held_out(chain.corpus, chain.state, chain.priors, test, sweeps=sweeps, **options)

    def _chosen(self) -> list[int]:
        """Return which draws stand for all: evenly spaced, so all chains have their share."""
        n = len(self.posterior_.flat_draws)
        return np.unique(np.linspace(0, n - 1, min(n, _MOST_DRAWS)).round().astype(int)).tolist()

    # ------------------------------------------------------------ answers

    def topics(self, n_terms: int = 10, feature_names: Sequence[str] | None = None) -> pd.DataFrame:
        """Return a table of the topics, largest first.

        `feature_names` are the terms, where the model was fitted to counts without names (after a
        CountVectorizer: ``vectorizer.get_feature_names_out()``).
        """
        check_is_fitted(self)
        terms = self.corpus_.vocabulary if feature_names is None else feature_names
        return tables.topics_frame(self.posterior_, terms, n_terms=n_terms)

    def documents(self, n_topics: int = 3) -> pd.DataFrame:
        """Return a table of the documents that the model was fitted to, with their largest topics."""
        check_is_fitted(self)
        return tables.documents_frame(self.posterior_, self.corpus_, n_topics=n_topics)

    def representative_documents(self, topic: int, n: int = 5) -> pd.DataFrame:
        """Return the documents that are most about a topic."""
        check_is_fitted(self)
        return tables.representative_documents(self.posterior_, self.corpus_, topic, n)

    def coherence(self, measure: str = "c_npmi", n_terms: int = 10) -> Array:
        """Return how well the top terms of each topic go together in documents; higher is better."""
        check_is_fitted(self)
        return coherence(self.components_, self.corpus_, measure=measure, n_terms=n_terms)

    def quality(self, measure: str = "c_npmi") -> pd.DataFrame:
        """Return a table of what the topics are worth to a reader (`franchise.posterior.coherence`)."""
        phi = self.components_
        frame = self.topics()[["topic", "weight", "support", "terms"]]
        frame.insert(3, measure, self.coherence(measure))
        frame.insert(4, "exclusivity", exclusivity(phi))
        frame.insert(5, "effective_terms", effective_terms(phi))
        return frame

    def diagnose(self) -> Diagnosis:
        """Say in plain words whether the answer can be trusted, and what to do if not."""
        check_is_fitted(self)
        traces = [chain.trace for chain in self._chains if len(chain.trace)]
        return diagnose(self.posterior_, traces, self._chains[0].schedule)

    def to_pyldavis(self) -> dict[str, Any]:
        """Return the arguments of ``pyLDAvis.prepare``."""
        check_is_fitted(self)
        return adapters.to_pyldavis(self.posterior_, self.corpus_)

    def to_lda(self) -> LatentDirichletAllocation:
        """Return a scikit-learn LDA with these topics."""
        check_is_fitted(self)
        concentrations = np.mean([draw.concentrations for draw in self.posterior_.flat_draws], axis=0)
        return adapters.to_lda(self.posterior_, self.corpus_, concentrations)

    def __str__(self) -> str:
        """Say how big, how many topics, whether it converged and what next."""
        if "posterior_" not in self.__dict__:
            return repr(self)
        return describe(self.posterior_, self.corpus_, self._chains, self.diagnose())
