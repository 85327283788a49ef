"""Compiling on two cores: the other process compiles for the types that chains have, or nobody misses it."""

import io
import subprocess
import sys
import time

import pytest
from numba.core import event

from franchise import Chain, Schedule, SplitMerge
from franchise._jit import kernel
from franchise.corpus import planted
from franchise.engines import compiling
from franchise.engines.compiling import (
    CompilingWatch,
    is_compiled,
    trials_compiled_ahead,
    types_of_trials,
    wait_for_trials,
)
from franchise.sampling.run import run_chains
from franchise.sampling.terminal import LogMonitor


@pytest.fixture(scope="module")
def corpus():
    return planted(n_documents=20, document_length=20, n_topics=3, n_terms=30, seed=1).corpus


def a_chain(corpus, engine="collapsed"):
    return Chain(
        corpus, schedule=Schedule(sweeps=2, burn_in=1, split_merge=SplitMerge()), engine=engine, start="one"
    )


@pytest.fixture
def nothing_compiled(monkeypatch):
    monkeypatch.setattr(compiling, "is_cached", lambda _: False)


def program(monkeypatch, code):
    """Let the other process run this instead."""
    monkeypatch.setattr(compiling, "_PROGRAM", code)


@pytest.mark.parametrize("engine", ["collapsed", "parallel"])
def test_the_types_are_those_of_chains(corpus, engine):
    if engine == "parallel":  # which does not visit every document of a large corpus in every sweep
        corpus = planted(n_documents=600, document_length=100, n_topics=3, n_terms=30, seed=1).corpus
    a_chain(corpus, engine).run()
    for move, types in types_of_trials(engine):
        assert types in move.signatures  # beside those of other tests in this process


@pytest.mark.usefixtures("nothing_compiled")
def test_the_other_process_is_waited_for(tmp_path, monkeypatch):
    program(monkeypatch, f"import time; time.sleep(0.5); open({str(tmp_path / 'done')!r}, 'w')")
    with trials_compiled_ahead("collapsed"):
        assert not (tmp_path / "done").exists()
        wait_for_trials()
        assert (tmp_path / "done").exists()
    wait_for_trials()  # there is nothing to wait for any more


@pytest.mark.usefixtures("nothing_compiled")
def test_an_error_does_not_wait_for_it(monkeypatch):
    program(monkeypatch, "import time; time.sleep(60)")
    began = time.monotonic()
    with pytest.raises(ValueError, match="wrong"), trials_compiled_ahead("collapsed"):
        raise ValueError("wrong")
    assert time.monotonic() - began < 30


@pytest.mark.usefixtures("nothing_compiled")
def test_a_process_that_hangs_is_ended(monkeypatch):
    monkeypatch.setattr(compiling, "_PATIENCE", 0.1)
    program(monkeypatch, "import time; time.sleep(600)")
    with trials_compiled_ahead("collapsed"):
        process = compiling._process
        wait_for_trials()
        assert process.wait(30) != 0
        assert compiling._process is None


@pytest.mark.usefixtures("nothing_compiled")
@pytest.mark.parametrize("executable", [None, "", sys.executable + "-that-is-missing", "/usr/bin/blender"])
def test_without_another_process_all_is_made_here(corpus, executable, monkeypatch):
    monkeypatch.setattr(sys, "executable", executable)
    chain = a_chain(corpus)
    assert run_chains([chain], jobs=2) == "complete"
    assert chain.sweeps_done == 2


@pytest.mark.usefixtures("nothing_compiled")
def test_a_process_that_fails_is_not_missed(corpus, monkeypatch):
    program(monkeypatch, "raise SystemExit(1)")
    chain, alone = a_chain(corpus), a_chain(corpus)
    assert run_chains([chain], jobs=2) == "complete"
    alone.run()
    assert chain.trace["log_joint"].tolist() == alone.trace["log_joint"].tolist()


@pytest.mark.usefixtures("nothing_compiled")
def test_one_core_and_other_engines_have_no_other_process(corpus, monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a process was started"))
    run_chains([a_chain(corpus)], jobs=1)
    with trials_compiled_ahead("cells"):
        pass


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
    monkeypatch.setattr("franchise.sampling.terminal._PATIENCE", 0.01)
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
