"""The engine on a GPU: sweeps as those of the parallel engine, their documents in the memory of a GPU.

A sweep draws the weights of topics here, and all else there: terms, topics of words, tables, counts, numbers
of the trace. In every so many sweeps the counts come here as well, for the moves of the head: documents that
are drawn word by word, and split-merge trials.

Numbers are drawn by counter and counts are whole, so the same key makes the same sweep on every GPU of a
kind. They are other numbers than those of the parallel engine, of the same distribution.
"""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from franchise.corpus import CorpusArrays
from franchise.corpus.growing import count_terms
from franchise.engines.collapsed import CollapsedEngine, by_size, counts_of, topic_terms_of
from franchise.engines.cuda.device import Device, gpu, memory_in_words
from franchise.engines.cuda.part import CudaPart, pieces_for
from franchise.engines.cuda.steps import head_moves, joint_of, name_first_topics, trials_for, turn_of
from franchise.engines.engine import Counts, EngineSettings, Swept, Trials
from franchise.engines.head import Facts, Head, without_seats
from franchise.engines.parallel import joint_by_sizes, passes_for
from franchise.engines.part import Seats, Summed
from franchise.engines.revealer import Revealer, epsilon_for
from franchise.engines.revealing import DocumentsInfo, renumber
from franchise.engines.starting_topics import StartingTopics
from franchise.engines.threads import Threads
from franchise.model import Joint, State
from franchise.model.capacity import compact
from franchise.model.counts import ranks
from franchise.model.packing import packed, unpacked
from franchise.model.state import ALPHA, DEAD, ETA, TOPICS, Array, tables_in_use
from franchise.moves.shared.scratch import different_lengths
from franchise.random import INITIALIZE, Key

# Words of tables that are listed for trials: many at once, so that all threads have work.
_WORDS_TO_KEEP = 100_000_000


