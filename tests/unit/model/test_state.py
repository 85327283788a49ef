"""What can be read off a state, by a recount in plain Python."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import given

from franchise.model import broken_invariants, copy_state, empty_state, topic_term_counts, word_topics
from franchise.model.state import TOPICS
from franchise.random import WORD_TABLES
from tests.reference.franchise import corpus_of
from tests.reference.kernels import Kernels
from tests.reference.strategies import CONCENTRATIONS, SEEDS, corpora

pytestmark = pytest.mark.nojit


def started(corpus, at, seed):
    kernels = Kernels(*corpus, at)
    kernels.start_sequential(seed)
    return kernels


@given(corpora())
def test_an_empty_state_has_no_topic_and_no_word_seated(corpus):
    arrays = corpus_of(*corpus).arrays
    state = empty_state(arrays, capacity=3)
    words = list(chain(*corpus[0]))
    assert np.all(state.t_ji == -1)
    assert not state.totals.any()
    assert np.diff(state.row_ptr).tolist() == [words.count(v) for v in range(corpus[1])]
    assert broken_invariants(arrays, state) == ["some words are not seated"]


@given(corpora(), CONCENTRATIONS, SEEDS)
def test_word_topics_and_their_counts_equal_a_recount(corpus, at, seed):
    kernels = started(corpus, at, seed)
    plain = kernels.plain()
    z = [k_jt[t] for t_ji, k_jt in zip(plain.t_ji, plain.k_jt) for t in t_ji]
    assert word_topics(kernels.corpus, kernels.state).tolist() == z
    words = list(zip(z, chain(*corpus[0])))
    expected = [[words.count((k, v)) for v in range(corpus[1])] for k in plain.live]
    assert topic_term_counts(kernels.state).tolist() == expected
    backwards = kernels.state.live[: kernels.state.totals[TOPICS]][::-1]
    assert topic_term_counts(kernels.state, backwards).tolist() == expected[::-1]
    assert topic_term_counts(kernels.state, backwards[:1]).tolist() == expected[-1:]


@given(corpora(), CONCENTRATIONS, SEEDS)
def test_a_copy_goes_its_own_way(corpus, at, seed):
    kernels = started(corpus, at, seed)
    copy = copy_state(kernels.state)
    before = [array.tolist() for array in copy]
    kernels.make(WORD_TABLES, seed)
    for array in kernels.state:
        array[...] = 7
    assert [array.tolist() for array in copy] == before
