"""What the page shows of each topic: terms, intervals, place on the map, share by draw and by document.

The page ranks terms by relevance (`posterior.labels`) itself, for any λ of `RELEVANCE_STEPS`; it is handed
the terms that can come up.

There are more topics than colours that people can tell apart, so colours repeat. Topics that stand side by
side, in the table, on the map or in a tree, differ: topics are coloured one after another, the largest first,
each with the colour that disturbs least; then each may change its colour, as long as that helps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh

from franchise._arrays import Floats
from franchise.corpus import Corpus
from franchise.posterior.coherence import coherence, top_terms
from franchise.posterior.estimates import Posterior
from franchise.posterior.labels import own_terms, relevance
from franchise.posterior.tables import MostAbout

Integers = npt.NDArray[np.int64]

RELEVANCE_STEPS = np.linspace(0.0, 1.0, 21)
TERMS_SHOWN = 20
TERMS_WITH_INTERVAL = 15
_TERMS_NAMED = 10  # where a topic is named by its terms
DOCUMENTS_SHOWN = 5
PREVALENCE_BINS = 20
_NEIGHBOURS = 5
_MOST_DRAWS = 40  # of a chain, in the picture of a topic's share by draw
_FLAT = 1e-12  # a direction in which topics do not differ
N_TOPIC_COLOURS = 10  # in the style sheet
_BESIDE_ON_MAP = 5
_ROWS_APART = 2  # in the table
_ROUNDS = 20


def relevant_terms(phi: Floats, counts: Integers, n: int = TERMS_SHOWN) -> list[Integers]:
    """Return, for each topic, the terms that are among the `n` most relevant at any step of λ.

    Terms that never occur are left out: there is nothing that they could be compared with.
    """
    used = np.flatnonzero(counts)
    log_share = np.log(counts[used] / counts.sum())
    n = min(n, used.size)
    found = []
    for row in phi:
        scores = relevance(np.log(row[used]), log_share, RELEVANCE_STEPS[:, None])
        found.append(used[np.unique(np.argpartition(-scores, n - 1, axis=1)[:, :n])])
    return found


def positions(similarity: npt.ArrayLike, weights: npt.ArrayLike) -> tuple[Floats, float]:
    """Place topics on a plane such that like ones are near each other (weighted classical scaling).

    Topics count by their weights: a handful of tiny odd ones must not press all others into one spot.

    Parameters
    ----------
    similarity
        Bhattacharyya affinity of each two topics; the Hellinger distance is ``sqrt(1 - similarity)``.
    weights
        Share of the words of each topic.

    Returns
    -------
    tuple
        Positions (topics, 2), and the share of the (weighted) differences that the plane shows.
    """
    squared = 1.0 - np.asarray(similarity, np.float64)
    np.fill_diagonal(squared, 0.0)
    share = np.maximum(np.asarray(weights, np.float64), 1e-9)
    share /= share.sum()
    away = squared @ share  # squared distance of each topic from all
    products = -0.5 * (squared - away - away[:, None] + share @ away)
    roots = np.sqrt(share)
    scaled = roots[:, None] * products * roots
    n = len(scaled)
    values, vectors = eigh(scaled, subset_by_index=[max(0, n - 2), n - 1])
    plane, shown = np.zeros((n, 2)), 0.0
    for axis, (value, vector) in enumerate(zip(values[::-1], vectors.T[::-1])):
        if value > _FLAT:
            column = products @ (roots * vector) / np.sqrt(value)
            # An eigenvector may come with either sign: turn it the same way on every machine.
            plane[:, axis] = column * np.sign(column[np.abs(column).argmax()])
            shown += float(value)
    total = float(np.trace(scaled))
    return plane, min(1.0, shown / total) if total > _FLAT else 1.0


def shares_by_draw(posterior: Posterior) -> Floats:
    """Return the share of the words that each listed topic has in each draw; NaN where it is absent."""
    shares = np.full((len(posterior.flat_draws), posterior.n_topics), np.nan)
    for row, draw, columns in zip(shares, posterior.flat_draws, posterior.columns, strict=True):
        listed = columns < posterior.n_topics
        row[columns[listed]] = draw.topic_terms.sum(axis=1)[listed] / posterior.corpus.n_words
    return shares


def prevalence(shares: Floats) -> Integers:
    """Count documents by the share that each topic has of them, (topics, bins of equal width)."""
    n_topics = shares.shape[1]
    counts = np.zeros((n_topics, PREVALENCE_BINS), np.int64)
    for k in range(n_topics):
        bins = np.minimum((shares[:, k] * PREVALENCE_BINS).astype(int), PREVALENCE_BINS - 1)
        counts[k] = np.bincount(bins, minlength=PREVALENCE_BINS)
    return counts


class InDocuments(NamedTuple):
    """How topics occur in documents."""

    best: list[list[int]]  # for each topic the documents that show best what it is about, best first
    prevalence: Integers  # documents by the share that each topic has of them, (topics, bins of equal width)


def look_at_documents(posterior: Posterior, corpus: Corpus) -> InDocuments:
    """Look at all documents once, some at a time: there may be too many to have them all in memory."""
    best = MostAbout(range(posterior.n_topics), corpus.document_lengths, DOCUMENTS_SHOWN)
    counts = np.zeros((posterior.n_topics, PREVALENCE_BINS), np.int64)
    for first, mixtures in posterior.blocks():
        best.look_at(first, mixtures)
        counts += prevalence(mixtures[:, :-1])
    return InDocuments([documents.tolist() for documents in best.documents], counts)


def draws_shown(posterior: Posterior) -> list[Integers]:
    """Return which draws of each chain are drawn, evenly spaced, by their number in `flat_draws`."""
    shown, first = [], 0
    for chain in posterior.draws:
        n = min(len(chain), _MOST_DRAWS)
        shown.append(first + np.unique(np.linspace(0, len(chain) - 1, n).round().astype(np.int64)))
        first += len(chain)
    return shown


def describe_topics(posterior: Posterior, corpus: Corpus) -> dict[str, Any]:
    """Return what the page needs of the topics, documents apart, and the terms that it names."""
    terms = relevant_terms(posterior.phi, corpus.term_counts)
    top = top_terms(posterior.phi, TERMS_WITH_INTERVAL)
    own = own_terms(posterior.phi, corpus.term_counts, _TERMS_NAMED)
    named = np.unique(np.concatenate([*terms, top.ravel()]))
    place, shown_on_map = positions(posterior.similarity, posterior.weights)
    by_draw, shown = shares_by_draw(posterior), draws_shown(posterior)
    scores = coherence(posterior.phi, corpus)
    low, high = posterior.weights_interval().T
    rows = []
    for k in range(posterior.n_topics):
        rows.append(
            {
                "weight": posterior.weights[k],
                "low": low[k],
                "high": high[k],
                "support": posterior.support[k],
                "chain_support": posterior.chain_support[k],
                "runs": None if posterior.run_support is None else posterior.run_support[k],
                "stability": posterior.stability[k],
                "coherence": scores[k],
                "x": place[k, 0],
                "y": place[k, 1],
                "terms": np.searchsorted(named, terms[k]),
                "phi": posterior.phi[k, terms[k]],
                "intervals": _intervals(posterior, k, top[k], named),
                "neighbours": _neighbours(posterior.similarity[k], k),
                "by_draw": [by_draw[draws, k] for draws in shown],
                "by_chain": _present(posterior, by_draw[:, k]),
            }
        )
    return {
        "topics": rows,
        "shown_on_map": shown_on_map,
        "vocabulary": [corpus.vocabulary[v] for v in named],
        "counts": corpus.term_counts[named],
        "top": [[corpus.vocabulary[v] for v in row[:_TERMS_NAMED]] for row in top],
        "own": [[corpus.vocabulary[v] for v in row] for row in own],  # what sets each topic apart
    }


def _intervals(posterior: Posterior, topic: int, terms: Integers, named: Integers) -> list[tuple[float, ...]]:
    """Return terms (by their place among those named) with their probability and its 95% interval."""
    bounds = posterior.phi_interval(topic, terms)
    rows = np.column_stack([posterior.phi[topic, terms], bounds]).tolist()
    return [(place, *row) for place, row in zip(np.searchsorted(named, terms).tolist(), rows)]


def _neighbours(similarity: Floats, topic: int) -> list[tuple[int, float]]:
    order = np.argsort(-similarity, kind="stable")
    return [(int(k), float(similarity[k])) for k in order[order != topic][:_NEIGHBOURS]]


def _present(posterior: Posterior, shares: Floats) -> list[float]:
    """Return the share of each chain's draws that have a topic."""
    ends = np.cumsum([len(chain) for chain in posterior.draws])
    return [float(np.mean(~np.isnan(part))) for part in np.split(shares, ends[:-1])]


