"""Topics begun at documents, those that are alike taken as one, and documents that show what is missing."""

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.planted_corpora import even
from benchmarks.topics_of_documents import (
    at_random_documents,
    at_unexplained_documents,
    distinct,
    without_like,
)


@pytest.fixture(scope="module")
def truth():
    return even(100_000, 300, 10, seed=3, xp=np)


def test_topics_begun_at_documents_are_distributions_that_differ(truth):
    phi = at_random_documents(truth.corpus, 20)
    assert phi.shape == (20, 300)
    np.testing.assert_allclose(phi.sum(axis=1), 1.0)
    assert len(np.unique(phi, axis=0)) == 20
    np.testing.assert_array_equal(phi, at_random_documents(truth.corpus, 20))


def test_topics_that_are_alike_are_counted_together(truth):
    sizes = np.array([4_000, 9_000, 2_000, 500])
    counts = np.vstack([np.rint(size * truth.topics[k]) for size, k in zip(sizes, [0, 1, 0, 2], strict=True)])
    found = distinct(sp.csr_array(counts))
    np.testing.assert_array_equal(found, [counts[1], counts[0] + counts[2], counts[3]])


def test_what_has_no_like(truth):
    common = truth.topics.mean(axis=0)
    found = np.vstack([truth.topics[[0, 1, 2, 4, 5, 7, 8, 9]], 0.5 * (truth.topics[3] + truth.topics[6])])
    assert without_like(truth.topics, found, common).nonzero()[0].tolist() == [3, 6]


def test_documents_that_are_explained_worst_are_those_of_a_missing_topic(truth):
    missing = 4
    phi = np.delete(truth.topics, missing, axis=0)
    begun = at_unexplained_documents(truth.corpus, phi, 12)
    np.testing.assert_allclose(begun.sum(axis=1), 1.0)
    # Less what is common to all, each is most like the topic that is missing.
    own = begun - begun.min(axis=0)
    likest = np.argmax(own @ (truth.topics / np.linalg.norm(truth.topics, axis=1, keepdims=True)).T, axis=1)
    assert np.mean(likest == missing) > 0.9
