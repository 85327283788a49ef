"""How much larger topics are in one group of documents than in another, with intervals.

The difference of topic k is that of its shares in the two groups (`posterior.prevalence`), in the same draw
and the same replicate. Its interval covers which topic a word has, and which documents might have been
written.

Groups may differ in more than what they are grouped by: one party may have spoken more in other years. Given
a second grouping, the groups are compared *within* each of its groups, and all these differences d_s are put
together with weights w_s = n_s1 n_s2 / (n_s1 + n_s2), where n are the words (or, with ``per="document"``, the
documents) of the two groups in s. That is the coefficient of the first grouping in a linear regression of the
share on both. Where one of the two groups has fewer than two documents, s is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from franchise._arrays import Floats
from franchise._settings import whole_number
from franchise.corpus import Groups
from franchise.corpus.groups import MISSING, crossed, place_of
from franchise.errors import CorpusError, SettingsError
from franchise.posterior.estimates import LEVEL, Posterior
from franchise.posterior.prevalence import REPLICATES, Shares, chosen_topics, plain_label, tails
from franchise.posterior.tables import terms_in_words

if TYPE_CHECKING:
    import pandas as pd

#: All groups but the one that is compared with them, and all differences put together.
OTHERS, ALL = "(others)", "(all)"
_FEWEST = 2  # documents of each group, for their difference to have an interval


def differences(
    posterior: Posterior,
    two: Groups,
    *,
    within: Groups | None = None,
    interval: float = LEVEL,
    topics: Sequence[int] | None = None,
    per: str = "word",
    n_terms: int = 5,
    random_state: int = 0,
    replicates: int = REPLICATES,
) -> pd.DataFrame:
    """Return how much larger each topic is in one group of documents than in another.

    Parameters
    ----------
    posterior
        The fitted posterior.
    two
        The two groups to compare (`two_groups`).
    interval, topics, per, n_terms, random_state
        As for `HDPTopicModel.prevalence_difference`.
    within
        Other groups of the documents, in each of which the two are compared.
    replicates
        How often documents are resampled, at least once for each draw of the posterior.

    Returns
    -------
    pandas.DataFrame
        As `HDPTopicModel.prevalence_difference`, without names of topics.
    """
    import pandas as pd

    chosen, low_high = chosen_topics(topics, posterior.n_topics), tails(interval)
    # All documents are in one group where there is no second grouping.
    strata = Groups("", "text", [ALL], np.zeros(len(two.of), np.int64)) if within is None else within
    shares = Shares(posterior, crossed(two, strata), per)
    pairs = _pairs(shares, two, strata, fewest=1 if within is None else _FEWEST)
    weights = _weights(shares.weights[pairs], each=within is not None)
    mean = np.mean([shares.of_draw(i) for i in range(shares.n_draws)], axis=0)
    first, second = weights @ mean[pairs[0]], weights @ mean[pairs[1]]
    n_replicates = whole_number("replicates", replicates, 1)
    drawn = shares.replicates(whole_number("random_state", random_state, 0), n_replicates)
    differ = np.moveaxis(weights @ (drawn[:, pairs[0]] - drawn[:, pairs[1]]), 0, -1)  # row, topic, replicate
    low, high = np.quantile(differ, low_high, axis=-1)
    sizes = (weights > 0) @ shares.sizes[pairs].T
    of_rows = [*(plain_label(shares.labels[cell][1]) for cell in pairs[0]), ALL][-len(weights) :]
    names, labels = terms_in_words(posterior, n_terms), [plain_label(label) for label in two.labels]

    def by_topic(values: Floats) -> Floats:
        return values[:, chosen].T.ravel()

    return pd.DataFrame(
        {
            "topic": np.repeat(chosen, len(weights)),
            "terms": [names[k] for k in chosen for _ in weights],
            **({} if within is None else {"within": of_rows * len(chosen)}),
            "first": labels[0],
            "second": labels[1],
            "share_first": by_topic(first),
            "share_second": by_topic(second),
            "difference": by_topic(first - second),
            # Where few draws have a topic, their mean can lie outside all but a few replicates.
            "low": by_topic(np.minimum(low, first - second)),
            "high": by_topic(np.maximum(high, first - second)),
            "probability": by_topic(_probability(differ)),
            "n_first": np.tile(sizes[:, 0], len(chosen)),
            "n_second": np.tile(sizes[:, 1], len(chosen)),
        }
    )


def two_groups(groups: Groups, of: Any = None) -> Groups:
    """Return the two groups to compare, and no others; documents of all others are in none.

    `of` is that of `HDPTopicModel.prevalence_difference`.
    """
    given = [of] if isinstance(of, str) or not hasattr(of, "__iter__") else list(of)
    known = [label for label in groups.labels if label != MISSING]
    if of is None:
        if len(known) != 2:
            names = ", ".join(str(label) for label in known[:20])
            raise SettingsError(
                f"of=None: {groups.name!r} has {len(known)} groups ({names}); give the two to compare, or "
                "one to compare with all others",
                code="not-two-groups",
            )
        given = known
    places = [place_of(groups, label) for label in given]
    if len(places) not in (1, 2) or len(set(places)) < len(places):
        raise SettingsError(
            f"of={of!r}: give two different groups, or one to compare with all others", code="not-two-groups"
        )
    labels = [groups.labels[place] for place in places]
    new = np.full(len(groups.labels), -1, np.int64)
    if len(places) == 1:
        labels.append(OTHERS)
        new[[i for i, label in enumerate(groups.labels) if label != MISSING]] = 1
    new[places] = np.arange(len(places))
    return Groups(groups.name, groups.kind, labels, np.where(groups.of < 0, -1, new[groups.of]))


def _pairs(shares: Shares, two: Groups, strata: Groups, fewest: int) -> npt.NDArray[np.int64]:
    """Return the places in the shares of the first and of the second group in each stratum that has both."""
    place = {label: i for i, label in enumerate(shares.labels)}
    cells = [[place.get((label, stratum), -1) for stratum in strata.labels] for label in two.labels]
    found = np.array(cells)
    there = np.all((found >= 0) & (shares.sizes[found] >= fewest), axis=0)
    if there.any():
        return found[:, there]
    if len(strata.labels) == 1 and fewest == 1:
        empty = two.labels[int(np.argmin(found[:, 0]))]
        raise CorpusError(f"group {empty!r} has no documents with words", code="empty-group")
    raise CorpusError(
        f"no group of {strata.name!r} has {fewest} documents or more of both {two.labels[0]!r} and "
        f"{two.labels[1]!r}; give a longer step, or compare them without {strata.name!r}",
        code="nothing-to-compare",
    )


def _weights(sizes: npt.NDArray[Any], *, each: bool) -> Floats:
    """Return the rows of a topic as weights of the strata: if asked for, each by itself; then all together.

    `sizes` are those of the two groups in each stratum.
    """
    together = sizes[0] * sizes[1] / sizes.sum(axis=0)
    rows = [together[None] / together.sum()]
    return np.concatenate([np.eye(len(together)), *rows] if each else rows)


def _probability(differ: Floats) -> Floats:
    """Return the share of replicates, the last axis, above 0: never quite 0 or 1, as they are not many."""
    more, same = (differ > 0).sum(axis=-1), (differ == 0).sum(axis=-1)
    return np.asarray((more + 0.5 * same + 0.5) / (differ.shape[-1] + 1))
