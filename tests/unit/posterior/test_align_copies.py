"""One topic in several chains is one cluster; different topics, and copies inside a draw, are not merged."""

import numpy as np
import pytest

from tests.unit.posterior.test_align import (
    affinity,
    aligned,
    blocks,
    found_partition,
    noisy,
    partition,
    stuck,
)


def with_background(n_topics, share, terms_each=8, n_common=10):
    """Return topics with terms of their own, and a share of terms that all have in common."""
    own = np.hstack([np.zeros((n_topics, n_common)), (1 - share) * blocks(n_topics, terms_each)])
    own[:, :n_common] = share / n_common
    return own


@pytest.mark.parametrize("n_words", [12, 25, 60])
def test_a_small_topic_of_two_chains_is_one_cluster(seed, n_words):
    # Each chain has a sample of the topic's words, so that draws of different chains may be far from each
    # other by chance alone. No seed of 150 fails; without merging, 1 of 3 does for 12 words.
    rng = np.random.default_rng(seed)
    truth = blocks(6, 10)
    chains = [
        [counts[order] for counts in stuck(rng, truth, 20, n_words, n_words // 2)]
        for order in (np.arange(6), rng.permutation(6))
    ]
    found = aligned(chains)
    assert found.support[:6].tolist() == [1.0] * 6
    assert found.chain_support[:6].tolist() == [1.0] * 6


def test_copies_are_merged_that_the_assignment_keeps_apart():
    # The first draws of the chains have an affinity below the threshold of 1/2, and each later draw is
    # nearest to the cluster of its own chain: only the clusters as a whole show that the topic is the same.
    a, b = ([first, *[later] * 4] for first, later in (([2, 8, 0], [7, 3, 0]), ([2, 0, 8], [7, 0, 3])))
    assert affinity(a[0], b[0]) < 0.5 < affinity(a[1], b[1]) < affinity(a[1], a[0])
    assert aligned([[[a[0]]], [[b[0]]]]).support.tolist() == [0.5, 0.5]
    assert aligned([[[one] for one in chain] for chain in (a, b)]).support.tolist() == [1.0]


def test_different_topics_with_a_common_background_are_not_merged(seed):
    rng = np.random.default_rng(seed)
    truth = with_background(8, 0.4)
    chains = [[[0, 1, 2, 3, 4, 5]] * 10, [[0, 1, 2, 3, 6, 7]] * 10]
    found = aligned([[noisy(rng, truth[topics], 300) for topics in chain] for chain in chains])
    assert found.support.tolist() == [1.0] * 4 + [0.5] * 4
    assert found.chain_support.tolist() == [1.0] * 4 + [0.5] * 4


def test_a_topic_that_one_chain_has_twice_is_listed_twice(seed):
    rng = np.random.default_rng(seed)
    truth = blocks(4)
    once = [noisy(rng, truth) for _ in range(10)]
    twice = [noisy(rng, truth[[0, 0, 1, 2, 3]]) for _ in range(10)]
    found = aligned([once, twice])
    assert found.support.size == 5
    assert found.support[:3].tolist() == [1.0] * 3
    assert found.support[3:].sum() == pytest.approx(1.5)  # the other chain's is either of both, by chance


@pytest.mark.parametrize(
    ("both", "expected"), [(2, [1.0, 1.0, 1 / 80, 1 / 80]), (8, [1.0, 48 / 80, 40 / 80])]
)
def test_copies_may_be_in_one_draw_for_a_while(both, expected):
    a, b, far = [8, 3, 1, 0, 0], [8, 1, 3, 0, 0], [0, 0, 0, 1, 1]
    first = [np.array([a, b, far])] * both + [np.array([a, far])] * (40 - both)
    found = aligned([first, [np.array([b, far])] * 40])
    assert found.support.tolist() == pytest.approx(expected)


def test_the_order_of_chains_does_not_matter_where_topics_are_clear(seed):
    rng = np.random.default_rng(seed)
    truth = with_background(7, 0.3)
    chains = [[noisy(rng, truth[rng.permutation(7)[:6]], 100) for _ in range(8)] for _ in range(3)]
    turned = found_partition(aligned(chains[::-1]))
    back = [{(8 * (2 - i // 8) + i % 8, k) for i, k in members} for members in turned]
    assert found_partition(aligned(chains)) == partition(back)
