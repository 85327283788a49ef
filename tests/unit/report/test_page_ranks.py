import numpy as np
import pytest

from franchise.posterior.convergence import VITAL
from franchise.posterior.diagnostics import diagnose
from franchise.report.ranks import describe_ranks, rank_counts
from tests.unit.report.made import posterior_of, run_chains


def test_ranks_of_different_numbers(seed):
    """Against ranks counted one by one."""
    square = np.random.default_rng(seed).normal(size=(3, 40))
    found = rank_counts(square, 6)
    rank = square.ravel().argsort().argsort().reshape(square.shape)
    expected = [[(row // 20 == b).sum() * 6 / 40 for b in range(6)] for row in rank]
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_equal_numbers_share_their_ranks():
    np.testing.assert_allclose(rank_counts(np.full((2, 7), 3), 5), np.ones((2, 5)))
    shared = rank_counts(np.array([[1, 1, 2, 2], [1, 2, 2, 3]]), 4)
    # Of the ranks 0, 1, 2 two are the first chain's, of 3 to 6 half, and the last is the second's.
    np.testing.assert_allclose(shared[0], [4 / 3, (2 / 3 + 1 / 2), 1.0, 0.5])
    np.testing.assert_allclose(shared.sum(axis=0), 2.0)


@pytest.mark.parametrize("shape", [(2, 8), (4, 33), (5, 250)])
def test_every_chain_and_every_bin_has_its_share(shape, seed):
    found = rank_counts(np.random.default_rng(seed).integers(0, 9, shape))
    np.testing.assert_allclose(found.mean(axis=1), 1.0)
    np.testing.assert_allclose(found.mean(axis=0), 1.0)


def test_the_numbers_of_the_diagnosis_are_ranked(small):
    _, chains, posterior = small
    diagnosis = diagnose(posterior, [chain.trace for chain in chains], chains[0].schedule)
    found = describe_ranks(posterior, chains, diagnosis)
    assert [one["name"] for one in found] == list(VITAL)
    assert all(one["chains"] == [0, 1] for one in found)
    assert found[0]["r_hat"] == diagnosis.table.loc["number of topics", "r_hat"]


def test_one_chain_and_few_sweeps_have_no_ranks(small):
    corpus, chains, _ = small
    alone = posterior_of(corpus, chains[:1])
    assert describe_ranks(alone, chains[:1], diagnose(alone, [chains[0].trace], chains[0].schedule)) == []
    short = run_chains(corpus, sweeps=8)
    early = posterior_of(corpus, short)
    found = diagnose(early, [chain.trace for chain in short], short[0].schedule)
    assert describe_ranks(early, short, found) == []
