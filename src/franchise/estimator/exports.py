"""A fitted model for others: a page for the browser, and what other libraries take."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from franchise.estimator.inputs import in_known_terms
from franchise.estimator.notebook import Notebook
from franchise.posterior import adapters

if TYPE_CHECKING:
    from sklearn.decomposition import LatentDirichletAllocation
    from xarray import DataTree


class Exports(Notebook):
    """The part of `HDPTopicModel` that hands a fitted model on."""

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
            by_draw = self.known_topics_.log_p_by_draw(in_known_terms(self, held_out), self.n_jobs)
        return adapters.to_datatree(
            traces,
            self.posterior_,
            schedule,
            settings,
            labels=self.topic_labels_,
            held_out=by_draw,
        )

    def report(
        self, path: str | os.PathLike[str], *, title: str | None = None, overwrite: bool = False
    ) -> Path:
        """Write a page for the browser, one file that needs no network: topics, documents, traces.

        Parameters
        ----------
        path
            Where to write it, such as ``"report.html"``.
        title
            The heading.
        overwrite
            Replace an existing file.
        """
        check_is_fitted(self)
        from franchise.report import write_report

        return write_report(
            path,
            self.posterior_,
            self.corpus_,
            [chain for chain in self.chains_ if len(chain.trace)],
            self.diagnose(),
            self.settings_,
            labels=self.named_topics_,
            title=title,
            overwrite=overwrite,
        )
