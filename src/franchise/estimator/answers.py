"""What a fitted model answers: topics, documents, scores, diagnosis."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from franchise.estimator.inputs import in_known_terms
from franchise.estimator.names import Names
from franchise.estimator.settings import to_keep
from franchise.posterior import tables
from franchise.posterior.advice import Advice, as_command, in_python
from franchise.posterior.coherence import coherence, effective_terms, exclusivity
from franchise.posterior.describe import chosen_in_words, describe, model_card
from franchise.posterior.diagnostics import Diagnosis, diagnose
from franchise.posterior.estimates import Posterior
from franchise.posterior.searches import number_of_topic
from franchise.predict.heldout import HeldOut
from franchise.predict.known_topics import KnownTopics
from franchise.predict.paper_heldout import PaperHeldOut
from franchise.predict.stacking import OfChain
from franchise.sampling import Chain, Draw

if TYPE_CHECKING:
    from franchise._files import Array, Facts

_MOST_DRAWS = 10  # whose topics new documents are folded into: more cost time and change little


class Answers(Names, TransformerMixin):  # type: ignore[misc]  # wraps `transform` for `set_output`
    """The part of `HDPTopicModel` that needs a fitted model and changes nothing."""

    n_jobs: int | None
    verbose: int
    get_params: Callable[[], Facts]  # scikit-learn's
    chains_: list[Chain]
    trace_: pd.DataFrame
    _chosen: dict[str, str]  # what "auto" has become for the documents, and why
    _made_with: Facts  # the settings of the chains, whatever set_params has changed since

    @property
    def components_(self) -> Array:
        """Topics by terms, probabilities."""
        return self._fitted().phi

    @property
    def topic_weights_(self) -> Array:
        """Share of the words that each topic has."""
        return self._fitted().weights

    @property
    def settings_(self) -> Facts:
        """The settings that the model was made with, the seed, and what was used where they leave it open."""
        if "chains_" not in vars(self):
            raise AttributeError("the model is not fitted yet; call fit first")
        settings = self.get_params() | self._made_with | {"checkpoint_dir": self._folder()}
        chain = self.chains_[0]
        return to_keep(settings, chain.seed, self.corpus_, chain, self._chosen)

    def _fitted(self) -> Posterior:
        if "posterior_" not in self.__dict__:
            raise AttributeError("the model is not fitted yet; call fit first")
        return self.posterior_

    # ------------------------------------------------------------ new documents

    def transform(self, X: Any) -> Array:
        """Return the topic proportions of documents, one row each, summing to one.

        Topics are held fixed at several draws of all chains, and the proportions averaged. A document gets
        the same numbers whatever batch it is in. Unknown words are skipped; a document without known
        words gets the average proportions. One with more than 20,000 words is scaled down evenly to as many.

        Parameters
        ----------
        X
            The documents.
        """
        check_is_fitted(self)
        return self.known_topics_.mixtures(in_known_terms(self, X), self.n_jobs)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the held-out log-likelihood per word, in nats, by document completion; higher is better."""
        return self.held_out(X).per_word

    def perplexity(self, X: Any) -> float:
        """Return the held-out perplexity by document completion; lower is better."""
        return math.exp(-self.score(X))

    def held_out(
        self,
        X: Any,
        method: str = "completion",
        *,
        chain_weights: Any = None,
        **options: Any,
    ) -> HeldOut | PaperHeldOut:
        """Return the held-out log-likelihood per word with its standard error.

        Parameters
        ----------
        X
            Documents that the model was not fitted to.
        method
            ``"completion"``: half of each document is given, the other half predicted; ``"left-to-right"``:
            whole documents, unbiased, slower; ``"paper"``: the number of the paper's program, for one state,
            which is comparable with nothing else.
        chain_weights
            How much each chain counts: one number per chain, or what `chain_weights` returns (of other
            documents than these, or the score is too good); by default all draws count the same.
        options
            More options of the method: see `franchise.predict.heldout`.
        """
        check_is_fitted(self)
        new = in_known_terms(self, X)
        return self.known_topics_.held_out(new, method, self.n_jobs, chain_weights, **options)

    def chain_weights(self, X: Any, method: str = "completion", **options: Any) -> pd.DataFrame:
        """Return how well each chain predicts documents, and weights with which they predict best together.

        For chains that have settled on different answers. Plain averages over all draws then depend on where
        chains happened to start; these weights (stacking: Yao, Vehtari & Gelman 2022) depend on what the
        chains predict. A chain without weight adds nothing to the others.

        Parameters
        ----------
        X
            Documents that the model was not fitted to.
        method
            ``"completion"`` or ``"left-to-right"``, as for `held_out`.
        options
            More options of the method.

        Returns
        -------
        pandas.DataFrame
            Columns chain, n_topics (the median), per_word (the chain's own score in nats; higher is better),
            standard_error and weight; the weights sum to one.
        """
        check_is_fitted(self)
        new = in_known_terms(self, X)
        return self.known_topics_.stacked(new, method, self.n_jobs, **options).as_frame()

    @property
    def known_topics_(self) -> KnownTopics:
        """The topics that new documents are compared with, from a few draws that represent all."""
        posterior = self._fitted()
        # Evenly spaced, so that all chains have their share.
        chosen = _evenly(len(posterior.flat_draws))
        with_draws = [chain for chain in self.chains_ if chain.draws] or self.chains_
        numbers = [chain.number for chain in with_draws if len(chain.trace)]
        return KnownTopics(
            corpus=self.corpus_,
            draws=[posterior.flat_draws[i] for i in chosen],
            columns=[posterior.columns[i] for i in chosen],
            n_topics=posterior.n_topics,
            chain=max(self.chains_, key=_log_joint),
            chains=[
                OfChain(number, _median_topics(draws), [draws[i] for i in _evenly(len(draws))])
                for number, draws in zip(numbers, posterior.draws, strict=True)
            ],
        )

    # ------------------------------------------------------------ answers

    def topics(self, n_terms: int = 10) -> pd.DataFrame:
        """Return a table of the topics, largest first (`franchise.posterior.tables.topics_frame`).

        Where the model was fitted to counts without names, `set_feature_names` says what the terms are.
        """
        check_is_fitted(self)
        return tables.topics_frame(self.posterior_, n_terms=n_terms, labels=self.topic_labels_)

    def documents(self, n_topics: int = 3) -> pd.DataFrame:
        """Return a table of the documents that the model was fitted to, with their largest topics."""
        check_is_fitted(self)
        return tables.documents_frame(
            self.posterior_,
            n_topics=n_topics,
            labels=self.topic_labels_,
            names=self.named_topics_,
        )

    def representative_documents(self, topic: int | str, n: int = 5) -> pd.DataFrame:
        """Return the documents that are most about a topic, which is given by its number or its name."""
        check_is_fitted(self)
        number = number_of_topic(topic, self.posterior_.n_topics, self.named_topics_)
        return tables.representative_documents(self.posterior_, number, n)

    def coherence(self, measure: str = "c_npmi", n_terms: int = 10) -> Array:
        """Return how well the top terms of each topic go together in documents; higher is better."""
        check_is_fitted(self)
        return coherence(self.components_, self.corpus_, measure=measure, n_terms=n_terms)

    def quality(self, measure: str = "c_npmi") -> pd.DataFrame:
        """Return a table of what the topics are worth to a reader (`franchise.posterior.coherence`)."""
        phi = self.components_
        frame = self.topics()[["topic", "label", "weight", "support", "terms"]]
        frame.insert(4, measure, self.coherence(measure))
        frame.insert(5, "exclusivity", exclusivity(phi))
        frame.insert(6, "effective_terms", effective_terms(phi))
        return frame

    def diagnose(self) -> Diagnosis:
        """Check whether the answer can be trusted, and say in plain words what to do if not."""
        check_is_fitted(self)
        started = [chain for chain in self.chains_ if len(chain.trace)]
        return diagnose(
            self.posterior_,
            [chain.trace for chain in started],
            self.chains_[0].schedule,
            [chain.start_from for chain in started],
        )

    def __str__(self) -> str:
        """Say how big, how many topics, whether it converged and what next."""
        return self._described(in_python) if "posterior_" in self.__dict__ else repr(self)

    def in_commands(self, model: str) -> str:
        """Return what is printed, with commands for the model in a folder instead of calls."""
        check_is_fitted(self)
        return self._described(lambda advice: as_command(advice, model))

    def _described(self, say: Callable[[Advice], str]) -> str:
        found, labels = self.diagnose(), self.topic_labels_
        return describe(self.posterior_, self.corpus_, self.chains_, found, labels, self._chosen, say)

    def _choices_in_words(self) -> str:
        return chosen_in_words(self._chosen)

    def _for_people(self) -> dict[str, str]:
        """Return the files of a model's folder that people read."""
        topics, settings = self.topics(), self.settings_
        return {
            "topics_csv": topics.to_csv(index=False),
            "trace_csv": self.trace_.to_csv(index=False),
            "card": model_card(str(self), topics, settings),
        }

    # ------------------------------------------------------------ what scikit-learn needs

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether there is an answer; a model that was loaded may have none yet."""
        return "posterior_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what the model takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.positive_only = True
        tags.input_tags.categorical = True  # of all tags the one for whole numbers
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


def _evenly(n: int) -> list[int]:
    """Return numbers below n, all or a few, evenly spaced."""
    chosen: list[int] = np.unique(np.linspace(0, n - 1, min(n, _MOST_DRAWS)).round().astype(int)).tolist()
    return chosen


def _median_topics(draws: Sequence[Draw]) -> int:
    return int(np.quantile([draw.names.size for draw in draws], 0.5, method="inverted_cdf"))


def _log_joint(chain: Chain) -> float:
    return float(chain.trace.last["log_joint"]) if len(chain.trace) else -math.inf
