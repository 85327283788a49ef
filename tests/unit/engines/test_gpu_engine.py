"""Sweeps of the GPU engine on the host: the enumerated posterior, and the same bits however they are made."""

import pickle
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from franchise import Priors
from franchise.engines import ENGINES, EngineSettings, kinds
from franchise.engines.collapsed import counts_of
from franchise.engines.partitions.cuda import documents, partition
from franchise.engines.partitions.cuda.documents import GpuDocuments
from franchise.engines.partitions.cuda.source import kernel_source
from franchise.engines.pools import ranges
from franchise.errors import GpuError
from franchise.model import broken_invariants, joint
from franchise.model.packing import packed, unpacked
from franchise.model.state import word_topics
from tests.host_device import HostDevice, needs_compiler
from tests.raising import raises
from tests.reference.franchise import corpus_of
from tests.reference.gpu import counted
from tests.reference.gpu_runs import (
    CASES,
    WAYS,
    Case,
    all_of,
    cases,
    documents_of,
    new_engine,
    on_device,
    seldom,
    steps_of,
    sweep_once,
    visited,
)
from tests.statistical.test_enumerated_posterior import BURN_IN, CORPORA, compare

pytestmark = needs_compiler
SWEEPS = 7


@pytest.fixture(params=CASES)
def case(request):
    return request.param


@cache
def in_one_block(name):
    return steps_of(cases()[name], HostDevice(), SWEEPS)


# ---------------------------------------------------------------- states


@pytest.mark.parametrize("merges", [(), (1, 2, 3)], ids=["", "with merges"])
def test_every_state_is_whole(case, merges):
    """Seats and counts are those of a recount after every kind of sweep, and the joint that of the state."""
    one = cases()[case]
    with seldom(one.way, one.every), on_device(HostDevice()):
        engine = new_engine(one)
        for sweep in range(SWEEPS + 1):
            if sweep > 0:
                swept = sweep_once(engine, sweep, sweep in merges)
                assert sweep in merges or not swept.merged
            found_joint, n_topics = engine._joint(), engine.n_topics
            sizes, times = engine._sizes.copy()
            state = engine.state
            assert broken_invariants(one.corpus.arrays, state) == []
            expected = np.unique(state.n_jt[state.n_jt > 0], return_counts=True)
            assert_array_equal((sizes, times), expected)
            np.testing.assert_allclose(
                found_joint, joint(one.corpus.arrays, state, one.priors), rtol=1e-9, atol=1e-9
            )
            counts = documents_of(engine)._counts
            z = word_topics(one.corpus.arrays, state)
            expected = counted(one.corpus.x, z, one.corpus.n_terms, n_topics)
            assert_array_equal(counts.array[:, counts.stored], expected)
            assert counts.array.sum() == one.corpus.x.size
            found, recounted = engine.counts(), counts_of(one.corpus.arrays, state)
            assert_array_equal(found.names, recounted.names)
            assert_array_equal(found.m_k, recounted.m_k)
            assert_array_equal(found.topic_terms.toarray(), recounted.topic_terms.toarray())
            assert_array_equal(found.document_topics.toarray(), recounted.document_topics.toarray())
            assert found.document_topics.has_sorted_indices


# ---------------------------------------------------------------- thousands of topics


def steps_to(engine, sweeps):
    for sweep in range(1, sweeps + 1):
        sweep_once(engine, sweep)


def test_thousands_of_topics():
    """More than 4,096, in most documents as many as they have words: every state is whole."""
    rng = np.random.default_rng(2)
    corpus = corpus_of([rng.integers(0, 30, n).tolist() for n in rng.integers(1, 120, 250)], 30)
    one = Case(corpus, Priors(alpha=300.0, gamma=30_000.0, eta=0.3), 4_200)
    with seldom(one.way, one.every), on_device(HostDevice()):
        engine = new_engine(one)
        for sweep in range(1, one.every + 2):
            sweep_once(engine, sweep)
            assert engine.n_topics > 4_096
            state = engine.state
            assert broken_invariants(corpus.arrays, state) == []
            np.testing.assert_allclose(engine._joint(), joint(corpus.arrays, state, one.priors), rtol=1e-9)


