"""The kernels of the GPU engine on the host: the same source, compiled by the C++ compiler of the machine."""

import ctypes
import shutil
import subprocess
import tempfile
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from franchise.engines.partitions.cuda.source import kernel_source

COMPILER = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler on this machine")


@cache
def _library(source: str) -> ctypes.CDLL:
    folder = Path(tempfile.gettempdir()) / "franchise-host-kernels"
    folder.mkdir(exist_ok=True)
    path = folder / f"{sha256(source.encode()).hexdigest()[:16]}.so"
    if not path.exists():
        new = Path(tempfile.mkdtemp(dir=folder))
        (new / "kernels.cpp").write_text(source)
        flags = ["-O2", "-ffp-contract=off", "-shared", "-fPIC", "-std=c++14", "-Wno-unknown-pragmas"]
        command = [COMPILER, *flags, "-o", str(new / "kernels.so"), str(new / "kernels.cpp")]
        subprocess.run(command, check=True, capture_output=True)
        (new / "kernels.so").replace(path)
    return ctypes.CDLL(str(path))


class HostDevice:
    """What `franchise.engines.partitions.cuda.device.Device` describes, one thread at a time.

    Parameters
    ----------
    source
        Of the kernels, where they are not to be those of the package.
    """

    xp = np

    def __init__(self, source: str | None = None) -> None:
        self._library = _library(kernel_source() if source is None else source)

    def put(self, array: Any) -> Any:
        return np.array(array)

    def get(self, array: Any) -> Any:
        return np.array(array)

    def launch(self, kernel: str, n: int, *arguments: Any) -> None:
        given = [_as_argument(one) for one in (int(n), *arguments)]
        getattr(self._library, kernel)(*given)

    def launch_with_lists(self, kernel: str, n: int, *arguments: Any, threads: int = 0) -> None:
        self.launch(kernel, n, *arguments)

    def threads_for(self, longest: int, at_once: int = 0) -> int:
        return 1

    def free_bytes(self) -> int:
        return 1 << 40


def _as_argument(value: Any) -> Any:
    if value is None:
        return ctypes.c_void_p(0)
    if isinstance(value, np.ndarray):
        assert value.flags.c_contiguous
        return ctypes.c_void_p(value.ctypes.data)
    if isinstance(value, np.uint64):
        return ctypes.c_uint64(int(value))
    if isinstance(value, (float, np.floating)):
        return ctypes.c_double(value)
    return ctypes.c_int64(int(value))
