"""One specialization per kernel, whatever the corpus: a second one would compile on the user's machine."""

import re
import subprocess
import sys
from pathlib import Path

import numba
import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def lines():
    """What `every_kernel` prints, in a process of its own: other tests call kernels with arrays of theirs."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.unit.moves.every_kernel"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_one_specialisation_a_kernel(lines):
    assert [line for line in lines if not line.startswith("1 ")] == []


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_every_kernel_is_found(lines):
    """As many as the sources say."""
    sources = (ROOT / "src" / "franchise").rglob("*.py")
    names = [name for path in sources for name in re.findall(r"@kernel\ndef (\w+)", path.read_text())]
    assert sorted(line.split(" | ")[1].rsplit(".", 1)[-1] for line in lines) == sorted(names)
