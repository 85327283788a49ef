"""A sound state is found sound, and every kind of damage is found."""

import numpy as np
import pytest

from franchise.model import broken_invariants, copy_state
from franchise.model.state import DEAD, NUMBERED, TABLES, TOPICS
from tests.reference.enumeration import Concentrations, Seating
from tests.reference.kernels import Kernels

pytestmark = pytest.mark.nojit

# Four tables, at slots 0, 1, 3 and 4: three of topic 0, one of topic 1. The second document is empty.
SEATING = Seating(((0, 1, 0), (), (0, 1, 0, 1)), (0, 0, 0, 1))
KERNELS = Kernels.seated([[0, 1, 0], [], [1, 2, 1, 2]], 3, Concentrations(1.0, 1.0, 1.0), SEATING)


def bury_a_living_topic(state):
    state.dead[0] = 0
    state.totals[DEAD] = 1


DAMAGE = {
    "a word without a table": (lambda s: s.t_ji.__setitem__(2, -1), "some words are not seated"),
    "a table without words": (lambda s: s.m_j.__setitem__(0, 3), "the tables in use are not the first m_j"),
    "a table not in use": (lambda s: s.m_j.__setitem__(2, 1), "a table that its document does not have"),
    "a word at another table": (lambda s: s.t_ji.__setitem__(0, 1), "n_jt differs"),
    "a table's size": (lambda s: s.n_jt.__setitem__(3, 3), "n_jt differs"),
    "the number of tables": (lambda s: s.totals.__setitem__(TABLES, 3), "the number of tables differs"),
    "a dead topic of a table": (lambda s: s.k_jt.__setitem__(1, 5), "the live topics are not those"),
    "a live topic without tables": (lambda s: s.k_jt.__setitem__(4, 0), "the live topics are not those"),
    "a topic listed twice": (lambda s: s.live.__setitem__(1, 0), "the live topics are not those"),
    "too few topics": (lambda s: s.totals.__setitem__(TOPICS, 1), "the live topics are not those"),
    "a place": (lambda s: s.place.__setitem__(1, 0), "live and place disagree"),
    "alive and dead": (bury_a_living_topic, "a topic number is both alive and dead, or neither"),
    "neither alive nor dead": (
        lambda s: s.totals.__setitem__(NUMBERED, 3),
        "a topic number is both alive and dead, or neither",
    ),
    "a topic's tables": (lambda s: s.m_k.__setitem__(0, 2), "m_k differs"),
    "a table of another topic": (lambda s: s.k_jt.__setitem__(0, 1), "m_k differs"),
    "a name given twice": (lambda s: s.name_k.__setitem__(1, s.name_k[0]), "two live topics have one name"),
    "a topic's words": (lambda s: s.n_k.__setitem__(1, 3), "n_k differs"),
    "a term's count": (lambda s: s.row_n.__setitem__(0, 1), "the counts of terms in topics differ"),
    "a term's topic": (lambda s: s.row_k.__setitem__(0, 1), "the counts of terms in topics differ"),
    "a term's row too short": (lambda s: s.row_len.__setitem__(2, 0), "the counts of terms in topics differ"),
}


def test_a_sound_state():
    assert broken_invariants(KERNELS.corpus, KERNELS.state) == []


@pytest.mark.parametrize(("damage", "complaint"), DAMAGE.values(), ids=DAMAGE.keys())
def test_damage_is_found(damage, complaint):
    state = copy_state(KERNELS.state)
    damage(state)
    assert any(complaint in found for found in broken_invariants(KERNELS.corpus, state))


def test_a_row_with_a_topic_twice_is_found():
    """The places of a row are as many as its term has words; the count of one pair is split in two."""
    state = copy_state(KERNELS.state)
    first = state.row_ptr[0]
    assert state.row_n[first] == 2
    state.row_k[first : first + 2] = state.row_k[first]
    state.row_n[first : first + 2] = 1
    state.row_len[0] = 2
    assert any("counts of terms" in found for found in broken_invariants(KERNELS.corpus, state))


@pytest.mark.parametrize("name", ["t_ji", "n_jt", "m_j", "n_k", "m_k", "k_jt"])
def test_any_single_change_of_a_count_or_label_is_found(name):
    """One more or one less, wherever it counts."""
    array = getattr(KERNELS.state, name)
    in_use = {"n_k": [0, 1], "m_k": [0, 1], "n_jt": [0, 1, 3, 4], "k_jt": [0, 1, 3, 4]}
    for i in in_use.get(name, range(array.size)):
        for change in (-1, 1):
            state = copy_state(KERNELS.state)
            getattr(state, name)[i] += change
            if getattr(state, name)[i] >= 0 and not np.any(state.m_j > np.diff(KERNELS.corpus.doc_ptr)):
                assert broken_invariants(KERNELS.corpus, state) != [], (name, i, change)
