"""A GPU: its memory, and the kernels that run on it."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Protocol

import numpy as np

from franchise.engines.cuda.source import FEW, NEAR, kernel_source
from franchise.model.state import Array
from franchise.random import Key

_BLOCK = 256  # threads
_MOST_BLOCKS = 2**31 - 1
# As IEEE numbers are rounded on the host: no product and sum in one, no short cuts.
_OPTIONS = ("--std=c++14", "--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false")
_SCRATCH = 1 << 30  # bytes for what documents have more than fits into fast memory


class Device(Protocol):
    """Where arrays lie and kernels run; a GPU, or, in tests, the host."""

    xp: Any  # the module of its arrays, like NumPy

    def put(self, array: Array) -> Any:
        """Return a copy of an array there."""

    def get(self, array: Any) -> Array:
        """Return a copy of an array here."""

    def launch(self, kernel: str, n: int, *arguments: Any) -> None:
        """Run a kernel for n items. Whole numbers are 64-bit, others are doubles; None is no array."""

    def lists(self, n: int, room: int) -> int:
        """Return how many threads `launch_with_lists` takes for n documents of so many words."""

    def launch_with_lists(self, kernel: str, n: int, threads: int, *arguments: Any) -> None:
        """Run a kernel that lists the topics of documents, in so many threads."""

    def free_bytes(self) -> int:
        """Return the memory that is still to be had."""


class Gpu:
    """The GPU that CuPy uses at present."""

    def __init__(self) -> None:
        import cupy

        self.xp = cupy
        self._kernels: dict[str, Any] = {}
        self._module = cupy.RawModule(code=kernel_source(), options=_OPTIONS)
        self._processors = cupy.cuda.Device().attributes["MultiProcessorCount"]

    def put(self, array: Array) -> Any:
        """Return a copy of an array there."""
        return self.xp.asarray(array)

    def get(self, array: Any) -> Array:
        """Return a copy of an array here."""
        return np.asarray(self.xp.asnumpy(array))

    def launch(self, kernel: str, n: int, *arguments: Any) -> None:
        """Run a kernel for n items."""
        if n > 0:
            self._run(kernel, min(-(-n // _BLOCK), _MOST_BLOCKS), n, arguments, 0)

    def lists(self, n: int, room: int) -> int:
        """Return how many threads `launch_with_lists` takes for n documents of so many words."""
        blocks = min(-(-n // _BLOCK), 4 * self._processors, max(1, _SCRATCH // (8 * max(1, room) * _BLOCK)))
        return blocks * _BLOCK

    def launch_with_lists(self, kernel: str, n: int, threads: int, *arguments: Any) -> None:
        """Run a kernel that lists the topics of documents."""
        if n > 0:
            self._run(kernel, threads // _BLOCK, n, arguments, 4 * (2 * NEAR * _BLOCK + FEW))

    def _run(self, kernel: str, blocks: int, n: int, arguments: tuple[Any, ...], shared: int) -> None:
        if kernel not in self._kernels:
            self._kernels[kernel] = self._module.get_function(kernel)
        given = (np.int64(n), *(_as_argument(one) for one in arguments))
        self._kernels[kernel]((blocks,), (_BLOCK,), given, shared_mem=shared)

    def free_bytes(self) -> int:
        """Return the memory that is still to be had."""
        free, _ = self.xp.cuda.Device().mem_info
        return int(free) + int(self.xp.get_default_memory_pool().free_bytes())


def _as_argument(value: Any) -> Any:
    if value is None:
        return np.uint64(0)
    if isinstance(value, float):
        return np.float64(value)
    return np.int64(value) if isinstance(value, int) else value


# What numbers are drawn for: one for each, never used again.
PURPOSES: Mapping[str, int] = {"terms": 0, "words": 1, "seats": 2, "theta": 3, "long words": 4}


def counter_key(key: Key, purpose: str, turn: int = 0) -> np.uint64:
    """Return the key of the numbers that a kernel draws by counter; `key` names them with their purpose.

    The item and the counter complete the name, so they are drawn in any order.
    """
    counter = [PURPOSES[purpose], key.sweep, key.move, 1 + turn]
    return np.uint64(np.random.Philox(key=[key.seed, key.chain], counter=counter).random_raw())


@cache
def gpu() -> Gpu:
    """Return the GPU; its kernels are compiled once."""
    return Gpu()
