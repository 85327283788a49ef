"""The coordinator of a chain: it holds the counts of all documents, and the seating of a few at a time.

Its state has the rows of all terms and all counts of topics. The collapsed moves depend on other documents
only through these counts.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from franchise._arrays import Array, CorpusArrays, offsets_of
from franchise.corpus import Corpus
from franchise.engines.collapsed_sampler import CollapsedSampler
from franchise.engines.partitions.partition import SeatedDocuments
from franchise.engines.threads import Range, Threads, falling_ranges
from franchise.errors import CorpusError
from franchise.model import Joint, Priors, State
from franchise.model.joint import log_p_tables_by_size, log_p_topics
from franchise.model.likelihood import log_p_sizes, log_p_terms
from franchise.model.measure import FREE, Measure
from franchise.model.recount import fill_rows
from franchise.model.rows import Rows, add_rows, widened
from franchise.model.state import ALPHA, BORN, DEAD, ETA, GAMMA, NUMBERED, TABLES, TOPICS, state_of_counts
from franchise.moves.shared.scratch import new_scratch_for_counts, new_scratch_for_some, with_counts

_CELLS_AT_ONCE = 1 << 20  # entries (term, topic) that a thread adds up at once
_BLOCK = 64  # terms whose logarithms are added up first, so that results do not depend on threads
_MOST_WORDS_OF_A_TERM = 2**32 - 1
SEATING = ("t_ji", "n_jt", "k_jt", "m_j")


class DocumentsInfo(NamedTuple):
    """Counts from the pass over all documents."""

    topics_revealed: int
    births: int
    deaths: int


class Facts(NamedTuple):
    """What the coordinator knows about the documents."""

    n_terms: int
    n_words: int
    n_cells: int  # 0 if documents consist of words
    term_counts: Array
    lengths: tuple[Array, Array]  # the different lengths except 0, and the number of documents of each length

    @property
    def longest(self) -> int:
        """The number of words of the longest document."""
        return int(self.lengths[0].max(initial=0))


def facts_of(corpus: Corpus, has_counts: bool = False) -> Facts:
    """Return what the coordinator needs to know about a corpus.

    CorpusError if a term has more words than the rows of terms can count.
    """
    term_counts = corpus.term_counts
    if term_counts.max(initial=0) > _MOST_WORDS_OF_A_TERM:
        v = int(term_counts.argmax())
        raise CorpusError(
            f"the corpus has the term {corpus.vocabulary[v]!r} {term_counts[v]:,} times, more than the "
            f"{_MOST_WORDS_OF_A_TERM:,} that 32 bits can count: leave out the most frequent terms (--max-df)",
            code="too-many-words",
        )
    documents = corpus.documents_of_length
    lengths = 1 + np.flatnonzero(documents[1:])
    n_cells = corpus.cells.terms.size if has_counts else 0
    return Facts(corpus.n_terms, corpus.n_words, n_cells, term_counts, (lengths, documents[lengths]))


class Coordinator:
    """Makes the moves that need the counts of all documents, and the seating of some.

    Parameters
    ----------
    facts
        Facts about all documents.
    state
        The counts of all documents, without any seating (`state_without_seating`).
    words_to_keep
        About how many words of listed tables to keep for trials.
    """

    def __init__(self, facts: Facts, state: State, words_to_keep: int) -> None:
        self._facts = facts
        none = no_documents(facts.n_terms, facts.n_words)
        new_scratch = new_scratch_for_counts if facts.n_cells else new_scratch_for_some
        scratch = new_scratch(none, state, facts.lengths, int(facts.term_counts.max(initial=0)))
        self.sampler = CollapsedSampler(none, state, scratch=scratch, words_to_keep=words_to_keep)

    @property
    def state(self) -> State:
        """The counts of all documents, with the seating of those that are here."""
        return self.sampler.state

    @property
    def n_topics(self) -> int:
        """The number of topics."""
        return int(self.state.totals[TOPICS])

    # ------------------------------------------------------------ documents that are here

    def bring(self, documents: SeatedDocuments) -> None:
        """Receive some documents with their seating; the moves visit these from now on."""
        state = self.state._replace(
            t_ji=documents.t_ji,
            n_jt=documents.n_jt,
            k_jt=documents.k_jt,
            m_j=np.append(documents.m_j, np.int32(0)),
        )
        scratch = self.sampler.scratch
        if documents.pair_ptr.size:
            scratch = with_counts(scratch, *documents[-3:])
        facts = self._facts
        at_hand = _with_others(documents.x, documents.lengths, facts.n_terms, facts.n_words)
        self.sampler.hold(at_hand, state, scratch)
        self.sampler.visit(np.arange(documents.numbers.size), documents.numbers)

    def take_away(self, brought: SeatedDocuments) -> SeatedDocuments:
        """Give up the documents that were brought, with their present seating."""
        state = self.state
        seated = {"t_ji": state.t_ji, "n_jt": state.n_jt, "k_jt": state.k_jt, "m_j": state.m_j[:-1]}
        nothing = np.zeros(0, np.int32)
        self.sampler.hold(
            no_documents(self._facts.n_terms, self._facts.n_words),
            state._replace(t_ji=nothing, n_jt=nothing, k_jt=nothing, m_j=np.zeros(1, np.int32)),
            self.sampler.scratch,
        )
        return brought._replace(**seated)

    # ------------------------------------------------------------ topics and counts

    def renumber(self, weights: Measure, words: Array, tables: Array) -> tuple[Array, DocumentsInfo]:
        """Give numbers to topics with words, those in use first, and set their counts.

        `words` and `tables` are counts by column. Returns the column of every topic.
        """
        columns, before = int(weights.sizes[1]), self.state
        old = before.live[: before.totals[TOPICS]]
        survivors = [c for c in weights.column[old] if words[c]]
        is_free = weights.number[:columns] == FREE
        born = np.flatnonzero(is_free & (words > 0)).tolist()
        born_before = int(before.totals[BORN])
        old_names = before.name_k[weights.number[survivors]]
        names = np.concatenate([old_names, born_before + np.arange(len(born))])
        topic_columns = np.array(survivors + born, np.int64)
        self._name(topic_columns, names, words, tables)
        self.state.totals[BORN] = born_before + len(born)
        return topic_columns, DocumentsInfo(int(is_free.sum()), len(born), old.size - len(survivors))

    def name_first_topics(self, words: Array, tables: Array) -> Array:
        """Create the topics that words begin with; return the column of each."""
        columns = np.flatnonzero(words)
        self._name(columns, np.arange(columns.size), words, tables)
        self.state.totals[BORN] = columns.size
        return columns

    def _name(self, columns: Array, names: Array, words: Array, tables: Array) -> None:
        """Make these columns, in this order, the only topics; their rows are not filled in."""
        n_topics = columns.size
        self.sampler.make_room(n_topics)
        state = self.state
        state.n_k[:n_topics], state.m_k[:n_topics] = words[columns], tables[columns]
        state.name_k[:n_topics] = names
        state.live[:n_topics] = state.place[:n_topics] = np.arange(n_topics)
        state.totals[TOPICS] = state.totals[NUMBERED] = n_topics
        state.totals[TABLES], state.totals[DEAD] = tables.sum(), 0

    def fill_rows(self, parts: Sequence[Rows], threads: Threads) -> None:
        """Fill in the rows of terms from those of all partitions."""
        state, n_topics, n_terms = self.state, self.n_topics, self._facts.n_terms
        wide, columns = [widened(rows) for rows in parts], np.arange(n_topics)
        at_once = max(1, _CELLS_AT_ONCE // max(1, n_topics))
        ranges = [(begin, min(begin + at_once, n_terms)) for begin in range(0, n_terms, at_once)]
        own = [np.zeros((at_once, n_topics), np.uint32) for _ in range(threads.number)]

        def fill(one: Range, dense: Array) -> None:
            for rows in wide:
                add_rows(rows, dense, *one)
            fill_rows(state, dense, columns, *one)

        threads.each(fill, ranges, own)

    def new_order(self) -> Array:
        """Give topics numbers without gaps; return the old number of each."""
        if self.state.totals[DEAD] == 0:
            return np.arange(self.n_topics)
        order = self.state.live[: self.n_topics].copy()
        self.sampler.compact()
        return order

    # ------------------------------------------------------------ the joint

    def log_p_terms(self, threads: Threads) -> float:
        """Return the terms' contribution to log p(x | c); it does not depend on threads."""
        state, lg, n_terms = self.state, self.sampler.log_gammas, self._facts.n_terms
        eta = float(state.concentrations[ETA])
        sums = np.zeros(n_terms // _BLOCK + 1)

        def add(one: Range, own: None) -> None:
            log_p_terms(state, lg, eta, sums, _BLOCK, *one)

        ranges = falling_ranges(np.arange(n_terms + 1), threads.number, _BLOCK, each=1)
        threads.each(add, ranges, [None] * threads.number)
        return float(sums.sum())

    def joint(self, priors: Priors, sizes: tuple[Array, Array], of_terms: float) -> Joint:
        """Return the parts of the log joint.

        `sizes` are the sizes of tables and the number of tables of each size; `of_terms` is the contribution
        of the terms.
        """
        state = self.state
        alpha, gamma, eta = (float(state.concentrations[i]) for i in (ALPHA, GAMMA, ETA))
        return Joint(
            float(log_p_tables_by_size(*sizes, *self._facts.lengths, alpha)),
            float(log_p_topics(state, gamma)),
            float(log_p_sizes(state, eta) + of_terms),
            priors.log_density(state.concentrations),
        )


def no_documents(n_terms: int, n_words: int) -> CorpusArrays:
    """Return a corpus without documents."""
    return _with_others(np.zeros(0, np.int32), np.zeros(0, np.int64), n_terms, n_words)


def _with_others(x: Array, lengths: Array, n_terms: int, n_words: int) -> CorpusArrays:
    """Return some documents, followed by one document with the words of all others."""
    doc_ptr = np.append(offsets_of(lengths), n_words)
    for array in (x, doc_ptr):
        array.flags.writeable = False
    return CorpusArrays(x, doc_ptr, n_terms)


def state_without_seating(facts: Facts, capacity: int) -> State:
    """Return a state without topics and seating."""
    return state_of_counts(facts.term_counts, 1, capacity)
