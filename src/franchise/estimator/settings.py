"""The settings of the estimator: which make the chains, which are kept with a model, and the seed."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from franchise._files import Facts
from franchise._ray import check_address, check_reachable
from franchise._settings import LARGEST_SEED, flag, is_one_of, positive_number, whole_number
from franchise._threads import threads
from franchise.corpus import Corpus
from franchise.engines import GPU, ON_RAY, RAY_GPU, GivenTopics
from franchise.engines.partitions.cuda.availability import problem
from franchise.errors import GpuError, SettingsError
from franchise.estimator.starts import start_of
from franchise.sampling import Chain, SplitMerge
from franchise.sampling.plan import Plan
from franchise.storage.chain import split_merge_from, start_facts

# Settings that belong to one call, not to the model.
_NOT_KEPT = ("random_state", "checkpoint_dir", "callback", "ray_address", "ray_workers")
_NOT_OF_CHAINS = (*_NOT_KEPT, "n_jobs", "verbose", "effective_counts")


def of_chains(settings: Facts) -> Facts:
    """Return the settings that decide what the chains do, as `plan_of` takes them."""
    own = {name: value for name, value in settings.items() if name not in _NOT_OF_CHAINS}
    return own | {"init": start_of(own["init"])}


def to_keep(settings: Facts, seed: int, corpus: Corpus, made: Plan | Chain, chosen: dict[str, str]) -> Facts:
    """Return the settings as they are written with a model; `from_kept` reads them back.

    Three entries say what was used where a setting leaves it open: `text_options`; `in_use`, from the plan or
    a chain (`made`); and `chosen`, what ``"auto"`` has become, and why.
    """
    kept = {name: _plain(value) for name, value in settings.items() if name not in _NOT_KEPT}
    options = corpus.text_options and corpus.text_options.resolved(corpus.n_documents).as_dict()
    return kept | {
        "seed": seed,
        "in_place": settings["checkpoint_dir"] is not None,
        "text_options": options,
        "in_use": _in_use(made),
        "chosen": chosen,
    }


def _in_use(made: Plan | Chain) -> Facts:
    """Return concentrations, burn-in, thinning, warm-up and merges as they were used."""
    used: Facts = asdict(made.priors)
    for name, prior in used.items():
        if isinstance(prior, tuple):
            used[name] = f"estimated under Gamma({prior[0]:g}, {prior[1]:g})"
    names = ("burn_in", "thin", "warm_up", "merges")
    return used | {name: getattr(made.schedule, name) for name in names}


def from_kept(kept: Facts) -> tuple[Facts, int, bool]:
    """Return the settings, the seed, and whether the model is kept in its folder while it is fitted."""
    settings: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in kept.items()
    }
    seed, in_place = settings.pop("seed"), settings.pop("in_place")
    for name in ("text_options", "in_use", "chosen"):  # which follow from the rest
        settings.pop(name)
    if isinstance(settings["split_merge"], dict):
        settings["split_merge"] = split_merge_from(settings["split_merge"])
    return settings, seed, in_place


def check_moment(settings: Facts, time_budget: float | None = None) -> None:
    """Refuse impossible settings that are not those of chains, before anything is read or written."""
    threads(settings["n_jobs"], 1)
    flag("effective_counts", settings["effective_counts"])
    if not isinstance(settings["verbose"], bool):
        whole_number("verbose", settings["verbose"], 0)
    callback = settings["callback"]
    if not (callback is None or callable(callback)):
        raise SettingsError(f"callback={callback!r}: give a function of a chain, or None", code="wrong-type")
    if time_budget is not None:
        positive_number("time_budget", time_budget)
    _check_cluster(settings)


def check_to_run(settings: Facts, engine: str, time_budget: float | None) -> None:
    """Refuse what would not run: impossible settings, and a cluster or GPU that is not there for this engine.

    The engine may be another than that of the settings: the one that a model was made with.
    """
    check_moment(settings, time_budget)
    if engine in ON_RAY:
        check_reachable(settings["ray_address"])
    check_gpu(engine, settings["ray_address"])


def check_to_try(settings: Facts) -> None:
    """Refuse what could not be tried for a few sweeps; for that, this machine does without a cluster."""
    check_moment(settings)
    check_gpu(settings["engine"])
    if is_one_of(settings["engine"], [RAY_GPU]) and (why := problem()) is not None:
        raise GpuError(
            f"engine={RAY_GPU!r}: a few sweeps would be tried on this machine, and it has no GPU for them: "
            f"{why}. The fit itself needs GPUs on the machines of the cluster only",
            code=why.code,
        )


def check_gpu(engine: object, ray_address: object = None) -> None:
    """Refuse an engine that needs a GPU on this machine, where none can be used (GpuError)."""
    is_here = is_one_of(engine, [GPU]) or (is_one_of(engine, [RAY_GPU]) and ray_address == "local")
    if is_here and (why := problem()) is not None:
        raise GpuError(
            f"engine={engine!r}: {why}. Without a GPU, take engine='parallel'; a model that was fitted on a "
            "GPU can be looked at and used, but not made longer",
            code=why.code,
        )


def _check_cluster(settings: Facts) -> None:
    address, workers = settings["ray_address"], settings["ray_workers"]
    for name, value in (("ray_address", address), ("ray_workers", workers)):
        if value is not None and not is_one_of(settings["engine"], ON_RAY):
            other = RAY_GPU if is_one_of(settings["engine"], [GPU]) else "ray"
            raise SettingsError(
                f"{name}={value!r}: engine={settings['engine']!r} runs on one machine; leave it out, or "
                f"fit a model with engine={other!r}",
                code="setting-needs-ray",
            )
    check_address(address)
    if workers is not None:
        whole_number("ray_workers", workers, 1)


def folder_of(checkpoint_dir: object) -> Path | None:
    """Return the folder in which a model is kept while it is fitted, if there is one."""
    if checkpoint_dir is None:
        return None
    if not isinstance(checkpoint_dir, str | os.PathLike) or not os.fspath(checkpoint_dir):
        raise SettingsError(
            f"checkpoint_dir={checkpoint_dir!r}: give the name of a folder, or None", code="not-a-path"
        )
    return Path(checkpoint_dir)


def seed_of(random_state: object) -> int:
    """Return the seed that a random state stands for; any for None.

    Raises
    ------
    SettingsError
        If it is neither a whole number from 0 nor one of NumPy's generators.
    """
    if random_state is None:
        return int.from_bytes(os.urandom(7), "little")
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    try:
        return whole_number("random_state", random_state, 0, LARGEST_SEED)
    except SettingsError:
        raise SettingsError(
            f"random_state={random_state!r}: give a whole number from 0 to 2**63 - 1, a NumPy "
            "Generator or RandomState, or None",
            code="not-a-seed",
        ) from None


def _plain(value: Any) -> Any:
    """Return a setting as JSON can hold it."""
    if isinstance(value, SplitMerge):
        return asdict(value)
    if isinstance(value, GivenTopics):
        return start_facts(value)
    if isinstance(value, list | tuple):
        return type(value)(_plain(one) for one in value)
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value
