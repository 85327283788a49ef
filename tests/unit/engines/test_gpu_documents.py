"""Documents of the GPU engine, on the host: draw for draw those of a twin; tables as the CPU lists them."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from franchise.engines import ENGINES, EngineSettings
from franchise.engines.partially_collapsed import PartiallyCollapsedEngine
from franchise.engines.partitions.cuda import layout
from franchise.engines.partitions.cuda import partition as module
from franchise.engines.partitions.cuda.device import counter_key
from franchise.engines.partitions.cuda.source import NEAR, kernel_source
from franchise.engines.partitions.partition import Range
from franchise.engines.table_source import HeldTables
from franchise.model import Priors, broken_invariants, copy_state
from franchise.model.state import TOPICS, word_topics
from franchise.random import DOCUMENTS, Key
from tests.host_device import HostDevice, needs_compiler
from tests.reference import gpu_kernels
from tests.reference.enumeration import Concentrations
from tests.reference.franchise import corpus_of
from tests.reference.gpu import Given, counted, draw, draw_long, seat
from tests.reference.gpu_runs import documents_of, on_device
from tests.reference.parallel import pass_once
from tests.reference.strategies import CONCENTRATIONS, SEEDS, corpora

pytestmark = needs_compiler


@cache
def host():
    return HostDevice(gpu_kernels.with_open_kernels(kernel_source()))


def engine_of(corpus, at, seed, start, epsilon=None):
    engine = ENGINES["gpu"].new(corpus, EngineSettings(Priors(**at._asdict()), capacity=1))
    engine._epsilon = engine._epsilon if epsilon is None else epsilon
    with on_device(host()):
        engine.start(Key(seed, 0, 0, 0), start)
    return engine


# ---------------------------------------------------------------- the pass


def compare_pass(documents, n_terms, at, seed, start, epsilon, passes, sweeps=2, long=layout.LONG):
    """Make sweeps, and the same with the twin; return how many topics rested, and the most in a document."""
    corpus, rested, most = corpus_of(documents, n_terms), 0, 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PartiallyCollapsedEngine, "_passes", lambda *_: passes)
        patch.setattr(layout, "LONG", long)
        engine = engine_of(corpus, at, seed, start, epsilon)
        for sweep in range(1, sweeps + 1):
            before, key = engine.state, Key(seed, 0, sweep, 0)
            weights = engine._instantiator.weights(key, before, engine._epsilon)
            columns = weights.column[word_topics(corpus.arrays, before)]
            rested += np.count_nonzero(columns >= weights.sizes[0])
            pass_once(engine, key)
            there = documents_of(engine)
            g, key = Given.of(there._last[1]), key._replace(move=DOCUMENTS)
            counts, sizes, state = there._counts, there.table_sizes, engine.state
            assert broken_invariants(corpus.arrays, state) == []
            all_columns, all_sizes = [], []
            for j, words in enumerate(documents):
                own = slice(corpus.doc_ptr[j], corpus.doc_ptr[j + 1])
                z = columns[own].tolist()
                if len(words) > long:
                    z = draw_long(words, z, g, key, j, passes, gammas)
                else:
                    z = draw(words, z, g, counter_key(key, "words"), j, passes)
                t_ji, k_jt = seat(z, g, counter_key(key, "seats"), j)
                assert state.t_ji[own].tolist() == t_ji
                assert counts.stored[state.k_jt[own][: state.m_j[j]]].tolist() == k_jt
                most = max(most, len(set(z)))
                all_columns += z
                all_sizes += np.bincount(t_ji).tolist()
            expected = counted(corpus.x, np.array(all_columns, int), n_terms, counts.stride)
            assert_array_equal(counts.array, expected)
            assert_array_equal(sizes, np.bincount(all_sizes, minlength=sizes.size))
    return rested, most


def gammas(key, item, parts, shapes):
    return gpu_kernels.gammas(
        host(), key, np.full(len(parts), item), np.array(parts), np.array(shapes)
    ).tolist()


@settings(max_examples=40)
@given(
    corpora(max_length=12),
    CONCENTRATIONS,
    SEEDS,
    st.integers(1, 20),
    st.sampled_from([0.3, 0.05, 0.001]),
    st.integers(1, 3),
    st.sampled_from([0, 3, layout.LONG]),
)
def test_the_pass_is_that_of_its_twin(corpus, at, seed, start, epsilon, passes, long):
    compare_pass(*corpus, at, seed, start, epsilon, passes, long=long)


@pytest.mark.parametrize("long", [0, 15, layout.LONG])
def test_the_pass_with_many_topics(long):
    """More topics in a document than fast memory has room for, and some that rest."""
    rng = np.random.default_rng(2)
    documents = [rng.integers(0, 9, n).tolist() for n in (40, 3, 0, 21, 12, 16, *[NEAR + 1] * 5)]
    rested, most = compare_pass(documents, 9, Concentrations(20.0, 20.0, 0.5), 3, 60, 0.01, 2, long=long)
    assert rested > 0
    assert most > 2 * NEAR


def test_documents_whose_words_all_have_a_topic_of_their_own():
    """A list is full then, and a topic that is new takes the place of the word's old one."""
    rng = np.random.default_rng(3)
    documents = [rng.integers(0, 9, n).tolist() for n in [NEAR + 2] * 33 + [NEAR + 1] * 33]
    _, most = compare_pass(documents, 9, Concentrations(300.0, 300.0, 1.0), 3, 500, 1e-4, 1)
    assert most == NEAR + 2


# ---------------------------------------------------------------- what the coordinator asks for