def test_more_topics_than_there_is_room_for(monkeypatch):
    monkeypatch.setattr(documents, "MOST_COLUMNS", 20)
    one = cases()["many topics"]
    with on_device(HostDevice()), seldom(one.way, every=1):
        with raises(GpuError, "too-many-topics", "20 topics", "40 now", "engine='parallel'"):
            new_engine(one)
        engine = new_engine(one._replace(start="one"))
        with raises(GpuError, "too-many-topics", "20 topics"):
            steps_to(engine, SWEEPS)


# ---------------------------------------------------------------- the same bits


def test_taken_up_after_any_sweep(case):
    one = cases()[case]
    with seldom(one.way, one.every), on_device(HostDevice()):
        engine = new_engine(one)
        for sweep in range(1, SWEEPS + 1):
            arrays, epsilon = packed(one.corpus.arrays, engine.state), engine._epsilon
            engine = ENGINES["gpu"].new(one.corpus, EngineSettings(one.priors, capacity=3))
            engine._epsilon = epsilon
            engine.seat(unpacked(one.corpus.arrays, arrays))
            sweep_once(engine, sweep)
            assert all_of(engine) == in_one_block(case)[sweep - 1]


@pytest.mark.parametrize("case", ["plain", "odd lengths, many topics", "mixed"])
def test_copies_go_on_alike(case):
    one = cases()[case]
    with seldom(one.way, one.every), on_device(HostDevice()):
        engine = new_engine(one)
        for sweep in range(1, SWEEPS + 1):
            copy = pickle.loads(pickle.dumps(engine))
            sweep_once(engine, sweep)
            sweep_once(copy, sweep)
            assert all_of(copy) == all_of(engine) == in_one_block(case)[sweep - 1]
            if sweep % 2:
                engine = copy


@pytest.mark.parametrize("case", ["plain", "odd lengths, many topics", "mixed"])
def test_nobody_looks(case):
    """Whether someone asks for the state after a sweep changes no bit."""
    one = cases()[case]
    with seldom(one.way, one.every), on_device(HostDevice()):
        engine = new_engine(one)
        for sweep in range(1, SWEEPS + 1):
            sweep_once(engine, sweep)
        assert all_of(engine) == in_one_block(case)[-1]


@pytest.mark.parametrize("threads", [2, 5])
@pytest.mark.parametrize("case", ["collapsed moves in every sweep", "odd lengths"])
def test_any_number_of_threads(case, threads):
    one = cases()[case]
    with seldom(one.way, one.every), on_device(HostDevice()):
        engine = new_engine(one, threads=threads)
        for sweep in range(1, SWEEPS + 1):
            sweep_once(engine, sweep)
        assert all_of(engine) == in_one_block(case)[-1]


@pytest.mark.parametrize(("cuts", "resident"), [((), 0), ((3,), 1), ((4, 40), 0), ((4, 40), None)])
@pytest.mark.parametrize("case", ["odd lengths", "odd lengths, many topics", "topics rest", "long", "mixed"])
def test_any_blocks(case, cuts, resident, monkeypatch):
    one = cases()[case]
    blocks = [0, *cuts, one.corpus.doc_ptr.size - 1]
    monkeypatch.setattr(partition, "blocks_for", lambda *_, **__: (blocks, resident))
    assert steps_of(one, HostDevice(), SWEEPS) == in_one_block(case)


LARGE = [name for name, one in cases().items() if one.corpus.n_words > 720]


@pytest.mark.parametrize(("case", "words"), [(name, 720) for name in LARGE] + [("many topics", 90)])
def test_any_partitions(case, words, monkeypatch):
    """Neither does it matter among how many partitions on one GPU the documents are divided."""
    monkeypatch.setattr(ranges, "MOST_WORDS", words)
    one = cases()[case]
    with seldom(one.way, one.every), on_device(HostDevice()):
        assert new_engine(one)._pool.size > (1 if words == 720 else 10)
    assert steps_of(one, HostDevice(), SWEEPS) == in_one_block(case)


