"""HDPTopicModel: the settings, the fit, the model on disk.

A thin shell: documents go to `corpus`, chains to `sampling`, folders to `storage`; answers come from
`posterior` and `predict`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from franchise._files import Facts
from franchise._progress import monitor_for
from franchise._settings import RandomState, flag, moved, refuse_moved
from franchise.corpus.data_warnings import topic_warnings
from franchise.corpus.files import StrPath
from franchise.engines.pools.ray import Ray
from franchise.errors import ModelError
from franchise.estimator.answers import Answers
from franchise.estimator.elsewhere import Elsewhere
from franchise.estimator.inputs import effective_corpus, training_corpus, warn_of
from franchise.estimator.plans import begun_shorter, longer, settings_to_fit, settled
from franchise.estimator.rollback import all_or_nothing
from franchise.estimator.settings import (
    MOVED,
    check_call,
    check_engine,
    check_to_try,
    cluster_of,
    folder_of,
    params_of,
    settings_of,
)
from franchise.estimator.starts import names_to_carry
from franchise.estimator.summary import (
    interrupted_after,
    new_chains,
    nothing_started,
    posterior_of,
    read_model,
    save_chains,
    trace_frame,
)
from franchise.estimator.topics import Topics
from franchise.estimator.updating import Updating
from franchise.estimator.workers import workers_for
from franchise.posterior.align import Alignment
from franchise.posterior.describe import chosen_in_words
from franchise.sampling import Schedule
from franchise.sampling.forecast import Forecast, forecast
from franchise.sampling.run import Callback, Ending, run_chains
from franchise.storage import model as store
from franchise.storage.checkpoints import Checkpoints, Overflow
from franchise.storage.matching import read_matching
from franchise.storage.names import read_names, write_names


@moved(**MOVED)
class HDPTopicModel(Answers, Topics, Elsewhere, Updating, ClassNamePrefixFeaturesOutMixin, BaseEstimator):  # type: ignore[misc]
    """Topics of a collection of documents, and how many there are, by exact MCMC.

    A number fixes eta, alpha or gamma; a pair is the Gamma prior (shape, rate) under which it is estimated.

    Parameters
    ----------
    eta
        How evenly a topic spreads over terms: the smaller, the more and narrower topics (`tune_eta` tries
        values). An estimated eta, such as ``(1.0, 1.0)``, often runs away on texts. ``"auto"``: 1 for count
        tables (up to 1,000 terms, mean count 4 or more), 0.3 for texts of fewer than 25 words on average (at
        least 100 of them), else 0.1.
    alpha, gamma
        A larger alpha gives more topics per document, a larger gamma more topics in all.
    init
        Where chains start: ``"consensus"`` (what short runs on 90% of the documents agree on), ``"counts"``
        (as many topics as predict hidden counts best), ``"documents"`` (topics begun at random documents),
        ``"fitted"`` (topics that EM finds), ``"sequential"`` (the paper's), ``"one"`` topic, a number of
        random topics, or ``"apart"``: the last three in turn. ``"auto"`` is one of the first four, by the
        documents. Or topics: a fitted model or its folder, a DataFrame or array of topics by terms, or seed
        words, ``{"cosmology": ["galaxy", "redshift"], ...}``. A start is no prior: chains may leave it.
    sweeps
        Passes over all words that each chain makes.
    burn_in
        How many of them to leave out of the answer; by default half.
    chains
        Independent runs; trust the answer if they agree.
    text_options
        How texts become words, a dictionary of options of `TextOptions`: ``{"min_df": 5, "stop_words":
        "german"}``. None for the defaults, and for documents that are not texts.
    effective_counts
        Whether documents of a count table are scaled down to their effective number of counts, if counts
        vary more than topics explain; a warning says how many are used.
    engine
        How sweeps are made: ``"collapsed"``, word by word; ``"parallel"``, all documents at once; ``"gpu"``;
        ``"cells"``, all words of a term in a document at once, for large counts. ``"auto"`` takes the first
        below a million words; above, the last for large counts, else ``"parallel"``, or a GPU from 10 million
        on. `Ray` makes the chains of ``"parallel"`` or ``"gpu"`` on a cluster.
    n_jobs
        Number of threads: -1 for all cores, None for one. It does not change the answer.
    random_state
        A whole number, for the same answer every time; a NumPy Generator or RandomState; or None.
    schedule
        Which moves are made in which sweeps, and which sweeps are kept: a `Schedule`, None for the usual one.
    verbose
        0 is silent; 1 shows progress on standard error when a fit takes more than two seconds.

    Attributes
    ----------
    n_topics_
        Number of topics: the median of its posterior, without those that people have merged or hidden.
    n_topics_interval_
        The central 95% of the number of topics over all draws.
    components_
        Topics by terms, probabilities; largest topic first.
    topic_weights_
        Share of the words that each topic has.
    trace_
        A row of numbers for every sweep of every chain, burn-in included.
    posterior_
        All that was learned, with intervals (`Posterior`).
    corpus_, chains_
        The documents as words; the chains (`Chain`), finished or not.
    ending_
        How the last fit or resume ended: ``"complete"``, ``"interrupted"`` or ``"out of time"``.
    settings_
        The settings that the model was made with, and the seed. ``"in_use"`` says what was used where a
        setting leaves it open, ``"chosen"`` what ``"auto"`` has become, and why.
    topic_labels_, named_topics_
        What each topic is called: a name given to it, or terms that set it apart; and the names given.
    n_features_in_, feature_names_in_
        Number of terms; their names, if a DataFrame was given.

    Examples
    --------
    >>> from franchise import HDPTopicModel
    >>> texts = ["The cat drinks milk", "A dog and a cat", "Stocks and bonds fell", "Bonds rose"]
    >>> model = HDPTopicModel(sweeps=50, chains=2, random_state=0).fit(texts)
    >>> model.transform(["A cat, a dog"]).shape == (1, model.n_topics_)
    True
    """

    def __init__(
        self,
        eta: float | str | tuple[float, float] = "auto",
        alpha: float | tuple[float, float] = (1.0, 1.0),
        gamma: float | tuple[float, float] = (1.0, 1.0),
        *,
        init: Any = "auto",
        sweeps: int = 500,
        burn_in: int | None = None,
        chains: int = 4,
        text_options: Mapping[str, Any] | None = None,
        effective_counts: bool = True,
        engine: str | Ray = "auto",
        n_jobs: int | None = -1,
        random_state: RandomState = None,
        schedule: Schedule | None = None,
        verbose: int = 1,
    ) -> None:
        self.eta = eta
        self.alpha = alpha
        self.gamma = gamma
        self.init = init
        self.sweeps = sweeps
        self.burn_in = burn_in
        self.chains = chains
        self.text_options = text_options
        self.effective_counts = effective_counts
        self.engine = engine
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.schedule = schedule
        self.verbose = verbose

    def get_params(self, deep: bool = True) -> Facts:
        """Return the settings. Those of a model to start from are not among them, `deep` or not."""
        params: Facts = super().get_params(deep=False)
        return params

    def set_params(self, **params: Any) -> Self:
        """Change settings, all that are given or none."""
        refuse_moved(MOVED, params)
        with all_or_nothing(self):
            changed: Self = super().set_params(**params)
            return changed

    def __sklearn_clone__(self) -> Self:
        """Return an estimator of the same settings; a model to start from stays fitted."""
        given = self.init
        if not isinstance(given, BaseEstimator):
            return super().__sklearn_clone__()
        bare = type(self)(**(self.get_params() | {"init": "fitted"}))
        clone: Self = super(HDPTopicModel, bare).__sklearn_clone__()
        clone.init = given
        return clone

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        metadata: Any = None,
        checkpoint_dir: StrPath | None = None,
        callback: Callback | None = None,
        time_budget: float | None = None,
        overwrite: bool = False,
    ) -> Self:
        """Fit the model.

        Ctrl-C ends it after the sweep, and leaves the model of the sweeps made so far; `resume` continues it.

        Parameters
        ----------
        X
            Texts, lists of words, counts (documents by terms; dense, sparse or a DataFrame), a DataFrame's
            column of texts, or a `Corpus`.
        y
            Ignored.
        metadata
            What else is known of the documents, for `prevalence`: a DataFrame, or a dict of columns.
        checkpoint_dir
            A folder to save the model in while it is fitted. After a crash, the same call continues it.
        callback
            Called with the chain (`Chain`) after each of its sweeps.
        time_budget
            Seconds after which no new sweep is begun (`ending_` says if that happened); `resume` continues.
        overwrite
            Replace a model that is in `checkpoint_dir`, instead of continuing it.
        """
        folder = folder_of(checkpoint_dir)
        check_call(callback, time_budget, self.n_jobs)
        earlier = None if flag("overwrite", overwrite) else folder
        settings, chosen = settings_to_fit(earlier, settings_of(self.get_params()), self.random_state)
        check_engine(settings.engine, self.engine)
        with all_or_nothing(self):
            corpus = training_corpus(self, X, metadata, settings.text_options)
            used = (
                effective_corpus(corpus, settings.seed, self.verbose) if settings.effective_counts else corpus
            )
            self._made_with, why = settled(settings, corpus, used)
            self.corpus_, self._home, self._chosen = used, folder, chosen | why
            names, facts = names_to_carry(self._made_with.init, used), self._facts(self._made_with.plan())
            with store.writing(folder):
                self.chains_ = new_chains(folder, self._made_with, used, facts, names, overwrite=overwrite)
                self._recall_names(*(read_names(folder) if folder else (names, None)))
                self._run(callback, time_budget)
            return self

    def fit_transform(self, X: Any, y: Any = None, **options: Any) -> Any:
        """Fit the model, and return the topic proportions of the documents; `options` are those of `fit`.

        They are those of `document_topics`, from the states of the chains. `transform` would infer them again
        with the topics held fixed, as for new documents.
        """
        with all_or_nothing(self):
            return self.fit(X, y, **options).posterior_.document_topics[:, :-1].copy()

    def resume(
        self,
        sweeps: int = 0,
        *,
        burn_in: int | None = None,
        thin: int | None = None,
        checkpoint_dir: StrPath | None = None,
        callback: Callback | None = None,
        time_budget: float | None = None,
    ) -> Self:
        """Make the sweeps that an interrupted fit still has, and `sweeps` more.

        The states and, unless `thin` is given, the draws are, to the bit, those of a fit that was as long
        from the start, if that has the same warm-up, merges and split-merge schedule. These follow from the
        first burn-in and stay; a warning tells if a longer fit would have others. Draws that the new burn-in
        or thinning leaves out are dropped, also in the model's folder.

        Parameters
        ----------
        sweeps
            How many more than were planned.
        burn_in
            How many of all sweeps to leave out of the answer; by default as given before, else half.
        thin
            Keep every `thin`-th sweep after the burn-in; by default as given before, else 25 to 50 in all.
        checkpoint_dir
            A folder to save the model in; by default that of the fit, if there was one.
        callback
            Called with the chain (`Chain`) after each of its sweeps.
        time_budget
            Seconds after which no new sweep is begun.
        """
        if not hasattr(self, "chains_"):
            check_is_fitted(self)
        check_call(callback, time_budget, self.n_jobs)
        check_engine(self._made_with.engine, self.engine)
        made_with, schedules = longer(self._made_with, self.chains_, sweeps, burn_in, thin)
        warn_of(begun_shorter(self._made_with, made_with, self.chains_[0]), stacklevel=3)
        folder = folder_of(checkpoint_dir) or self._home
        with all_or_nothing(self, self.chains_), store.writing(folder):
            if folder:
                self._keep_in(folder)
            self._made_with, self._home = made_with, folder
            for chain, schedule in zip(self.chains_, schedules, strict=True):
                chain.reschedule(schedule)
            self._run(callback, time_budget)
            return self

    def forecast(self, X: Any) -> Forecast:
        """Estimate the time and memory that a fit would take, from a few sweeps of it."""
        settings = settings_of(self.get_params(), seed=0)  # a random state is left as it is
        check_to_try(settings.engine)
        corpus = training_corpus(type(self)(), X, text_options=settings.text_options)
        return forecast(settings.plan(), corpus, self.n_jobs)

    def _keep_in(self, folder: Path) -> None:
        """Make sure that the folder has what the chains continue from."""
        stamp = self._kept.get(folder.resolve())
        if stamp is None:
            self._create(folder)
        elif not store.is_model(folder) or store.stamp(folder) != stamp:
            raise ModelError(
                f"{folder}: the model there was removed or has changed; load it, or save this one elsewhere",
                code="model-replaced",
            )

    def _run(self, callback: Callback | None, time_budget: float | None) -> None:
        folder, engine = self._home, self._made_with.engine
        if folder:  # a model that is there may have been shorter
            store.change_settings(folder, self.settings_)
        self._kept = {folder.resolve(): store.stamp(folder)} if folder else {}
        with workers_for(engine, cluster_of(self.engine, engine), self.corpus_, self.chains_) as workers:
            self.ending_: Ending = run_chains(
                self.chains_,
                jobs=self.n_jobs,
                monitor=monitor_for(self.verbose, heading=chosen_in_words(self._chosen)),
                callback=callback,
                keeper=Checkpoints(store.chains_folder(folder)) if folder else Overflow(),
                time_budget=time_budget,
                **workers,
            )
            self._summarise()  # for which the state of a chain may be needed, and that is with the workers
            if folder:
                self._write_answer(folder)
        if any(chain.draws for chain in self.chains_):  # a start alone says nothing of their number
            warn_of(topic_warnings(self.n_topics_, self.corpus_), stacklevel=4)
        if self.ending_ == "interrupted":
            warnings.warn(interrupted_after(self.chains_), stacklevel=3)

    def _summarise(self, matching: Alignment | None = None) -> None:
        if not (started := [chain for chain in self.chains_ if len(chain.trace)]):
            raise nothing_started(self.ending_)
        self._all_topics = posterior_of(started, self.corpus_, matching)
        self._carry_reading()
        self.n_topics_interval_ = self.posterior_.n_topics_interval
        self.n_features_in_ = self.corpus_.n_terms
        self.trace_ = trace_frame(started)
        self._carry_names()

    def save(self, path: StrPath, *, overwrite: bool = False) -> None:
        """Save the model as a folder (`franchise.storage.model`), whole or not at all."""
        check_is_fitted(self)
        with all_or_nothing(self), store.writing(Path(path)):
            self._create(Path(path), overwrite=flag("overwrite", overwrite))

    def _create(self, folder: Path, *, overwrite: bool = False) -> None:
        def fill(temporary: Path) -> None:
            save_chains(self.chains_, temporary)
            write_names(temporary, list(self._remembered), self._feature_names, self._remembered_reading)
            if "posterior_" in vars(self):
                self._write_answer(temporary)

        corpus, start = self.chains_[0].corpus, self._made_with.init
        store.create(folder, corpus, self.settings_, fill, start=start, overwrite=overwrite)
        self._kept = self._kept | {folder.resolve(): store.stamp(folder)}

    @classmethod
    def load(cls, path: StrPath) -> Self:
        """Load a model from its folder, finished or not; `resume` continues it.

        A model that was fitted with `checkpoint_dir` is saved in its folder again by `resume` and when it
        gets names; a new `fit` is not. Loading runs no code from the folder.

        Raises
        ------
        ModelError
            If the folder is not a model, is damaged, or comes from a newer version of Franchise.
        """
        folder = Path(path)
        stored = read_model(folder)
        model = cls(**params_of(stored.settings))
        model._made_with, model._chosen = stored.settings, stored.facts["chosen"]
        model.corpus_, model.chains_ = stored.corpus, stored.chains
        model._kept = {folder.resolve(): stored.stamp}
        model._home = folder if stored.facts["in_place"] else None
        model._recall_names(stored.topic_names, stored.feature_names, stored.reading)
        if any(len(chain.trace) for chain in model.chains_):
            model._summarise(read_matching(folder, model.chains_))
        return model
