"""``--ray`` and ``--workers``: which engine they stand for."""

import os
from typing import Any

import click

# Which engine makes the chain of another on a cluster.
_ON_CLUSTER = {"auto": "ray", "ray": "ray", "gpu": "ray-gpu", "ray-gpu": "ray-gpu"}


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
