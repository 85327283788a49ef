"""Opening models: a folder, or for new documents a ``.bin`` file of the paper's program."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from franchise.cli import INTERRUPTED
from franchise.cli._input import read_options, reading_bar

if TYPE_CHECKING:
    from franchise.corpus import Encoded
    from franchise.estimator import HDPTopicModel
    from franchise.predict.known_topics import KnownTopics


def load(folder: str) -> "HDPTopicModel":
    """Load a model that has something to show."""
    from franchise.errors import ModelError
    from franchise.estimator import HDPTopicModel

    model = HDPTopicModel.load(folder)
    if not hasattr(model, "posterior_"):
        raise ModelError(
            f"{folder}: the fit has not got far enough to show anything; run {_resume(Path(folder))}",
            code="incomplete-model",
        )
    return model


def load_topics(path: str) -> "tuple[KnownTopics, dict[int, str]]":
    """Load the topics that new documents are read with, and the names given to them."""
    if Path(path).suffix != ".bin" or Path(path).is_dir():
        model = load(path)
        return model.known_topics_, model.named_topics_
    import numpy as np

    from franchise.compat.files import read_bin
    from franchise.corpus import Corpus
    from franchise.corpus.checks import numbered
    from franchise.predict.known_topics import KnownTopics

    saved = read_bin(Path(path))
    draw = saved.as_draw()
    n_topics = draw.names.size
    terms = Corpus([0], [0, 1], numbered(saved.n_terms))
    return KnownTopics(corpus=terms, draws=[draw], columns=[np.arange(n_topics)], n_topics=n_topics), {}


def read_new(path: str, topics: "KnownTopics", values: dict[str, Any]) -> "Encoded":
    """Read new documents in the terms of a model, with a bar if it takes long."""
    from franchise import corpus

    with reading_bar(path) as progress:
        return corpus.read_new(path, topics.corpus, read_options(values), progress=progress)


@contextmanager
def interruptible(folder: str, *, anew: bool) -> Iterator[None]:
    """Add to an interrupt what the model folder has saved, and how to continue.

    `anew` ignores a model that was there before.
    """
    from franchise.storage import model as store

    path = Path(folder)
    earlier = store.stamp(path) if anew and store.is_model(path) else None
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_what_is_kept(path, earlier)) from None


def refuse_to_replace(output: Path, overwrite: bool) -> None:
    """Refuse to write a model where something else is, before anything is read."""
    from franchise.errors import ModelError
    from franchise.storage import model as store

    if store.is_model(output) and not overwrite:
        raise ModelError(
            f"{output}: a model already exists there; continue it with `franchise resume {output}`, "
            "replace it with --overwrite, or give another name",
            code="folder-exists",
        )
    store.refuse_to_replace(output, overwrite)


def show_fit(model: "HDPTopicModel", folder: str) -> None:
    """Print a model that was fitted or resumed, and how to continue if sweeps are missing."""
    click.echo(model.in_commands(folder))
    click.echo(f"  The model is in {folder}")
    if model.ending_ != "complete":
        click.echo(f"  Some sweeps are missing: {_resume(Path(folder))} makes them")
    if model.ending_ == "interrupted":
        raise click.exceptions.Exit(INTERRUPTED)


def _resume(folder: Path) -> str:
    return f"`franchise resume {shlex.quote(str(folder))}`"


def _what_is_kept(folder: Path, earlier: str | None) -> str:
    from franchise.storage import model as store

    if not store.is_model(folder):
        return "nothing was saved"
    if store.stamp(folder) == earlier:
        return f"nothing was saved, and the model in {folder} is the earlier one"
    resume = _resume(folder)
    if not store.has_chains(folder):
        return f"no sweep was saved; start again with {resume}"
    done, planned = store.sweeps_kept(folder)
    return f"{done} of {planned} sweeps are saved in {folder}; continue with {resume}"
