"""Places for workers: the resources of a cluster's machines, and whether they suffice."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

from franchise._text import counted
from franchise.engines.pools.ray.faults import ray_module
from franchise.errors import ClusterError, FranchiseWarning, SettingsError

_SHARES = 10_000  # of a CPU: Ray's finest unit


class Node(NamedTuple):
    """A machine of a cluster."""

    id: str
    name: str
    cpus: int
    memory: int  # bytes that Ray gives to workers
    store: int  # bytes of its object store
    gpus: int = 0


class Places(NamedTuple):
    """Number of workers, and the resources of each."""

    workers: int
    threads: int  # of a worker
    num_cpus: float  # to request from Ray per worker; less than one if they share
    num_gpus: int = 0

    def options(self, memory: int = 0) -> dict[str, Any]:
        """Return the options with which Ray finds a place for a worker with this much memory."""
        options: dict[str, Any] = {"num_cpus": self.num_cpus, "scheduling_strategy": "SPREAD"}
        options |= {"num_gpus": self.num_gpus} if self.num_gpus else {}
        return options | ({"memory": memory} if memory else {})

    def on(self, node: Node) -> int:
        """Return how many workers fit on a machine by its CPUs and GPUs."""
        by_cpus = int(node.cpus / self.num_cpus + 1e-6)
        return min(by_cpus, node.gpus // self.num_gpus) if self.num_gpus else by_cpus

    @property
    def text(self) -> str:
        """The needs of a worker, in words."""
        return f"{self.num_cpus:g} CPUs" + (f" and {counted(self.num_gpus, 'GPU')}" if self.num_gpus else "")


def nodes() -> list[Node]:
    """Return the present machines of the cluster that have CPUs."""
    found = []
    for node in ray_module().nodes():
        has = node["Resources"]
        if node["Alive"] and has.get("CPU", 0) >= 1:
            name = node["NodeManagerHostname"] or node["NodeManagerAddress"]
            memory, store = int(has.get("memory", 0)), int(has.get("object_store_memory", 0))
            found.append(Node(node["NodeID"], name, int(has["CPU"]), memory, store, int(has.get("GPU", 0))))
    if not found:
        raise ClusterError(
            "no machine of the cluster has a CPU for workers; add machines to it", code="cluster-without-cpus"
        )
    return found


def places(workers: int | None, gpus: bool = False) -> Places:
    """Return the places for workers: one on each machine, or the requested number.

    They get as many threads as possible. More workers than CPUs share the CPUs, with a warning. With `gpus`,
    there is one worker per GPU by default, and never more (ClusterError).
    """
    found = nodes()
    return _places_with_gpus(found, workers) if gpus else _places([node.cpus for node in found], workers)


def _places_with_gpus(found: Sequence[Node], workers: int | None) -> Places:
    total = sum(node.gpus for node in found)
    if not total:
        raise ClusterError(
            "no machine of the cluster has a GPU, according to Ray (`ray status`); add machines with "
            "GPUs, or use engine='ray', which needs none",
            code="cluster-without-gpus",
        )
    if workers is not None and workers > total:
        raise ClusterError(
            f"workers={workers}: the cluster has {counted(total, 'GPU')}, and every worker needs one; "
            f"use {total} or fewer, or add machines with GPUs",
            code="too-many-workers",
        )
    each = min(node.cpus / node.gpus for node in found if node.gpus)
    num_cpus = float(int(each)) if each >= 1 else int(each * _SHARES) / _SHARES
    return Places(total if workers is None else workers, max(1, int(each)), num_cpus, 1)


def _places(cpus: Sequence[int], workers: int | None) -> Places:
    total, smallest = sum(cpus), min(cpus)
    if workers is None:
        used = len(cpus) * smallest
        if 2 * used < total:
            warnings.warn(
                FranchiseWarning(
                    f"one worker for each of {len(cpus)} machines uses {used} of {total} CPUs, because the "
                    f"smallest has {smallest}; workers={sum(n // smallest for n in cpus)} would use more",
                    code="idle-cpus",
                ),
                stacklevel=2,
            )
        return Places(len(cpus), smallest, float(smallest))
    if workers <= total:
        threads = next(t for t in range(max(cpus), 0, -1) if sum(n // t for n in cpus) >= workers)
        return Places(workers, threads, float(threads))
    warnings.warn(
        FranchiseWarning(
            f"workers={workers}: the cluster has only {counted(total, 'CPU')}, which the workers share; "
            "more workers than CPUs are not faster",
            code="more-workers-than-cpus",
        ),
        stacklevel=2,
    )
    share = math.ceil(workers / total)
    if share > _SHARES:
        raise SettingsError(
            f"workers={workers}: too many for {counted(total, 'CPU')}", code="too-many-workers"
        )
    return Places(workers, 1, _SHARES // share / _SHARES)


def check_memory(needed_by_worker: int, places: Places, in_store: int = 0) -> None:
    """Refuse to begin if the workers would not fit into the memory of the machines.

    Parameters
    ----------
    needed_by_worker
        Bytes that each worker needs.
    places
        The places of the workers.
    in_store
        Bytes that the object store of each machine must hold.
    """
    found = nodes()
    small = min(found, key=lambda node: node.store)
    if in_store > small.store:
        raise ClusterError(
            f"too little memory: Ray's object store on every machine must hold {_gb(in_store)}, but that of "
            f"{small.name} has {_gb(small.store)} (`ray start --object-store-memory`)",
            code="cluster-memory",
        )
    if needed_by_worker <= 0:
        return
    room = [min(places.on(node), node.memory // needed_by_worker) for node in found]
    if sum(room) < places.workers:
        memory = sum(node.memory for node in found)
        raise ClusterError(
            f"too little memory: {counted(places.workers, 'worker')} of {_gb(needed_by_worker)} each do not "
            f"fit on {counted(len(found), 'machine')} with {_gb(memory)} for workers in all, which have room "
            f"for {sum(room)}. Add machines, or give them more memory (`ray start --memory`)",
            code="cluster-memory",
        )


def _gb(n: int) -> str:
    return f"{n / 1e9:,.2f} GB" if n >= 1e7 else f"{n / 1e6:,.3f} MB"
