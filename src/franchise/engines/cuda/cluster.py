"""The engine on the GPUs of a cluster: the chain of the engine on one GPU, to the bit.

Each worker has a GPU, and on it a range of the documents. The head draws the weights of topics and sends
these and the counts of all documents; every worker draws the terms of topics from them, as everyone would,
then the topics and tables of its documents, and sends its counts back.
"""

from typing import ClassVar

import numpy as np

from franchise.corpus import Corpus
from franchise.engines.cluster import ClusterEngine, Snapshot
from franchise.engines.crew import Hands
from franchise.engines.cuda.part import Passed
from franchise.engines.cuda.steps import head_moves, joint_of, name_first_topics, trials_for, turn_of
from franchise.engines.engine import EngineSettings, Swept, Trials
from franchise.engines.parallel import passes_for
from franchise.engines.part import Seats, Summed, added_up
from franchise.engines.revealer import Revealer
from franchise.engines.revealing import DocumentsInfo, renumber
from franchise.engines.starting_topics import StartingTopics
from franchise.engines.threads import Threads
from franchise.engines.worker import WorkersLostError
from franchise.errors import ClusterError
from franchise.model import Joint
from franchise.model.rows import Rows, rows_of
from franchise.model.state import ALPHA, DEAD, ETA, TOPICS, Array
from franchise.random import Key


class GpuClusterEngine(ClusterEngine):
    """Makes the sweeps of the engine on a GPU with a crew of workers, each of which has one."""

    name: ClassVar[str] = "ray-gpu"
    at_once: ClassVar[int | None] = 2  # one on the GPUs while the other is with its head

    def __init__(self, corpus: Corpus, settings: EngineSettings) -> None:
        super().__init__(corpus, settings)
        self._told = False  # workers know the counts of all documents
        self._rows_are_here = True  # the head knows them
        self._log_p_terms: float | None = None  # None: not asked for since seats were taken up

    def use_threads(self, number: int) -> None:
        """Let the head work in so many threads from now on; it changes no bit."""
        self._threads = Threads(number)
        self._revealer = Revealer(0, 0, 1)  # weights alone

    def rest(self) -> None:
        """Let the workers leave the memory of their GPUs to other chains; lost ones have left it."""
        if self._hands is None:
            return
        try:
            self._ask_for_rows()
            self._hands.ask("rest")
            self._told = False
        except (WorkersLostError, ClusterError):
            self._hands = None  # there may be no next sweep: if there is, it replaces them

    def _joint(self) -> Joint:
        if self._log_p_terms is None:
            return super()._joint()
        known = self._settings.priors, self._sizes, self._facts.lengths
        return joint_of(self.workbench, *known, self._log_p_terms)

    def _take_up(self, snapshot: Snapshot) -> None:
        super()._take_up(snapshot)
        self._told, self._rows_are_here, self._log_p_terms = False, True, None

    # ------------------------------------------------------------ the start

    def _start(self, key: Key, start: str | int | StartingTopics) -> None:
        hands = self._at_hand()
        begin: int | StartingTopics
        if isinstance(start, StartingTopics):
            begin = hands.share(start)
        else:
            # More topics than words need no room.
            begin = 1 if start == "one" else min(int(start), max(1, self._facts.n_words))
        drawn = _added_up(hands.ask("start", key, begin))
        self._head, self._told = None, False
        number = name_first_topics(self.workbench, drawn.words, drawn.tables)
        self._bring_rows(number, drawn)
        self._ask_for_joint()

    # ------------------------------------------------------------ a sweep

    def _sweep(self, key: Key, trials: Trials | None, eta: float | None, merge: bool) -> Swept:
        swept = super()._sweep(key, trials, eta, merge)
        self._ask_for_joint()
        return swept

    def _update_documents(self, key: Key) -> tuple[DocumentsInfo, Array]:
        head, facts, hands = self.workbench, self._facts, self._tell()
        alpha, eta = (float(head.state.concentrations[i]) for i in (ALPHA, ETA))
        measure = self._revealer.weights(key, head.state, self._epsilon)
        passes = passes_for(measure, facts.n_terms, facts.n_words)
        self._told = False
        passed = _added_up(hands.ask("update", key, measure, alpha, eta, passes))
        number, info = renumber(head, measure, passed.words, passed.tables)
        self._bring_rows(number, passed)
        return info, number

    def _bring_rows(self, number: Array, passed: Passed) -> None:
        """Tell the workers the numbers of topics; add up their counts.

        One worker alone needs nobody to do that: then they come when the head has use for them.
        """
        hands, n_words = self._at_hand(), self._facts.n_words
        is_used = head_moves(self._at, n_words) or bool(self._gamma_priors[ETA, 0] > 0.0)
        self._rows_are_here = hands.size > 1 or is_used
        rows = hands.ask("name", number, passed.words, self._rows_are_here)
        if self._rows_are_here:
            self._fill_rows(rows)
        self._sizes = passed.sizes

    def _fill_rows(self, rows: list[Rows]) -> None:
        head, nothing = self.workbench, np.zeros(0, np.int64)
        number = np.arange(int(head.state.totals[TOPICS]), dtype=np.int32)
        head.fill_rows([Summed(nothing, nothing, one) for one in rows], number, self._threads)

    def _bring_counts(self) -> None:
        if not self._rows_are_here:
            self._do_again(self._ask_for_rows)

    def _ask_for_rows(self) -> None:
        if not self._rows_are_here:
            self._fill_rows(self._at_hand().ask("rows"))
            self._rows_are_here = True

    def _tell(self) -> Hands:
        """Tell the workers the counts of all documents, if they do not know; one alone has them all."""
        hands = self._at_hand()
        if not self._told and hands.size > 1:
            hands.ask("hear", hands.share(rows_of(self.workbench.state)))
        self._told = True
        return hands

    def _ask_for_joint(self) -> None:
        """Let the workers add up logarithms of counts, in their order, which is that of one GPU."""
        eta = float(self.workbench.state.concentrations[ETA])
        self._log_p_terms = float(self._tell().ask("log_p_terms", eta)[0])

    def _trials_due(self, trials: Trials | None, sweep: int) -> Trials | None:
        return trials_for(trials, sweep, self._facts.n_words)

    def _gibbs(self, key: Key) -> dict[str, object]:
        """Draw words and tables, one by one, of the documents whose turn it is."""
        return super()._gibbs(key) if head_moves(key.sweep, self._facts.n_words) else {}

    def _taken(self, key: Key) -> list[Seats]:
        room, turn = self.workbench.state.n_k.size, turn_of(key.sweep, self._facts.n_words)
        taken: list[Seats] = self._at_hand().ask("take", room, *turn)
        return taken

    def _merge(self) -> Array:
        self._ask_for_rows()
        into = super()._merge()
        self._at_hand().ask("merge", into)
        return into

    def _compact(self) -> None:
        has_gaps = bool(self.workbench.state.totals[DEAD])
        if has_gaps or head_moves(self._at, self._facts.n_words):
            self._sizes = added_up(self._at_hand().ask("finish", self.workbench.new_order()))


def _added_up(passed: list[Passed]) -> Passed:
    words, tables, sizes = zip(*passed, strict=True)
    return Passed(np.sum(words, axis=0), np.sum(tables, axis=0), added_up(list(sizes)))
