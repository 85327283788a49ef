"""Tables of some topics, from all documents or from partitions of them."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from franchise._arrays import CorpusArrays
from franchise.engines.pools.pool import PooledTables
from franchise.engines.table_source import CountedTables, HeldTables, Tables, joined
from franchise.engines.threads import Threads
from franchise.model import copy_state
from franchise.model.cell_tables import CellTables
from franchise.model.state import TOPICS
from tests.reference.kernels import Kernels
from tests.reference.strategies import CONCENTRATIONS, SEEDS, corpora

pytestmark = pytest.mark.nojit


def started(corpus, at, seed):
    kernels = Kernels(*corpus, at)
    kernels.start_sequential(seed)
    return kernels


def expected(documents, plain, k):
    """Return the tables of topic k by document: slots, sizes, words with equal ones together."""
    slots, sizes, words, first = [], [], [], 0
    for terms, seats, topics in zip(documents, plain.t_ji, plain.k_jt, strict=True):
        for t, its in enumerate(topics):
            if its == k:
                own = [v for v, seat in zip(terms, seats, strict=True) if seat == t]
                slots.append(first + t)
                sizes.append(len(own))
                words += sorted(own, key=own.index)
        first += len(terms)
    return slots, sizes, words, []


def as_lists(tables):
    return tuple(array.tolist() for array in tables)


class Held:
    """A pool of tables that are here."""

    def __init__(self, partitions, first_words):
        self.partitions, self.first_words = partitions, first_words

    def all(self, method, *arguments):
        return [getattr(one, method.__name__)(*arguments) for one in self.partitions]

    def each(self, method, arguments):
        both = zip(self.partitions, arguments, strict=True)
        return [getattr(one, method.__name__)(*own) for one, own in both]


def in_partitions(corpus, state, cuts):
    """Return the documents between the cuts, each with a state of its own, as a worker would have them."""
    partitions, marks = [], [0, *cuts, corpus.doc_ptr.size - 1]
    for begin, end in itertools.pairwise(marks):
        words = slice(corpus.doc_ptr[begin], corpus.doc_ptr[end])
        doc_ptr = corpus.doc_ptr[begin : end + 1] - words.start
        own = CorpusArrays(corpus.x[words], doc_ptr, corpus.n_terms)
        for array in own[:2]:
            array.flags.writeable = False
        seating = {name: getattr(state, name)[words].copy() for name in ("t_ji", "n_jt", "k_jt")}
        own_state = state._replace(**seating, m_j=state.m_j[begin:end].copy())
        partitions.append(HeldTables(own, own_state, first_word=int(words.start)))
    return PooledTables(Held(partitions, [int(corpus.doc_ptr[mark]) for mark in marks[:-1]]))


@given(corpora(max_documents=7), CONCENTRATIONS, SEEDS, st.data())
def test_tables_are_listed_by_document(corpus, at, seed, data):
    kernels, documents = started(corpus, at, seed), corpus[0]
    plain, state = kernels.plain(), kernels.state
    cuts = sorted(data.draw(st.lists(st.integers(0, len(documents)), min_size=2, max_size=2)))
    topics = np.array(data.draw(st.permutations(state.live[: state.totals[TOPICS]].tolist())))
    some = topics[: data.draw(st.integers(0, topics.size))]
    sources = [
        HeldTables(kernels.corpus, state),
        HeldTables(kernels.corpus, state, Threads(3)),
        in_partitions(kernels.corpus, state, cuts),
    ]
    for source in sources:
        listed = source.tables_of(some)
        assert [as_lists(tables) for tables in listed] == [expected(documents, plain, k) for k in some]
        assert all([array.dtype for array in tables] == [np.int64, *3 * [np.int32]] for tables in listed)


@given(corpora(max_documents=7), CONCENTRATIONS, SEEDS, st.data())
def test_tables_of_words(corpus, at, seed, data):
    kernels, documents = started(corpus, at, seed), corpus[0]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(documents)), min_size=2, max_size=2)))
    plain, wanted = kernels.plain(), []
    first = 0
    for seats, topics in zip(plain.t_ji, plain.k_jt, strict=True):
        wanted += [(first + t, topics[t]) for t in seats]
        first += len(seats)
    words = np.array(data.draw(st.lists(st.integers(0, first - 1))), np.int64)
    for source in (
        HeldTables(kernels.corpus, kernels.state),
        in_partitions(kernels.corpus, kernels.state, cuts),
    ):
        slots, topics = source.tables_of_words(words)
        assert [*zip(slots.tolist(), topics.tolist(), strict=True)] == [wanted[i] for i in words]


@given(corpora(max_documents=7), CONCENTRATIONS, SEEDS, st.data())
def test_relabelled_tables_have_the_new_topic(corpus, at, seed, data):
    kernels, documents = started(corpus, at, seed), corpus[0]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(documents)), min_size=2, max_size=2)))
    state = copy_state(kernels.state)
    whole, several = HeldTables(kernels.corpus, state), in_partitions(kernels.corpus, kernels.state, cuts)
    k = int(kernels.state.live[0])
    before = whole.tables_of(np.array([k]))[0]
    moved = np.sort(data.draw(st.permutations(before.slot.tolist()))[: (before.slot.size + 1) // 2])
    for source in (whole, several):
        source.relabel(moved, 60)
        stay, new = source.tables_of(np.array([k, 60]))
        is_moved = np.isin(before.slot, moved)
        assert as_lists(new) == as_lists(before.taken(np.flatnonzero(is_moved)))
        assert as_lists(stay) == as_lists(before.taken(np.flatnonzero(~is_moved)))


def test_tables_that_hold_counts():
    """Three documents, the second empty: four tables of three topics."""
    tables = CellTables(
        slot_ptr=np.array([0, 3, 3, 4]),
        pair_ptr=np.array([0, 2, 3, 4, 6]),
        term=np.array([5, 1, 2, 0, 1, 4], np.int32),
        words=np.array([1, 3, 2, 1, 7, 2], np.int32),
    )
    state = Kernels([[0]], 1, (1.0, 1.0, 1.0)).state
    state = state._replace(n_jt=np.array([4, 2, 1, 9], np.int32), k_jt=np.array([3, 0, 8, 3], np.int32))
    source = CountedTables(tables, state)
    slots, topics = source.tables_of_words(np.array([0, 3, 4, 6, 7, 15]))
    assert slots.tolist() == [0, 0, 1, 2, 3, 3]
    assert topics.tolist() == [3, 3, 0, 8, 3, 3]
    first, second = source.tables_of(np.array([3, 8]))
    assert as_lists(first) == ([0, 3], [2, 2], [5, 1, 1, 4], [1, 3, 7, 2])
    assert as_lists(second) == ([2], [1], [0], [1])
    assert as_lists(joined([second, first.taken(np.array([1]))])) == ([2, 3], [1, 2], [0, 1, 4], [1, 7, 2])
    source.relabel(np.array([0, 2]), 5)
    assert state.k_jt.tolist() == [5, 0, 5, 3]


def test_a_topic_without_tables_has_an_empty_list():
    kernels = Kernels([[0, 1], []], 2, (1.0, 1.0, 1.0))
    kernels.start_random(0, 1)
    (tables,) = HeldTables(kernels.corpus, kernels.state).tables_of(np.array([40]))
    assert as_lists(tables) == ([], [], [], [])


def test_tables_are_taken_and_joined():
    tables = Tables(
        np.array([3, 5, 9]), np.array([1, 3, 2], np.int32), np.array([7, 1, 1, 2, 8, 6], np.int32)
    )
    assert as_lists(tables.taken(np.array([2, 0]))) == ([9, 3], [2, 1], [8, 6, 7], [])
    both = joined([tables.taken(np.array([1])), tables.taken(np.array([0, 2]))])
    assert as_lists(both.taken(np.argsort(both.slot))) == as_lists(tables)
