"""The same versions on every machine: on others the same seed might give another chain."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from importlib import metadata

from franchise import __version__
from franchise.engines.pools.ray.faults import first_line, ray_module
from franchise.engines.pools.ray.machines import nodes
from franchise.errors import ClusterError

_PACKAGES = ("numpy", "numba")

Versions = Mapping[str, str]


def versions() -> dict[str, str]:
    """Return the versions on which the numbers depend, in this process."""
    own = {"python": platform.python_version(), "franchise": __version__}
    return own | {name: metadata.version(name) for name in _PACKAGES}


def same_versions(reports: Mapping[str, Versions]) -> None:
    """Refuse workers that have other versions than this process, by which the chain would differ.

    Parameters
    ----------
    reports
        The `versions` of each machine, by its name; an empty one stands for a package that is missing.
    """
    own = versions()
    for name, theirs in reports.items():
        for package, version in own.items():
            found = theirs.get(package, "")
            if found != version:
                has = f"has {package} {found}" if found else f"has no {package}"
                raise ClusterError(
                    f"the machine {name} {has}, but this process {version}: install the same versions "
                    "everywhere",
                    code="version-mismatch",
                )


def same_gpus(found: Sequence[tuple[str, str]]) -> None:
    """Refuse GPUs of different kinds, by which the chain might differ.

    Parameters
    ----------
    found
        Of the GPU of each worker, the name of its machine and what it is.
    """
    (first, expected), *others = found
    for name, kind in others:
        if kind != expected:
            raise ClusterError(
                f"the machine {name} has {kind}, but {first} has {expected}: a chain needs GPUs of one kind, "
                "and the same CuPy; use machines that are alike, or engine='ray', which does without GPUs",
                code="different-gpus",
            )


def check_nodes(seconds: float = 60.0) -> None:
    """Ask every machine for its versions, and refuse those that have others than this process."""
    ray = ray_module()
    packages = _PACKAGES

    # Defined here, so that Ray sends it as it is: where franchise is missing, it could not be imported.
    def report() -> dict[str, str]:
        import platform
        from importlib import metadata

        found = {"python": platform.python_version(), "franchise": ""}
        try:
            import franchise

            found["franchise"] = franchise.__version__
        except ImportError:
            pass
        for name in packages:
            try:
                found[name] = metadata.version(name)
            except metadata.PackageNotFoundError:
                found[name] = ""
        return found

    at = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
    found = nodes()
    asked = [
        ray.remote(report).options(num_cpus=0, scheduling_strategy=at(node.id, soft=False)).remote()
        for node in found
    ]
    end = time.monotonic() + seconds
    for node, one in zip(found, asked, strict=True):
        try:
            answer = ray.get(one, timeout=max(end - time.monotonic(), 1.0))
        except ray.exceptions.GetTimeoutError:
            raise ClusterError(
                f"the machine {node.name} does not answer within {seconds:.0f} seconds (`ray status`)",
                code="machine-not-answering",
            ) from None
        except ray.exceptions.TaskUnschedulableError:
            continue  # it has gone since, and no worker will come to be there
        except ray.exceptions.RayError as error:
            raise ClusterError(
                f"the machine {node.name} cannot be used: {first_line(error)}", code="machine-unusable"
            ) from error
        same_versions({node.name: answer})
