"""The version of all files that are read back."""

from pathlib import Path

from franchise._files import Facts
from franchise.errors import ModelError

VERSION = 6


def check_version(path: Path, facts: Facts) -> None:
    """Refuse files of a version that this library does not know."""
    version = facts.get("version")
    if not isinstance(version, int) or version < 1:
        raise ModelError(
            f"{path}: the file does not say its version; it is damaged or not a Franchise file",
            code="damaged-file",
        )
    if version > VERSION:
        raise ModelError(
            f"{path}: the file has format version {version}, and this Franchise reads version {VERSION}; "
            "install a newer Franchise",
            code="newer-format",
        )
    if version < VERSION:
        raise ModelError(
            f"{path}: the file has format version {version}, from before the first release; this Franchise "
            f"reads version {VERSION}: fit the model again",
            code="outdated-format",
        )
