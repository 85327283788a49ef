"""The settings of a fit, new or continuing a model, and of chains that are made longer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from franchise._settings import is_one_of, whole_number
from franchise.corpus import Corpus
from franchise.errors import FranchiseWarning, ModelError
from franchise.sampling import Chain, SplitMerge, Timetable
from franchise.sampling.choices import eta_for, start_for, why_chosen
from franchise.sampling.plan import check_burn_in, extended
from franchise.sampling.settings import Settings
from franchise.storage import model as store


def settings_to_fit(
    folder: Path | None, settings: Settings, random_state: object
) -> tuple[Settings, dict[str, str]]:
    """Return the settings of a fit, and what was chosen for a model that it continues.

    Parameters
    ----------
    folder
        Where a model to continue may be.
    settings
        The settings of the estimator.
    random_state
        That of the estimator; if it is None, the seed is that of the model.

    Raises
    ------
    ModelError
        If a model is there with as many sweeps that keeps other ones of them.
    """
    if not folder or not store.is_model(folder):
        return settings, {}
    stored = store.read(folder).settings
    kept, chosen = Settings.from_json(stored), {}
    if random_state is None:
        settings = replace(settings, seed=kept.seed)
    if store.has_chains(folder):
        settings, chosen = _continued(settings, kept), stored["chosen"]
        _refuse_others(folder, settings, kept)
    return settings, chosen


def settled(settings: Settings, corpus: Corpus, effective: Corpus) -> tuple[Settings, dict[str, str]]:
    """Return the settings with the values that ``"auto"`` means here, and why; both are kept with the model.

    Parameters
    ----------
    settings
        The settings of the fit.
    corpus
        The documents of the user, by which start and eta are chosen.
    effective
        The documents that are fitted (`estimator.inputs.effective_corpus`).
    """
    chosen = why_chosen(settings.init, settings.eta, corpus)
    init, eta = start_for(settings.init, corpus), eta_for(settings.eta, corpus)
    settings = replace(settings, init=init, eta=eta)  # type: ignore[arg-type]
    plan = settings.plan()
    plan.check(effective)
    return replace(settings, engine=plan.engine_of(effective)), chosen


def longer(
    settings: Settings, chains: Sequence[Chain], sweeps: int, burn_in: int | None, thin: int | None
) -> tuple[Settings, list[Timetable]]:
    """Return the settings and timetables of chains that continue.

    Parameters
    ----------
    settings
        The settings that they have.
    chains
        The chains.
    sweeps
        How many more they make than were planned.
    burn_in, thin
        What is given now; None for what was given before, or what follows from the number of sweeps.
    """
    whole_number("sweeps", sweeps, 0)
    begun = chains[0].schedule
    if burn_in is not None:
        check_burn_in(begun, burn_in)
    total = max(chain.schedule.sweeps for chain in chains) + sweeps
    settings = replace(settings, sweeps=total, burn_in=settings.burn_in if burn_in is None else burn_in)
    if thin is not None:
        settings = settings.scheduled(thin=thin)
    settings = _as_begun(begun, settings)
    planned = settings.plan().schedule
    return settings, extended(chains, sweeps, planned.burn_in, planned.thin)


def begun_shorter(before: Settings, now: Settings, chain: Chain) -> list[FranchiseWarning]:
    """Warn if chains that continue with other settings differ from chains that were as long from the start.

    Parameters
    ----------
    before, now
        The settings that they have, and those that they continue with (`longer`).
    chain
        One of them.
    """
    if replace(before.schedule, thin=None) == replace(now.schedule, thin=None):
        return []
    message = (
        f"the fit began with a burn-in of {chain.schedule.burn_in} sweeps, and keeps the warm-up, merges and "
        "split-merge schedule that followed from it; "
        f"a fit of {now.sweeps} sweeps from the start would differ"
    )
    return [FranchiseWarning(message, code="begun-shorter")]


def _as_begun(begun: Timetable, settings: Settings) -> Settings:
    """Return settings with what followed from the first burn-in, where it would be different now.

    With another warm-up, or merges or trials up to another burn-in, the sweeps already made would have been
    others.
    """
    now = settings.plan().schedule
    check_burn_in(begun, now.burn_in)
    names = ("warm_up", "merges", "split_merge")
    kept = {name: getattr(begun, name) for name in names if getattr(now, name) != getattr(begun, name)}
    # Of trials, None means none in a timetable, and the usual ones in a schedule.
    if "split_merge" in kept:
        kept["split_merge"] = kept["split_merge"] or "off"
    return settings.scheduled(**kept)


def _continued(settings: Settings, kept: Settings) -> Settings:
    """Return the settings of a fit that continues a model: what `resume` has changed stays changed."""
    begun, given = kept.plan().schedule, settings.schedule
    if settings.burn_in is not None:
        check_burn_in(begun, settings.burn_in)
    for name in ("engine", "init", "eta"):
        if is_one_of(getattr(settings, name), ["auto"]):
            settings = replace(settings, **{name: getattr(kept, name)})
    if settings.sweeps <= kept.sweeps:
        settings = replace(settings, sweeps=kept.sweeps)
        if settings.burn_in is None:
            settings = replace(settings, burn_in=kept.burn_in)
        if settings.schedule.thin is None:
            settings = settings.scheduled(thin=kept.schedule.thin)
    continued = _as_begun(begun, settings)
    # Explicit settings that the chains were not made with are refused later.
    open_ones = {name for name in ("warm_up", "merges") if getattr(given, name) is None}
    if _is_named(begun.split_merge, given.split_merge):
        open_ones.add("split_merge")
    return settings.scheduled(**{name: getattr(continued.schedule, name) for name in open_ones})


def _is_named(trials: SplitMerge | None, name: object) -> bool:
    """Return whether these are the trials that a name means, with some burn-in."""
    if trials is None or trials != SplitMerge(until=trials.until, adapt=trials.adapt):
        return False
    return is_one_of(name or "always", ["always" if trials.until is None else "burn-in"])


def _refuse_others(folder: Path, settings: Settings, kept: Settings) -> None:
    """Refuse to continue a model of as many sweeps that keeps other ones of them."""
    ours, theirs = settings.plan().schedule, kept.plan().schedule
    for name in ("burn_in", "thin"):
        if ours.sweeps == theirs.sweeps and getattr(ours, name) != getattr(theirs, name):
            raise ModelError(
                f"{folder}: the model was made with {name}={getattr(theirs, name)!r}, not "
                f"{getattr(ours, name)!r}; use resume to change it, or give another folder",
                code="settings-mismatch",
            )
