"""Topic numbers: birth, death, more room, and numbering without gaps.

Only the topic axis grows. A kernel that might need a new number checks `is_full` before it draws anything. If
no number is left, it returns to the driver, which doubles the room and calls it again. The order in which
numbers are assigned does not depend on the room.

Moves loop over all numbers, dead ones too. So a sweep ends with `compact`, and a chain that once had many
topics stops paying for them.
"""

import numpy as np

from franchise._arrays import Array, offsets_of, places_of
from franchise._jit import helper, kernel
from franchise.model.state import BORN, DEAD, NUMBERED, TOPICS, State


@helper
def is_full(state):
    """Return whether no number is left for a new topic."""
    return state.totals[DEAD] == 0 and state.totals[NUMBERED] == state.n_k.size


@helper
def open_topic(state):
    """Create a topic without words and return its number."""
    if state.totals[DEAD] > 0:
        state.totals[DEAD] -= 1
        k = state.dead[state.totals[DEAD]]
    else:
        k = np.int32(state.totals[NUMBERED])
        state.totals[NUMBERED] += 1
    state.live[state.totals[TOPICS]] = k
    state.place[k] = state.totals[TOPICS]
    state.totals[TOPICS] += 1
    state.n_k[k] = 0
    state.m_k[k] = 0
    state.name_k[k] = state.totals[BORN]
    state.totals[BORN] += 1
    return k


@helper
def close_topic(state, k):
    """Remove topic k, which has no tables; the last of `live` takes its place."""
    state.totals[TOPICS] -= 1
    last = state.live[state.totals[TOPICS]]
    state.live[state.place[k]] = last
    state.place[last] = state.place[k]
    state.dead[state.totals[DEAD]] = k
    state.totals[DEAD] += 1


@kernel
def compact(corpus, state):
    """Give the living topics the numbers 0, ..., K - 1, in the order of `live`, if any number is dead.

    Names and the order of lists stay.
    """
    if state.totals[DEAD] == 0:
        return
    place, n_topics = state.place, state.totals[TOPICS]
    for j in range(state.m_j.size):
        first = corpus.doc_ptr[j]
        for slot in range(first, first + state.m_j[j]):
            state.k_jt[slot] = place[state.k_jt[slot]]
    for v in range(state.row_len.size):
        first = state.row_ptr[v]
        for pair in range(first, first + state.row_len[v]):
            state.row_k[pair] = place[state.row_k[pair]]
    _permute(state, n_topics)
    state.totals[DEAD] = 0
    state.totals[NUMBERED] = n_topics


@helper
def _permute(state, n_topics):
    """Move the arrays' entries of topic live[i] to i, by swapping; `live` and `place` become 0, 1, ..."""
    for i in range(n_topics):
        k = state.live[i]
        if k == i:
            continue
        for values in (state.n_k, state.m_k, state.name_k):
            values[i], values[k] = values[k], values[i]
        # The topic that had number i now has number k; a dead one may be anywhere.
        other = state.place[i]
        if other < n_topics and state.live[other] == i:
            state.live[other] = k
            state.place[k] = other
        state.live[i] = i
        state.place[i] = i


def grown(state: State) -> State:
    """Return the state with room for twice as many topics."""
    wider = {
        name: np.concatenate([getattr(state, name), np.zeros_like(getattr(state, name))])
        for name in ("n_k", "m_k", "name_k", "live", "place", "dead")
    }
    if state.row_k.size > state.row_ptr[-1]:
        wider |= _wider_rows(state)
    return state._replace(**wider)


def _wider_rows(state: State) -> dict[str, Array]:
    """Return the rows, with twice the room for terms with as much room as there are topics."""
    room = np.diff(state.row_ptr)
    row_ptr = offsets_of(np.where(room == state.n_k.size, 2 * room, room))
    old, new = (places_of(ptr[:-1], state.row_len) for ptr in (state.row_ptr, row_ptr))
    rows = {name: np.zeros(row_ptr[-1] + 1, np.uint32) for name in ("row_k", "row_n")}
    for name, row in rows.items():
        row[new] = getattr(state, name)[old]
    return {"row_ptr": row_ptr, **rows}
