"""The bookkeeping of rows, tables and topics, each against a plain list or a recount."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from franchise.model import broken_invariants, empty_state
from franchise.model.capacity import open_topic
from franchise.model.seating import close_table, find_in_row, move_table, put_in_row, take_from_row
from franchise.model.state import TABLES
from tests.reference.enumeration import Concentrations, Seating
from tests.reference.franchise import corpus_of, fill_gap
from tests.reference.kernels import Kernels

pytestmark = pytest.mark.nojit

AT = Concentrations(1.0, 1.0, 1.0)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(1, 3)), max_size=30))
def test_a_row_is_a_list_of_counts_in_which_the_last_fills_a_gap(steps):
    """Between two other terms, whose rows stay empty."""
    state = empty_state(corpus_of([[0], [1] * 40, [2]], 3).arrays)
    order, counts, total = [], {}, 0
    for put, k, count in steps:
        if put and total + count <= 40:
            put_in_row(state, 1, k, count)
            if k not in counts:
                order.append(k)
            counts[k] = counts.get(k, 0) + count
            total += count
        elif not put and k in counts:
            count = min(count, counts[k])
            take_from_row(state, 1, find_in_row(state, 1, k), count)
            counts[k] -= count
            total -= count
            if counts[k] == 0:
                fill_gap(order, k)
                del counts[k]
        first, length = state.row_ptr[1], state.row_len[1]
        assert state.row_k[first : first + length].tolist() == order
        assert state.row_n[first : first + length].tolist() == [counts[k] for k in order]
        assert state.row_len.tolist() == [0, len(order), 0]
        places = [find_in_row(state, 1, k) for k in range(6)]
        assert places == [first + order.index(k) if k in counts else -1 for k in range(6)]


@pytest.mark.parametrize(("t", "expected"), [(0, [1, 1, 0]), (2, [0, 1, 1])])
def test_closing_a_table_gives_its_number_to_the_last(t, expected):
    kernels = Kernels.seated([[0, 0, 1], [1]], 2, AT, Seating(((0, 1, 2), (0,)), (0, 1, 2, 0)))
    state = kernels.state
    # Its only word goes to table 1, as a move would have it.
    state.t_ji[t] = 1
    state.n_jt[1], state.n_jt[t] = 2, 0
    topics = state.k_jt[:3].tolist()
    close_table(kernels.corpus, state, 0, t)
    last = topics.pop()
    if t < 2:
        topics[t] = last
    assert state.m_j.tolist() == [2, 1]
    assert state.t_ji[:3].tolist() == expected
    assert state.k_jt[:2].tolist() == topics
    assert state.n_jt[:2].tolist() == [state.t_ji[:3].tolist().count(0), state.t_ji[:3].tolist().count(1)]
    assert (state.t_ji[3], state.n_jt[3], state.k_jt[3]) == (0, 1, 0)


@pytest.mark.parametrize("to_new", [False, True], ids=["to a live topic", "to a new topic"])
@pytest.mark.parametrize(("slot", "words"), [(0, [0, 0, 1]), (3, [1, 1])])
def test_moving_a_table_keeps_every_count(slot, words, to_new):
    """Slot 3 is the last table of its topic, which is closed; slot 0 is not."""
    kernels = Kernels.seated([[0, 1, 0], [1, 1], [0]], 2, AT, Seating(((0, 0, 0), (0, 0), (0,)), (0, 1, 0)))
    state = kernels.state
    k = open_topic(state) if to_new else 1 - state.k_jt[slot]
    laid_out = np.array([9, *words, 9], np.int32)
    move_table(state, slot, k, laid_out, np.zeros(0, np.int32), 1, 1 + len(words))
    assert state.k_jt[slot] == k
    assert broken_invariants(kernels.corpus, state) == []


def test_seating_everyone_counts_everything():
    seating = Seating(((0, 1, 0), (), (0, 0, 1, 2)), (0, 1, 1, 0, 2))
    kernels = Kernels.seated([[0, 1, 0], [], [1, 2, 1, 2]], 3, AT, seating)
    assert broken_invariants(kernels.corpus, kernels.state) == []
    assert kernels.plain().seating == seating
    assert kernels.state.totals[TABLES] == 5
    assert kernels.plain().live == [0, 1, 2]
