"""``--ray`` and ``--workers``: which engine they stand for."""

import os
from typing import Any

import click

# Which engine makes the chain of another on a cluster.
_ON_CLUSTER = {"auto": "ray", "ray": "ray", "gpu": "ray-gpu", "ray-gpu": "ray-gpu"}


def engine_of(name: str, address: str | None, workers: int | None) -> Any:
    """Return an engine as the estimator takes it."""
    from franchise import Ray

    return Ray(address, workers, gpu=name == "ray-gpu") if name in ("ray", "ray-gpu") else name


def quiet_ray() -> None:
    """Keep what Ray says of its workers off standard output, where the results are."""
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")


def use_cluster(values: dict[str, Any]) -> None:
    """Let ``--ray`` choose the engine for a fit."""
    engine = values["engine"]
    if values["ray"] is not None:
        from franchise._ray import check_address

        check_address(values["ray"])
        if engine not in _ON_CLUSTER:
            raise click.UsageError(f"--ray does not go with --engine {engine}; leave out one of them")
        values["engine"] = _ON_CLUSTER[engine]
    elif engine not in _ON_CLUSTER.values():
        if values["workers"] is not None:
            raise click.UsageError(
                "--workers needs a cluster: give --ray auto, --ray local or --ray HOST:PORT"
            )
        return
    quiet_ray()
    if not values.get("dry_run"):
        from franchise._ray import check_reachable

        check_reachable(values["ray"])  # before documents are read, which may take long


def use_cluster_for(model: Any, address: str | None, workers: int | None) -> None:
    """Let ``--ray`` and ``--workers`` say where a fitted model continues."""
    from franchise import Ray
    from franchise.errors import SettingsError

    if isinstance(model.engine, Ray):
        model.set_params(engine=Ray(address, workers, model.engine.gpu))
        return
    for option, value in (("--ray", address), ("--workers", workers)):
        if value is not None:
            raise SettingsError(
                f"{option} {value}: the model was made with engine {model.engine}, which runs on one "
                "machine; leave the option out, or fit a model with --engine ray",
                code="setting-needs-ray",
            )
