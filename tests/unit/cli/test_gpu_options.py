"""``--engine gpu``: without a GPU an error before anything is read; a dry run says on what it would run."""

import pytest
from click.testing import CliRunner

from franchise.cli import main
from tests.reference.gpus import fake_cupy, let_there_be_engine, with_cupy

TEXTS = "the cat drinks milk\na dog and a cat\nstocks and bonds fell\nbonds rose\n" * 3
FIT = ("--sweeps", "3", "--chains", "1", "--quiet")
pytestmark = pytest.mark.filterwarnings("ignore:there are more topics")  # after three sweeps


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    let_there_be_engine(monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts.txt").write_text(TEXTS)
    return tmp_path


def call(*arguments):
    return CliRunner().invoke(main, [*arguments])


def fact(told, name):
    (line,) = (line for line in told.splitlines() if line.startswith(f"{name} "))
    return line.removeprefix(name).strip()


@pytest.mark.parametrize("how", [("-o", "m"), ("--dry-run",)])
def test_without_a_gpu(monkeypatch, folder, how):
    with with_cupy(monkeypatch, None):
        done = call("fit", "no-such-file.txt", *how, "--engine", "gpu")
    assert done.exit_code == 1
    assert done.stderr.startswith("franchise: --engine gpu: CuPy")
    assert "--engine parallel" in done.stderr
    assert not (folder / "m").exists()


def test_a_model_that_cannot_be_resumed_here(monkeypatch):
    with with_cupy(monkeypatch, fake_cupy()):
        assert call("fit", "texts.txt", "-o", "m", "--engine", "gpu", *FIT).exit_code == 0
    with with_cupy(monkeypatch, fake_cupy(status=100)):
        done = call("resume", "m", "--sweeps", "3")
        assert done.exit_code == 1
        assert done.stderr.startswith("franchise: --engine gpu: ")
        for command in (["topics", "m"], ["diagnose", "m"], ["documents", "m"], ["infer", "m", "texts.txt"]):
            assert call(*command).exit_code == 0


def test_a_dry_run_says_on_what(monkeypatch):
    with with_cupy(monkeypatch, fake_cupy()):
        told = call("fit", "texts.txt", "--dry-run", "--engine", "gpu", *FIT).stdout
    assert fact(told, "engine") == "gpu: NVIDIA H200, 139 GiB"


@pytest.mark.parametrize(("words", "engine"), [(1, "gpu: NVIDIA H200, 139 GiB"), (10**6, "collapsed")])
def test_a_dry_run_says_what_auto_takes(monkeypatch, words, engine):
    monkeypatch.setattr("franchise.engines.GPU_WORDS", words)
    monkeypatch.setattr("franchise.estimator.preview.is_compiled", lambda: False)
    with with_cupy(monkeypatch, fake_cupy()):
        assert fact(call("fit", "texts.txt", "--dry-run", *FIT).stdout, "engine") == engine


def test_the_file_of_options_names_the_engine_that_was_taken(monkeypatch, folder):
    monkeypatch.setattr("franchise.engines.GPU_WORDS", 1)
    with with_cupy(monkeypatch, fake_cupy()):
        assert call("fit", "texts.txt", "-o", "m", *FIT).exit_code == 0
    assert 'engine = "gpu"\n' in (folder / "m" / "config.toml").read_text()
    with with_cupy(monkeypatch, None):
        done = call("fit", "texts.txt", "-o", "n", "--config", "m/config.toml", "--quiet")
    assert done.exit_code == 1
    assert "--engine gpu" in done.stderr
