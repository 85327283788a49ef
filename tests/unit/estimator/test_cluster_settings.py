"""The place of a cluster: what can be given, and that it is not part of a model."""

from contextlib import contextmanager

import pytest
from sklearn.base import clone

from franchise import ClusterError, GpuError, HDPTopicModel, Ray, SettingsError
from franchise.errors import MovedSettingError
from franchise.estimator.settings import check_gpu, cluster_of, settings_of
from franchise.estimator.workers import workers_for
from tests.raising import raises
from tests.reference.gpus import with_cupy


@pytest.mark.parametrize("address", [None, "auto", "local", "10.0.0.1:6379"])
@pytest.mark.parametrize("workers", [None, 1, 16])
def test_a_cluster_and_its_workers(address, workers):
    for gpu, name in ((False, "ray"), (True, "ray-gpu")):
        engine = Ray(address, workers, gpu)
        assert settings_of(HDPTopicModel(engine=engine).get_params()).engine == name
        assert cluster_of(engine, name) is engine


@pytest.mark.parametrize(("engine", "said"), [("ray", "Ray(address, workers)"), ("ray-gpu", "gpu=True")])
def test_a_cluster_is_more_than_a_name(engine, said):
    with raises(MovedSettingError, "moved-setting", f"engine={engine!r}", said):
        HDPTopicModel(engine=engine).fit(["the cat and the dog"])


@pytest.mark.parametrize(
    ("given", "code", "facts"),
    [
        ({"address": "head"}, "bad-ray-address", ["address='head'", "'auto'", "'local'", "HOST:PORT"]),
        ({"address": "ray://head:10001"}, "ray-client", ["address='ray://head:10001'"]),
        ({"address": ["auto"]}, "bad-ray-address", ["address=['auto']"]),
        ({"workers": 0}, "not-a-whole-number", ["workers=0", "1 or more"]),
        ({"workers": 2.5}, "not-a-whole-number", ["workers=2.5"]),
        ({"workers": True}, "not-a-whole-number", ["workers=True"]),
        ({"gpu": "yes"}, "not-a-flag", ["gpu='yes'"]),
    ],
)
def test_what_cannot_be(given, code, facts):
    with raises(SettingsError, code, *facts):
        Ray(**given)


@pytest.mark.parametrize("gpu", [False, True])
def test_a_cluster_that_is_not_there_leaves_no_folder(tmp_path, gpu):
    pytest.importorskip("ray", reason="ray is not installed")
    model = HDPTopicModel(engine=Ray("127.0.0.1:1", gpu=gpu))
    with raises(ClusterError, "no-cluster", "127.0.0.1:1"):
        model.fit(["the cat and the dog"], checkpoint_dir=tmp_path / "m")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(("gpu", "name"), [(False, "ray"), (True, "ray-gpu")])
def test_the_cluster_is_no_part_of_the_model(gpu, name):
    settings = settings_of(HDPTopicModel(engine=Ray("10.0.0.1:6379", 3, gpu)).get_params())
    assert settings.plan().engine == settings.to_json()["engine"] == name
    assert "10.0.0.1" not in str(settings.to_json())
    assert cluster_of(name, name) == Ray(None, gpu=gpu)


def test_a_forecast_for_gpus_elsewhere_needs_one_here(monkeypatch):
    with (
        with_cupy(monkeypatch, None),
        raises(GpuError, "missing-package", "engine=Ray(gpu=True)", "this machine", "CuPy"),
    ):
        HDPTopicModel(engine=Ray(gpu=True)).forecast(["the cat and the dog"])


def test_the_gpu_of_this_machine_is_looked_for_where_it_would_be_used(monkeypatch):
    with with_cupy(monkeypatch, None):
        check_gpu("ray-gpu", "10.0.0.1:6379")  # which has its own
        with raises(GpuError, "missing-package", "engine='ray-gpu'", "CuPy"):
            check_gpu("ray-gpu", "local")


def test_what_workers_are_made_with(monkeypatch):
    pytest.importorskip("ray", reason="ray is not installed")
    made = []

    @contextmanager
    def workers(*given, **more):
        made.append((given[1:], more))
        yield "workers"

    monkeypatch.setattr("franchise.engines.pools.ray.actors.RayWorkers", workers)
    for engine in ("parallel", "ray", "ray-gpu"):
        with workers_for(engine, Ray("local", 2), None, []) as found:
            assert found == ({} if engine == "parallel" else {"workers": "workers"})
    assert made == [(("local", 2, 0), {"gpus": False}), (("local", 2, 0), {"gpus": True})]


def test_scikit_learn_copies_them():
    assert clone(HDPTopicModel(engine=Ray("local", 3))).engine == Ray("local", 3)
