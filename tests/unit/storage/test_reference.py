"""A model of documents that lie in shards: these are not copied, and hardly looked at after the chains."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from franchise import HDPTopicModel, ModelError
from franchise.corpus import ShardedCorpus, from_texts, from_tokens, open_shards, planted, shard
from franchise.corpus.data_warnings import corpus_warnings, topic_warnings
from franchise.estimator.inputs import training_corpus
from franchise.sampling.forecast import forecast
from tests.raising import raises
from tests.settings import fit, plan_of
from tests.unit.corpus.test_sharded import touched

CORPUS = planted(n_topics=4, n_terms=40, n_documents=60, document_length=25, seed=2).corpus


def fitted(corpus, **settings):
    settings = {"sweeps": 12, "thin": 2, "chains": 2, "n_jobs": 1, "random_state": 3, "verbose": 0} | settings
    return fit(corpus, **settings)


@pytest.fixture
def both(tmp_path):
    """A folder with shards and a model that was fitted to them."""
    home = tmp_path / "home"
    corpus = shard(CORPUS, home / "shards", 7)
    fitted(corpus, checkpoint_dir=home / "model")
    return home


def test_it_refers_to_the_shards(both):
    assert not (both / "model" / "corpus.safetensors").exists()
    paths = json.loads((both / "model" / "corpus.json").read_text())["paths"]
    assert paths == ["../shards", str((both / "shards").resolve())]
    loaded, expected = HDPTopicModel.load(both / "model"), fitted(CORPUS)
    assert isinstance(loaded.corpus_, ShardedCorpus)
    assert loaded.topics().equals(expected.topics())
    assert loaded.documents().equals(expected.documents())
    assert loaded.resume(4).topics().equals(expected.resume(4).topics())
    loaded.save(both / "elsewhere" / "deep" / "copy")
    assert HDPTopicModel.load(both / "elsewhere" / "deep" / "copy").topics().equals(loaded.topics())


def test_both_are_moved(both, tmp_path):
    both.rename(tmp_path / "moved")
    assert HDPTopicModel.load(tmp_path / "moved" / "model").corpus_ == CORPUS


def test_the_model_is_moved_alone(both, tmp_path):
    (tmp_path / "far" / "away").mkdir(parents=True)
    (both / "model").rename(tmp_path / "far" / "away" / "model")
    assert HDPTopicModel.load(tmp_path / "far" / "away" / "model").corpus_ == CORPUS


def test_the_shards_are_gone(both):
    shutil.rmtree(both / "shards")
    with raises(ModelError, "corpus-not-found", both / "model", both / "shards", "`franchise shard`"):
        HDPTopicModel.load(both / "model")


def test_others_are_there(both):
    shard(["other words"], both / "shards", overwrite=True)
    with raises(ModelError, "corpus-mismatch", both / "model", both / "shards", "`franchise shard`"):
        HDPTopicModel.load(both / "model")


@pytest.mark.parametrize("text", ["{", "{}", '{"format": "franchise corpus in shards", "version": 6}'])
def test_a_damaged_reference(both, text):
    (both / "model" / "corpus.json").write_text(text)
    with raises(ModelError, "damaged-file", both / "model" / "corpus.json"):
        HDPTopicModel.load(both / "model")


def test_what_is_other_than_on_disk_is_copied(both, tmp_path):
    corpus = open_shards(both / "shards")
    years = [2000 + j % 3 for j in range(60)]
    model = HDPTopicModel(sweeps=4, chains=1, random_state=0, verbose=0)
    model.fit(corpus, metadata={"year": years}, checkpoint_dir=tmp_path / "m")
    assert not (tmp_path / "m" / "corpus.json").exists()
    assert HDPTopicModel.load(tmp_path / "m").corpus_.metadata["year"].tolist() == years


# ---------------------------------------------------------------- what is looked at


@pytest.fixture
def texts(tmp_path):
    made = [" ".join(f"word{v}" for v in CORPUS.document(j)) for j in range(60)]
    names, metadata = [f"doc {j}" for j in range(60)], {"year": list(range(60))}
    return shard(from_texts(made, document_names=names, metadata=metadata), tmp_path / "texts", 7)


def test_a_fit_asks_for_words_alone(texts, tmp_path):
    fitted(texts, eta=1.0, checkpoint_dir=tmp_path / "model")
    assert touched(texts) == {"_x", "doc_ptr"}


def test_what_comes_after_the_chains_asks_for_nothing(texts, tmp_path, monkeypatch):
    """Only the engine, which is not for corpora in shards, has needed the words."""
    model = fitted(texts, eta=1.0, checkpoint_dir=tmp_path / "model")  # fewer topics than terms
    own = open_shards(texts.folder)
    monkeypatch.setattr("franchise.corpus.shards.corpus.read_shard", _refuse)
    monkeypatch.setattr("franchise.corpus.shards.corpus.read_about", _refuse)
    model.corpus_ = own
    model._summarise()
    model._write_answer(tmp_path / "model")
    assert str(model).startswith("HDPTopicModel of 60 documents")
    assert model.diagnose() is not None
    assert len(model.topics()) == model.n_topics_
    found = [list(map(str, topic_warnings(model.n_topics_, one))) for one in (own, CORPUS)]
    assert found[0] == found[1]
    model.save(tmp_path / "copy")
    assert not touched(own)


def _refuse(*_):
    raise AssertionError("a shard was read")


def test_what_comes_before_the_chains_asks_for_little(texts):
    own = open_shards(texts.folder)
    assert training_corpus(HDPTopicModel(), own) is own
    assert not touched(own)


def test_count_warnings_look_at_some_documents(tmp_path, monkeypatch):
    """They would be about to lay out all documents, where these are many."""
    monkeypatch.setattr("franchise.corpus.data_warnings._MOST_WORDS", 300)
    monkeypatch.setattr("franchise.corpus.data_warnings._MANY_WORDS", 300)
    monkeypatch.setattr("franchise.corpus.data_warnings.FEW_TERMS", 1)
    large = planted(n_topics=2, n_terms=3, n_documents=40, document_length=900, seed=2).corpus
    own = shard(large, tmp_path / "s", 20)
    (doubt,) = corpus_warnings(own)
    assert doubt.code == "large-counts"
    assert not touched(own)
    empty_but_one = from_tokens([*[[]] * 50, ["ant", "bee"] * 400, *[[]] * 50])
    found = corpus_warnings(shard(empty_but_one, tmp_path / "t", 3))
    assert [doubt.code for doubt in found] == ["only-one-document", "large-counts"]


def test_a_forecast_looks_at_some_documents(tmp_path, monkeypatch):
    monkeypatch.setattr("franchise.sampling.forecast._MOST", 200)
    many = planted(n_topics=4, n_terms=40, n_documents=200, document_length=25, seed=2).corpus
    own = shard(many, tmp_path / "s", 40)
    plan = plan_of(engine="parallel", sweeps=10, chains=1)
    expected = forecast(plan, own, 1)
    assert expected.seconds > 0
    assert not touched(own)


def test_the_folder_of_shards_is_not_written_to(both):
    before = {path: path.stat().st_mtime_ns for path in Path(both / "shards").rglob("*")}
    model = HDPTopicModel.load(both / "model")
    model.resume(2)
    assert np.isfinite(model.trace_["log_joint"]).all()
    assert {path: path.stat().st_mtime_ns for path in Path(both / "shards").rglob("*")} == before
