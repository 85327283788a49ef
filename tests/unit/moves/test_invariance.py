"""Every Gibbs move leaves the exact posterior of tiny corpora invariant: pi P = pi.

P is the transition matrix of the slow twin over all states, every choice followed; `test_draw_for_draw`
shows that the kernels make the twin's choices.
"""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.reference.choices import outcomes, transition_matrix
from tests.reference.enumeration import Concentrations, Posterior, log_p_tables, log_p_topics
from tests.reference.franchise import Franchise

TOLERANCE = 1e-12  # of probabilities
CORPORA = {
    "two documents of three words": ([[0, 0, 1], [1, 1, 2]], 3),  # 712 states, the others at most 134
    "documents of different lengths": ([[0, 1], [1, 2], [2]], 3),
    "an empty document": ([[1, 0, 1], [], [0, 2]], 4),
    "one term": ([[0, 0, 0], [0, 0]], 1),
}
AT = {
    "moderate": Concentrations(alpha=1.3, gamma=0.9, eta=0.4),
    "extreme": Concentrations(alpha=0.2, gamma=4.0, eta=2.5),
}


@cache
def posterior_of(name, at):
    return Posterior(*CORPORA[name], AT[at])


def matrix_of(posterior, move):
    """Return the transition matrix of `move(twin, choose)`."""

    def step(seating, choose):
        twin = Franchise.seated(posterior.documents, posterior.n_terms, posterior.at, seating)
        move(twin, choose)
        return twin.plain().seating

    return transition_matrix(posterior.seatings, step)


@cache
def word_matrices(name, at):
    """Return the matrices of the words, one after another."""
    posterior = posterior_of(name, at)

    def word(j, i):
        return lambda twin, choose: twin.word_table(j, i, list(dict.fromkeys(twin.k_jt[j])), choose)

    words = [(j, i) for j, document in enumerate(posterior.documents) for i in range(len(document))]
    return [matrix_of(posterior, word(j, i)) for j, i in words]


def assert_invariant(posterior, matrix):
    assert_allclose(matrix.sum(axis=1), 1.0, rtol=0, atol=TOLERANCE)
    assert_allclose(posterior.probabilities @ matrix, posterior.probabilities, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("at", AT)
@pytest.mark.parametrize("name", CORPORA)
def test_word_move_of_each_word(name, at):
    """Gibbs for one word is reversible as well: pi_a P_ab = pi_b P_ba."""
    posterior = posterior_of(name, at)
    for matrix in word_matrices(name, at):
        assert_invariant(posterior, matrix)
        flow = posterior.probabilities[:, None] * matrix
        assert_allclose(flow, flow.T, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("at", AT)
def test_word_sweep_over_one_document(at):
    """The words of a document in one go, the list of its topics growing on the way."""
    posterior = posterior_of("documents of different lengths", at)
    for j in range(len(posterior.documents)):
        matrix = matrix_of(posterior, lambda twin, choose, j=j: twin.word_tables(choose, [j]))
        assert_invariant(posterior, matrix)


@pytest.mark.parametrize("at", AT)
def test_word_sweep_is_its_words_one_after_another(at):
    """The list of topics seen in a document changes the order of candidates, not a probability."""
    name = "documents of different lengths"
    first, second = word_matrices(name, at)[:2]
    sweep = matrix_of(posterior_of(name, at), lambda twin, choose: twin.word_tables(choose, [0]))
    assert_allclose(sweep, first @ second, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("at", AT)
@pytest.mark.parametrize("name", CORPORA)
def test_table_sweep(name, at):
    posterior = posterior_of(name, at)
    matrix = matrix_of(posterior, lambda twin, choose: twin.table_topics(choose))
    assert_invariant(posterior, matrix)
    assert np.any(matrix != np.eye(len(matrix)))


@pytest.mark.parametrize("at", AT)
@pytest.mark.parametrize("name", CORPORA)
def test_word_sweeps_reach_every_state(name, at):
    """So the posterior is the one distribution that the word move leaves invariant."""
    sweep = np.linalg.multi_dot(word_matrices(name, at))
    assert np.all(np.linalg.matrix_power(sweep, 3) > 0)


@pytest.mark.parametrize("at", AT)
@pytest.mark.parametrize("lengths", [(3, 2), (2, 0, 2)])
def test_sequential_start_without_information_is_the_prior(lengths, at):
    """With a single term the words say nothing: the start draws seatings from p(t) p(k), exactly."""
    documents = [[0] * n for n in lengths]

    def start(choose):
        twin = Franchise(documents, 1, AT[at])
        twin.start_sequential(choose)
        return twin.plain().seating

    for seating, probability in outcomes(start).items():
        prior = np.exp(log_p_tables(seating, AT[at].alpha) + log_p_topics(seating, AT[at].gamma))
        assert probability == pytest.approx(prior, abs=TOLERANCE)
