"""What a worker on a cluster says of its GPU."""

import platform

from franchise import ClusterError, Corpus, GpuError
from franchise.corpus import shards_of
from franchise.engines.cuda import part
from franchise.engines.cuda.worker_part import CudaWorkerPart
from franchise.engines.ray_crew import RayWorker
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


def worker_on(device):
    worker = RayWorker(1, lambda *given: CudaWorkerPart(*given, device=device))
    worker.load(shards_of(FEW, 1), FEW.arrays, 3)
    return worker


def test_which_gpu_it_has(monkeypatch):
    cupy = fake_cupy()
    cupy.__version__ = "13.4.1"
    with with_cupy(monkeypatch, cupy):
        assert RayWorker(1).gpu() == (platform.node(), "NVIDIA H200 (9.0) with CuPy 13.4.1")


def test_a_machine_without_a_gpu_is_named(monkeypatch):
    with (
        with_cupy(monkeypatch, None),
        raises(ClusterError, "missing-package", f"machine {platform.node()}", "CuPy"),
    ):
        RayWorker(1).gpu()


def test_too_little_memory_on_the_gpu_of_a_machine(monkeypatch):
    monkeypatch.setattr(part, "_SPARE", 2_000_000_000)
    with raises(GpuError, "gpu-memory", f"machine {platform.node()}", "1.0 GB"):
        worker_on(Small()).ask(0, "start", Key(0, 0, 0, 0), 2)
    with raises(GpuError, "gpu-memory", f"machine {platform.node()}"):
        worker_on(Full()).ask(0, "start", Key(0, 0, 0, 0), 2)
