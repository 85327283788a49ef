"""A state without its unused places, as a checkpoint stores it, and back.

The same state gives the same arrays, whatever its room and history. Numbers of words, tables and terms are
stored in the narrowest type that holds them all: the tables of a hundred million words within their documents
take a hundred megabytes instead of four hundred.
"""

import numpy as np

from franchise._arrays import Array, CorpusArrays, narrow
from franchise._jit import kernel
from franchise.model.state import DEAD, NUMBERED, TOPICS, State, empty_state

_TABLE_AXIS, _PAIR_AXIS = ("n_jt", "k_jt"), ("row_k", "row_n")
_TOPIC_AXIS = ("n_k", "m_k", "name_k", "live", "place", "dead")
CAPACITY = 64


def packed(corpus: CorpusArrays, state: State) -> dict[str, Array]:
    """Return the arrays of a state, cut to the used parts; they share no memory with it."""
    arrays = {name: narrow(getattr(state, name)) for name in ("t_ji", "m_j", "row_len")}
    for names, first, used in _in_use(corpus, state):
        arrays |= {name: gathered(first, used, getattr(state, name)) for name in names}
    for name in ("totals", "concentrations"):
        arrays[name] = getattr(state, name).copy()
    arrays |= {name: getattr(state, name)[: state.totals[NUMBERED]].copy() for name in _TOPIC_AXIS}
    # Remains of closed topics.
    arrays["dead"][state.totals[DEAD] :] = 0
    arrays["live"][state.totals[TOPICS] :] = 0
    for name in ("n_k", "m_k", "name_k", "place"):
        arrays[name][arrays["dead"][: state.totals[DEAD]]] = 0
    return arrays


def unpacked(corpus: CorpusArrays, arrays: dict[str, Array]) -> State:
    """Return the state of the arrays that `packed` returned.

    ValueError and KeyError say what does not fit; `broken_invariants` checks that the numbers add up.
    """
    return filled(corpus, empty_state(corpus, room_for(arrays)), arrays)


def room_for(arrays: dict[str, Array]) -> int:
    """Return the number of topics to allocate first for this state."""
    return max(CAPACITY, 2 * arrays["n_k"].size)


def filled(corpus: CorpusArrays, state: State, arrays: dict[str, Array]) -> State:
    """Fill the arrays of `packed` into an empty state; errors as in `unpacked`."""
    n_numbers = arrays["n_k"].size
    for name in ("t_ji", "m_j", "row_len", "totals", "concentrations"):
        _fill(getattr(state, name), arrays[name], name)
    for name in _TOPIC_AXIS:
        _fill(getattr(state, name)[:n_numbers], arrays[name], name)
    # Scattering needs counts within their bounds; `broken_invariants` checks the rest.
    np.clip(state.m_j, 0, np.diff(corpus.doc_ptr), out=state.m_j)
    np.clip(state.row_len, 0, np.diff(state.row_ptr), out=state.row_len)
    for names, first, used in _in_use(corpus, state):
        for name in names:
            values = np.zeros(int(used.sum(dtype=np.int64)), getattr(state, name).dtype)
            _fill(values, arrays[name], name)
            _scatter(first, used, _one_type(values), _one_type(getattr(state, name)))
    return state


def gathered(first: Array, used: Array, source: Array) -> Array:
    """Return the used places of an array of rows, narrow and without gaps."""
    target = np.empty(int(used.sum(dtype=np.int64)), source.dtype)
    _gather(first, used, _one_type(source), _one_type(target))
    return narrow(target)


def _in_use(corpus: CorpusArrays, state: State) -> tuple[tuple[tuple[str, ...], Array, Array], ...]:
    """Return the arrays with unused places, where each of their rows begins, and how many places it uses."""
    return (_TABLE_AXIS, _one_type(corpus.doc_ptr), state.m_j), (_PAIR_AXIS, state.row_ptr, state.row_len)


def _one_type(array: Array) -> Array:
    """Return the array in the type that the kernels below take: signed numbers, writeable."""
    if not array.flags.writeable:
        return array.copy()  # one number per document
    return array.view(np.int32) if array.dtype == np.uint32 else array


@kernel
def _gather(first, used, source, target):
    place = 0
    for row in range(used.size):
        for i in range(first[row], first[row] + used[row]):
            target[place] = source[i]
            place += 1


@kernel
def _scatter(first, used, source, target):
    place = 0
    for row in range(used.size):
        for i in range(first[row], first[row] + used[row]):
            target[i] = source[place]
            place += 1


def _fill(target: Array, source: Array, name: str) -> None:
    if source.shape != target.shape or not np.can_cast(source.dtype, target.dtype, "safe"):
        raise ValueError(f"{name} has {source.size} numbers for {target.size} places")
    target[...] = source
