"""Models whose chains are made by workers with GPUs: kept, resumed on other workers, refused to others."""

from contextlib import contextmanager

import numpy as np
import pytest

from franchise import HDPTopicModel, ModelError, Ray
from franchise.corpus import planted
from franchise.engines.pools import local
from franchise.estimator import settings
from tests.host_device import HostDevice, needs_compiler
from tests.raising import raises
from tests.reference.chains import differences
from tests.reference.workers import WorkersHere

pytestmark = [needs_compiler, pytest.mark.filterwarnings("ignore:there are .* topics")]
CORPUS = planted(n_topics=4, n_terms=40, n_documents=40, document_length=20, seed=1).corpus
SETTINGS = {"chains": 3, "burn_in": 2, "random_state": 3, "verbose": 0}


@pytest.fixture(autouse=True)
def on_host(monkeypatch):
    """Let GPUs be the host, and a cluster be this process."""
    pytest.importorskip("ray", reason="ray is not installed")

    @contextmanager
    def here(corpus, address, workers, chains, gpus):
        assert (address, chains, gpus) == ("10.0.0.1:6379", 3, True)
        yield WorkersHere(corpus, workers, kind="cuda")

    monkeypatch.setattr("franchise.engines.pools.ray.actors.RayWorkers", here)
    monkeypatch.setattr(settings, "check_reachable", lambda address: None)
    monkeypatch.setattr(settings, "problem", lambda: None)
    monkeypatch.setattr(local, "gpu", HostDevice)


def on_cluster(folder, workers, **more):
    engine = Ray("10.0.0.1:6379", workers, gpu=True)
    return HDPTopicModel(engine=engine, **(SETTINGS | more)).fit(CORPUS, checkpoint_dir=folder)


def test_resumed_on_other_workers(tmp_path):
    alone = HDPTopicModel(engine="gpu", sweeps=7, **SETTINGS).fit(CORPUS)
    on_cluster(tmp_path / "m", 2, sweeps=4)
    again = HDPTopicModel.load(tmp_path / "m")
    assert again.settings_["engine"] == "ray-gpu"
    again.set_params(engine=Ray("10.0.0.1:6379", 3)).resume(3)
    for model in (again, HDPTopicModel.load(tmp_path / "m")):
        for chain, other in zip(model.chains_, alone.chains_, strict=True):
            assert differences(chain, other) == []
        assert np.array_equal(model.components_, alone.components_)


@pytest.mark.parametrize("engine", [Ray("10.0.0.1:6379"), "gpu"])
def test_another_engine_does_not_go_on_with_it(tmp_path, engine):
    on_cluster(tmp_path / "m", 1, sweeps=3)
    other = HDPTopicModel(engine=engine, sweeps=3, **SETTINGS)
    with raises(ModelError, "settings-mismatch", "engine='ray-gpu'"):
        other.fit(CORPUS, checkpoint_dir=tmp_path / "m")
