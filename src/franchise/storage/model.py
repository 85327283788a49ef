"""A model as a folder: what a person reads, and what a program continues from.

::

    model.json           format, version, settings, versions of libraries, the corpus in numbers
    corpus.safetensors   words, documents, vocabulary, texts, metadata
    corpus.json          in its place, where these lie in shards: where, and which
    start.safetensors    the topics that chains start from, where some were given
    chains/0/            each chain with its draws (`storage.chain`)
    chains/runs.safetensors    the short runs that the start was found by, if there were any (`storage.runs`)
    matching.safetensors    which topics of different draws are the same (`storage.matching`)
    names.json           what people call topics and terms, where they did (`storage.names`)
    config.toml          options of ``franchise fit``, where it made the model
    vocabulary.txt, topics.csv, topic_map.csv, trace.csv, README.md    for people and other programs; never
                         read back

The folder appears whole, under its name, with no chain in it; each file in it is replaced whole from then
on. So it can be loaded at any moment, and a run that was killed continues from it. Loading runs no code.
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
    "# The result differs slightly: the fit was shorter at first, and kept the merges and the split-merge "
    "schedule that followed from its first burn-in, which no option sets.\n"
)


class Stored(NamedTuple):
    """What a model folder holds, except for its chains."""

    corpus: Corpus
    settings: Facts  # where chains start from given topics, `init` is these
    stamp: str  # distinguishes the model from any that takes its place later


def is_model(folder: Path) -> bool:
    """Return whether a folder holds a model; one whose replacement was cut off is put back first."""
    put_back(folder, _has_model)
    return _has_model(folder)


def _has_model(folder: Path) -> bool:
    return (folder / _MODEL).is_file()


def chains_folder(folder: Path) -> Path:
    """Return where the chains are, each in a folder of its number."""
    return folder / _CHAINS


def has_chains(folder: Path) -> bool:
    """Return whether a folder holds a model with a saved chain."""
    return is_model(folder) and bool(saved_chains(chains_folder(folder)))


def sweeps_kept(folder: Path) -> tuple[int, int]:
    """Return how many sweeps of every chain a model has saved, and how many are planned."""
    path, chains = folder / _MODEL, chains_folder(folder)
    settings = from_json(read_text(path), path)["settings"]
    saved = {i: saved_sweeps(chains / str(i)) for i in saved_chains(chains)}
    return min(saved.get(i, 0) for i in range(settings["chains"])), settings["sweeps"]


def writing(folder: Path | None) -> AbstractContextManager[None]:
    """Be the only process that makes, replaces or fills the folder of a model; refuse if another does.

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

    `fill` may add to it before it gets its name; a `start` from given topics is kept there. With
    `overwrite` it takes the place of another model; nothing but a model is ever replaced. The caller is
    alone there (`writing`).
    """
    refuse_to_replace(folder, overwrite)
    folder = folder.resolve()  # of a link, what it points to
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
    """Refuse to write where something already exists, except for a model that may be replaced."""
    if is_model(folder):
        if not overwrite:
            raise ModelError(
                f"{folder}: a model already exists there; give another name, or overwrite=True",
                code="folder-exists",
            )
    elif folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise ModelError(f"{folder}: what is there is not a model; give another name", code="not-a-model")


@contextmanager
def _no_chains_running(folder: Path) -> Iterator[None]:
    """Refuse while a process that has not made the model runs chains in it."""
    if not is_model(folder):
        yield
        return
    with locked(chains_folder(folder)):
        if os.name != "nt":
            yield
            return
    yield  # Windows renames no folder with an open file in it, be it this lock or another process's


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
            f"{path}: it does not belong to the corpus beside it; restore both from a copy",
            code="corpus-mismatch",
        )
    settings = facts["settings"]
    if isinstance(settings.get("init"), dict):
        settings = {**settings, "init": _read_start(folder, settings["init"])}
    return Stored(corpus, settings, stamp)


def stamp(folder: Path) -> str:
    """Return the stamp of the model that is there now."""
    path = folder / _MODEL
    return str(from_json(read_text(path), path).get("checksum"))  # it covers the time of creation


def versions_of(folder: Path) -> dict[str, str]:
    """Return the versions that the model in a folder was begun with."""
    path = folder / _MODEL
    versions: dict[str, str] = from_json(read_text(path), path)["versions"]
    return versions


def change_settings(folder: Path, settings: Facts) -> None:
    """Replace the settings of the model that is there, also in its config.toml; its stamp changes."""
    path = folder / _MODEL
    facts = from_json(read_text(path), path) | {"settings": settings}
    facts.pop("checksum", None)
    write_text(path, to_json({**facts, "checksum": checksum_of(facts)}))
    update_config(folder, settings)


def write_for_people(
    folder: Path, *, topics_csv: str, trace_csv: str, card: str, topic_map_csv: str | None
) -> None:
    """Write what people and other programs read."""
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
    assert topics.phi is not None  # the model's own, not a chain's
    arrays = {"phi": topics.phi} | (packed("terms", topics.terms) if topics.terms is not None else {})
    names = {str(k): name for k, name in topics.names.items()}
    about = {"version": VERSION, "given": topics.kind, "names": names}
    write_arrays(folder / _START, _START_KIND, arrays, about)


def _read_start(folder: Path, facts: dict[str, Any]) -> GivenTopics:
    """Read the given topics that a model's settings speak of (`sampling.settings.start_to_json`).

    Raises
    ------
    ModelError
        If they are missing, damaged, or other ones.
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
    """Write the options of a fit; those that are None are left out."""
    # TOML reads strings, numbers, true, false and lists of these as JSON writes them.
    lines = [
        f"{name.replace('_', '-')} = {json.dumps(value)}\n"
        for name, value in sorted(options.items())
        if value is not None
    ]
    write_text(folder / _CONFIG, "".join([_HEADING, note, *lines]))


def read_config(folder: Path) -> dict[str, Any]:
    """Return the options of the fit, under the names of their parameters; none where they are not known."""
    path = folder / _CONFIG
    if not path.is_file():
        return {}
    try:
        options = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError:
        return {}  # someone has edited it, and it is for people alone
    return {name.replace("-", "_"): value for name, value in options.items()}


def update_config(folder: Path, settings: Facts) -> None:
    """Let the options, if they are there, follow the settings of a fit that was made longer."""
    if not (options := read_config(folder)):
        return
    schedule = settings["schedule"]
    now = {name: settings[name] for name in ("sweeps", "burn_in")}
    now |= {name: schedule[name] for name in ("thin", "warm_up")}
    if any(options.get(name) != value for name, value in now.items()):
        is_as_begun = schedule["merges"] is not None or isinstance(schedule["split_merge"], dict)
        write_config(folder, options | now, _BEGUN_SHORTER if is_as_begun else "")
