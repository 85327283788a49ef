"""The topics of a fitted model: tables, searches, groups, figures, and what topics and terms are called."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sklearn.utils.validation import check_is_fitted

from franchise._text import counted
from franchise.errors import FranchiseWarning, ModelError, SettingsError
from franchise.estimator.groups import TopicsByGroup
from franchise.estimator.rollback import all_or_nothing
from franchise.posterior import searches, tables
from franchise.posterior.coherence import coherence, effective_terms, exclusivity
from franchise.posterior.labels import (
    Named,
    carried,
    given_labels,
    labels_frame,
    remember,
    topic_labels,
)
from franchise.posterior.reading import Reading, RememberedReading, remembered
from franchise.storage import model as store
from franchise.storage.matching import write_matching
from franchise.storage.names import write_names

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from franchise._arrays import Array
    from franchise.corpus import Corpus
    from franchise.posterior.estimates import Posterior
    from franchise.sampling import Chain


_AS_IT_IS = RememberedReading()


class Topics(TopicsByGroup):
    """The topics of `HDPTopicModel`."""

    corpus_: Corpus
    posterior_: Posterior  # as people read it
    _all_topics: Posterior  # as the chains have it
    chains_: list[Chain]
    _keep_in: Callable[[Path], None]
    _for_people: Callable[[], dict[str, Any]]
    _kept: dict[Path, str]  # the folders that have the present chains, and the stamps of the models there
    _home: Path | None = None  # the folder that `resume` and naming save the model in
    _remembered: tuple[Named, ...] = ()  # the names, with what their topics are about
    _topic_names: dict[int, str] | None = None  # by their numbers in the present answer
    _feature_names: tuple[str, ...] | None = None
    _reading: Reading = Reading()
    _remembered_reading: RememberedReading = _AS_IT_IS

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

    # ------------------------------------------------------------ tables

    def topics(self, n_terms: int = 10, *, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Return a table of the topics, largest first (`franchise.posterior.tables.topics_frame`).

        `columns` chooses some, such as ``["topic", "label", "weight", "terms"]`` for a page of a paper. Where
        the model was fitted to counts without names, `set_feature_names` says what the terms are.
        """
        check_is_fitted(self)
        frame = tables.topics_frame(self.posterior_, n_terms=n_terms, labels=self.topic_labels_)
        return frame if columns is None else tables.with_columns(frame, columns)

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

    def find_topics(self, terms: str | Sequence[str], n: int = 5) -> pd.DataFrame:
        """Return the topics in which a term, or several together, are most probable.

        Parameters
        ----------
        terms
            A term, such as ``"galaxy"``, or several, which a topic must then have all.
        n
            How many topics at most: those in which the terms are more probable than in the whole collection,
            or the first.

        Returns
        -------
        pandas.DataFrame
            Columns topic, label, probability (of the term in the topic; of several, their geometric mean),
            share (of the occurrences that are in the topic), weight and terms.
        """
        check_is_fitted(self)
        return searches.topics_with(self.posterior_, self.topic_labels_, terms, n)

    # ------------------------------------------------------------ names

    @property
    def named_topics_(self) -> dict[int, str]:
        """The names that were given to topics (`set_topic_labels`), by the topic's number."""
        if not self._topic_names and not self._reading:
            return {}
        return self._reading.names(self._topic_names or {}, self.posterior_.members)

    @property
    def topic_labels_(self) -> list[str]:
        """What each topic is called: the name given to it, else three terms that set it apart."""
        check_is_fitted(self)
        posterior, corpus = self.posterior_, self.corpus_
        return topic_labels(posterior.phi, corpus.term_counts, corpus.vocabulary, self.named_topics_)

    def set_topic_labels(self, labels: Any) -> Self:
        """Give names to topics; tables, figures, the report and exports show them.

        A name belongs to what its topic is about. When `resume` changes the topics, each name goes to the
        topic that has the same terms (a cosine of at least 0.7), and a warning tells which names are lost; a
        new `fit` drops them all. `save` keeps them; a model in a folder keeps them at once.

        Parameters
        ----------
        labels
            A dictionary such as ``{3: "cosmology"}``; a sequence with a name for each topic, None for none;
            a DataFrame, or the name of a CSV file, with the columns topic and name (as the report saves it,
            and `label_table` returns it). Topics that are not mentioned have no name; None takes all away.

        Returns
        -------
        HDPTopicModel
            The model.
        """
        check_is_fitted(self)
        read, phi = self.posterior_, self._all_topics.phi
        given = given_labels(labels, read.phi, self.corpus_.vocabulary)
        names, reading = self._reading.renamed(self._topic_names or {}, given, read.members)
        return self._rename(
            _topic_names=names,
            _remembered=tuple(remember(names, phi)),
            _reading=reading,
            _remembered_reading=remembered(reading, phi),
        )

    def label_table(self) -> pd.DataFrame:
        """Return a table of the topics with their names, to be filled in: topic, name, terms."""
        check_is_fitted(self)
        return labels_frame(self.named_topics_, self.posterior_.phi, self.corpus_.vocabulary)

    def set_feature_names(self, names: Any) -> Self:
        """Say what the columns of the counts mean that the model was fitted to.

        For models that see only numbers: after a vectorizer in a pipeline, or fitted to an array. All that
        shows terms then shows these. `save` keeps them; a model in a folder keeps them at once.

        Parameters
        ----------
        names
            One name per column; or whatever made the columns, such as a fitted CountVectorizer or the
            pipeline up to the model: ``pipeline[-1].set_feature_names(pipeline[:-1])``.

        Returns
        -------
        HDPTopicModel
            The model.
        """
        check_is_fitted(self)
        if self.corpus_.text_options is not None:
            raise SettingsError(
                "the model was fitted to texts and has its terms; they cannot be renamed",
                code="terms-have-names",
            )
        if hasattr(names, "get_feature_names_out"):
            names = names.get_feature_names_out()
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise SettingsError(
                f"names={names!r}: give one name per column, or a fitted vectorizer", code="wrong-type"
            )
        corpus = self.corpus_.with_vocabulary([str(name) for name in names])
        all_topics = copy(self._all_topics)
        all_topics.corpus = corpus
        posterior = copy(self.posterior_) if self._reading else all_topics
        posterior.corpus = corpus
        return self._rename(
            corpus_=corpus,
            _all_topics=all_topics,
            posterior_=posterior,
            _feature_names=corpus.vocabulary,
        )

    def save_labels(self, path: str | os.PathLike[str]) -> None:
        """Write the names of topics and terms into the folder of this model, and nothing else again.

        Raises
        ------
        ModelError
            If the folder does not hold this model, or another process is writing there.
        """
        check_is_fitted(self)
        folder = Path(path)
        if folder.resolve() not in self._kept:
            raise ModelError(
                f"{folder}: this model is not kept there; save it there first", code="not-kept-there"
            )
        with store.writing(folder):
            self._keep_in(folder)
            self._write_answer(folder)

    def _rename(self, **names: Any) -> Self:
        """Change what things are called, here and in the folder of the model, or neither."""
        with all_or_nothing(self):
            vars(self).update(names)
            if self._home and self._home.resolve() in self._kept:
                self.save_labels(self._home)
            return self

    def _recall_names(
        self,
        topics: Sequence[Named],
        terms: tuple[str, ...] | None,
        reading: RememberedReading = _AS_IT_IS,
    ) -> None:
        """Take the names that a folder has, before its topics are known; drop all others."""
        if self._topic_names and not topics:
            warnings.warn(
                FranchiseWarning(
                    f"the topics are new, so {counted(len(self._topic_names), 'name')} given to the old ones "
                    "were dropped; set_topic_labels gives new ones",
                    code="names-dropped",
                ),
                stacklevel=3,
            )
        self._remembered, self._topic_names, self._feature_names = tuple(topics), {}, terms
        self._remembered_reading, self._reading = reading, Reading()
        if terms is not None:
            self.corpus_ = self.corpus_.with_vocabulary(terms)

    def _carry_names(self) -> None:
        """Give the names to those of the present topics that they belong to."""
        if not self._remembered:
            return
        phi = self._all_topics.phi
        self._topic_names, lost = carried(self._remembered, phi)
        self._remembered = tuple(remember(self._topic_names, phi))
        if lost:
            names = ", ".join(map(repr, lost))
            warnings.warn(
                FranchiseWarning(
                    f"no topic is like the ones that were called {names}: these names were dropped",
                    code="names-dropped",
                ),
                stacklevel=4,
            )

    def _write_answer(self, folder: Path) -> None:
        """Write what follows from the chains, for people and for the next time."""
        store.write_for_people(folder, **self._for_people())
        write_matching(folder, self.chains_, self._all_topics.alignment)
        write_names(folder, list(self._remembered), self._feature_names, self._remembered_reading)

    # ------------------------------------------------------------ figures

    def plot_topics(self, *, n_terms: int = 40, ax: Axes | None = None) -> Figure:
        """Draw topics by terms, with dots as large as the terms are probable."""
        return _figures(self).plot_topics(self, n_terms=n_terms, ax=ax)

    def plot_topic_bars(
        self, topics: Sequence[int] | None = None, *, n_terms: int = 10, axes: Sequence[Axes] | None = None
    ) -> Figure:
        """Draw the most probable terms of some topics, with their intervals; by default of the first six."""
        return _figures(self).plot_topic_bars(self, topics=topics, n_terms=n_terms, axes=axes)

    def plot_n_topics(self, *, ax: Axes | None = None) -> Figure:
        """Draw how probable each number of topics is, with the median and the central 95%."""
        return _figures(self).plot_n_topics(self, ax=ax)

    def plot_trace(self, column: str = "n_topics", *, ax: Axes | None = None) -> Figure:
        """Draw a column of the trace, one line per chain, with the burn-in shaded."""
        return _figures(self).plot_trace(self, column, ax=ax)

    def plot_topic_mass(self, chain: int = 0, *, ax: Axes | None = None) -> Figure:
        """Draw the share of words of the largest topics of a chain, draw by draw."""
        return _figures(self).plot_topic_mass(self, chain=chain, ax=ax)

    def plot_similarity(self, *, ax: Axes | None = None) -> Figure:
        """Draw how similar each topic is to its nearest, and each two topics to each other."""
        return _figures(self).plot_similarity(self, ax=ax)


def _figures(model: Topics) -> Any:
    check_is_fitted(model)
    from franchise.report import figures

    return figures
