"""A model as a folder, with files for people and files to continue from.

::

    model.json           format, version, settings, versions of libraries, the corpus in numbers
    corpus.safetensors   words, documents, vocabulary, texts, metadata
    corpus.json          instead, if the documents are in shards: the place and digest of the shards
    start.safetensors    the topics that chains start from, if they were given
    chains/0/            each chain with its draws (`storage.chain`)
    chains/runs.safetensors    the short runs that found the start, if there were any (`storage.runs`)
    matching.safetensors    the matching of topics between draws (`storage.matching`)
    names.json           names that people gave to topics and terms (`storage.names`)
    config.toml          options of ``franchise fit``, if it made the model
    vocabulary.txt, topics.csv, topic_map.csv, trace.csv, README.md    for people and other programs; never
                         read back

The folder appears whole, under its name, without chains. After that, each file is only replaced as a whole.
The model can therefore be loaded at any moment, and a run that was killed continues from it. Loading runs no
code from the folder.
"""

import json
import os
import shlex
import tomllib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from franchise._files import (
    Facts,
    cannot_write,
    checksum_of,
    from_json,
    read_arrays,
    read_text,
    to_json,
    write_arrays,
    write_pieces,
    write_text,
)
from franchise._folders import locked, new_folder, put_back, take_place, writing_in
from franchise._version import VERSION, check_version, versions_here
from franchise.corpus import Corpus, ShardedCorpus
from franchise.corpus.large_arrays import packed, unpacked
from franchise.corpus.stored import content_of, read_stored
from franchise.engines import GivenTopics, Start
from franchise.errors import ModelError
from franchise.storage.chain import saved_chains, saved_sweeps
from franchise.storage.reference import is_reference, read_reference, write_reference

_MODEL, _CORPUS, _CHAINS = "model.json", "corpus.safetensors", "chains"
_CONFIG, _START, _START_KIND = "config.toml", "start.safetensors", "start"
_FORMAT = "franchise model"
_HEADING = "# To fit this model again: franchise fit INPUT -o MODEL --config config.toml\n"
_BEGUN_SHORTER = (
    "# The result differs slightly: this fit was extended, and kept the merges and the split-merge schedule "
    "of its first burn-in, which no option sets.\n"
)


class Stored(NamedTuple):
    """The contents of a model folder, without its chains."""

    corpus: Corpus
    settings: Facts  # `init` holds the given topics, if chains start from some
    stamp: str  # distinguishes the model from a later replacement


def is_model(folder: Path) -> bool:
    """Return whether a folder holds a model, after undoing an interrupted replacement."""
    put_back(folder, _has_model)
    return _has_model(folder)


def _has_model(folder: Path) -> bool:
    return (folder / _MODEL).is_file()


def chains_folder(folder: Path) -> Path:
    """Return the folder of the chains; each has a subfolder named by its number."""
    return folder / _CHAINS


def has_chains(folder: Path) -> bool:
    """Return whether a folder holds a model with a saved chain."""
    return is_model(folder) and bool(saved_chains(chains_folder(folder)))


def sweeps_kept(folder: Path) -> tuple[int, int]:
    """Return how many sweeps are saved of every chain, and how many are planned."""
    path, chains = folder / _MODEL, chains_folder(folder)
    settings = from_json(read_text(path), path)["settings"]
    saved = {i: saved_sweeps(chains / str(i)) for i in saved_chains(chains)}
    return min(saved.get(i, 0) for i in range(settings["chains"])), settings["sweeps"]


def writing(folder: Path | None) -> AbstractContextManager[None]:
    """Lock the folder of a model against other processes; refuse if another process has locked it.

    Without a folder, do nothing.
    """
    return nullcontext() if folder is None else writing_in(folder, _has_model)


