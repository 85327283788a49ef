"""The settings for a cluster: when they may be given, and that they are not part of a model."""

from contextlib import contextmanager

import pytest
from sklearn.base import clone

from franchise import ClusterError, GpuError, HDPTopicModel, SettingsError, from_tokens
from franchise.estimator.settings import check_gpu, check_moment, of_chains, to_keep
from franchise.estimator.workers import workers_for
from franchise.sampling.plan import plan_of
from tests.raising import raises
from tests.reference.gpus import with_cupy


def settings(**given):
    return HDPTopicModel(**given).get_params()


@pytest.mark.parametrize("address", [None, "auto", "local", "10.0.0.1:6379"])
@pytest.mark.parametrize("workers", [None, 1, 16])
def test_a_cluster_and_its_workers(address, workers):
    for engine in ("ray", "ray-gpu"):
        check_moment(settings(engine=engine, ray_address=address, ray_workers=workers))


@pytest.mark.parametrize("engine", ["auto", "collapsed", "parallel", "cells"])
def test_other_engines_have_no_cluster(engine):
    for given in ({"ray_address": "auto"}, {"ray_workers": 2}):
        with raises(SettingsError, "setting-needs-ray", f"engine='{engine}'", *given):
            check_moment(settings(engine=engine, **given))


def test_the_engine_on_a_gpu_has_one_on_many():
    with raises(SettingsError, "setting-needs-ray", "engine='gpu'", "engine='ray-gpu'"):
        check_moment(settings(engine="gpu", ray_address="auto"))


@pytest.mark.parametrize(
    ("given", "code", "facts"),
    [
        (
            {"ray_address": "head"},
            "bad-ray-address",
            ["ray_address='head'", "'auto'", "'local'", "HOST:PORT"],
        ),
        ({"ray_address": "ray://head:10001"}, "ray-client", ["ray_address='ray://head:10001'"]),
        ({"ray_address": ["auto"]}, "bad-ray-address", ["ray_address=['auto']"]),
        ({"ray_workers": 0}, "not-a-whole-number", ["ray_workers=0", "1 or more"]),
        ({"ray_workers": 2.5}, "not-a-whole-number", ["ray_workers=2.5"]),
        ({"ray_workers": True}, "not-a-whole-number", ["ray_workers=True"]),
    ],
)
def test_what_cannot_be(given, code, facts):
    with raises(SettingsError, code, *facts):
        check_moment(settings(engine="ray", **given))


def test_nothing_is_read_or_written_before_they_are_checked(tmp_path):
    model = HDPTopicModel(checkpoint_dir=tmp_path / "m", ray_address="auto", engine="parallel")
    with raises(SettingsError, "setting-needs-ray", "ray_address='auto'"):
        model.fit(["the cat and the dog"])
    with raises(SettingsError, "setting-needs-ray", "ray_address='auto'"):
        model.forecast(["the cat and the dog"])
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("engine", ["ray", "ray-gpu"])
def test_a_cluster_that_is_not_there_leaves_no_folder(tmp_path, engine):
    pytest.importorskip("ray", reason="ray is not installed")
    model = HDPTopicModel(checkpoint_dir=tmp_path / "m", engine=engine, ray_address="127.0.0.1:1")
    with raises(ClusterError, "no-cluster", "127.0.0.1:1"):
        model.fit(["the cat and the dog"])
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("engine", ["ray", "ray-gpu"])
def test_the_cluster_is_no_part_of_the_model(engine):
    given = settings(engine=engine, ray_address="10.0.0.1:6379", ray_workers=3)
    plan = plan_of(**of_chains(given), seed=0)
    for kept in (of_chains(given), to_keep(given, 0, from_tokens([["cat"]]), plan, {})):
        assert kept["engine"] == engine
        assert not {"ray_address", "ray_workers"} & set(kept)


def test_a_forecast_for_gpus_elsewhere_needs_one_here(monkeypatch):
    with (
        with_cupy(monkeypatch, None),
        raises(GpuError, "missing-package", "engine='ray-gpu'", "this machine", "CuPy"),
    ):
        HDPTopicModel(engine="ray-gpu").forecast(["the cat and the dog"])


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

    monkeypatch.setattr("franchise.engines.pools.ray.RayWorkers", workers)
    for engine in ("parallel", "ray", "ray-gpu"):
        given = settings(engine=engine, ray_address="local", ray_workers=2)
        with workers_for(given, None, []) as found:
            assert found == ({} if engine == "parallel" else {"workers": "workers"})
    assert made == [(("local", 2, 0), {"gpus": False}), (("local", 2, 0), {"gpus": True})]


def test_scikit_learn_copies_them():
    copy = clone(HDPTopicModel(engine="ray", ray_address="local", ray_workers=3))
    assert (copy.ray_address, copy.ray_workers) == ("local", 3)
