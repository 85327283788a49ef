"""Given topics that chains start from, beside the model: a run killed before its first sweep needs them."""

from pathlib import Path
from typing import Any

from franchise._files import read_arrays, write_arrays
from franchise._version import VERSION, check_version
from franchise.corpus.strings import packed, unpacked
from franchise.engines import GivenTopics
from franchise.errors import ModelError

_KIND, _FILE = "start", "start.safetensors"


def write_start(folder: Path, topics: GivenTopics) -> None:
    """Write given topics into the folder of a model."""
    assert topics.phi is not None  # the model's own, not a chain's
    arrays = {"phi": topics.phi} | (packed("terms", topics.terms) if topics.terms is not None else {})
    write_arrays(folder / _FILE, _KIND, arrays, {"version": VERSION, "given": topics.kind})


def read_start(folder: Path, facts: dict[str, Any]) -> GivenTopics:
    """Read the given topics that a model's settings speak of (`sampling.settings.start_to_json`).

    Raises
    ------
    ModelError
        If they are missing, damaged, or other ones.
    """
    path = folder / _FILE
    arrays, about = read_arrays(path, _KIND)
    check_version(path, about)
    terms = tuple(unpacked("terms", arrays)) if "terms" in arrays else None
    topics = GivenTopics(about["given"], arrays["phi"], terms)
    if topics.digest != facts.get("digest"):
        raise ModelError(
            f"{path}: these are not the topics that the model started from; restore it from a copy",
            code="start-mismatch",
        )
    return topics
