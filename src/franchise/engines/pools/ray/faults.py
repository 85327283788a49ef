"""Import of Ray, and its errors: which ones can be repaired, and messages for the others."""

from typing import Any

from franchise._extras import needed
from franchise.errors import ClusterError, FranchiseError


def ray_module() -> Any:
    """Return Ray; if it is missing, the error says what to install."""
    with needed("a cluster", "ray"):
        import ray
        import ray.exceptions
        import ray.util.client
        import ray.util.scheduling_strategies
    return ray


def lost(error: BaseException) -> bool:
    """Return whether a worker or machine, or its data, is lost, so that others can take its place.

    This excludes failures of a worker's own code, also at its start; lack of memory, which would recur;
    and answers that are late but may still come.
    """
    gone = ray_module().exceptions
    if isinstance(error, gone.RayTaskError):
        return isinstance(error.cause, BaseException) and lost(error.cause)
    if isinstance(error, gone.RayActorError):
        return not error.actor_init_failed
    kinds = gone.WorkerCrashedError, gone.NodeDiedError, gone.LocalRayletDiedError, gone.ObjectLostError
    return isinstance(error, kinds)


def in_words(error: BaseException) -> BaseException:
    """Return the error to raise for one of Ray's: our own from within a worker, or a readable one."""
    gone = ray_module().exceptions
    if isinstance(error, gone.RayTaskError) and isinstance(error.cause, FranchiseError | MemoryError):
        return error.cause
    if isinstance(error, gone.OutOfMemoryError):
        return ClusterError(
            "a worker was stopped because its machine ran out of memory; use fewer workers per machine, or "
            "machines with more memory",
            code="cluster-memory",
        )
    if isinstance(error, gone.ObjectStoreFullError | gone.OutOfDiskError):
        return ClusterError(f"Ray's store of objects is full: {first_line(error)}", code="cluster-memory")
    if isinstance(error, gone.GetTimeoutError):
        return ClusterError(
            "a worker did not answer in time (`ray status` shows whether machines are missing)",
            code="worker-not-answering",
        )
    if isinstance(error, gone.RayActorError | gone.RaySystemError) or lost(error):
        return ClusterError(f"a worker of the cluster is lost: {first_line(error)}", code="worker-lost")
    return error


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text, or the name of its class."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
