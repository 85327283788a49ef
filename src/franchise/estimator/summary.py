"""What chains have come to: read from a folder, the posterior of their draws, a table of their traces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from franchise._files import Facts
from franchise.corpus import Corpus
from franchise.errors import FranchiseError, FranchiseWarning, ModelError, SettingsError
from franchise.posterior.align import Alignment
from franchise.posterior.estimates import Posterior
from franchise.posterior.labels import Named
from franchise.sampling import Chain
from franchise.sampling.run import Ending
from franchise.sampling.settings import Settings
from franchise.storage import model as store
from franchise.storage.checkpoints import load_chains
from franchise.storage.names import read_names


class StoredModel(NamedTuple):
    """A model as its folder holds it."""

    settings: Settings
    facts: Facts  # what the folder says besides the settings
    corpus: Corpus  # with the names that were given to its terms
    chains: list[Chain]
    topic_names: tuple[Named, ...]
    feature_names: tuple[str, ...] | None
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
    names, terms = read_names(folder)
    corpus = stored.corpus if terms is None else stored.corpus.with_vocabulary(terms)
    return StoredModel(settings, facts, corpus, chains, tuple(names), terms, stored.stamp)


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
