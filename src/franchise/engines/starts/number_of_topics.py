"""Choose the number of topics for a table of counts, and topics to start chains from.

A chain on a table of few terms and many counts keeps about the number of topics that it begins with. So the
number is chosen before the chain starts: a tenth of the cells (document, term) is hidden, topics are fitted
to the others, and the hidden cells are scored. Cells without words are hidden too.

Fits grow in steps of 25%: new topics begin at what the last fit leaves unexplained (`unexplained`), or all
topics begin at documents, whichever is likelier. This is done twice: with documents that may have all topics,
and with topics that leave the documents in which they explain little. If documents have few of many topics,
only the second way finds the rare ones; the hidden cells decide which way is used. Next, topics are left out
one after the other, and numbers around the best are tried. The smallest number whose score is within a
standard error of the best is chosen.

The whole table is held as an array. This suits hundreds of terms, but not text.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from franchise._arrays import CellArrays, Floats
from franchise.corpus.cells import selected
from franchise.engines.starts.table_fits import (
    Fit,
    Table,
    dense,
    fitted,
    from_topics,
    hide,
    improved,
    without_one,
)
from franchise.engines.starts.unexplained import with_more

MOST_DOCUMENTS = 2_000  # for the choice of the number
_MOST_CELLS = 20_000_000  # of the table that the final topics are fitted to
_RATIO = 1.25
_STEPS, _STEPS_GROWN = 400, 100
# The least that a topic explains in a document that has it, in squared standard deviations, if documents have
# few topics.
_LEAST = 8.0
_FALLS = 3  # consecutive numbers clearly below the best
_LEAST_SHARE = 0.6  # of the best number: no fewer topics are tried
_FAR, _FAR_FALLS = 5.0, 3  # standard errors below the best, and how often in a row, to end early
# The most that one document counts for or against a number, in nats: some have cells that no topics predict.
_MOST = 50.0
_CLEAR = 1.0  # standard errors
_STARTS = 3  # most plausible numbers for chains to begin with
_TIE = 0.01  # nats that count as no difference
_NEIGHBOURS = 0.08  # relative distance from the best of the numbers tried around it


class Score(NamedTuple):
    """How well a number of topics predicts hidden cells.

    Attributes
    ----------
    number
        Number of topics.
    below
        Log probability of the hidden cells below that of the best number, in nats.
    error
        Standard error of `below`, from the differences between documents.
    """

    number: int
    below: float
    error: float


@dataclass(frozen=True)
class Choice:
    """The chosen number of topics.

    Attributes
    ----------
    number
        The smallest number whose score is within a standard error of the best.
    topics
        That number of topics by terms, fitted to all cells; rows sum to one.
    scores
        The scores of all numbers tried, in order.
    plausible
        The chosen number and the next larger ones whose score is within a standard error of the best.
    topics_of
        Topics for each plausible number.
    most_detailed
        Topics for the number with the best score.
    least
        The least that a topic explains in a document that has it (`table_fits.improved`); 0 if documents may
        have all topics.
    """

    number: int
    topics: Floats
    scores: tuple[Score, ...]
    plausible: tuple[int, ...]
    topics_of: dict[int, Floats]
    most_detailed: Floats
    least: float


def choose_number(
    cells: CellArrays, seed: int, *, concentration: float = math.inf, most: int | None = None
) -> Choice:
    """Choose a number of topics for a table of counts.

    Parameters
    ----------
    cells
        Counts of documents by terms, with at least one word.
    seed
        Seed for the choice of hidden cells, and of documents at which topics begin.
    concentration
        Concentration of documents around mixtures of topics (`estimate_concentration`). Documents have the
        weight of the independent words that they are worth.
    most
        The largest number to try; by default the number of terms.

    Returns
    -------
    Choice
        The number, topics for it, and the alternatives.
    """
    generator = np.random.Generator(np.random.PCG64([seed, 0]))
    documents = np.flatnonzero(np.diff(cells.cell_ptr))
    sample = documents
    if documents.size > MOST_DOCUMENTS:
        sample = np.sort(generator.permutation(documents)[:MOST_DOCUMENTS])
    table = hide(_weighted(cells, sample, concentration), generator)
    limit = min(cells.n_terms if most is None else most, cells.n_terms, sample.size)
    limit = max(1, limit)
    with_all = _grown(table, limit, generator, 0.0, {})
    with_few = _grown(table, limit, generator, _LEAST, with_all)
    is_sparse = _difference(with_few[_best(with_few)], with_all[_best(with_all)])[0] > 0.0
    least, fits = (_LEAST, with_few) if is_sparse else (0.0, with_all)
    _try_path(table, fits, least)
    if not least:
        _try_neighbours(table, fits, limit, generator)
    scores = _compared(fits)
    plausible = [one.number for one in scores if one.below <= _CLEAR * one.error + _TIE][:_STARTS]
    if documents.size * cells.n_terms <= _MOST_CELLS:
        sample = documents
    x = _weighted(cells, sample, concentration)
    topics_of = {n: _on_all_cells(x, fits[n].h, least) for n in plausible}
    best = topics_of.get(_best(fits))
    if best is None:
        best = _on_all_cells(x, fits[_best(fits)].h, least)
    return Choice(plausible[0], topics_of[plausible[0]], scores, tuple(plausible), topics_of, best, least)


def topics_for_chain(choice: Choice, chain: int) -> Floats:
    """Return the topics that a chain starts from.

    Most chains get the chosen number; every third chain gets another plausible number, if there is any. If
    chains keep the number that they begin with, they differ, and the results show it.
    """
    others = choice.plausible[1:]
    if chain % 3 != 2 or not others:
        return choice.topics
    return choice.topics_of[others[chain // 3 % len(others)]]


def _grown(
    table: Table, limit: int, generator: np.random.Generator, least: float, others: dict[int, Fit]
) -> dict[int, Fit]:
    """Fit more and more topics, until hidden cells are predicted clearly worse three times in a row.

    Each fit grows from the one before. With `least`, it competes with the fit of `others` of the same number,
    if any, after topics have left documents; otherwise with a fit from new seeds.
    """
    fit, falls = fitted(table, 1, _STEPS, generator), 0
    fits = {1: fit}
    while falls < _FALLS and len(fit.h) < limit:
        before = len(fit.h)
        number = min(limit, max(before + 1, round(before * _RATIO)))
        fit = with_more(table, fit, number - before, _STEPS_GROWN, least)
        if not least:
            other = fitted(table, number, _STEPS, generator)
        elif number in others:
            other = improved(table, others[number].w, others[number].h, 0, least)
        else:
            other = fit
        if len(other.h) >= len(fit.h) and other.likelihood > fit.likelihood:
            fit = other
        if len(fit.h) == before:
            break
        fits[len(fit.h)] = fit
        below, error = _difference(fits[_best(fits)], fit)
        falls = falls + 1 if below > _CLEAR * error else 0
    return fits


def _try_path(table: Table, fits: dict[int, Fit], least: float) -> None:
    """Leave out topics one by one, beginning with more topics than the best number."""
    best = _best(fits)
    above = [number for number in fits if number > best]
    fit = fits[min(above, default=best)]
    fewest = max(1, int(_LEAST_SHARE * best))
    falls = 0
    while len(fit.h) > fewest and falls < _FAR_FALLS:
        fit = without_one(table, fit, least)
        _keep(fits, fit)
        best = _best(fits)
        below, error = _difference(fits[best], fit)
        falls = falls + 1 if len(fit.h) < best and below > _FAR * error else 0


def _try_neighbours(table: Table, fits: dict[int, Fit], limit: int, generator: np.random.Generator) -> None:
    """Fit numbers around the best from new seeds."""
    best = _best(fits)
    gap = max(1, round(_NEIGHBOURS * best))
    for number in sorted({best - gap, best, best + gap}):
        if 1 <= number <= limit:
            _keep(fits, fitted(table, number, _STEPS, generator))


def _keep(fits: dict[int, Fit], fit: Fit) -> None:
    """Keep a fit unless a known one with as many topics is likelier; hidden cells do not matter."""
    number = len(fit.h)
    if number not in fits or fit.likelihood > fits[number].likelihood:
        fits[number] = fit


def _best(fits: dict[int, Fit]) -> int:
    """Return the number with the best score, documents being compared with their median over the fits."""
    numbers = sorted(fits)
    scores = np.stack([fits[number].scores for number in numbers])
    beyond = scores - np.median(scores, axis=0)
    return numbers[int(np.argmax(np.clip(beyond, -_MOST, _MOST).sum(axis=1)))]


def _difference(best: Fit, other: Fit) -> tuple[float, float]:
    """Return how far another fit is below the best, and the standard error over documents."""
    differences = np.clip(best.scores - other.scores, -_MOST, _MOST)
    return float(differences.sum()), float(np.sqrt(differences.size) * differences.std())


def _compared(fits: dict[int, Fit]) -> tuple[Score, ...]:
    best = fits[_best(fits)]
    return tuple(Score(number, *_difference(best, fits[number])) for number in sorted(fits))


def _weighted(cells: CellArrays, documents: npt.NDArray[np.int64], concentration: float) -> Floats:
    """Return the counts of documents, each multiplied by the share of its words that are independent."""
    x = dense(selected(cells, documents))
    if math.isfinite(concentration):
        x *= (1.0 + concentration) / (x.sum(axis=1, keepdims=True) + concentration)
    return x


def _on_all_cells(x: Floats, h: Floats, least: float) -> Floats:
    """Fit topics to all cells, beginning with those of a fit to most cells."""
    # A term that a topic lacks entirely could never enter it.
    h = 0.999 * h + 0.001 * x.sum(axis=0) / x.sum()
    return from_topics(Table(x, np.ones(x.shape, np.bool_)), h, _STEPS // 2, least).h
