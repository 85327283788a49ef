"""A fitted model and other programs: reference topics, and tables and files as they have them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from franchise.errors import SettingsError
from franchise.posterior import reference_tables
from franchise.posterior.labels import distinct
from franchise.posterior.reference_topics import (
    MATCH,
    ReferenceTopics,
    TopicComparison,
    compare_topics,
)

if TYPE_CHECKING:
    from franchise.corpus import Corpus
    from franchise.posterior.estimates import Posterior


class Elsewhere:
    """The part of `HDPTopicModel` that other programs meet."""

    corpus_: Corpus
    posterior_: Posterior
    topic_labels_: list[str]
    load: Callable[[Any], Self]

    def compare_topics(
        self,
        reference: Any,
        *,
        terms: Sequence[str] | None = None,
        names: Sequence[str] | None = None,
        threshold: float = MATCH,
        level: float = 0.95,
    ) -> TopicComparison:
        """Compare the topics with topics that come from elsewhere: which are the same, and how sure that is.

        The similarity is the cosine of two distributions over terms. Its interval covers what the documents
        leave open of the topic of this model; the reference is taken as it is. Where it reaches 1, the
        documents cannot tell the reference from the topic.

        Parameters
        ----------
        reference
            A DataFrame with the terms as columns, or as rows; a CSV or TSV file of the same form; a fitted
            model, or its folder; or an array of topics by terms. What are not probabilities is divided by its
            sum. Terms that only one side has count as 0 on the other.
        terms
            The terms that the columns of an array stand for; by default those of the model, in its order.
        names
            What the topics of an array are called.
        threshold
            The cosine from which on two topics count as a match.
        level
            Probability of the intervals.

        Returns
        -------
        TopicComparison
            In words (`print`), and as tables: `as_frame()` (topics with their most similar reference),
            `as_frame(one_to_one=True)`, `references()`.

        Examples
        --------
        >>> import numpy as np
        >>> from franchise import HDPTopicModel, from_tokens
        >>> corpus = from_tokens([["cat", "milk", "cat"], ["bond", "stock"]] * 20)
        >>> model = HDPTopicModel(sweeps=40, random_state=0, verbose=0).fit(corpus)
        >>> reference = np.array([[2, 1, 0, 0], [0, 0, 1, 1]])
        >>> terms = ["cat", "milk", "bond", "stock"]
        >>> found = model.compare_topics(reference, terms=terms, names=["pets", "money"])
        >>> found.as_frame(one_to_one=True)["reference"].tolist()
        ['pets', 'money']
        """
        check_is_fitted(self)
        given = self._reference(reference, terms, names)
        reference_tables.check_common(given, self.corpus_.vocabulary, "reference")
        return compare_topics(self.posterior_, self.topic_labels_, given, threshold=threshold, level=level)

    def _reference(
        self, given: Any, terms: Sequence[str] | None, names: Sequence[str] | None
    ) -> ReferenceTopics:
        vocabulary = self.corpus_.vocabulary
        is_array = isinstance(given, np.ndarray | list | tuple)
        if not is_array and (terms is not None or names is not None):
            raise SettingsError(
                "terms and names are for arrays; a table has the names of its rows and columns, and a model "
                "its own",
                code="does-not-apply",
            )
        if isinstance(given, str | os.PathLike):
            path = Path(given)
            if not path.is_dir():
                return reference_tables.from_file(path, vocabulary)
            given = self.load(path)
        if isinstance(given, Elsewhere):
            check_is_fitted(given)
            labels = tuple(distinct(given.topic_labels_))
            return ReferenceTopics(labels, given.corpus_.vocabulary, given.posterior_.phi)
        if hasattr(given, "columns") and hasattr(given, "to_numpy"):
            return reference_tables.from_frame(given, vocabulary, "reference")
        if is_array:
            return reference_tables.from_array(given, vocabulary if terms is None else terms, names)
        raise SettingsError(
            f"reference: of type {type(given).__name__}; give a DataFrame, an array, a CSV or TSV file, a "
            "fitted model or its folder",
            code="wrong-type",
        )
