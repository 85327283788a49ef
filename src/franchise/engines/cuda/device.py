"""Stands in for the device until the engine has one."""

from franchise.engines.cuda.availability import gpu, problem

__all__ = ["device", "problem"]


def device() -> object:
    """Return the GPU; GpuError where there is none."""
    return gpu()
