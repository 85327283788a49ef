"""A slow, obvious twin of the moves: plain lists, every count taken afresh for every choice.

The only things kept are those whose order decides which draw a uniform number means: the numbers of
tables and topics, the list of living topics, the stack of dead ones, and the topics of each term.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from franchise._arrays import CorpusArrays
from franchise.corpus import Corpus, from_tokens
from franchise.model import State
from franchise.model.state import DEAD, NUMBERED, TOPICS
from tests.reference import fitted
from tests.reference.choices import Choose
from tests.reference.enumeration import Concentrations, Documents, Seating, seating_of

NOWHERE = -1  # the table of a word, or the topic of a table, that is taken out


def corpus_of(documents: Documents, n_terms: int) -> Corpus:
    """Return the library's corpus of these documents."""
    return from_tokens(documents, vocabulary=[f"term {v}" for v in range(n_terms)])


class Plain(NamedTuple):
    """A state in plain lists, labels and orders included."""

    t_ji: list[list[int]]
    k_jt: list[list[int]]
    live: list[int]
    dead: list[int]
    topics_of_term: list[list[int]]

    @property
    def seating(self) -> Seating:
        return seating_of(self.t_ji, self.k_jt)


def plain(corpus: CorpusArrays, state: State) -> Plain:
    """Read the library's state."""
    ends = list(zip(corpus.doc_ptr[:-1], corpus.doc_ptr[1:]))
    rows = [state.row_k[first : first + length] for first, length in zip(state.row_ptr[:-1], state.row_len)]
    dead = state.dead[: state.totals[DEAD]].tolist()
    assert state.totals[NUMBERED] == state.totals[TOPICS] + len(dead)
    return Plain(
        [state.t_ji[first:end].tolist() for first, end in ends],
        [state.k_jt[first : first + m].tolist() for (first, _), m in zip(ends, state.m_j)],
        state.live[: state.totals[TOPICS]].tolist(),
        dead,
        [row.tolist() for row in rows],
    )


class Counts(NamedTuple):
    """What the paper calls by these letters; tables without words and words without table do not count."""

    n_jt: Counter
    n_jk: Counter
    n_kv: Counter
    n_k: Counter
    m_k: Counter
    m: int


