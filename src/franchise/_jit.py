"""Every Numba option of the library, in one place.

- No ``fastmath``: sums keep the order in which they are written, so a seed gives the same chain with the
  compiler on and off. (Log densities may differ in the last digit, as Numba's lgamma is not Python's.)
- No explicit signatures: they would compile at import.
- No reference counts (``_nrt``): a kernel that allocates does not compile, and one that takes its arrays in
  NamedTuples would otherwise spend nine tenths of its time counting references to them.
- No entry from Python (``no_cpython_wrapper``) to functions that only kernels call, nor from C to any
  function: code that unpacks fifty arrays, never called, took over a quarter of the time to compile.
- No machine code of helpers: a kernel contains the helpers that it calls, and is optimized with them.
- No garbage collection while something is compiled: it would scan Numba's many objects repeatedly, and find
  nothing.

Some of these options, and the cache below, are not part of Numba's public interface. So only tested
versions are accepted.

Numba's own cache on disk notices a change only in a function's own file. The cache here depends on the
contents of every file that may contain compiled code, so machine code is never older than what it calls.
"""

import gc
import hashlib
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import numba
import numpy as np

from franchise.errors import MissingPackageError

_OLDEST, _NEWEST = (0, 60), (0, 68)  # of Numba; as in pyproject.toml
_PACKAGE = Path(__file__).parent
# Files and folders with kernels, and with the functions and constants that these use.
_SOURCES = [
    "_jit.py",
    "random.py",
    "_arrays.py",
    "model/**/*.py",
    "moves/**/*.py",
    "engines/starts/starting_topics.py",
    "engines/starts/*_steps.py",
    "engines/threads.py",
    "predict/fold_in.py",
    "predict/left_to_right.py",
]

_F = TypeVar("_F", bound=Callable[..., Any])


def _check_version(version: str) -> None:
    """Raise an error unless this version of Numba has been tested."""
    number = re.match(r"(\d+)\.(\d+)", version)
    if number is None or not _OLDEST <= (int(number[1]), int(number[2])) <= _NEWEST:
        oldest, newest = (f"{major}.{minor}" for major, minor in (_OLDEST, _NEWEST))
        too_new = f"{_NEWEST[0]}.{_NEWEST[1] + 1}"
        raise MissingPackageError(
            f"Franchise works with Numba {oldest} to {newest}, but {version} is installed. "
            f'Install another one: pip install "numba>={oldest},<{too_new}"',
            code="numba-version",
            name="numba",
        )


_check_version(numba.__version__)

# Unsigned arithmetic wraps in compiled code; NumPy's scalars would warn about it.
if numba.config.DISABLE_JIT:
    np.seterr(over="ignore")


_OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}


def kernel(function: _F) -> _F:
    """Compile a function that Python calls: cached on disk, and without the interpreter's lock."""
    dispatcher: _Dispatcher = numba.njit(pipeline_class=_compilers()[0], **_OPTIONS)(function)
    if not numba.config.DISABLE_JIT:
        dispatcher._cache = _cache_class()(function)  # as Numba's enable_caching does
    return cast(_F, dispatcher)


def is_cached(function: Callable[..., Any]) -> bool:
    """Return whether machine code of a kernel for the present sources is on disk."""
    return numba.config.DISABLE_JIT or cast(_Dispatcher, function)._cache.is_filled()


@cache
def _compilers() -> tuple[Any, Any]:
    """Return the compilers of kernels and of helpers; that of helpers stops before machine code."""
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler, DefaultPassBuilder
    from numba.core.compiler_machinery import register_pass
    from numba.core.typed_passes import NativeLowering

    class KernelCompiler(Compiler):  # type: ignore[misc]
        def compile_extra(self, function: Callable[..., Any]) -> Any:
            is_on = gc.isenabled()
            gc.disable()
            try:
                return super().compile_extra(function)
            finally:
                if is_on:
                    gc.enable()

    class HelperCode(JITCodeLibrary):  # type: ignore[misc]
        def _optimize_final_module(self) -> None:
            pass  # kernels are optimized together with their helpers

        def _finalize_final_module(self) -> None:
            self._finalized = True

    @register_pass(mutates_CFG=True, analysis_only=False)
    class HelperLowering(NativeLowering):  # type: ignore[misc]
        _name = "helper_lowering"

        def run_pass(self, state: Any) -> bool:
            state.library = HelperCode(state.targetctx.codegen(), state.func_id.func_qualname)
            state.flags.no_compile = True
            super().run_pass(state)
            name = [].append  # type: ignore[var-annotated]  # by which callers find it; Numba wants a built-in
            state.cr = state.cr._replace(cfunc=name)
            state.targetctx.insert_user_function(name, state.cr.fndesc, [state.library])
            return True

    class HelperCompiler(KernelCompiler):
        def define_pipelines(self) -> list[Any]:
            passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
            passes.passes = [
                (HelperLowering, text) if one is NativeLowering else (one, text)
                for one, text in passes.passes
            ]
            passes.finalize()
            return [passes]

    return KernelCompiler, HelperCompiler


