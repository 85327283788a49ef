"""The collapsed moves on a state, over all documents or some of them.

A move depends on other documents only through the counts of topics (n_kv, n_k, m_k). So it can visit some
documents and leave the others unchanged. The first visit seats unseated words (t_ji = -1) one by one.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from franchise._arrays import Array, CorpusArrays
from franchise.engines.engine import Trials
from franchise.engines.table_source import HeldTables, TableSource
from franchise.engines.threads import Threads
from franchise.engines.trials import TrialMaker
from franchise.model import State
from franchise.model.capacity import compact, grown
from franchise.model.state import ETA
from franchise.moves import complete_move
from franchise.moves.concentrations import auxiliary_concentrations, slice_concentrations
from franchise.moves.shared.scratch import (
    MOST_WORDS_OF_A_TRIAL,
    Scratch,
    follow_eta,
    grown_scratch,
    new_scratch,
)
from franchise.moves.table_topics import table_topics
from franchise.moves.word_tables import word_tables
from franchise.random import CONCENTRATIONS, TABLE_TOPICS, WORD_TABLES, Key

_CONCENTRATION_MOVES = {"slice": slice_concentrations, "auxiliary": auxiliary_concentrations}


class CollapsedSampler:
    """Makes the collapsed moves on a state.

    Parameters
    ----------
    corpus, state
        Documents and their seating. The state's arrays are changed in place; `state` becomes a new tuple
        when topics need more room.
    documents
        The documents to visit, in this order; all by default.
    scratch
        The working memory; by default for the moves of all documents.
    words_to_keep
        About how many words of listed tables to keep for trials.
    """

    def __init__(
        self,
        corpus: CorpusArrays,
        state: State,
        documents: Array | None = None,
        scratch: Scratch | None = None,
        words_to_keep: int = MOST_WORDS_OF_A_TRIAL,
    ) -> None:
        self.corpus, self.state = corpus, state
        self.scratch = new_scratch(corpus, state) if scratch is None else scratch
        self._words_to_keep = words_to_keep
        self._trial_maker: TrialMaker | None = None
        if documents is not None:
            self.visit(documents)

    @property
    def log_gammas(self) -> Array:
        """The log gammas of all counts of a term plus eta."""
        return self.scratch.tables.lg

    def hold(self, corpus: CorpusArrays, state: State, scratch: Scratch) -> None:
        """Replace the documents, their seating and the working memory."""
        self.corpus, self.state, self.scratch = corpus, state, scratch

    def visit(self, documents: Array, numbers: Array | None = None) -> None:
        """Visit these documents, in this order, from now on.

        `numbers` are their numbers in the whole corpus, if only a part of it is here.
        """
        documents = documents.astype(np.int64)
        given = {"documents": documents, "numbers": documents if numbers is None else numbers}
        self.scratch = self.scratch._replace(
            words=self.scratch.words._replace(**given), tables=self.scratch.tables._replace(**given)
        )

    def make_room(self, n_topics: int) -> None:
        """Make room for this number of topics."""
        while self.state.n_k.size < n_topics:
            self.state, self.scratch = grown(self.state), grown_scratch(self.scratch)

    def draw_words(self, key: Key) -> Any:
        """Sample the table of every word."""
        return self._make(word_tables, key, "words")

    def draw_tables(self, key: Key) -> Any:
        """Sample the topic of every table."""
        return self._make(table_topics, key, "tables")

    def gibbs(self, key: Key) -> dict[str, Any]:
        """Sample the table of every word, then the topic of every table; return the Info of each move.

        Documents of cells skip the words, which have been sampled with all documents.
        """
        infos = {}
        if not self.scratch.tables.pair_ptr.size:
            infos["word_tables"] = self.draw_words(key._replace(move=WORD_TABLES))
        return {**infos, "table_topics": self.draw_tables(key._replace(move=TABLE_TOPICS))}

    def try_splits_and_merges(
        self, key: Key, trials: Trials, source: TableSource | None = None, threads: Threads | None = None
    ) -> tuple[Any, Array]:
        """Make split-merge trials; return their Info and their records.

        `source` lists the tables of all documents, if only some documents are here.
        """
        if self._trial_maker is None:
            lg, lgv, most = self.scratch.tables.lg, self.scratch.tables.lgv, self._words_to_keep
            self._trial_maker = TrialMaker(self.corpus.n_terms, lg, lgv, most_kept=most)
        self._trial_maker.threads = threads or Threads(1)
        source = source or HeldTables(self.corpus, self.state)
        self.state, info, records = self._trial_maker.make(self.state, source, key, trials)
        while self.scratch.concentrations.sizes.size < self.state.n_k.size:
            self.scratch = grown_scratch(self.scratch)
        return info, records

    def set_eta(self, eta: float) -> None:
        """Change eta, and everything computed from it."""
        if self.state.concentrations[ETA] == eta:
            return
        self.state.concentrations[ETA] = eta
        follow_eta(self.state, self.scratch.tables)

    def draw_concentrations(self, key: Key, method: str, gamma_priors: Array) -> Any:
        """Sample the concentrations that have priors, by slice sampling or auxiliary variables."""
        eta = self.state.concentrations[ETA]
        move, own = _CONCENTRATION_MOVES[method], self._room_for_counts()
        info = move(key._replace(move=CONCENTRATIONS), self.corpus, self.state, own, gamma_priors)
        if self.state.concentrations[ETA] != eta:
            follow_eta(self.state, self.scratch.tables)
        return info

    def _room_for_counts(self) -> Any:
        """Return the memory for concentrations; counts too large for a histogram need as much as rows."""
        own, n_pairs = self.scratch.concentrations, self.state.row_k.size
        if not own.histogram.size and own.counts.size < n_pairs:
            counts, times_counted = np.zeros((2, n_pairs), np.int64)
            own = own._replace(counts=counts, times_counted=times_counted)
            self.scratch = self.scratch._replace(concentrations=own)
        return own

    def compact(self) -> None:
        """Give the topics numbers without gaps."""
        compact(self.corpus, self.state)

    def _make(self, move: Callable[..., Any], key: Key, own: str, *more_arguments: Any) -> Any:
        self.state, self.scratch, info = complete_move(
            move, key, self.corpus, self.state, self.scratch, own, *more_arguments
        )
        return info
