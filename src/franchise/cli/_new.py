"""New documents for a fitted model: a model folder, or a ``.bin`` file of the paper's program."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise._ray import OnRay
from franchise._text import printable
from franchise.cli._input import how_to_read, reading_bar
from franchise.cli._model import load
from franchise.corpus import Corpus, Encoded, read_new_in_pieces
from franchise.corpus.corpus import numbered
from franchise.corpus.readers import read_new as read_in_terms
from franchise.posterior.labels import distinct
from franchise.posterior.tables import shares_in_words
from franchise.predict.bar import DocumentsBar
from franchise.predict.known_topics import KnownTopics
from franchise.predict.on_ray import Done, in_pieces

if TYPE_CHECKING:
    import pandas as pd

_CHARACTERS_A_WORD = 8


def read_new(model: str, path: str, values: dict[str, Any]) -> tuple[KnownTopics, Encoded]:
    """Open a model and read new documents in its terms."""
    topics, _, new = read_new_with_names(model, path, values)
    return topics, new


def read_new_with_names(
    model: str, path: str, values: dict[str, Any]
) -> tuple[KnownTopics, dict[int, str], Encoded]:
    """Open a model and read new documents in its terms; also return the names given to its topics."""
    topics, names = topics_and_names_of(model)
    with reading_bar(path) as progress:
        return topics, names, read_in_terms(path, topics.corpus, **how_to_read(values), progress=progress)


def new_in_pieces(
    topics: KnownTopics, path: str, values: dict[str, Any], bar: DocumentsBar, method: str = "completion"
) -> Iterator[Encoded]:
    """Read new documents piece by piece, as a cluster takes them."""
    words = topics.words_a_piece(method)
    how = how_to_read(values)
    read = read_new_in_pieces(
        path, topics.corpus, **how, characters=words * _CHARACTERS_A_WORD, progress=bar.share
    )
    for documents in read:
        yield from in_pieces(documents, words)


def topics_of(model: str) -> KnownTopics:
    """Return the topics of a model folder, or of a ``.bin`` file."""
    return topics_and_names_of(model)[0]


def topics_and_names_of(model: str) -> tuple[KnownTopics, dict[int, str]]:
    """Return the topics, and the names given to them."""
    path = Path(model)
    if path.suffix == ".bin" and not path.is_dir():
        return _topics_of_bin(path), {}
    fitted = load(model)
    return fitted.known_topics_, fitted.named_topics_


def _topics_of_bin(path: Path) -> KnownTopics:
    from franchise.compat.files import read_bin

    saved = read_bin(path)
    draw = saved.as_draw()
    n_topics = draw.names.size
    return KnownTopics(
        corpus=Corpus([0], [0, 1], numbered(saved.n_terms)),
        draws=[draw],
        columns=[np.arange(n_topics)],
        n_topics=n_topics,
    )


def mixtures_frames(
    topics: KnownTopics,
    names: dict[int, str],
    pieces: Iterator[Encoded],
    ray: OnRay,
    done: Done,
    shown: int | None,
) -> "Iterator[pd.DataFrame]":
    """Yield tables of mixtures, found on a cluster, as they come."""
    found = topics.mixtures_of_pieces(pieces, ray, done)
    return (mixtures_frame(names, new, theta, shown) for new, theta in found)


def mixtures_frame(
    names: dict[int, str], new: Encoded, theta: np.ndarray, shown: int | None
) -> "pd.DataFrame":
    """Return a table of mixtures: all topics, or the largest few in words."""
    import pandas as pd

    words = np.diff(new.arrays.doc_ptr)
    documents = [printable(name) for name in new.document_names]
    frame = pd.DataFrame({"document": documents, "words": words, "unknown": new.unknown})
    if shown is None:
        columns = distinct([names.get(k, f"topic_{k}") for k in range(theta.shape[1])], list(frame.columns))
        return pd.concat([frame, pd.DataFrame(theta, columns=columns)], axis=1)
    order = np.argsort(-theta, axis=1, kind="stable")[:, :shown]
    frame["topics"] = [
        shares_in_words(own.tolist(), row[own].tolist(), names) for own, row in zip(order, theta, strict=True)
    ]
    return frame
