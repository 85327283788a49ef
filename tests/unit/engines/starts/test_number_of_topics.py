"""The number of topics of a table of counts: planted numbers, seeds, and tables with little in them."""

import numpy as np
import pytest

from franchise.corpus import from_counts
from franchise.engines.starts.number_of_topics import Choice, choose_number, topics_for_chain


def planted(n_topics, n_documents=80, n_terms=30, n_words=800, seed=0):
    """Draw a table and the topics that it is made of."""
    rng = np.random.default_rng([seed, n_topics])
    topics = rng.dirichlet(np.full(n_terms, 0.15), n_topics)
    p = rng.dirichlet(np.full(n_topics, 0.5), n_documents) @ topics
    return np.array([rng.multinomial(n_words, row) for row in p]), topics


def cells(table):
    return from_counts(table).cells


def matched(found, topics):
    unit = [one / np.linalg.norm(one, axis=1, keepdims=True) for one in (found, topics)]
    return ((unit[1] @ unit[0].T).max(axis=1) > 0.9).sum()


@pytest.mark.parametrize("n_topics", [1, 3, 6])
def test_the_planted_number_is_chosen(n_topics):
    table, topics = planted(n_topics)
    choice = choose_number(cells(table), 0)
    assert choice.number == n_topics
    assert choice.topics.shape == topics.shape
    assert matched(choice.topics, topics) == n_topics
    np.testing.assert_allclose(choice.topics.sum(axis=1), 1.0)


def test_scores_are_relative_to_the_best():
    choice = choose_number(cells(planted(4)[0]), 0)
    by_number = {one.number: one for one in choice.scores}
    assert list(by_number) == sorted(by_number)
    assert min(one.below for one in choice.scores) == 0.0
    assert by_number[1].below > by_number[2].below > by_number[4].below
    assert choice.number in choice.plausible
    for number in choice.plausible:
        assert by_number[number].below <= 2 * by_number[number].error + 0.01
        assert len(choice.topics_of[number]) == number


def test_one_seed_gives_the_same_bits():
    table, _ = planted(4)
    one, other = (choose_number(cells(table), 3) for _ in range(2))
    assert one.scores == other.scores
    np.testing.assert_array_equal(one.topics, other.topics)
    assert choose_number(cells(table), 4).scores != one.scores


def test_the_order_of_documents_does_not_matter():
    table, topics = planted(5)
    for seed in range(3):
        shuffled = np.random.default_rng(seed).permutation(table)
        choice = choose_number(cells(shuffled), 0)
        assert choice.number == 5
        assert matched(choice.topics, topics) == 5


def test_no_more_than_allowed():
    choice = choose_number(cells(planted(6)[0]), 0, most=3)
    assert max(one.number for one in choice.scores) == 3


@pytest.mark.parametrize(
    "table",
    [
        np.array([[5, 3, 2]]),
        np.array([[5], [9], [1]]),
        np.array([[1]]),
        np.array([[1, 0], [0, 1]]),
        np.tile([[30, 20, 0, 50]], (12, 1)),
    ],
    ids=["one document", "one term", "one word", "two words", "equal documents"],
)
def test_tables_with_little_in_them(table):
    choice = choose_number(cells(table), 0)
    assert choice.number == 1
    assert np.isfinite(choice.topics).all()
    np.testing.assert_allclose(choice.topics[0], table.sum(axis=0) / table.sum(), atol=0.01)


def test_empty_documents_say_nothing():
    table, topics = planted(3)
    table[::10] = 0
    choice = choose_number(cells(table), 0)
    assert choice.number == 3
    assert matched(choice.topics, topics) == 3


def test_a_sample_of_many_documents_is_enough(monkeypatch):
    monkeypatch.setattr("franchise.engines.starts.number_of_topics.MOST_DOCUMENTS", 60)
    table, topics = planted(3, n_documents=300)
    choice = choose_number(cells(table), 0)
    assert choice.number == 3
    assert matched(choice.topics, topics) == 3


def test_chains_start_from_different_numbers():
    topics_of = {number: np.full((number, 2), 0.5) for number in (4, 6, 7)}
    choice = Choice(4, topics_of[4], (), tuple(topics_of), topics_of, topics_of[7], 0.0)
    numbers = [len(topics_for_chain(choice, chain)) for chain in range(18)]
    others = numbers[2::3]
    assert others == [6, 7, 6, 7, 6, 7]
    assert {*numbers} - {*others} == {4}
    assert numbers.count(4) == 12
    alone = Choice(4, topics_of[4], (), (4,), {4: topics_of[4]}, topics_of[4], 0.0)
    assert [len(topics_for_chain(alone, chain)) for chain in range(4)] == [4] * 4


def rare(n_topics=16, n_documents=200, n_terms=60, n_words=2_000):
    """Draw a table of two common, flat topics and rare ones, of which each document has two at most."""
    rng = np.random.default_rng(5)
    topics = rng.dirichlet(np.full(n_terms, 0.3), n_topics)
    topics[:2] = rng.dirichlet(np.full(n_terms, 5.0), 2)
    mixtures = np.zeros((n_documents, n_topics))
    for own in mixtures:
        has = [0, 1, *rng.choice(np.arange(2, n_topics), rng.integers(0, 3), replace=False)]
        own[has] = rng.dirichlet(np.ones(len(has)))
    return np.array([rng.multinomial(n_words, row) for row in mixtures @ topics]), topics


def test_documents_may_have_few_of_many_topics():
    table, topics = rare()
    choice = choose_number(cells(table), 0)
    assert choice.least > 0.0
    assert abs(choice.number - len(topics)) <= 1
    assert matched(choice.topics, topics) == len(topics)
    assert matched(choice.most_detailed, topics) == len(topics)
    assert choose_number(cells(planted(6)[0]), 0).least == 0.0


def test_a_concentration_weighs_documents_down():
    table, topics = planted(4)
    table[0] *= 1_000  # a document that would decide alone
    choice = choose_number(cells(table), 0, concentration=500.0)
    assert choice.number == 4
    assert matched(choice.topics, topics) == 4
    assert max(one.below for one in choice.scores) < table[1:].sum()


@pytest.mark.parametrize("seed", [0, 1])
def test_documents_of_their_own_do_not_hide_topics(seed):
    """A few documents have one term that no topic predicts; hidden, such cells must not end the search."""
    table, topics = planted(6, seed=seed)
    rng = np.random.default_rng(seed)
    for j in range(6):
        table[j] = rng.multinomial(800, 0.8 * np.eye(30)[rng.integers(30)] + 0.2 / 30)
    assert matched(choose_number(cells(table), seed).topics, topics) == 6
