"""Check that all machines have the same versions: with others, the same seed might give another chain."""

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
    """Return the versions of packages in this process on which results depend."""
    own = {"python": platform.python_version(), "franchise": __version__}
    return own | {name: metadata.version(name) for name in _PACKAGES}


def same_versions(reports: Mapping[str, Versions]) -> None:
    """Refuse workers whose versions differ from this process's, because the chain would differ.

    Parameters
    ----------
    reports
        The `versions` of each machine, by its name; an empty one is a missing package.
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
    """Refuse GPUs of different kinds, because the chain might differ.

    Parameters
    ----------
    found
        The name of the machine of each worker, and its GPU.
    """
    (first, expected), *others = found
    for name, kind in others:
        if kind != expected:
            raise ClusterError(
                f"the machine {name} has {kind}, but {first} has {expected}: a chain needs GPUs of one kind "
                "and the same CuPy; use machines of one kind, or engine='ray', which needs no GPUs",
                code="different-gpus",
            )


def check_nodes(seconds: float = 60.0) -> None:
    """Ask every machine for its versions, and refuse machines whose versions differ from this process's."""
    ray = ray_module()
    packages = _PACKAGES

    # Defined here, so that Ray sends it by value: machines without franchise could not import it.
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
            continue  # it has left the cluster, and gets no worker
        except ray.exceptions.RayError as error:
            raise ClusterError(
                f"the machine {node.name} cannot be used: {first_line(error)}", code="machine-unusable"
            ) from error
        same_versions({node.name: answer})
