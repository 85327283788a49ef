"""GPUs that are not there: a stand-in for CuPy, and an engine under the name of the one that needs a GPU."""

import sys
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import ClassVar

from franchise.engines import ENGINES, GPU
from franchise.engines.cuda import availability
from franchise.engines.parallel import ParallelEngine

GIB = 2**30


class CUDARuntimeError(RuntimeError):
    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def fake_cupy(
    *,
    status=None,
    devices=1,
    name=b"NVIDIA H200",
    capability=(9, 0),
    memory=139 * GIB,
    driver=12080,
    made_for=12090,
    compiler=(12, 9),
    is_hip=False,
):
    """Return a module that answers as CuPy does; `status` is the error that asking for devices gives."""

    def count():
        if status is not None:
            raise CUDARuntimeError(status, f"cudaErrorOfNumber{status}: as CUDA says it")
        return devices

    def version():
        if isinstance(compiler, Exception):
            raise compiler
        return compiler

    facts = {"name": name, "major": capability[0], "minor": capability[1], "totalGlobalMem": memory}
    cupy = ModuleType("cupy")
    cupy.cuda = SimpleNamespace(
        nvrtc=SimpleNamespace(getVersion=version),
        runtime=SimpleNamespace(
            CUDARuntimeError=CUDARuntimeError,
            is_hip=is_hip,
            getDeviceCount=count,
            getDevice=lambda: 0,
            getDeviceProperties=lambda number: facts,
            driverGetVersion=lambda: driver,
            runtimeGetVersion=lambda: made_for,
        ),
    )
    return cupy


@contextmanager
def with_cupy(monkeypatch, cupy):
    """Let there be this CuPy in the block; None for no CuPy."""
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "cupy", cupy)
        availability._look.cache_clear()
        yield
    availability._look.cache_clear()


class EngineOnGpu(ParallelEngine):
    """Makes the chain of the parallel engine, under the name of the engine that needs a GPU."""

    name: ClassVar[str] = GPU
    at_once: ClassVar[int | None] = 2


def let_there_be_engine(monkeypatch):
    """Let "gpu" be an engine that runs anywhere: what is tested is all that goes on around it."""
    monkeypatch.setitem(ENGINES, GPU, EngineOnGpu)
