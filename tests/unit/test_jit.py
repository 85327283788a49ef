"""Compiled code: what can be called, what is kept on disk and until when, and with which Numba."""

import ast
import gc
import os
import pickle
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import numba
import numpy as np
import pytest

from franchise import Chain, _jit, from_tokens
from franchise.errors import MissingPackageError
from franchise.model.likelihood import fill_log_gamma, log_gamma
from franchise.moves.word_tables import word_tables
from franchise.sampling import Timetable
from tests.raising import raises

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "franchise"
CALLEE = """
from franchise._jit import helper

@helper
def factor():
    return {factor}
"""
CALLER = """
from franchise._jit import kernel
from franchise.random import factor

@kernel
def times(x):
    return factor() * x
"""
PROGRAM = "from franchise.model.caller import times; print(times(10), *times.stats.cache_hits.values())"


def test_a_helper_that_kernels_have_compiled_can_be_called():
    Chain(
        from_tokens([["a", "b"], ["b", "c"]]), schedule=Timetable(sweeps=1, burn_in=0), random_state=0
    ).run()
    table = np.zeros(5)
    fill_log_gamma(table, 0.5)
    assert log_gamma(table, 0.5, 3) == table[3] == pytest.approx(1.2009736)  # log Gamma(3.5)


def test_only_kernels_are_kept_on_disk():
    if not hasattr(word_tables, "stats"):
        pytest.skip("the compiler is off")
    assert word_tables.stats.cache_path is not None
    assert log_gamma.stats.cache_path is None


def test_machine_code_is_made_of_kernels_alone():
    if numba.config.DISABLE_JIT:
        pytest.skip("the compiler is off")

    @_jit.helper
    def next_of(x):
        return x + 1

    @numba.njit
    def next_but_one(x):
        return next_of(next_of(x))

    assert next_but_one(5) == 7

    def has_machine_code(function):
        (compiled,) = function.overloads.values()
        return compiled.library.codegen._engine.is_symbol_defined(compiled.fndesc.llvm_func_name)

    assert has_machine_code(next_but_one)
    assert not has_machine_code(next_of)
    assert gc.isenabled()  # it is off while something is compiled


@pytest.fixture
def small_package(tmp_path):
    """Return a folder with a package of one kernel, which calls a helper of another file."""
    package = tmp_path / "franchise"
    (package / "model").mkdir(parents=True)
    for name in ("_jit.py", "errors.py"):
        shutil.copy(PACKAGE / name, package)
    for name in ("__init__.py", "model/__init__.py"):
        (package / name).write_text("")
    (package / "random.py").write_text(CALLEE.format(factor=2))
    (package / "model" / "caller.py").write_text(CALLER)
    return package


@pytest.mark.slow
@pytest.mark.parametrize("is_named", [True, False], ids=["in a folder that is named", "beside the source"])
def test_an_edited_callee_in_another_file_is_compiled_anew(small_package, is_named):
    environment = {**os.environ, "PYTHONPATH": str(small_package.parent), "NUMBA_DISABLE_JIT": "0"}
    cache = small_package.parent / "cache" if is_named else small_package / "model" / "__pycache__"
    environment["NUMBA_CACHE_DIR"] = str(cache) if is_named else ""

    def answer():
        command = [sys.executable, "-c", PROGRAM]
        return subprocess.run(
            command, env=environment, check=True, capture_output=True, text=True
        ).stdout.split()

    def files():
        return sorted(path.name for path in cache.rglob("*.nb?"))

    assert answer() == ["20"]
    kept = files()
    assert answer() == ["20", "1"]  # from the cache
    (small_package / "random.py").write_text(CALLEE.format(factor=3))
    assert answer() == ["30"]
    caller = small_package / "model" / "caller.py"
    caller.write_text("# another line\n" + CALLER)
    assert answer() == ["30"]
    assert files() == kept  # the new code is in the place of the old


def test_all_files_with_compiled_code_count_for_the_cache():
    counted = {path for pattern in _jit._SOURCES for path in PACKAGE.glob(pattern)}
    compiled = [
        path
        for path in PACKAGE.rglob("*.py")
        if re.search("^@(kernel|helper|inlined)$", path.read_text("utf-8"), re.MULTILINE)
    ]
    assert len(compiled) > 20
    for path in compiled:
        needed = imports_of(path) - {"franchise.corpus"}  # from where kernels' files have types only
        assert {path, *map(file_of, needed)} <= counted


def imports_of(path):
    """Return the modules of the package that a file imports from."""
    found = (
        node.module
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
    )
    return {name for name in found if name is not None and name.startswith("franchise.")}


def file_of(module):
    path = PACKAGE.parent.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@pytest.mark.parametrize("version", ["0.59.1", "0.69.0", "0.69.0rc1", "1.0.0", "0+unknown"])
def test_a_numba_that_was_not_tested_is_refused(version, monkeypatch):
    monkeypatch.setattr(numba, "__version__", version)
    command = f'pip install "numba{requirement("numba")}"'
    with raises(MissingPackageError, "numba-version", version, "0.60", "0.68", command) as caught:
        exec((PACKAGE / "_jit.py").read_text("utf-8"), {"__name__": "again", "__file__": _jit.__file__})
    assert isinstance(caught.value, ImportError)


def test_the_tested_numba_is_accepted():
    tested = re.search(r"^numba==(.*)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)[1]
    _jit._check_version(tested)
    assert tested.startswith("{}.{}.".format(*_jit._NEWEST))


def requirement(package):
    """Return what pyproject.toml says of a package's versions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return next(
        one.removeprefix(package) for one in project["dependencies"] if re.match(rf"{package}\b", one)
    )


def test_an_index_that_names_a_vanished_class_counts_as_empty(tmp_path, monkeypatch):
    """An earlier version may have left it, whose types of arguments were in other modules."""
    if numba.config.DISABLE_JIT:
        pytest.skip("the compiler is off")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    source = tmp_path / "doubling.py"
    source.write_text("from franchise._jit import kernel\n\n\n@kernel\ndef double(x):\n    return 2 * x\n")

    def fresh():
        names = {"__name__": "doubling", "__file__": str(source)}
        exec(compile(source.read_text(), source, "exec"), names)
        return names["double"]

    assert fresh()(4) == 8
    assert _jit.is_cached(fresh())
    vanished = ModuleType("vanished")
    vanished.Gone = type("Gone", (), {"__module__": "vanished"})
    (index,) = (tmp_path / "cache").rglob("*.nbi")
    for is_whole_module_gone in (True, False):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "vanished", vanished)
            names_it = pickle.dumps(("a stamp", {vanished.Gone(): "a file"}))
            if not is_whole_module_gone:
                patch.delattr(vanished, "Gone")
            else:
                patch.delitem(sys.modules, "vanished")
            index.write_bytes(pickle.dumps(numba.__version__) + names_it)
            assert not _jit.is_cached(fresh())
            assert fresh()(4) == 8  # and is overwritten
            assert _jit.is_cached(fresh())
