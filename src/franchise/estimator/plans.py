"""The plan of a fit, new or going on with a model, and of chains that are made longer."""

from __future__ import annotations

from pathlib import Path

from franchise._files import Facts
from franchise._settings import is_one_of
from franchise.corpus import Corpus
from franchise.errors import FranchiseWarning, ModelError
from franchise.estimator.settings import from_kept, of_chains, seed_of
from franchise.sampling import Schedule, SplitMerge
from franchise.sampling.choices import eta_for, start_for, why_chosen
from franchise.sampling.plan import Plan, check_burn_in, plan_of, what_to_keep
from franchise.storage import model as store


def plan_to_fit(
    folder: Path | None, given: Facts, random_state: object
) -> tuple[Facts, Plan, dict[str, str]]:
    """Return the settings of the chains of a fit, their plan, and what was chosen for a model to go on with.

    Parameters
    ----------
    folder
        Where a model to go on with may be.
    given
        The settings of the chains.
    random_state
        Stands for their seed; None for any, or that of the model.

    Raises
    ------
    ModelError
        If a model is there with as many sweeps that keeps other ones of them.
    """
    seed = seed_of(random_state)
    plan = plan_of(**given, seed=seed)
    if not folder or not store.is_model(folder):
        return given, plan, {}
    stored = store.read(folder).settings
    kept, kept_seed, _ = from_kept(stored)
    chosen: dict[str, str] = {}
    if store.has_chains(folder):
        given, chosen = _continued(given, kept), stored["chosen"]
        _refuse_others(folder, given, kept)
    return given, plan_of(**given, seed=kept_seed if random_state is None else seed), chosen


def settled(
    given: Facts, plan: Plan, corpus: Corpus, effective: Corpus
) -> tuple[Facts, Plan, dict[str, str]]:
    """Return settings and plan with what ``"auto"`` stands for, and why; all are kept with the model.

    Parameters
    ----------
    given, plan
        The settings of the chains, and their plan.
    corpus
        The documents of the user, by which start and eta are chosen.
    effective
        The documents that are fitted (`estimator.inputs.effective_corpus`).
    """
    chosen = why_chosen(given["init"], given["eta"], corpus)
    given = given | {"init": start_for(given["init"], corpus), "eta": eta_for(given["eta"], corpus)}
    plan = plan_of(**given, seed=plan.seed)
    plan.check(effective)
    given = given | {"engine": plan.engine_of(effective)}
    return given, plan_of(**given, seed=plan.seed), chosen


def longer(made_with: Facts, schedule: Schedule, sweeps: int, burn_in: object, thin: object) -> Facts:
    """Return the settings of chains that go on.

    Parameters
    ----------
    made_with
        The settings that they have.
    schedule
        The schedule that follows from these.
    sweeps
        How many sweeps they are to make in all.
    burn_in, thin
        What is given now; None for what was given before, or what follows from the number of sweeps.
    """
    now = {"sweeps": sweeps, "burn_in": burn_in, "thin": thin}
    settings = made_with | {name: value for name, value in now.items() if value is not None}
    burn_in_now, _ = what_to_keep(sweeps, settings["burn_in"], settings["thin"])
    return settings | _as_begun(schedule, burn_in_now, settings)


def begun_shorter(made_with: Facts, settings: Facts, schedule: Schedule) -> list[FranchiseWarning]:
    """Warn if the continued chains differ from chains that were as long from the start.

    Parameters
    ----------
    made_with
        The settings that they have.
    settings
        The settings that they continue with (`longer`).
    schedule
        The schedule that follows from the first.
    """
    if all(made_with[name] == settings[name] for name in ("warm_up", "merges", "split_merge")):
        return []
    message = (
        f"the fit began with a burn-in of {schedule.burn_in} sweeps, and keeps the warm-up, merges and "
        "split-merge schedule that followed from it; "
        f"a fit of {settings['sweeps']} sweeps from the start would differ"
    )
    return [FranchiseWarning(message, code="begun-shorter")]


def _as_begun(schedule: Schedule, burn_in: int, settings: Facts) -> Facts:
    """Return what followed from the burn-in in a schedule, and would be other with the present one.

    With another warm-up, or merges or trials up to another burn-in, the sweeps already made would have been
    others.
    """
    check_burn_in(schedule, burn_in)
    now = plan_of(**settings | {"burn_in": burn_in}, seed=0).schedule
    begun = {name: getattr(schedule, name) for name in ("warm_up", "merges", "split_merge")}
    return {name: value for name, value in begun.items() if getattr(now, name) != value}


def _continued(given: Facts, kept: Facts) -> Facts:
    """Return the settings of a fit that goes on with a model: what `resume` has changed stays changed.

    Parameters
    ----------
    given
        The settings of the fit.
    kept
        Those of the model.
    """
    settings = dict(given)
    for name in ("engine", "init", "eta"):
        if is_one_of(given[name], ["auto"]):
            settings[name] = kept[name]
    if given["sweeps"] <= kept["sweeps"]:
        settings["sweeps"] = kept["sweeps"]
        settings |= {name: kept[name] for name in ("burn_in", "thin") if given[name] is None}
    begun = plan_of(**of_chains(kept), seed=0).schedule
    burn_in, _ = what_to_keep(settings["sweeps"], settings["burn_in"], settings["thin"])
    followed = _as_begun(begun, burn_in, settings)
    for name in ("warm_up", "merges"):
        if given[name] is None and name in followed:
            settings[name] = getattr(begun, name)
    if "split_merge" in followed and _is_named(begun.split_merge, given["split_merge"]):
        settings["split_merge"] = begun.split_merge
    return settings


def _is_named(trials: SplitMerge | None, name: object) -> bool:
    """Return whether these are the trials that a name stands for, with some burn-in."""
    if trials is None or trials != SplitMerge(until=trials.until, adapt=trials.adapt):
        return False
    return is_one_of(name, ["always" if trials.until is None else "burn-in"])


def _refuse_others(folder: Path, given: Facts, kept: Facts) -> None:
    """Refuse to go on with a model of as many sweeps that keeps other ones of them."""
    ours, theirs = (plan_of(**of_chains(settings), seed=0).schedule for settings in (given, kept))
    for name in ("burn_in", "thin"):
        if ours.sweeps == theirs.sweeps and getattr(ours, name) != getattr(theirs, name):
            raise ModelError(
                f"{folder}: the model was made with {name}={getattr(theirs, name)!r}, not "
                f"{getattr(ours, name)!r}; use resume to change it, or give another folder",
                code="settings-mismatch",
            )
