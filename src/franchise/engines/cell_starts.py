"""Topics to start a chain of cells from: random, fitted by a few steps of EM, or given."""

import math
from typing import NamedTuple

import numpy as np

from franchise.corpus.cells import CellArrays
from franchise.engines.fitted_start import COMMON, STEPS, STEPS_PER_DOCUMENT, number_of_topics, spread
from franchise.engines.given_topics import TopicsOfTerms
from franchise.model.cell_tables import term_counts
from franchise.model.state import Array
from franchise.moves.fit_topics import fit_step_of_cells

# As many cells and documents tell what the topics are; more would only take longer.
_MOST_CELLS, _MOST_DOCUMENTS = 200_000, 20_000
_TERMS_A_TOPIC = 3  # or more


class CellStart(NamedTuple):
    """What `moves.cells.start_cells` draws from."""

    phi: Array  # (term, topic); the last topic is for words that fit no other
    steps: int


def random_start(cells: CellArrays, n_topics: int) -> CellStart:
    """Return topics among which words are drawn evenly."""
    phi = np.ones((cells.n_terms, n_topics + 1))
    phi[:, -1] = 0.0
    return CellStart(phi, 0)


def fitted_start(cells: CellArrays, eta: float, given: TopicsOfTerms | None = None) -> CellStart:
    """Return topics that are fitted to the documents, from seeds where they are given, or topics as given."""
    n_words = max(1, int(cells.doc_ptr[-1]))
    frequencies = term_counts(cells) / n_words
    common = COMMON / (1.0 - COMMON) * frequencies
    if given is not None and not given.are_seeds:
        unknown = np.where(given.known, 0.0, frequencies)
        phi = ((1.0 - unknown.sum()) * given.phi / given.phi.sum(axis=1, keepdims=True) + unknown).T
    else:
        phi = _fitted(cells, eta, frequencies, common, None if given is None else given.phi)
    return CellStart(np.ascontiguousarray(np.column_stack([phi, common])), STEPS_PER_DOCUMENT)


def _fitted(cells: CellArrays, eta: float, frequencies: Array, common: Array, seeds: Array | None) -> Array:
    n_cells = np.diff(cells.cell_ptr)
    documents = np.flatnonzero(n_cells)
    share = min(1.0, _MOST_CELLS / max(1, cells.terms.size), _MOST_DOCUMENTS / max(1, documents.size))
    documents = spread(documents, math.ceil(share * documents.size))
    n_seeds = 0 if seeds is None else len(seeds)
    # As many topics as terms would have a term each, which fits every document and says nothing.
    most = max(1, cells.n_terms // _TERMS_A_TOPIC)
    n_topics = number_of_topics(cells.terms.size, eta, documents.size, cells.n_terms)
    n_topics = max(min(n_topics, most), n_seeds)
    phi = np.repeat(0.5 * frequencies[:, None], n_topics, axis=1)
    if seeds is not None:
        phi[:, :n_seeds] += 0.5 * seeds.T
    for k, j in enumerate(spread(documents, n_topics - n_seeds), start=n_seeds):
        own = slice(cells.cell_ptr[j], cells.cell_ptr[j + 1])
        phi[cells.terms[own], k] += 0.5 * cells.counts[own] / cells.counts[own].sum()
    theta = np.full((documents.size, n_topics), 1.0 / max(1, n_topics))
    new_phi, weight, expected = np.zeros_like(phi), np.zeros(n_topics), np.zeros(n_topics)
    for _ in range(STEPS):
        fit_step_of_cells(cells, documents, phi, common, theta, new_phi, weight, expected)
    return phi
