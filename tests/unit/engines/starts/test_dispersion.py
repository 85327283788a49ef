"""Overdispersion: estimated where it was planted, and absent where it was not."""

import math

import numpy as np
import pytest

from franchise.corpus import from_counts
from franchise.engines.starts.dispersion import effective_counts, estimate_concentration


def table(concentration, seed, n_documents=150, n_terms=40, n_topics=4):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_terms, 0.3), n_topics)
    p = rng.dirichlet(np.full(n_topics, 0.5), n_documents) @ topics
    if math.isfinite(concentration):
        p = np.array([rng.dirichlet(concentration * row + 1e-6) for row in p])
    sizes = rng.integers(200, 5_000, n_documents)
    counts = np.array([rng.multinomial(size, row) for size, row in zip(sizes, p, strict=True)])
    return counts, topics


@pytest.mark.parametrize("concentration", [50.0, 300.0, 1_000.0])
def test_a_planted_concentration_is_found(concentration):
    for seed in range(2):
        counts, topics = table(concentration, seed)
        found = estimate_concentration(from_counts(counts).cells, topics, seed)
        assert concentration / 2 < found < concentration * 2


def test_none_without_noise():
    for seed in range(4):
        counts, topics = table(math.inf, seed)
        assert estimate_concentration(from_counts(counts).cells, topics, seed) == math.inf


def test_one_seed_gives_one_number():
    counts, topics = table(300.0, 0)
    cells = from_counts(counts).cells
    one, other, third = (estimate_concentration(cells, topics, seed) for seed in (1, 1, 2))
    assert one == other != third


@pytest.mark.parametrize("counts", [[[1, 0]], [[3, 2], [0, 0], [1, 1]], [[4], [9]]])
def test_tables_with_little_in_them(counts):
    counts = np.array(counts)
    topics = np.full((1, counts.shape[1]), 1.0 / counts.shape[1])
    assert estimate_concentration(from_counts(counts).cells, topics, 0) == math.inf


def test_effective_counts():
    lengths = np.array([0, 1, 10, 300, 10**9])
    assert effective_counts(lengths, 300.0).tolist() == [0, 1, 10, 150, 301]
    assert effective_counts(lengths, math.inf).tolist() == lengths.tolist()
    assert effective_counts(lengths, 1e-3).tolist() == [0, 1, 1, 1, 1]