class _Dispatcher(Protocol):
    """The private parts of a function compiled by Numba that are used here."""

    _cache: Any


@cache
def _cache_class() -> Any:
    """Return the class of kernels' caches on disk: Numba's own, with another stamp and other file names.

    An index with another stamp counts as empty and is overwritten. The names lack the line number, which
    would leave old files behind after edits.
    """
    from numba.core.caching import FunctionCache, IndexDataCacheFile  # not before the version is known

    class KernelFiles(IndexDataCacheFile):  # type: ignore[misc]
        def _load_index(self) -> Any:
            # The index of another version may name classes that have moved: not even its stamp can be read.
            with suppress(ImportError, AttributeError):
                return super()._load_index()
            return {}

        def is_filled(self) -> bool:
            return bool(self._load_index())

    class KernelCache(FunctionCache):  # type: ignore[misc]
        def __init__(self, function: Callable[..., Any]) -> None:
            super().__init__(function)
            self._cache_file = KernelFiles(
                cache_path=self.cache_path,
                filename_base=self._impl.filename_base.replace(f"-{function.__code__.co_firstlineno}.", "."),
                source_stamp=(self._impl.locator.get_source_stamp(), _DIGEST),
            )

        def is_filled(self) -> bool:
            return self._cache_file.is_filled()

    return KernelCache


def _digest_of_sources() -> str:
    digest = hashlib.sha256()
    for path in sorted(path for pattern in _SOURCES for path in _PACKAGE.glob(pattern)):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(_PACKAGE).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()


# Taken once, before kernels are imported: code compiled after a later edit must not count as up to date.
_DIGEST = _digest_of_sources()


def helper(function: _F) -> _F:
    """Compile a function that kernels call, on its own: for functions with several callers."""
    dispatcher = numba.njit(pipeline_class=_compilers()[1], no_cpython_wrapper=True, **_OPTIONS)(function)
    if not numba.config.DISABLE_JIT:
        dispatcher.__class__ = _helper_class()
    return cast(_F, dispatcher)


@cache
def _helper_class() -> Any:
    """Return the class of helpers: Numba's own, but safe to call from Python, as tests do.

    A helper is not compiled again for a constant argument.
    """
    from numba.core.types.misc import unliteral

    base: Any = type(numba.njit(kernel))

    def call(self: Any, *arguments: Any) -> Any:
        return _with_way_in(self.py_func)(*arguments)  # without one, it would jump to an invalid address

    def get_call_template(self: Any, arguments: Any, keywords: Any) -> Any:
        return base.get_call_template(self, tuple(map(unliteral, arguments)), keywords)

    return type("Helper", (base,), {"__call__": call, "get_call_template": get_call_template})


@cache
def _with_way_in(function: Callable[..., Any]) -> Any:
    return numba.njit(**_OPTIONS)(function)


def inlined(function: _F) -> _F:
    """Make a function part of the one kernel that calls it: it is not compiled on its own."""
    return cast(_F, numba.njit(inline="always", **_OPTIONS)(function))


if numba.config.DISABLE_JIT:

    def prefetch(array: Any, index: int) -> None:
        """Do nothing: without compiled code there is nothing to gain."""

else:
    from numba.extending import intrinsic

    @intrinsic
    def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
        """Load array[index] into the caches; this changes nothing else."""
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
            # Arguments: read, all caches, data.
            builder.call(instruction, [address, flag(0), flag(3), flag(1)])
            return context.get_dummy_value()

        return types.void(array, index), generate
