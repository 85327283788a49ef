"""How topics differ between groups of the documents that a model was fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
from sklearn.utils.validation import check_is_fitted

from franchise.corpus import groups_of
from franchise.estimator.answers import Answers
from franchise.posterior import prevalence
from franchise.posterior.searches import number_of_topic

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Prevalence(Answers):
    """The part of `HDPTopicModel` that compares groups of documents."""

    def prevalence(
        self,
        by: Any,
        *,
        step: str | float | None = None,
        interval: float = 0.95,
        topics: int | str | Sequence[int | str] | None = None,
        per: str = "word",
        n_terms: int = 5,
        seed: int = 0,
    ) -> pd.DataFrame:
        """Return the share of each topic in each group of documents: by year, by author, by category.

        Parameters
        ----------
        by
            A column of the metadata (``corpus_.metadata``), or values of your own, one for each document
            that the model was fitted to, in their order. Missing values are a group of their own.
        step
            How much one group spans: ``"day"``, ``"week"``, ``"month"``, ``"quarter"``, ``"year"`` or
            ``"decade"`` of dates (by default the shortest that gives at most 60 groups), a number of numbers
            (10 puts the years 1990 to 1999 together; by default each number is a group).
        interval
            Probability of the interval from `low` to `high`. It covers what the draws leave open, and which
            other documents might have been in the group (bootstrap).
        topics
            Which topics, by number or by name; None for all.
        per
            ``"word"``: the share of the group's words, as in `topics`; ``"document"``: the mean of the shares
            in its documents, whatever their length.
        n_terms
            How many terms to name.
        seed
            Of the bootstrap; the same seed gives the same bounds.

        Returns
        -------
        pandas.DataFrame
            Columns group, topic, label (where topics were given names), terms, share, low, high and
            n_documents (those that have words).
        """
        check_is_fitted(self)
        frame = prevalence.prevalence(
            self.posterior_,
            groups_of(self.corpus_, by, step),
            interval=interval,
            topics=self._numbers(topics),
            per=per,
            n_terms=n_terms,
            seed=seed,
        )
        if self.named_topics_:
            labels = self.topic_labels_
            frame.insert(2, "label", [labels[k] for k in frame["topic"]])
        return frame

    def plot_prevalence(
        self,
        by: Any,
        topics: int | str | Sequence[int | str] | None = None,
        *,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Figure:
        """Draw the share of topics in groups of documents: lines over numbers and dates, else bars.

        `by` and the `options` are those of `prevalence`; `topics` are by default the first six. `name` says
        what the groups are, on the axis; by default the name of the column.
        """
        chosen = self._numbers(topics)
        frame = self.prevalence(by, topics=chosen, **options)
        from franchise.report import figures

        name = name or (by if isinstance(by, str) else "group")
        return figures.plot_prevalence(frame, chosen, name=name, ax=ax)

    def _numbers(self, topics: int | str | Sequence[int | str] | None) -> list[int] | None:
        """Return the numbers of topics that are given by number or by name, or a lone one."""
        if topics is None:
            return None
        check_is_fitted(self)
        given = [topics] if isinstance(topics, str) or not hasattr(topics, "__iter__") else topics
        n_topics, names = self.posterior_.n_topics, self.named_topics_
        return [number_of_topic(topic, n_topics, names, "topics") for topic in given]
