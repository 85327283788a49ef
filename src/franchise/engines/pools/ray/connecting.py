"""Reaching a cluster: one that runs, or one of our own on this machine."""

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
    """An engine on a Ray cluster: the chains of ``"parallel"``, or with GPUs those of ``"gpu"``, to the bit.

    Parameters
    ----------
    address
        ``"auto"`` (a cluster that runs), ``"local"`` (this machine), HOST:PORT; or None, which is ``"auto"``
        where a cluster runs, else ``"local"``. It changes no answer.
    workers
        How many processes share the documents; by default one per machine, or per GPU. It changes no answer.
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
        """Refuse what cannot be; nothing is reached for."""
        check_address(self.address)
        if self.workers is not None:
            object.__setattr__(self, "workers", whole_number("workers", self.workers, 1))
        object.__setattr__(self, "gpu", flag("gpu", self.gpu))


@contextmanager
def connected(address: str | None) -> Iterator[str]:
    """Be connected to Ray in this block; the address of the cluster is given to it.

    Where this process is connected already, as in a notebook, that connection is used and left open. Else the
    connection ends with the block, and so does a Ray that was started for it.

    Parameters
    ----------
    address
        ``"local"``: start Ray on this machine, on all its cores. ``"auto"``: a cluster that runs, the one of
        the environment variable RAY_ADDRESS or that of ``ray start`` on this machine. HOST:PORT: that
        cluster. None: as ``"auto"``, and ``"local"`` where there is none.

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
    """Refuse a cluster that does not answer, before anything is done for it; nothing is started."""
    check_address(address)
    ray = ray_module()
    if ray.is_initialized():
        _present(ray, address)
    else:
        _where(address)


def check_address(address: object) -> None:
    """Refuse what cannot be the address of a cluster; nothing is reached for."""
    if address is None or address in ("auto", "local"):
        return
    known = "give 'auto', 'local' or HOST:PORT"
    if not isinstance(address, str) or not address:
        raise SettingsError(f"address={address!r}: {known}", code="bad-ray-address")
    if "://" in address:
        raise SettingsError(
            f"address={address!r}: Ray Client, and other addresses with ://, cannot be used; run on a "
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
            f"address={address!r}: {port} is the port of Ray Client; give the cluster's own, usually "
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
        if given in ("auto", "local"):  # which Ray takes too
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
    """Return the cluster that ``ray start`` has joined this machine to; where there is none, our own."""
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
            "start --address=HOST:PORT`, or give address='local' to use this machine alone",
            code="no-cluster",
        ) from None


def _check_answers(address: str, what: str) -> None:
    """Find out within seconds whether there is a cluster; Ray itself would try for minutes.

    Ray speaks HTTP/2, where both sides begin with their settings.
    """
    host, port = _host_and_port(address)
    try:
        with socket.create_connection((host, port), _SECONDS_TO_ANSWER) as connection:
            if os.environ.get("RAY_USE_TLS", "0") not in ("", "0"):
                return  # behind which we do not look
            connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
            answer = connection.recv(9)
    except TimeoutError:
        raise ClusterError(
            f"{what} does not answer within {_SECONDS_TO_ANSWER:.0f} seconds: is the machine on, and is the "
            "port open between the two?",
            code="no-cluster",
        ) from None
    except OSError as error:
        why = error.strerror or str(error)
        raise ClusterError(
            f"{what} cannot be reached ({why}): check the address, and whether Ray runs there (`ray status`)",
            code="no-cluster",
        ) from None
    if len(answer) < 4 or answer[3] != 4:
        raise ClusterError(
            f"{what}: something answers there, but it is not Ray; give the port of the cluster, which "
            f"`ray start` shows, usually {_USUAL_PORT}",
            code="not-a-cluster",
        )


def _connect(ray: Any, where: str) -> None:
    own: dict[str, Any] = {}
    if where == "local":
        own = {"num_cpus": cores(), "include_dashboard": False}
    try:
        with _without_usage_report(), warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of Ray to itself
            ray.init(address=where, log_to_driver=False, logging_level="ERROR", **own)
    except BaseException as error:
        ray.shutdown()  # what was begun
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
            "(it must run on a machine of the cluster; if that asks for a token, set RAY_AUTH_MODE=token)",
            code="cannot-join-cluster",
        ) from error


def _other_versions(message: str) -> str:
    lines = [line.strip() for line in message.splitlines()]
    found = [f"{name} {version}" for name, _, version in (line.partition(": ") for line in lines)]
    found = [one for one in found if one.startswith(("Ray ", "Python "))]
    theirs, ours = ", ".join(found[: len(found) // 2]), ", ".join(found[len(found) // 2 :])
    return f"the cluster has {theirs}, but this process {ours}: install the same versions everywhere"


def _present(ray: Any, address: str | None) -> str:
    """Return the address of the cluster that this process is connected to already."""
    present = str(ray.get_runtime_context().gcs_address)
    if ray.util.client.ray.is_connected():
        raise ClusterError(
            "this process is connected by Ray Client (ray://), which cannot be used; run on a machine of the "
            "cluster",
            code="ray-client",
        )
    if address not in (None, "auto", "local") and _resolved(str(address)) != _resolved(present):
        raise ClusterError(
            f"address={address!r}: this process is connected to another cluster, at {present}; leave the "
            "address out to use that one, or call ray.shutdown() before",
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
    """Let a Ray that is started here send nothing home, unless the user has said what they want."""
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
    """Give the signal back to whom Ray takes it from."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)
