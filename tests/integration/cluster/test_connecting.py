"""Connecting to Ray: our own on this machine, a cluster of two nodes, and one with other versions."""

import os
import signal
import subprocess
import sys

import pytest

from franchise.engines.pools.ray import check_memory, check_nodes, connected, in_words, lost, nodes, places
from franchise.errors import ClusterError, CorpusError
from tests.raising import check, raises

pytestmark = pytest.mark.slow

ray = pytest.importorskip("ray", reason="ray is not installed")


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)


def test_a_cluster_and_its_places(ray_cluster):
    before = signal.getsignal(signal.SIGTERM)
    with connected(ray_cluster.address) as address:
        assert address == ray_cluster.address
        assert [node.cpus for node in nodes()] == [2, 2]
        assert places(None) == (2, 2, 2.0, 0)
        check_nodes()
        with raises(ClusterError, "cluster-memory", "2 workers"):
            check_memory(10**15, places(2))
        with connected(None) as again:  # what is there is used, and left open
            assert again == address
        assert ray.is_initialized()
        with raises(ClusterError, "another-cluster", "127.0.0.1:1", address), connected("127.0.0.1:1"):
            pass
    assert not ray.is_initialized()
    assert signal.getsignal(signal.SIGTERM) is before


def test_auto_takes_the_cluster_of_the_environment(ray_cluster, monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", ray_cluster.address)
    for address in ("auto", None):
        with connected(address) as found:
            assert found == ray_cluster.address


def test_auto_takes_the_cluster_of_this_machine(ray_cluster, monkeypatch, tmp_path):
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray" / "ray_current_cluster").write_text(ray_cluster.address)
    with monkeypatch.context() as changed:
        changed.setenv("RAY_TMPDIR", str(tmp_path))
        with connected("auto") as found:
            assert found == ray_cluster.address


def test_versions_that_differ(ray_cluster, monkeypatch):
    monkeypatch.setattr(ray, "__version__", "1.2.3")
    with (
        raises(ClusterError, "version-mismatch", "cluster has Ray 2", "Ray 1.2.3, Python 3"),
        connected(ray_cluster.address),
    ):
        pass
    assert not ray.is_initialized()
    monkeypatch.undo()
    monkeypatch.setattr("franchise.engines.pools.ray.agreement.__version__", "99")
    with (
        connected(ray_cluster.address),
        raises(ClusterError, "version-mismatch", "machine", "franchise", " 99"),
    ):
        check_nodes()


def test_faults(ray_cluster):
    class Worker:
        def fail(self):
            raise CorpusError("line 3: no number", code="not-a-number")

        def die(self):
            os.kill(os.getpid(), signal.SIGKILL)

    class Unfit:
        def __init__(self):
            raise ValueError("not today")

        def ready(self):
            pass

    with connected(ray_cluster.address):
        worker = ray.remote(Worker).options(**places(2).options()).remote()
        with pytest.raises(CorpusError) as caught:
            ray.get(worker.fail.remote())
        assert not lost(caught.value)
        check(in_words(caught.value), "not-a-number", "line 3: no number")
        with pytest.raises(ray.exceptions.RayError) as caught:
            ray.get(worker.die.remote())
        assert lost(caught.value)
        with pytest.raises(ray.exceptions.RayError) as caught:
            ray.get(ray.remote(Unfit).remote().ready.remote())
        assert not lost(caught.value)


def test_our_own_ray_is_quiet_and_ends(tmp_path):
    code = (
        "from franchise.engines.pools.ray import connected, places, check_nodes\n"
        "import ray\n"
        "def work(i): print('working'); return i * i\n"
        "with connected('local'):\n"
        "    check_nodes()\n"
        "    print(places(None).workers, sum(ray.get([ray.remote(work).remote(i) for i in range(4)])))\n"
        "print(ray.is_initialized())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.stdout, done.stderr, done.returncode) == ("1 14\nFalse\n", "", 0)
