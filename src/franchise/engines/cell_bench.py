"""A state whose tables hold counts, with the working memory of its moves."""

from typing import Any

import numpy as np

from franchise.corpus.cells import CellArrays
from franchise.engines.workbench import Workbench
from franchise.model.cell_tables import CellTables, slots_as_corpus, term_counts
from franchise.model.state import TABLES, Array, State
from franchise.moves.recount import recount_cells
from franchise.moves.shared.scratch import new_scratch_for_counts
from franchise.random import TABLE_TOPICS, Key


class CellBench(Workbench):
    """Makes moves on a state of cells: all but those of words.

    Parameters
    ----------
    cells
        The documents.
    state, tables
        Their seating (`model.cell_tables`).
    """

    _holds_counts = True

    def __init__(self, cells: CellArrays, state: State, tables: CellTables) -> None:
        self.cells, self.corpus, self.state = cells, slots_as_corpus(cells, tables), state
        largest_count = int(term_counts(cells).max(initial=0))
        n_j = np.diff(cells.doc_ptr)
        self._scratch = new_scratch_for_counts(self.corpus, state, n_j, largest_count)
        self._take(tables)

    def seat(self, tables: CellTables, m_j: Array, n_jt: Array, k_jt: Array) -> None:
        """Take up other tables; words and tables of topics are counted already, terms are counted here."""
        self.corpus = slots_as_corpus(self.cells, tables)
        self.state = self.state._replace(m_j=m_j, n_jt=n_jt, k_jt=k_jt)
        self.state.totals[TABLES] = k_jt.size
        counts = np.zeros((self.cells.n_terms, int(k_jt.max(initial=-1)) + 1), np.uint32)
        recount_cells(self.state, tables, counts)
        self._take(tables)

    def _take(self, tables: CellTables) -> None:
        self.tables = tables
        laid_out = {"table_words": tables.term, "table_counts": tables.words, "pair_ptr": tables.pair_ptr}
        size_ptr = np.zeros(self.state.n_jt.size + 1, np.int64)
        np.cumsum(self.state.n_jt, out=size_ptr[1:])
        self._scratch = self._scratch._replace(
            tables=self._scratch.tables._replace(**laid_out),
            trial=self._scratch.trial._replace(**laid_out, size_ptr=size_ptr),
        )

    def gibbs(self, key: Key) -> dict[str, Any]:
        """Draw the topics of tables; those of words are drawn with all documents at once."""
        return {"table_topics": self.draw_tables(key._replace(move=TABLE_TOPICS))}

    def draw_concentrations(self, key: Key, method: str, gamma_priors: Array) -> Any:
        """Draw the concentrations that have priors."""
        own, n_pairs = self._scratch.concentrations, self.state.row_k.size
        if own.counts.size < n_pairs:
            counts, times_counted = np.zeros((2, n_pairs), np.int64)
            own = own._replace(counts=counts, times_counted=times_counted)
            self._scratch = self._scratch._replace(concentrations=own)
        return super().draw_concentrations(key, method, gamma_priors)
