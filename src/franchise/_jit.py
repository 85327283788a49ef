"""Every Numba option of the library, in one place.

No ``fastmath``: sums keep the order in which they are written, so a seed gives the same chain
with the compiler on and off (log densities may differ in the last digit, as Numba's lgamma is not
Python's). No explicit signatures: they would compile at import. No reference
counts (``_nrt``): a kernel that allocates does not compile, and one that takes its arrays in
NamedTuples would otherwise spend nine tenths of its time counting references to them. No way in
from Python (``no_cpython_wrapper``) to what only kernels call, nor from C to anything: code that
unpacks arguments of fifty arrays, which nobody calls, took over a quarter of the time to compile.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

import numba
import numpy as np

_F = TypeVar("_F", bound=Callable[..., Any])

# Unsigned arithmetic wraps in compiled code; NumPy's scalars would warn about it.
if numba.config.DISABLE_JIT:
    np.seterr(over="ignore")


_OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}


def kernel(function: _F) -> _F:
    """Compile a function that Python calls: cached on disk, free of the interpreter's lock."""
    return cast(_F, numba.njit(cache=True, **_OPTIONS)(function))


def helper(function: _F) -> _F:
    """Compile a function that kernels call, on its own: for what is called from several places."""
    dispatcher = numba.njit(no_cpython_wrapper=True, **_OPTIONS)(function)
    if not numba.config.DISABLE_JIT:
        dispatcher.__class__ = _helper_class()
    return cast(_F, dispatcher)


@cache
def _helper_class() -> Any:
    """Return the class of helpers: Numba's own, but safe to call from Python, as tests do."""
    base: Any = type(numba.njit(kernel))

    def call(self: Any, *arguments: Any) -> Any:
        return _with_way_in(self.py_func)(*arguments)  # without one, it would jump to nowhere

    return type("Helper", (base,), {"__call__": call})


@cache
def _with_way_in(function: Callable[..., Any]) -> Any:
    return numba.njit(**_OPTIONS)(function)


def part(function: _F) -> _F:
    """Make a function part of the one kernel that calls it: it is not compiled on its own."""
    return cast(_F, numba.njit(inline="always", **_OPTIONS)(function))


if numba.config.DISABLE_JIT:

    def prefetch(array: Any, index: int) -> None:
        """Do nothing, as there is no compiled code to help."""

else:
    from numba.extending import intrinsic

    @intrinsic
    def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
        """Ask for array[index] to be brought near the processor; it changes nothing else."""
        from llvmlite import ir
        from numba.core import cgutils, types

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array_type, index_type = signature.args
            data = context.make_array(array_type)(context, builder, arguments[0]).data
            place = context.cast(builder, arguments[1], index_type, types.intp)
            address = builder.bitcast(builder.gep(data, [place]), cgutils.voidptr_t)
            flag = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, flag, flag, flag])
            instruction = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            # To read, into all caches, data rather than code.
            builder.call(instruction, [address, flag(0), flag(3), flag(1)])
            return context.get_dummy_value()

        return types.void(array, index), generate
