"""More topics for a table of counts, from what a fit leaves unexplained.

A document with a rare topic has more words than the fit expects, and documents with the same rare topic have
them at the same terms. So a new topic begins at the unexplained words of a group of these documents. Such
words are much closer to the rare topic than the documents themselves, which have other topics too.
"""

from __future__ import annotations

import numpy as np

from franchise._arrays import Floats
from franchise.engines.starts.table_fits import Fit, Table, improved
from franchise.engines.starts.table_steps import set_all_means, set_likeness

_LOOKED_AT = 200  # documents around which groups may form
_ALIKE = 0.8  # least cosine of the unexplained words of documents in a group
_OWN = 0.98  # share of the unexplained words in a new topic
_SHARE = 0.02  # of every document, for new topics to begin with
_KEPT = 0.999  # share of an old topic that is unchanged


def with_more(table: Table, fit: Fit, number: int, most_steps: int, least: float = 0.0) -> Fit:
    """Return the fit with up to `number` more topics; the same fit if nothing is unexplained.

    Groups are taken in turn, each time the one that explains most: the sum of its documents' deviances
    above their mean without deviation.
    """
    means = np.empty_like(table.x)
    set_all_means(fit.w, fit.h, means)
    x = np.where(table.seen, table.x, means)
    rest = np.maximum(x - means, 0.0)
    new = _groups(rest, _excess(x, means, table), number)
    if not len(new):
        return fit
    frequencies = table.x.sum(axis=0) / table.x.sum()
    lengths = table.x.sum(axis=1, keepdims=True)
    # A term that a topic lacks, or a topic that a document lacks, could never enter it.
    h = np.vstack([_KEPT * fit.h + (1.0 - _KEPT) * frequencies, _OWN * new + (1.0 - _OWN) * frequencies])
    old_w = np.maximum(fit.w, (1.0 - _KEPT) * lengths / len(fit.h))
    new_w = (_SHARE * lengths + rest.sum(axis=1, keepdims=True) / 2.0) / len(new)
    return improved(table, np.hstack([old_w, np.repeat(new_w, len(new), axis=1)]), h, most_steps, least)


def _excess(x: Floats, means: Floats, table: Table) -> Floats:
    """Return the deviance of each document minus its number of seen cells."""
    ratios = np.where(x > 0.0, x / np.maximum(means, 1e-300), 1.0)
    deviance = 2.0 * np.sum(x * np.log(ratios) - (x - means), axis=1)
    return np.asarray(np.maximum(deviance - table.seen.sum(axis=1), 0.0))


def _groups(rest: Floats, excess: Floats, number: int) -> Floats:
    """Return the unexplained words of groups of documents, as topics by terms."""
    lengths = np.sqrt((rest**2).sum(axis=1, keepdims=True))
    directions = rest / np.maximum(lengths, 1e-300)
    chosen = np.argsort(-excess, kind="stable")[:_LOOKED_AT]
    likeness = np.empty((chosen.size, len(rest)))
    set_likeness(directions, chosen, likeness)
    is_alike, left, found = likeness >= _ALIKE, excess.copy(), list[Floats]()
    while len(found) < number:
        explained = np.where(is_alike, left, 0.0).sum(axis=1)
        best = int(np.argmax(explained))
        if explained[best] <= 0.0:
            break
        found.append(rest[is_alike[best]].sum(axis=0))
        left[is_alike[best]] = 0.0
    new = np.array(found).reshape(len(found), rest.shape[1])
    return np.asarray(new / new.sum(axis=1, keepdims=True))
