"""The counts of a draw are read from the rows and tables of a state, and equal a count word by word."""

import numpy as np
import pytest
from hypothesis import given

from franchise.engines.collapsed import counts_of, topic_terms_of
from franchise.model import word_topics
from franchise.model.state import TOPICS
from franchise.random import WORD_TABLES
from tests.reference.kernels import Kernels
from tests.reference.strategies import CONCENTRATIONS, SEEDS, corpora

pytestmark = pytest.mark.nojit


def by_words(kernels, order):
    """Count the words of every topic and document one by one."""
    corpus, state = kernels.corpus, kernels.state
    rank = {int(k): row for row, k in enumerate(order)}
    z = [rank[int(k)] for k in word_topics(corpus, state)]
    document = np.repeat(np.arange(state.m_j.size), np.diff(corpus.doc_ptr))
    topic_terms = np.zeros((len(order), corpus.n_terms), int)
    document_topics = np.zeros((state.m_j.size, len(order)), int)
    np.add.at(topic_terms, (z, corpus.x), 1)
    np.add.at(document_topics, (document, z), 1)
    return topic_terms, document_topics


@given(corpora(), CONCENTRATIONS, SEEDS)
def test_counts_are_those_of_the_words(corpus, at, seed):
    kernels = Kernels(*corpus, at)
    kernels.start_sequential(seed)
    kernels.make(WORD_TABLES, seed)  # leaves numbers of dead topics between those of living ones
    state, counts = kernels.state, counts_of(kernels.corpus, kernels.state)
    live = state.live[: state.totals[TOPICS]]
    order = sorted(live.tolist(), key=lambda k: (-state.n_k[k], state.name_k[k]))
    topic_terms, document_topics = by_words(kernels, order)
    assert counts.topic_terms.toarray().tolist() == topic_terms.tolist()
    assert counts.document_topics.toarray().tolist() == document_topics.tolist()
    assert counts.names.tolist() == [state.name_k[k] for k in order]
    assert counts.m_k.tolist() == [state.m_k[k] for k in order]
    for found in (counts.topic_terms, counts.document_topics):
        assert found.has_canonical_format
        assert found.data.dtype == found.indices.dtype == np.int32
        assert found.data.min(initial=1) > 0


def test_rows_come_in_the_order_asked_for():
    kernels = Kernels([[0, 1, 2, 0], [2, 1]], 3, (2.0, 2.0, 0.5))
    kernels.start_sequential(3)
    topics = kernels.state.live[: kernels.state.totals[TOPICS]]
    backwards = topic_terms_of(kernels.state, topics[::-1]).toarray()
    assert backwards.tolist() == topic_terms_of(kernels.state, topics).toarray()[::-1].tolist()


def test_a_draw_shares_nothing_with_the_state():
    kernels = Kernels([[0, 1, 2, 0], [2, 1]], 3, (2.0, 2.0, 0.5))
    kernels.start_sequential(3)
    counts = counts_of(kernels.corpus, kernels.state)
    arrays = [counts.names, counts.m_k, counts.concentrations, counts.topic_terms.data]
    assert not any(np.shares_memory(ours, own) for ours in arrays for own in kernels.state)
