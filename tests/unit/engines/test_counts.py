"""The counts of a draw are read from the rows and tables of a state, and equal a count word by word."""

import numpy as np
import pytest
from hypothesis import given

from franchise.corpus import from_counts
from franchise.engines.collapsed import counts_of, topic_terms_of
from franchise.engines.coordinator import Coordinator, Facts, facts_of, state_without_seating
from franchise.engines.partitions.cuda.documents import GpuDocuments
from franchise.engines.threads import Threads
from franchise.errors import CorpusError, GpuError
from franchise.model import word_topics
from franchise.model.rows import Rows, rows_of
from franchise.model.state import TOPICS
from franchise.random import WORD_TABLES, Key
from tests.host_device import HostDevice, needs_compiler
from tests.raising import raises
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


# ---------------------------------------------------------------- more than 32 bits with a sign hold


MANY = 3 * 2**30  # words of a term in a topic


def rows_of_two_partitions():
    """Return the counts of two partitions in which term 1 has `MANY` words of topic 0 together."""
    rows = [np.array(one, np.uint32) for one in ([1, 2], [0, 0, 1], [2, MANY // 2, 5])]
    return [Rows(*rows), Rows(*rows)]


def coordinator_of_many():
    lengths = np.array([1]), np.array([2 * (MANY // 2 + 7)])
    facts = Facts(2, int(lengths[1][0]), 0, np.array([20, 20]), lengths)
    coordinator = Coordinator(facts, state_without_seating(facts, 8), 0)
    coordinator.name_first_topics(np.array([MANY + 4, 10]), np.array([1, 1]))
    coordinator.fill_rows(rows_of_two_partitions(), Threads(1))
    return coordinator


def test_partitions_together_may_have_many_words_of_a_term_in_a_topic():
    found = rows_of(coordinator_of_many().state)
    assert found.counts.tolist() == [4, MANY, 10]
    assert found.topics.tolist() == [0, 0, 1]


def test_a_draw_with_many_words_of_a_term_in_a_topic():
    found = topic_terms_of(coordinator_of_many().state, np.array([1, 0]))
    assert found.toarray().tolist() == [[0, 10], [4, MANY]]


def test_a_term_with_more_words_than_are_counted_is_refused():
    corpus = from_counts([[1, 2]])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(corpus), "term_counts", property(lambda _: np.array([1, 2**32])))
        with raises(CorpusError, "too-many-words", "4,294,967,296", repr(corpus.vocabulary[1])):
            facts_of(corpus)


@needs_compiler
def test_a_gpu_refuses_what_it_cannot_count():
    corpus = from_counts([[1, 2], [2, 1]])
    documents = GpuDocuments(HostDevice(), corpus.arrays)
    documents.start(Key(0, 0, 0, 0), 2)
    documents.name(np.arange(2))
    few, _ = rows_of_two_partitions()
    assert np.isfinite(documents.log_p_terms(0.5, few))
    many = few._replace(counts=np.array([2, MANY, 5], np.uint32))
    with raises(GpuError, "too-many-words", f"{MANY:,}"):
        documents.log_p_terms(0.5, many)