def test_documents_in_groups(monkeypatch):
    """How many documents are gone through at once changes no bit."""
    monkeypatch.setattr("franchise.engines.partitions.cuda.block._WORDS_AT_ONCE", 500)
    name = "odd lengths, many topics"
    assert steps_of(cases()[name], HostDevice(), SWEEPS) == in_one_block(name)


def test_topics_beyond_the_room_of_the_counts(monkeypatch):
    """Topics that are born in collapsed moves find room, however many."""
    grown = []
    make_room = GpuDocuments._make_room

    def watched(there, n_topics):
        before = there._counts.stride
        make_room(there, n_topics)
        grown.append(there._counts.stride > before)

    monkeypatch.setattr(GpuDocuments, "_make_room", watched)
    one = cases()["collapsed moves in every sweep"]
    one = one._replace(priors=Priors(alpha=200.0, gamma=500.0, eta=1.0), epsilon=0.99)  # births there alone
    with seldom("regular", 1), on_device(HostDevice()), pytest.MonkeyPatch.context() as patch:
        patch.setattr(kinds, "COLLAPSED_WORDS", 10**6)
        engine = new_engine(one)
        for sweep in range(1, 4):
            sweep_once(engine, sweep)
            assert broken_invariants(one.corpus.arrays, engine.state) == []
            z = word_topics(one.corpus.arrays, engine.state)
            counts = documents_of(engine)._counts
            expected = counted(one.corpus.x, z, one.corpus.n_terms, counts.stored.size)
            assert_array_equal(counts.array[:, counts.stored], expected)
    assert any(grown)


# ---------------------------------------------------------------- the enumerated posterior


def compare_run(name, seed, sweeps, way, device=None, epsilon=0.02):
    numbers = visited(CORPORA[name], device or HostDevice(), seed, sweeps, BURN_IN, epsilon, way)
    compare(CORPORA[name], numbers, CORPORA[name])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "way"), [("overlap", "regular"), ("overlap", "long"), ("edges", "mixed")])
def test_short_run(name, way, seed):
    """3,000 sweeps see a probability off by about 0.08."""
    compare_run(name, seed, 3_000, way)


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", [0.1, 0.005])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CORPORA)
def test_long_run(name, way, seed, epsilon):
    """10,000 sweeps see a probability off by about 0.045."""
    compare_run(name, seed, 10_000, way, epsilon=epsilon)


# ---------------------------------------------------------------- errors, which the comparison must see

ERRORS = {
    "terms drawn without eta": ("(u32)v, (u32)c, eta + count)", "(u32)v, (u32)c, count > 0 ? count : 1e-9)"),
    "all of a document's words count": ("? 1u : 0u)) * (double)share", "? 0u : 0u)) * (double)share"),
    "terms drawn given a fifth of the words": ("eta + count);", "eta + 0.2 * count);"),
    "tables of another alpha": ("(double)(words - 1) / (mass[c] + (double)(words - 1))",
                                "(double)(words - 1) / (2.0 * mass[c] + (double)(words - 1))"),
    "the newest table takes all": ("while (one >= it.sizes[t * it.step])", "while (false)"),
    "mixtures without the weights of topics": ("mass[c] + (double)listed", "0.3 + (double)listed"),
    "mixtures given half of the words": ("mass[c] + (double)listed", "mass[c] + 0.5 * (double)listed"),
}  # fmt: skip
LONG_ONES = ("mixtures without the weights of topics", "mixtures given half of the words")


def with_error(name):
    before, after = ERRORS[name]
    assert kernel_source().count(before) == 1
    return HostDevice(kernel_source().replace(before, after))


# Events that a wrong pass never produces have no variance.
without_warning = pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")


def assert_seen(error, seed, sweeps):
    way = "long" if error in LONG_ONES else "regular"
    with pytest.raises(AssertionError, match="standard errors off"):
        compare_run("overlap", seed, sweeps, way, with_error(error))


@without_warning
@pytest.mark.parametrize("error", ["tables of another alpha"])
def test_it_sees_a_gross_error_at_once(error, seed):
    assert_seen(error, seed, 1_500)


@without_warning
@pytest.mark.statistical
@pytest.mark.parametrize("error", ERRORS)
def test_it_sees_every_error(error, seed):
    assert_seen(error, seed, 6_000)
