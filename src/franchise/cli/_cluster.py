"""Options for a cluster."""

import os
from collections.abc import Callable
from typing import Any

import click

Command = Callable[..., Any]

# Which engine makes the chain of another on a cluster.
_ON_CLUSTER = {"auto": "ray", "ray": "ray", "gpu": "ray-gpu", "ray-gpu": "ray-gpu"}


class _Address(click.ParamType):  # type: ignore[type-arg]
    """``auto``, ``local`` or HOST:PORT."""

    name = "address"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse what is no address."""
        from franchise._ray import check_address
        from franchise.errors import SettingsError

        try:
            check_address(value)
        except SettingsError as error:
            self.fail(f"{value!r}: {str(error).partition(': ')[2]}", param, ctx)
        return str(value)


def cluster_options(what: str) -> Callable[[Command], Command]:
    """Add the options that say on which cluster to make a fit, and on how many workers."""

    def add(command: Command) -> Command:
        workers = click.option(
            "--workers",
            type=click.IntRange(1),
            metavar="N",
            help="With --ray: how many workers share the documents; does not change the answer.  "
            "[default: one per machine, or one per GPU with engine ray-gpu]",
        )
        address = click.option(
            "--ray",
            type=_Address(),
            metavar="auto|local|HOST:PORT",
            help=f"{what} with Ray: on a cluster that runs, on this machine alone, or on the cluster at an "
            "address.",
        )
        return address(workers(command))

    return add


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
