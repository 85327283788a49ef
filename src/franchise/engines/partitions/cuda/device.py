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
_BLOCKS_EACH = 8  # for every processor, where items take long: more than it has at a time
# As IEEE numbers are rounded on the host: no product and sum in one, no short cuts.
_OPTIONS = ("--std=c++14", "--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false")
_FAST_BYTES = BLOCK * NEAR * 12 + FEW * 4  # for lists of topics, and sizes of tables
SEATS_AT_ONCE = 1 << 28  # bytes for the sizes of tables that threads are counting


class Device(Protocol):
    """Where arrays lie and kernels run; a GPU, or, in tests, the host."""

    xp: Any  # the module of its arrays, like NumPy

    def put(self, array: Array) -> Any:
        """Return a copy of an array there."""

    def get(self, array: Any) -> Array:
        """Return a copy of an array here."""

    def launch(self, kernel: str, n: int, *arguments: Any) -> None:
        """Run a kernel for n items. Whole numbers are 64-bit, others are doubles; None is no array."""

    def launch_with_lists(self, kernel: str, n: int, *arguments: Any, threads: int = 0) -> None:
        """Run a kernel that lists topics or sizes in fast memory, in so many threads, if they are given."""

    def threads_for(self, longest: int, at_once: int = SEATS_AT_ONCE) -> int:
        """Return in how many threads to seat topics of so many words, in so many bytes for all."""

    def free_bytes(self) -> int:
        """Return the memory that is still to be had."""


class Gpu:
    """The GPU that CuPy uses at present."""

    def __init__(self) -> None:
        cupy = cupy_module()
        self.xp = cupy
        self._kernels: dict[str, Any] = {}
        self._module = cupy.RawModule(code=kernel_source(), options=_OPTIONS)
        self._processors = int(cupy.cuda.Device().attributes["MultiProcessorCount"])

    def put(self, array: Array) -> Any:
        """Return a copy of an array there."""
        return self.xp.asarray(array)

    def get(self, array: Any) -> Array:
        """Return a copy of an array here."""
        return np.asarray(self.xp.asnumpy(array))

    def launch(self, kernel: str, n: int, *arguments: Any) -> None:
        """Run a kernel for n items."""
        if n > 0:
            self._run(kernel, min(-(-n // BLOCK), _MOST_BLOCKS), n, arguments, 0)

    def launch_with_lists(self, kernel: str, n: int, *arguments: Any, threads: int = 0) -> None:
        """Run a kernel that lists topics or sizes in fast memory, in so many threads, if they are given."""
        if n > 0:
            blocks = threads // BLOCK or min(-(-n // BLOCK), _BLOCKS_EACH * self._processors)
            self._run(kernel, blocks, n, arguments, _FAST_BYTES)

    def threads_for(self, longest: int, at_once: int = SEATS_AT_ONCE) -> int:
        """Return in how many threads to seat topics of so many words, in so many bytes for all."""
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
        """Return the memory that is still to be had."""
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


# What numbers are drawn for: one for each, never used again.
PURPOSES: Mapping[str, int] = {"terms": 0, "words": 1, "seats": 2, "theta": 3, "long words": 4, "start": 5}


def counter_key(key: Key, purpose: str, turn: int = 0) -> np.uint64:
    """Return the key of the numbers that a kernel draws by counter; `key` names them with their purpose.

    The item and the counter complete the name, so they are drawn in any order.
    """
    counter = [PURPOSES[purpose], key.sweep, key.move, 1 + turn]
    return np.uint64(np.random.Philox(key=[key.seed, key.chain], counter=counter).random_raw())


@contextmanager
def memory_in_words() -> Iterator[None]:
    """Say what to do where the memory of a GPU does not suffice in this block."""
    try:
        yield
    except MemoryError as error:
        if not type(error).__module__.startswith("cupy"):
            raise  # that of the machine
        raise GpuError(
            f"the memory of the GPU does not suffice ({error}): see what else runs on it (nvidia-smi), "
            "leave out rare terms (--min-df), or use engine='parallel'; what was saved is whole, and resume "
            "goes on",
            code="gpu-memory",
        ) from error


def gpu() -> Gpu:
    """Return the GPU that CuPy uses in this thread; its kernels are compiled once."""
    return _gpu_numbered(int(cupy_module().cuda.runtime.getDevice()))


@cache
def _gpu_numbered(number: int) -> Gpu:
    return Gpu()


def choice_of_gpu() -> Callable[[], object] | None:
    """Return what makes another thread use the GPU that this one uses, which CuPy sets for each thread.

    None without a GPU.
    """
    return None if problem() else cupy_module().cuda.Device().use
