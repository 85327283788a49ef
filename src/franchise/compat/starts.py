"""The starts of the paper's program (``--init_topics``)."""

import numpy as np

from franchise._arrays import Array, CorpusArrays
from franchise.corpus import Corpus
from franchise.engines.collapsed_sampler import CollapsedSampler
from franchise.errors import SettingsError
from franchise.model import State, empty_state
from franchise.model.seating import seat_all
from franchise.random import WORD_TABLES, Key

_CAPACITY = 64  # initial room for topics


def start(corpus: Corpus, concentrations: Array, init_topics: int, seed: int) -> State:
    """Seat every word for the first time.

    Parameters
    ----------
    corpus
        The documents.
    concentrations
        alpha, gamma, eta.
    init_topics
        0: words are seated one after another, with documents in random order. n > 0: n random documents
        become a table and a topic each, then the words of the others follow. n < 0: each document becomes one
        table, with a topic drawn from -n topics.
    seed
        The seed of the random numbers.

    Raises
    ------
    SettingsError
        If there are fewer documents with words than starting topics.
    """
    random = np.random.default_rng(seed)
    documents = random.permutation(np.flatnonzero(corpus.document_lengths))
    if init_topics < 0:
        topics = random.integers(-init_topics, size=documents.size)
        return _documents_as_tables(corpus, concentrations, documents, topics)
    if init_topics > documents.size:
        raise SettingsError(
            f"init_topics={init_topics}: only {documents.size} documents have words to start a topic from; "
            "give at most that number",
            code="too-few-documents",
        )
    state = empty_state(corpus.arrays, max(_CAPACITY, init_topics))
    state.concentrations[:] = concentrations
    for topic, j in enumerate(documents[:init_topics]):
        state.t_ji[corpus.doc_ptr[j] : corpus.doc_ptr[j + 1]] = 0
        state.k_jt[corpus.doc_ptr[j]] = topic
        seat(corpus.arrays, state, j, j + 1, n_topics=1)
    bench = CollapsedSampler(corpus.arrays, state, documents[init_topics:])
    bench.gibbs(Key(seed, 0, 0, WORD_TABLES))
    return bench.state


def _documents_as_tables(corpus: Corpus, concentrations: Array, documents: Array, topics: Array) -> State:
    """Make each document one table of its drawn topic."""
    drawn, topics = np.unique(topics, return_inverse=True)
    state = empty_state(corpus.arrays, max(_CAPACITY, drawn.size))
    state.concentrations[:] = concentrations
    state.t_ji[:] = 0
    state.k_jt[corpus.doc_ptr[documents]] = topics
    seat(corpus.arrays, state, 0, corpus.n_documents, drawn.size)
    return state


def some_documents(corpus: CorpusArrays, state: State, first: int, end: int) -> tuple[CorpusArrays, State]:
    """Return a view of documents `first` to `end - 1`; it shares the counts of topics."""
    return (
        corpus._replace(doc_ptr=corpus.doc_ptr[first : end + 1]),
        state._replace(m_j=state.m_j[first:end]),
    )


def seat(corpus: CorpusArrays, state: State, first: int, end: int, n_topics: int) -> None:
    """Count documents `first` to `end - 1`, whose t_ji and k_jt are set, and whose topics are new.

    The numbers of the topics must start at the number of the next topic to be born.
    """
    seat_all(*some_documents(corpus, state, first, end), n_topics)