# ---------------------------------------------------------------- colours


def topic_colours(
    place: npt.NDArray[np.float64], families: Iterable[Sequence[int]], n_colours: int = N_TOPIC_COLOURS
) -> list[int]:
    """Return the number of each topic's colour.

    Parameters
    ----------
    place
        Positions of the topics on the map, (topics, 2).
    families
        Topics in the order of the lanes of a tree, -1 for one that is not listed, for each tree.
    n_colours
        How many colours there are.
    """
    near, ring = _nearness(place, families), np.arange(n_colours)
    colours = np.full(len(place), n_colours)  # the number after the last means none yet
    for _ in range(_ROUNDS):
        before = colours.copy()
        for k in range(len(place)):
            cost = np.bincount(colours, near[k], n_colours + 1)[:n_colours]
            # Of equal ones, the present one, then in turn: a handful of topics get the first colours.
            in_turn = (ring - k) % n_colours + n_colours * (ring != colours[k])
            colours[k] = np.lexsort((in_turn, cost))[0]
        if np.array_equal(colours, before):
            break
    return [int(colour) for colour in colours]


def _nearness(place: npt.NDArray[np.float64], families: Iterable[Sequence[int]]) -> npt.NDArray[np.float32]:
    """Return how often, and how closely, each two topics are seen side by side."""
    n = len(place)
    near = np.zeros((n, n), np.float32)
    for apart in range(1, _ROWS_APART + 1):
        near[np.arange(n - apart), np.arange(apart, n)] += 8 // apart
    for k in range(n):
        nearest = np.argsort(np.hypot(*(place - place[k]).T), kind="stable")
        nearest = nearest[nearest != k][:_BESIDE_ON_MAP]
        near[k, nearest] += 8 - np.arange(nearest.size)
    for lanes in families:
        for one, other in pairwise(lanes):
            near[one, other] += 8 * (min(one, other) >= 0)
    np.fill_diagonal(near, 0)
    return near + near.T
