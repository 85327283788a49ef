"""New documents on a cluster of two nodes: the same bits as without, also when workers are killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from franchise import ClusterError, FranchiseError, HDPTopicModel, SettingsError
from franchise._ray import OnRay, connected
from franchise.corpus.documents import encode
from franchise.datasets import arxiv_abstracts
from franchise.predict.on_ray import in_pieces
from tests.raising import raises

pytestmark = pytest.mark.slow

pytest.importorskip("ray", reason="ray is not installed")

WORDS = 600  # a piece: some dozen documents


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model, and new texts."""
    folder = tmp_path_factory.mktemp("predict")
    abstracts = arxiv_abstracts()
    settings = {"sweeps": 8, "chains": 2, "eta": 0.5, "random_state": 0, "verbose": 0}
    HDPTopicModel(**settings).fit(abstracts[:400]).save(folder / "model")
    (folder / "new.txt").write_text("\n".join([*abstracts[400:600], ""]) + "\n", "utf-8")
    return folder


@pytest.fixture(scope="module")
def at(ray_cluster):
    """Say where; the workers are started once for all tests."""
    with connected(ray_cluster.address) as address:
        yield {"ray_address": address}


@pytest.fixture(scope="module")
def model(folder):
    return HDPTopicModel.load(folder / "model").set_params(verbose=0)


@pytest.fixture(scope="module")
def texts(folder):
    return (folder / "new.txt").read_text("utf-8").splitlines()


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr("franchise.predict.on_ray._WORDS_A_PIECE", WORDS)
    monkeypatch.setattr("franchise.predict.on_ray._ENTRIES_A_WORD", 10**9)


@pytest.mark.parametrize("workers", [None, 1, 3])
def test_mixtures_are_the_same_bits(at, small_pieces, model, texts, workers):
    there = model.transform(texts, ray_workers=workers, **at)
    assert np.array_equal(there, model.transform(texts))


def test_scores_are_the_same_bits(at, small_pieces, model, texts):
    few = texts[:40]
    for method, options in (("completion", {"sweeps": 20}), ("left-to-right", {"particles": 2})):
        here, there = (model.held_out(few, method, **options, **where) for where in ({}, at))
        assert np.array_equal(here.log_p, there.log_p)
        assert str(here) == str(there)
    weights = {"chain_weights": [0.25, 0.75]}
    assert str(model.held_out(few, **weights, **at)) == str(model.held_out(few, **weights))
    assert model.chain_weights(few, **at).equals(model.chain_weights(few))


def test_what_cannot_be(at, model, texts):
    with raises(SettingsError, "conflicting-settings", "method='paper'"):
        model.held_out(texts, "paper", **at)
    with raises(SettingsError, "unknown-choice", "'completion'", "'left-to-right'", "'paper'"):
        model.held_out(texts, "guess", **at)
    with raises(SettingsError, "not-a-whole-number", "sweeps=0") as caught:
        model.held_out(texts, sweeps=0, **at)
    assert "\n" not in str(caught.value)  # Ray would show where in a worker
    with raises(FranchiseError, "empty-corpus"):
        model.held_out(["", ""], **at)
    with raises(SettingsError, "missing-setting", "ray_workers=3", "ray_address"):
        model.transform(texts, ray_workers=3)
    with raises(ClusterError, "another-cluster", "127.0.0.1:1"):
        model.transform(texts, ray_address="127.0.0.1:1")


def pids_of_workers():
    """Return the processes that are at work on a piece."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cmdline").read_bytes().startswith(b"ray::_mixtures_of"):
                found.append(int(process.name))
        except OSError:
            pass
    return found


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="finds processes by /proc")
def test_workers_that_are_killed_change_nothing(at, model, texts):
    topics = model.known_topics_
    new = encode(texts * 20, model.corpus_)
    killed, rows = 0, []
    for _, theta in topics.mixtures_of_pieces(in_pieces(new, 40_000), OnRay(at["ray_address"])):
        rows.append(theta)
        if killed < 3:
            for pid in pids_of_workers()[:1]:
                os.kill(pid, signal.SIGKILL)
                killed += 1
    assert killed, "no worker was at work: make the pieces larger"
    assert np.array_equal(np.concatenate(rows), topics.mixtures(new))


# ---------------------------------------------------------------- the command line


def franchise(*arguments, **options):
    command = [sys.executable, "-m", "franchise", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, **options)


def test_infer_prints_the_same(ray_cluster, folder):
    command = ["infer", folder / "model", folder / "new.txt", "--format", "csv"]
    here, there = franchise(*command), franchise(*command, "--ray", ray_cluster.address, "--workers", "2")
    assert there.stderr == ""
    assert (there.stdout, there.returncode) == (here.stdout, 0)


def test_evaluate_prints_the_same(ray_cluster, folder):
    command = ["evaluate", folder / "model", folder / "new.txt"]
    here, there = franchise(*command), franchise(*command, "--ray", ray_cluster.address)
    assert (there.stdout, there.stderr, there.returncode) == (here.stdout, here.stderr, 0)


def test_no_cluster(folder):
    result = franchise("infer", folder / "model", folder / "new.txt", "--ray", "127.0.0.1:1")
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith("franchise: the cluster at 127.0.0.1:1 cannot be reached")
    assert result.stderr.count("\n") == 1


def test_ctrl_c_ends_it_and_our_own_ray(folder, tmp_path):
    long = tmp_path / "long.txt"
    long.write_text((folder / "new.txt").read_text("utf-8") * 200, "utf-8")
    command = [sys.executable, "-m", "franchise", "infer", str(folder / "model"), str(long), "--ray", "local"]
    with subprocess.Popen(
        [*command, "--format", "csv"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout.readline().startswith(b"document,words,unknown,topic_0")
        os.killpg(process.pid, signal.SIGINT)  # as a terminal sends it: to all of its processes
        began = time.monotonic()
        _, said = process.communicate(timeout=60)
    assert said == b"franchise: interrupted\n"
    assert process.returncode == 130
    assert time.monotonic() - began < 30
