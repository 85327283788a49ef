"""Sweeps over some of the documents, the others staying as they are.

The program's test mode and two of its starts need them; a chain (`sampling.chain`) visits all documents.
"""

import numpy as np

from franchise.corpus import CorpusArrays
from franchise.model import State
from franchise.model.state import Array
from franchise.moves import complete_move
from franchise.moves.initialize import seat_all
from franchise.moves.parts.scratch import new_scratch
from franchise.moves.table_topics import table_topics
from franchise.moves.word_tables import word_tables
from franchise.random import TABLE_TOPICS, WORD_TABLES, Key
from franchise.sampling.interrupt import interrupts_deferred


class Visits:
    """Sweeps of the word move and the table move over a list of documents.

    Both moves look at the other documents through the counts of the topics alone (n_kv, n_k, m_k).

    Parameters
    ----------
    corpus, state
        Documents and their seating; words of the listed documents may be unseated (t_ji = -1), and the
        first sweep then seats them one after another. The state's arrays are changed in place.
    documents
        The documents to visit, in this order.
    seed
        Of the random numbers.
    """

    def __init__(self, corpus: CorpusArrays, state: State, documents: Array, seed: int) -> None:
        self.state = state
        self.sweeps_done = 0
        self._corpus = corpus
        self._seed = seed
        scratch = new_scratch(corpus, state)
        documents = documents.astype(np.int64)
        self._scratch = scratch._replace(
            words=scratch.words._replace(documents=documents),
            tables=scratch.tables._replace(documents=documents),
        )

    @interrupts_deferred()
    def sweep(self) -> None:
        """Draw every word's table, then every table's topic."""
        for move, number, own in (
            (word_tables, WORD_TABLES, "words"),
            (table_topics, TABLE_TOPICS, "tables"),
        ):
            key = Key(self._seed, 0, self.sweeps_done, number)
            self.state, self._scratch, _ = complete_move(
                move, key, self._corpus, self.state, self._scratch, own
            )
        self.sweeps_done += 1


def some_documents(corpus: CorpusArrays, state: State, first: int, end: int) -> tuple[CorpusArrays, State]:
    """Return a view of the documents from `first` to before `end`; the counts of topics are shared."""
    return (
        corpus._replace(doc_ptr=corpus.doc_ptr[first : end + 1]),
        state._replace(m_j=state.m_j[first:end]),
    )


def seat(corpus: CorpusArrays, state: State, first: int, end: int, n_topics: int) -> None:
    """Count the documents from `first` to before `end`, whose t_ji and k_jt are set, whose topics are new.

    The topics must be numbered from that of the next topic to be born.
    """
    seat_all(*some_documents(corpus, state, first, end), n_topics)
