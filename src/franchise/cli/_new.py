"""New documents for a fitted model: a model folder, or a ``.bin`` file of the paper's program."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise._text import printable
from franchise.cli._input import read_options, reading_bar
from franchise.cli._model import load
from franchise.corpus import Corpus, Encoded
from franchise.corpus import read_new as read_in_terms
from franchise.corpus.checks import numbered
from franchise.posterior.labels import distinct
from franchise.posterior.tables import shares_in_words
from franchise.predict.known_topics import KnownTopics

if TYPE_CHECKING:
    import pandas as pd


def read_new(model: str, path: str, values: dict[str, Any]) -> tuple[KnownTopics, dict[int, str], Encoded]:
    """Open a model and read new documents in its terms; also return the names given to its topics."""
    topics, names = topics_of(model)
    with reading_bar(path) as progress:
        return topics, names, read_in_terms(path, topics.corpus, read_options(values), progress=progress)


def topics_of(model: str) -> tuple[KnownTopics, dict[int, str]]:
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