def opened(seed, blocks=None, long=layout.LONG, resident=None):
    """Return documents, their state, and a partition opened for collapsed moves, which has them."""
    rng = np.random.default_rng(seed)
    lengths = rng.permutation([0, 1, 1, 30, 0, *rng.integers(1, 25, 40)])
    corpus = corpus_of([rng.integers(0, 12, n).tolist() for n in lengths], 12)
    engine = engine_of(corpus, Concentrations(4.0, 3.0, 0.5), seed, 8)
    pass_once(engine, Key(seed, 0, 1, 0))
    state = engine.state
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "LONG", long)
        if blocks is not None:
            patch.setattr(module, "blocks_for", lambda *_, **__: (blocks, resident))
        place = Range(0, 0, int(lengths.max()))
        partition = module.CudaPartition(corpus.arrays, place, 1, True, module.MemoryShare(1), host)
        partition._host.state = state
        partition._to_gpu(int(state.totals[TOPICS])).open(state.n_k.size)
    return corpus.arrays, state, partition


WAYS = [{}, {"blocks": [0, 3, 3, 20, 45]}, {"long": 8}, {"long": 0, "blocks": [0, 11, 45], "resident": 1}]


def assert_same_tables(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        for a, b in zip(one, other, strict=True):
            assert_array_equal(a, b)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("way", WAYS)
def test_tables_are_those_that_the_cpu_lists(way, threads):
    corpus, state, own = opened(5, **way)
    own.use_threads(threads)
    held = HeldTables(corpus, state)
    n_topics = int(state.totals[TOPICS])
    some = np.random.default_rng(0).permutation(n_topics)
    assert_same_tables(own.tables_of(some), held.tables_of(some))
    words = np.random.default_rng(1).integers(0, corpus.x.size, 200)
    assert_same_tables([own.tables_of_words(words)], [held.tables_of_words(words)])


@pytest.mark.parametrize("way", WAYS)
def test_relabelled_tables(way):
    corpus, state, own = opened(6, **way)
    state, there = copy_state(state), own._on_gpu()
    held = HeldTables(corpus, state)
    n_topics = int(state.totals[TOPICS])
    far = there._counts.stride + 70  # beyond the room of the counts
    for step, topic in enumerate([0, 1, n_topics - 1, far, 2, far]):
        (tables,) = held.tables_of(np.array([step % n_topics]))
        moved = tables.slot[::2]
        own.relabel(moved, topic)
        held.relabel(moved, topic)
        topics = np.array([*range(n_topics), far])
        assert_same_tables(own.tables_of(topics), held.tables_of(topics))
    z = word_topics(corpus, state)
    assert_array_equal(there._counts.array, counted(corpus.x, z, corpus.n_terms, there._counts.stride))
    assert there._counts.stride > far
    live = np.unique(z)
    there.close(live)
    sizes = there.table_sizes
    assert_array_equal(sizes, np.bincount(state.n_jt[state.n_jt > 0], minlength=sizes.size))
    seats = there.seating()
    assert_array_equal(seats["t_ji"], state.t_ji)
    is_table = state.n_jt > 0
    assert_array_equal(live[seats["k_jt"]][is_table], state.k_jt[is_table])


@pytest.mark.parametrize("way", WAYS)
def test_documents_that_come_back_in_another_way(way):
    """Those whose turn it is get the seats of another state."""
    corpus, state, partition = opened(7, **way)
    _, other, _ = opened(7)
    other, there = copy_state(other), partition._on_gpu()
    rng = np.random.default_rng(0)
    for j, begin in enumerate(corpus.doc_ptr[:-1]):  # topics as they never were, some beyond the room
        other.k_jt[begin : begin + other.m_j[j]] = rng.integers(0, 60, other.m_j[j])
    visited = []
    for turn in range(3):
        taken = there.take(turn, 3)
        numbers = np.concatenate([own.numbers for own in taken])
        visited += numbers.tolist()
        words = np.concatenate([np.arange(*corpus.doc_ptr[j : j + 2]) for j in numbers]).astype(int)
        for name in ("t_ji", "k_jt", "n_jt"):
            found = np.concatenate([getattr(own, name) for own in taken])
            used = np.concatenate([own.n_jt for own in taken]) > 0 if name != "t_ji" else slice(None)
            assert_array_equal(found[used], getattr(state, name)[words][used])
        assert_array_equal(np.concatenate([own.x for own in taken]), corpus.x[words])
        if turn == 2:
            break  # these stay as they are
        seats = type(taken[0])(*(np.concatenate(parts) for parts in zip(*taken, strict=True)))
        seats = seats._replace(**{name: getattr(other, name)[words] for name in ("t_ji", "k_jt", "n_jt")})
        there.put(seats._replace(m_j=other.m_j[numbers]), taken)
        state.t_ji[words], state.k_jt[words], state.n_jt[words] = seats.t_ji, seats.k_jt, seats.n_jt
        state.m_j[numbers] = other.m_j[numbers]
    assert sorted(visited) == list(range(corpus.doc_ptr.size - 1))
    z = word_topics(corpus, state)
    assert_array_equal(there._counts.array, counted(corpus.x, z, corpus.n_terms, there._counts.stride))
    live = np.unique(z)
    there.close(live)
    seats = there.seating()
    assert_array_equal(seats["t_ji"], state.t_ji)
    assert_array_equal(seats["m_j"], state.m_j)
    assert_array_equal(live[seats["k_jt"][state.n_jt > 0]], state.k_jt[state.n_jt > 0])