def create(
    folder: Path,
    corpus: Corpus,
    settings: Facts,
    fill: Callable[[Path], None] | None = None,
    *,
    start: Start | None = None,
    overwrite: bool = False,
) -> None:
    """Make the folder of a model, whole or not at all.

    `fill` may add files before the folder gets its name. A `start` from given topics is saved in it. With
    `overwrite`, the folder may replace another model, but never anything else. The caller must hold the lock
    (`writing`).
    """
    refuse_to_replace(folder, overwrite)
    folder = folder.resolve()  # follow links
    with new_folder(folder) as temporary:
        try:
            if isinstance(corpus, ShardedCorpus) and not corpus.changes:
                write_reference(temporary, corpus, folder)
            else:
                write_pieces(temporary / _CORPUS, content_of(corpus))
            write_text(temporary / "vocabulary.txt", "".join(f"{term}\n" for term in corpus.vocabulary))
            facts = _model_facts(corpus, settings)
            write_text(temporary / _MODEL, to_json({**facts, "checksum": checksum_of(facts)}))
            if isinstance(start, GivenTopics):
                _write_start(temporary, start)
            if fill:
                fill(temporary)
        except OSError as error:
            raise cannot_write(folder, error) from error
        with _no_chains_running(folder):
            take_place(temporary, folder)


def refuse_to_replace(folder: Path, overwrite: bool) -> None:
    """Refuse to write over anything except a model that may be replaced."""
    if is_model(folder):
        if not overwrite:
            raise ModelError(
                f"{folder}: a model already exists there; give another name, or overwrite=True",
                code="folder-exists",
            )
    elif folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise ModelError(f"{folder}: exists and is not a model; give another name", code="not-a-model")


@contextmanager
def _no_chains_running(folder: Path) -> Iterator[None]:
    """Refuse while a process that did not make the model runs chains in it."""
    if not is_model(folder):
        yield
        return
    with locked(chains_folder(folder)):
        if os.name != "nt":
            yield
            return
    yield  # after unlocking: Windows cannot rename a folder with an open file in it, such as the lock


def read(folder: Path) -> Stored:
    """Read a model folder, except for its chains.

    Raises
    ------
    ModelError
        If it is not a model folder, is damaged, or comes from another version.
    """
    if folder.is_file():
        raise ModelError(
            f"{folder}: this is a file, not a model folder; if it holds documents, fit them first "
            f"(`franchise fit {shlex.quote(str(folder))} -o model/`) and give the folder model/",
            code="model-is-a-file",
        )
    path = folder / _MODEL
    if not is_model(folder):
        if not folder.is_dir():
            raise ModelError(
                f"{folder}: there is no such folder; give the folder of a saved model", code="no-such-folder"
            )
        raise ModelError(
            f"{folder}: there is no {_MODEL} in it; give the folder of a saved model", code="not-a-model"
        )
    facts = from_json(read_text(path), path)
    if facts.get("format") != _FORMAT:
        raise ModelError(
            f"{path}: this is not a Franchise model; give the folder of a saved model", code="not-a-model"
        )
    check_version(path, facts)
    stamp = facts.pop("checksum", None)
    if stamp != checksum_of(facts):
        raise ModelError(
            f"{path}: the file is damaged or was edited; restore it from a copy", code="damaged-file"
        )
    corpus = read_reference(folder) if is_reference(folder) else read_stored(folder / _CORPUS)
    if facts["corpus"]["fingerprint"] != corpus.fingerprint():
        raise ModelError(
            f"{path}: it belongs to another corpus than the one in this folder; restore both from a copy",
            code="corpus-mismatch",
        )
    settings = facts["settings"]
    if isinstance(settings.get("init"), dict):
        settings = {**settings, "init": _read_start(folder, settings["init"])}
    return Stored(corpus, settings, stamp)


def stamp(folder: Path) -> str:
    """Return the stamp of the model that is in the folder now."""
    path = folder / _MODEL
    return str(from_json(read_text(path), path).get("checksum"))  # which covers the time of creation


def versions_of(folder: Path) -> dict[str, str]:
    """Return the versions of libraries with which the fit of a model began."""
    path = folder / _MODEL
    versions: dict[str, str] = from_json(read_text(path), path)["versions"]
    return versions


