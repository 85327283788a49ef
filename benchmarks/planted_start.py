"""Chains that start at the planted truth, so that speed is measured where a converged chain works."""

import numpy as np

from franchise import Chain, Schedule
from franchise.corpus.synthetic import Planted
from franchise.model import Priors, State, empty_state
from franchise.moves.initialize import seat_all


def planted_state(planted: Planted, priors: Priors) -> State:
    """Seat every word with its planted topic, one table per topic in each document."""
    arrays = planted.corpus.arrays
    used, z = np.unique(planted.z, return_inverse=True)
    state = empty_state(arrays, capacity=2 * used.size)
    document = np.repeat(np.arange(planted.corpus.n_documents), planted.corpus.document_lengths)
    pair, table = np.unique(document * used.size + z, return_inverse=True)
    first_table = np.searchsorted(pair // used.size, np.arange(planted.corpus.n_documents))
    state.t_ji[:] = table - first_table[document]
    slot = arrays.doc_ptr[pair // used.size] + np.arange(pair.size) - first_table[pair // used.size]
    state.k_jt[slot] = pair % used.size
    state.concentrations[:] = priors.initial()
    seat_all(arrays, state, used.size)
    return state


def started(truth: Planted, priors: Priors, schedule: Schedule, seed: int, start: str) -> Chain:
    """Return a chain that has started, from the planted topics where `start` is "truth"."""
    chain = Chain(truth.corpus, priors, schedule, seed=seed, start="one" if start == "truth" else start)
    if start == "truth":
        chain.start_at(planted_state(truth, priors))
    else:
        chain.start()
    return chain
