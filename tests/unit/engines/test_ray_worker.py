"""What a worker on a cluster says of its GPU."""

import platform

import pytest

from franchise import ClusterError, Corpus, GpuError
from franchise.engines.partitions.cuda import documents
from franchise.engines.partitions.partition import Partition
from franchise.engines.pools import local
from franchise.engines.pools.ranges import jobs_for
from franchise.engines.pools.ray.actors import RayWorker
from franchise.random import Key
from tests.host_device import HostDevice
from tests.raising import raises
from tests.reference.gpus import fake_cupy, with_cupy

FEW = Corpus([0, 1, 1, 0, 2], [0, 2, 5], ["a", "b", "c"])


class Small(HostDevice):
    def free_bytes(self):
        return 1_000_000_000


class Full(HostDevice):
    def launch(self, *_):
        raise OutOfMemoryError("out of memory allocating 512 bytes")


class OutOfMemoryError(MemoryError):
    __module__ = "cupy.cuda.memory"


def test_which_gpu_it_has(monkeypatch):
    cupy = fake_cupy()
    cupy.__version__ = "13.4.1"
    with with_cupy(monkeypatch, cupy):
        assert RayWorker(1, "cuda").gpu() == (platform.node(), "NVIDIA H200 (9.0) with CuPy 13.4.1")


def test_a_machine_without_a_gpu_is_named(monkeypatch):
    with (
        with_cupy(monkeypatch, None),
        raises(ClusterError, "missing-package", f"machine {platform.node()}", "CuPy"),
    ):
        RayWorker(1, "cuda").gpu()


@pytest.mark.parametrize(("device", "said"), [(Small, ["1.0 GB"]), (Full, [])])
def test_too_little_memory_on_the_gpu_of_a_machine(monkeypatch, device, said):
    monkeypatch.setattr(documents, "_SPARE", 2_000_000_000)
    monkeypatch.setattr(local, "gpu", device)
    worker = RayWorker(1, "cuda")
    worker.load(jobs_for(FEW, 1)[0], True)
    with raises(GpuError, "gpu-memory", f"machine {platform.node()}", *said):
        worker.all(0, Partition.start.__name__, Key(0, 0, 0, 0), 2)
