"""Match topics across draws and chains.

Labels of topics mean nothing outside their chain, and draws differ in their number of topics. So topics are
put into clusters, each with at most one topic of any draw: a cluster is "the same topic" in many draws.
Estimates of topics (`posterior.estimates`) are averages over clusters.

Two topics are as similar as the Bhattacharyya affinity of their proportions of terms, sum_v sqrt(p_v q_v): 1
for the same proportions, 0 for no term in common. The roots of the proportions are a vector of length one, so
the affinity is an inner product, and the centre of a cluster is the direction of the sum of its members.

A draw is matched to the clusters by the assignment that maximises the sum of (affinity - threshold) over the
pairs above the threshold. A topic without a match starts a cluster (a birth); a cluster without a match has
no topic in this draw (a death). First the draws are matched one after another, the chains in turn. Then
copies are merged, and all draws are matched again to the centres of the clusters that have more than one
topic; this is repeated a few times or until nothing changes.

Copies arise by chance: two topics of single draws may be below the threshold although the centres of their
clusters, which have less noise, are near. Then each chain has a cluster of its own, because every topic is
nearest to the cluster of its chain. So two clusters are merged if the topics of each have a mean affinity to
the centre of the other above the threshold, and if (nearly) no draw has both. If draws have both, they stay
apart, however near they are: a chain that has a topic twice shows it twice.

The threshold is half-way between 1 and what different topics have in common, which comes from the data: the
affinity of a topic to the nearest other topic of its draw. On text that is 0.1 to 0.2, and a topic has 0.6 to
0.9 with itself in another draw; with few terms, as in counts of 96 kinds of mutations, it is 0.7.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

from franchise._arrays import Array
from franchise.sampling import Draw

VERSION = 1  # of the matching: raise it when the same draws are matched in another way
_DRAWS_LOOKED_AT = 20  # for the threshold
_HIGHEST = 0.9  # threshold: where all topics are alike (a single term), the same topic must still be found
_ROUNDS = 3
_RARELY = 0.05  # share of the draws of the smaller of two clusters: copies may be in one draw for a while
_PAIRS_AT_ONCE = 2**26  # of a topic and a term, 12 bytes each
_NONE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """Which topics of different draws are the same.

    Clusters are ordered by support, then by weight, largest first.

    Attributes
    ----------
    clusters
        For each draw, chain after chain, the cluster of each of its topics; none twice in a draw.
    support
        Share of the draws that have the cluster; the sum over clusters is the mean number of topics.
    chain_support
        Share of the chains that have it in at least a tenth of their draws.
    stability
        Mean affinity of its topics to its centre: 1 where it is the same topic in all draws.
    """

    clusters: list[Array]
    support: Array
    chain_support: Array
    stability: Array


def align(draws: Sequence[Sequence[Draw]]) -> Alignment:
    """Match the topics of all draws, given chain by chain."""
    flat = [draw for chain in draws for draw in chain]
    roots = _Roots(flat)
    order = _in_turn(draws)
    threshold = _threshold(roots)
    clusters = _one_after_another(roots, order, threshold)
    for _ in range(_ROUNDS):
        again = _rematched(roots, _merged(_sums(roots, clusters), clusters, threshold), threshold)
        if all(np.array_equal(old, new) for old, new in zip(clusters, again, strict=True)):
            break
        clusters = again
    return _facts(draws, roots, clusters)


class _Roots(Sequence[sp.csr_array]):
    """The roots of all draws; not kept if that takes much memory, but computed each time."""

    def __init__(self, draws: Sequence[Draw]) -> None:
        self._draws = draws
        sizes = np.array([draw.topic_terms.nnz for draw in draws])
        self._kept = [_roots(draw) for draw in draws] if sizes.sum() <= _PAIRS_AT_ONCE else None
        # Draws that are looked at together.
        self.groups = np.split(
            np.arange(len(draws)), np.flatnonzero(np.diff(np.cumsum(sizes) // _PAIRS_AT_ONCE)) + 1
        )

    def __len__(self) -> int:
        return len(self._draws)

    def __getitem__(self, i: Any) -> Any:
        return self._kept[i] if self._kept else _roots(self._draws[i])


def _roots(draw: Draw) -> sp.csr_array:
    """Return the roots of the topics' proportions of terms, each row of length one."""
    counts = draw.topic_terms
    sizes = np.repeat(counts.sum(axis=1), np.diff(counts.indptr))
    return sp.csr_array(
        (np.sqrt(counts.data / sizes).astype(np.float32), counts.indices, counts.indptr), shape=counts.shape
    )


