"""Topic numbers: given out, taken back, and room for more."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from franchise.model import empty_state
from franchise.model.capacity import close_topic, grown, is_full, open_topic
from franchise.model.state import BORN, DEAD, NUMBERED, TOPICS, State
from franchise.moves.shared.scratch import grown_scratch
from franchise.moves.word_tables import word_tables
from franchise.random import WORD_TABLES, Key
from tests.reference.enumeration import Concentrations
from tests.reference.franchise import corpus_of, fill_gap
from tests.reference.kernels import Kernels

pytestmark = pytest.mark.nojit

TOPIC_AXIS = {"n_k", "m_k", "name_k", "live", "place", "dead"}


@given(st.lists(st.one_of(st.none(), st.integers(0, 20)), max_size=40), st.integers(1, 4))
def test_numbers_are_used_again_last_in_first_out(steps, capacity):
    """A step opens a topic (None) or closes one; room grows on the way and changes no number."""
    state = empty_state(corpus_of([[0]], 1).arrays, capacity)
    live, dead, names, born = [], [], {}, 0
    for step in steps:
        if step is None:
            if is_full(state):
                state = grown(state)
            k = dead.pop() if dead else len(live)
            assert open_topic(state) == k
            live.append(k)
            names[k] = born
            born += 1
        elif live:
            k = live[step % len(live)]
            close_topic(state, k)
            fill_gap(live, k)
            dead.append(k)
        assert state.live[: state.totals[TOPICS]].tolist() == live
        assert state.dead[: state.totals[DEAD]].tolist() == dead
        assert state.place[live].tolist() == list(range(len(live)))
        assert state.totals[NUMBERED] == len(live) + len(dead)
        assert state.name_k[live].tolist() == [names[k] for k in live]
        assert state.totals[BORN] == born


def test_full_means_no_number_left():
    state = empty_state(corpus_of([[0]], 1).arrays, capacity=2)
    for full in (False, False, True):
        assert bool(is_full(state)) is full
        if not full:
            open_topic(state)
    close_topic(state, 0)
    assert not is_full(state)


def started(capacity):
    kernels = Kernels([[0, 1, 2], [2, 1]], 3, Concentrations(5.0, 5.0, 5.0), capacity)
    kernels.start_sequential(0)
    return kernels


@pytest.mark.parametrize("capacity", [1, 3, 64])
def test_growth_doubles_the_room_and_keeps_the_contents(capacity):
    state = started(capacity).state
    wider = grown(state)
    for name in State._fields:
        old, new = getattr(state, name), getattr(wider, name)
        if name in TOPIC_AXIS:
            assert new.size == 2 * old.size
            assert new[: old.size].tolist() == old.tolist()
            assert not new[old.size :].any()
            assert new.dtype == old.dtype
        else:
            assert new is old


def test_growth_of_the_working_memory_gives_the_room_of_a_larger_one():
    small, large = started(16).scratch, started(32).scratch
    wider = grown_scratch(small)
    for own, other in zip(wider, large, strict=True):
        assert [array.shape for array in own] == [array.shape for array in other]
        assert [array.dtype for array in own] == [array.dtype for array in other]


def test_growth_keeps_what_a_kernel_goes_on_with():
    """The word move returns in the middle of a document, and continues with the sums that it maintains."""
    kernels = Kernels([[0, 1, 2, 0, 1], [2, 1]], 3, Concentrations(9.0, 9.0, 9.0), capacity=1)
    words = kernels.scratch.words
    assert not word_tables(Key(0, 0, 1, WORD_TABLES), kernels.corpus, kernels.state, words).complete
    wider = grown_scratch(kernels.scratch).words
    for name in ("stream", "cursor", "sums", "w_k", "mw_k", "nw_k", "n_jk", "here", "here_place"):
        old, new = getattr(words, name), getattr(wider, name)
        assert old.any() or name in ("here", "here_place"), "nothing is shown by zeros"
        assert new[: old.size].tolist() == old.tolist()


@pytest.mark.parametrize("capacity", [1, 2, 3, 5])
def test_capacity_changes_nothing_but_the_room(capacity):
    small, large = started(capacity), started(64)
    for name in State._fields:
        length = capacity if name in TOPIC_AXIS else None
        ours, theirs = getattr(small.state, name)[:length], getattr(large.state, name)[:length]
        if name not in ("row_k", "row_n", "live", "dead"):  # parts of these are never written
            assert np.array_equal(ours, theirs), name
    assert small.plain() == large.plain()
    assert small.state.totals[BORN] == large.state.totals[BORN]
