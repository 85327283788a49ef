"""What a benchmark on a GPU has found, in a JSON file, and the memory that it takes there."""

import argparse
import gc
import json
import platform
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from benchmarks.planted_corpora import array_module
from franchise import __version__


class Report:
    """Figures that are written as they come, so that what is stopped leaves those it had."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._path: Path | None = options.out
        given = vars(options) | {"out": str(options.out) if options.out else None}
        self._all: dict[str, Any] = {"options": given, "machine": machine(), "found": []}

    def add(self, found: dict[str, Any]) -> None:
        """Take what was found next, and write all to the file."""
        self._all["found"].append(found)
        if self._path:
            self._path.write_text(json.dumps(self._all, indent=1) + "\n", encoding="utf-8")


def machine() -> dict[str, Any]:
    """Return what figures are to be read with."""
    xp = array_module()
    gpu = None if xp is np else xp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    return {
        "franchise": __version__,
        "python": platform.python_version(),
        "cores": joblib.cpu_count(),
        "gpu": gpu,
        "cupy": None if xp is np else xp.__version__,
    }


def gpu_bytes() -> int | None:
    """Return the memory of the GPU that is in use, None where there is none."""
    xp = array_module()
    if xp is np:
        return None
    free, total = xp.cuda.runtime.memGetInfo()
    return int(total - free)


def free_memory() -> None:
    """Give back the memory of what has gone: chains that are made next may want all of it."""
    gc.collect()
    xp = array_module()
    if xp is not np:
        xp.get_default_memory_pool().free_all_blocks()
