"""What every test shares: the kernels' cache, the seed, Hypothesis's settings."""

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent


# Numba reads this on import: it must be set before any test module is imported.
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".cache" / "numba"))

# Ctrl-C is tested; a shell that starts the tests in the background has it ignored.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# These need signals, forks, terminals or memory counts that only Unix has; single tests are marked `unix`.
if sys.platform == "win32":
    collect_ignore = [
        "tests/integration/cluster",
        "tests/integration/test_interrupt.py",
        "tests/integration/test_kill.py",
        "tests/integration/test_terminal.py",
        "tests/unit/corpus/test_reading_fuzz.py",
        "tests/unit/corpus/test_reading_memory.py",
    ]

SEED = int(os.environ.get("FRANCHISE_TEST_SEED", "20120109"))

settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


def pytest_report_header() -> str:
    return f"FRANCHISE_TEST_SEED={SEED}"


# The first file compiles what most others need; meanwhile the second process runs tests that need no kernel,
# so that nothing is compiled twice. Then comes what takes long, so that no process is left alone with it.
FIRST = (
    "unit/estimator/test_model.py",
    "unit/report/test_figures",
    "unit/posterior/test_diagnostics.py",
    "unit/corpus/test_reading.py",
    "unit/corpus/test_count_formats.py",
    "unit/corpus/test_texts.py",
    "unit/corpus/test_sharded.py",
    "integration/cluster/",
    "integration/",
)


def pytest_collection_modifyitems(items):
    def rank(item) -> int:
        return next((i for i, name in enumerate(FIRST) if f"tests/{name}" in item.nodeid), len(FIRST))

    items.sort(key=rank)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each process whole files, and one process all tests of the cluster."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return "cluster" if "integration/cluster/" in file else file

    return ByFile(config, log)


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
