"""Connecting to a cluster: one that runs, or a local one started here."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from franchise._settings import cores, flag, whole_number
from franchise.engines.pools.ray.faults import first_line, ray_module
from franchise.errors import ClusterError, SettingsError

_SECONDS_TO_ANSWER = 5.0
_USUAL_PORT, _PORT_OF_CLIENTS = 6379, 10001


@dataclass(frozen=True)
class Ray:
    """An engine on a Ray cluster, with exactly the chains of ``"parallel"``, or of ``"gpu"`` if it has GPUs.

    Parameters
    ----------
    address
        ``"auto"`` (a running cluster), ``"local"`` (this machine), HOST:PORT; or None, which is ``"auto"``
        if a cluster runs, else ``"local"``. It does not change results.
    workers
        Number of processes that share the documents; by default one per machine, or per GPU. It does not
        change results.
    gpu
        Whether each worker has a GPU.

    Examples
    --------
    >>> from franchise import HDPTopicModel, Ray
    >>> model = HDPTopicModel(engine=Ray("10.0.0.1:6379", workers=16))
    """

    address: str | None = "auto"
    workers: int | None = None
    gpu: bool = False

    def __post_init__(self) -> None:
        """Refuse impossible settings; nothing is contacted."""
        check_address(self.address)
        if self.workers is not None:
            object.__setattr__(self, "workers", whole_number("workers", self.workers, 1))
        object.__setattr__(self, "gpu", flag("gpu", self.gpu))


@contextmanager
def connected(address: str | None) -> Iterator[str]:
    """Connect to Ray for this block, which receives the address of the cluster.

    If this process is already connected, as in a notebook, that connection is used and left open. Otherwise
    the connection ends with the block, and so does a Ray that was started for it.

    Parameters
    ----------
    address
        ``"local"``: start Ray on this machine, on all its cores. ``"auto"``: a running cluster, from the
        environment variable RAY_ADDRESS or from ``ray start`` on this machine. HOST:PORT: that cluster.
        None: like ``"auto"``, and ``"local"`` if there is none.

    Raises
    ------
    ClusterError
        If the cluster cannot be reached, or has other versions of Ray or Python.
    """
    check_address(address)
    ray = ray_module()
    if ray.is_initialized():
        yield _present(ray, address)
        return
    where = _where(address)
    with _kept_sigterm():
        _connect(ray, where)
        try:
            yield str(ray.get_runtime_context().gcs_address)
        finally:
            ray.shutdown()


def check_reachable(address: str | None) -> None:
    """Refuse a cluster that does not answer, before any work; nothing is started."""
    check_address(address)
    ray = ray_module()
    if ray.is_initialized():
        _present(ray, address)
    else:
        _where(address)


def check_address(address: object) -> None:
    """Refuse an invalid address; nothing is contacted."""
    if address is None or address in ("auto", "local"):
        return
    known = "give 'auto', 'local' or HOST:PORT"
    if not isinstance(address, str) or not address:
        raise SettingsError(f"address={address!r}: {known}", code="bad-ray-address")
    if "://" in address:
        raise SettingsError(
            f"address={address!r}: Ray Client, and other addresses with ://, are not supported; run on a "
            f"machine of the cluster and {known}",
            code="ray-client",
        )
    host, port = _host_and_port(address)
    if not host or not 0 < port < 2**16:
        raise SettingsError(
            f"address={address!r}: {known}, such as 10.0.0.1:{_USUAL_PORT}", code="bad-ray-address"
        )
    if port == _PORT_OF_CLIENTS:
        raise SettingsError(
            f"address={address!r}: {port} is the port of Ray Client; use the cluster's own, usually "
            f"{_USUAL_PORT}",
            code="ray-client",
        )


def _host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port) if port.isascii() and port.isdigit() else 0


def _where(address: str | None) -> str:
    """Return HOST:PORT of a cluster that answers, or ``"local"``."""
    if address == "local":
        return address
    if address in (None, "auto"):
        given = os.environ.get("RAY_ADDRESS")
        if given in ("auto", "local"):  # Ray accepts these too
            return _where(given) if given != address else _started_here(address)
        if not given:
            return _started_here(address)
        try:
            check_address(given)
        except SettingsError as error:
            raise ClusterError(
                f"the environment variable RAY_ADDRESS: {str(error).partition(': ')[2]}", code=error.code
            ) from None
        _check_answers(given, f"the cluster at {given} (the environment variable RAY_ADDRESS)")
        return given
    assert address is not None
    _check_answers(address, f"the cluster at {address}")
    return address


def _started_here(address: str | None) -> str:
    """Return the cluster of ``ray start`` on this machine, or ``"local"`` if there is none."""
    folder = Path(os.environ.get("RAY_TMPDIR") or os.environ.get("RAY_TMP_DIR") or tempfile.gettempdir())
    try:
        found = (folder / "ray" / "ray_current_cluster").read_text("utf-8").strip()
        _check_answers(found, f"the cluster at {found}")
        return found
    except (OSError, ClusterError):
        if address is None:
            return "local"
        raise ClusterError(
            "there is no Ray cluster on this machine: start one with `ray start --head`, join one with `ray "
            "start --address=HOST:PORT`, or use address='local' for this machine alone",
            code="no-cluster",
        ) from None


def _check_answers(address: str, what: str) -> None:
    """Check within seconds whether there is a cluster; Ray itself would try for minutes.

    Ray speaks HTTP/2, in which both sides begin by sending their settings.
    """
    host, port = _host_and_port(address)
    try:
        with socket.create_connection((host, port), _SECONDS_TO_ANSWER) as connection:
            if os.environ.get("RAY_USE_TLS", "0") not in ("", "0"):
                return  # TLS: we cannot look behind it
            connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
            answer = connection.recv(9)
    except TimeoutError:
        raise ClusterError(
            f"{what} does not answer within {_SECONDS_TO_ANSWER:.0f} seconds: check that the machine is on, "
            "and that the port is open between the two",
            code="no-cluster",
        ) from None
    except OSError as error:
        why = error.strerror or str(error)
        raise ClusterError(
            f"{what} cannot be reached ({why}): check the address, and that Ray runs there (`ray status`)",
            code="no-cluster",
        ) from None
    if len(answer) < 4 or answer[3] != 4:
        raise ClusterError(
            f"{what}: something other than Ray answers there; use the port of the cluster, which "
            f"`ray start` shows, usually {_USUAL_PORT}",
            code="not-a-cluster",
        )


def _connect(ray: Any, where: str) -> None:
    own: dict[str, Any] = {}
    if where == "local":
        own = {"num_cpus": cores(), "include_dashboard": False}
    try:
        with _without_usage_report(), warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # from Ray about itself
            ray.init(address=where, log_to_driver=False, logging_level="ERROR", **own)
    except BaseException as error:
        ray.shutdown()  # end what was begun
        if isinstance(error, RuntimeError) and "ersion mismatch" in str(error):
            raise ClusterError(_other_versions(str(error)), code="version-mismatch") from None
        if not isinstance(error, Exception):
            raise
        if where == "local":
            raise ClusterError(
                f"Ray could not be started on this machine: {first_line(error)}", code="ray-not-started"
            ) from error
        raise ClusterError(
            f"the cluster at {where} answers, but this process could not join it: {first_line(error)} "
            "(run on a machine of the cluster; if the cluster asks for a token, set RAY_AUTH_MODE=token)",
            code="cannot-join-cluster",
        ) from error


def _other_versions(message: str) -> str:
    lines = [line.strip() for line in message.splitlines()]
    found = [f"{name} {version}" for name, _, version in (line.partition(": ") for line in lines)]
    found = [one for one in found if one.startswith(("Ray ", "Python "))]
    theirs, ours = ", ".join(found[: len(found) // 2]), ", ".join(found[len(found) // 2 :])
    return f"the cluster has {theirs}, but this process {ours}: install the same versions everywhere"


def _present(ray: Any, address: str | None) -> str:
    """Return the address of the cluster that this process is already connected to."""
    present = str(ray.get_runtime_context().gcs_address)
    if ray.util.client.ray.is_connected():
        raise ClusterError(
            "this process is connected by Ray Client (ray://), which is not supported; run on a machine of "
            "the cluster",
            code="ray-client",
        )
    if address not in (None, "auto", "local") and _resolved(str(address)) != _resolved(present):
        raise ClusterError(
            f"address={address!r}: this process is connected to another cluster, at {present}; leave the "
            "address out to use that one, or call ray.shutdown() first",
            code="another-cluster",
        )
    return present


def _resolved(address: str) -> tuple[str, int]:
    host, port = _host_and_port(address)
    try:
        found = socket.gethostbyname(host)
        # Ray knows this machine by an address that others can reach.
        return ("this machine" if found in (_own_address(), "127.0.0.1") else found), port
    except OSError:
        return host, port


def _own_address() -> str:
    try:
        return str(ray_module().util.get_node_ip_address())
    except Exception:
        return "127.0.0.1"


@contextmanager
def _without_usage_report() -> Iterator[None]:
    """Turn off the usage report of a Ray that is started here, unless the user has set it."""
    name = "RAY_USAGE_STATS_ENABLED"
    given = os.environ.get(name)
    os.environ.setdefault(name, "0")
    try:
        yield
    finally:
        if given is None:
            os.environ.pop(name, None)


@contextmanager
def _kept_sigterm() -> Iterator[None]:
    """Restore the SIGTERM handler that Ray replaces."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)
