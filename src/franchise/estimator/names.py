"""What the topics and the terms of a fitted model are called, and where these names are kept."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sklearn.utils.validation import check_is_fitted

from franchise._text import counted
from franchise.errors import FranchiseWarning, ModelError, SettingsError
from franchise.estimator.rollback import all_or_nothing
from franchise.estimator.settings import folder_of
from franchise.posterior.labels import Named, carried, given_labels, labels_frame, remember, topic_labels
from franchise.storage import model as store
from franchise.storage.matching import write_matching
from franchise.storage.names import read_names, write_names

if TYPE_CHECKING:
    import pandas as pd

    from franchise.corpus import Corpus
    from franchise.posterior.estimates import Posterior
    from franchise.sampling import Chain


class Names:
    """The part of `HDPTopicModel` that says what things are called."""

    corpus_: Corpus
    posterior_: Posterior
    chains_: list[Chain]
    checkpoint_dir: str | os.PathLike[str] | None
    _keep_in: Callable[[Path], None]
    _for_people: Callable[[], dict[str, str]]
    _kept: dict[Path, str]
    _home: Path | None = None  # the folder that a model in place was loaded from
    _remembered: tuple[Named, ...] = ()  # the names, with what their topics are about
    _topic_names: dict[int, str] | None = None  # by their numbers in the present answer
    _feature_names: tuple[str, ...] | None = None

    @property
    def named_topics_(self) -> dict[int, str]:
        """The names that were given to topics (`set_topic_labels`), by the topic's number."""
        return dict(self._topic_names or {})

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
        new `fit` drops them all. `save` keeps them; with `checkpoint_dir` they are kept at once.

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
        phi = self.posterior_.phi
        names = given_labels(labels, phi, self.corpus_.vocabulary)
        return self._rename(_topic_names=names, _remembered=tuple(remember(names, phi)))

    def label_table(self) -> pd.DataFrame:
        """Return a table of the topics with their names, to be filled in: topic, name, terms."""
        check_is_fitted(self)
        return labels_frame(self.named_topics_, self.posterior_.phi, self.corpus_.vocabulary)

    def set_feature_names(self, names: Any) -> Self:
        """Say what the columns of the counts mean that the model was fitted to.

        For models that see only numbers: after a vectorizer in a pipeline, or fitted to an array. All that
        shows terms then shows these. `save` keeps them; with `checkpoint_dir` they are kept at once.

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
        posterior = copy(self.posterior_)
        posterior.corpus = corpus
        return self._rename(corpus_=corpus, posterior_=posterior, _feature_names=corpus.vocabulary)

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

    # ------------------------------------------------------------ for the model

    def _rename(self, **names: Any) -> Self:
        """Change what things are called, here and in the folder of the model, or neither."""
        with all_or_nothing(self):
            vars(self).update(names)
            folder = self._folder()
            if folder and folder.resolve() in self._kept:
                self.save_labels(folder)
            return self

    def _folder(self) -> Path | None:
        """Return the folder that `resume` and naming save the model in, or None."""
        return folder_of(self.checkpoint_dir) or self._home

    def _recall_names(self, folder: Path | None) -> None:
        """Take the names that are kept in a folder, before its topics are known; drop all others."""
        topics, terms = read_names(folder) if folder else ([], None)
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
        if terms is not None:
            self.corpus_ = self.corpus_.with_vocabulary(terms)

    def _carry_names(self) -> None:
        """Give the names to those of the present topics that they belong to."""
        if not self._remembered:
            return
        phi = self.posterior_.phi
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
        write_matching(folder, self.chains_, self.posterior_.alignment)
        write_names(folder, list(self._remembered), self._feature_names)
