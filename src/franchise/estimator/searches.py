"""Tables that people ask a fitted model for: documents by topics, the topics of a term, similar documents."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from franchise._settings import flag
from franchise.corpus.documents import encode
from franchise.errors import SettingsError
from franchise.estimator.answers import Answers
from franchise.posterior import searches

if TYPE_CHECKING:
    import pandas as pd


class Searches(Answers):
    """The part of `HDPTopicModel` that looks things up."""

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
