"""Which engine makes the sweeps of a run, how cores are shared, and what a long sweep shows of itself."""

import io
import pickle
import time
from copy import deepcopy
from types import SimpleNamespace

import numpy as np
import pytest

from franchise import HDPTopicModel, SettingsError, from_counts
from franchise._progress import LogMonitor, Progress
from franchise.corpus import planted, shard
from franchise.engines import GPU_WORDS, engine_for
from franchise.engines.partially_collapsed import PartiallyCollapsedEngine
from franchise.random import Key
from franchise.sampling.forecast import forecast
from franchise.sampling.run import run_chains, shares
from tests.raising import raises
from tests.settings import plan_of

CORPUS = planted(n_topics=3, n_terms=30, n_documents=30, document_length=12, seed=1).corpus
USUAL = {
    "eta": 0.1,
}
USUAL |= {"init": "one", "sweeps": 4, "burn_in": 2, "thin": 1, "warm_up": None, "split_merge": "always"}


def chains_of(engine, chains=2):
    return plan_of(**USUAL, chains=chains, engine=engine, seed=3).chains(CORPUS)


# ---------------------------------------------------------------- which engine


@pytest.mark.parametrize(
    ("name", "n_words", "keeps_cells", "expected"),
    [
        ("auto", 10, False, "collapsed"),
        ("auto", 999_999, True, "collapsed"),
        ("auto", 1_000_000, False, "parallel"),
        ("auto", 1_000_000, True, "cells"),
        ("collapsed", 10**9, False, "collapsed"),
        ("parallel", 1, True, "parallel"),
        ("cells", 1, False, "cells"),
    ],
)
def test_the_engine_goes_by_the_size_of_the_corpus(monkeypatch, name, n_words, keeps_cells, expected):
    monkeypatch.setattr("franchise.engines.problem", lambda: "there is none")
    assert engine_for(name, SimpleNamespace(n_words=n_words, keeps_cells=keeps_cells)) == expected


@pytest.mark.parametrize(
    ("name", "n_words", "keeps_cells", "expected"),
    [
        ("auto", GPU_WORDS, False, "gpu"),
        ("auto", 10**10, False, "gpu"),
        ("auto", GPU_WORDS, True, "cells"),
        ("auto", 10, False, "collapsed"),
        ("auto", min(GPU_WORDS, 10**6) - 1, False, "collapsed"),
        ("parallel", 10**10, False, "parallel"),
        ("collapsed", 10**10, False, "collapsed"),
    ],
)
def test_where_there_is_a_gpu(monkeypatch, name, n_words, keeps_cells, expected):
    monkeypatch.setattr("franchise.engines.problem", lambda: None)
    assert engine_for(name, SimpleNamespace(n_words=n_words, keeps_cells=keeps_cells)) == expected


def test_shards_go_to_a_gpu_too(monkeypatch, tmp_path):
    monkeypatch.setattr("franchise.engines.problem", lambda: None)
    monkeypatch.setattr("franchise.engines.GPU_WORDS", 1)
    assert engine_for("auto", shard(CORPUS, tmp_path / "shards", 2)) == "gpu"


def test_nobody_looks_for_a_gpu_that_is_not_wanted(monkeypatch):
    def never():
        raise AssertionError("asked")

    monkeypatch.setattr("franchise.engines.problem", never)
    sizes = {"keeps_cells": False}
    assert engine_for("auto", SimpleNamespace(n_words=GPU_WORDS - 1, **sizes)) != "gpu"
    assert engine_for("parallel", SimpleNamespace(n_words=GPU_WORDS, **sizes)) == "parallel"
    assert engine_for("auto", SimpleNamespace(n_words=GPU_WORDS, keeps_cells=True)) == "cells"


def test_chains_of_cells_that_start_apart():
    settings = USUAL | {"init": "apart"}
    chains = plan_of(**settings, chains=4, engine="cells", seed=3).chains(CORPUS)
    assert [chain.init for chain in chains] == ["one", "fitted", 50, 200]


