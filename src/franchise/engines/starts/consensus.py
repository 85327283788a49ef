"""Topics that independent runs agree on: where chains on text begin, and how certain each topic is.

A single run finds some topics by chance: with the documents in another order, or without a tenth of them, it
finds others. So 24 short runs are made first, each on its own random 90% of the documents
(`sampling.short_runs`), and their topics are compared. The topic that most runs have is taken first, with its
nearest topic in each run; then the next, until too few runs have it. All chains begin with the topics that
the runs agree on. The share of the runs that have a topic measures its certainty independently of a shared
start:
topics that nearly all runs have come back in another fit; topics of few runs do not.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from franchise._arrays import Array
from franchise.corpus import Corpus
from franchise.engines.starts.em import common_words
from franchise.engines.starts.starting_topics import StartingTopics

SAME = 0.7  # least cosine of two topics of different runs that are the same
LEAST_SUPPORT = 0.3  # least share of the runs that have a starting topic
LEADING = 100  # terms of a topic that are compared
_ROWS_AT_ONCE = 512


class Runs(NamedTuple):
    """The topics of short runs, by their leading terms."""

    topics: sp.csr_array  # topics by terms; each row has length one
    run: Array  # of each topic

    @property
    def number(self) -> int:
        """Number of runs."""
        return int(self.run.max(initial=-1)) + 1

    def support(self, phi: Array) -> Array:
        """Return the share of the runs that have each topic, given as topics by terms."""
        unit = phi / np.linalg.norm(phi, axis=1, keepdims=True)
        found = np.zeros((len(phi), self.number), bool)
        for begin in range(0, self.run.size, _ROWS_AT_ONCE):
            rows = slice(begin, begin + _ROWS_AT_ONCE)
            near, topics = np.nonzero(self.topics[rows] @ unit.T >= SAME)
            found[topics, self.run[rows][near]] = True
        return np.asarray(found.mean(axis=1))


def consensus_of(found: Sequence[sp.csr_array]) -> tuple[sp.csr_array, Runs]:
    """Return the topics that runs agree on, and the topics of the runs.

    Parameters
    ----------
    found
        Words by topic and term in the last state of each run.

    Returns
    -------
    topics
        Words by topic and term, added up over the runs that have the topic. If the runs share too little,
        these are the topics of the run that shares most.
    runs
        The topics of each run.
    """
    counts = sp.csr_array(sp.vstack(found, format="csr"), dtype=np.float64)
    run = np.repeat(np.arange(len(found)), [one.shape[0] for one in found])
    unit = _of_length_one(counts)
    near = _near(unit)
    groups = _groups(near, run, max(2, int(np.ceil(LEAST_SUPPORT * len(found)))))
    if not groups:
        shared = np.bincount(run, np.diff(near.indptr))
        groups = [np.array([row]) for row in np.flatnonzero(run == np.argmax(shared))]
    member = sp.csr_array(
        (
            np.ones(sum(map(len, groups))),
            np.concatenate(groups),
            np.cumsum([0, *map(len, groups)]),
        ),
        shape=(len(groups), run.size),
    )
    return sp.csr_array(member @ counts), Runs(_of_length_one(_leading(counts)), run)


def starting_topics(corpus: Corpus, topics: sp.csr_array) -> StartingTopics:
    """Return topics, given as words by topic and term, in the form that engines start from."""
    used = np.unique(topics.indices)
    row = np.full(corpus.n_terms, used.size)
    row[used] = np.arange(used.size)
    phi = np.zeros((used.size + 1, topics.shape[0]))
    phi[:-1] = (topics[:, used].toarray() / topics.sum(axis=1)[:, None]).T
    return StartingTopics(phi, row, common_words(corpus))


def _of_length_one(rows: sp.csr_array) -> sp.csr_array:
    lengths = np.sqrt(rows.multiply(rows).sum(axis=1))
    scaled = rows.data / np.repeat(lengths, np.diff(rows.indptr))
    return sp.csr_array((scaled.astype(np.float32), rows.indices, rows.indptr), shape=rows.shape)


def _leading(rows: sp.csr_array) -> sp.csr_array:
    """Return the largest entries of each row."""
    kept = []
    for begin, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        order = np.argsort(-rows.data[begin:end], kind="stable")[:LEADING]
        kept.append(begin + np.sort(order))
    places = np.concatenate(kept)
    ends = np.cumsum([0, *map(len, kept)])
    return sp.csr_array((rows.data[places], rows.indices[places], ends), shape=rows.shape)


def _near(unit: sp.csr_array) -> sp.csr_array:
    """Return the cosines of all pairs of rows that are the same topic, including each row with itself."""
    blocks, other = [], unit.T.tocsr()
    for begin in range(0, unit.shape[0], _ROWS_AT_ONCE):
        cosines = unit[begin : begin + _ROWS_AT_ONCE] @ other
        cosines.data[cosines.data < SAME] = 0.0
        cosines.eliminate_zeros()
        cosines.sort_indices()
        blocks.append(cosines)
    return sp.csr_array(sp.vstack(blocks, format="csr"))


def _groups(near: sp.csr_array, run: Array, least: int) -> list[Array]:
    """Return topics of different runs that are one topic, those of most runs first.

    Each group is a topic with the nearest topic of each run that has any. All topics near it are used up.
    """
    alive = np.ones(run.size, bool)
    in_run = np.zeros((run.size, int(run.max(initial=-1)) + 1), np.int32)  # near topics of each run
    rows = np.repeat(np.arange(run.size), np.diff(near.indptr))
    np.add.at(in_run, (rows, run[near.indices]), 1)
    support = (in_run > 0).sum(axis=1)
    groups = []
    while (best := support.max(initial=0)) >= least:
        chosen = _most_similar(near, np.flatnonzero(support == best), alive)
        members, cosines = _row(near, chosen)
        is_free = alive[members]
        members, cosines = members[is_free], cosines[is_free]
        nearest = members[np.lexsort((members, -cosines))]
        _, first = np.unique(run[nearest], return_index=True)
        groups.append(np.sort(nearest[first]))
        alive[members] = False
        for one in members:
            beside, _ = _row(near, one)
            in_run[beside, run[one]] -= 1
            support[beside] = (in_run[beside] > 0).sum(axis=1)
        support[~alive] = 0
    return groups


def _most_similar(near: sp.csr_array, candidates: Array, alive: Array) -> int:
    """Return the candidate with the most similar free neighbours."""
    sums = []
    for one in candidates:
        members, cosines = _row(near, one)
        sums.append(cosines[alive[members]].sum(dtype=np.float64))
    return int(candidates[np.argmax(sums)])


def _row(near: sp.csr_array, i: int) -> tuple[Array, Array]:
    own = slice(near.indptr[i], near.indptr[i + 1])
    return near.indices[own], near.data[own]
