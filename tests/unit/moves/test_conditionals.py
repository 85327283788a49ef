"""A Gibbs move's probabilities are in proportion to the joint of the states that they lead to.

Ratios can be checked where not all states can be enumerated (`test_invariance` does that; Grosse & Duvenaud
2014): here on random states of random corpora.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.choices import Drawn, outcomes
from tests.reference.enumeration import log_joint
from tests.reference.franchise import Franchise
from tests.reference.strategies import CONCENTRATIONS, SEEDS, corpora


@st.composite
def franchises(draw):
    """Return a maker of twins in one random state, reached by a start and a sweep."""
    (documents, n_terms), at, seed = draw(corpora()), draw(CONCENTRATIONS), draw(SEEDS)
    twin = Franchise(documents, n_terms, at)
    twin.start_sequential(Drawn((seed, 0, 0, 0)))
    twin.word_tables(Drawn((seed, 0, 1, 0)))
    seating = twin.plain().seating
    return lambda: Franchise.seated(documents, n_terms, at, seating)


def assert_proportional_to_joint(make_twin, move):
    def run(choose):
        twin = make_twin()
        move(twin, choose)
        return twin.plain().seating

    start = make_twin()
    probabilities = outcomes(run)
    assert start.plain().seating in probabilities
    log_joints = [log_joint(start.documents, start.n_terms, s, start.at) for s in probabilities]
    ratios = np.log(list(probabilities.values())) - log_joints
    assert ratios == pytest.approx(ratios[0], abs=1e-9)


@given(franchises(), st.data())
def test_word_move(make_twin, data):
    twin = make_twin()
    words = [(j, i) for j, document in enumerate(twin.documents) for i in range(len(document))]
    j, i = data.draw(st.sampled_from(words))
    here = list(dict.fromkeys(twin.k_jt[j]))
    assert_proportional_to_joint(make_twin, lambda twin, choose: twin.word_table(j, i, list(here), choose))


@given(franchises(), st.data())
def test_table_move(make_twin, data):
    twin = make_twin()
    tables = [(j, t) for j, topics in enumerate(twin.k_jt) for t in range(len(topics))]
    j, t = data.draw(st.sampled_from(tables))
    assert_proportional_to_joint(make_twin, lambda twin, choose: twin.table_topic(j, t, choose))
