"""Chains that share a GPU: in threads, and leaving it to others between sweeps; the same bits."""

import pickle
import threading

import pytest

from franchise import Chain, GpuError, Priors
from franchise.corpus import planted
from franchise.engines import kinds
from franchise.engines.partitions.cuda import device
from franchise.sampling import Timetable
from franchise.sampling.run import run_chains
from tests.host_device import HostDevice, needs_compiler
from tests.raising import raises
from tests.reference.chains import differences
from tests.reference.gpu_runs import on_device
from tests.reference.gpus import fake_cupy, let_there_be_engine, with_cupy

CORPUS = planted(n_topics=4, n_terms=40, n_documents=40, document_length=20, seed=1).corpus
SWEEPS = 12


def chain(number):
    schedule = Timetable(sweeps=SWEEPS, burn_in=4, thin=2)
    return Chain(CORPUS, Priors(), schedule, random_state=3, number=number, init="one", engine="gpu")


@pytest.fixture(params=["small", "large"])
def on_host(request, monkeypatch):
    if request.param == "large":  # collapsed moves are made in every tenth sweep only
        monkeypatch.setattr(kinds, "MANY_WORDS", 10)
    with on_device(HostDevice()):
        yield


def is_on_gpu(chain):
    return any(partition._there for partition in chain.engine._pool.partitions)


@needs_compiler
@pytest.mark.usefixtures("on_host")
def test_resting_changes_no_bit():
    one, other = chain(0), chain(0)
    one.run()
    other.start()
    for _ in range(SWEEPS):
        other.sweep()
        assert is_on_gpu(other)
        copy = pickle.loads(pickle.dumps(other))
        other.rest()
        for resting in (other, copy):
            assert resting.engine.counts().topic_terms.sum() == CORPUS.n_words
        assert not is_on_gpu(other)
    assert not differences(one, other)


@needs_compiler
@pytest.mark.usefixtures("on_host")
def test_chains_in_threads_change_no_bit_and_leave_the_gpu_in_the_end(monkeypatch):
    monkeypatch.setattr("franchise.sampling.run._SECONDS_A_LONG_TURN", 0.0)
    together, alone = [chain(i) for i in range(3)], [chain(i) for i in range(3)]
    run_chains(together, jobs=4)
    for one, other in zip(together, alone, strict=True):
        assert not is_on_gpu(one)
        other.run()
        assert not differences(one, other)


def test_chains_are_on_the_gpu_that_the_caller_has_chosen(monkeypatch):
    cupy, used = fake_cupy(devices=2), []
    let_there_be_engine(monkeypatch)

    def note(_):
        used.append((threading.current_thread(), cupy.cuda.runtime.getDevice()))

    with with_cupy(monkeypatch, cupy):
        cupy.cuda.Device(1).use()
        run_chains([chain(i) for i in range(2)], jobs=2, callback=note)
    threads, devices = zip(*used, strict=True)
    assert threading.main_thread() not in threads
    assert set(devices) == {1}


def test_kernels_are_compiled_once_for_each_gpu(monkeypatch):
    cupy, made = fake_cupy(devices=2), []
    monkeypatch.setattr(device, "Gpu", lambda: made.append(cupy.cuda.runtime.getDevice()))
    device._gpu_numbered.cache_clear()
    with with_cupy(monkeypatch, cupy):
        for number in (0, 1, 0, 1):
            cupy.cuda.Device(number).use()
            device.gpu()
    device._gpu_numbered.cache_clear()
    assert made == [0, 1]


def test_a_start_without_a_gpu(monkeypatch):
    with with_cupy(monkeypatch, None):
        made = chain(0)
        with raises(GpuError, "missing-package", "CuPy"):
            made.start()
