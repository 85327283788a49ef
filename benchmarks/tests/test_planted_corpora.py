"""Planted corpora for benchmarks: what is drawn is what was asked for, and chains can start at its truth."""

import numpy as np
import pytest

from benchmarks.parallel import PRIORS
from benchmarks.planted_corpora import MEAN_LENGTH, even, like_pubmed
from benchmarks.planted_start import planted_state, planted_state_of_many
from franchise.model import broken_invariants, topic_term_counts, word_topics
from franchise.model.state import TOPICS

N_WORDS, N_TERMS, N_TOPICS = 100_001, 500, 20


@pytest.fixture(scope="module", params=[even, like_pubmed])
def drawn(request):
    return request.param(N_WORDS, N_TERMS, N_TOPICS, xp=np)


def test_sizes_are_those_asked_for(drawn):
    assert drawn.corpus.n_words == drawn.z.size == N_WORDS
    assert drawn.corpus.n_terms == N_TERMS
    assert drawn.z.max() < N_TOPICS
    assert drawn.z.dtype == np.uint16
    assert drawn.corpus.document_lengths.mean() == pytest.approx(MEAN_LENGTH, rel=0.2)


def test_terms_come_from_the_topics_of_their_words(drawn):
    counts = np.zeros((N_TOPICS, N_TERMS))
    np.add.at(counts, (drawn.z, drawn.corpus.x), 1)
    expected = drawn.topics * counts.sum(axis=1, keepdims=True)
    assert not counts[drawn.topics == 0].any()
    enough = expected > 10
    # The mean of about a hundred squares or more, each 1 on average.
    assert enough.sum() > 100
    assert ((counts - expected) ** 2 / expected.clip(1e-9))[enough].mean() == pytest.approx(1.0, abs=0.25)


def test_a_document_has_a_few_topics(drawn):
    documents = np.repeat(np.arange(drawn.corpus.n_documents), drawn.corpus.document_lengths)
    pairs = np.unique(documents * N_TOPICS + drawn.z).size
    assert 3 < pairs / drawn.corpus.n_documents < 6


def test_the_same_seed_draws_the_same_corpus():
    first, again, other = (like_pubmed(5_000, 100, 5, seed, np) for seed in (1, 1, 2))
    assert first.corpus == again.corpus
    assert np.array_equal(first.z, again.z)
    assert first.corpus != other.corpus


def test_common_terms_are_common_in_all_topics():
    drawn = like_pubmed(50_000, 20_000, 10, xp=np)
    commonest = drawn.topics.mean(axis=0).argsort()[-10:]
    assert (drawn.topics[:, commonest] > 10 / 20_000).mean() > 0.8


def test_more_topics_than_are_stored_are_refused():
    with pytest.raises(ValueError, match="at most 65,536"):
        even(100, 1, 70_000, xp=np)


@pytest.mark.parametrize("threads", [1, 3])
def test_chains_of_many_words_start_at_the_same_state(drawn, threads):
    arrays = drawn.corpus.arrays
    found, plain = planted_state_of_many(drawn, PRIORS, threads), planted_state(drawn, PRIORS)
    assert broken_invariants(arrays, found) == []
    n_topics = plain.totals[TOPICS]
    assert np.array_equal(found.totals, plain.totals)
    assert np.array_equal(found.m_j, plain.m_j)
    assert np.array_equal(found.m_k[:n_topics], plain.m_k[:n_topics])
    assert np.array_equal(word_topics(arrays, found), word_topics(arrays, plain))
    assert np.array_equal(topic_term_counts(found), topic_term_counts(plain))


def test_topics_without_words_get_no_number():
    drawn = even(2_000, 50, 8, xp=np)
    drawn = drawn._replace(z=np.where(drawn.z == 3, 6, drawn.z).astype(np.uint16))
    found, plain = planted_state_of_many(drawn, PRIORS, 2), planted_state(drawn, PRIORS)
    assert found.totals[TOPICS] == 7
    assert broken_invariants(drawn.corpus.arrays, found) == []
    assert np.array_equal(word_topics(drawn.corpus.arrays, found), word_topics(drawn.corpus.arrays, plain))
