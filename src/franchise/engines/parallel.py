"""The parallel engine: all documents at once, given topics and weights that are drawn for the sweep.

A sweep draws G_0 given the franchise, down to topics of a certain weight (`model.measure`); draws the topics
of all words given it, document by document, in threads; and seats the words again. What that leaves is a
franchise, and G_0 is forgotten. Then come the collapsed moves: words and tables of some documents, other ones
in every sweep, through which topics are born and large ones change hands; split-merge trials; concentrations.
"""

from typing import ClassVar

import numpy as np

from franchise.corpus import CorpusArrays
from franchise.engines.document_pass import DocumentPass
from franchise.engines.engine import EngineSettings, Swept, Trials
from franchise.engines.revealer import BLOCK
from franchise.engines.revealing import DocumentsInfo, RevealingEngine, number_of_turns, renumber, turns
from franchise.engines.threads import Range, Threads, falling_ranges
from franchise.engines.workbench import Workbench
from franchise.model import Priors
from franchise.model.joint import Joint, log_p_tables_by_size, log_p_topics
from franchise.model.likelihood import log_p_sizes, log_p_terms
from franchise.model.measure import Measure
from franchise.model.state import ALPHA, ETA, GAMMA, Array
from franchise.random import Key

# About what a gamma variable costs, in words that are drawn.
_GAMMA_IN_WORDS = 0.5
_MOST_PASSES = 4
# Words in a sweep, about, of documents whose words and tables are drawn one by one: more make the number of
# topics move faster, but nothing else, and they are drawn by one thread.
COLLAPSED_WORDS = 50_000
# Trials of ten sweeps are made at once where it takes long to find out which words each table has; of more
# than two million words, fewer, as topics are larger there.
_MANY_WORDS, _SWEEPS_AT_ONCE, _MOST_AT_ONCE = 1_000_000, 10, 20_000_000


class ParallelEngine(RevealingEngine):
    """Makes sweeps of a franchise in threads."""

    name: ClassVar[str] = "parallel"

    def __init__(self, corpus: CorpusArrays, settings: EngineSettings) -> None:
        super().__init__(corpus, settings)
        # Documents in an order that spreads, cut into parts that take turns.
        n_documents, n_turns = corpus.doc_ptr.size - 1, number_of_turns(corpus.x.size, COLLAPSED_WORDS)
        self._turns = turns(n_documents, n_turns)

    @property
    def n_bytes(self) -> int:
        """Memory of the state, of the words laid out by table, of G_0 and of what words are counted in."""
        measure = sum(array.nbytes for array in self._revealer.measure or ())
        return super().n_bytes + int(measure) + self._pass.n_bytes

    def use_threads(self, number: int) -> None:
        """Make sweeps in so many threads from now on; it changes no bit."""
        super().use_threads(number)
        self._pass = DocumentPass(self._corpus, number)

    def sweep(self, key: Key, trials: Trials | None, eta: float | None = None, merge: bool = False) -> Swept:
        """Make one sweep, with `eta` held at a value where one is given; then `merge` copies of topics."""
        if eta is not None:
            self.workbench.set_eta(eta)
        documents = self._update_documents(key)
        self.workbench.threads = self._threads
        self.workbench.visit(self._turns[key.sweep % len(self._turns)])
        swept = super().sweep(key, trials_due(trials, key.sweep, self._corpus.x.size), eta, merge)
        return swept._replace(infos={"documents": documents, **swept.infos})

    def _joint(self) -> Joint:
        sizes, lengths = self._pass.table_sizes(self.state), self._lengths
        return joint_by_sizes(
            self.workbench, self._settings.priors, sizes, lengths, self._threads, self._block
        )

    # ------------------------------------------------------------ the pass over all documents

    def _update_documents(self, key: Key) -> DocumentsInfo:
        measure = self._reveal(key)
        words, tables = self._pass.update(
            key, self.state, measure, self._passes(measure), self._note_progress
        )
        number, info = renumber(self.workbench, measure, words, tables)
        self._pass.count(self.state, number)
        self._pass.number(self.state, number)
        return info

    def _passes(self, measure: Measure) -> int:
        return passes_for(measure, self._corpus.n_terms, self._corpus.x.size)

    def _note_progress(self, share: float) -> None:
        self.progress += share


def joint_by_sizes(
    bench: Workbench,
    priors: Priors,
    tables_of_size: Array,
    lengths: tuple[Array, Array],
    threads: Threads,
    block: int = BLOCK,
) -> Joint:
    """Compute the parts of the log joint from the counts of topics and of tables of each size.

    What is added up over all terms, is by blocks of so many first: that does change bits. `lengths` are the
    different ones of documents, and how many have each.
    """
    state = bench.state
    alpha, gamma, eta = (float(state.concentrations[i]) for i in (ALPHA, GAMMA, ETA))
    lg, n_terms = bench.log_gammas, state.row_len.size
    sums = np.zeros(n_terms // block + 1)

    def add(one: Range, own: None) -> None:
        log_p_terms(state, lg, sums, block, *one)

    ranges = falling_ranges(np.arange(n_terms + 1), threads.number, block, each=1)
    threads.each(add, ranges, [None] * threads.number)
    return Joint(
        float(log_p_tables_by_size(tables_of_size, *lengths, alpha)),
        float(log_p_topics(state, gamma)),
        float(log_p_sizes(state, eta) + sums.sum()),
        priors.log_density(state.concentrations),
    )


def passes_for(measure: Measure, n_terms: int, n_words: int) -> int:
    """Return how often to go through the words for this G_0: about as long as it took to draw it."""
    gammas = n_terms * int(measure.sizes[0])
    return min(max(1, round(gammas * _GAMMA_IN_WORDS / n_words)), _MOST_PASSES)


def trials_due(
    trials: Trials | None, sweep: int, n_words: int, most_at_once: int | None = None
) -> Trials | None:
    """Return the trials to make in a sweep: of large corpora those of several sweeps at once.

    Of more than so many words by ten they are fewer than asked for, as topics are larger there.
    """
    if trials is None or n_words < _MANY_WORDS:
        return trials
    times = min(max(1, (most_at_once or _MOST_AT_ONCE) // n_words), _SWEEPS_AT_ONCE)
    return trials._replace(number=times * trials.number) if sweep % _SWEEPS_AT_ONCE == 0 else None
