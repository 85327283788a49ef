"""The log joint is the paper's: a state that its own program saved gets the number that it logged."""

from pathlib import Path

import numpy as np
import pytest
from scipy.special import digamma

from franchise import Corpus, Priors, read_ldac
from franchise.model import broken_invariants, empty_state, joint
from franchise.model.seating import seat_all
from franchise.model.state import ALPHA, ETA, GAMMA, TABLES, TOPICS

FOLDER = Path(__file__).resolve().parents[1] / "data" / "compat"
N_TOPICS, N_TABLES, LOG_JOINT, GAMMA_20, ALPHA_20 = 21, 95, -20648.17539, 4.58334, 0.14247
LAST_DIGIT = 0.5e-5  # the log has five digits after the point


@pytest.fixture(scope="module")
def assignments():
    """Columns document, term, topic, table, with a document's words together."""
    rows = np.loadtxt(FOLDER / "00020-word-assignments.dat", dtype=np.int32, skiprows=1)
    return rows[np.argsort(rows[:, 0], kind="stable")].T


@pytest.fixture(scope="module")
def corpus(assignments):
    """The abstracts, words in the program's order."""
    documents, terms, _, _ = assignments
    vocabulary = (FOLDER / "vocabulary.txt").read_text(encoding="utf-8").split()
    return Corpus(terms, np.searchsorted(documents, np.arange(documents[-1] + 2)), vocabulary)


@pytest.fixture(scope="module")
def state(corpus, assignments):
    documents, _, topics, tables = assignments
    state = empty_state(corpus.arrays, capacity=N_TOPICS)
    state.t_ji[:] = tables
    state.k_jt[corpus.doc_ptr[documents] + tables] = topics
    state.concentrations[[ALPHA, GAMMA, ETA]] = ALPHA_20, GAMMA_20, 0.5
    seat_all(corpus.arrays, state, N_TOPICS)
    return state


def tolerance(corpus):
    """Return how far the log's rounding of gamma, alpha and the joint itself can move the sum."""
    by_gamma = N_TOPICS / GAMMA_20 + digamma(GAMMA_20) - digamma(GAMMA_20 + N_TABLES) - 1
    lengths = corpus.document_lengths
    by_alpha = N_TABLES / ALPHA_20 + np.sum(digamma(ALPHA_20) - digamma(ALPHA_20 + lengths)) - 1
    return LAST_DIGIT * (abs(by_gamma) + abs(by_alpha) + 1)


def test_the_log_has_these_numbers():
    last = (FOLDER / "state.log").read_text().splitlines()[-1].split()
    assert last[1] == "00020"
    assert [float(number) for number in last[2:7]] == [N_TOPICS, N_TABLES, LOG_JOINT, GAMMA_20, ALPHA_20]


def test_its_words_are_those_of_the_corpus_file(corpus):
    given = read_ldac(FOLDER / "train.ldac")
    assert given.n_terms == corpus.n_terms
    assert np.array_equal(given.doc_ptr, corpus.doc_ptr)
    for j in range(given.n_documents):
        assert np.array_equal(given.document(j), np.sort(corpus.document(j)))


def test_its_state_is_a_sound_franchise(corpus, state):
    assert broken_invariants(corpus.arrays, state) == []
    assert (state.totals[TOPICS], state.totals[TABLES]) == (N_TOPICS, N_TABLES)


def test_its_log_joint_is_ours(corpus, state):
    parts = joint(corpus.arrays, state, Priors(alpha=(1.0, 1.0), gamma=(1.0, 1.0), eta=0.5))
    assert parts.log_joint + parts.log_prior == pytest.approx(LOG_JOINT, rel=0, abs=tolerance(corpus))
