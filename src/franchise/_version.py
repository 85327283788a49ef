"""Versions: of file formats, of Python and of libraries."""

import platform
from importlib.metadata import version
from pathlib import Path

from franchise._files import Facts
from franchise.errors import ModelError

VERSION = 6
_LIBRARIES = ("franchise", "numpy", "scipy", "numba", "scikit-learn")


def check_version(path: Path, facts: Facts) -> None:
    """Refuse files of a version that this library does not know."""
    found = facts.get("version")
    if not isinstance(found, int) or found < 1:
        raise ModelError(
            f"{path}: the file does not state its version; it is damaged or not a Franchise file",
            code="damaged-file",
        )
    if found > VERSION:
        raise ModelError(
            f"{path}: the file has format version {found}, but this Franchise reads version {VERSION}; "
            "install a newer Franchise",
            code="newer-format",
        )
    if found < VERSION:
        raise ModelError(
            f"{path}: the file has format version {found}, from before the first release; this Franchise "
            f"reads version {VERSION}: fit the model again",
            code="outdated-format",
        )


def versions_here() -> dict[str, str]:
    """Return the versions of Python and of the libraries that results depend on."""
    return {"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}}
