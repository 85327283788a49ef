"""What every test shares: the kernels' cache, the seed, Hypothesis's settings."""

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent


# Numba reads this on import: it must be set before any test module is imported.
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".cache" / "numba"))

# Ctrl-C is tested; a shell that starts the tests in the background has it ignored.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# These are about signals, forks, terminals and memory as only Unix has them; single tests are marked `unix`.
if sys.platform == "win32":
    collect_ignore = [
        "integration/test_interrupt.py",
        "integration/test_kill.py",
        "integration/test_predict_on_ray.py",
        "integration/test_ray.py",
        "integration/test_ray_fit.py",
        "integration/test_terminal.py",
        "unit/corpus/test_readers_fuzz.py",
        "unit/corpus/test_reading_memory.py",
    ]

SEED = int(os.environ.get("FRANCHISE_TEST_SEED", "20120109"))

settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


def pytest_report_header() -> str:
    return f"FRANCHISE_TEST_SEED={SEED}"


def pytest_runtest_setup(item):
    if sys.platform == "win32" and item.get_closest_marker("unix"):
        pytest.skip("Windows has no such signals and locks")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Name the seed beside the failure of a test that used it."""
    report = yield
    if report.failed and "seed" in getattr(item, "fixturenames", ()):
        report.sections.append(("seed", f"repeat with FRANCHISE_TEST_SEED={SEED}"))
    return report


@pytest.fixture
def seed() -> int:
    """Seed of the random tests; set FRANCHISE_TEST_SEED to try another."""
    return SEED


@pytest.fixture(scope="module")
def ray_cluster():
    """Start a Ray cluster of two nodes with two CPUs each, for the tests of a file."""
    from tests.ray_cluster import two_nodes

    with two_nodes() as cluster:
        yield cluster
