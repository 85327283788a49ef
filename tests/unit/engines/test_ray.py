"""The connection to Ray, as far as there need be no cluster; the rest is in tests/integration/cluster."""

import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from franchise.engines.pools import ray as on_ray
from franchise.engines.pools.ray import (
    Node,
    Places,
    check_address,
    check_memory,
    connected,
    connecting,
    lost,
    places,
)
from franchise.engines.pools.ray.machines import _places, _places_with_gpus
from franchise.errors import ClusterError, MissingPackageError, SettingsError
from tests.raising import check, raises, warns


@pytest.fixture(autouse=True)
def nothing_started_here(monkeypatch, tmp_path):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))


@contextmanager
def server(answer: bytes, silent: bool = False):
    """Answer whoever connects with some bytes, or not at all; yield the port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            try:
                connection, _ = listening.accept()
                with connection:
                    connection.recv(100)
                    if not silent:
                        connection.sendall(answer)
                    else:
                        connection.recv(100)
            except OSError:
                pass

        threading.Thread(target=serve, daemon=True).start()
        yield listening.getsockname()[1]


# ---------------------------------------------------------------- addresses


@pytest.mark.parametrize(
    "address", [None, "auto", "local", "10.0.0.1:6379", "head.cluster:6380", "[::1]:6379"]
)
def test_addresses(address):
    check_address(address)


@pytest.mark.parametrize(
    "address", ["", "head", "head:", ":6379", "head:port", "head:0", "head:70000", 6379, True]
)
def test_what_is_no_address_is_refused(address):
    with raises(SettingsError, "bad-ray-address", f"address={address!r}", "HOST:PORT"):
        check_address(address)


def test_ray_client_is_refused():
    with raises(SettingsError, "ray-client", "address='ray://head:10001'"):
        check_address("ray://head:10001")
    with raises(SettingsError, "ray-client", "address='head:10001'", "6379"):
        check_address("head:10001")


# ---------------------------------------------------------------- clusters that are not there


def refused(address, code, *facts):
    pytest.importorskip("ray", reason="ray is not installed")
    began = time.monotonic()
    with raises(ClusterError, code, *facts), connected(address):
        pass
    assert time.monotonic() - began < 20


def test_a_port_that_nobody_listens_at():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    refused(f"127.0.0.1:{port}", "no-cluster", f"127.0.0.1:{port}", "Connection refused")


def test_a_machine_that_does_not_exist():
    refused("no-such-machine.invalid:6379", "no-cluster", "no-such-machine.invalid:6379")


def test_a_server_that_is_not_ray():
    with server(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        refused(f"127.0.0.1:{port}", "not-a-cluster", f"127.0.0.1:{port}", "ray start")


def test_a_server_that_says_nothing(monkeypatch):
    monkeypatch.setattr("franchise.engines.pools.ray.connecting._SECONDS_TO_ANSWER", 0.2)
    with server(b"", silent=True) as port:
        refused(f"127.0.0.1:{port}", "no-cluster", f"127.0.0.1:{port}", "seconds")


def test_no_cluster_on_this_machine(tmp_path):
    refused("auto", "no-cluster", "ray start --head")
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray" / "ray_current_cluster").write_text("127.0.0.1:1")  # which was stopped
    refused("auto", "no-cluster", "ray start --head")


def test_the_environment_names_a_cluster(monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    for address in (None, "auto"):
        refused(address, "no-cluster", "127.0.0.1:1", "RAY_ADDRESS")
    monkeypatch.setenv("RAY_ADDRESS", "ray://head:10001")
    refused("auto", "ray-client", "RAY_ADDRESS")


def test_limits_of_a_container_limit_a_cluster_on_this_machine(monkeypatch):
    given = []
    ray = SimpleNamespace(init=lambda **options: given.append(options.get("num_cpus")))
    monkeypatch.setattr("joblib.cpu_count", lambda: 3)
    connecting._connect(ray, "local")
    connecting._connect(ray, "10.0.0.1:6379")  # which knows how many it has
    assert given == [3, None]


def test_without_ray_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with (
        raises(MissingPackageError, "missing-package", "ray", 'pip install "franchise[ray]"'),
        connected("local"),
    ):
        pass


def test_ray_is_not_imported_before_it_is_needed():
    code = (
        "import sys, franchise.engines.pools.ray, franchise.estimator, franchise.predict.known_topics\n"
        "from franchise.cli import main\n"
        "for command in ([], ['fit'], ['resume'], ['infer']):\n"
        "    main([*command, '--help'], standalone_mode=False)\n"
        "print([name for name in sys.modules if name.partition('.')[0] == 'ray'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\n[]\n")


# ---------------------------------------------------------------- places


@pytest.mark.parametrize(
    ("cpus", "workers", "threads"),
    [
        ([8, 8], 2, 8),
        ([8, 8], 1, 8),
        ([8, 8], 3, 4),
        ([8, 8], 16, 1),
        ([16, 4], 5, 4),
        ([16, 4], 2, 8),
        ([3], 2, 1),
    ],
)
def test_as_many_threads_as_there_can_be(cpus, workers, threads):
    assert _places(cpus, workers) == Places(workers, threads, threads)


def test_one_worker_on_each_machine():
    assert _places([8, 6, 8], None) == Places(3, 6, 6.0)
    with warns("idle-cpus", "8 of 68 CPUs", "workers=17"):
        assert _places([64, 4], None) == Places(2, 4, 4.0)


@pytest.mark.parametrize(("cpus", "workers"), [([2], 5), ([1, 2], 7), ([1], 3), ([3], 10)])
def test_more_workers_than_cpus_share_them(cpus, workers):
    with warns("more-workers-than-cpus", f"workers={workers}", f"{sum(cpus)} CPU"):
        found = _places(cpus, workers)
    assert (found.workers, found.threads) == (workers, 1)
    assert sum(int(n / found.num_cpus + 1e-9) for n in cpus) >= workers  # Ray finds a place for all


def a_node(name="a", cpus=4, memory=8_000_000_000, store=1_000_000_000, gpus=0):
    return Node(name, name, cpus, memory, store, gpus)


@pytest.mark.parametrize(
    ("machines", "workers", "expected"),
    [  # of each machine CPUs and GPUs
        ([(8, 1)], None, Places(1, 8, 8.0, 1)),
        ([(16, 0), (8, 1), (16, 4)], None, Places(5, 4, 4.0, 1)),
        ([(16, 0), (8, 1), (16, 4)], 2, Places(2, 4, 4.0, 1)),
        ([(2, 3)], None, Places(3, 1, 0.6666, 1)),
    ],
)
def test_one_worker_for_every_gpu(machines, workers, expected):
    found = [a_node(cpus=cpus, gpus=gpus) for cpus, gpus in machines]
    assert _places_with_gpus(found, workers) == expected
    assert sum(expected.on(node) for node in found) >= expected.workers  # Ray finds a place for all
    assert expected.options()["num_gpus"] == 1
    assert "num_gpus" not in Places(1, 1, 1.0).options()


def test_gpus_that_are_not_there():
    with raises(ClusterError, "cluster-without-gpus", "engine='ray'"):
        _places_with_gpus([a_node(), a_node()], None)
    with raises(ClusterError, "too-many-workers", "workers=4", "3 GPUs"):
        _places_with_gpus([a_node(gpus=1), a_node(gpus=2)], 4)


def test_memory_of_machines_with_gpus(monkeypatch):
    monkeypatch.setattr(
        "franchise.engines.pools.ray.machines.nodes", lambda: [a_node("a"), a_node("b", cpus=8, gpus=2)]
    )
    check_memory(4_000_000_000, Places(2, 4, 4.0, 1))
    with raises(ClusterError, "cluster-memory", "room for 1"):
        check_memory(4_000_000_001, Places(2, 4, 4.0, 1))  # the other machine has no GPU


def test_memory(monkeypatch):
    monkeypatch.setattr(
        "franchise.engines.pools.ray.machines.nodes", lambda: [a_node("a"), a_node("b", memory=4_000_000_000)]
    )
    check_memory(4_000_000_000, Places(2, 4, 4.0))
    check_memory(4_000_000_000, Places(3, 2, 2.0))
    check_memory(0, Places(100, 1, 0.1))
    facts = "3 workers", "4.00 GB", "2 machines", "12.00 GB", "room for 1", "`ray start --memory`"
    with raises(ClusterError, "cluster-memory", *facts):
        check_memory(4_000_000_001, Places(3, 2, 2.0))
    with raises(ClusterError, "cluster-memory", "2.00 GB", "a has 1.00 GB", "--object-store-memory"):
        check_memory(1, Places(2, 4, 4.0), in_store=2_000_000_000)


def test_machines_without_cpus_do_not_count(monkeypatch):
    ray = pytest.importorskip("ray", reason="ray is not installed")
    dead = {"Alive": False, "Resources": {"CPU": 4.0}}
    head = {"Alive": True, "Resources": {"memory": 1.0}}
    monkeypatch.setattr(ray, "nodes", lambda: [dead, head])
    with raises(ClusterError, "cluster-without-cpus"):
        places(None)


# ---------------------------------------------------------------- versions


def test_other_versions_are_refused_by_machine():
    own = on_ray.versions()
    assert set(own) == {"python", "franchise", "numpy", "numba"}
    on_ray.same_versions({"a": own, "b": dict(own)})
    with raises(ClusterError, "version-mismatch", "machine b", "numba 0.1", own["numba"]):
        on_ray.same_versions({"a": own, "b": own | {"numba": "0.1"}})
    with raises(ClusterError, "version-mismatch", "machine c", "no franchise"):
        on_ray.same_versions({"c": own | {"franchise": ""}})


def test_gpus_of_two_kinds_are_refused_by_machine():
    large, small = "NVIDIA H200 (9.0) with CuPy 13.4.1", "NVIDIA L4 (8.9) with CuPy 13.4.1"
    on_ray.same_gpus([("a", large)])
    on_ray.same_gpus([("a", large), ("b", large)])
    with raises(ClusterError, "different-gpus", f"c has {small}", f"a has {large}"):
        on_ray.same_gpus([("a", large), ("b", large), ("c", small)])


# ---------------------------------------------------------------- faults


def test_what_can_be_repaired():
    gone = pytest.importorskip("ray.exceptions", reason="ray is not installed")
    for error in (
        gone.ActorDiedError(),
        gone.ActorUnavailableError("gone for now", b"0" * 16),
        gone.WorkerCrashedError(),
        gone.NodeDiedError("gone"),
        gone.ObjectLostError("00", None, ""),
        gone.OwnerDiedError("00", None, ""),
    ):
        assert lost(error), error
        check(on_ray.in_words(error), "worker-lost")
    in_time, memory = (gone.GetTimeoutError("late"), "worker-not-answering"), "cluster-memory"
    for error, code in (in_time, (gone.OutOfMemoryError("full"), memory), (gone.OutOfDiskError("?"), memory)):
        assert not lost(error), error
        check(on_ray.in_words(error), code)
    failed = gone.RayActorError(actor_init_failed=True)
    assert not lost(failed)
    for error in (ValueError(), KeyboardInterrupt(), gone.TaskCancelledError()):
        assert not lost(error)
        assert on_ray.in_words(error) is error


def test_our_own_errors_come_back_as_they_were():
    gone = pytest.importorskip("ray.exceptions", reason="ray is not installed")
    own = SettingsError("sweeps=0: give more", code="not-a-whole-number")
    assert on_ray.in_words(gone.RayTaskError("work", "Traceback ...", own)) is own
    assert lost(gone.RayTaskError("work", "Traceback ...", gone.ObjectLostError("00", None, "")))
    assert not lost(gone.RayTaskError("work", "Traceback ...", ValueError()))
