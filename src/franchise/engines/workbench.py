"""A state with the working memory of its moves: makes one move after another, over all documents or some.

Moves look at documents other than their own through the counts of the topics alone (n_kv, n_k, m_k). So they
can visit some documents and leave the others as they are; words that sit nowhere yet (t_ji = -1) are seated
one after another by the first visit.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from franchise.corpus import CorpusArrays
from franchise.engines.compiling import wait_for_trials
from franchise.engines.engine import Trials
from franchise.engines.table_source import HeldTables, TableSource
from franchise.engines.threads import Threads
from franchise.engines.trials import TrialMaker
from franchise.model import State
from franchise.model.capacity import compact, grown
from franchise.model.state import ETA, Array
from franchise.moves import complete_move
from franchise.moves.concentrations import auxiliary_concentrations, slice_concentrations
from franchise.moves.shared.scratch import (
    MOST_WORDS_OF_A_TRIAL,
    follow_eta,
    grown_scratch,
    new_scratch,
    with_room_for_tables,
)
from franchise.moves.split_merge import RECORD, split_merge
from franchise.moves.table_topics import table_topics
from franchise.moves.word_tables import word_tables
from franchise.random import CONCENTRATIONS, SPLIT_MERGE, TABLE_TOPICS, WORD_TABLES, Key

_CONCENTRATION_MOVES = {"slice": slice_concentrations, "auxiliary": auxiliary_concentrations}


class Workbench:
    """Makes moves on a state.

    Parameters
    ----------
    corpus, state
        Documents and their seating. The state's arrays are changed in place; `state` becomes another tuple
        when more room for topics is needed.
    documents
        The documents whose words and tables are drawn, in this order; all by default.
    """

    threads = Threads(1)  # for what can be shared out without changing a bit
    words_to_keep = MOST_WORDS_OF_A_TRIAL  # of tables that are listed for trials, about
    _holds_counts = False  # tables hold counts, which are always laid out

    def __init__(self, corpus: CorpusArrays, state: State, documents: Array | None = None) -> None:
        self.corpus, self.state = corpus, state
        self._scratch = new_scratch(corpus, state)
        self._laid_out = False  # the words of all tables, as the table move leaves them
        self._trial_maker: TrialMaker | None = None
        if documents is not None:
            self.visit(documents)

    @property
    def log_gammas(self) -> Array:
        """The logarithms of the gammas of all counts of a term plus eta."""
        return self._scratch.tables.lg

    def visit(self, documents: Array, numbers: Array | None = None) -> None:
        """Draw the words and tables of these documents, in this order, from now on.

        `numbers` are theirs in the whole corpus, where the bench has only some of it.
        """
        documents = documents.astype(np.int64)
        given = {"documents": documents, "numbers": documents if numbers is None else numbers}
        self._scratch = self._scratch._replace(
            words=self._scratch.words._replace(**given), tables=self._scratch.tables._replace(**given)
        )

    def make_room(self, n_topics: int) -> None:
        """Make room for so many topics, whose words are then not laid out."""
        while self.state.n_k.size < n_topics:
            self.state, self._scratch = grown(self.state), grown_scratch(self._scratch)
        self._laid_out = False

    def draw_words(self, key: Key) -> Any:
        """Draw the table of every word."""
        self._laid_out = False
        return self._make(word_tables, key, "words")

    def draw_tables(self, key: Key) -> Any:
        """Draw the topic of every table."""
        info = self._make(table_topics, key, "tables")
        self._laid_out = self._scratch.tables.documents.size == self.state.m_j.size
        return info

    def gibbs(self, key: Key) -> dict[str, Any]:
        """Draw the table of every word, then the topic of every table; return the Info of each move."""
        return {
            "word_tables": self.draw_words(key._replace(move=WORD_TABLES)),
            "table_topics": self.draw_tables(key._replace(move=TABLE_TOPICS)),
        }

    def try_splits_and_merges(self, key: Key, trials: Trials) -> tuple[Any, Array]:
        """Make split-merge trials; return their Info and their records."""
        wait_for_trials()
        if not (self._laid_out or self._holds_counts):
            return self._try_in_threads(key, trials)
        records = np.zeros((trials.number, len(RECORD)))
        self._scratch = with_room_for_tables(self._scratch, self.state)
        info = self._make(split_merge, key._replace(move=SPLIT_MERGE), "trial", trials.proposals, records)
        return info, records

    def _try_in_threads(self, key: Key, trials: Trials) -> tuple[Any, Array]:
        """Do that from the tables of the topics concerned; it changes no bit."""
        if self._trial_maker is None:
            tables, n_words = self._scratch.tables, int(self.corpus.doc_ptr[-1])
            self._trial_maker = TrialMaker(
                n_words, self.corpus.n_terms, tables.lg, tables.lgv, most_kept=self.words_to_keep
            )
        self._trial_maker.threads = self.threads
        self.state, info, records = self._trial_maker.make(self.state, self._tables(), key, trials)
        while self._scratch.trial.weight.size < self.state.n_k.size:
            self._scratch = grown_scratch(self._scratch)
        return info, records

    def _tables(self) -> TableSource:
        return HeldTables(self.corpus, self.state, self.threads)

    def set_eta(self, eta: float) -> None:
        """Change eta, and what is computed from it."""
        if self.state.concentrations[ETA] == eta:
            return
        self.state.concentrations[ETA] = eta
        follow_eta(self.state, self._scratch.tables)

    def draw_concentrations(self, key: Key, method: str, gamma_priors: Array) -> Any:
        """Draw the concentrations that have priors, by slice sampling or auxiliary variables."""
        eta = self.state.concentrations[ETA]
        move, own = _CONCENTRATION_MOVES[method], self._scratch.concentrations
        info = move(key._replace(move=CONCENTRATIONS), self.corpus, self.state, own, gamma_priors)
        if self.state.concentrations[ETA] != eta:
            follow_eta(self.state, self._scratch.tables)
        return info

    def compact(self) -> None:
        """Give the topics numbers without gaps."""
        compact(self.corpus, self.state)

    def _make(self, move: Callable[..., Any], key: Key, own: str, *more_arguments: Any) -> Any:
        self.state, self._scratch, info = complete_move(
            move, key, self.corpus, self.state, self._scratch, own, *more_arguments
        )
        return info
