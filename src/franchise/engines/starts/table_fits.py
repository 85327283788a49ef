"""Fits of topics to a table of counts with hidden cells: seeds, steps, scores, fewer topics.

The number of topics is chosen in `number_of_topics`. The steps of a fit are in `table_steps`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from franchise._arrays import CellArrays, Floats
from franchise.engines.starts.table_steps import fit_step, leave_documents, mixture_step, score_cells

Mask = npt.NDArray[np.bool_]

HIDDEN = 0.1  # share of the cells (document, term) that a fit does not see, cells without words included
# Share of a document's words that may be any term, with the frequencies of the whole table. Without it, one
# document that lacks a topic could decide which fit is best.
_BACKGROUND = 0.005
_PERIOD = 25  # steps between two checks of the likelihood
_GAIN = 1.0  # nats per topic and period that justify more steps
_CUTS = 2  # times that topics leave documents
_OWN = 0.9  # share of the document in a topic's seed
# To drop one topic: the number of topics tried, steps for each of them, and steps for the best one.
_TRIED, _STEPS_TRIED, _STEPS_DROPPED = 4, 8, 50
_CONE_STEPS, _MIXTURE_STEPS = 20, 100


class Table(NamedTuple):
    """Counts of documents by terms, and the cells that a fit sees."""

    x: Floats
    seen: Mask


class Fit(NamedTuple):
    """Topics fitted to the table, and their scores.

    Attributes
    ----------
    w
        Words of each document in each topic.
    h
        Topics by terms; rows sum to one.
    likelihood
        Log likelihood of the seen cells.
    scores
        Log probability of each document's hidden cells, given their number of words.
    """

    w: Floats
    h: Floats
    likelihood: float
    scores: Floats


def dense(cells: CellArrays) -> Floats:
    """Return the counts as an array of documents by terms."""
    x = np.zeros((len(cells.cell_ptr) - 1, cells.n_terms))
    documents = np.repeat(np.arange(len(x)), np.diff(cells.cell_ptr))
    x[documents, cells.terms] = cells.counts
    return x


def hide(x: Floats, generator: np.random.Generator) -> Table:
    """Hide each cell with the same probability."""
    return Table(x, generator.random(x.shape) >= HIDDEN)


def evenly(x: Floats, h: Floats) -> Floats:
    """Return uniform mixtures: the words of each document in equal parts."""
    return np.repeat(x.sum(axis=1, keepdims=True) / len(h), len(h), axis=1)


def fitted(table: Table, n_topics: int, most_steps: int, generator: np.random.Generator) -> Fit:
    """Fit this number of topics, or fewer if fewer documents differ."""
    h = _seeds(table, n_topics, generator)
    return improved(table, evenly(table.x, h), h, most_steps)


def improved(table: Table, w: Floats, h: Floats, most_steps: int, least: float = 0.0) -> Fit:
    """Make steps from these mixtures and topics until they no longer pay.

    Then topics leave the documents in which they explain less than `least` (`starts.table_steps`), and more
    steps follow. This is done twice, because the words of topics that leave go to the others.
    """
    fit = _after_steps(table, w, h, most_steps)
    for _ in range(_CUTS if least > 0.0 else 0):
        w = fit.w.copy()
        leave_documents(table.seen, w, fit.h, np.empty(h.shape[1]), least)
        fit = _after_steps(table, w, fit.h, _PERIOD)
    return fit


def _after_steps(table: Table, w: Floats, h: Floats, most_steps: int) -> Fit:
    w, h = np.ascontiguousarray(w).copy(), np.ascontiguousarray(h).copy()
    new_h, ratios = np.empty_like(h), np.empty(h.shape[1])
    scores, background = np.empty(len(w)), _BACKGROUND * table.x.sum(axis=0) / table.x.sum()
    before, likelihood = -np.inf, score_cells(*table, w, h, background, ratios, scores)
    for done in range(0, most_steps, _PERIOD):
        before = likelihood
        for _ in range(min(_PERIOD, most_steps - done)):
            fit_step(*table, w, h, new_h, ratios)
        likelihood = score_cells(*table, w, h, background, ratios, scores)
        if likelihood - before < _GAIN * len(h):
            break
    return Fit(w, h, float(likelihood), scores)


def from_topics(table: Table, h: Floats, most_steps: int, least: float = 0.0) -> Fit:
    """Fit a table from topics that suit it.

    Topics leave documents before the topics change, because topics fitted to mixtures of all of them
    would differ.
    """
    w = evenly(table.x, h)
    if least > 0.0:
        terms = np.empty(h.shape[1])
        for _ in range(_MIXTURE_STEPS):
            mixture_step(*table, w, h, terms)
        leave_documents(table.seen, w, h, terms, least)
    return improved(table, w, h, most_steps, least)


def without_one(table: Table, fit: Fit, least: float = 0.0) -> Fit:
    """Return the fit without the topic that is missed least; its words go to the others.

    A topic is missed little if a mixture of the others is close to it. The first few by this measure are each
    left out for some steps, and the likelihood decides.
    """
    shares, loss = _cone(fit)
    best: Fit | None = None
    for k in np.argsort(loss, kind="stable")[:_TRIED].tolist():
        others = np.delete(np.arange(len(fit.h)), k)
        w = fit.w[:, others] + fit.w[:, [k]] * shares[k, others]
        # A topic without words in a document could never get any.
        w = np.maximum(w, 1e-3 * w.sum(axis=1, keepdims=True) / len(others))
        trial = improved(table, w, fit.h[others], _STEPS_TRIED)
        if best is None or trial.likelihood > best.likelihood:
            best = trial
    assert best is not None
    return improved(table, best.w, best.h, _STEPS_DROPPED, least)


def _cone(fit: Fit) -> tuple[Floats, Floats]:
    """Return each topic as a mixture of the others, and the loss in nats over all words."""
    h = fit.h
    shares = np.full((len(h), len(h)), 1.0 / (len(h) - 1))
    np.fill_diagonal(shares, 0.0)
    table, ratios = Table(h, np.ones(h.shape, np.bool_)), np.empty(h.shape[1])
    for _ in range(_CONE_STEPS):
        mixture_step(*table, shares, h, ratios)
    after = np.empty(len(h))
    unseen = ~table.seen  # all cells are scored
    score_cells(h, unseen, shares, h, np.full(h.shape[1], 1e-12), ratios, after)
    entropy = np.sum(h * np.log(np.maximum(h, 1e-300)), axis=1)
    return shares, np.asarray(fit.w.sum(axis=0) * (entropy - after))


def _seeds(table: Table, n_topics: int, generator: np.random.Generator) -> Floats:
    """Choose different documents as seeds of topics (k-means++ on the square roots of their profiles)."""
    frequencies = table.x.sum(axis=0) / table.x.sum()
    x = np.where(table.seen, table.x, 0.0)
    absent = np.where(table.seen, 0.0, frequencies)
    unseen_share = np.minimum(absent.sum(axis=1), 0.5)
    x += absent * (x.sum(axis=1) / (1.0 - unseen_share))[:, None]
    profiles = (x + frequencies) / (x.sum(axis=1, keepdims=True) + 1.0)
    roots = np.sqrt(profiles)
    distances, chosen = np.ones(len(x)), list[int]()
    for k in range(min(n_topics, len(x))):
        sums = np.cumsum(distances)
        if sums[-1] <= 1e-12:
            break
        j = int(np.searchsorted(sums, generator.random() * sums[-1], side="right"))
        chosen.append(min(j, len(x) - 1))
        own = np.sum((roots - roots[chosen[-1]]) ** 2, axis=1)
        distances = own if k == 0 else np.minimum(distances, own)
    return np.asarray(_OWN * profiles[chosen] + (1.0 - _OWN) * frequencies)
