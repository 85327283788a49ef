"""What documents will take on a GPU is no less than what they do take."""

import pickle
import tracemalloc
from bisect import bisect_left

import numpy as np
import pytest

from franchise.corpus import Corpus
from franchise.engines import ENGINES, EngineSettings, kinds
from franchise.engines.partitions.cuda import documents, layout, partition
from franchise.engines.partitions.cuda.documents import GpuDocuments, blocks_for
from franchise.engines.pools import ranges
from franchise.errors import GpuError
from franchise.model import Priors
from franchise.random import Key
from tests.host_device import HostDevice, needs_compiler
from tests.raising import raises
from tests.reference.gpu_runs import documents_of, on_device

pytestmark = needs_compiler
SPARE = 500_000
LONG = 40


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    for module in (layout, documents):
        monkeypatch.setattr(module, "LONG", LONG)
    monkeypatch.setattr(documents, "_SPARE", SPARE)
    monkeypatch.setattr(kinds, "MANY_WORDS", 10)  # no collapsed moves, for which documents go elsewhere


def corpus_of(n_documents, length):
    x = np.random.default_rng(0).integers(0, 20, n_documents * length)
    return Corpus(x, np.arange(0, x.size + 1, length), [str(v) for v in range(20)])


def stays(there):
    """Return the bytes that documents have on a GPU between calls."""
    (block,) = there._blocks
    held = [there._counts.array, block.base, block.length, block.number, block.m_j, block._n_listed]
    held += [*block._arrays.values(), *(block._long or ())]
    return sum(array.nbytes for array in held if isinstance(array, np.ndarray))


def taken(corpus, n_topics, monkeypatch):
    """Return the most bytes that a pass and its seats take, and the columns that there were."""
    engine, most = ENGINES["gpu"].new(corpus, EngineSettings(Priors())), []

    def counted(call):
        def count(there, *arguments):
            tracemalloc.start()
            before = stays(there)
            answer = call(there, *arguments)
            most.append(before + tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
            return answer

        return count

    with on_device(HostDevice()):
        engine.start(Key(0, 0, 0, 0), n_topics)
    with monkeypatch.context() as patch:
        for name in ("update", "_store_seating"):
            patch.setattr(GpuDocuments, name, counted(getattr(GpuDocuments, name)))
        engine.sweep(Key(0, 0, 1, 0), None)
        documents_of(engine)._store_seating()
    assert len(most) == 2
    return max(most), documents_of(engine)._counts.stride


def needed(corpus, columns):
    """Return the memory with which all documents stay on a GPU, with room for `columns` columns."""

    def fits(free):
        try:
            return blocks_for(free, corpus.arrays, columns // 2)[1] == 1
        except GpuError:
            return False

    return bisect_left(range(1 << 40), True, key=fits)


@pytest.mark.parametrize(
    ("n_documents", "length", "n_topics"), [(1_000, LONG + 1, 500), (50, 10_000, 5), (10_000, LONG, 5)]
)
def test_what_is_needed_is_no_less_than_what_is_taken(monkeypatch, n_documents, length, n_topics):
    corpus = corpus_of(n_documents, length)
    most, columns = taken(corpus, n_topics, monkeypatch)
    assert most <= needed(corpus, columns) < 2 * most


def test_blocks_that_come_and_go_leave_long_documents_behind(monkeypatch):
    """What a block keeps on the GPU is counted for every block."""
    monkeypatch.setattr(documents, "_WORDS_A_BLOCK", 5_000)
    corpus, n_topics = corpus_of(1_000, LONG + 1), 250
    everything = needed(corpus, 2 * n_topics) - SPARE
    blocks, resident = blocks_for(SPARE + everything // 2, corpus.arrays, n_topics)
    assert len(blocks) > 5
    assert 0 < resident < len(blocks) // 2
    with raises(GpuError, "gpu-memory", "500 topics", "0.0 GB"):
        blocks_for(SPARE + everything // 10, corpus.arrays, 500)


class Crowded(HostDevice):
    """Has memory of which documents take half of what they are given."""

    total = 1 << 32

    def __init__(self):
        super().__init__()
        self.given = []

    def free_bytes(self):
        return self.total - sum(self.given) // 2


def test_partitions_together_are_not_given_more_than_there_is(monkeypatch):
    """Those that come later must not count as free what earlier ones need when they write their seats."""
    device, fit = Crowded(), partition.blocks_for

    def watched(free, *arguments, **others):
        device.given.append(free)
        return fit(free, *arguments, **others)

    monkeypatch.setattr(partition, "blocks_for", watched)
    monkeypatch.setattr(ranges, "MOST_WORDS", 500)
    engine = ENGINES["gpu"].new(corpus_of(200, 10), EngineSettings(Priors()))
    assert engine._pool.size == 4
    with on_device(device):
        engine.start(Key(0, 0, 0, 0), 5)
        engine.sweep(Key(0, 0, 1, 0), None)
        assert device.given == [device.total // 4] * 4
        engine.rest()  # what is free is looked up again when they come back
        device.given, device.total = [], 1 << 33
        engine.sweep(Key(0, 0, 2, 0), None)
        assert device.given == [(1 << 33) // 4] * 4
        copied = pickle.loads(pickle.dumps(engine))
        device.given, device.total = [], 1 << 32
        copied.sweep(Key(0, 0, 3, 0), None)
        assert device.given == [(1 << 32) // 4] * 4
