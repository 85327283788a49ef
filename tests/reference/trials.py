"""A slow, obvious twin of a split-merge trial, for every kind of anchors and number of scans.

Nothing is left out because it cancels: the ratio is made of the joint of whole states, the chance of the
pair of anchors in both states, and the chance of the division.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from math import exp, inf, log
from typing import NamedTuple

import numpy as np

from franchise.sampling.trials import Proposal
from tests.reference.choices import Choose
from tests.reference.enumeration import Concentrations, Seating, log_joint, log_p_words
from tests.reference.franchise import Franchise, fill_gap, shuffle

Table = tuple[int, int]  # document, table
Words = tuple[int, ...]
EVENLY = 0.2  # similar anchors: the part of the chances that likeness does not decide
# One kind for each way to choose anchors, and for each way to divide.
KINDS = (
    Proposal(anchors="uniform", scans=1),
    Proposal(anchors="balanced", scans=2),
    Proposal(anchors="similar"),
)


def name_of(kind: Proposal) -> str:
    """Return a kind's name for the list of tests."""
    return f"{kind.anchors}-{kind.scans}-scans"


class Record(NamedTuple):
    """What a trial did, in the order of the kernel's columns; topics by number, -1 where there are none."""

    proposal: int
    split: int  # -1: no trial was possible
    accepted: bool
    log_acceptance: float
    topic: int
    other: int
    tables: int
    words: int
    words_moved: int


class SetUp(NamedTuple):
    """The tables of a trial: anchors a and b, the others in the order of their visits."""

    order: list[Table]
    a: Table
    b: Table


class Division(NamedTuple):
    """The sides of the tables of a trial, 0 with anchor a, 1 with b."""

    side: dict[Table, int]
    log_chance: float
    log_normalisers: float  # of the last pass


@lru_cache(maxsize=100_000)
def log_f(words: Words, n_terms: int, eta: float) -> float:
    """Return the log probability of the words of one topic."""
    seating = Seating(((0,) * len(words),), (0,))
    return log_p_words([list(words)], n_terms, seating, eta)


@lru_cache(maxsize=100_000)
def _log_joint(documents: tuple[Words, ...], n_terms: int, seating: Seating, at: Concentrations) -> float:
    return log_joint([list(words) for words in documents], n_terms, seating, at)


@lru_cache(maxsize=100_000)
def _log_weight(words: Words, there: tuple[Words, ...], n_terms: int, eta: float) -> float:
    """Return log m f of a table's words, given the tables of a side; following all choices asks it often."""
    before = tuple(sorted(chain.from_iterable(there)))
    together = log_f(tuple(sorted(before + words)), n_terms, eta)
    return log(len(there)) + together - log_f(before, n_terms, eta)


_LOG_STATES: dict[tuple, float] = {}  # following all choices comes to the same states again and again


