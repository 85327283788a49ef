"""A fitted model and other programs: reference topics, and tables and files as they have them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from franchise._settings import flag, whole_number
from franchise.corpus.files import write_atomically
from franchise.errors import ModelError, SettingsError
from franchise.estimator.reading import Reads
from franchise.posterior import reference_tables
from franchise.posterior.assignments import Assignments
from franchise.posterior.labels import distinct
from franchise.posterior.reading import numbers_of
from franchise.posterior.reference_topics import (
    MATCH,
    ReferenceTopics,
    TopicComparison,
    compare_topics,
)
from franchise.posterior.topic_diagnostics import topic_diagnostics

if TYPE_CHECKING:
    import pandas as pd

    from franchise.corpus import Corpus
    from franchise.posterior.estimates import Posterior
    from franchise.sampling import Chain


class Elsewhere(Reads):
    """The part of `HDPTopicModel` that other programs meet."""

    corpus_: Corpus
    posterior_: Posterior
    _all_topics: Posterior
    chains_: list[Chain]
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
            The terms of the columns of an array; by default those of the model, in its order.
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

    # ------------------------------------------------------------ as MALLET has it

    def topic_diagnostics(self, n_terms: int = 20) -> pd.DataFrame:
        """Return what MALLET's ``--diagnostics-file`` says of each topic.

        Parameters
        ----------
        n_terms
            How many top terms of each topic to look at.

        Returns
        -------
        pandas.DataFrame
            Columns topic, label, and with MALLET's names: tokens, document_entropy, word_length, coherence
            (a sum over pairs of top terms), uniform_dist, corpus_dist, eff_num_words, rank_1_docs,
            allocation_ratio, allocation_count, exclusivity. What depends on documents is averaged over the
            draws (`franchise.posterior.topic_diagnostics` has the formulas).
        """
        check_is_fitted(self)
        return topic_diagnostics(self.posterior_, self.topic_labels_, whole_number("n_terms", n_terms, 1))

    def word_topics(self, chain: int | None = None) -> pd.DataFrame:
        """Return the topic of every word that the model was fitted to, a row per word.

        These are the assignments of one state: that of a chain after its last sweep. Two words of a kind may
        have different topics there, and another state has others; shares of documents and topics, which are
        averaged over all draws, are the better answer wherever they are one. For many words,
        `word_topics_in_parts` takes less memory.

        Parameters
        ----------
        chain
            The number of the chain; by default the one whose last state has the highest log joint.

        Returns
        -------
        pandas.DataFrame
            Columns number and document (number and name of the document), position (among the words that
            were kept, from 0), term, and topic: its number in `topics`, -1 if it is not listed. Words of a
            table of counts stand in the order of their terms.
        """
        import pandas as pd

        return pd.concat(self.word_topics_in_parts(chain), ignore_index=True)

    def word_topics_in_parts(self, chain: int | None = None) -> Iterator[pd.DataFrame]:
        """Yield the rows of `word_topics`, half a million words at a time."""
        return self._assignments(chain).frames()

    def write_mallet_state(
        self, path: str | os.PathLike[str], *, chain: int | None = None, overwrite: bool = False
    ) -> Path:
        """Write the topic of every word as ``mallet train-topics --output-state`` does.

        Parameters
        ----------
        path
            Where to write it; packed if the name ends in ``.gz``, as MALLET and its readers expect.
        chain
            As for `word_topics`. Topics have the numbers of `topics`; those that are not listed come after.
        overwrite
            Replace an existing file.
        """
        target = Path(path)
        if target.exists() and not flag("overwrite", overwrite):
            raise ModelError(
                f"{target}: the file already exists; give another name, or overwrite=True", code="file-exists"
            )
        return write_atomically(target, self._assignments(chain).mallet_state())

    def _assignments(self, number: int | None) -> Assignments:
        check_is_fitted(self)
        started = [chain for chain in self.chains_ if len(chain.trace)]
        kept = [chain for chain in started if chain.draws] or started
        if number is None:
            chosen = max(kept, key=lambda chain: float(chain.trace.last["log_joint"]))
        else:
            numbers = [chain.number for chain in kept]
            if whole_number("chain", number, 0) not in numbers:
                raise SettingsError(
                    f"chain={number}: give the number of a chain that has draws, one of "
                    f"{', '.join(map(str, numbers))}",
                    code="unknown-choice",
                )
            chosen = kept[numbers.index(number)]
        # The last draw of the chain says which listed topics the topics of its state are.
        last = sum(len(draws) for draws in self.posterior_.draws[: kept.index(chosen) + 1]) - 1
        draw, column = self._all_topics.flat_draws[last], self._all_topics.columns[last]
        members = self.posterior_.members
        numbers_read = numbers_of(members, self._all_topics.n_topics)
        return Assignments(self.corpus_, chosen, draw, numbers_read[column], len(members))

    # ------------------------------------------------------------ reference topics

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