def test_cells_cannot_be_seated_word_after_word(tmp_path):
    settings = {"init": "sequential", "sweeps": 2, "chains": 1}
    with raises(SettingsError, "conflicting-settings", "init='sequential'", "engine='cells'"):
        HDPTopicModel(engine="cells", **settings).fit(CORPUS, checkpoint_dir=tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_auto_takes_what_a_start_needs(monkeypatch):
    monkeypatch.setattr("franchise.engines._MANY_WORDS", 100)
    corpus = from_counts(np.full((4, 3), 50))
    assert corpus.keeps_cells
    settings = {"sweeps": 2, "chains": 1, "random_state": 0}
    for init, engine in (("sequential", "parallel"), ("one", "cells")):
        model = HDPTopicModel(init=init, **settings).fit(corpus)
        assert model.settings_["engine"] == model.chains_[0].engine_name == engine


def test_a_model_whose_threads_have_run_can_be_copied():
    model = HDPTopicModel(engine="parallel", n_jobs=2, chains=1, sweeps=3, random_state=0).fit(CORPUS)
    for again in (deepcopy(model), pickle.loads(pickle.dumps(model))):
        again.resume(2)
        assert again.chains_[0].sweeps_done == 5


@pytest.mark.parametrize("name", ["paralel", "", None, 3, ["parallel"]])
def test_an_engine_that_there_is_not(name):
    with pytest.raises(SettingsError, match=r"^engine=.*'auto' or one of 'collapsed', 'parallel'"):
        HDPTopicModel(engine=name).fit(CORPUS)


def test_a_model_keeps_its_engine_and_goes_on_with_it(tmp_path):
    settings = {"sweeps": 6, "chains": 2, "init": "one", "engine": "parallel", "random_state": 5}
    whole = HDPTopicModel(**settings).fit(CORPUS)
    assert {chain.engine.name for chain in whole.chains_} == {"parallel"}
    assert whole.settings_["engine"] == "parallel"
    HDPTopicModel(**settings | {"sweeps": 3}, n_jobs=1).fit(CORPUS, checkpoint_dir=tmp_path / "model")
    again = HDPTopicModel.load(tmp_path / "model")
    assert again.engine == "parallel"
    again.set_params(n_jobs=4).resume(3)
    for one, other in zip(whole.chains_, again.chains_, strict=True):
        assert one.state.t_ji.tobytes() == other.state.t_ji.tobytes()
        assert one.trace["log_joint"].tobytes() == other.trace["log_joint"].tobytes()


def test_a_fit_goes_on_with_the_engine_of_the_model_that_is_there(tmp_path):
    settings = {"sweeps": 3, "chains": 1, "init": "one", "random_state": 5}
    HDPTopicModel(**settings, engine="parallel").fit(CORPUS, checkpoint_dir=tmp_path / "m")
    again = HDPTopicModel(**settings | {"sweeps": 5}).fit(CORPUS, checkpoint_dir=tmp_path / "m")
    assert again.chains_[0].engine.name == "parallel"
    assert again.chains_[0].sweeps_done == 5


def test_a_forecast_is_of_the_engine_that_the_whole_corpus_gets(monkeypatch):
    monkeypatch.setattr("franchise.engines._MANY_WORDS", 100)
    used, use_threads = [], PartiallyCollapsedEngine.use_threads

    def noted(self, number):
        used.append(number)
        use_threads(self, number)

    monkeypatch.setattr(PartiallyCollapsedEngine, "use_threads", noted)
    forecast(plan_of(**USUAL, chains=2, seed=0), CORPUS, jobs=8)
    assert used[-1] == 4


# ---------------------------------------------------------------- cores


@pytest.mark.parametrize(
    ("jobs", "chains", "expected"), [(1, 2, 1), (2, 2, 1), (3, 2, 1), (4, 2, 2), (5, 1, 5)]
)
def test_cores_that_are_left_over_go_to_documents(jobs, chains, expected):
    running = chains_of("parallel", chains)
    run_chains(running, jobs=jobs)
    assert {chain.engine._threads.number for chain in running} == {expected}


def test_limits_of_a_container_limit_threads(monkeypatch):
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    assert shares(-1, 4) == (1, 1)
    monkeypatch.setattr("joblib.cpu_count", lambda: 6)
    assert shares(-1, 4) == (4, 1)
    assert shares(-1, 2) == (2, 3)


def test_a_limit_that_is_no_number(monkeypatch):
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "many")
    with raises(SettingsError, "not-a-whole-number", "LOKY_MAX_CPU_COUNT='many'"):
        shares(-1, 4)


def test_jobs_change_nothing():
    found = []
    for jobs in (1, 2, 7):
        chains = chains_of("parallel")
        run_chains(chains, jobs=jobs)
        found.append([chain.state.t_ji.tobytes() + chain.trace["log_joint"].tobytes() for chain in chains])
    assert found[0] == found[1] == found[2]


# ---------------------------------------------------------------- progress


@pytest.mark.parametrize("engine", ["parallel", "cells"])
def test_threads_lose_no_share_of_a_sweep(engine):
    (chain,) = chains_of(engine, 1)
    chain.start()
    chain.use_threads(4)
    (partition,) = chain.engine._pool.partitions

    class Slow(type(partition)):
        @property
        def progress(self):
            before = self.shown
            time.sleep(0.001)  # another thread may come here now
            return before

        @progress.setter
        def progress(self, share):
            self.shown = share

    partition.shown = 0.0
    partition.__class__ = Slow
    chain.engine._update_documents(Key(3, 0, 1, 0))
    assert chain.engine.progress == pytest.approx(1.0)


def test_a_sweep_that_takes_seconds_shows_how_far_it_is(monkeypatch):
    (chain,) = chains_of("parallel", 1)
    chain.start()
    chain.sweep()
    assert Progress(chain).facts["sweep"] == "1/4"
    assert chain.progress == 0.0
    other = chains_of("parallel", 1)[0]
    other.start()
    other.engine._update_documents(Key(3, 0, 1, 0))
    assert other.progress == pytest.approx(1.0)
    monkeypatch.setattr("franchise._progress._LONG_SWEEP", 0.0)
    chain.engine._pool.partitions[0].progress = 0.42
    assert Progress(chain).facts["sweep"] == "1.4/4"
    chain.run()
    assert Progress(chain).facts["sweep"] == "4/4"


def test_a_log_tells_of_a_chain_that_takes_long_to_start(monkeypatch):
    monkeypatch.setattr("franchise.sampling.run._SECONDS_A_LOOK", 0.01)
    monkeypatch.setattr("franchise._progress._PATIENCE", 0.0)
    stream = io.StringIO()
    (chain,) = chains_of("collapsed", 1)
    start = chain.start
    monkeypatch.setattr(chain, "start", lambda: (time.sleep(0.3), start()))
    run_chains([chain], monitor=LogMonitor(stream, seconds=0.05))
    lines = stream.getvalue().splitlines()
    assert lines[0] == lines[1] == "chain 0  starting"
    assert lines[-1].startswith("chain 0  done")


def test_ctrl_c_in_the_middle_of_a_look():
    stream = io.StringIO()
    monitor = LogMonitor(stream)
    with monitor._lock:  # as if the signal came while a line is written
        monitor.interrupted()
    assert stream.getvalue() == "stopping after this sweep\n"