class Trial:
    """One trial of a kind on a franchise."""

    def __init__(self, franchise: Franchise, choose: Choose, kind: Proposal, most_words: float = inf) -> None:
        self.franchise, self.choose, self.kind, self.most_words = franchise, choose, kind, most_words
        self.words: dict[Table, Words] = {}
        self.topic: dict[Table, int] = {}
        for j, (terms, own) in enumerate(zip(franchise.documents, franchise.t_ji)):
            for t, k in enumerate(franchise.k_jt[j]):
                self.words[j, t] = tuple(v for v, its in zip(terms, own) if its == t)
                self.topic[j, t] = k
        self._tables = tuple(self.words.items())

    def tables_of(self, *topics: int) -> list[Table]:
        """Return the tables of these topics, one topic after another, by document."""
        return [table for k in topics for table in self.words if self.topic[table] == k]

    def words_of(self, tables: Iterable[Table]) -> Words:
        """Return all words of these tables, in the order of the terms."""
        return tuple(sorted(chain.from_iterable(self.words[table] for table in tables)))

    # ---------------------------------------------------------------- the pair of anchors

    def choose_anchors(self) -> tuple[Table, Table] | None:
        """Return anchors a and b, None where the state has no such pair."""
        choose, anchors = self.choose, self.kind.anchors
        of_words = [(j, t) for j, own in enumerate(self.franchise.t_ji) for t in own]
        if anchors == "uniform":
            if len(self.words) < 2:
                return None
            tables = self.tables_of(*sorted(set(self.topic.values())))
            a = tables.pop(choose([1.0] * len(tables)))
            return a, tables[choose([1.0] * len(tables))]
        a = choose.one_of(of_words)
        k = self.topic[a]
        if choose([0.5, 0.5]) == 0:
            others = self.tables_of(k)
            fill_gap(others, a)
        else:
            others = self.tables_of(self._choose_topic(k)) if len(self.franchise.live) > 1 else []
        return (a, others[choose([1.0] * len(others))]) if others else None

    def _choose_topic(self, k: int) -> int:
        """Choose a topic to merge topic k with."""
        likeness = [self.likeness(self.topic, k, other) for other in self.franchise.live]
        if sum(likeness) > 0 and self.choose([EVENLY, 1 - EVENLY]) == 1:
            return self.franchise.live[self.choose(likeness)]
        others = list(self.franchise.live)
        fill_gap(others, k)
        return others[self.choose([1.0] * len(others))]

    def likeness(self, topic: dict[Table, int], k: int, other: int) -> float:
        """Return the fourth power of the cosine of two topics' counts, 0 for a topic and itself."""
        if self.kind.anchors != "similar" or k == other:
            return 0.0
        n, n_other = (Counter(self.words_of(t for t in topic if topic[t] == one)) for one in (k, other))
        square = sum(n[v] * n_other[v] for v in n) ** 2
        return (square / sum(c * c for c in n.values()) / sum(c * c for c in n_other.values())) ** 2

    def chance_of_pair(self, topic: dict[Table, int], a: Table, b: Table) -> float:
        """Return the probability that the anchors are a and b when tables have these topics."""
        m, n = len(self.words), sum(map(len, self.words.values()))
        n_a = len(self.words[a])
        if self.kind.anchors == "uniform":
            return 1 / m / (m - 1)
        of_a, of_b = topic[a], topic[b]
        m_k = Counter(topic.values())
        if of_a == of_b:
            return n_a / n * 0.5 / (m_k[of_a] - 1)
        likeness = {k: self.likeness(topic, of_a, k) for k in m_k if k != of_a}
        chance = 1 / len(likeness)
        if sum(likeness.values()) > 0:
            chance = EVENLY * chance + (1 - EVENLY) * likeness[of_b] / sum(likeness.values())
        return n_a / n * 0.5 * chance / m_k[of_b]

    # ---------------------------------------------------------------- divisions

    def log_weight(self, table: Table, side: dict[Table, int], s: int) -> float:
        """Return log m_s f_s of a table, given the tables that have a side."""
        there = tuple([self.words[other] for other in side if side[other] == s])
        return _log_weight(self.words[table], there, self.franchise.n_terms, self.franchise.at.eta)

    def divide(self, order: Sequence[Table], a: Table, b: Table, known: dict[Table, int] | None) -> Division:
        """Divide the tables; where a division is known, score it (what it is launched from is drawn)."""
        side, log_chance, log_normalisers = {a: 0, b: 1}, 0.0, 0.0
        for scan in range(self.kind.scans + 1):
            log_chance = log_normalisers = 0.0
            for table in order:
                side.pop(table, None)
                logs = [self.log_weight(table, side, s) for s in (0, 1)]
                weights = [exp(value - max(logs)) for value in logs]
                if known is not None and scan == self.kind.scans:
                    side[table] = known[table]
                else:
                    side[table] = self.choose(weights)
                log_chance += logs[side[table]] - max(logs) - log(sum(weights))
                log_normalisers += max(logs) + log(sum(weights))
        return Division(side, log_chance, log_normalisers)

    # ---------------------------------------------------------------- the ratio

    def log_state(self, topic: dict[Table, int], a: Table, b: Table) -> float:
        """Return log p(x, t, k) plus the log chance of the anchors, when tables have these topics."""
        own = self.franchise
        asked = (self._tables, tuple(topic.values()), a, b, self.kind.anchors, own.n_terms, own.at)
        if asked not in _LOG_STATES:
            if len(_LOG_STATES) > 100_000:
                _LOG_STATES.clear()
            _LOG_STATES[asked] = self._log_state(topic, a, b)
        return _LOG_STATES[asked]

    def _log_state(self, topic: dict[Table, int], a: Table, b: Table) -> float:
        own = self.franchise
        k_jt = [[topic[j, t] for t in range(len(topics))] for j, topics in enumerate(own.k_jt)]
        seating = own.plain()._replace(k_jt=k_jt).seating
        documents = tuple(tuple(words) for words in own.documents)
        return _log_joint(documents, own.n_terms, seating, own.at) + log(self.chance_of_pair(topic, a, b))

    def log_divided(self, division: Division, a: Table, b: Table) -> float:
        """Return log W: the divided state over the chance of the division."""
        topics = (self.topic[a], -1 if self.topic[a] == self.topic[b] else self.topic[b])
        topic = self.topic | {table: topics[s] for table, s in division.side.items()}
        return self.log_state(topic, a, b) - division.log_chance

    def log_united(self, a: Table, b: Table) -> float:
        """Return the same of the united state, for which there is one way only."""
        united = dict.fromkeys(self.tables_of(self.topic[b]), self.topic[a])
        return self.log_state(self.topic | united, a, b)

    def present(self, order: Sequence[Table], a: Table, b: Table) -> dict[Table, int]:
        """Return the sides as they are: 0 with the topic of a."""
        return {table: int(self.topic[table] != self.topic[a]) for table in (*order, a, b)}

    def log_acceptance(self, order: list[Table], a: Table, b: Table) -> tuple[float, dict[Table, int]]:
        """Return the log ratio and the division to be made, or that exists."""
        split = self.topic[a] == self.topic[b]
        present = self.present(order, a, b)
        division = self.divide(order, a, b, None if split else present)
        log_ratio = self.log_divided(division, a, b) - self.log_united(a, b)
        return (log_ratio, division.side) if split else (-log_ratio, present)

    # ---------------------------------------------------------------- the trial

    def set_up(self) -> SetUp | None:
        """Choose the anchors and the order of the others; None where no trial is possible, or too large."""
        anchors = self.choose_anchors()
        if anchors is None:
            return None
        topics = dict.fromkeys(self.topic[table] for table in anchors)
        if len(self.words_of(self.tables_of(*topics))) > self.most_words:
            return None
        order = [table for table in self.tables_of(*topics) if table not in anchors]
        shuffle(order, self.choose)
        return SetUp(order, *anchors)

    def make(self, proposal: int = 0) -> Record:
        """Make the trial."""
        found = self.set_up()
        if found is None:
            return Record(proposal, -1, False, -np.inf, -1, -1, 0, 0, 0)
        order, a, b = found
        log_ratio, side = self.log_acceptance(order, a, b)
        chance = min(1.0, exp(min(0.0, log_ratio)))
        accepted = self.choose([1 - chance, chance]) == 1
        k_a, k_b, n_words = self.topic[a], self.topic[b], len(self.words_of(side))
        record = Record(proposal, int(k_a == k_b), accepted, log_ratio, k_a, k_b, len(side), n_words, 0)
        return self.carry_out(found, side, record) if accepted else record

    def carry_out(self, found: SetUp, side: dict[Table, int], record: Record) -> Record:
        """Change the franchise; the larger part keeps its topic. Return the record with what was moved."""
        n_of_side = [sum(len(self.words[table]) for table in side if side[table] == s) for s in (0, 1)]
        smaller = 0 if n_of_side[0] < n_of_side[1] else 1
        if record.split:
            kept, other = record.topic, self.franchise.open_topic()
        else:
            kept, other = (record.topic, record.other) if smaller == 1 else (record.other, record.topic)
        for j, t in (*found.order, found.a, found.b):
            if side[j, t] == smaller:
                self.franchise.move_table(j, t, other if record.split else kept)
        return record._replace(topic=kept, other=other, words_moved=n_of_side[smaller])


def split_merge(
    franchise: Franchise,
    choose: Choose,
    kinds: Sequence[Proposal],
    trials: int,
    most_words: float = inf,
) -> list[Record]:
    """Make some trials, each of one of the kinds, in proportion to their weights."""
    records = []
    for number in range(trials):
        choose.start(number)
        proposal = choose([kind.weight for kind in kinds])
        records.append(Trial(franchise, choose, kinds[proposal], most_words).make(proposal))
    return records
