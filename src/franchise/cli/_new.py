"""New documents for a fitted model: a model folder, or a ``.bin`` file of the paper's program."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise._text import printable
from franchise.cli._input import reading_bar
from franchise.corpus import Corpus, Encoded
from franchise.corpus.corpus import numbered
from franchise.corpus.readers import read_new as read_in_terms
from franchise.errors import SettingsError
from franchise.predict import heldout
from franchise.predict.fixed_topics import mixtures
from franchise.sampling import Draw
from franchise.sampling.run import threads

if TYPE_CHECKING:
    import pandas as pd

    from franchise.estimator import HDPTopicModel
    from franchise.predict.paper_heldout import PaperHeldOut


@dataclass(frozen=True, slots=True)
class Opened:
    """Topics that new documents can be compared with."""

    like: Corpus  # whose terms they have
    draws: list[Draw]
    columns: list[np.ndarray]
    n_topics: int
    model: "HDPTopicModel | None"

    def mixtures(self, new: Encoded, jobs: int | None) -> np.ndarray:
        """Return the proportions of the listed topics."""
        n_documents = new.arrays.doc_ptr.size - 1
        theta = mixtures(
            self.draws, new.arrays, self.columns, self.n_topics + 1, jobs=threads(jobs, n_documents)
        )[:, :-1]
        return theta / theta.sum(axis=1, keepdims=True)

    def held_out(self, new: Encoded, method: str, jobs: int | None) -> "heldout.HeldOut | PaperHeldOut":
        """Score the documents."""
        if method == "paper":
            if self.model is None:
                raise SettingsError("--method paper needs a model folder; for a .bin use `franchise hdp`")
            return self.model._paper_held_out(new)
        score = heldout.document_completion if method == "completion" else heldout.left_to_right
        return score(self.draws, new.arrays, jobs=threads(jobs, new.arrays.doc_ptr.size - 1))


def read_new(model: str, path: str, values: dict[str, Any]) -> tuple[Opened, Encoded]:
    """Open a model and read new documents in its terms."""
    opened = _open_bin(Path(model)) if Path(model).is_file() else _open_folder(model)
    with reading_bar(path) as progress:
        return opened, read_in_terms(
            path,
            opened.like,
            format=values["format_in"],
            text_column=values["text_column"],
            id_column=values["id_column"],
            vocabulary=values["vocabulary"],
            progress=progress,
        )


def _open_folder(folder: str) -> Opened:
    from franchise.cli._model import load

    model = load(folder)
    chosen, posterior = model._chosen(), model.posterior_
    return Opened(
        model.corpus_,
        [posterior.flat_draws[i] for i in chosen],
        [posterior.columns[i] for i in chosen],
        posterior.n_topics,
        model,
    )


def _open_bin(path: Path) -> Opened:
    from franchise.compat.files import read_bin

    saved = read_bin(path)
    draw = saved.as_draw()
    like = Corpus([0], [0, 1], numbered(saved.n_terms))
    n_topics = draw.names.size
    return Opened(like, [draw], [np.arange(n_topics)], n_topics, None)


def mixtures_frame(opened: Opened, new: Encoded, jobs: int | None, shown: int | None) -> "pd.DataFrame":
    """Return a table of mixtures: all topics, or the largest few in words."""
    import pandas as pd

    theta = opened.mixtures(new, jobs)
    words = np.diff(new.arrays.doc_ptr)
    names = [printable(name) for name in new.document_names]
    frame = pd.DataFrame({"document": names, "words": words, "unknown": new.unknown})
    if shown is None:
        topics = pd.DataFrame(theta, columns=[f"topic_{k}" for k in range(opened.n_topics)])
        return pd.concat([frame, topics], axis=1)
    order = np.argsort(-theta, axis=1, kind="stable")[:, :shown]
    frame["topics"] = [
        ", ".join(f"{k}: {share:.2f}" for k, share in zip(own, row[own], strict=True))
        for own, row in zip(order, theta, strict=True)
    ]
    return frame
