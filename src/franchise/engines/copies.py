"""Topics that are copies of each other: find them and merge them, within the burn-in.

Chains that start from many fitted topics on a large corpus begin with duplicates, and split-merge trials
take long to remove them. Here each topic is compared with the topics nearest to it. Pairs whose merge raises
the log joint (`model.merging`) by more than chance are merged, the best first, until none is left.
This is a greedy search by a fixed rule: it draws no random number, and it is not a Markov move.
"""

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln

from franchise._arrays import Array
from franchise.model import State
from franchise.model.likelihood import MOST_TABULATED
from franchise.model.merging import changes_by_merging, merge_topics
from franchise.model.state import ETA, GAMMA, NUMBERED

NEAREST = 6  # topics to compare each topic with
# Two topics are copies if their merge raises the log joint by more than this. In every sweep of a chain on
# text there are small topics whose merge would raise it by a few nats: they come and go, and are not copies.
# Copies of planted topics with a thousand words or more gain hundreds of nats.
LEAST = 20.0
_AT_ONCE = 1 << 22  # affinities of pairs computed together


def merge_copies(state: State, live: Array, topic_terms: sp.csr_array) -> Array:
    """Merge topics of a state that are copies of each other; return the new topic of each number.

    Tables get their new numbers the next time topics are numbered without gaps (`model.capacity`).

    Parameters
    ----------
    state
        The counts of all topics; those of merged topics are added up.
    live
        The living topics, in increasing order.
    topic_terms
        Their words by topic and term.
    """
    eta, gamma = (float(state.concentrations[i]) for i in (ETA, GAMMA))
    into = np.arange(int(state.totals[NUMBERED]))
    into[live] = live[merged_into(topic_terms, state.n_k[live], state.m_k[live], eta, gamma)]
    if np.any(into[live] != live):
        merge_topics(state, into, np.full(into.size, -1, np.int64))
    return into


def names_of_merged(state: State, into: Array) -> list[tuple[int, int]]:
    """Return the names of the merged topics, each with the name of the topic that it was merged into."""
    gone = np.flatnonzero(into != np.arange(into.size))
    names = state.name_k
    return list(zip(names[gone].tolist(), names[into[gone]].tolist(), strict=True))


def merged_into(
    topic_terms: sp.csr_array, n_k: Array, m_k: Array, eta: float, gamma: float, least: float = LEAST
) -> Array:
    """Return, for each topic, the topic that it is merged into: itself, or the largest of its copies.

    Parameters
    ----------
    topic_terms
        Words of each topic by term, terms in increasing order.
    n_k, m_k
        Words and tables of each topic.
    eta, gamma
        The concentrations.
    least
        The least rise of the log joint that makes two topics copies.
    """
    counts, row_of, stays = topic_terms.astype(np.int64), np.arange(n_k.size), np.arange(n_k.size)
    while True:
        pairs = near_pairs(counts, n_k)
        goes_to = _best_apart(pairs, changes_of(counts, n_k, m_k, eta, gamma, pairs) - least, n_k)
        left = np.flatnonzero(goes_to == np.arange(n_k.size))
        if left.size == n_k.size:
            return stays[row_of]
        new_row = np.searchsorted(left, goes_to)
        row_of, stays = new_row[row_of], stays[left]
        each = np.arange(new_row.size)
        added = sp.csr_array((np.ones(each.size, np.int64), (new_row, each)), shape=(left.size, each.size))
        counts, n_k, m_k = sp.csr_array(added @ counts), added @ n_k, added @ m_k
        counts.sort_indices()


def near_pairs(counts: sp.csr_array, n_k: Array) -> Array:
    """Return pairs of topics nearest to each other by Hellinger affinity, each pair once."""
    n_topics = n_k.size
    roots = sp.csr_array(counts, dtype=np.float64)
    roots.data = np.sqrt(roots.data / np.repeat(n_k, np.diff(roots.indptr)))
    by_term, at_once = sp.csr_array(roots.T), max(1, _AT_ONCE // max(1, n_topics))
    found = []
    for begin in range(0, n_topics, at_once):
        affinity = (roots[begin : begin + at_once] @ by_term).toarray()
        rows = np.arange(affinity.shape[0])
        affinity[rows, begin + rows] = -1.0
        for _ in range(min(NEAREST, n_topics - 1)):
            nearest = affinity.argmax(axis=1)  # the first of equals
            affinity[rows, nearest] = -1.0
            found.append(np.sort(np.stack([begin + rows, nearest], axis=1), axis=1))
    return np.unique(np.concatenate([np.zeros((0, 2), np.int64), *found]), axis=0)


def changes_of(counts: sp.csr_array, n_k: Array, m_k: Array, eta: float, gamma: float, pairs: Array) -> Array:
    """Return the change of the log joint if each pair is merged."""
    v_eta, changes = counts.shape[1] * eta, np.zeros(len(pairs))
    lg, lgv = (gammaln(np.arange(MOST_TABULATED) + offset) for offset in (eta, v_eta))
    row_ptr, terms = counts.indptr.astype(np.int64), counts.indices.astype(np.int64)
    changes_by_merging(row_ptr, terms, counts.data, n_k, m_k, lg, lgv, eta, v_eta, gamma, pairs, changes)
    return changes


def _best_apart(pairs: Array, changes: Array, n_k: Array) -> Array:
    """Choose disjoint pairs, best first; return the topic that each is merged into (smaller into larger)."""
    goes_to = np.arange(n_k.size)
    is_free = np.ones(n_k.size, bool)
    better = np.flatnonzero(changes > 0)
    for i in better[np.argsort(-changes[better], kind="stable")]:
        a, b = pairs[i]
        if is_free[a] and is_free[b]:
            is_free[[a, b]] = False
            small, large = (a, b) if n_k[a] < n_k[b] else (b, a)
            goes_to[small] = large
    return goes_to
