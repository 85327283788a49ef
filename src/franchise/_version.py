"""The version of all files that are read back."""

from pathlib import Path

from franchise._files import Facts
from franchise.errors import ModelError

# Never released: 1 had the whole trace in every checkpoint, and numbers of topics with gaps; in 2 the
# settings stood for other chains, without a warm-up and with a fixed number of trials; in 3 for other draws.
# 4 had all whole numbers in 32 or 64 bits; it is still read.
VERSION = 5
_OLDEST = 4


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
            f"{path}: the file has format version {version}, and this Franchise reads up to {VERSION}; "
            "install a newer Franchise",
            code="newer-format",
        )
    if version < _OLDEST:
        raise ModelError(
            f"{path}: the file has format version {version}, from before the first release; this Franchise "
            f"reads version {_OLDEST} and later: fit the model again",
            code="outdated-format",
        )
