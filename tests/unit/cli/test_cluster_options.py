"""``--ray`` and ``--workers``: what they mean, and when they are refused."""

import pytest
from click.testing import CliRunner

from franchise import Ray
from franchise.cli import main
from franchise.cli._config import options_to_keep
from franchise.engines.pools.ray import machines
from franchise.engines.pools.ray.machines import Node
from franchise.estimator import HDPTopicModel
from tests.reference.gpus import with_cupy

TEXTS = "the cat drinks milk\na dog and a cat\nstocks and bonds fell\nbonds rose\n" * 3


@pytest.fixture
def seen(monkeypatch, tmp_path):
    """Fit nothing, but keep the estimator that would be fitted."""
    models = []

    def fit(self, *_, **__):
        models.append(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(HDPTopicModel, "fit", fit)
    monkeypatch.setattr("franchise.estimator.settings.check_reachable", lambda address: None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts.txt").write_text(TEXTS)
    return models


def call(*arguments):
    return CliRunner().invoke(main, [*arguments])


@pytest.mark.parametrize(
    ("options", "engine", "address", "workers"),
    [
        (["--ray", "local"], "ray", "local", None),
        (["--ray", "auto", "--workers", "3"], "ray", "auto", 3),
        (["--ray", "10.0.0.1:6379", "--engine", "ray"], "ray", "10.0.0.1:6379", None),
        (["--engine", "ray", "--workers", "2"], "ray", None, 2),
        (["--ray", "auto", "--engine", "gpu"], "ray-gpu", "auto", None),
        (["--ray", "10.0.0.1:6379", "--engine", "ray-gpu", "--workers", "2"], "ray-gpu", "10.0.0.1:6379", 2),
        (["--engine", "ray-gpu", "--workers", "2"], "ray-gpu", None, 2),
        (["--engine", "parallel"], "parallel", None, None),
    ],
)
def test_fit(seen, options, engine, address, workers):
    assert call("fit", "texts.txt", "-o", "m", *options).exit_code == 130
    expected = Ray(address, workers, gpu=engine == "ray-gpu") if "ray" in engine else engine
    assert seen[0].engine == expected


@pytest.mark.parametrize("command", ["fit", "resume"])
def test_the_help_says_how_many_workers_there_are_by_default(command):
    assert "[default: one per machine, or one per GPU" in " ".join(call(command, "--help").output.split())


def test_how_many_workers_a_fit_has_by_default(monkeypatch):
    two = [Node(name, name, cpus=8, memory=0, store=0, gpus=gpus) for name, gpus in (("a", 1), ("b", 2))]
    monkeypatch.setattr(machines, "nodes", lambda: two)
    assert machines.places(None).workers == 2
    assert machines.places(None, gpus=True).workers == 3


def test_a_configuration(seen, tmp_path):
    (tmp_path / "fit.toml").write_text('ray = "10.0.0.1:6379"\nworkers = 4\n')
    call("fit", "texts.txt", "-o", "m", "--config", "fit.toml")
    assert seen[0].engine == Ray("10.0.0.1:6379", 4)


@pytest.mark.parametrize(
    "line", ["ray = 3", 'ray = "nowhere"', "workers = 2.5", "workers = 0", 'workers = "2"']
)
def test_a_configuration_that_cannot_be(seen, tmp_path, line):
    (tmp_path / "fit.toml").write_text(f"{line}\n")
    assert call("fit", "texts.txt", "-o", "m", "--engine", "ray", "--config", "fit.toml").exit_code == 2
    assert not seen


def test_where_a_model_was_fitted_is_not_written_down():
    values = {"engine": "ray", "ray": "10.0.0.1:6379", "workers": 3}
    assert options_to_keep(values) == {"engine": "ray"}


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("fit texts.txt -o m --ray nowhere", "--ray nowhere: give 'auto', 'local' or HOST:PORT"),
        ("fit texts.txt -o m --ray ray://head:10001", "ray://head:10001"),
        ("fit texts.txt -o m --ray auto --engine cells", "--engine cells"),
        ("fit texts.txt -o m --workers 3", "--ray auto, --ray local or --ray HOST:PORT"),
        ("fit texts.txt -o m --workers 3 --engine gpu", "--ray auto, --ray local or --ray HOST:PORT"),
        ("fit texts.txt -o m --ray local --workers 0", "--workers"),
    ],
)
def test_what_does_not_go_together(seen, command, words):
    result = call(*command.split())
    assert result.exit_code == 2
    assert words in result.stderr
    assert not seen


def test_a_dry_run_for_gpus_elsewhere(seen, monkeypatch):
    with with_cupy(monkeypatch, None):
        result = call("fit", "texts.txt", "--dry-run", "--ray", "auto", "--engine", "gpu")
    assert result.exit_code == 0, result.stderr
    assert "ray-gpu" in result.stdout
    assert "this machine has no GPU" in " ".join(result.stdout.split())


def test_a_cluster_of_this_machine_alone_that_has_no_gpu(seen, monkeypatch, tmp_path):
    with with_cupy(monkeypatch, None):
        result = call("fit", "texts.txt", "-o", "m", "--ray", "local", "--engine", "gpu")
    assert result.exit_code == 1
    assert result.stderr.startswith("franchise: --engine ray-gpu: CuPy")
    assert not (tmp_path / "m").exists()


def test_documents_are_not_read_for_a_cluster_that_is_not_there(monkeypatch, tmp_path):
    pytest.importorskip("ray", reason="ray is not installed")
    monkeypatch.chdir(tmp_path)
    result = call("fit", "no-such-file.txt", "-o", "m", "--ray", "127.0.0.1:1")
    assert result.exit_code == 1
    assert result.stderr.startswith("franchise: ")
    assert "127.0.0.1:1" in result.stderr


def test_resume_of_a_model_of_another_engine(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    HDPTopicModel(sweeps=2, chains=1, random_state=0, verbose=0).fit(TEXTS.splitlines(), checkpoint_dir="m")
    result = call("resume", "m", "--ray", "local", "--sweeps", "1")
    assert result.exit_code == 2
    assert result.stderr.startswith("franchise: --ray local: the model was made with engine collapsed")
