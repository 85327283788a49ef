"""A GPU: its memory, and the kernels that run on it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, Protocol

import numpy as np

from franchise._arrays import Array
from franchise.engines.partitions.cuda.availability import cupy_module, problem
from franchise.engines.partitions.cuda.source import BLOCK, FEW, NEAR, kernel_source
from franchise.errors import GpuError
from franchise.random import Key

_MOST_BLOCKS = 2**31 - 1
_BLOCKS_EACH = 8  # per processor, for long items: more than run at a time
# Round as the host does (IEEE): no fused multiply-add, no approximations.
_OPTIONS = ("--std=c++14", "--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false")
_FAST_BYTES = BLOCK * NEAR * 12 + FEW * 4  # for lists of topics, and sizes of tables
SEATS_AT_ONCE = 1 << 28  # bytes for the sizes of tables that threads are counting


class Device(Protocol):
    """Where arrays lie and kernels run: a GPU, or the host in tests."""

    xp: Any  # the module of its arrays, like NumPy

    def put(self, array: Array) -> Any:
        """Return a copy of an array on the device."""

    def get(self, array: Any) -> Array:
        """Return a copy of an array on the host."""

    def launch(self, kernel: str, n: int, *arguments: Any) -> None:
        """Run a kernel for n items; integers are 64-bit, other numbers are doubles, None is no array."""

    def launch_with_lists(self, kernel: str, n: int, *arguments: Any, threads: int = 0) -> None:
        """Run a kernel that lists topics or sizes in fast memory; `threads` sets the number of threads."""

    def threads_for(self, longest: int, at_once: int = SEATS_AT_ONCE) -> int:
        """Return the number of threads that can seat topics of `longest` words in `at_once` bytes."""

    def free_bytes(self) -> int:
        """Return the free memory."""


class Gpu:
    """The GPU that CuPy uses at present."""

    def __init__(self) -> None:
        cupy = cupy_module()
        self.xp = cupy
        self._kernels: dict[str, Any] = {}
        self._module = cupy.RawModule(code=kernel_source(), options=_OPTIONS)
        self._processors = int(cupy.cuda.Device().attributes["MultiProcessorCount"])

    def put(self, array: Array) -> Any:
        """Return a copy of an array on the device."""
        return self.xp.asarray(array)

    def get(self, array: Any) -> Array:
        """Return a copy of an array on the host."""
        return np.asarray(self.xp.asnumpy(array))

    def launch(self, kernel: str, n: int, *arguments: Any) -> None:
        """Run a kernel for n items."""
        if n > 0:
            self._run(kernel, min(-(-n // BLOCK), _MOST_BLOCKS), n, arguments, 0)

    def launch_with_lists(self, kernel: str, n: int, *arguments: Any, threads: int = 0) -> None:
        """Run a kernel that lists topics or sizes in fast memory; `threads` sets the number of threads."""
        if n > 0:
            blocks = threads // BLOCK or min(-(-n // BLOCK), _BLOCKS_EACH * self._processors)
            self._run(kernel, blocks, n, arguments, _FAST_BYTES)

    def threads_for(self, longest: int, at_once: int = SEATS_AT_ONCE) -> int:
        """Return the number of threads that can seat topics of `longest` words in `at_once` bytes."""
        blocks = min(_BLOCKS_EACH * self._processors, at_once // (4 * BLOCK * max(1, longest)))
        return max(1, blocks) * BLOCK

    def _run(self, kernel: str, blocks: int, n: int, arguments: tuple[Any, ...], shared: int) -> None:
        if kernel not in self._kernels:
            self._kernels[kernel] = self._module.get_function(kernel)
            if shared:
                self._kernels[kernel].max_dynamic_shared_size_bytes = shared
        given = (np.int64(n), *(_as_argument(one) for one in arguments))
        self._kernels[kernel]((blocks,), (BLOCK,), given, shared_mem=shared)

    def free_bytes(self) -> int:
        """Return the free memory."""
        free, _ = self.xp.cuda.Device().mem_info
        pool = self.xp.get_default_memory_pool()
        free = int(free) + int(pool.free_bytes())
        limit = int(pool.get_limit())
        return min(free, limit - int(pool.used_bytes())) if limit else free


def _as_argument(value: Any) -> Any:
    if value is None:
        return np.uint64(0)
    if isinstance(value, float):
        return np.float64(value)
    return np.int64(value) if isinstance(value, int) else value


# The purposes of random numbers: one number for each, never reused.
PURPOSES: Mapping[str, int] = {"terms": 0, "words": 1, "seats": 2, "theta": 3, "long words": 4, "start": 5}


def counter_key(key: Key, purpose: str, turn: int = 0) -> np.uint64:
    """Return the key of the numbers that a kernel draws by counter; `key` and `purpose` name them.

    The item and the counter complete the name, so the order of draws does not matter.
    """
    counter = [PURPOSES[purpose], key.sweep, key.move, 1 + turn]
    return np.uint64(np.random.Philox(key=[key.seed, key.chain], counter=counter).random_raw())


@contextmanager
def memory_in_words() -> Iterator[None]:
    """Raise an error with advice if the memory of a GPU runs out in this block."""
    try:
        yield
    except MemoryError as error:
        if not type(error).__module__.startswith("cupy"):
            raise  # the memory of the machine
        raise GpuError(
            f"the memory of the GPU does not suffice ({error}): check what else runs on it (nvidia-smi), "
            "leave out rare terms (--min-df), or use engine='parallel'. What was saved is complete, "
            "and `resume` continues it",
            code="gpu-memory",
        ) from error


def gpu() -> Gpu:
    """Return the GPU that CuPy uses in this thread; its kernels are compiled once."""
    return _gpu_numbered(int(cupy_module().cuda.runtime.getDevice()))


@cache
def _gpu_numbered(number: int) -> Gpu:
    return Gpu()


def choice_of_gpu() -> Callable[[], object] | None:
    """Return a function that makes another thread use this thread's GPU, which CuPy sets per thread.

    None without a GPU.
    """
    return None if problem() else cupy_module().cuda.Device().use
