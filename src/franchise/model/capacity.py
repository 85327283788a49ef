"""Topic numbers: birth, death, and room for more.

Only the topic axis grows. A kernel that might need a new number asks `is_full` before it draws
anything, and hands back to the driver, which doubles the room and calls it again. Numbers are
given out in the same order whatever the room is.
"""

import numpy as np

from franchise._jit import helper
from franchise.model.state import BORN, DEAD, NUMBERED, TOPICS, State


@helper
def is_full(state):
    """Say whether there is no number left for a new topic."""
    return state.totals[DEAD] == 0 and state.totals[NUMBERED] == state.n_k.size


@helper
def open_topic(state):
    """Give birth to a topic without words and return its number."""
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
    """Bury topic k, which has no tables: the last of `live` takes its place."""
    state.totals[TOPICS] -= 1
    last = state.live[state.totals[TOPICS]]
    state.live[state.place[k]] = last
    state.place[last] = state.place[k]
    state.dead[state.totals[DEAD]] = k
    state.totals[DEAD] += 1


def grown(state: State) -> State:
    """Return the state with room for twice as many topics."""
    wider = {
        name: np.concatenate([getattr(state, name), np.zeros_like(getattr(state, name))])
        for name in ("n_k", "m_k", "name_k", "live", "place", "dead")
    }
    return state._replace(**wider)