def _threshold(roots: _Roots) -> float:
    """Return half-way between 1 and the affinity of a topic to the nearest other one of its draw (median)."""
    nearest = []
    for i in np.linspace(0, len(roots) - 1, min(len(roots), _DRAWS_LOOKED_AT)).astype(int):
        own = roots[i]
        affinities = (own @ own.T).toarray()
        np.fill_diagonal(affinities, 0.0)
        nearest.append(affinities.max(axis=1))
    return min(_HIGHEST, (1.0 + float(np.median(np.concatenate(nearest)))) / 2.0)


def _in_turn(draws: Sequence[Sequence[Draw]]) -> list[int]:
    """Return the order in which draws are matched: one with the median K, then the chains in turn."""
    n_topics = [draw.names.size for chain in draws for draw in chain]
    first = np.concatenate([[0], np.cumsum([len(chain) for chain in draws])])
    rows = range(max(len(chain) for chain in draws))
    order = [int(first[c]) + i for i in rows for c, chain in enumerate(draws) if i < len(chain)]
    middle = sorted(n_topics)[len(n_topics) // 2]
    start = next(i for i in order if n_topics[i] == middle)
    return [start, *(i for i in order if i != start)]


def _one_after_another(roots: _Roots, order: list[int], threshold: float) -> list[Array]:
    sums = sp.csr_array((roots[0].shape[1], 0), dtype=np.float32)  # terms by clusters
    clusters: list[Array] = [np.zeros(0, np.int64)] * len(roots)
    for i in order:
        own = roots[i]
        found = _match(own, sums, threshold)
        born = np.flatnonzero(found == _NONE)
        n_clusters = sums.shape[1] + born.size
        found[born] = np.arange(sums.shape[1], n_clusters)
        clusters[i] = found
        sums.resize((sums.shape[0], n_clusters))
        sums = sums + _column_sums(own, found, n_clusters)
    return clusters


def _merged(sums: sp.csr_array, clusters: list[Array], threshold: float) -> sp.csr_array:
    """Return the sums of the clusters with more than one topic, those of copies added up; nearest first."""
    sizes = _sizes(clusters)
    shared = np.flatnonzero(sizes > 1)
    sums, sizes = sums[:, shared], sizes[shared].astype(np.float32)
    inner = (sums.T @ sums).toarray()
    together = _together(clusters, shared)
    some = np.flatnonzero((_nearness(inner, together, sizes) > threshold).any(axis=0))
    inner, together, sizes = inner[np.ix_(some, some)], together[np.ix_(some, some)], sizes[some]
    into = np.arange(shared.size)
    while some.size:
        near = _nearness(inner, together, sizes)
        a, b = np.unravel_index(np.argmax(near), near.shape)
        if near[a, b] <= threshold:
            break
        for table in (inner, together):
            table[a] += table[b]
            table[:, a] += table[:, b]
        inner[b] = inner[:, b] = 0.0  # never merged again
        sizes[a] += sizes[b]
        into[into == some[b]] = some[a]
    left, into = np.unique(into, return_inverse=True)
    return sp.csr_array(sums @ _indicator(into, left.size))


def _together(clusters: list[Array], chosen: Array) -> Array:
    """Return how many draws have both of two clusters."""
    draws = np.repeat(np.arange(len(clusters)), [one.size for one in clusters])
    have = sp.csr_array((np.ones(draws.size, np.float32), (draws, np.concatenate(clusters))))[:, chosen]
    return (have.T @ have).toarray()


def _nearness(inner: Array, together: Array, sizes: Array) -> Array:
    """Return the mean affinity of one cluster's topics to the centre of another, the lower of both ways.

    It is 0 for clusters that are different because draws have both.
    """
    lengths = np.sqrt(np.diag(inner))
    ways = np.outer(lengths, sizes)  # centres by topics
    near = inner / np.maximum(np.maximum(ways, ways.T), 1e-30)
    near[together > _RARELY * np.minimum.outer(sizes, sizes)] = 0.0
    np.fill_diagonal(near, 0.0)
    return near


def _rematched(roots: _Roots, centres: sp.csr_array, threshold: float) -> list[Array]:
    n_clusters = centres.shape[1]
    clusters = []
    for own in roots:
        found = _match(own, centres, threshold)
        alone = np.flatnonzero(found == _NONE)
        found[alone] = np.arange(n_clusters, n_clusters + alone.size)
        n_clusters += alone.size
        clusters.append(found)
    return clusters


def _match(roots: sp.csr_array, sums: sp.csr_array, threshold: float) -> Array:
    """Return the cluster of each topic of a draw, -1 for none."""
    found = np.full(roots.shape[0], _NONE)
    lengths = np.sqrt(np.bincount(sums.indices, sums.data.astype(float) ** 2, sums.shape[1]))
    gains = (roots @ sums).toarray() / np.maximum(lengths, 1e-30) - threshold
    near = np.flatnonzero((gains > 0).any(axis=0))
    gains = np.maximum(gains[:, near], 0.0)
    topics, columns = linear_sum_assignment(gains, maximize=True)
    matched = gains[topics, columns] > 0
    found[topics[matched]] = near[columns[matched]]
    return found


def _column_sums(roots: sp.csr_array, clusters: Array, n_clusters: int) -> sp.csr_array:
    return (roots.T @ _indicator(clusters, n_clusters)).tocsr()


def _indicator(clusters: Array, n_clusters: int) -> sp.csr_array:
    """Return a table with a 1 in each row, in the column of its cluster."""
    rows = np.arange(clusters.size)
    return sp.csr_array((np.ones(clusters.size, np.float32), (rows, clusters)), shape=(rows.size, n_clusters))


def _sums(roots: _Roots, clusters: list[Array]) -> sp.csr_array:
    n_clusters, sums = _sizes(clusters).size, None
    for group in roots.groups:
        stacked = sp.vstack([roots[i] for i in group], format="csr")
        some = _column_sums(stacked, np.concatenate([clusters[i] for i in group]), n_clusters)
        sums = some if sums is None else sums + some
    return sums


def _sizes(clusters: list[Array]) -> Array:
    return np.bincount(np.concatenate(clusters))


def _facts(draws: Sequence[Sequence[Draw]], roots: _Roots, clusters: list[Array]) -> Alignment:
    """Order the clusters by support and weight, and describe them."""
    flat = [draw for chain in draws for draw in chain]
    together = np.concatenate(clusters)
    weights = np.concatenate([draw.topic_terms.sum(axis=1) for draw in flat])
    sizes, weight = np.bincount(together), np.bincount(together, weights)
    order = np.lexsort((-weight, -sizes))
    order = order[sizes[order] > 0]
    rank = np.full(sizes.size, _NONE)
    rank[order] = np.arange(order.size)
    return _described(draws, roots, [rank[one] for one in clusters])


def described(draws: Sequence[Sequence[Draw]], clusters: list[Array]) -> Alignment:
    """Describe clusters that are known, in the order of their numbers; each number must occur."""
    return _described(draws, _Roots([draw for chain in draws for draw in chain]), clusters)


def _described(draws: Sequence[Sequence[Draw]], roots: _Roots, clusters: list[Array]) -> Alignment:
    sizes, sums = _sizes(clusters), _sums(roots, clusters)
    lengths = np.sqrt(np.bincount(sums.indices, sums.data.astype(float) ** 2, sizes.size))
    chain_support, begin = np.zeros(sizes.size), 0
    for chain in draws:
        own = np.bincount(np.concatenate(clusters[begin : begin + len(chain)]), minlength=sizes.size)
        chain_support += own >= 0.1 * len(chain)
        begin += len(chain)
    return Alignment(
        clusters=clusters,
        support=sizes / len(clusters),
        chain_support=chain_support / len(draws),
        stability=np.minimum(lengths / sizes, 1.0),
    )
