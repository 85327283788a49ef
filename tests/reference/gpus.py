"""GPUs that are not there: a stand-in for CuPy, and an engine under the name of the one that needs a GPU."""

import sys
from contextlib import contextmanager
from functools import partial
from threading import local
from types import ModuleType, SimpleNamespace

from franchise.engines import ENGINES, GPU, EngineKind
from franchise.engines.kinds import Kind
from franchise.engines.partially_collapsed import PartiallyCollapsedEngine
from franchise.engines.partitions.cuda import availability

# Makes the chain of the parallel engine, under the name of the engine that needs a GPU.
ON_GPU = Kind(GPU, "host", at_once=2)
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

    class Device:
        """The current device by default; which one that is, each thread says for itself."""

        def __init__(self, number=None):
            self.id = current() if number is None else number

        def use(self):
            own.number = self.id

    def current():
        return getattr(own, "number", 0)

    own = local()
    facts = {"name": name, "major": capability[0], "minor": capability[1], "totalGlobalMem": memory}
    cupy = ModuleType("cupy")
    cupy.cuda = SimpleNamespace(
        Device=Device,
        nvrtc=SimpleNamespace(getVersion=version),
        runtime=SimpleNamespace(
            CUDARuntimeError=CUDARuntimeError,
            is_hip=is_hip,
            getDeviceCount=count,
            getDevice=current,
            getDeviceProperties=lambda number: facts,
            driverGetVersion=lambda: driver,
            runtimeGetVersion=lambda: made_for,
        ),
    )
    return cupy


@contextmanager
def with_cupy(monkeypatch, cupy):
    """Let there be this CuPy in the block; None for no CuPy. Yield what undoes further patches with it."""
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "cupy", cupy)
        availability._look.cache_clear()
        yield patch
    availability._look.cache_clear()


def let_there_be_engine(monkeypatch):
    """Let "gpu" be an engine that runs anywhere, to test everything around it."""
    new = partial(PartiallyCollapsedEngine, ON_GPU)
    monkeypatch.setitem(ENGINES, GPU, EngineKind(GPU, new, ON_GPU.at_once))
