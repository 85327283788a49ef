"""Compiling: whether it has been done, and how long it takes."""

import io
import time

import pytest
from numba.core import event

from franchise import Chain, SplitMerge
from franchise._jit import kernel
from franchise._progress import LogMonitor
from franchise.corpus import planted
from franchise.engines import compiling
from franchise.engines.compiling import CompilingWatch, is_compiled
from franchise.sampling import Timetable


@pytest.fixture(scope="module")
def corpus():
    return planted(n_documents=20, document_length=20, n_topics=3, n_terms=30, seed=1).corpus


def a_chain(corpus):
    return Chain(
        corpus, schedule=Timetable(sweeps=2, burn_in=1, split_merge=SplitMerge()), init="one", random_state=0
    )


def test_what_is_compiled_is_known(corpus, tmp_path, monkeypatch):
    a_chain(corpus).run()
    assert is_compiled()
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))

    @kernel
    def double(x):
        return 2 * x

    monkeypatch.setattr(compiling, "_LONGEST", (double,))
    assert not is_compiled()
    assert double(2) == 4
    assert is_compiled()


def test_a_watch_sees_what_is_compiled():
    watch = CompilingWatch()
    watch.begin()
    assert not watch.is_compiling
    assert watch.seconds == 0.0
    with event.trigger_event("numba:compile"), event.trigger_event("numba:compile"):
        time.sleep(0.01)
        assert watch.is_compiling
    assert not watch.is_compiling
    assert watch.seconds >= 0.01
    watch.end()
    with event.trigger_event("numba:compile"):
        assert not watch.is_compiling


def test_a_log_says_that_and_how_long_it_compiles(corpus, monkeypatch):
    monkeypatch.setattr("franchise._progress._PATIENCE", 0.01)
    stream, chain = io.StringIO(), a_chain(corpus)
    monitor = LogMonitor(stream, seconds=0.0)
    monitor.begin([chain])
    with event.trigger_event("numba:compile"):
        time.sleep(0.02)
        monitor.look()
        monitor.look()
    chain.start()
    monitor.swept(chain)
    assert stream.getvalue().count("compil") == 1
    chain.sweep()
    monitor.swept(chain)
    monitor.end()
    first, *_, last = [line for line in stream.getvalue().splitlines() if "compil" in line]
    assert first.startswith("compiling the sampler")
    assert last.startswith("compiled in 0 s")
