"""engine="gpu" without a GPU: refused at once; a model fitted on one can still be used."""

import pytest

from franchise import GpuError, HDPTopicModel, tune_eta
from franchise.corpus import planted
from franchise.sampling import forecast as forecasts
from tests.raising import raises
from tests.reference.gpus import ON_GPU, fake_cupy, let_there_be_engine, with_cupy

CORPUS = planted(n_topics=3, n_terms=30, n_documents=30, document_length=12, seed=1).corpus
SETTINGS = {"sweeps": 4, "chains": 2, "init": "one", "random_state": 5, "verbose": 0}


@pytest.fixture(autouse=True)
def engine(monkeypatch):
    let_there_be_engine(monkeypatch)


@pytest.fixture
def gpu(monkeypatch):
    with with_cupy(monkeypatch, fake_cupy()):
        yield


@pytest.fixture
def no_gpu(monkeypatch):
    with with_cupy(monkeypatch, None):
        yield


class Unread:
    """Documents that must not be read."""

    def __getattribute__(self, name):
        raise AssertionError("looked at")


def test_nothing_is_read_or_written_before_it_is_refused(no_gpu, tmp_path):
    model = HDPTopicModel(**SETTINGS, engine="gpu")

    def fit(documents):
        model.fit(documents, checkpoint_dir=tmp_path / "m")

    for refused in (fit, model.forecast, lambda documents: tune_eta(documents, engine="gpu")):
        with raises(GpuError, "missing-package", "engine='gpu'", "CuPy", "pip", "engine='parallel'"):
            refused(Unread())
    assert not (tmp_path / "m").exists()


@pytest.mark.usefixtures("gpu")
def test_a_fit_on_a_gpu():
    model = HDPTopicModel(**SETTINGS, engine="gpu").fit(CORPUS)
    assert model.settings_["engine"] == "gpu"
    assert {chain.engine.kind for chain in model.chains_} == {ON_GPU}


def test_a_model_of_a_gpu_where_there_is_none(monkeypatch, tmp_path):
    with with_cupy(monkeypatch, fake_cupy()):
        fitted = HDPTopicModel(**SETTINGS, engine="gpu").fit(CORPUS, checkpoint_dir=tmp_path / "m")
    before = {path: path.read_bytes() for path in (tmp_path / "m").rglob("*") if path.is_file()}
    with with_cupy(monkeypatch, None):
        model = HDPTopicModel.load(tmp_path / "m")
        assert model.topics().equals(fitted.topics())
        assert model.transform(CORPUS).shape == (30, model.n_topics_)
        assert str(model.diagnose())
        for again in (
            lambda: model.resume(2),
            lambda: HDPTopicModel(**SETTINGS | {"sweeps": 9}).fit(Unread(), checkpoint_dir=tmp_path / "m"),
        ):
            with raises(GpuError, "missing-package", "engine='gpu'", "CuPy"):
                again()
    assert before == {path: path.read_bytes() for path in (tmp_path / "m").rglob("*") if path.is_file()}
    with with_cupy(monkeypatch, fake_cupy()):
        assert HDPTopicModel.load(tmp_path / "m").resume(2).chains_[0].sweeps_done == 6


@pytest.mark.usefixtures("gpu")
def test_auto_takes_it_and_the_model_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr("franchise.engines.GPU_WORDS", 100)
    model = HDPTopicModel(**SETTINGS).fit(CORPUS, checkpoint_dir=tmp_path / "m")
    assert model.settings_["engine"] == HDPTopicModel.load(tmp_path / "m").engine == "gpu"


@pytest.mark.usefixtures("no_gpu")
def test_auto_does_without(monkeypatch):
    monkeypatch.setattr("franchise.engines.GPU_WORDS", 100)
    assert HDPTopicModel(**SETTINGS).fit(CORPUS).settings_["engine"] == "collapsed"


@pytest.mark.usefixtures("gpu")
def test_a_forecast_looks_at_more_documents_and_sweeps(monkeypatch):
    parts, timed = [], forecasts._timed
    monkeypatch.setattr(forecasts, "_MOST_ON_GPU", 60)

    def noted(plan, part, own_threads):
        parts.append((part.n_words, own_threads))
        return timed(plan, part, own_threads)

    monkeypatch.setattr(forecasts, "_timed", noted)
    model = HDPTopicModel(**SETTINGS | {"chains": 4, "sweeps": 20}, engine="gpu", n_jobs=8)
    assert model.forecast(CORPUS).seconds > 0.0
    assert parts == [(60, 4), (180, 4)]
