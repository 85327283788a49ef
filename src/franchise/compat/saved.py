"""The parts of a state that the paper's program saves, in all of its three files together.

The binary file holds the topics (`SavedModel`). A state (`SavedState`) also has the topic and table of every
word. No file has the number of documents, or any documents without words.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from franchise._arrays import Array, CorpusArrays
from franchise._draws import Draw
from franchise.engines.collapsed import topic_terms_of
from franchise.model import State, word_topics
from franchise.model.state import ALPHA, ETA, GAMMA, TOPICS


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SavedModel:
    """The topics of a state.

    Attributes
    ----------
    topic_terms
        n_..k^v: the count of each term in each topic, with topics in the order of the file.
    m_k
        Number of tables of each topic.
    alpha, gamma, eta
        The concentrations.
    """

    topic_terms: sp.csr_array
    m_k: Array
    alpha: float
    gamma: float
    eta: float

    @property
    def n_topics(self) -> int:
        """Number of topics, including topics without tables."""
        return int(self.topic_terms.shape[0])

    @property
    def n_terms(self) -> int:
        """Size of the vocabulary."""
        return int(self.topic_terms.shape[1])

    @property
    def n_k(self) -> Array:
        """Number of words of each topic."""
        return np.asarray(self.topic_terms.sum(axis=1, dtype=np.int64)).ravel()

    def in_use(self) -> "SavedModel":
        """Return the model without topics that have no tables, which a merge left behind."""
        rows = np.flatnonzero(self.m_k)
        return SavedModel(
            topic_terms=self.topic_terms[rows],
            m_k=self.m_k[rows],
            alpha=self.alpha,
            gamma=self.gamma,
            eta=self.eta,
        )

    def as_draw(self) -> Draw:
        """Return the topics as a draw, for folding in new documents.

        The draw has no documents. The name of a topic is its row in the file.
        """
        n_k = self.n_k
        rows = np.flatnonzero(self.m_k)
        rows = rows[np.lexsort((rows, -n_k[rows]))]
        return Draw(
            sweep=0,
            names=rows,
            topic_terms=self.topic_terms[rows],
            document_counts=sp.csr_array((0, rows.size), dtype=np.int32),
            m_k=self.m_k[rows],
            concentrations=np.array([self.alpha, self.gamma, self.eta]),
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SavedState:
    """The topics of a state and the seat of every word.

    Attributes
    ----------
    model
        The topics.
    assignments
        One row per word: document, term, topic, table within the document. In a test, only words of test
        documents are listed, although the topics also hold the training words.
    """

    model: SavedModel
    assignments: Array


def saved_state(corpus: CorpusArrays, state: State, first_document: int = 0) -> SavedState:
    """Return the parts of a state to save, with topics in order of birth.

    Parameters
    ----------
    corpus, state
        Documents and their seating.
    first_document
        The first document whose words are listed. Earlier documents only count in the topics.
    """
    live = state.live[: state.totals[TOPICS]]
    live = live[np.argsort(state.name_k[live])]
    row = np.zeros(state.n_k.size, np.int64)
    row[live] = np.arange(live.size)
    z = row[word_topics(corpus, state)]
    documents = np.repeat(np.arange(state.m_j.size), np.diff(corpus.doc_ptr))
    listed = slice(corpus.doc_ptr[first_document], None)
    columns = (documents - first_document, corpus.x, z, state.t_ji)
    alpha, gamma, eta = (float(state.concentrations[i]) for i in (ALPHA, GAMMA, ETA))
    model = SavedModel(
        topic_terms=topic_terms_of(state, live),
        m_k=state.m_k[live],
        alpha=alpha,
        gamma=gamma,
        eta=eta,
    )
    return SavedState(model=model, assignments=np.column_stack([column[listed] for column in columns]))
