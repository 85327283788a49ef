"""First topics of words by the GPU engine, on the host: as often as they should be, one table for each."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from franchise.engines.partitions.cuda import layout
from franchise.engines.partitions.cuda.documents import GpuDocuments
from franchise.engines.starts.starting_topics import StartingTopics
from franchise.random import INITIALIZE, Key
from tests.host_device import HostDevice, needs_compiler
from tests.reference.franchise import corpus_of
from tests.reference.gpu import counted
from tests.reference.statistics import assert_frequencies

pytestmark = needs_compiler
COPIES = 1_500
WORDS = [0, 2, 1, 2, 3, 2]
FITTED = StartingTopics(
    phi=np.array([[0.6, 0.1, 0.0], [0.3, 0.2, 0.4], [0.1, 0.7, 0.6], [0.0, 0.0, 0.0]]),
    row=np.array([0, 1, 2, 3]),
    common=np.array([0.05, 0.02, 0.1, 0.3]),
    steps=4,
)


def started(start, long=layout.LONG, blocks=None, resident=None):
    """Return topics and tables of the words of many documents that are alike, and what was counted."""
    corpus = corpus_of([WORDS, []] * COPIES, 4).arrays
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "LONG", long)
        there = GpuDocuments(HostDevice(), corpus, blocks, resident)
        passed = there.start(Key(8, 0, 0, INITIALIZE), start)
    seats = there.seating()
    t_ji, k_jt = (seats[name].reshape(COPIES, -1) for name in ("t_ji", "k_jt"))
    z = np.take_along_axis(k_jt, t_ji, axis=1)
    assert_array_equal(there._counts.array, counted(corpus.x, z.ravel(), 4, there._counts.stride))
    n_jt = seats["n_jt"][seats["n_jt"] > 0]
    assert_array_equal(there.table_sizes, np.bincount(n_jt, minlength=there.table_sizes.size))
    assert_array_equal(passed.words, np.bincount(z.ravel(), minlength=passed.words.size))
    assert passed.tables.sum() == n_jt.size == seats["m_j"].sum()
    for own, tables in zip(z, t_ji):
        assert len(set(zip(own, tables))) == len(set(own)) == len(set(tables))
    return z


def limit_of_most(theta):
    too_few, limit = theta.max(), 0.5 * theta.max()
    while np.sum(theta >= limit) < 32 and limit > 1e-6 * theta.max():
        too_few, limit = limit, 0.5 * limit
    for _ in range(5):
        between = 0.5 * (limit + too_few)
        if np.sum(theta >= between) < 32:
            too_few = between
        else:
            limit = between
    return limit


def chances(words, fitted=FITTED):
    """Return the probability of every topic for each word, the last being that of common words."""
    common = fitted.common[words]
    theta = np.full(fitted.phi.shape[1], 1 / fitted.phi.shape[1])
    for turn in range(fitted.steps):
        parts = theta * fitted.phi[words]
        theta = (parts / (parts.sum(axis=1) + common)[:, None]).sum(axis=0)
        if not turn:  # those that have most are fitted further
            theta[theta < limit_of_most(theta)] = 0.0
        theta /= theta.sum()
    parts = np.column_stack([theta * fitted.phi[words], common])
    return parts / parts.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("long", [0, layout.LONG])
def test_random_topics(long):
    z = started(3, long)
    assert_frequencies([tuple(own) for own in z[:, :3].tolist()], dict.fromkeys(np.ndindex(3, 3, 3), 1 / 27))
    assert_frequencies(z[:, -1].tolist(), dict.fromkeys(range(3), 1 / 3))


@pytest.mark.parametrize("long", [0, layout.LONG])
def test_fitted_topics(long):
    z = started(FITTED, long)
    for own, p in zip(z.T, chances(WORDS)):
        possible = {k: chance for k, chance in enumerate(p.tolist()) if chance > 0.0}
        if len(possible) == 1:
            assert set(own) == set(possible)
        else:
            assert_frequencies(own.tolist(), possible)
    p = chances(WORDS)
    both = {(a, b): p[0, a] * p[2, b] for a in range(4) for b in range(4) if p[0, a] * p[2, b] > 0.0}
    assert_frequencies(list(zip(z[:, 0].tolist(), z[:, 2].tolist())), both)


def test_of_many_fitted_topics_those_are_drawn_that_a_document_has_most_of():
    rng = np.random.default_rng(2)
    phi = rng.dirichlet(np.full(4, 0.4), 100).T
    many = StartingTopics(np.vstack([phi, np.zeros(100)]), np.arange(4), FITTED.common, steps=2)
    p = chances(WORDS, many)
    possible = np.flatnonzero(p.sum(axis=0))
    assert 32 <= possible.size - 1 < 40
    z = started(many)
    for own, chance in zip(z.T, p):
        assert set(own) <= set(possible)
        assert_frequencies(own.tolist(), {k: chance[k] for k in possible.tolist()})


@pytest.mark.parametrize("start", [3, FITTED], ids=["random", "fitted"])
def test_blocks_and_layout_change_no_bit(start):
    expected = started(start)
    for long in (0, layout.LONG):
        for blocks, resident in (([0, 2 * COPIES], 0), ([0, 7, 900, 2 * COPIES], 1)):
            assert_array_equal(started(start, long, blocks, resident), expected)