class Franchise:
    """The state, and the moves on it."""

    def __init__(self, documents: Documents, n_terms: int, at: Concentrations) -> None:
        self.documents, self.n_terms, self.at = documents, n_terms, at
        self.t_ji = [[NOWHERE] * len(words) for words in documents]
        self.k_jt: list[list[int]] = [[] for _ in documents]
        self.live: list[int] = []
        self.dead: list[int] = []
        self.topics_of_term: list[list[int]] = [[] for _ in range(n_terms)]

    @classmethod
    def seated(cls, documents: Documents, n_terms: int, at: Concentrations, seating: Seating) -> "Franchise":
        """Return the franchise in a given state."""
        franchise = cls(documents, n_terms, at)
        first = 0
        for j, own in enumerate(seating.t):
            franchise.t_ji[j] = list(own)
            franchise.k_jt[j] = list(seating.k[first : first + len(set(own))])
            first += len(set(own))
        franchise._seat_everyone()
        return franchise

    @classmethod
    def like(cls, documents: Documents, n_terms: int, at: Concentrations, plain: Plain) -> "Franchise":
        """Return the franchise in a given state, labels and orders included."""
        franchise = cls(documents, n_terms, at)
        franchise.t_ji, franchise.k_jt, franchise.live, franchise.dead, franchise.topics_of_term = plain
        return franchise

    def plain(self) -> Plain:
        return Plain(self.t_ji, self.k_jt, self.live, self.dead, self.topics_of_term)

    def count(self) -> Counts:
        """Count everything from t_ji and k_jt."""
        n_jt, n_jk, n_kv, n_k = Counter(), Counter(), Counter(), Counter()
        for j, words in enumerate(self.documents):
            for v, t in zip(words, self.t_ji[j]):
                if t != NOWHERE and self.k_jt[j][t] != NOWHERE:
                    k = self.k_jt[j][t]
                    n_jt[j, t] += 1
                    n_jk[j, k] += 1
                    n_kv[k, v] += 1
                    n_k[k] += 1
        m_k = Counter(self.k_jt[j][t] for j, t in n_jt)
        return Counts(n_jt, n_jk, n_kv, n_k, m_k, len(n_jt))

    # ---------------------------------------------------------------- starts

    def start_sequential(self, choose: Choose) -> None:
        """Seat every word given the words before it, documents in random order."""
        order = list(range(len(self.documents)))
        choose.start(len(order))
        shuffle(order, choose)
        self.word_tables(choose, order)

    def start_random(self, choose: Choose, n_topics: int) -> None:
        """Draw a topic for every word, all alike; one table for each topic in each document."""
        self._start_from_topics(choose, lambda words: [[1.0] * n_topics for _ in words])

    def start_fitted(self, choose: Choose, limits: fitted.Limits, order: list[int]) -> None:
        """Draw a topic for every word from mixtures of fitted topics, or that of the common words."""
        self.start_from(choose, fitted.fit(self.documents, self.n_terms, self.at.eta, order, limits))

    def start_from(self, choose: Choose, topics: fitted.Fitted) -> None:
        """Do the same with topics that are given."""

        def weights(words: Sequence[int]) -> list[list[float]]:
            theta = fitted.mixture_of(topics, list(words)) if words else []
            return [fitted.parts(topics, theta, v) for v in words]

        self._start_from_topics(choose, weights)

    def _start_from_topics(
        self, choose: Choose, weights_in: Callable[[Sequence[int]], list[list[float]]]
    ) -> None:
        number: dict[int, int] = {}
        for j, words in enumerate(self.documents):
            choose.start(j)
            for i, weights in enumerate(weights_in(words)):
                k = number.setdefault(choose(weights), len(number))
                if k not in self.k_jt[j]:
                    self.k_jt[j].append(k)
                self.t_ji[j][i] = self.k_jt[j].index(k)
        self._seat_everyone()

    def _seat_everyone(self) -> None:
        self.live = sorted({k for topics in self.k_jt for k in topics})
        for j, words in enumerate(self.documents):
            for v, t in zip(words, self.t_ji[j]):
                self._list_topic(v, self.k_jt[j][t])

    # ---------------------------------------------------------------- Gibbs for t_ji

    def word_tables(self, choose: Choose, order: list[int] | None = None) -> None:
        """Draw a table for every word."""
        for j in range(len(self.documents)) if order is None else order:
            choose.start(j)
            here = list(dict.fromkeys(self.k_jt[j]))
            for i in range(len(self.documents[j])):
                self.word_table(j, i, here, choose)

    def word_table(self, j: int, i: int, here: list[int], choose: Choose) -> None:
        """Draw topic, then table, of one word; `here` lists the topics seen in the document."""
        v, t_old = self.documents[j][i], self.t_ji[j][i]
        k_old = NOWHERE if t_old == NOWHERE else self.k_jt[j][t_old]
        self.t_ji[j][i] = NOWHERE
        n = self.count()
        alone = t_old != NOWHERE and n.n_jt[j, t_old] == 0
        c = self.at.alpha / (n.m + self.at.gamma)
        k = self._choose_topic(j, v, c, n, here, choose)
        t = None if k is None else self._choose_table(j, k, c, n, choose)

        if alone and n.m_k[k_old] == 0:
            self._close_topic(k_old)
        if k is None:
            k = self.open_topic()
        if k != k_old:
            if k_old != NOWHERE and n.n_kv[k_old, v] == 0:
                self._unlist_topic(v, k_old)
            self._list_topic(v, k)
            if k not in here:
                here.append(k)
        if t is None and alone:
            t = t_old
            self.k_jt[j][t] = k
        elif t is None:
            t = len(self.k_jt[j])
            self.k_jt[j].append(k)
        elif alone:
            self.t_ji[j][i] = t
            self._close_table(j, t_old)
            return
        self.t_ji[j][i] = t

    def _choose_topic(
        self, j: int, v: int, c: float, n: Counts, here: list[int], choose: Choose
    ) -> int | None:
        """Choose a topic, None for a new one: the parts of term, document, corpus, and the new."""
        eta = self.at.eta

        def w(k: int) -> float:
            return 1.0 / (n.n_k[k] + self.n_terms * eta)

        of_term = self.topics_of_term[v]
        weights = [n.n_kv[k, v] * (n.n_jk[j, k] + c * n.m_k[k]) * w(k) for k in of_term]
        weights += [eta * n.n_jk[j, k] * w(k) for k in here]
        weights += [c * eta * n.m_k[k] * w(k) for k in self.live]
        weights += [c * self.at.gamma / self.n_terms]
        return [*of_term, *here, *self.live, None][choose(weights)]

    def _choose_table(self, j: int, k: int, c: float, n: Counts, choose: Choose) -> int | None:
        """Choose a table that serves topic k, None for a new one."""
        if n.n_jk[j, k] == 0:
            return None
        tables = [t for t, k_jt in enumerate(self.k_jt[j]) if k_jt == k]
        weights = [n.n_jt[j, t] for t in tables] + [c * n.m_k[k]]
        return [*tables, None][choose(weights)]

    # ---------------------------------------------------------------- Gibbs for k_jt

    def table_topics(self, choose: Choose, order: list[int] | None = None) -> None:
        """Draw a topic for every table of two words or more."""
        for j in range(len(self.documents)) if order is None else order:
            choose.start(j)
            for t in range(len(self.k_jt[j])):
                if self.t_ji[j].count(t) > 1:
                    self.table_topic(j, t, choose)

    def table_topic(self, j: int, t: int, choose: Choose) -> None:
        """Draw the topic of one table, its words and itself not counted."""
        words = [v for v, own in zip(self.documents[j], self.t_ji[j]) if own == t]
        k_old = self.k_jt[j][t]
        self.k_jt[j][t] = NOWHERE
        n = self.count()
        topics = sorted(self.live)  # by number, not as `live` lists them
        weights = [n.m_k[k] * self._f(words, k, n) for k in topics]
        weights += [self.at.gamma * self._f(words, None, n)]
        k = [*topics, None][choose(weights)]
        self.k_jt[j][t] = k_old
        if k == k_old or (k is None and n.m_k[k_old] == 0):
            return
        self.move_table(j, t, self.open_topic() if k is None else k)

    def move_table(self, j: int, t: int, k: int) -> None:
        """Give a table to another living topic."""
        words = [v for v, own in zip(self.documents[j], self.t_ji[j]) if own == t]
        k_old, self.k_jt[j][t] = self.k_jt[j][t], NOWHERE
        n = self.count()
        self.k_jt[j][t] = k
        for v in dict.fromkeys(words):
            if n.n_kv[k_old, v] == 0:
                self._unlist_topic(v, k_old)
            self._list_topic(v, k)
        if n.m_k[k_old] == 0:
            self._close_topic(k_old)

    def _f(self, words: list[int], k: int | None, n: Counts) -> float:
        """Probability of a table's words, one after another, given those of topic k."""
        probability, before = 1.0, defaultdict(int)
        for i, v in enumerate(words):
            n_kv = n.n_kv[k, v] + before[v]
            probability *= (n_kv + self.at.eta) / (n.n_k[k] + i + self.n_terms * self.at.eta)
            before[v] += 1
        return probability

    # ---------------------------------------------------------------- lists and numbers

    def open_topic(self) -> int:
        k = self.dead.pop() if self.dead else len(self.live)
        self.live.append(k)
        return k

    def _close_topic(self, k: int) -> None:
        fill_gap(self.live, k)
        self.dead.append(k)

    def _list_topic(self, v: int, k: int) -> None:
        if k not in self.topics_of_term[v]:
            self.topics_of_term[v].append(k)

    def _unlist_topic(self, v: int, k: int) -> None:
        fill_gap(self.topics_of_term[v], k)

    def _close_table(self, j: int, t: int) -> None:
        last = len(self.k_jt[j]) - 1
        self.k_jt[j][t] = self.k_jt[j][last]
        self.k_jt[j].pop()
        self.t_ji[j] = [t if own == last else own for own in self.t_ji[j]]


def fill_gap(values: list[int], value: int) -> None:
    """Remove a value; the last of the list takes its place."""
    place = values.index(value)
    values[place] = values[-1]
    values.pop()


def shuffle(values: list[int], choose: Choose) -> None:
    """Permute in place (Fisher-Yates, from the end)."""
    for i in range(len(values) - 1, 0, -1):
        j = choose([1.0] * (i + 1))
        values[i], values[j] = values[j], values[i]