class CudaEngine(CollapsedEngine):
    """Makes sweeps of a franchise on a GPU.

    It can be made, and take up what was saved, without one; sweeps need it.
    """

    name: ClassVar[str] = "gpu"
    at_once: ClassVar[int | None] = 2  # one on the GPU while the other is with its head

    def __init__(self, corpus: CorpusArrays, settings: EngineSettings, device: Device | None = None) -> None:
        super().__init__(corpus, settings)
        lengths = np.diff(corpus.doc_ptr)
        counted = count_terms(corpus.x, corpus.n_terms)
        different = different_lengths(lengths)
        self._facts = Facts(corpus.n_terms, corpus.x.size, int(different[1].sum()), counted, different)
        self._epsilon = epsilon_for(*different)
        self._device = device
        self._part: CudaPart | None = None
        self._held: State | None = None  # what is to go to the GPU
        self._head: Head | None = None
        self._sizes = np.zeros(1, np.int64)  # how many tables have each number of words
        self._rows_are_here = True
        self._is_open = False  # documents on the GPU are as the head has numbered them
        self._revealer = Revealer(0, 0, 1)  # weights alone
        self.use_threads(settings.threads)

    def use_threads(self, number: int) -> None:
        """Let the head work in so many threads from now on; it changes no bit."""
        self._threads = Threads(number)

    def rest(self) -> None:
        """Bring the documents here, and leave the memory of the GPU to others."""
        if self._part is not None:
            self._held, self._part = self.state, None

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy, here or in another process, can go on from."""
        return self.__dict__ | {"_held": self.state, "_part": None, "_device": None}

    # ------------------------------------------------------------ what is here, and what is there

    @property
    def workbench(self) -> Head:
        """The topics and counts, and their working memory."""
        if self._head is None:
            state = without_seats(self._facts, self._settings.capacity)
            state.concentrations[:] = self._settings.priors.initial()
            self._head = Head(self._facts, state)
        return self._head

    @property
    def n_bytes(self) -> int:
        """Memory of the head."""
        return sum(array.nbytes for array in self.workbench.state)

    @property
    def state(self) -> State:
        """The current state, brought here."""
        if self._held is not None:
            return self._held
        if self._part is None:
            return self._empty_state(self._settings.capacity)
        return unpacked(self._corpus, self.arrays())

    def arrays(self) -> dict[str, Array]:
        """Return the used parts of the state's arrays."""
        if self._part is None:
            return super().arrays()
        self._bring_rows()
        return packed(self._corpus, self.workbench.state._replace(**self._part.seats()))

    def seat(self, state: State) -> None:
        """Take up a state, with every word seated, as if the engine had reached it."""
        compact(self._corpus, state)
        self._held, self._part, self._rows_are_here = state, None, True
        nothing = np.zeros(0, np.int32)
        self._head = Head(
            self._facts,
            state._replace(t_ji=nothing, n_jt=nothing, k_jt=nothing, m_j=np.zeros(1, np.int32)),
        )
        self._sizes = np.bincount(state.n_jt[tables_in_use(self._corpus, state)], minlength=1)

    def _on_gpu(self) -> CudaPart:
        """Return the documents on the GPU."""
        if self._part is None:
            assert self._held is not None
            part = self._new_part(int(self._held.totals[TOPICS]))
            part.take_up(self._held)
            self._part, self._held = part, None
        return self._part

    def _new_part(self, n_topics: int) -> CudaPart:
        device = gpu() if self._device is None else self._device
        return CudaPart(device, self._corpus, *pieces_for(device, self._corpus, n_topics))

    @memory_in_words()
    def start(self, key: Key, start: str | int | StartingTopics) -> None:
        """Seat every word: on the GPU by topics or random ones, on the CPU one after another."""
        if start == "sequential":
            starter = CollapsedEngine(self._corpus, self._settings)
            starter.start(key, start)
            self.seat(starter.state)
            return
        begin: int | StartingTopics
        if isinstance(start, StartingTopics):
            begin, n_topics = start, start.phi.shape[1]
        else:
            # More topics than words need no room.
            begin = n_topics = 1 if start == "one" else min(int(start), max(1, self._facts.n_words))
        part, self._head = self._new_part(n_topics), None
        drawn = part.start(key._replace(move=INITIALIZE), begin)
        part.name(name_first_topics(self.workbench, drawn.words, drawn.tables), drawn.words)
        self._part, self._held, self._rows_are_here, self._sizes = part, None, False, drawn.sizes

    def counts(self) -> Counts:
        """Return the counts of the current state."""
        if self._part is None:
            return counts_of(self._corpus, self.state)
        self._bring_rows()
        state = self.workbench.state
        live = by_size(state)
        return Counts(
            names=state.name_k[live],
            topic_terms=topic_terms_of(state, live),
            document_topics=self._part.document_topics(ranks(state, live), live.size),
            m_k=state.m_k[live],
            concentrations=state.concentrations.copy(),
        )

    def write_seats(self, folder: Path) -> bool:
        """Write nothing: all is in the arrays."""
        return False

    def _bring_rows(self) -> None:
        """Bring the counts of terms by topic here, if they are not."""
        if not self._rows_are_here:
            assert self._part is not None
            n_topics = int(self.workbench.state.totals[TOPICS])
            nothing = np.zeros(0, np.int64)
            self.workbench.fill_rows(
                [Summed(nothing, nothing, self._part.rows())],
                np.arange(n_topics, dtype=np.int32),
                self._threads,
            )
            self._rows_are_here = True

    def _joint(self) -> Joint:
        head, known = self.workbench, (self._settings.priors, self._sizes, self._facts.lengths)
        if self._part is None:
            return joint_by_sizes(head, *known, self._threads)
        return joint_of(head, *known, self._part.log_p_terms(float(head.state.concentrations[ETA])))

    # ------------------------------------------------------------ a sweep

    @memory_in_words()
    def sweep(self, key: Key, trials: Trials | None, eta: float | None = None, merge: bool = False) -> Swept:
        """Make one sweep, with `eta` held at a value where one is given; then `merge` copies of topics."""
        head, part = self.workbench, self._on_gpu()
        if eta is not None:
            head.set_eta(eta)
        documents = self._update_documents(key)
        if not head_moves(key.sweep, self._facts.n_words):
            if eta is None and self._gamma_priors[ETA, 0] > 0.0:
                self._bring_rows()
            swept = super().sweep(key, None, eta, merge)
        else:
            self._bring_rows()
            part.open(head.state.n_k.size)
            self._is_open = True
            head.tables, head.threads = part.tables(self._threads), self._threads
            head.words_to_keep = _WORDS_TO_KEEP
            swept = super().sweep(key, trials_for(trials, key.sweep, self._facts.n_words), eta, merge)
            head.tables = None  # they hold on to the GPU
        return swept._replace(infos={"documents": documents, **swept.infos})

    def _update_documents(self, key: Key) -> DocumentsInfo:
        head, part, facts = self.workbench, self._on_gpu(), self._facts
        alpha, eta = (float(head.state.concentrations[i]) for i in (ALPHA, ETA))
        measure = self._revealer.weights(key, head.state, self._epsilon)
        passes = passes_for(measure, facts.n_terms, facts.n_words)
        passed = part.update(key, measure, alpha, eta, passes)
        number, info = renumber(head, measure, passed.words, passed.tables)
        part.name(number, passed.words)
        self._sizes, self._rows_are_here = passed.sizes, False
        return info

    def _gibbs(self, key: Key) -> dict[str, Any]:
        """Draw words and tables, one by one, of the documents whose turn it is."""
        if not head_moves(key.sweep, self._facts.n_words):
            return {}
        head, part = self.workbench, self._on_gpu()
        taken = part.take(*turn_of(key.sweep, self._facts.n_words))
        head.bring(Seats(*(np.concatenate(parts) for parts in zip(*taken, strict=True))))
        infos = head.gibbs(key)
        part.put(head.take_away(), taken)
        return infos

    def _merge(self) -> Array:
        self._bring_rows()
        into = super()._merge()
        self._on_gpu().merge(into)
        return into

    def _compact(self) -> None:
        has_gaps = bool(self.workbench.state.totals[DEAD])
        if self._part is None or not (self._is_open or has_gaps):
            return
        self._is_open = False
        self._sizes = self._part.close(self.workbench.new_order())
