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