def change_settings(folder: Path, settings: Facts) -> None:
    """Replace the settings of a saved model, also in its config.toml. This changes its stamp."""
    path = folder / _MODEL
    facts = from_json(read_text(path), path) | {"settings": settings}
    facts.pop("checksum", None)
    write_text(path, to_json({**facts, "checksum": checksum_of(facts)}))
    update_config(folder, settings)


def write_for_people(
    folder: Path, *, topics_csv: str, trace_csv: str, card: str, topic_map_csv: str | None
) -> None:
    """Write the files for people and other programs."""
    if topic_map_csv is not None:
        write_text(folder / "topic_map.csv", topic_map_csv)
    write_text(folder / "topics.csv", topics_csv)
    write_text(folder / "trace.csv", trace_csv)
    write_text(folder / "README.md", card)


def _model_facts(corpus: Corpus, settings: Facts) -> Facts:
    return {
        "format": _FORMAT,
        "version": VERSION,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions_here(),
        "settings": settings,
        "corpus": _corpus_facts(corpus),
    }


def _corpus_facts(corpus: Corpus) -> Facts:
    facts: Facts = {
        "fingerprint": corpus.fingerprint(),
        "documents": corpus.n_documents,
        "terms": corpus.n_terms,
        "words": corpus.n_words,
    }
    if corpus.downsampling is not None:
        facts["downsampling"] = corpus.downsampling._asdict()
    return facts


def _write_start(folder: Path, topics: GivenTopics) -> None:
    """Write given topics into the folder of a model."""
    assert topics.phi is not None  # a model's topics have it, a chain's do not
    arrays = {"phi": topics.phi} | (packed("terms", topics.terms) if topics.terms is not None else {})
    names = {str(k): name for k, name in topics.names.items()}
    about = {"version": VERSION, "given": topics.kind, "names": names}
    write_arrays(folder / _START, _START_KIND, arrays, about)


def _read_start(folder: Path, facts: dict[str, Any]) -> GivenTopics:
    """Read the given topics to which a model's settings refer (`sampling.settings.start_to_json`).

    Raises
    ------
    ModelError
        If they are missing, damaged, or not the same.
    """
    path = folder / _START
    arrays, about = read_arrays(path, _START_KIND)
    check_version(path, about)
    terms = tuple(unpacked("terms", arrays)) if "terms" in arrays else None
    names = {int(k): str(name) for k, name in about.get("names", {}).items()}
    topics = GivenTopics(about["given"], arrays["phi"], terms, names=names)
    if topics.digest != facts.get("digest"):
        raise ModelError(
            f"{path}: these are not the topics that the model started from; restore it from a copy",
            code="start-mismatch",
        )
    return topics


def write_config(folder: Path, options: dict[str, Any], note: str = "") -> None:
    """Write the options of a fit, except options that are None."""
    # TOML reads strings, numbers, true, false and lists of these as JSON writes them.
    lines = [
        f"{name.replace('_', '-')} = {json.dumps(value)}\n"
        for name, value in sorted(options.items())
        if value is not None
    ]
    write_text(folder / _CONFIG, "".join([_HEADING, note, *lines]))


def read_config(folder: Path) -> dict[str, Any]:
    """Return the options of the fit by the names of their parameters; empty if they are unknown."""
    path = folder / _CONFIG
    if not path.is_file():
        return {}
    try:
        options = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError:
        return {}  # a person has edited it; no program depends on it
    return {name.replace("-", "_"): value for name, value in options.items()}


def update_config(folder: Path, settings: Facts) -> None:
    """Update the options, if there are any, to the settings of an extended fit."""
    if not (options := read_config(folder)):
        return
    schedule = settings["schedule"]
    now = {name: settings[name] for name in ("sweeps", "burn_in")}
    now |= {name: schedule[name] for name in ("thin", "warm_up")}
    if any(options.get(name) != value for name, value in now.items()):
        is_as_begun = schedule["merges"] is not None or isinstance(schedule["split_merge"], dict)
        write_config(folder, options | now, _BEGUN_SHORTER if is_as_begun else "")
