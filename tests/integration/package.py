"""The package's own folder, for tests that inject faults into its lines.

A path with "franchise" in it is not enough: in a clone of that name all of .venv matches, and an error raised
inside Numba's own Python code is a segmentation fault.
"""

import os
from pathlib import Path

import franchise

PACKAGE = f"{Path(franchise.__file__).parent}{os.sep}"
