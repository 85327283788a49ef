"""The seating of the documents of a shard, in its own file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from franchise._arrays import Array
from franchise._files import read_arrays, write_arrays
from franchise._version import VERSION, check_version
from franchise.corpus.shards import Shard
from franchise.errors import ModelError

_KIND = "seats"


def write_seating(folder: Path, shard: Shard, seating: dict[str, Array]) -> None:
    """Write the seating of a shard, completely or not at all."""
    facts = {"version": VERSION, "shard": list(shard)}
    write_arrays(_path(folder, shard), _KIND, seating, facts)


def read_seating(folder: Path, shard: Shard) -> dict[str, Array]:
    """Read the seating of a shard."""
    path = _path(folder, shard)
    seating, facts = read_arrays(path, _KIND)
    check_version(path, facts)
    if facts["shard"] != list(shard):
        raise ValueError(f"{path} has the seating of other documents")
    return seating


def check_seating(folder: Path, shards: Sequence[Shard]) -> None:
    """Check that the files that workers have written are visible here."""
    missing = [one for one in shards if not _path(folder, one).is_file()]
    if missing:
        raise ModelError(
            f"{_path(folder, missing[0])}: a worker has written this file, but it is missing: the folder "
            "of the model must be one that all machines share, under the same path",
            code="folder-not-shared",
        )


def other_seating(source: Any) -> ModelError:
    """Return the error for a seating that does not match the counts of the chain."""
    where = f"{source}: " if isinstance(source, Path) else ""
    return ModelError(f"{where}the seating does not match the counts; restore both", code="seats-mismatch")


def _path(folder: Path, shard: Shard) -> Path:
    return folder / f"{shard.number:05d}.safetensors"
