"""The place of a model's documents if they are in shards, which are not copied into its folder.

The path is stored both relative to the model's folder and absolute, so a model finds its shards whether it is
moved with them or alone.
"""

import os
from contextlib import suppress
from pathlib import Path

from franchise._files import from_json, read_text, to_json, write_text
from franchise._version import VERSION, check_version
from franchise.corpus import ShardedCorpus, open_shards
from franchise.errors import CorpusError, ModelError

_FILE, _FORMAT = "corpus.json", "franchise corpus in shards"


def is_reference(folder: Path) -> bool:
    """Return whether the documents of a model are outside its folder."""
    return (folder / _FILE).is_file()


def write_reference(folder: Path, corpus: ShardedCorpus, name: Path) -> None:
    """Write the place of the documents into a folder that will later be renamed to `name`."""
    place = corpus.folder.resolve()
    paths = [str(place)]
    with suppress(ValueError):  # on another drive
        paths.insert(0, os.path.relpath(place, name))
    facts = {"format": _FORMAT, "version": VERSION, "paths": paths, "fingerprint": corpus.fingerprint()}
    write_text(folder / _FILE, to_json(facts))


def read_reference(folder: Path) -> ShardedCorpus:
    """Open the documents of a model outside its folder.

    Raises
    ------
    ModelError
        If they are missing, cannot be read, or are other documents.
    """
    path = folder / _FILE
    facts = from_json(read_text(path), path)
    try:
        if facts["format"] != _FORMAT:
            raise KeyError("format")
        check_version(path, facts)
        places = [folder.resolve() / one for one in facts["paths"]]
        fingerprint = str(facts["fingerprint"])
    except (KeyError, TypeError) as error:
        raise ModelError(
            f"{path}: the file is damaged ({error!r}); restore it from a copy", code="damaged-file"
        ) from error
    reasons: list[str] = []
    code = "corpus-not-found"
    for place in dict.fromkeys(Path(os.path.normpath(place)) for place in places):
        try:
            corpus = open_shards(place)
        except CorpusError as error:
            reasons.append(str(error))
            continue
        if corpus.fingerprint() == fingerprint:
            return corpus
        reasons.append(f"{place}: another corpus is there now")
        code = "corpus-mismatch"
    raise ModelError(
        f"{folder}: the shards with the documents of the model are not where they were "
        f"({'; '.join(reasons)}); put the folder of shards back, or write it again with `franchise shard`",
        code=code,
    )
