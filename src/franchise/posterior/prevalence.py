"""How large topics are in groups of documents: years, categories, authors, with intervals.

The share of topic k in a group is that of the words, sum_j n_jk / sum_j n_j over its documents j, or,
with ``per="document"``, the mean of n_jk / n_j, in which a short document counts as much as a long one.
Of a topic that a draw does not have it is 0. The estimate is the mean over all draws.

An interval has to cover two things: which topic a word has is not known, and other documents might have been
written. So each of many replicates takes one draw of the posterior (all draws in turn) and resamples
documents within each group, with replacement: n - 1 of n, so that the variance of a mean is right in small
groups, too (Rao & Wu 1988). The bounds are quantiles of the replicates. A single document says nothing
about other documents; its interval is that of the draws alone, and too narrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from franchise._arrays import Floats
from franchise._settings import is_one_of, whole_number
from franchise._text import printable
from franchise.corpus import Groups
from franchise.corpus.groups import crossed
from franchise.corpus.metadata import check_length
from franchise.errors import CorpusError, SettingsError
from franchise.posterior.estimates import LEVEL, Posterior
from franchise.posterior.tables import terms_in_words

if TYPE_CHECKING:
    import pandas as pd


_DRAWN_AT_ONCE = 5_000_000  # resampled documents, about 50 bytes each
REPLICATES = 2000  # of which 50 lie outside at each end: bounds are then good to about a tenth of the width


def prevalence(
    posterior: Posterior,
    groups: Groups,
    *,
    within: Groups | None = None,
    interval: float = LEVEL,
    topics: Sequence[int] | None = None,
    per: str = "word",
    n_terms: int = 5,
    random_state: int = 0,
    replicates: int = REPLICATES,
) -> pd.DataFrame:
    """Return the share of each topic in each group of documents.

    Parameters
    ----------
    posterior
        The fitted posterior.
    groups
        The groups of its documents (`franchise.corpus.groups_of`).
    within
        Other groups of the documents: shares are then those of each pair of groups.
    interval, topics, per, n_terms, random_state
        As for `HDPTopicModel.prevalence`.
    replicates
        How often documents are resampled, at least once for each draw of the posterior; fewer take less
        time.

    Returns
    -------
    pandas.DataFrame
        Columns group, perhaps within (the other group), topic, terms, share, low, high and n_documents, topic
        by topic, groups in their order.
        Documents without words count nowhere, and a group of only such documents is left out. What is
        missing from a sum of one is in topics that are not listed.
    """
    import pandas as pd

    chosen = chosen_topics(topics, posterior.n_topics)
    low_high = tails(interval)
    shares = Shares(posterior, groups if within is None else crossed(groups, within), per)
    mean = np.mean([shares.of_draw(i) for i in range(shares.n_draws)], axis=0)
    drawn_anew = shares.replicates(
        whole_number("random_state", random_state, 0), whole_number("replicates", replicates, 1)
    )
    low, high = np.quantile(drawn_anew, low_high, axis=0)
    # Where few draws have a topic, their mean can lie outside all but a few replicates.
    low, high = np.minimum(low, mean), np.maximum(high, mean)
    names = terms_in_words(posterior, n_terms)
    labels = [one if isinstance(one, tuple) else (one,) for one in shares.labels]
    columns = zip(("group", "within"), zip(*labels, strict=True))  # the second only where there are pairs
    return pd.DataFrame(
        {
            **{name: [plain_label(one) for one in column] * len(chosen) for name, column in columns},
            "topic": np.repeat(chosen, len(labels)),
            "terms": [names[k] for k in chosen for _ in labels],
            "share": mean[:, chosen].T.ravel(),
            "low": low[:, chosen].T.ravel(),
            "high": high[:, chosen].T.ravel(),
            "n_documents": np.tile(shares.sizes, len(chosen)),
        }
    )


class Shares:
    """Shares of topics in groups, draw by draw, of all documents or of a resample."""

    def __init__(self, posterior: Posterior, groups: Groups, per: str) -> None:
        if not is_one_of(per, ("word", "document")):
            raise SettingsError(f"per={per!r}: give 'word' or 'document'", code="unknown-choice")
        lengths = posterior.corpus.document_lengths
        check_length("groups", len(groups.of), len(lengths))
        with_words = np.flatnonzero((lengths > 0) & (groups.of >= 0))
        if not with_words.size:
            raise CorpusError("there are no words in any document", code="empty-corpus")
        present, self._group = np.unique(groups.of[with_words], return_inverse=True)
        # Sorted, the documents of a group lie next to each other, and one of them is a number in a range.
        order = np.argsort(self._group, kind="stable")
        self._documents, self._group = with_words[order], self._group[order]
        self.labels = [groups.labels[g] for g in present]
        self.places, self.sizes = present, np.bincount(self._group)
        self.n_draws = len(posterior.flat_draws)
        # The weight of a document of n words is n or 1, so that of each word is 1 or 1 / n.
        self._weights = np.ones(len(order)) if per == "document" else lengths[self._documents].astype(float)
        self.weights = np.bincount(self._group, self._weights)
        self._posterior, self._lengths = posterior, lengths[self._documents]

    def of_draw(self, i: int) -> Floats:
        """Return the shares of the listed topics in each group, in one draw."""
        drawn = np.arange(len(self._documents))
        return self._shares(self._words(i), drawn, self._group, len(self.sizes))

    def replicates(self, seed: int, at_least: int = REPLICATES) -> Floats:
        """Return the shares in replicates, (replicates, groups, topics)."""
        n_groups = len(self.sizes)
        each = -(-at_least // self.n_draws)
        first = np.cumsum(self.sizes) - self.sizes
        # A resample of one document is that document.
        n_drawn = np.maximum(self.sizes - 1, 1)
        group = np.repeat(np.arange(n_groups), n_drawn)
        at_once = max(1, _DRAWN_AT_ONCE // len(group))
        found = []
        for i in range(self.n_draws):
            rng, words = np.random.default_rng([seed, i]), self._words(i)
            for begin in range(0, each, at_once):
                some = min(at_once, each - begin)
                rows = (group + n_groups * np.arange(some)[:, None]).ravel()
                drawn = first[group] + rng.integers(0, self.sizes[group], (some, len(group)))
                found.append(self._shares(words, drawn.ravel(), rows, some * n_groups))
        return np.concatenate(found).reshape(self.n_draws * each, n_groups, -1)

    def _words(self, i: int) -> sp.csr_array:
        """Return the words of each listed topic, and of all others, in each document in one draw."""
        column, n_topics = self._posterior.columns[i], self._posterior.n_topics
        to = sp.csr_array(
            (np.ones(column.size), (np.arange(column.size), column)), shape=(column.size, n_topics + 1)
        )
        return self._posterior.flat_draws[i].of_documents(self._documents) @ to

    def _shares(
        self,
        words: sp.csr_array,
        drawn: npt.NDArray[np.int64],
        rows: npt.NDArray[np.int64],
        n_rows: int,
    ) -> Floats:
        """Return the shares of the listed topics in rows of documents."""
        per_word = self._weights / self._lengths
        members = sp.csr_array((per_word[drawn], (rows, drawn)), shape=(n_rows, len(self._documents)))
        total = np.bincount(rows, self._weights[drawn], n_rows)
        return (members @ words).toarray()[:, : self._posterior.n_topics] / total[:, None]


def plain_label(label: Any) -> Any:
    """Return the label of a group such that any file can hold it."""
    return printable(label) if isinstance(label, str) else label


def chosen_topics(topics: Sequence[int] | None, n_topics: int) -> list[int]:
    """Return the topics that are asked for, each once; all if none is named."""
    if topics is None:
        return list(range(n_topics))
    given = [topics] if isinstance(topics, int | np.integer) else list(topics)
    return [whole_number("topics", topic, 0, n_topics - 1) for topic in dict.fromkeys(given)]


def tails(interval: object) -> list[float]:
    """Return the probabilities of the two bounds of an interval."""
    if not isinstance(interval, float | np.floating) or not 0.0 < interval < 1.0:
        raise SettingsError(
            f"interval={interval!r}: give a probability between 0 and 1, such as 0.95",
            code="not-a-probability",
        )
    return [(1.0 - float(interval)) / 2.0, (1.0 + float(interval)) / 2.0]
