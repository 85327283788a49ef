"""The topics of a fitted model in groups of documents: their shares, differences between groups, figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from franchise._settings import moved
from franchise.corpus import groupings_of
from franchise.posterior import differences, prevalence
from franchise.posterior.searches import number_of_topic

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from franchise.corpus import Corpus
    from franchise.posterior.estimates import Posterior


class TopicsByGroup:
    """The part of `HDPTopicModel` that compares groups of documents."""

    corpus_: Corpus
    posterior_: Posterior

    if TYPE_CHECKING:

        @property
        def named_topics_(self) -> dict[int, str]:
            """Those of `Topics`."""

        @property
        def topic_labels_(self) -> list[str]:
            """Those of `Topics`."""

    @moved(seed="random_state")
    def prevalence(
        self,
        by: Any,
        *,
        step: Any = None,
        interval: float = 0.95,
        topics: int | str | Sequence[int | str] | None = None,
        per: str = "word",
        n_terms: int = 5,
        random_state: int = 0,
    ) -> pd.DataFrame:
        """Return the share of each topic in each group of documents: by year, by author, by category.

        Parameters
        ----------
        by
            A column of the metadata (``corpus_.metadata``), or values of your own, one for each document
            that the model was fitted to, in their order. Missing values are a group of their own. Or two
            columns, ``["party", "date"]``, for the groups of each pair of their values.
        step
            How much one group spans: ``"day"``, ``"week"``, ``"month"``, ``"quarter"``, ``"year"`` or
            ``"decade"`` of dates (by default the shortest that gives at most 60 groups), a number of numbers
            (10 puts the years 1990 to 1999 together; by default each number is a group). Of two columns, the
            step of the one that does not hold texts, or a list of two.
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
        random_state
            Seed of the bootstrap; the same seed gives the same bounds.

        Returns
        -------
        pandas.DataFrame
            Columns group, within (of two columns, the group of the second), topic, label (where topics were
            given names), terms, share, low, high and n_documents (those that have words).
        """
        check_is_fitted(self)
        groups, *within = groupings_of(self.corpus_, by, step)
        frame = prevalence.prevalence(
            self.posterior_,
            groups,
            within=within[0] if within else None,
            interval=interval,
            topics=self._numbers(topics),
            per=per,
            n_terms=n_terms,
            random_state=random_state,
        )
        return self._with_names(frame)

    def prevalence_difference(
        self,
        by: Any,
        of: Any = None,
        *,
        step: Any = None,
        interval: float = 0.95,
        topics: int | str | Sequence[int | str] | None = None,
        per: str = "word",
        n_terms: int = 5,
        random_state: int = 0,
    ) -> pd.DataFrame:
        """Return how much larger each topic is in one group of documents than in another.

        Given two columns, the groups of the first are compared within each group of the second: parties in
        the same months. The row ``(all)`` puts these differences together; months in which both parties have
        many words count most. That is the coefficient of the party in a linear regression of the share on
        party and month, and what ``estimateEffect(~ party + month)`` of R's stm estimates.

        Parameters
        ----------
        by
            A column of the metadata (``corpus_.metadata``), or values of your own, one for each document; or
            two columns, ``["party", "date"]``: the groups to compare, and what to hold equal.
        of
            The two groups to compare, such as ``("D", "R")``, or one to compare with all others. None for
            the groups of a column that has two.
        step, interval, topics, per, n_terms
            As for `prevalence`.
        random_state
            Seed of the bootstrap; the same seed gives the same bounds.

        Returns
        -------
        pandas.DataFrame
            Columns topic, label (where topics were given names), terms, within (of two columns, the group of
            the second, at last ``(all)``), first and second (the groups), share_first, share_second,
            difference (share_first minus share_second) with its interval from low to high, probability (that
            the difference is above 0: the part of the bootstrap in which it is), n_first and n_second (the
            documents). Where one of the two has fewer than two documents, a group of the second column is
            left out.

        Examples
        --------
        >>> from franchise import HDPTopicModel
        >>> texts = ["tax tax law", "tax law", "sea fish sea", "fish sea"]
        >>> model = HDPTopicModel(eta=0.5, sweeps=50, chains=1, random_state=0, verbose=0)
        >>> model = model.fit(texts, metadata={"party": ["D", "D", "R", "R"]})
        >>> model.prevalence_difference("party", ("D", "R"))["first"].unique().tolist()
        ['D']
        """
        check_is_fitted(self)
        groups, *within = groupings_of(self.corpus_, by, step)
        frame = differences.differences(
            self.posterior_,
            differences.two_groups(groups, of),
            within=within[0] if within else None,
            interval=interval,
            topics=self._numbers(topics),
            per=per,
            n_terms=n_terms,
            random_state=random_state,
        )
        return self._with_names(frame)

    def _with_names(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Add the names of topics to a table, where topics were given names."""
        if self.named_topics_:
            labels = self.topic_labels_
            frame.insert(frame.columns.get_loc("topic") + 1, "label", [labels[k] for k in frame["topic"]])
        return frame

    def _numbers(self, topics: int | str | Sequence[int | str] | None) -> list[int] | None:
        """Return the numbers of topics that are given by number or by name, or a lone one."""
        if topics is None:
            return None
        check_is_fitted(self)
        given = [topics] if isinstance(topics, str) or not hasattr(topics, "__iter__") else topics
        n_topics, names = self.posterior_.n_topics, self.named_topics_
        return [number_of_topic(topic, n_topics, names, "topics") for topic in given]

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

        name = name or groupings_of(self.corpus_, by, options.get("step"))[-1].name
        return figures.plot_prevalence(frame, chosen, name=name, ax=ax)

    def plot_prevalence_difference(
        self,
        by: Any,
        of: Any = None,
        topics: int | str | Sequence[int | str] | None = None,
        *,
        name: str | None = None,
        axes: Sequence[Axes] | None = None,
        **options: Any,
    ) -> Figure:
        """Draw the shares of topics in two groups side by side, and the difference with its interval.

        Of two columns, there is a panel for each topic, with the shares of both groups by the second column.
        `by`, `of` and the `options` are those of `prevalence_difference`. `topics` are by default the 15
        largest, in the order of their differences; of two columns the six largest. `name` says what the
        groups are, on the axis; by default the name of the column.
        """
        chosen = self._numbers(topics)
        frame = self.prevalence_difference(by, of, topics=chosen, **options)
        groups, *within = groupings_of(self.corpus_, by, options.pop("step", None))
        shares = prevalence.prevalence(
            self.posterior_,
            differences.two_groups(groups, of),
            within=within[0] if within else None,
            topics=chosen,
            **options,
        )
        from franchise.report import figures

        name = name or [groups, *within][-1].name
        return figures.plot_prevalence_difference(
            frame, self._with_names(shares), chosen, name=name, axes=axes
        )
