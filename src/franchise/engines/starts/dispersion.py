"""Overdispersion of a table of counts: how much more counts vary than words drawn one by one would.

If each document's term distribution p is replaced by a draw from Dirichlet(c p), the variance of a count
grows by the factor (N + c) / (1 + c), where N is the number of words of the document. No mixture of topics
explains this. A topic model takes every word as evidence, so it answers with more and more topics. A document
of N such words says about as much as N (1 + c) / (N + c) independent words: keep that number of words of each
document (`Corpus.downsampled`), and counts vary about as much as the model expects.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from franchise._arrays import CellArrays, Floats
from franchise.corpus.cells import selected
from franchise.engines.starts.table_fits import Fit, Table, dense, from_topics, hide
from franchise.engines.starts.table_steps import set_all_means, set_growth

MOST_DOCUMENTS = 2_000  # for the estimate of the concentration
_STEPS = 100
_LEAST_MEAN = 1.0  # words; squares of smaller cells' residuals have heavy tails
_USED = 0.002  # least share of a document's words in a topic that counts as estimated
_ROUNDS, _ROUNDS_WITH_ALL = 30, 10
_OUTLYING = 6.0  # standard deviations of the mean of a document's squares
_ERRORS = 2.0  # standard errors that count as clear
# The variance of the median document must grow by this share. Fits to data without noise give up to 0.1,
# because their topics are estimated too.
_LEAST_EXCESS = 0.2


def estimate_concentration(cells: CellArrays, topics: npt.ArrayLike, seed: int) -> float:
    """Estimate the concentration c of documents around mixtures of topics.

    A tenth of the cells is hidden, the topics are fitted to the others, and the squared Pearson residuals of
    the hidden cells are compared with the factors (N + c) / (1 + c) of documents with N words.

    Parameters
    ----------
    cells
        Counts of documents by terms.
    topics
        Topics by terms that suit the table, such as `Choice.most_detailed`.
    seed
        Seed for the choice of hidden cells.

    Returns
    -------
    float
        The concentration; ``inf`` if counts vary no more than words drawn one by one.
    """
    generator = np.random.Generator(np.random.PCG64([seed, 1]))
    documents = np.flatnonzero(np.diff(cells.cell_ptr))
    if documents.size > MOST_DOCUMENTS:
        documents = np.sort(generator.permutation(documents)[:MOST_DOCUMENTS])
    table = hide(dense(selected(cells, documents)), generator)
    h = np.array(topics, dtype=np.float64)
    fit = from_topics(table, h, _STEPS)
    means = np.empty_like(table.x)
    set_all_means(fit.w, fit.h, means)
    counted = ~table.seen & (means >= _LEAST_MEAN)
    expected = np.where(counted, means * _growth(table, fit, means), 1.0)
    squares = np.where(counted, (table.x - means) ** 2 / expected, 0.0)
    n_cells = counted.sum(axis=1)
    has_cells = n_cells > 0
    excess = squares.sum(axis=1)[has_cells] / n_cells[has_cells] - 1.0
    return _solved(excess, n_cells[has_cells], table.x.sum(axis=1)[has_cells])


def effective_counts(lengths: npt.ArrayLike, concentration: float) -> npt.NDArray[np.int64]:
    """Return the number of independent words that each document is worth: N (1 + c) / (N + c).

    Parameters
    ----------
    lengths
        Numbers of words N.
    concentration
        The concentration c; ``inf`` leaves the numbers as they are.

    Returns
    -------
    numpy.ndarray
        Whole numbers, at least 1 where there are words.

    Examples
    --------
    >>> effective_counts([0, 1, 300, 10**6], 300.0).tolist()
    [0, 1, 150, 301]
    """
    n = np.asarray(lengths, dtype=np.int64)
    if math.isinf(concentration):
        return n.copy()
    worth = np.rint(n * (1.0 + concentration) / (n + concentration)).astype(np.int64)
    return np.asarray(np.minimum(np.maximum(worth, 1), n))


def _growth(table: Table, fit: Fit, means: Floats) -> Floats:
    """Return the factor by which residuals grow because mixtures are estimated from the seen cells."""
    n_topics = len(fit.h)
    growth = np.empty_like(means)
    set_growth(
        table.seen,
        fit.w,
        fit.h,
        means,
        _USED * fit.w.sum(axis=1),
        growth,
        np.empty(n_topics, np.int64),
        np.empty((n_topics, n_topics)),
        np.empty(n_topics),
    )
    return growth


def _solved(excess: Floats, n_cells: npt.NDArray[np.int64], lengths: Floats) -> float:
    """Return c, given that the expected excess of a document is (N - 1) / (1 + c).

    Squares vary with the factor's square, so documents are weighted by its inverse, which needs c itself.
    Documents far beyond the factor are left out: they have a topic that the others lack.
    """
    grows = np.maximum(lengths - 1.0, 0.0)
    if not excess.size or grows.sum() <= 0.0:
        return math.inf
    slope = 0.0  # 1 / (1 + c)
    weights = n_cells.astype(np.float64)
    for step in range(_ROUNDS):
        factor = 1.0 + grows * slope
        usual = excess + 1.0 <= factor * (1.0 + _OUTLYING * np.sqrt(2.0 / n_cells))
        weights = np.where(usual | (step < _ROUNDS_WITH_ALL), n_cells / factor**2, 0.0)
        slope = max(0.0, float(np.sum(weights * excess) / np.sum(weights * grows)))
    rest = weights * (excess - grows * slope)
    error = float(np.sqrt(np.sum(rest**2)) / np.sum(weights * grows))
    if slope <= _ERRORS * error or slope * float(np.median(grows)) < _LEAST_EXCESS:
        return math.inf
    return max(1.0 / slope - 1.0, 1e-3)
