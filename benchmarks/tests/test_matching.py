import numpy as np

from benchmarks.matching import (
    COLUMNS,
    UNKNOWN,
    Case,
    copies,
    even,
    fit,
    measure,
    rows,
    same_terms,
    same_words,
)


def test_a_topic_is_the_planted_one_with_which_it_shares_most_words():
    both = np.array([[8, 1, 0], [3, 1, 0], [0, 5, 6], [0, 4, 1]])
    assert same_words(both).tolist() == [0, UNKNOWN, 2, UNKNOWN]  # the last has less than half of topic 1


def test_a_topic_that_a_draw_has_twice_is_not_known():
    near = np.array([[0.95, 0.2], [0.92, 0.1], [0.3, 0.97], [0.5, 0.6]])
    assert same_terms(near).tolist() == [UNKNOWN, UNKNOWN, 1, UNKNOWN]


def test_copies_look_the_same_and_are_in_different_draws():
    phi = np.array([[0.5, 0.4, 0.1], [0.5, 0.4, 0.1], [0.5, 0.4, 0.1], [0.0, 0.0, 1.0]])
    phi = np.hstack([phi, np.zeros((4, 40))])
    phi[3, 20:40] = 0.2
    have = np.array([[1, 0, 1, 1]] * 5 + [[0, 1, 1, 1]] * 5, bool)
    assert copies(phi, have) == [(0, 1)]


def test_a_small_fit_is_matched():
    case = Case("small", lambda: even(4, 60, 30, seed=1))
    found = fit(case, sweeps=20, starts=("sequential", 10))
    measured = measure(*found)
    assert measured.n_planted == 4
    assert measured.together is not None
    assert measured.together > 0.9
    assert [len(row) for row in rows("small", found)] == [len(COLUMNS)] * 2
