"""What a fitted model answers: documents, scores, diagnosis; in words, as a page, for other libraries."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import get_config
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from franchise._settings import flag
from franchise.corpus.documents import encode
from franchise.errors import SettingsError
from franchise.estimator.inputs import in_known_terms
from franchise.estimator.readers import ForReaders
from franchise.estimator.settings import in_use
from franchise.estimator.starts import has_earlier_topics
from franchise.estimator.summary import known_topics
from franchise.posterior import adapters, searches, tables
from franchise.posterior.advice import Advice, as_command, in_python
from franchise.posterior.describe import describe, describe_html, model_card
from franchise.posterior.diagnostics import Diagnosis, diagnose
from franchise.posterior.searches import number_of_topic
from franchise.predict.heldout import HeldOut
from franchise.predict.known_topics import KnownTopics
from franchise.sampling import Chain
from franchise.sampling.paper_heldout import PaperHeldOut
from franchise.sampling.plan import Plan
from franchise.sampling.settings import Settings

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.decomposition import LatentDirichletAllocation
    from xarray import DataTree

    from franchise._files import Facts
    from franchise.corpus import Corpus
    from franchise.posterior.estimates import Posterior


class Answers(ForReaders, TransformerMixin):  # type: ignore[misc]  # wraps `transform` for `set_output`
    """The part of `HDPTopicModel` that needs a fitted model and changes nothing."""

    n_jobs: int | None
    verbose: int
    corpus_: Corpus
    posterior_: Posterior
    _all_topics: Posterior
    chains_: list[Chain]
    topics: Callable[..., pd.DataFrame]
    topic_map: Callable[..., pd.DataFrame]
    topic_labels_: list[str]
    named_topics_: dict[int, str]
    _fitted: Callable[[], Posterior]
    _home: Path | None
    trace_: pd.DataFrame
    _chosen: dict[str, str]  # what "auto" has become for the documents, and why
    _made_with: Settings  # the settings of the chains, whatever set_params has changed since

    @property
    def settings_(self) -> Facts:
        """The settings that the model was made with, the seed, and what was used where they leave it open."""
        if "chains_" not in vars(self):
            raise AttributeError("the model is not fitted yet; call fit first")
        return self._facts(self.chains_[0])

    def _facts(self, made: Plan | Chain) -> Facts:
        """Return the settings as they are written with a model, and what they have become."""
        return self._made_with.to_json() | {
            "in_place": self._home is not None,
            "in_use": in_use(made, self.corpus_),
            "chosen": self._chosen,
        }

    # ------------------------------------------------------------ new documents

    def transform(self, X: Any, *, return_sparse: bool = False, top: int | None = None) -> Any:
        """Return the topic proportions of documents, one row each, summing to one.

        Topics are held fixed at several draws of all chains, and the proportions averaged. A document gets
        the same numbers whatever batch it is in. Unknown words are skipped; a document without known
        words gets the average proportions. One with more than 20,000 words is scaled down evenly to as many.

        Parameters
        ----------
        X
            The documents.
        return_sparse
            Return a SciPy CSR array: ``transform(X, return_sparse=True, top=5)`` holds five numbers per
            document, however many topics there are.
        top
            How many topics to keep of each document, the largest; the others are zero, so that rows sum to
            less than one.
        """
        check_is_fitted(self)
        new, topics = in_known_terms(self, X, scaled=True), self.known_topics_
        if not flag("return_sparse", return_sparse) and top is None:
            return topics.mixtures(new, self.n_jobs)
        rows = topics.sparse_mixtures(new, top, self.n_jobs)
        return rows if return_sparse else rows.toarray()

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
        members = self._fitted().members
        return known_topics(self._all_topics, self.chains_, self.corpus_, members)

    # ------------------------------------------------------------ the documents of the fit

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

    def document_topics(
        self, documents: Sequence[int] | None = None, *, interval: bool = False, level: float = 0.95
    ) -> pd.DataFrame:
        """Return the share of each topic in each document that the model was fitted to.

        Parameters
        ----------
        documents
            Numbers of documents, from 0; None for all.
        interval
            Add intervals: columns then have two levels, the topic, and share, low and high.
        level
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            A row per document, a column per topic (`topic_labels_`), and ``unlisted``, the share of topics
            that are not listed. Rows sum to one.
        """
        check_is_fitted(self)
        return searches.document_topics_frame(
            self.posterior_,
            self.topic_labels_,
            documents=documents,
            interval=flag("interval", interval),
            level=level,
        )

    def similar_documents(self, document: Any, n: int = 5) -> pd.DataFrame:
        """Return the documents, of those that the model was fitted to, that have the most similar topics.

        Parameters
        ----------
        document
            The number of a document, or its name; or a new text.
        n
            How many documents at most.

        Returns
        -------
        pandas.DataFrame
            Columns number, document (its name), similarity (1 for the same topics in the same shares, 0 for
            no topic in common), words and opening.
        """
        check_is_fitted(self)
        number = searches.number_of_document(document, self.corpus_)
        if number is not None:
            mixture = self.posterior_.mixtures(np.array([number]))[0, :-1]
        elif isinstance(document, str):
            if not encode([document], self.corpus_).arrays.x.size:
                raise SettingsError(
                    f"document={shorten(document, 60)!r}: no document has this name, and as a text it has no "
                    "word that the model knows",
                    code="no-such-document",
                )
            mixture = np.asarray(self.transform([document]))[0]  # `set_output` may ask for a frame
        else:
            raise SettingsError(
                f"document={document!r}: give the number or name of a document, or a text", code="wrong-type"
            )
        return searches.documents_like(self.posterior_, mixture, n, but=number)

    # ------------------------------------------------------------ in words, and for others

    def diagnose(self) -> Diagnosis:
        """Check whether the answer can be trusted, and say in plain words what to do if not."""
        check_is_fitted(self)
        started = [chain for chain in self.chains_ if len(chain.trace)]
        return diagnose(
            self.posterior_,
            [chain.trace for chain in started],
            self.chains_[0].schedule,
            [chain.started_from for chain in started],
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

    def _for_people(self) -> dict[str, str | None]:
        """Return the files of a model's folder that people read."""
        topics, settings, start = self.topics(), self.settings_, self._made_with.init
        return {
            "topics_csv": topics.to_csv(index=False),
            "trace_csv": self.trace_.to_csv(index=False),
            "card": model_card(str(self), topics, settings),
            "topic_map_csv": self.topic_map().to_csv(index=False) if has_earlier_topics(start) else None,
        }

    @property
    def _repr_html_(self) -> Any:
        # Asked for by programs that do not know bundles; scikit-learn decides where there is none.
        return self._as_html if self._shows_answer() else super()._repr_html_

    def _repr_mimebundle_(self, **options: Any) -> Facts:
        if not self._shows_answer():
            bundle: Facts = super()._repr_mimebundle_(**options)
            return bundle
        return {"text/plain": str(self), "text/html": self._as_html()}

    def _shows_answer(self) -> bool:
        return "posterior_" in vars(self) and get_config()["display"] == "diagram"

    def _as_html(self) -> str:
        return describe_html(str(self), self.topics())

    def to_pyldavis(self) -> dict[str, Any]:
        """Return the arguments of ``pyLDAvis.prepare``, which shows numbers of topics, not their names."""
        check_is_fitted(self)
        return adapters.to_pyldavis(self.posterior_)

    def to_topicwizard(self) -> dict[str, Any]:
        """Return the topic data that topicwizard's figures and its web app take."""
        check_is_fitted(self)

        def transform(texts: Any) -> Any:
            return np.asarray(self.transform(texts))  # `set_output` may ask for a frame

        return adapters.to_topicwizard(self.posterior_, transform)

    def to_lda(self) -> LatentDirichletAllocation:
        """Return a scikit-learn LDA with these topics."""
        check_is_fitted(self)
        concentrations = np.mean([draw.concentrations for draw in self.posterior_.flat_draws], axis=0)
        return adapters.to_lda(self.posterior_, concentrations)

    def to_datatree(self, held_out: Any = None) -> DataTree:
        """Return the traces for ArviZ, as an xarray DataTree.

        Given documents that the model was not fitted to, `held_out`, there is also a group
        ``held_out_log_likelihood``: log p(document | topics) for a few draws of each chain, by left to right.
        There is no ``log_likelihood`` of the fitted documents: ArviZ would compute leave-one-out scores from
        it that mean nothing (`franchise.posterior.adapters.to_datatree` says why).
        """
        check_is_fitted(self)
        traces = [chain.trace for chain in self.chains_ if len(chain.trace)]
        settings = self.settings_
        schedule = self.chains_[0].schedule
        by_draw = None
        if held_out is not None:
            new = in_known_terms(self, held_out)
            by_draw = self.known_topics_.log_p_by_draw(new, self.n_jobs).as_dataset()
        return adapters.to_datatree(
            traces,
            self.posterior_,
            schedule,
            settings,
            labels=self.topic_labels_,
            held_out=by_draw,
        )

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
