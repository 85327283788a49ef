"""Choosing eta: the search as users call it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise._progress import Bar
from franchise._settings import is_one_of, is_positive, seed_of, whole_number
from franchise._threads import threads
from franchise.corpus import TextOptions
from franchise.corpus.documents import as_corpus
from franchise.engines.starts.tables import is_count_table
from franchise.errors import FranchiseWarning, SettingsError
from franchise.estimator.inputs import effective_corpus
from franchise.estimator.model import HDPTopicModel
from franchise.estimator.settings import check_engine, settings_of
from franchise.posterior.tuning import Tuning, splits_of, tune
from franchise.sampling.plan import Plan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ETAS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
SWEEPS, CHAINS = 100, 2


class EtaTuning(Tuning):
    """How fits with several values of eta compare; what `tune_eta` returns."""

    __slots__ = ()

    def plot(self) -> Figure:
        """Draw score, number of topics, shared topics and coherence over eta."""
        from franchise.report.figures import plot_eta

        return plot_eta(self.table, recommended=self.recommended)


def tune_eta(
    documents: Any,
    etas: Sequence[float] = ETAS,
    *,
    folds: int = 1,
    sweeps: int = SWEEPS,
    chains: int = CHAINS,
    random_state: int | np.random.Generator | np.random.RandomState | None = 0,
    n_jobs: int | None = -1,
    verbose: int = 1,
    **settings: Any,
) -> EtaTuning:
    """Try several values of eta on some documents: short fits to most of them, which predict the others.

    eta decides how many topics there are, more than anything else. Small values give many narrow topics,
    large ones few broad ones.

    Where `HDPTopicModel` starts text from what short runs agree on, chains here start from fitted topics: the
    short runs of each value would take several times as long as its chains. Count tables start as in a fit,
    and as many of their counts are used. ``init`` chooses another start.

    Ctrl-C leaves the values that are done.

    Parameters
    ----------
    documents
        What `HDPTopicModel.fit` takes.
    etas
        The values to try.
    folds
        1: a fifth of the documents is left out and predicted. A larger number: the documents are dealt into
        so many parts, and each is left out once; it takes so many times as long, and is surer.
    sweeps, chains
        Of each fit. They are to be few: what is compared are the values.
    random_state
        Of the split and the chains, which are the same for all values.
    n_jobs
        Number of threads; -1 for all cores, None for one. It does not change the answer.
    verbose
        0 is silent; 1 shows progress on standard error.
    settings
        Other settings of `HDPTopicModel`, such as ``text_options``.

    Returns
    -------
    EtaTuning
        In words (`print`); `table`, `best`, `recommended`, `recommendation`, and `plot` for a picture.

    Examples
    --------
    >>> from franchise import from_tokens, tune_eta
    >>> corpus = from_tokens([["cat", "milk", "cat"], ["bond", "stock"]] * 10)
    >>> found = tune_eta(corpus, etas=(0.1, 2.0), sweeps=20, verbose=0)
    >>> found.best
    0.1
    """
    etas = _checked(etas)
    folds = whole_number("folds", folds, 1)
    threads(n_jobs, 1)
    seed = seed_of(random_state)
    try:
        model = HDPTopicModel(**settings, sweeps=sweeps, chains=chains)
    except TypeError as error:
        raise SettingsError(f"tune_eta: {str(error).rpartition(') ')[2]}", code="unknown-setting") from None
    given = settings_of(model.get_params(), seed)
    check_engine(given.engine, model.engine)
    options = None if given.text_options is None else TextOptions.from_dict(given.text_options)
    corpus = as_corpus(documents, options)
    if is_one_of(given.init, ["auto"]):
        given = replace(given, init="counts" if is_count_table(corpus) else "fitted")
    if given.effective_counts:
        corpus = effective_corpus(corpus, seed, verbose)

    def plan_at(eta: float) -> Plan:
        return replace(given, eta=eta).plan()

    plan_at(etas[0]).check(corpus)
    splits = splits_of(corpus, folds, seed)
    n_sweeps = len(etas) * len(splits) * chains * sweeps
    # The largest first: they are quick.
    order = sorted(etas, reverse=True)
    with Bar("fitting", n_sweeps, verbose=verbose) as monitor:
        found = tune(corpus, order, splits, plan_at, jobs=n_jobs, monitor=monitor)
    tuning = EtaTuning(sorted(found, key=lambda one: one.eta), len(etas))
    if len(found) < len(etas):
        warnings.warn(
            FranchiseWarning(
                f"interrupted after {len(found)} of {len(etas)} values of eta", code="interrupted"
            ),
            stacklevel=2,
        )
    return tuning


def _checked(etas: Any) -> list[float]:
    values = list(etas) if hasattr(etas, "__iter__") and not isinstance(etas, str) else [etas]
    for eta in values:
        if not is_positive(eta):
            raise SettingsError(
                f"etas: {eta!r} is not a positive number; give numbers such as 0.05, 0.1, 0.3",
                code="not-a-positive-number",
            )
    if len(set(values)) < 2:
        raise SettingsError(f"etas={etas!r}: give two different values or more", code="too-few-values")
    return sorted({float(eta) for eta in values})
