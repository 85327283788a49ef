"""The package's own files, for tests that inject faults into their lines.

A path with "franchise" in it is not enough: in a clone of that name all of .venv matches, and an error raised
inside Numba's own Python code is a segmentation fault. Lines that Numba calls while it compiles or loads code
(`franchise._jit`) run once in a process, and are left alone too.
"""

import os
from pathlib import Path

import franchise

_PACKAGE = f"{Path(franchise.__file__).parent}{os.sep}"


def may_fail(path: str) -> bool:
    """Return whether faults may be injected into the lines of a file."""
    return path.startswith(_PACKAGE) and path != f"{_PACKAGE}_jit.py"
