"""What made the results: settings, versions, seeds; and, apart, the machine that timed them."""

import json
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import joblib

from experiments.runs import Outcome
from experiments.tables import TIMINGS
from franchise import __version__

_PACKAGES = ("numpy", "scipy", "numba", "pandas", "matplotlib")


def write_settings(folder: Path, name: str, size: str, outcomes: Sequence[Outcome], planned: int) -> None:
    """Write what all runs of an experiment have in common, and the values of what they differ in."""
    settings: dict[str, list[Any]] = {}
    for one in outcomes:
        for key, value in one.settings.items():
            values = settings.setdefault(key, [])
            if value not in values:
                values.append(value)
    common = {key: values[0] for key, values in settings.items() if len(values) == 1}
    varied = {key: values for key, values in settings.items() if len(values) > 1}
    facts = {
        "command": f"python -m experiments {name} --{size}",
        "versions": {"franchise": __version__, "python": platform.python_version()}
        | {package: version(package) for package in _PACKAGES},
        "runs": {"planned": planned, "finished": len(outcomes)},
        "settings": common,
        "varied": varied,
    }
    _write(folder / f"{name}_settings.json", facts)


def write_machine(folder: Path) -> None:
    """Write what the timings were taken on."""
    facts = {
        "processor": _processor(),
        "cores": joblib.cpu_count(),
        "system": platform.system(),
        "byteorder": sys.byteorder,
    }
    _write(folder / TIMINGS / "machine.json", facts)


def _processor() -> str:
    """Return the name of the processor, where the system says it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _write(path: Path, facts: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
