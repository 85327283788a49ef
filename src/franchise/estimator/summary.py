"""What chains have come to: read from a folder, the posterior of their draws, a table of their traces."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from franchise._files import Facts
from franchise.corpus import Corpus
from franchise.errors import FranchiseError, FranchiseWarning, ModelError, SettingsError
from franchise.posterior.align import Alignment
from franchise.posterior.estimates import Posterior
from franchise.posterior.labels import Named
from franchise.posterior.reading import RememberedReading, numbers_of
from franchise.predict.known_topics import KnownTopics
from franchise.predict.stacking import OfChain
from franchise.sampling import Chain, Draw
from franchise.sampling.paper_heldout import held_out_of_chain
from franchise.sampling.run import Ending
from franchise.sampling.settings import Settings
from franchise.storage import model as store
from franchise.storage.chain import save_chain
from franchise.storage.checkpoints import load_chains
from franchise.storage.names import read_names, write_names
from franchise.storage.runs import save_runs

_MOST_DRAWS = 10  # whose topics new documents are folded into: more cost time and change little


class StoredModel(NamedTuple):
    """A model as its folder holds it."""

    settings: Settings
    facts: Facts  # what the folder says besides the settings
    corpus: Corpus  # with the names that were given to its terms
    chains: list[Chain]
    topic_names: tuple[Named, ...]
    feature_names: tuple[str, ...] | None
    reading: RememberedReading
    stamp: str


def read_model(folder: Path) -> StoredModel:
    """Read a model from its folder, finished or not.

    Raises
    ------
    ModelError
        If the folder is not a model, is damaged, or comes from a newer version of Franchise.
    """
    stored = store.read(folder)
    try:
        settings = Settings.from_json(stored.settings)
        facts = {name: stored.settings[name] for name in ("in_place", "chosen")}
    except (KeyError, TypeError, SettingsError) as error:
        raise ModelError(
            f"{folder}: its settings cannot be used ({error}); restore it from a copy",
            code="unusable-settings",
        ) from error
    chains = load_chains(settings.plan(), store.chains_folder(folder), stored.corpus, resumed=True)
    names, terms, reading = read_names(folder)
    corpus = stored.corpus if terms is None else stored.corpus.with_vocabulary(terms)
    return StoredModel(settings, facts, corpus, chains, tuple(names), terms, reading, stored.stamp)


def new_chains(
    folder: Path | None,
    settings: Settings,
    corpus: Corpus,
    facts: Facts,
    names: list[Named],
    *,
    overwrite: bool,
) -> list[Chain]:
    """Return new chains, or those of a folder to continue; put a model there if it has none.

    Parameters
    ----------
    folder
        Where the model is kept while it is fitted, if it is.
    settings
        The settings of the chains.
    corpus
        The documents.
    facts
        The settings as they are written with the model.
    names
        Names of topics that chains start from, for a new model.
    overwrite
        Replace a model that is there.
    """
    plan = settings.plan()
    if not folder:
        return plan.chains(corpus)
    if overwrite or not store.has_chains(folder):
        replaced = overwrite or store.is_model(folder)  # killed early: there is nothing to continue
        store.create(
            folder,
            corpus,
            facts,
            lambda temporary: write_names(temporary, names, None),
            start=settings.init,
            overwrite=replaced,
        )
    return load_chains(plan, store.chains_folder(folder), corpus, resumed=True)


def save_chains(chains: Sequence[Chain], folder: Path) -> None:
    """Save those chains that have started, in the folder of a model that has none."""
    for chain in chains:
        if len(chain.trace):
            save_chain(chain, store.chains_folder(folder) / str(chain.number))
    save_runs(store.chains_folder(folder), chains[0])


def posterior_of(chains: Sequence[Chain], corpus: Corpus, matching: Alignment | None = None) -> Posterior:
    """Return what chains that have started have learned so far; the matching of their topics may be known."""
    # Before anything is kept, the current states are all there is.
    kept = [chain for chain in chains if chain.draws] or chains
    modes = [chain for chain in kept if chain.mode]
    best = max(modes, key=lambda chain: chain.mode_log_joint, default=None)
    runs = kept[0].runs
    return Posterior(
        corpus,
        [chain.draws or [chain.draw()] for chain in kept],
        [chain.trace for chain in kept],
        mode=best.mode if best else None,
        find_support=runs.support if runs else None,
        alignment=matching,
    )


def trace_frame(chains: Sequence[Chain]) -> pd.DataFrame:
    """Return a row of numbers for every sweep of every chain."""
    frames = [pd.DataFrame(chain.trace.rows).assign(chain=chain.number) for chain in chains]
    frame = pd.concat(frames, ignore_index=True)
    frame.insert(0, "chain", frame.pop("chain"))
    return frame


def interrupted_after(chains: Sequence[Chain]) -> FranchiseWarning:
    """Return the warning for chains that Ctrl-C has ended: how far they were."""
    done, planned = min(chain.sweeps_done for chain in chains), chains[0].schedule.sweeps
    return FranchiseWarning(
        f"interrupted after {done} of {planned} sweeps: the answer is based on the sweeps made so far; "
        "resume makes the rest",
        code="interrupted",
    )


def nothing_started(ending: Ending) -> BaseException:
    """Return the error for a run that ended before any chain had started."""
    if ending != "out of time":
        return KeyboardInterrupt()
    return FranchiseError(
        "the time budget ran out before a chain had started; give more time", code="no-time-to-start"
    )


def known_topics(
    posterior: Posterior, chains: Sequence[Chain], corpus: Corpus, members: Sequence[tuple[int, ...]]
) -> KnownTopics:
    """Return the topics that new documents are compared with, from a few draws that represent all.

    `members` are the topics as they are read: proportions are added up, scores are those of all topics.
    """
    number = numbers_of(members, posterior.n_topics)
    # Evenly spaced, so that all chains have their share.
    chosen = _evenly(len(posterior.flat_draws))
    with_draws = [chain for chain in chains if chain.draws] or chains
    numbers = [chain.number for chain in with_draws if len(chain.trace)]
    return KnownTopics(
        corpus=corpus,
        draws=[posterior.flat_draws[i] for i in chosen],
        columns=[number[posterior.columns[i]] for i in chosen],
        n_topics=len(members),
        paper=partial(held_out_of_chain, max(chains, key=_log_joint)),
        chains=[
            OfChain(number, _median_topics(draws), [draws[i] for i in _evenly(len(draws))])
            for number, draws in zip(numbers, posterior.draws, strict=True)
        ],
    )


def _evenly(n: int) -> list[int]:
    """Return numbers below n, all or a few, evenly spaced."""
    chosen: list[int] = np.unique(np.linspace(0, n - 1, min(n, _MOST_DRAWS)).round().astype(int)).tolist()
    return chosen


def _median_topics(draws: Sequence[Draw]) -> int:
    return int(np.quantile([draw.names.size for draw in draws], 0.5, method="inverted_cdf"))


def _log_joint(chain: Chain) -> float:
    return float(chain.trace.last["log_joint"]) if len(chain.trace) else -math.inf
