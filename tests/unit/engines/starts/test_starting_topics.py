"""Starts, as a chain makes them; draw for draw, with the twin."""

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from franchise.engines.starts.sample import in_random_order
from franchise.engines.starts.starting_topics import StartingTopics
from franchise.model import Priors, broken_invariants
from franchise.model.state import NUMBERED, TABLES, TOPICS
from franchise.random import INITIALIZE
from franchise.sampling.chain import Chain
from tests.golden.fingerprint import arithmetic_corpus
from tests.reference.choices import Drawn
from tests.reference.enumeration import Concentrations
from tests.reference.fitted import Fitted, Limits
from tests.reference.franchise import Franchise, corpus_of, plain
from tests.reference.strategies import CONCENTRATIONS, SEEDS, corpora
from tests.reference.workers import WorkersHere

pytestmark = pytest.mark.nojit

AT = Concentrations(1.0, 1.0, 1.0)


@contextmanager
def limited_to(limits):
    """Let no more be fitted, and to no more, than this."""
    with pytest.MonkeyPatch.context() as patch:
        for name, most in limits._asdict().items():
            patch.setattr(f"franchise.engines.starts.sample._MOST_{name.upper()}", most)
            if name == "topics":
                patch.setattr("franchise.engines.starts.em._LEAST_MOST", most)
        yield


def order_of(corpus, seed):
    """Return the order in which documents that are not empty are taken for the fit."""
    filled = np.array([j for j, words in enumerate(corpus[0]) if words])
    return in_random_order(filled, seed).tolist()


def started(corpus, at, seed, number, start, capacity):
    """Return the state of a started chain."""
    priors = Priors(**at._asdict())
    chain = Chain(corpus_of(*corpus), priors, random_state=seed, number=number, init=start, capacity=capacity)
    chain.start()
    assert broken_invariants(chain.corpus.arrays, chain.state) == []
    return chain.state


@given(
    corpora(),
    CONCENTRATIONS,
    SEEDS,
    st.integers(0, 3),
    st.sampled_from(["sequential", 1, 2, 50]),
    st.sampled_from([1, 64]),
)
def test_a_chain_starts_as_the_twin_does(corpus, at, seed, number, start, capacity):
    state = started(corpus, at, seed, number, start, capacity)
    twin, choose = Franchise(*corpus, at), Drawn((seed, number, 0, INITIALIZE))
    if start == "sequential":
        twin.start_sequential(choose)
    else:
        twin.start_random(choose, start)
    assert plain(corpus_of(*corpus).arrays, state) == twin.plain()


@given(
    corpora(max_documents=9, max_length=12, max_terms=6),
    SEEDS,
    st.integers(0, 3),
    st.sampled_from([1, 64]),
    st.sampled_from([Limits(), Limits(topics=2), Limits(words=20), Limits(documents=2)]),
)
def test_a_chain_starts_from_fitted_topics_as_the_twin_does(corpus, seed, number, capacity, limits):
    with limited_to(limits):
        state = started(corpus, AT, seed, number, "fitted", capacity)
    twin = Franchise(*corpus, AT)
    twin.start_fitted(Drawn((seed, number, 0, INITIALIZE)), limits, order_of(corpus, seed))
    assert plain(corpus_of(*corpus).arrays, state) == twin.plain()


def test_many_words_start_from_fitted_topics_as_the_twin_does(seed):
    many = arithmetic_corpus()
    corpus = [words.tolist() for words in np.split(many.x, many.doc_ptr[1:-1])], many.n_terms
    for number in range(10):
        twin = Franchise(*corpus, AT)
        twin.start_fitted(Drawn((seed, number, 0, INITIALIZE)), Limits(), order_of(corpus, seed))
        state = started(corpus, AT, seed, number, "fitted", 1)
        assert plain(corpus_of(*corpus).arrays, state) == twin.plain()


@pytest.mark.parametrize("kind", ["different", "alike", "of few terms"])
@pytest.mark.parametrize(
    ("engine", "threads"), [("collapsed", 1), ("parallel", 1), ("parallel", 3), ("ray", 2)]
)
def test_of_many_topics_those_are_drawn_that_a_document_has_most_of(kind, engine, threads, seed):
    """No fewer than 32 and no more than 64, as the twin lists them."""
    rng, n_topics, n_terms = np.random.default_rng(seed), 100, 6
    phi = rng.dirichlet(np.full(n_terms, 0.4), n_topics)
    if kind == "alike":
        phi[:] = phi[0]
    elif kind == "of few terms":
        phi[:, 1:4] = 0.0
    common = rng.dirichlet(np.ones(n_terms)) / 9
    corpus = [rng.integers(n_terms, size=size).tolist() for size in (0, 1, 3, 40, 200)], n_terms
    chain = Chain(
        corpus_of(*corpus), Priors(), random_state=seed, init="fitted", engine=engine, n_jobs=threads
    )
    chain.use_workers(WorkersHere(chain.corpus, 2, threads=threads))
    chain.first_topics = StartingTopics(np.ascontiguousarray(phi.T), np.arange(n_terms), common)
    chain.start()
    assert broken_invariants(chain.corpus.arrays, chain.state) == []
    twin = Franchise(*corpus, AT)
    twin.start_from(Drawn((seed, 0, 0, INITIALIZE)), Fitted(common.tolist(), phi.tolist()))
    found = plain(corpus_of(*corpus).arrays, chain.state)
    if engine == "collapsed":
        assert found == twin.plain()
    else:  # topics have other numbers
        assert (found.t_ji, found.seating) == (twin.t_ji, twin.plain().seating)
    assert len({*twin.k_jt[4]}) <= 1 + 64


@given(corpora(), CONCENTRATIONS, SEEDS)
def test_one_topic_is_one_topic_with_a_table_in_each_document(corpus, at, seed):
    state = started(corpus, at, seed, 0, "one", 1)
    assert state.totals[TOPICS] == 1
    assert state.totals[TABLES] == sum(map(bool, corpus[0]))
    assert np.all(state.t_ji == 0)


def test_topics_that_no_word_has_drawn_do_not_exist(seed):
    state = started(([[0] * 12], 1), AT, seed, 0, 50, 1)
    assert state.totals[NUMBERED] == state.totals[TOPICS] <= 12
