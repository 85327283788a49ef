"""HDPTopicModel: the settings, the fit, the model on disk.

A thin shell: documents go to `corpus`, chains to `sampling`, folders to `storage`; answers come from
`posterior` and `predict`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from franchise._progress import monitor_for
from franchise._settings import flag, whole_number
from franchise.corpus.data_warnings import topic_warnings
from franchise.corpus.files import StrPath
from franchise.errors import ModelError, SettingsError
from franchise.estimator.exports import Exports
from franchise.estimator.inputs import effective_corpus, training_corpus, warn_of
from franchise.estimator.plans import begun_shorter, longer, plan_to_fit, settled
from franchise.estimator.prevalence import Prevalence
from franchise.estimator.rollback import all_or_nothing
from franchise.estimator.settings import check_to_run, check_to_try, folder_of, from_kept, of_chains, to_keep
from franchise.estimator.starts import Starts
from franchise.estimator.summary import interrupted_after, nothing_started, posterior_of, trace_frame
from franchise.estimator.workers import workers_for
from franchise.posterior.align import Alignment
from franchise.sampling import Chain, SplitMerge
from franchise.sampling.forecast import Forecast, forecast
from franchise.sampling.plan import Plan, extended, plan_of, what_to_keep
from franchise.sampling.run import Callback, Ending, run_chains
from franchise.storage import model as store
from franchise.storage.chain import save_chain
from franchise.storage.checkpoints import Checkpoints, Overflow, load_chains
from franchise.storage.matching import read_matching


class HDPTopicModel(Prevalence, Starts, Exports, ClassNamePrefixFeaturesOutMixin, BaseEstimator):  # type: ignore[misc]
    """Topics of a collection of documents, and how many there are, by exact MCMC.

    Parameters
    ----------
    eta
        How evenly a topic spreads over terms: the smaller, the more and narrower topics (`tune_eta` tries
        values). A number fixes it; ``"sample"`` estimates it under a Gamma(1, 1) prior, which often runs away
        on texts. ``"auto"``: 1 for count tables (up to 1,000 terms, mean count 4 or more), 0.3 for texts of
        fewer than 25 words on average (at least 100 of them), else 0.1.
    alpha, gamma
        Concentrations: a larger alpha gives more topics per document, a larger gamma more topics in all. A
        number fixes them; None samples them.
    alpha_prior, gamma_prior
        Gamma priors (shape, rate) under which alpha and gamma are sampled.
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
    thin
        Keep every `thin`-th sweep after the burn-in; by default such that 25 to 50 are kept.
    chains
        Independent runs; trust the answer if they agree.
    warm_up
        Sweeps at the beginning in which eta rises to its value, so that topics separate; by default 40 from
        fitted topics and seed words, 60 from documents, at most half of the burn-in; else 0.
    merges
        Sweeps of the burn-in after which copies of topics are merged; () for none. By default 45, 60, 80, 120
        and 200, if after the warm-up, where chains start from topics found in the documents.
    split_merge
        When whole topics are split and merged: ``"always"``, ``"burn-in"``, ``"off"``, or a `SplitMerge`.
    effective_counts
        Whether documents of a count table are scaled down to their effective number of counts, if counts
        vary more than topics explain; a warning says how many are used.
    engine
        How sweeps are made: ``"collapsed"``, word by word; ``"parallel"``, all documents at once; ``"gpu"``;
        ``"cells"``, all words of a term in a document at once, for large counts. ``"auto"`` takes the first
        below a million words; above, the last for large counts, else ``"parallel"``, or a GPU from 10 million
        on. ``"ray"`` makes the chain of ``"parallel"`` on a cluster, ``"ray-gpu"`` that of ``"gpu"``.
    n_jobs
        Number of threads; None or -1 for all cores. It does not change the answer.
    ray_address, ray_workers
        For ``"ray"`` and ``"ray-gpu"``: the cluster, ``"auto"`` (one that runs), ``"local"`` (this machine)
        or HOST:PORT; and the number of workers, by default one per machine or GPU. They change no answer.
    random_state
        A whole number, for the same answer every time; a NumPy Generator or RandomState; or None.
    checkpoint_dir
        A folder to save the model in while it is fitted. After a crash, the same call continues it exactly.
    callback
        Called with the chain (`Chain`) after each of its sweeps.
    verbose
        0 is silent; 1 shows progress on standard error when a fit takes more than two seconds.

    Attributes
    ----------
    n_topics_
        Number of topics: the median of its posterior.
    n_topics_interval_
        The central 95% of the number of topics over all draws; `posterior_.n_topics_by_chain`: by chain.
    components_
        Topics by terms, probabilities; largest topic first.
    topic_weights_
        Share of the words that each topic has.
    trace_
        A row of numbers for every sweep of every chain, burn-in included.
    posterior_
        All that was learned, with intervals (`Posterior`).
    corpus_
        The documents as words.
    chains_
        The chains (`Chain`), finished or not.
    ending_
        How the last fit or resume ended: ``"complete"``, ``"interrupted"`` or ``"out of time"``.
    settings_
        The settings that the model was made with, and the seed. ``"text_options"`` and ``"in_use"`` say what
        was used where a setting leaves it open, ``"chosen"`` what ``"auto"`` has become, and why.
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
        *,
        eta: float | str | tuple[float, float] = "auto",
        alpha: float | None = None,
        gamma: float | None = None,
        alpha_prior: tuple[float, float] = (1.0, 1.0),
        gamma_prior: tuple[float, float] = (1.0, 1.0),
        init: Any = "auto",
        sweeps: int = 500,
        burn_in: int | None = None,
        thin: int | None = None,
        chains: int = 4,
        warm_up: int | None = None,
        merges: Sequence[int] | None = None,
        split_merge: str | SplitMerge = "always",
        effective_counts: bool = True,
        engine: str = "auto",
        n_jobs: int | None = None,
        ray_address: str | None = None,
        ray_workers: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        checkpoint_dir: StrPath | None = None,
        callback: Callback | None = None,
        verbose: int = 1,
    ) -> None:
        self.eta = eta
        self.alpha = alpha
        self.gamma = gamma
        self.alpha_prior = alpha_prior
        self.gamma_prior = gamma_prior
        self.init = init
        self.sweeps = sweeps
        self.burn_in = burn_in
        self.thin = thin
        self.chains = chains
        self.warm_up = warm_up
        self.merges = merges
        self.split_merge = split_merge
        self.effective_counts = effective_counts
        self.engine = engine
        self.n_jobs = n_jobs
        self.ray_address = ray_address
        self.ray_workers = ray_workers
        self.random_state = random_state
        self.checkpoint_dir = checkpoint_dir
        self.callback = callback
        self.verbose = verbose

    _kept: dict[Path, str]  # the folders that have the present chains, and the stamps of the models there

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        metadata: Any = None,
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
        time_budget
            Seconds after which no new sweep is begun (`ending_` says if that happened); `resume` continues.
        overwrite
            Replace a model that is in `checkpoint_dir`, instead of continuing it.
        """
        folder = folder_of(self.checkpoint_dir)
        earlier = None if flag("overwrite", overwrite) else folder
        given, plan, chosen = plan_to_fit(earlier, of_chains(self.get_params()), self.random_state)
        check_to_run(self.get_params(), given["engine"], time_budget)
        with all_or_nothing(self):
            corpus = training_corpus(self, X, metadata)
            used = effective_corpus(corpus, plan.seed, self.verbose) if self.effective_counts else corpus
            self._made_with, plan, why = settled(given, plan, corpus, used)
            self.corpus_, self._home, self._chosen = used, None, chosen | why
            with store.writing(folder):
                self.chains_ = self._chains_in(folder, plan, overwrite) if folder else plan.chains(used)
                self._recall_names(folder)
                if folder:  # a model that is there may have been shorter
                    store.change_settings(folder, self.settings_)
                self._run(folder, time_budget)
            return self

    def _chains_in(self, folder: Path, plan: Plan, overwrite: bool) -> list[Chain]:
        """Return the chains of a folder to go on with; put a model without chains there if it has none."""
        if overwrite or not store.has_chains(folder):
            replaced = overwrite or store.is_model(folder)  # killed early: there is nothing to continue
            kept = to_keep(self.get_params() | self._made_with, plan.seed, self.corpus_, plan, self._chosen)
            store.create(folder, self.corpus_, kept, start=self._made_with["init"], overwrite=replaced)
        return load_chains(plan, store.chains_folder(folder), self.corpus_, resumed=True)

    def fit_transform(self, X: Any, y: Any = None, **options: Any) -> Any:
        """Fit the model, and return the topic proportions of the documents; `options` are those of `fit`."""
        with all_or_nothing(self):
            return self.fit(X, y, **options).transform(X)

    def resume(
        self,
        sweeps: int = 0,
        *,
        burn_in: int | None = None,
        thin: int | None = None,
        time_budget: float | None = None,
    ) -> Self:
        """Make the sweeps that an interrupted fit still has, and `sweeps` more.

        The states and, unless `thin` is given, the draws are, to the bit, those of a fit that was as long
        from the start, if that has the same warm-up, merges and split-merge schedule. These follow from the
        first burn-in and stay; a warning tells if a longer fit would have others. Draws that the new burn-in
        or thinning leaves out are dropped, also in `checkpoint_dir`.

        Parameters
        ----------
        sweeps
            How many more than were planned.
        burn_in
            How many of all sweeps to leave out of the answer; by default as given before, else half.
        thin
            Keep every `thin`-th sweep after the burn-in; by default as given before, else 25 to 50 in all.
        time_budget
            Seconds after which no new sweep is begun.
        """
        if not hasattr(self, "chains_"):
            check_is_fitted(self)
        check_to_run(self.get_params(), self._made_with["engine"], time_budget)
        whole_number("sweeps", sweeps, 0)
        total = max(chain.schedule.sweeps for chain in self.chains_) + sweeps
        made_with = longer(self._made_with, self.chains_[0].schedule, total, burn_in, thin)
        burn_in, thin = what_to_keep(total, made_with["burn_in"], made_with["thin"])
        schedules = extended(self.chains_, sweeps, burn_in, thin)
        warn_of(begun_shorter(self._made_with, made_with, self.chains_[0].schedule), stacklevel=3)
        folder = self._folder()
        with all_or_nothing(self, self.chains_), store.writing(folder):
            if folder:
                self._keep_in(folder)
            self._made_with = made_with
            if folder:
                store.change_settings(folder, self.settings_)
            for chain, schedule in zip(self.chains_, schedules, strict=True):
                chain.reschedule(schedule)
            self._run(folder, time_budget)
            return self

    def forecast(self, X: Any) -> Forecast:
        """Estimate the time and memory that a fit would take, from a few sweeps of it."""
        check_to_try(self.get_params())
        plan = plan_of(**of_chains(self.get_params()), seed=0)  # a random state is left as it is
        return forecast(plan, training_corpus(type(self)(), X), self.n_jobs)

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

    def _run(self, folder: Path | None, time_budget: float | None) -> None:
        self._kept = {folder.resolve(): store.stamp(folder)} if folder else {}
        with workers_for(self.get_params() | self._made_with, self.corpus_, self.chains_) as workers:
            self.ending_: Ending = run_chains(
                self.chains_,
                jobs=self.n_jobs,
                monitor=monitor_for(self.verbose, heading=self._choices_in_words()),
                callback=self.callback,
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
        self.posterior_ = posterior_of(started, self.corpus_, matching)
        self.n_topics_ = self.posterior_.n_topics
        self.n_topics_interval_ = self.posterior_.n_topics_interval
        self._n_features_out = self.n_topics_
        self.n_features_in_ = self.corpus_.n_terms
        self.trace_ = trace_frame(started)
        self._carry_names()

    def save(self, path: StrPath, *, overwrite: bool = False) -> None:
        """Save the model as a folder (`franchise.storage.model`), whole or not at all.

        Raises
        ------
        ModelError
            If something is there that may not be replaced, or that another process writes, or writing fails.
        """
        check_is_fitted(self)
        folder = Path(path)
        with all_or_nothing(self), store.writing(folder):
            self._create(folder, overwrite=flag("overwrite", overwrite))

    def _create(self, folder: Path, *, overwrite: bool = False) -> None:
        def fill(temporary: Path) -> None:
            for chain in self.chains_:
                if len(chain.trace):
                    save_chain(chain, store.chains_folder(temporary) / str(chain.number))
            Checkpoints(store.chains_folder(temporary)).save_runs(self.chains_[0])
            if "posterior_" in vars(self):
                self._write_answer(temporary)

        corpus, start = self.chains_[0].corpus, self._made_with["init"]
        store.create(folder, corpus, self.settings_, fill, start=start, overwrite=overwrite)
        self._kept = self._kept | {folder.resolve(): store.stamp(folder)}

    @classmethod
    def load(cls, path: StrPath) -> Self:
        """Load a model from its folder, finished or not; `resume` continues it.

        A model that was fitted with `checkpoint_dir` is saved in its folder again by `resume` and when it
        gets names; a new `fit`, or one of a clone, is not. Loading runs no code from the folder.

        Raises
        ------
        ModelError
            If the folder is not a model, is damaged, or comes from a newer version of Franchise.
        """
        folder = Path(path)
        stored = store.read(folder)
        try:
            given, seed, in_place = from_kept(stored.settings)
            model = cls(**given, random_state=seed)
            model._made_with = of_chains(model.get_params())
            plan = plan_of(**model._made_with, seed=seed)
            model._chosen = stored.settings["chosen"]
        except (KeyError, TypeError, SettingsError) as error:
            raise ModelError(
                f"{folder}: its settings cannot be used ({error}); restore it from a copy",
                code="unusable-settings",
            ) from error
        model.corpus_ = stored.corpus
        model._kept, model._home = {folder.resolve(): stored.stamp}, folder if in_place else None
        model.chains_ = load_chains(plan, store.chains_folder(folder), stored.corpus, resumed=True)
        model._recall_names(folder)
        if any(len(chain.trace) for chain in model.chains_):
            model._summarise(read_matching(folder, model.chains_))
        return model
