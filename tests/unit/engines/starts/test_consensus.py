"""What short runs agree on."""

import numpy as np
import pytest
import scipy.sparse as sp

from franchise.corpus import Corpus
from franchise.engines.starts import consensus
from franchise.engines.starts.consensus import (
    LEADING,
    LEAST_SUPPORT,
    SAME,
    Runs,
    consensus_of,
    starting_topics,
)
from franchise.engines.starts.em import COMMON
from tests.reference.consensus import agreed, support

CATS, DOGS, BONDS = [9, 3, 0, 0, 0, 0], [0, 0, 8, 2, 0, 0], [0, 0, 0, 0, 5, 4]


def runs_of(*runs):
    return [sp.csr_array(np.array(run, float)) for run in runs]


def topics_of(*runs):
    topics, _ = consensus_of(runs_of(*runs))
    return topics.toarray().tolist()


# ---------------------------------------------------------------- by hand


def test_a_topic_of_most_runs_comes_out_once_with_the_words_of_all():
    topics = topics_of([CATS, DOGS], [DOGS, CATS], [[10, 3, 0, 0, 0, 0]])
    assert topics == [[28, 9, 0, 0, 0, 0], [0, 0, 16, 4, 0, 0]]  # that of the most runs first


def test_a_topic_of_too_few_runs_is_left_out():
    """Of ten runs three are enough, of any number two."""
    three, two = [[CATS, DOGS]] * 3 + [[CATS]] * 7, [[CATS, DOGS]] * 2 + [[CATS]] * 8
    assert topics_of(*three) == [[90, 30, 0, 0, 0, 0], [0, 0, 24, 6, 0, 0]]
    assert topics_of(*two) == [[90, 30, 0, 0, 0, 0]]
    assert topics_of([CATS, DOGS], [CATS]) == [[18, 6, 0, 0, 0, 0]]
    assert topics_of([CATS], [CATS], [CATS, DOGS], [DOGS]) == [[27, 9, 0, 0, 0, 0], [0, 0, 16, 4, 0, 0]]


def test_of_two_near_topics_of_a_run_the_nearest_counts_and_both_are_used_up():
    nearly = [9, 5, 0, 0, 0, 0]
    runs = [[CATS, nearly], [CATS, nearly], [CATS]]
    assert topics_of(*runs) == [[27, 9, 0, 0, 0, 0]]  # `nearly`, which two runs have, is no topic of its own


def test_a_topic_that_one_run_has_twice_is_no_topic_of_two_runs():
    assert topics_of([CATS, CATS, DOGS], [DOGS], [DOGS]) == [[0, 0, 24, 6, 0, 0]]


def test_where_runs_share_nothing_the_topics_are_those_of_one_run():
    assert topics_of([CATS], [DOGS, [0, 0, 0, 0, 1, 0]], [[0, 0, 0, 0, 0, 7]]) == [DOGS, [0, 0, 0, 0, 1, 0]]
    assert topics_of([CATS, DOGS]) == [CATS, DOGS]  # a single run


def test_runs_without_topics_count():
    """Three of ten runs have the topic; the others, of which some have none at all, do not."""
    runs = [*runs_of([CATS], [CATS], [CATS]), *[sp.csr_array((0, 6))] * 7]
    assert consensus_of(runs)[0].toarray().tolist() == [[27, 9, 0, 0, 0, 0]]


# ---------------------------------------------------------------- like the twin


def random_runs(seed):
    """Return runs that have noisy copies of some of five topics, some of them twice."""
    rng = np.random.default_rng(seed)
    n_terms, noise = int(rng.integers(3, 12)), rng.uniform(0.0, 1.5)
    topics = rng.dirichlet(np.full(n_terms, 0.3), 5)
    runs = []
    for _ in range(rng.integers(1, 9)):
        chosen = rng.integers(0, 5, rng.integers(1, 7))
        errors = rng.dirichlet(np.full(n_terms, 0.3), chosen.size)
        runs.append((rng.uniform(5, 50, (chosen.size, 1)) * (topics[chosen] + noise * errors)).tolist())
    return runs


@pytest.mark.parametrize("rows_at_once", [2, 512])
def test_topics_are_those_of_the_twin(monkeypatch, rows_at_once):
    monkeypatch.setattr(consensus, "_ROWS_AT_ONCE", rows_at_once)
    numbers = set()
    for seed in range(60):
        runs = random_runs(seed)
        twin = agreed(runs, SAME, LEAST_SUPPORT)
        topics, found = consensus_of(runs_of(*runs))
        numbers.add(len(twin))
        np.testing.assert_allclose(topics.toarray(), twin, rtol=1e-9)
        everything = np.concatenate([np.array(run) for run in runs])
        by_twin = [support(runs, topic, SAME) for topic in everything.tolist()]
        np.testing.assert_allclose(found.support(everything), by_twin)
    assert len(numbers) > 3


# ---------------------------------------------------------------- the runs that are kept


def test_support_is_the_share_of_the_runs_that_have_a_topic():
    _, runs = consensus_of(runs_of([CATS, DOGS, CATS], [CATS], [DOGS, BONDS], [CATS]))
    assert runs.number == 4
    asked = np.array([CATS, DOGS, BONDS, [0, 0, 1, 20, 0, 0]], float)
    assert runs.support(asked).tolist() == [0.75, 0.5, 0.25, 0.0]
    assert runs.support(asked / 100).tolist() == [0.75, 0.5, 0.25, 0.0]  # shares as well as counts


def test_of_each_topic_the_leading_terms_are_kept():
    counts = np.arange(1.0, LEADING + 51)
    _, runs = consensus_of(runs_of([counts, counts[::-1]], [counts]))
    assert np.diff(runs.topics.indptr).tolist() == [LEADING] * 3
    assert runs.topics.toarray()[0].nonzero()[0].tolist() == list(range(50, LEADING + 50))
    assert runs.topics.toarray()[1].nonzero()[0].tolist() == list(range(LEADING))
    np.testing.assert_allclose(np.linalg.norm(runs.topics.toarray(), axis=1), 1.0, rtol=1e-6)
    assert runs.run.tolist() == [0, 0, 1]


def test_no_runs_at_all():
    assert Runs(sp.csr_array((0, 3)), np.zeros(0, np.int64)).number == 0


# ---------------------------------------------------------------- as an engine takes them


def test_topics_as_engines_start_from_them():
    """Terms that no topic has share a row, in which all is 0."""
    corpus = Corpus([0, 0, 0, 1, 2, 3, 4, 4], [0, 5, 8], list("abcde"))
    topics = starting_topics(corpus, sp.csr_array(np.array([[3.0, 0, 1, 0, 0], [0, 0, 0, 0, 5]])))
    assert topics.phi[topics.row].T.tolist() == [[0.75, 0, 0.25, 0, 0], [0, 0, 0, 0, 1.0]]
    assert topics.phi.shape == (4, 2)
    assert topics.row[1] == topics.row[3] == 3
    np.testing.assert_allclose(topics.common.sum(), COMMON / (1 - COMMON))
    np.testing.assert_allclose(topics.common, topics.common.sum() * np.array([3, 1, 1, 1, 2]) / 8)
