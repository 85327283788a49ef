"""Every kind of split-merge trial leaves the exact posterior of tiny corpora invariant, and is reversible.

P is the transition matrix of the slow twin, every choice followed: anchors, order, allocation, scans,
acceptance. `test_split_merge_draw_for_draw` shows that the kernel makes the twin's choices.
"""

from functools import cache
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from franchise.sampling.trials import Proposal
from tests.reference.choices import transition_matrix
from tests.reference.enumeration import Concentrations, Posterior, Seating, log_joint, partitions
from tests.reference.franchise import Franchise
from tests.reference.trials import name_of, split_merge

TOLERANCE = 1e-12  # of probabilities
MODERATE = Concentrations(alpha=1.3, gamma=0.9, eta=0.4)
SPARSE = Concentrations(alpha=0.2, gamma=3.0, eta=0.1)
ANCHORS = ("uniform", "balanced", "similar")

# All seatings of these, at most five tables.
WHOLE = {
    "documents of different lengths": Posterior([[0, 1], [1, 2], [2]], 3, MODERATE),
    "an empty document": Posterior([[1, 0, 1], [], [0, 2]], 4, SPARSE),
}
# A trial leaves the tables as they are, so larger tables need only the partitions of them into topics.
SEATED = {
    "four tables": ([[0, 0, 1, 2], [1, 1, 0], [2, 2, 1]], 3, MODERATE, ((0, 0, 0, 1), (0, 0, 0), (0, 0, 0))),
    "four tables, two alike": (
        [[0, 0, 3, 3, 0], [0, 0, 1], [3]],
        5,
        SPARSE,
        ((0, 0, 1, 1, 1), (0, 0, 0), (0,)),
    ),
}


# Numbers of scans; following every choice of two scans takes seconds.
QUICK, LONG = [0, 1], [2]


def kinds_of(numbers_of_scans, anchors=ANCHORS):
    """Return all anchors with these numbers of scans."""
    return [Proposal(anchors=one, scans=scans) for one, scans in product(anchors, numbers_of_scans)]


@cache
def states_of(name):
    """Return documents, number of terms, concentrations, states and their probabilities."""
    if name in WHOLE:
        whole = WHOLE[name]
        return whole.documents, whole.n_terms, whole.at, whole.seatings, whole.probabilities
    documents, n_terms, at, t = SEATED[name]
    states = [Seating(t, k) for k in partitions(sum(len(set(own)) for own in t))]
    p = np.exp([log_joint(documents, n_terms, state, at) for state in states])
    return documents, n_terms, at, states, p / p.sum()


def check(name, kinds, most_words=np.inf):
    """Compare the flow from every state to every other with the flow back."""
    documents, n_terms, at, states, probabilities = states_of(name)

    def step(seating, choose):
        twin = Franchise.seated(documents, n_terms, at, seating)
        split_merge(twin, choose, kinds, trials=1, most_words=most_words)
        return twin.plain().seating

    matrix = transition_matrix(states, step)
    assert_allclose(matrix.sum(axis=1), 1.0, rtol=0, atol=TOLERANCE)
    assert_allclose(probabilities @ matrix, probabilities, rtol=0, atol=TOLERANCE)
    flow = probabilities[:, None] * matrix
    assert_allclose(flow, flow.T, rtol=0, atol=TOLERANCE)
    assert np.any(matrix != np.eye(len(matrix)))
    return matrix


@pytest.mark.parametrize("kind", kinds_of([0]), ids=name_of)
def test_over_all_seatings(kind):
    check("documents of different lengths", [kind])


@pytest.mark.parametrize("kind", kinds_of(QUICK), ids=name_of)
def test_over_the_topics_of_given_tables(kind):
    check("four tables", [kind])


@pytest.mark.parametrize("kind", [*kinds_of([0]), *kinds_of(QUICK[1:], ["similar"])], ids=name_of)
def test_over_the_topics_of_tables_without_common_terms(kind):
    """The likeness of some topics is 0 here, of some pairs of tables 1."""
    check("four tables, two alike", [kind])


@pytest.mark.statistical
@pytest.mark.parametrize("kind", kinds_of([0]), ids=name_of)
def test_over_all_seatings_of_two_corpora(kind):
    for name in WHOLE:
        check(name, [kind])


@pytest.mark.statistical
@pytest.mark.parametrize("kind", [*kinds_of(QUICK), *kinds_of(LONG)], ids=name_of)
def test_over_the_topics_of_given_tables_with_more_scans(kind):
    for name in SEATED:
        check(name, [kind])


def test_a_mixture_of_kinds():
    """The kinds of a mixture are taken in proportion to their weights."""
    kinds = [
        Proposal(anchors="similar", weight=2.0),
        Proposal(weight=0.5),
        Proposal(anchors="balanced", scans=1),
    ]
    mixture = check("four tables", kinds)
    parts = sum(kind.weight / 3.5 * check("four tables", [kind]) for kind in kinds)
    assert_allclose(mixture, parts, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("anchors", ANCHORS)
def test_trials_that_are_too_large_are_left_out(anchors):
    """Ten words at four tables: topics of up to seven words may be divided and made, larger ones stay."""
    kind = Proposal(anchors=anchors)
    some, all_of_them = check("four tables", [kind], most_words=7), check("four tables", [kind])
    assert np.sum(some > 0) < np.sum(all_of_them > 0)
