"""HDPTopicModel: the settings, the fit, the model on disk.

A thin shell: documents go to `corpus`, chains to `sampling`, answers come from `posterior`.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from franchise.corpus import Corpus
from franchise.errors import ModelError, SettingsError
from franchise.estimator.answers import Answers
from franchise.estimator.inputs import training_corpus
from franchise.posterior import adapters
from franchise.posterior.describe import model_card
from franchise.posterior.estimates import Posterior
from franchise.sampling import Chain, SplitMerge
from franchise.sampling.plan import Plan, extend, plan_of
from franchise.sampling.run import Callback, Ending, run_chains, threads
from franchise.sampling.terminal import monitor_for
from franchise.storage import model as store
from franchise.storage.chain import save_chain, split_merge_from
from franchise.storage.checkpoints import Checkpoints, load_chains

if TYPE_CHECKING:
    from xarray import DataTree

    from franchise._files import Facts

# Settings that are of the moment, and not of the model.
_NOT_STORED = ("random_state", "checkpoint_dir", "callback")
StrPath = str | os.PathLike[str]


class HDPTopicModel(Answers, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Topics of a collection of documents, and how many there are, by exact MCMC.

    Parameters
    ----------
    eta
        How even the terms of a topic are: the smaller, the fewer terms a topic has, and the more topics
        there are. A number fixes it; ``"sample"`` estimates it, under a Gamma(1, 1) prior.
    alpha, gamma
        How many topics a document has, and how many the collection has. A number fixes them; None
        samples them.
    alpha_prior, gamma_prior
        Gamma priors (shape, rate) under which alpha and gamma are sampled.
    init
        Where chains start: ``"sequential"`` (the paper's), ``"one"`` topic, a number of random topics, or
        ``"auto"``: these in turn, so that it means something when the chains agree.
    sweeps
        Passes over all words that each chain makes.
    burn_in
        How many of them to leave out of the answer; by default half.
    thin
        Keep every `thin`-th sweep after the burn-in; by default such that 25 are kept.
    chains
        Independent runs; their agreement tells whether to trust the answer.
    split_merge
        When topics are split and merged as a whole: ``"always"``, ``"burn-in"``, ``"off"``, or a
        `SplitMerge` setting.
    n_jobs
        Threads; None or -1 for all cores. The answer does not depend on it.
    random_state
        A whole number, for the same answer every time; a NumPy RandomState; or None.
    checkpoint_dir
        A folder in which the model is kept while it is fitted. After a crash, the same call goes on from
        there, and ends with what it would have ended with.
    callback
        Called with the chain (`Chain`) after each of its sweeps.
    verbose
        0 is silent; 1 shows progress on standard error when a fit takes more than two seconds.

    Attributes
    ----------
    n_topics_
        Number of topics: the median of its posterior.
    n_topics_interval_
        The central 95% of the posterior of the number of topics.
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
        eta: float | str = 0.1,
        alpha: float | None = None,
        gamma: float | None = None,
        alpha_prior: tuple[float, float] = (1.0, 1.0),
        gamma_prior: tuple[float, float] = (1.0, 1.0),
        init: str | int = "auto",
        sweeps: int = 500,
        burn_in: int | None = None,
        thin: int | None = None,
        chains: int = 4,
        split_merge: str | SplitMerge = "always",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
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
        self.split_merge = split_merge
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.checkpoint_dir = checkpoint_dir
        self.callback = callback
        self.verbose = verbose

    # ------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model.

        Ctrl-C ends it after the sweep, and leaves the model of the sweeps made so far; `resume` goes on.

        Parameters
        ----------
        X
            Texts, lists of words, counts (documents by terms; dense, sparse or a DataFrame), a DataFrame's
            column of texts, or a `Corpus`.
        y
            Ignored.
        """
        plan = self._plan()
        self._fit(plan, training_corpus(self, X))
        return self

    def resume(self, sweeps: int = 0) -> Self:
        """Make the sweeps that an interrupted fit still has, and `sweeps` more.

        The result is, to the bit, that of a run that was longer from the beginning, with the burn-in and
        thinning that this one had.
        """
        if not hasattr(self, "_chains"):
            check_is_fitted(self)
        extend(self._chains, sweeps)
        self._run(self._chains, self.corpus_)
        return self

    def _fit(
        self, plan: Plan, corpus: Corpus, *, time_budget: float | None = None, overwrite: bool = False
    ) -> Ending:
        folder, chains = self._folder(), plan.chains(corpus)
        threads(self.n_jobs, len(chains))  # refuse what cannot be before anything is written
        if folder is None:
            return self._run(chains, corpus, time_budget)
        if overwrite or not store.is_model(folder):
            store.create(folder, corpus, self._stored_settings(plan.seed), overwrite=overwrite)
        return self._run(load_chains(plan, store.chains_folder(folder), corpus), corpus, time_budget)

    def _run(self, chains: Sequence[Chain], corpus: Corpus, time_budget: float | None = None) -> Ending:
        folder = self._folder()
        self._chains, self.corpus_ = list(chains), corpus
        ending = run_chains(
            chains,
            jobs=self.n_jobs,
            monitor=monitor_for(self.verbose),
            callback=self.callback,
            keeper=Checkpoints(store.chains_folder(folder)) if folder else None,
            time_budget=time_budget,
        )
        self._summarise()
        if folder:
            store.write_for_people(folder, **self._for_people())
        if ending == "interrupted":
            done = min(chain.sweeps_done for chain in chains)
            warnings.warn(
                f"interrupted after {done} of {chains[0].schedule.sweeps} sweeps: the answer is that of the "
                "sweeps made so far; go on with resume()",
                stacklevel=4,
            )
        return ending

    def _summarise(self) -> None:
        started = [chain for chain in self._chains if len(chain.trace)]
        if not started:
            raise KeyboardInterrupt
        # Before anything is kept, the present states are all there is.
        kept = [chain for chain in started if chain.draws] or started
        modes = [chain for chain in kept if chain.mode]
        best = max(modes, key=lambda chain: chain.mode_log_joint, default=None)
        self.posterior_ = Posterior(
            self.corpus_,
            [chain.draws or [chain.draw()] for chain in kept],
            [chain.trace for chain in kept],
            mode=best.mode if best else None,
        )
        self.n_topics_ = self.posterior_.n_topics
        self.n_topics_interval_ = self.posterior_.n_topics_interval
        self._n_features_out = self.n_topics_
        self.n_features_in_ = self.corpus_.n_terms
        self.trace_ = pd.concat(
            [pd.DataFrame(chain.trace.rows).assign(chain=chain.number) for chain in started],
            ignore_index=True,
        )
        self.trace_.insert(0, "chain", self.trace_.pop("chain"))

    # ------------------------------------------------------------ on disk

    def save(self, path: StrPath, *, overwrite: bool = False) -> None:
        """Save the model as a folder (`franchise.storage.model`), whole or not at all."""
        check_is_fitted(self)
        folder = Path(path)

        def fill(temporary: Path) -> None:
            for chain in self._chains:
                if len(chain.trace):
                    save_chain(chain, store.chains_folder(temporary) / str(chain.number))
            store.write_for_people(temporary, **self._for_people())

        settings = self._stored_settings(self._chains[0].seed)
        store.create(folder, self.corpus_, settings, fill, overwrite=overwrite)

    @classmethod
    def load(cls, path: StrPath) -> Self:
        """Load a model from its folder, finished or not; `resume` goes on with it.

        A model that was fitted with `checkpoint_dir` goes on being kept in its folder. Loading runs no code
        from the folder.

        Raises
        ------
        ModelError
            If the folder is no model, damaged, or of a newer version of Franchise.
        """
        folder = Path(path)
        stored = store.read(folder)
        try:
            settings: dict[str, Any] = dict(stored.settings)
            settings |= {name: tuple(x) for name, x in settings.items() if isinstance(x, list)}
            seed, in_place = settings.pop("seed"), settings.pop("in_place")
            if isinstance(settings["split_merge"], dict):
                settings["split_merge"] = split_merge_from(settings["split_merge"])
            model = cls(**settings, random_state=seed, checkpoint_dir=folder if in_place else None)
            plan = plan_of(**model._model_settings(), seed=seed)
        except (KeyError, TypeError, SettingsError) as error:
            raise ModelError(
                f"{folder}: its settings cannot be used ({error}); restore it from a copy"
            ) from error
        model.corpus_ = stored.corpus
        model._chains = load_chains(plan, store.chains_folder(folder), stored.corpus)
        if any(len(chain.trace) for chain in model._chains):
            model._summarise()
        return model

    def report(self, path: StrPath, *, title: str | None = None, overwrite: bool = False) -> Path:
        """Write a page for the browser, one file that needs no network: topics, documents, traces.

        Parameters
        ----------
        path
            Where to write it, such as ``"report.html"``.
        title
            The heading.
        overwrite
            Replace a file that is there.
        """
        check_is_fitted(self)
        from franchise.report import write_report

        return write_report(
            path,
            self.posterior_,
            self.corpus_,
            [chain for chain in self._chains if len(chain.trace)],
            self.diagnose(),
            self._stored_settings(self._chains[0].seed),
            title=title,
            overwrite=overwrite,
        )

    def to_datatree(self) -> DataTree:
        """Return the traces for ArviZ, as an xarray DataTree."""
        check_is_fitted(self)
        traces = [chain.trace for chain in self._chains if len(chain.trace)]
        settings = self._stored_settings(self._chains[0].seed)
        schedule = self._chains[0].schedule
        return adapters.to_datatree(traces, self.posterior_, schedule, settings, corpus=self.corpus_)

    def _stored_settings(self, seed: int) -> Facts:
        settings = {name: value for name, value in self.get_params().items() if name not in _NOT_STORED}
        if isinstance(self.split_merge, SplitMerge):
            settings["split_merge"] = asdict(self.split_merge)
        return settings | {"seed": seed, "in_place": self.checkpoint_dir is not None}

    def _for_people(self) -> dict[str, str]:
        topics, settings = self.topics(), self._stored_settings(self._chains[0].seed)
        return {
            "topics_csv": topics.to_csv(index=False),
            "trace_csv": self.trace_.to_csv(index=False),
            "card": model_card(str(self), topics, settings),
        }

    # ------------------------------------------------------------ what scikit-learn and the settings need

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what the model takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.positive_only = True
        tags.input_tags.categorical = True  # of all tags the one for whole numbers
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags

    def _folder(self) -> Path | None:
        return None if self.checkpoint_dir is None else Path(self.checkpoint_dir)

    def _model_settings(self) -> Facts:
        elsewhere = (*_NOT_STORED, "n_jobs", "verbose")
        return {name: value for name, value in self.get_params().items() if name not in elsewhere}

    def _plan(self) -> Plan:
        return plan_of(**self._model_settings(), seed=self._seed(self._folder()))

    def _seed(self, folder: Path | None) -> int:
        """Return the seed: the number given, or else that of the run in the folder, or any."""
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        if self.random_state is not None:
            return int(self.random_state.randint(2**31))
        if folder and store.is_model(folder):
            return int(store.read(folder).settings["seed"])
        return int.from_bytes(os.urandom(7), "little")
