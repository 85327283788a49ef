"""More documents for a fitted model: its chains continue, and its topics keep their names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from franchise._settings import flag, whole_number
from franchise._text import counted
from franchise.corpus import Corpus, ShardedCorpus
from franchise.corpus.checks import is_frame
from franchise.corpus.metadata import check_same_order
from franchise.corpus.more_documents import joined, missing_columns, more_documents
from franchise.engines import CONTINUED, GivenTopics
from franchise.engines.starts.tables import scaled_down
from franchise.errors import FranchiseWarning, ModelError, SettingsError
from franchise.estimator.inputs import warn_of
from franchise.estimator.rollback import all_or_nothing
from franchise.estimator.settings import check_call, check_engine, folder_of
from franchise.estimator.starts import earlier_topics, has_earlier_topics, names_to_carry
from franchise.posterior.topic_map import topic_map
from franchise.sampling import SplitMerge
from franchise.sampling.continued import continued
from franchise.sampling.settings import Settings
from franchise.storage import model as store
from franchise.storage.checkpoints import load_chains
from franchise.storage.names import read_names

if TYPE_CHECKING:
    import pandas as pd

    from franchise.corpus.files import StrPath
    from franchise.posterior.estimates import Posterior
    from franchise.posterior.labels import Named
    from franchise.posterior.reading import RememberedReading
    from franchise.sampling import Chain
    from franchise.sampling.run import Callback

_ALL_AGAIN = "fit all documents with init=model, or --init MODEL"


class Updating:
    """The part of `HDPTopicModel` that adds documents to a fitted model."""

    engine: Any
    n_jobs: int | None
    corpus_: Corpus
    chains_: list[Chain]
    posterior_: Posterior
    named_topics_: dict[int, str]
    _made_with: Settings
    _chosen: dict[str, str]
    _home: Path | None
    _kept: dict[Path, str]
    _create: Callable[..., None]
    _run: Callable[[Callback | None, float | None], None]
    _all_topics: Posterior
    _remembered_reading: RememberedReading
    _recall_names: Callable[[Sequence[Named], tuple[str, ...] | None, RememberedReading], None]

    def update(
        self,
        X: Any,
        *,
        metadata: Any = None,
        sweeps: int = 200,
        burn_in: int | None = None,
        thin: int | None = None,
        checkpoint_dir: StrPath | None = None,
        callback: Callback | None = None,
        time_budget: float | None = None,
        overwrite: bool = False,
    ) -> Self:
        """Add documents, and let the chains continue on all of them.

        The words of the old documents keep their seats, those of the new ones are seated one after another
        given these. From there on the chains sample the posterior of all documents together: after a new
        burn-in, new draws replace the old ones. Topics keep their names where they keep their terms, and
        `topic_map` says what became of each. The seed follows from the model's.

        Parameters
        ----------
        X
            New documents of the kind that the model was fitted to. Texts are split in the same way. A term
            that the model does not have joins the vocabulary if it is in as many of the new documents as
            `min_df` and `max_df` ask for; terms of lists and columns of counts always join. Documents
            with the names of old ones are refused.
        metadata
            What else is known of the new documents. Columns that only the old or only the new documents
            have are missing in the others.
        sweeps
            How many sweeps each chain makes on all documents.
        burn_in, thin
            Which of these sweeps count, as for a fit: by default the later half, of which 25 to 50 are kept.
        checkpoint_dir
            A folder for the updated model; the one that the model is kept in stays as it is. After a crash,
            the same call continues it.
        callback, time_budget
            As for `fit`.
        overwrite
            Replace a model that is in `checkpoint_dir`, be it this one.

        Returns
        -------
        HDPTopicModel
            The model, updated.

        Examples
        --------
        >>> from franchise import HDPTopicModel
        >>> texts = ["The cat drinks milk", "A dog and a cat", "Stocks and bonds fell", "Bonds rose"]
        >>> model = HDPTopicModel(sweeps=50, chains=2, random_state=0).fit(texts)
        >>> model.update(["The cat sleeps", "Stocks rose"], sweeps=20).corpus_
        Corpus(6 documents, 9 terms, 14 words)
        """
        check_is_fitted(self)
        check_call(callback, time_budget, self.n_jobs)
        check_engine(self._made_with.engine, self.engine)
        folder, replaces = folder_of(checkpoint_dir), flag("overwrite", overwrite)
        self._refuse_to_update(folder, replaces)
        with all_or_nothing(self):
            new = _scaled(_with_metadata(more_documents(X, self.corpus_), X, metadata), self.corpus_)
            warn_of(_without_metadata(new, self.corpus_), stacklevel=3)
            corpus = joined(self.corpus_, new)
            settings = self._updated(corpus, sweeps, burn_in, thin)
            names = names_to_carry(settings.init, corpus)
            reading = self._remembered_reading.in_terms(self.corpus_.vocabulary, corpus.vocabulary)
            with store.writing(folder):
                if folder and not replaces and store.has_chains(folder):
                    settings, chains = _begun(folder, settings, corpus)
                    names, _, reading = read_names(folder)
                    folder_to_make = None
                else:
                    chains = continued(settings.plan(), corpus, self.chains_)
                    folder_to_make = folder
                for name in ("posterior_", "trace_"):
                    vars(self).pop(name, None)
                if hasattr(self, "feature_names_in_") or is_frame(X):
                    self.feature_names_in_ = np.array(corpus.vocabulary, object)
                self._made_with, self.corpus_, self.chains_ = settings, corpus, chains
                self._home, self._chosen = folder, {k: v for k, v in self._chosen.items() if k != "init"}
                self._topic_names: dict[int, str] | None = {}
                self._recall_names(names, None, reading)
                if folder_to_make:
                    self._create(folder_to_make, overwrite=replaces)
                self._run(callback, time_budget)
            return self

    def topic_map(self, n_terms: int = 5) -> pd.DataFrame:
        """Return a table of what became of the topics that the model was updated or started from.

        Topics are the same if the cosine of their probabilities of terms is at least 0.7, no two to one:
        as for names (`set_topic_labels`).

        Parameters
        ----------
        n_terms
            How many top terms to show.

        Returns
        -------
        pandas.DataFrame
            Columns earlier and topic (numbers, missing where a topic was born or died), change
            (``"continues"``, ``"born"`` or ``"died"``), similarity, earlier_name, name, earlier_terms and
            terms.
        """
        check_is_fitted(self)
        start = self._made_with.init
        if not has_earlier_topics(start):
            raise SettingsError(
                "topic_map: the model did not start from the topics of an earlier one; it is for models "
                "made by update, or fitted with init=model",
                code="no-earlier-topics",
            )
        earlier = earlier_topics(start, self.corpus_)
        n_terms = whole_number("n_terms", n_terms, 1)
        return topic_map(earlier, self.posterior_.phi, self.corpus_.vocabulary, self.named_topics_, n_terms)

    def _refuse_to_update(self, folder: Path | None, replaces: bool) -> None:
        """Refuse a model that cannot get more documents, and a folder that has this one."""
        if isinstance(self.corpus_, ShardedCorpus):
            raise ModelError(
                f"update: the documents of the model lie in shards, which stay as they are; {_ALL_AGAIN}",
                code="cannot-update",
            )
        waiting = [chain.number for chain in self.chains_ if not len(chain.trace)]
        if waiting:
            raise ModelError(
                f"update: the model is not finished, {counted(len(waiting), 'chain')} did not start; call "
                "resume first, or `franchise resume MODEL`",
                code="incomplete-model",
            )
        if folder and folder.resolve() in self._kept and not replaces:
            raise ModelError(
                f"{folder}: the model to update is there; give another folder for the updated one, or "
                "overwrite=True",
                code="folder-exists",
            )

    def _updated(self, corpus: Corpus, sweeps: int, burn_in: int | None, thin: int | None) -> Settings:
        """Return the settings of the updated model."""
        before = self._made_with
        topics = GivenTopics(
            CONTINUED, self._all_topics.phi, self.corpus_.vocabulary, names=dict(self._topic_names or {})
        )
        # Another seed: the states to continue from already depend on the random numbers of this one.
        entropy = np.random.SeedSequence((before.seed, corpus.n_documents))
        seed = int(entropy.generate_state(1, np.uint64)[0] >> np.uint64(1))
        sweeps = whole_number("sweeps", sweeps, 1)
        schedule = replace(before.schedule, thin=thin, warm_up=None, warm_up_from=None, merges=None)
        last = sweeps // 2 if burn_in is None else whole_number("burn_in", burn_in, 0)
        trials = schedule.split_merge
        if isinstance(trials, SplitMerge) and trials.adapt > last:
            schedule = replace(schedule, split_merge=replace(trials, adapt=last))
        return replace(before, seed=seed, init=topics, sweeps=sweeps, burn_in=burn_in, schedule=schedule)


def _with_metadata(new: Corpus, X: Any, metadata: Any) -> Corpus:
    if metadata is None:
        return new  # a corpus may have its own
    check_same_order(X, metadata)
    return new.with_metadata(metadata)


def _without_metadata(new: Corpus, before: Corpus) -> list[FranchiseWarning]:
    """Warn of columns that the model has and new documents lack."""
    if not (missing := missing_columns(before, new.metadata_names)):
        return []
    columns = " and ".join(map(repr, missing))
    message = (
        f"the new documents have no {columns}, as the model's documents have; their values are missing from "
        "now on, unless you update again with these metadata"
    )
    return [FranchiseWarning(message, code="missing-metadata")]


def _scaled(new: Corpus, before: Corpus) -> Corpus:
    """Leave out words of new documents as words of the old ones were left out."""
    done = before.downsampling
    if done is None or new.downsampling is not None:
        return new
    if done.concentration is not None:
        return scaled_down(new, done.concentration, done.seed)
    if done.by_document:
        raise ModelError(
            "update: each document of the model had its own limit of words, and there is none for new ones; "
            f"{_ALL_AGAIN}",
            code="cannot-update",
        )
    return new.downsampled(done.words, random_state=done.seed, evenly=done.evenly)


def _begun(folder: Path, settings: Settings, corpus: Corpus) -> tuple[Settings, list[Chain]]:
    """Return the settings and chains of an update that was begun in a folder; refuse another model."""
    kept = Settings.from_json(store.read(folder).settings)
    if (kept.init, kept.seed) != (settings.init, settings.seed):
        raise ModelError(
            f"{folder}: another model is there, not this one with these documents; give another folder, or "
            "overwrite=True",
            code="folder-exists",
        )
    return kept, load_chains(kept.plan(), store.chains_folder(folder), corpus, resumed=True)
