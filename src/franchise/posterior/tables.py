"""Tables of a fitted posterior for people: its topics, its documents, the documents that show a topic best.

Topics are numbered as in the posterior, from 0. The last column of a posterior's `document_topics` is the
share of topics that it does not list; here it is called unlisted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from franchise._arrays import Floats
from franchise._settings import whole_number
from franchise._text import printable, shortened
from franchise.corpus import Corpus
from franchise.corpus.metadata import nearest
from franchise.errors import SettingsError
from franchise.posterior.agreement import found_by
from franchise.posterior.coherence import top_terms

if TYPE_CHECKING:
    import pandas as pd

    from franchise.posterior.estimates import Posterior


_WORDS_SHOWN = 10  # of a document whose text is not kept
_OPENING = 72  # characters


def topics_frame(
    posterior: Posterior,
    *,
    n_terms: int = 10,
    labels: Sequence[str] | None = None,
    coherence: npt.ArrayLike | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Return a table with one row per topic.

    Parameters
    ----------
    posterior
        The fitted posterior.
    n_terms
        How many top terms to name.
    labels
        What each topic is called, for a column label.
    coherence
        One number per topic (`franchise.posterior.coherence`), for a column of that name.
    level
        Probability of the interval from `weight_low` to `weight_high`.

    Returns
    -------
    pandas.DataFrame
        Columns topic, perhaps label, weight, terms (the top terms as one string), weight_low, weight_high,
        support, chain_support, chains (how many have the topic), found_by (the same in words: every chain,
        most chains, few chains, one chain), perhaps runs (the share of independent runs that found the
        topic), stability, nearest, nearest_similarity, and perhaps coherence. Where topics are merged or
        hidden (`franchise.posterior.reading`) also members, the topics of the chains that each is.
    """
    import pandas as pd

    low, high = posterior.weights_interval(level).T
    columns: dict[str, Any] = {
        "topic": np.arange(len(posterior.phi)),
        **({} if labels is None else {"label": list(labels)}),
        "weight": posterior.weights,
        "terms": terms_in_words(posterior, n_terms),
        **({"members": [", ".join(map(str, one)) for one in posterior.members]} if posterior.read_as else {}),
        "weight_low": low,
        "weight_high": high,
        "support": posterior.support,
        "chain_support": posterior.chain_support,
        "chains": posterior.chain_counts,
        "found_by": found_by(posterior.chain_counts, len(posterior.draws)),
        **({} if posterior.run_support is None else {"runs": posterior.run_support}),
        "stability": posterior.stability,
        "nearest": posterior.nearest,
        "nearest_similarity": posterior.nearest_similarity,
    }
    if coherence is not None:
        columns["coherence"] = np.asarray(coherence)
    return pd.DataFrame(columns)


