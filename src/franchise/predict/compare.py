"""A comparison of several models by how well they predict new documents, with its uncertainty.

Documents differ far more from each other than models do, so the standard errors of two scores say little
about their difference. Here all models score the same words of the same documents (the same cuts and seeds),
and the error is computed from the differences per document. With d_j the difference of the log probabilities
of document j, and n_j its scored words, the difference is sum_j d_j / sum_j n_j. It is a ratio, so long
documents count in proportion to their words.

The error shows how the comparison varies with other documents. It does not show how the models vary with
other seeds.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise import _html as html
from franchise._arrays import Array
from franchise._draws import Draw
from franchise._settings import seed_of
from franchise._text import counted
from franchise._threads import threads
from franchise.corpus.documents import Encoded
from franchise.errors import CorpusError, SettingsError
from franchise.predict.heldout import HeldOut, densities, put_together
from franchise.predict.known_topics import KnownTopics

if TYPE_CHECKING:
    import pandas as pd

_SURE = 2.0  # a difference of this many standard errors or more counts as real


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison:
    """How models predict the same documents.

    Attributes
    ----------
    scores
        The score of each model (`HeldOut`).
    n_topics
        The number of topics of each model.
    n_j
        Number of scored words in each document.
    document_names
        Names of the documents.
    """

    scores: dict[str, HeldOut]
    n_topics: dict[str, int]
    n_j: Array
    document_names: tuple[str, ...]

    @property
    def best(self) -> str:
        """The name of the model with the highest score."""
        return max(self.scores, key=lambda name: self.scores[name].per_word)

    def difference(self, one: str, other: str) -> tuple[float, float]:
        """Return the lead of one model over another in nats per word, and its paired standard error."""
        for name in (one, other):
            if name not in self.scores:
                known = ", ".join(map(repr, self.scores))
                raise SettingsError(
                    f"the comparison has no model {name!r}; give one of {known}",
                    code="unknown-choice",
                )
        found = put_together("", self.scores[one].log_p - self.scores[other].log_p, self.n_j)
        return found.per_word, found.standard_error

    def as_frame(self) -> "pd.DataFrame":
        """Return a table of the models, best first.

        Its columns are model, n_topics, per_word (nats; higher is better), standard_error, perplexity, behind
        (nats per word behind the best) and behind_error (its standard error, paired by document).
        """
        import pandas as pd

        rows = []
        for name, score in sorted(self.scores.items(), key=lambda pair: -pair[1].per_word):
            behind, error = (0.0, 0.0) if name == self.best else self.difference(self.best, name)
            rows.append(
                {
                    "model": name,
                    "n_topics": self.n_topics[name],
                    "per_word": score.per_word,
                    "standard_error": score.standard_error,
                    "perplexity": score.perplexity,
                    "behind": behind,
                    "behind_error": error,
                }
            )
        return pd.DataFrame(rows)

    def pairs(self) -> "pd.DataFrame":
        """Return a table of all pairs: the lead of the first model, with its paired standard error."""
        import pandas as pd

        rows = [(*pair, *self.difference(*pair)) for pair in combinations(self.scores, 2)]
        return pd.DataFrame(rows, columns=["model", "other", "difference", "standard_error"])

    def documents(self) -> "pd.DataFrame":
        """Return a table of the documents: their scored words, and the log probability by each model."""
        import pandas as pd

        columns = {name: score.log_p for name, score in self.scores.items()}
        frame = pd.DataFrame({"document": list(self.document_names), "words": self.n_j})
        return pd.concat([frame, pd.DataFrame(columns)], axis=1)

    def __str__(self) -> str:
        some = next(iter(self.scores.values()))
        lines = [f"{some.method}, {some.n_words:,} words of {counted(some.n_documents, 'document')}"]
        for row in self.as_frame().itertuples():
            lines.append(f"  {row.model}: {row.per_word:.4f} nats per word, {row.n_topics:,} topics")
        return "\n".join([*lines, *self.in_words()])

    __repr__ = __str__  # so that an interactive session shows the answer

    def _repr_html_(self) -> str:
        rows = [
            (model, f"{per_word:.4f}", f"{n_topics:,}", f"{behind:.4f}", f"{error:.4f}")
            for model, n_topics, per_word, _, _, behind, error in self.as_frame().itertuples(index=False)
        ]
        header = ["model", "nats per word", "topics", "behind the best", "paired standard error"]
        return html.block(html.table(header, rows), *map(html.line, self.in_words()))

    def in_words(self) -> list[str]:
        """Return a sentence per model about whether the best model predicts better."""
        others = [name for name in self.scores if name != self.best]
        return [_in_words(self.best, name, *self.difference(self.best, name)) for name in others]


def _in_words(best: str, other: str, difference: float, error: float) -> str:
    numbers = f"{difference:.4f} nats per word, paired standard error {error:.4f}"
    if not difference and not error:
        return f"{best} and {other} predict exactly alike."
    if not error < np.inf:
        return f"{best} is ahead of {other} on the only document, by {difference:.4f} nats per word."
    if difference > _SURE * error:
        return f"{best} predicts better than {other}: {numbers}."
    return f"{best} and {other} cannot be told apart on these documents: {numbers}."


def compare_models(
    models: Mapping[str, KnownTopics],
    new: Encoded,
    *,
    method: str = "completion",
    jobs: int | None = -1,
    **options: Any,
) -> Comparison:
    """Score models on the same documents.

    Parameters
    ----------
    models
        The topics of the models, by name. The models must have the same terms, in any order.
    new
        The documents, in the terms of the first model.
    method
        ``"completion"`` or ``"left-to-right"`` (`franchise.predict.heldout`).
    jobs
        Threads; -1 for all cores, None for one.
    options
        More options of the method.

    Raises
    ------
    CorpusError
        If the terms of the models differ. The more terms a model knows, the less likely is each word, with
        any topics.
    """
    first, *others = models
    for name in others:
        _refuse_other_terms(first, models[first], name, models[name])
    jobs = threads(jobs, new.arrays.doc_ptr.size - 1)
    if "random_state" in options:  # the same seed, so that all models predict the same words
        options["random_state"] = seed_of(options["random_state"])
    scores, n_j = {}, np.zeros(0, np.int64)
    for name, topics in models.items():
        draws = [_in_order_of(models[first].corpus.vocabulary, topics, draw) for draw in topics.draws]
        found = densities([draws], new.arrays, method, **{"jobs": jobs, **options})
        scores[name], n_j = found.held_out([1.0]), found.n_j
    n_topics = {name: topics.n_topics for name, topics in models.items()}
    return Comparison(scores, n_topics, n_j, new.document_names)


def _refuse_other_terms(first: str, topics: KnownTopics, name: str, others: KnownTopics) -> None:
    ours, theirs = set(topics.corpus.vocabulary), set(others.corpus.vocabulary)
    if ours == theirs:
        return
    said = []
    for who, missing in ((first, ours - theirs), (name, theirs - ours)):
        if missing:
            said.append(f"only {who} has {len(missing):,}, such as {min(missing)!r}")
    raise CorpusError(
        f"the models {first} and {name} have different terms ({'; '.join(said)}), and fewer terms are easier "
        "to predict, whatever the topics; make one corpus, and fit both models to parts of it "
        "(corpus.select(...))",
        code="vocabulary-mismatch",
    )


def _in_order_of(vocabulary: tuple[str, ...], topics: KnownTopics, draw: Draw) -> Draw:
    if topics.corpus.vocabulary == vocabulary:
        return draw
    column = {term: v for v, term in enumerate(topics.corpus.vocabulary)}
    order = [column[term] for term in vocabulary]
    return draw._replace(topic_terms=draw.topic_terms[:, order])
