"""On a real GPU: the same bits as on the host, and the exact posterior.

They run where there is a GPU, `make test-gpu`; `-k same_bits` is soon done, also under compute-sanitizer.
"""

from functools import cache

import numpy as np
import pytest

from franchise.corpus import planted
from franchise.engines import kinds
from franchise.engines.partially_collapsed import PartiallyCollapsedEngine
from franchise.engines.partitions.cuda import device as device_module
from franchise.engines.partitions.cuda import partition
from franchise.engines.partitions.cuda.availability import problem
from franchise.engines.partitions.cuda.device import Gpu
from franchise.engines.partitions.cuda.source import kernel_source
from franchise.engines.pools import ranges
from tests.host_device import COMPILER, HostDevice
from tests.reference import gpu_kernels
from tests.reference.gpu_runs import CASES, WAYS, Case, cases, on_device, seldom, steps_of, visited
from tests.statistical import test_engines_agree as agree
from tests.statistical.test_enumerated_posterior import BURN_IN, CORPORA
from tests.statistical.test_enumerated_posterior import compare as compare_with_posterior

SEED = 20120109
SWEEPS = 7
REASON = problem()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(REASON is not None, reason=str(REASON))]
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler on this machine")


@cache
def with_open_kernels(kind):
    source = gpu_kernels.with_open_kernels(kernel_source())
    if kind == "host":
        return HostDevice(source)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(device_module, "kernel_source", lambda: source)
        return Gpu()


@cache
def gpu():
    return Gpu()


def assert_same(on_gpu, on_host):
    for sweep, (one, other) in enumerate(zip(on_gpu, on_host, strict=True), 1):
        different = [name for name in other if one[name] != other[name]]
        assert not different, f"sweep {sweep}: {', '.join(different)}"


# ---------------------------------------------------------------- bits


@needs_compiler
def test_same_bits_of_random_numbers_and_functions():
    rng, found = np.random.default_rng(1), []
    keys, counters = rng.integers(0, 2**64, 20_000, np.uint64), rng.integers(0, 2**32, (20_000, 4))
    x = np.concatenate([rng.uniform(-720, 700, 20_000), 10.0 ** rng.uniform(-300, 2.8, 50_000)])
    shapes = 10.0 ** rng.uniform(-4, 6, 100_000)
    items = np.arange(shapes.size)
    for kind in ("gpu", "host"):
        device = with_open_kernels(kind)
        numbers = [gpu_kernels.uniforms(device, keys, counters), gpu_kernels.functions(device, x)]
        numbers.append(gpu_kernels.gammas(device, 12345, items, items % 7, shapes))
        for words, mass, known in ((2, 0.3, 3), (30, 2.0, 31), (900, 0.8, 257), (900, 60.0, 10)):
            numbers += gpu_kernels.seats(device, 99, 500, words, mass, known)
        found.append([array.tobytes() for array in numbers])
    assert found[0] == found[1]


@needs_compiler
@pytest.mark.parametrize("case", CASES)
def test_same_bits_as_on_the_host(case):
    one = cases()[case]
    assert_same(steps_of(one, gpu(), SWEEPS), steps_of(one, HostDevice(), SWEEPS))


@pytest.mark.parametrize(("cuts", "resident"), [((3,), 1), ((4, 40), 0)])
@pytest.mark.parametrize("case", ["odd lengths, many topics", "mixed"])
def test_same_bits_in_blocks(case, cuts, resident, monkeypatch):
    one = cases()[case]
    in_one_block = steps_of(one, gpu(), SWEEPS)
    blocks = [0, *cuts, one.corpus.doc_ptr.size - 1]
    monkeypatch.setattr(partition, "blocks_for", lambda *_, **__: (blocks, resident))
    assert_same(steps_of(one, gpu(), SWEEPS), in_one_block)


@pytest.mark.parametrize("case", ["plain", "fitted", "odd lengths, many topics", "long", "mixed"])
def test_same_bits_in_partitions(case, monkeypatch):
    """As if 32 bits counted 720 words."""
    one = cases()[case]
    in_one_partition = steps_of(one, gpu(), SWEEPS)
    monkeypatch.setattr(ranges, "MOST_WORDS", 720)
    assert_same(steps_of(one, gpu(), SWEEPS), in_one_partition)


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("case", ["odd lengths, many topics", "mixed"])
def test_same_bits_for_any_grid(case, blocks, monkeypatch):
    one = cases()[case]
    expected, run = steps_of(one, gpu(), SWEEPS), Gpu._run

    def in_few_blocks(device, kernel, n_blocks, *rest):
        run(device, kernel, min(n_blocks, blocks), *rest)

    monkeypatch.setattr(Gpu, "_run", in_few_blocks)
    monkeypatch.setattr(Gpu, "threads_for", lambda *_: blocks * device_module.BLOCK)
    assert_same(steps_of(one, gpu(), SWEEPS), expected)


@pytest.mark.parametrize("case", ["plain", "mixed"])
def test_same_bits_again(case):
    one = cases()[case]
    assert_same(steps_of(one, gpu(), SWEEPS), steps_of(one, Gpu(), SWEEPS))


@needs_compiler
def test_many_documents_have_the_bits_of_the_host():
    """Blocks beyond the first, neighbourhoods, queues of some length."""
    corpus = planted(n_topics=30, n_terms=5_000, n_documents=3_000, document_length=100, seed=3).corpus
    one = Case(corpus, cases()["sampled eta"].priors, "fitted", every=2)
    assert_same(steps_of(one, gpu(), 4), steps_of(one, HostDevice(), 4))


# ---------------------------------------------------------------- distributions


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CORPORA)
def test_the_enumerated_posterior(name, way):
    """2,500 sweeps see a probability off by about 0.09."""
    posterior = CORPORA[name]
    numbers = visited(posterior, gpu(), SEED, 2_500, BURN_IN, 0.02, way)
    compare_with_posterior(posterior, numbers, posterior)


@pytest.mark.parametrize("name", CORPORA)
def test_the_enumerated_posterior_in_a_long_run(name):
    """10,000 sweeps, with topics that rest often, see a probability off by about 0.045."""
    posterior = CORPORA[name]
    numbers = visited(posterior, gpu(), SEED + 1, 10_000, BURN_IN, 0.1)
    compare_with_posterior(posterior, numbers, posterior)


class OnGpu(PartiallyCollapsedEngine):
    def __init__(self, corpus, settings):
        super().__init__(kinds.KINDS["gpu"], corpus, settings)


def test_topics_and_joint_of_the_collapsed_engine():
    """5,000 sweeps see a probability off by 0.11."""
    with seldom(every=3), on_device(gpu()), pytest.MonkeyPatch.context() as patch:
        patch.setattr(kinds, "COLLAPSED_WORDS", 18)
        agree.compare(SEED, 5_000, (2.0, 4.0), OnGpu)