def with_columns(frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return some columns of a table, in the order in which they are named."""
    chosen = [columns] if isinstance(columns, str) else list(columns)
    if not chosen:
        raise SettingsError("columns is empty: name at least one, or None for all", code="empty-setting")
    for name in chosen:
        if name not in frame.columns:
            raise SettingsError(
                f"columns={name!r}: there is no such column; {nearest(str(name), frame.columns)}",
                code="unknown-column",
            )
    return frame[chosen]


def documents_frame(posterior: Posterior, **options: Any) -> pd.DataFrame:
    """Return the table of `documents_frames` in one piece."""
    import pandas as pd

    return pd.concat(documents_frames(posterior, **options), ignore_index=True)


def documents_frames(
    posterior: Posterior,
    *,
    n_topics: int = 3,
    labels: Sequence[str] | None = None,
    names: Mapping[int, str] | None = None,
) -> Iterator[pd.DataFrame]:
    """Yield a table with one row per document, some rows at a time: for many documents, it is large.

    Parameters
    ----------
    posterior
        The fitted posterior.
    n_topics
        How many topics of each document to name at most; shares that round to 0.00 are not named.
    labels
        What each topic is called, for a column label.
    names
        Names that were given to topics, by their numbers; the column topics has them.

    Yields
    ------
    pandas.DataFrame
        Columns document (its name), words (their number), topic (the largest listed one), perhaps label
        (what it is called), proportion (its share), topics (``"12 cosmology: 0.43, 3: 0.21"``), unlisted
        (the share of topics that are not listed) and opening (how its text begins, or its most frequent
        words). A document without words gets what is expected of any document.
    """
    import pandas as pd

    corpus = posterior.corpus
    n_topics = min(whole_number("n_topics", n_topics, 1), posterior.n_topics)
    words = corpus.document_lengths
    for first, mixtures in posterior.blocks():
        here = range(first, first + len(mixtures))
        shares = mixtures[:, :-1]
        order = np.argsort(-shares, axis=1, kind="stable")[:, :n_topics]
        largest = np.take_along_axis(shares, order, axis=1)
        rows = zip(order.tolist(), largest.tolist())
        yield pd.DataFrame(
            {
                "document": [printable(corpus.document_names[j]) for j in here],
                "words": words[here.start : here.stop],
                "topic": order[:, 0],
                **({} if labels is None else {"label": [labels[k] for k in order[:, 0]]}),
                "proportion": largest[:, 0],
                "topics": [shares_in_words(*row, names or {}) for row in rows],
                "unlisted": mixtures[:, -1],
                "opening": [opening(corpus, j) for j in here],
            },
            index=here,
        )


def representative_documents(posterior: Posterior, topic: int, n: int = 5) -> pd.DataFrame:
    """Return the documents that show best what a topic is about, at most `n`.

    Ranked by the lower end of Wilson's 95 % interval of the topic's share in the document, as if its words
    were drawn one by one: three words that are all of the topic come after a hundred of which ninety are.
    Documents without words are left out.

    Returns
    -------
    pandas.DataFrame
        Columns number (of the document in the corpus, from 0), document (its name), proportion (the topic's
        share), words (their number) and text: its text where the corpus keeps texts, else its most
        frequent words.
    """
    import pandas as pd

    corpus = posterior.corpus
    topic, words = whole_number("topic", topic, 0, posterior.n_topics - 1), corpus.document_lengths
    best = MostAbout([topic], words, n)
    for first, mixtures in posterior.blocks():
        best.look_at(first, mixtures)
    (chosen,) = best.documents
    return pd.DataFrame(
        {
            "number": chosen,
            "document": [printable(corpus.document_names[j]) for j in chosen],
            "proportion": posterior.mixtures(chosen)[:, topic],
            "words": words[chosen],
            "text": [printable(_text(corpus, j)) for j in chosen.tolist()],
        }
    )


class MostAbout:
    """Finds the documents that show best what topics are about, looking at some after the other.

    Parameters
    ----------
    topics
        Which topics.
    words
        The number of words of each document; those without words are left out.
    n
        How many documents of each topic at most.

    Attributes
    ----------
    documents
        Of each topic, the best of those that were looked at, best first; of equal ones, the first.
    """

    def __init__(self, topics: Sequence[int], words: npt.NDArray[np.int64], n: int) -> None:
        self._topics, self._words, self._n = topics, words, whole_number("n", n, 1)
        self.documents: list[npt.NDArray[np.int64]] = [np.zeros(0, np.int64) for _ in topics]
        self._bounds: list[Floats] = [np.zeros(0) for _ in topics]

    def look_at(self, first: int, mixtures: Floats) -> None:
        """Look at the mixtures of documents, from number `first` on."""
        words = self._words[first : first + len(mixtures)]
        there = np.flatnonzero(words)
        for i, topic in enumerate(self._topics):
            bounds = _lower_bound(mixtures[:, topic], words)
            bounds = np.concatenate([self._bounds[i], bounds[there]])
            best = np.argsort(-bounds, kind="stable")[: self._n]
            self.documents[i] = np.concatenate([self.documents[i], first + there])[best]
            self._bounds[i] = bounds[best]


def terms_in_words(posterior: Posterior, n_terms: int = 10) -> list[str]:
    """Return the top terms of each topic as one string."""
    terms = posterior.corpus.vocabulary
    return [printable(", ".join(terms[v] for v in row)) for row in top_terms(posterior.phi, n_terms)]


def shares_in_words(topics: Sequence[int], shares: Sequence[float], names: Mapping[int, str]) -> str:
    """Return topics and their shares as one string; shares that round to 0.00 are left out.

    Examples
    --------
    >>> shares_in_words([12, 3], [0.43, 0.21], {12: "cosmology"})
    '12 cosmology: 0.43, 3: 0.21'
    """
    return ", ".join(
        f"{k} {names[k]}: {share:.2f}" if k in names else f"{k}: {share:.2f}"
        for k, share in zip(topics, shares)
        if round(share, 2) > 0
    )


def opening(corpus: Corpus, j: int) -> str:
    """Return how the text of a document begins, in one line; of words alone, the most frequent ones."""
    # A text may be a whole book: only its beginning is looked at.
    line = printable(" ".join(_text(corpus, j)[: 4 * _OPENING].split()))
    return shorten(line, _OPENING, placeholder="…") if " " in line[:_OPENING] else shortened(line, _OPENING)


def _lower_bound(share: Floats, words: npt.NDArray[np.int64]) -> Floats:
    """Return the lower end of Wilson's 95 % interval of a share seen in this many words; 0 for none."""
    z = 1.96
    spread = z * np.sqrt(words * share * (1 - share) + z**2 / 4)
    return np.asarray((words * share + z**2 / 2 - spread) / (words + z**2))


def _text(corpus: Corpus, j: int) -> str:
    if corpus.texts is not None:
        return corpus.texts[j]
    words, lengths = corpus.runs(j)
    terms, cell = np.unique(words, return_inverse=True)
    counts = np.bincount(cell, weights=lengths, minlength=terms.size)
    most = np.argsort(-counts, kind="stable")[:_WORDS_SHOWN]
    return " ".join(corpus.vocabulary[v] for v in terms[most])
