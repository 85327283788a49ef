"""The settings of the estimator, checked: those of the model, and those of one call."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from franchise._files import Facts
from franchise._settings import is_one_of, positive_number, seed_of
from franchise._threads import threads
from franchise.corpus import Corpus, TextOptions
from franchise.engines import GPU, ON_RAY, RAY_GPU
from franchise.engines.partitions.cuda.availability import problem
from franchise.engines.pools.ray import Ray, check_reachable
from franchise.errors import GpuError, MovedSettingError, SettingsError
from franchise.estimator.starts import start_of
from franchise.sampling import Chain, Schedule
from franchise.sampling.plan import Plan
from franchise.sampling.settings import Settings

# Parameters of version 0.2 that have moved, and what to give instead.
MOVED = {
    "alpha_prior": "alpha=(shape, rate)",
    "gamma_prior": "gamma=(shape, rate)",
    **{name: f"schedule=Schedule({name}=...)" for name in ("thin", "warm_up", "merges", "split_merge")},
    "ray_address": "engine=Ray(address)",
    "ray_workers": "engine=Ray(workers=...)",
    **{name: f"it to fit: fit(..., {name}=...)" for name in ("checkpoint_dir", "callback")},
}


def settings_of(params: Facts, seed: int | None = None) -> Settings:
    """Return the settings of an estimator's parameters, with the seed of its random state."""
    given = params | {
        "init": start_of(params["init"]),
        "engine": _engine_name(params["engine"]),
        "text_options": _plain_options(params["text_options"]),
        "schedule": Schedule() if params["schedule"] is None else params["schedule"],
    }
    random_state = given.pop("random_state")
    return Settings(**given, seed=seed_of(random_state) if seed is None else seed)


def params_of(settings: Settings) -> Facts:
    """Return the parameters of an estimator with the settings of a model."""
    params: Facts = {field.name: getattr(settings, field.name) for field in fields(settings)}
    if settings.engine in ON_RAY:
        params["engine"] = cluster_of(None, settings.engine)
    if settings.schedule == Schedule():
        params["schedule"] = None
    return params | {"random_state": params.pop("seed")}


def _engine_name(engine: object) -> Any:
    if isinstance(engine, Ray):
        return RAY_GPU if engine.gpu else "ray"
    if is_one_of(engine, ON_RAY):
        gpu = ", gpu=True" if engine == RAY_GPU else ""
        raise MovedSettingError(
            f"engine={engine!r}: give engine=Ray(address, workers{gpu}), from franchise", code="moved-setting"
        )
    return engine


def cluster_of(engine: object, name: str) -> Ray:
    """Return the cluster of an engine on one; of a model that was loaded, one that runs or this machine."""
    return engine if isinstance(engine, Ray) else Ray(None, gpu=name == RAY_GPU)


def _plain_options(options: object) -> Facts | None:
    if options is None:
        return None
    if isinstance(options, TextOptions):
        return options.as_dict()
    if not isinstance(options, Mapping):
        raise SettingsError(
            f"text_options={options!r}: give a dictionary, such as {{'min_df': 5, 'ngram_range': (1, 2)}}, "
            "or None",
            code="wrong-type",
        )
    given = TextOptions.from_dict(options).as_dict()
    return {name: given[name] for name in options}


def in_use(made: Plan | Chain, corpus: Corpus) -> Facts:
    """Return what was used where settings leave it open: concentrations, schedule, text options."""
    used: Facts = asdict(made.priors)
    for name, prior in used.items():
        if isinstance(prior, tuple):
            used[name] = f"estimated under Gamma({prior[0]:g}, {prior[1]:g})"
    names = ("burn_in", "thin", "warm_up", "warm_up_from", "merges")
    trials = made.schedule.split_merge
    options = corpus.text_options and corpus.text_options.resolved(corpus.n_documents).as_dict()
    used |= {name: getattr(made.schedule, name) for name in names}
    return used | {"split_merge": "off" if trials is None else asdict(trials), "text_options": options}


def check_call(callback: object, time_budget: float | None, n_jobs: int | None) -> None:
    """Refuse impossible settings of one call, before anything is read or written."""
    threads(n_jobs, 1)
    if not (callback is None or callable(callback)):
        raise SettingsError(f"callback={callback!r}: give a function of a chain, or None", code="wrong-type")
    if time_budget is not None:
        positive_number("time_budget", time_budget)


def check_engine(name: str, engine: object, *, reach: bool = True) -> None:
    """Refuse an engine that needs a cluster or GPU that is not there; `reach`: ask whether the cluster is.

    The name may differ from the estimator's engine: it is that of the engine that a model was made with.
    """
    address = None
    if name in ON_RAY:
        address = cluster_of(engine, name).address
        if reach:
            check_reachable(address)
    check_gpu(name, address)


def check_to_try(name: str) -> None:
    """Refuse an engine that cannot be tried on this machine alone."""
    check_gpu(name)
    if name == RAY_GPU and (why := problem()) is not None:
        raise GpuError(
            "engine=Ray(gpu=True): a few sweeps would be tried on this machine, and it has no GPU for them: "
            f"{why}. The fit itself needs GPUs on the machines of the cluster only",
            code=why.code,
        )


def check_gpu(name: object, address: object = None) -> None:
    """Refuse an engine that needs a GPU on this machine, where none can be used (GpuError)."""
    is_here = is_one_of(name, [GPU]) or (is_one_of(name, [RAY_GPU]) and address == "local")
    if is_here and (why := problem()) is not None:
        raise GpuError(
            f"engine={name!r}: {why}. Without a GPU, take engine='parallel'; a model that was fitted on a "
            "GPU can be looked at and used, but not made longer",
            code=why.code,
        )


def folder_of(checkpoint_dir: object) -> Path | None:
    """Return the folder that a model is saved in during a fit, if any."""
    if checkpoint_dir is None:
        return None
    if not isinstance(checkpoint_dir, str | os.PathLike) or not os.fspath(checkpoint_dir):
        raise SettingsError(
            f"checkpoint_dir={checkpoint_dir!r}: give the name of a folder, or None", code="not-a-path"
        )
    return Path(checkpoint_dir)
