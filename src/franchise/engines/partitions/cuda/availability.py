"""Whether there is a GPU that can be used, which one, and, if there is none, why not and what to do."""

import warnings
from functools import cache
from typing import Any, NamedTuple

from franchise.errors import GpuError

# Of CUDA's runtime, which CuPy gives as numbers only.
_INSUFFICIENT_DRIVER, _NO_DEVICE = 35, 100
# Older ones lack what the kernels are written with.
_OLDEST = (7, 0)
_INSTALL = 'pip install "franchise[gpu]"'


class GpuFacts(NamedTuple):
    """What people know a GPU by, of one that can be used."""

    name: str
    memory: int  # bytes
    capability: tuple[int, int]

    def in_words(self) -> str:
        """Return its name and memory, as people know them."""
        return f"{self.name}, {self.memory / 2**30:,.0f} GiB"


def problem() -> GpuError | None:
    """Return why no GPU can be used here, and what to do, or None if one can; it never raises.

    Only the first call takes time: it imports CuPy and asks the driver. What it found holds for the process.
    """
    found = _look()
    return found if isinstance(found, GpuError) else None


def gpu_facts() -> GpuFacts:
    """Return which GPU would be used.

    Raises
    ------
    GpuError
        If there is none that can be; it says why.
    """
    found = _look()
    if isinstance(found, GpuError):
        raise GpuError(str(found), code=found.code)
    return found


def cupy_module() -> Any:
    """Return CuPy, if there is a GPU that can be used (else GpuError)."""
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
    except Exception as error:  # others' libraries, on untested machines
        return GpuError(
            f"the GPU cannot be used ({_line(error)}); look whether nvidia-smi lists it", code="unusable-gpu"
        )


def _import_cupy() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of paths it can do without
            import cupy
    except ModuleNotFoundError as error:
        if error.name == "cupy":
            raise GpuError(
                f"CuPy, which a GPU is used with, is not installed: {_INSTALL}", code="missing-package"
            ) from None
        raise _not_loaded(error) from None
    except Exception as error:
        raise _not_loaded(error) from None
    if cupy.cuda.runtime.is_hip:
        raise GpuError(
            "CuPy is here, but made for AMD's ROCm; the engine needs an NVIDIA GPU, and CuPy made for CUDA: "
            f"remove it with pip, then {_INSTALL}",
            code="unusable-cupy",
        )
    return cupy


def _not_loaded(error: Exception) -> GpuError:
    cause = error.__cause__ if isinstance(error.__cause__, Exception) else error
    return GpuError(
        f"CuPy is installed but cannot be loaded ({_line(cause)}): it is broken, there is more than one, or "
        "it was made for another CUDA than the one here; remove what `pip list` shows as cupy..., then "
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
            f"{name} is too old: it has compute capability {_version(capability)}, and at least "
            f"{_version(_OLDEST)} is needed (NVIDIA's GPUs since Volta, of 2017)",
            code="gpu-too-old",
        )
    return GpuFacts(name, int(facts["totalGlobalMem"]), capability)


_NOT_VISIBLE = (
    "no GPU is visible: there is none, or CUDA_VISIBLE_DEVICES hides it, or the container was started "
    "without it (docker run --gpus all)"
)


def _no_device(runtime: Any, error: Exception) -> GpuError:
    status = getattr(error, "status", None)
    if status == _NO_DEVICE:
        return GpuError(_NOT_VISIBLE, code="no-gpu")
    if status != _INSUFFICIENT_DRIVER:
        return GpuError(
            f"the GPU does not answer ({_line(error)}); look whether nvidia-smi lists it", code="unusable-gpu"
        )
    driver = _cuda(runtime.driverGetVersion())
    if driver == (0, 0):
        return GpuError(
            "there is no NVIDIA driver: this machine has no GPU, or its driver is not installed, or the "
            "container was started without it (docker run --gpus all)",
            code="no-gpu",
        )
    made_for = _cuda(runtime.runtimeGetVersion())
    older = f", or take CuPy for CUDA {driver[0]}" if driver[0] < made_for[0] else ""
    return GpuError(
        f"the NVIDIA driver is too old: it knows CUDA up to {_version(driver)}, and CuPy here was made for "
        f"{_version(made_for)}; bring the driver up to date{older}",
        code="gpu-driver-too-old",
    )


def _check_compiler(cupy: Any) -> None:
    """See to it that kernels can be compiled, by the CUDA of the driver or an older one."""
    try:
        compiler = tuple(cupy.cuda.nvrtc.getVersion())
    except Exception as error:
        raise GpuError(
            f"CUDA's compiler for kernels, NVRTC, is not there ({_line(error)}): {_INSTALL} brings it along, "
            "and so does a CUDA toolkit",
            code="no-cuda-compiler",
        ) from None
    driver = _cuda(cupy.cuda.runtime.driverGetVersion())
    if compiler[0] > driver[0]:
        raise GpuError(
            f"CUDA's compiler for kernels, NVRTC, is of CUDA {_version(compiler)}, and the NVIDIA driver "
            f"knows CUDA up to {_version(driver)}: bring the driver up to date, or take a toolkit and CuPy "
            f"for CUDA {driver[0]}",
            code="gpu-driver-too-old",
        )


def _cuda(number: int) -> tuple[int, int]:
    """Return a version of CUDA, which it writes as 12090."""
    return number // 1000, number % 1000 // 10


def _version(parts: tuple[int, ...]) -> str:
    return ".".join(map(str, parts))


def _line(error: Exception) -> str:
    """Return the first line that says something of an error, which may have pages."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" =-\t")]
    return lines[0] if lines else type(error).__name__
