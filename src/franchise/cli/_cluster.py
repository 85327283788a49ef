"""``--ray`` and ``--workers``: on which cluster a fit is made."""

import os
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from franchise import HDPTopicModel, Ray

_HAS_GPUS = {"auto": False, "ray": False, "gpu": True, "ray-gpu": True}  # engines that a cluster has


def engine_of(values: dict[str, Any]) -> "str | Ray":
    """Return the engine of a fit as the estimator takes it; `values` get the name of that engine."""
    engine, address, workers = (values[name] for name in ("engine", "ray", "workers"))
    if address is None and engine not in ("ray", "ray-gpu"):
        if workers is not None:
            raise click.UsageError(
                "--workers needs a cluster: give --ray auto, --ray local or --ray HOST:PORT"
            )
        return str(engine)
    if engine not in _HAS_GPUS:
        raise click.UsageError(f"--ray does not go with --engine {engine}; leave out one of them")
    from franchise import Ray

    quiet_ray()
    values["engine"] = "ray-gpu" if _HAS_GPUS[engine] else "ray"
    return Ray(address, workers, gpu=_HAS_GPUS[engine])


def continue_on(address: str | None, workers: int | None, model: "HDPTopicModel") -> None:
    """Let a fitted model continue on a cluster, if its engine can."""
    from franchise import Ray
    from franchise.errors import SettingsError

    quiet_ray()
    if isinstance(model.engine, Ray):
        model.set_params(engine=Ray(address, workers, model.engine.gpu))
    elif address is not None or workers is not None:
        given = f"--workers {workers}" if address is None else f"--ray {address}"
        raise SettingsError(
            f"{given}: the model was made with engine {model.engine}, which runs on one machine; leave the "
            "option out, or fit a model with --engine ray",
            code="setting-needs-ray",
        )


def quiet_ray() -> None:
    """Keep what Ray says of its workers off standard output, where the results are."""
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
