"""Which eta suits some documents: short fits with several values, which predict documents left out.

Every value is fitted to the same documents and predicts the same words of the others, so that scores can be
compared document by document (`predict.compare` says why that matters).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from franchise._arrays import Array
from franchise._progress import Bar
from franchise._settings import RandomState, is_one_of, is_positive, seed_of, whole_number
from franchise._text import counted
from franchise._threads import threads
from franchise.corpus import Corpus, TextOptions
from franchise.corpus.count_tables import is_count_table
from franchise.corpus.documents import as_corpus
from franchise.errors import CorpusError, FranchiseWarning, SettingsError
from franchise.estimator.eta_tuning import AtEta, EtaTuning
from franchise.estimator.inputs import effective_corpus
from franchise.estimator.model import HDPTopicModel
from franchise.estimator.settings import check_engine, settings_of
from franchise.posterior.agreement import agreement
from franchise.posterior.coherence import coherence
from franchise.posterior.estimates import Posterior
from franchise.predict.heldout import completion_densities, put_together
from franchise.sampling import Chain, Draw
from franchise.sampling.plan import Plan
from franchise.sampling.run import run_chains

ETAS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
SWEEPS, CHAINS = 100, 2
_HELD_OUT = 5  # parts that the documents are dealt into, where there is one split
_DRAWS = 5  # of each chain, that predict
_TERMS = 10  # of a topic, whose coherence is measured


class Split(NamedTuple):
    """Documents to fit to, and documents to predict."""

    train: Array
    test: Array


def splits_of(corpus: Corpus, folds: int, seed: int) -> list[Split]:
    """Deal the documents that have words out at random.

    Into as many parts as there are folds, each of which is predicted once; with one fold, a fifth of the
    documents is predicted.
    """
    documents = np.flatnonzero(corpus.document_lengths)
    parts = folds if folds > 1 else _HELD_OUT
    if documents.size < 2 * parts:
        raise CorpusError(
            f"there are {counted(documents.size, 'document')} with words, too few to leave out one in "
            f"{parts}; give {2 * parts} or more",
            code="too-few-documents",
        )
    shuffled = np.random.default_rng(seed).permutation(documents)
    tests = [np.sort(part) for part in np.array_split(shuffled, parts)][:folds]
    return [Split(np.setdiff1d(documents, test), test) for test in tests]


def tune_eta(
    documents: Any,
    etas: Sequence[float] = ETAS,
    *,
    folds: int = 1,
    sweeps: int = SWEEPS,
    chains: int = CHAINS,
    random_state: RandomState = 0,
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
        that many parts, and each is left out once; the search is surer, and takes that many times as long.
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
        found = _tune(corpus, order, splits, plan_at, jobs=n_jobs, monitor=monitor)
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


def _tune(
    corpus: Corpus,
    etas: Sequence[float],
    splits: Sequence[Split],
    plan_at: Callable[[float], Plan],
    *,
    jobs: int | None = -1,
    monitor: Bar,
) -> list[AtEta]:
    """Fit with every eta, and score it; Ctrl-C leaves the values that are done.

    Parameters
    ----------
    corpus
        The documents.
    etas
        The values.
    splits
        Which documents to fit to, and which to predict.
    plan_at
        Returns the plan of the chains for an eta.
    jobs
        Threads; -1 for all cores, None for one.
    monitor
        Shows the progress.

    Raises
    ------
    KeyboardInterrupt
        If nothing is done.
    """
    found: list[AtEta] = []
    parts = [(corpus.select(split.train), corpus.select(split.test)) for split in splits]
    try:
        for some in _together(etas, len(splits) * len(plan_at(etas[0]).starts), jobs):
            runs = {eta: [plan_at(eta).chains(train) for train, _ in parts] for eta in some}
            chains = [chain for run in runs.values() for own in run for chain in own]
            if run_chains(chains, jobs=jobs, monitor=monitor) != "complete":
                break
            for eta, run in runs.items():
                found.append(_at(eta, corpus, splits, parts, run, jobs))
                last = found[-1]
                monitor.note(
                    f"eta {eta:g}: {last.n_topics:,.0f} topics, {last.score.per_word:.4f} nats per word"
                )
    except KeyboardInterrupt:
        pass
    if not found:
        raise KeyboardInterrupt
    return found


def _together(etas: Sequence[float], chains: int, jobs: int | None) -> Iterator[Sequence[float]]:
    """Return values to run at once: as many as keep all threads at work."""
    step = max(1, threads(jobs, chains * len(etas)) // chains)
    for first in range(0, len(etas), step):
        yield etas[first : first + step]


def _at(
    eta: float,
    corpus: Corpus,
    splits: Sequence[Split],
    parts: Sequence[tuple[Corpus, Corpus]],
    run: Sequence[Sequence[Chain]],
    jobs: int | None,
) -> AtEta:
    """Put together what the chains of one eta have come to."""
    log_p, n_j = np.zeros(corpus.n_documents), np.zeros(corpus.n_documents, np.int64)
    facts = []
    for split, (train, test), chains in zip(splits, parts, run, strict=True):
        draws = [draw for chain in chains for draw in _some(chain.draws)]
        found = completion_densities([draws], test, jobs=threads(jobs, test.n_documents))
        log_p[split.test], n_j[split.test] = found.held_out([1.0]).log_p, found.n_j
        posterior = Posterior(train, [chain.draws for chain in chains], [chain.trace for chain in chains])
        medians = [np.median([draw.names.size for draw in chain.draws]) for chain in chains]
        of_topics = coherence(posterior.phi, train, measure="c_npmi", n_terms=_TERMS)
        shared = agreement(posterior).shared if len(chains) > 1 else np.nan
        facts.append([np.mean(medians), _weighed(of_topics, posterior.weights), shared])
    seconds = sum(float(chain.trace["seconds"].sum()) for chains in run for chain in chains)
    n_topics, cohere, shared = np.mean(facts, axis=0).tolist()
    score = put_together("document completion", log_p, n_j)
    return AtEta(eta, score, n_j, n_topics, cohere, shared, seconds)


def _some(draws: Sequence[Draw]) -> list[Draw]:
    chosen = np.unique(np.linspace(0, len(draws) - 1, min(len(draws), _DRAWS)).round().astype(int))
    return [draws[i] for i in chosen]


def _weighed(values: Array, weights: Array) -> float:
    is_known = ~np.isnan(values)
    return float(np.average(values[is_known], weights=weights[is_known])) if is_known.any() else np.nan
