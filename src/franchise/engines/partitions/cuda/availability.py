"""Which GPU can be used, or why none can and what to do."""

import warnings
from functools import cache
from typing import Any, NamedTuple

from franchise.errors import GpuError

# Error numbers of CUDA's runtime; CuPy has no names for them.
_INSUFFICIENT_DRIVER, _NO_DEVICE = 35, 100
# Older GPUs lack what the kernels need.
_OLDEST = (7, 0)
_INSTALL = 'pip install "franchise[gpu]"'


class GpuFacts(NamedTuple):
    """Name and memory of a usable GPU, for messages."""

    name: str
    memory: int  # bytes
    capability: tuple[int, int]

    def in_words(self) -> str:
        """Return its name and memory as text."""
        return f"{self.name}, {self.memory / 2**30:,.0f} GiB"


def problem() -> GpuError | None:
    """Return why no GPU can be used here, and what to do, or None if one can; it never raises.

    The first call imports CuPy and asks the driver, which takes time. Its result holds for the process.
    """
    found = _look()
    return found if isinstance(found, GpuError) else None


def gpu_facts() -> GpuFacts:
    """Return which GPU would be used.

    Raises
    ------
    GpuError
        If no GPU can be used; the message says why.
    """
    found = _look()
    if isinstance(found, GpuError):
        raise GpuError(str(found), code=found.code)
    return found


def cupy_module() -> Any:
    """Return CuPy if a GPU can be used, else raise GpuError."""
    gpu_facts()
    return _import_cupy()


@cache
def _look() -> GpuFacts | GpuError:
    try:
        cupy = _import_cupy()
        found = _device(cupy)
        _check_compiler(cupy)
        return found
    except GpuError as error:
        return error.with_traceback(None)
    except Exception as error:  # from other libraries, on untested machines
        return GpuError(
            f"the GPU cannot be used ({_line(error)}); see whether nvidia-smi lists it", code="unusable-gpu"
        )


def _import_cupy() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about paths that it does not need
            import cupy
    except ModuleNotFoundError as error:
        if error.name == "cupy":
            raise GpuError(
                f"CuPy, which the GPU engines need, is not installed: {_INSTALL}", code="missing-package"
            ) from None
        raise _not_loaded(error) from None
    except Exception as error:
        raise _not_loaded(error) from None
    if cupy.cuda.runtime.is_hip:
        raise GpuError(
            "the installed CuPy is for AMD's ROCm, but the engine needs an NVIDIA GPU and CuPy for CUDA: "
            f"remove it with pip, then {_INSTALL}",
            code="unusable-cupy",
        )
    return cupy


def _not_loaded(error: Exception) -> GpuError:
    cause = error.__cause__ if isinstance(error.__cause__, Exception) else error
    return GpuError(
        f"CuPy is installed but cannot be loaded ({_line(cause)}): it is broken, installed twice, or for "
        "another CUDA version; remove every package that `pip list` shows as cupy..., then "
        f"{_INSTALL}",
        code="unusable-cupy",
    )


def _device(cupy: Any) -> GpuFacts:
    runtime = cupy.cuda.runtime
    try:
        number = runtime.getDeviceCount()
    except runtime.CUDARuntimeError as error:
        raise _no_device(runtime, error) from None
    if not number:
        raise GpuError(_NOT_VISIBLE, code="no-gpu")
    facts = runtime.getDeviceProperties(runtime.getDevice())
    name = facts["name"]
    name = name.decode(errors="replace") if isinstance(name, bytes) else str(name)
    capability = int(facts["major"]), int(facts["minor"])
    if capability < _OLDEST:
        raise GpuError(
            f"{name} is too old: it has compute capability {_version(capability)}, but the engine needs "
            f"{_version(_OLDEST)} (NVIDIA's GPUs since Volta, 2017)",
            code="gpu-too-old",
        )
    return GpuFacts(name, int(facts["totalGlobalMem"]), capability)


_NOT_VISIBLE = (
    "no GPU is visible: there is none, CUDA_VISIBLE_DEVICES hides it, or the container was started "
    "without it (docker run --gpus all)"
)


def _no_device(runtime: Any, error: Exception) -> GpuError:
    status = getattr(error, "status", None)
    if status == _NO_DEVICE:
        return GpuError(_NOT_VISIBLE, code="no-gpu")
    if status != _INSUFFICIENT_DRIVER:
        return GpuError(
            f"the GPU does not answer ({_line(error)}); see whether nvidia-smi lists it", code="unusable-gpu"
        )
    driver = _cuda(runtime.driverGetVersion())
    if driver == (0, 0):
        return GpuError(
            "there is no NVIDIA driver: this machine has no GPU, its driver is not installed, or the "
            "container was started without it (docker run --gpus all)",
            code="no-gpu",
        )
    made_for = _cuda(runtime.runtimeGetVersion())
    older = f", or install CuPy for CUDA {driver[0]}" if driver[0] < made_for[0] else ""
    return GpuError(
        f"the NVIDIA driver is too old: it supports CUDA up to {_version(driver)}, but CuPy here is made for "
        f"{_version(made_for)}; update the driver{older}",
        code="gpu-driver-too-old",
    )


def _check_compiler(cupy: Any) -> None:
    """Check that kernels can be compiled, by the driver's version of CUDA or an older one."""
    try:
        compiler = tuple(cupy.cuda.nvrtc.getVersion())
    except Exception as error:
        raise GpuError(
            f"CUDA's compiler for kernels, NVRTC, is missing ({_line(error)}): install it with {_INSTALL} or "
            "with a CUDA toolkit",
            code="no-cuda-compiler",
        ) from None
    driver = _cuda(cupy.cuda.runtime.driverGetVersion())
    if compiler[0] > driver[0]:
        raise GpuError(
            f"CUDA's compiler for kernels, NVRTC, is from CUDA {_version(compiler)}, but the NVIDIA driver "
            f"supports CUDA up to {_version(driver)}: update the driver, or install a toolkit and CuPy "
            f"for CUDA {driver[0]}",
            code="gpu-driver-too-old",
        )


def _cuda(number: int) -> tuple[int, int]:
    """Return a CUDA version from its number, such as 12090."""
    return number // 1000, number % 1000 // 10


def _version(parts: tuple[int, ...]) -> str:
    return ".".join(map(str, parts))


def _line(error: Exception) -> str:
    """Return the first line with content of an error, which may have pages."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" =-\t")]
    return lines[0] if lines else type(error).__name__
