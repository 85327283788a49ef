"""Names of topics and terms, and topics that are merged or hidden: ``names.json``."""

from pathlib import Path
from typing import Any

from franchise._files import from_json, read_text, to_json, write_text
from franchise._version import VERSION, check_version
from franchise.errors import ModelError
from franchise.posterior.labels import Named
from franchise.posterior.reading import RememberedReading

_NAMES = "names.json"
_FORMAT = "franchise names"


def write_names(
    folder: Path,
    topics: list[Named],
    terms: tuple[str, ...] | None,
    reading: RememberedReading = RememberedReading(),  # noqa: B008 (it never changes)
) -> None:
    """Write names of topics and terms, and merged or hidden topics; remove the file if there are none."""
    path = folder / _NAMES
    if not topics and terms is None and not any(reading):
        path.unlink(missing_ok=True)
        return
    named = [one._asdict() for one in topics]
    facts = {"format": _FORMAT, "version": VERSION, "topics": named, "terms": terms}
    if any(reading):
        facts["merged"] = [
            {"name": name, "topics": [one._asdict() for one in members]} for name, members in reading.merged
        ]
        facts["hidden"] = [one._asdict() for one in reading.hidden]
    write_text(path, to_json(facts))
    if terms is not None:
        write_text(folder / "vocabulary.txt", "".join(f"{term}\n" for term in terms))


def read_names(folder: Path) -> tuple[list[Named], tuple[str, ...] | None, RememberedReading]:
    """Return the names of topics (with the terms that they were given for), of terms, and the reading.

    Raises
    ------
    ModelError
        If the file is damaged or comes from another version.
    """
    path = folder / _NAMES
    if not path.is_file():
        return [], None, RememberedReading()
    facts = from_json(read_text(path), path)
    try:
        if facts["format"] != _FORMAT:
            raise KeyError("format")
        check_version(path, facts)
        topics = [_named(one) for one in facts["topics"]]
        terms = facts["terms"]
        merged = [
            (one["name"] and str(one["name"]), tuple(map(_named, one["topics"])))
            for one in facts.get("merged", ())
        ]
        reading = RememberedReading(tuple(merged), tuple(map(_named, facts.get("hidden", ()))))
        return topics, None if terms is None else tuple(map(str, terms)), reading
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(
            f"{path}: the file is damaged ({error!r}); restore it from a copy, or delete it: the model "
            "then has no names, and nothing else is lost",
            code="damaged-file",
        ) from error


def _named(facts: dict[str, Any]) -> Named:
    one = Named(**facts)
    if len(one.terms) != len(one.probabilities):
        raise ValueError(one.name)
    return Named(int(one.topic), str(one.name), [*map(int, one.terms)], [*map(float, one.probabilities)])
