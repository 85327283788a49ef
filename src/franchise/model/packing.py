"""A state without its unused places, and back: what a checkpoint stores.

The same state gives the same arrays, whatever its room and its past.
"""

import numpy as np

from franchise.corpus import CorpusArrays
from franchise.model.state import (
    DEAD,
    NUMBERED,
    TOPICS,
    Array,
    State,
    empty_state,
    pairs_in_use,
    tables_in_use,
)

_TABLE_AXIS, _PAIR_AXIS = ("n_jt", "k_jt"), ("row_k", "row_n")
_TOPIC_AXIS = ("n_k", "m_k", "name_k", "live", "place", "dead")
_CAPACITY = 64


def packed(corpus: CorpusArrays, state: State) -> dict[str, Array]:
    """Return the arrays of a state, cut to what is in use."""
    arrays = state._asdict()
    del arrays["row_ptr"]  # follows from the corpus
    is_table, is_pair = tables_in_use(corpus, state), pairs_in_use(state)
    arrays |= {name: arrays[name][is_table] for name in _TABLE_AXIS}
    arrays |= {name: arrays[name][is_pair] for name in _PAIR_AXIS}
    arrays |= {name: arrays[name][: state.totals[NUMBERED]].copy() for name in _TOPIC_AXIS}
    # What topics that are gone have left behind.
    arrays["dead"][state.totals[DEAD] :] = 0
    arrays["live"][state.totals[TOPICS] :] = 0
    for name in ("n_k", "m_k", "name_k", "place"):
        arrays[name][arrays["dead"][: state.totals[DEAD]]] = 0
    return arrays


def unpacked(corpus: CorpusArrays, arrays: dict[str, Array]) -> State:
    """Return the state of the arrays that `packed` returned.

    ValueError and KeyError say what does not fit; that the numbers add up is for `broken_invariants`.
    """
    n_numbers = arrays["n_k"].size
    state = empty_state(corpus, max(_CAPACITY, 2 * n_numbers))
    for name in ("t_ji", "m_j", "row_len", "totals", "concentrations"):
        _fill(getattr(state, name), arrays[name], name)
    for name in _TOPIC_AXIS:
        _fill(getattr(state, name)[:n_numbers], arrays[name], name)
    # The masks below need counts within their bounds; `broken_invariants` sees to the rest.
    np.clip(state.m_j, 0, np.diff(corpus.doc_ptr), out=state.m_j)
    np.clip(state.row_len, 0, np.diff(state.row_ptr), out=state.row_len)
    for names, mask in ((_TABLE_AXIS, tables_in_use(corpus, state)), (_PAIR_AXIS, pairs_in_use(state))):
        for name in names:
            values = np.zeros(int(np.count_nonzero(mask)), getattr(state, name).dtype)
            _fill(values, arrays[name], name)
            getattr(state, name)[mask] = values
    return state


def _fill(target: Array, source: Array, name: str) -> None:
    if source.shape != target.shape or source.dtype != target.dtype:
        raise ValueError(f"{name} has {source.size} numbers for {target.size} places")
    target[...] = source
