"""Where the paper's program starts (``--init_topics``)."""

import numpy as np

from franchise.compat.visits import Visits, seat
from franchise.corpus import Corpus
from franchise.errors import SettingsError
from franchise.model import State, empty_state
from franchise.model.state import Array

_CAPACITY = 64  # room for topics to begin with


def start(corpus: Corpus, concentrations: Array, init_topics: int, seed: int) -> State:
    """Seat every word for the first time.

    Parameters
    ----------
    corpus
        The documents.
    concentrations
        alpha, gamma, eta.
    init_topics
        0: word after word, documents in random order; n > 0: n random documents become a table and a topic
        each, then the words of the others follow; n < 0: each document becomes one table, its topic drawn
        from -n.
    seed
        Of the random numbers.

    Raises
    ------
    SettingsError
        If there are fewer documents with words than topics to begin with.
    """
    random = np.random.default_rng(seed)
    documents = random.permutation(np.flatnonzero(corpus.document_lengths))
    if init_topics < 0:
        topics = random.integers(-init_topics, size=documents.size)
        return _documents_as_tables(corpus, concentrations, documents, topics)
    if init_topics > documents.size:
        raise SettingsError(
            f"init_topics={init_topics}: only {documents.size} documents have words to begin a topic with; "
            "give no more than that"
        )
    state = empty_state(corpus.arrays, max(_CAPACITY, init_topics))
    state.concentrations[:] = concentrations
    for topic, j in enumerate(documents[:init_topics]):
        state.t_ji[corpus.doc_ptr[j] : corpus.doc_ptr[j + 1]] = 0
        state.k_jt[corpus.doc_ptr[j]] = topic
        seat(corpus.arrays, state, j, j + 1, n_topics=1)
    visits = Visits(corpus.arrays, state, documents[init_topics:], seed)
    visits.sweep()
    return visits.state


def _documents_as_tables(corpus: Corpus, concentrations: Array, documents: Array, topics: Array) -> State:
    """Make each document a table of the topic drawn for it."""
    drawn, topics = np.unique(topics, return_inverse=True)
    state = empty_state(corpus.arrays, max(_CAPACITY, drawn.size))
    state.concentrations[:] = concentrations
    state.t_ji[:] = 0
    state.k_jt[corpus.doc_ptr[documents]] = topics
    seat(corpus.arrays, state, 0, corpus.n_documents, drawn.size)
    return state
