"""Names of a model's topics and terms: shown, kept, and carried on when the topics change."""

import json
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from franchise import HDPTopicModel, ModelError, SettingsError
from franchise._folders import locked_name
from franchise.errors import CorpusError
from franchise.posterior.labels import own_terms
from franchise.report.figures import plot_prevalence
from tests import settings
from tests.raising import raises, warns

TEXTS = ["cats drink milk", "dogs chase cats", "stocks and bonds fell", "bonds rose as stocks fell"] * 6
QUICK = {"sweeps": 20, "chains": 2, "random_state": 0, "verbose": 0}


def fit(**changes):
    return settings.fit(TEXTS, **{**QUICK, **changes})


@pytest.fixture
def model():
    return fit()


# ---------------------------------------------------------------- shown


def test_topics_without_names_are_called_by_their_own_terms(model):
    own = own_terms(model.components_, model.corpus_.term_counts, 3)
    expected = [", ".join(model.corpus_.vocabulary[v] for v in row) for row in own]
    assert model.topic_labels_ == expected == model.topics()["label"].tolist()
    assert model.named_topics_ == {}


def test_names_are_shown_everywhere(model, tmp_path):
    assert model.set_topic_labels({0: "money <b>"}) is model
    assert model.topic_labels_[0] == model.topics()["label"][0] == model.quality()["label"][0] == "money <b>"
    documents = model.documents()
    first = documents[documents["topic"] == 0].iloc[0]
    assert first["label"] == "money <b>"
    assert first["topics"].startswith("0 money <b>: ")
    assert "money <b>" in model.document_topics().columns
    assert "Largest: money <b> (" in str(model)
    assert "money &lt;b&gt;" in model._repr_mimebundle_()["text/html"]
    assert model.to_datatree()["constant_data"]["label"].values.tolist() == model.topic_labels_
    assert model.representative_documents("Money <b>").equals(model.representative_documents(0))
    page = model.report(tmp_path / "report.html").read_text("utf-8")
    assert r'"labels":{"0":"money \u003cb\u003e"}' in page
    assert model.label_table()["name"].tolist() == ["money <b>"] + [""] * (model.n_topics_ - 1)


def test_a_name_needs_a_topic(model):
    with raises(SettingsError, "unknown-topic", f"topic {model.n_topics_}"):
        model.set_topic_labels({model.n_topics_: "x"})
    assert model.named_topics_ == {}
    with pytest.raises(NotFittedError):
        HDPTopicModel().set_topic_labels({0: "x"})


# ---------------------------------------------------------------- kept


def test_names_are_saved_and_loaded(model, tmp_path):
    model.set_topic_labels({0: "money"})
    model.save(tmp_path / "model")
    loaded = HDPTopicModel.load(tmp_path / "model")
    assert loaded.named_topics_ == {0: "money"}
    assert "money" in (tmp_path / "model" / "topics.csv").read_text()
    assert "| 0 | money |" in (tmp_path / "model" / "README.md").read_text()
    loaded.set_topic_labels(None).save(tmp_path / "model", overwrite=True)
    assert not (tmp_path / "model" / "names.json").exists()
    assert HDPTopicModel.load(tmp_path / "model").named_topics_ == {}


def test_a_model_that_is_kept_in_its_folder_keeps_names_at_once(tmp_path):
    model = fit(checkpoint_dir=tmp_path / "model")
    model.set_topic_labels({0: "money"})
    assert HDPTopicModel.load(tmp_path / "model").named_topics_ == {0: "money"}
    assert "money" in (tmp_path / "model" / "topics.csv").read_text()
    again = fit(checkpoint_dir=tmp_path / "model")  # continues the existing model
    assert again.named_topics_ == {0: "money"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fresh = HDPTopicModel(**QUICK).fit(TEXTS, overwrite=True, checkpoint_dir=tmp_path / "model")
    assert fresh.named_topics_ == {}
    assert HDPTopicModel.load(tmp_path / "model").named_topics_ == {}


def test_names_go_into_the_folder_alone(model, tmp_path):
    model.save(tmp_path / "model")
    (tmp_path / "model" / "notes.txt").write_text("mine")
    loaded = HDPTopicModel.load(tmp_path / "model").set_topic_labels({0: "money"})
    assert HDPTopicModel.load(tmp_path / "model").named_topics_ == {}
    loaded.save_labels(tmp_path / "model")
    assert HDPTopicModel.load(tmp_path / "model").named_topics_ == {0: "money"}
    assert (tmp_path / "model" / "notes.txt").exists()
    with raises(ModelError, "not-kept-there", tmp_path / "elsewhere"):
        model.save_labels(tmp_path / "elsewhere")
    fit(random_state=5).save(tmp_path / "model", overwrite=True)
    with raises(ModelError, "model-replaced"):
        loaded.save_labels(tmp_path / "model")


def test_names_that_cannot_be_kept_are_not_given(tmp_path):
    model = fit(checkpoint_dir=tmp_path / "model")
    with locked_name(tmp_path / "model"), raises(ModelError, "locked", tmp_path / "model"):
        model.set_topic_labels({0: "money"})
    assert model.named_topics_ == {}


@pytest.mark.parametrize(
    "damage", [{"topics": 7}, {"topics": [{"topic": 0}]}, {"format": "else"}, {"terms": 5}, {"version": 99}]
)
def test_a_damaged_file_of_names_is_named(damage, model, tmp_path):
    model.set_topic_labels({0: "money"}).save(tmp_path / "model")
    path = tmp_path / "model" / "names.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | damage))
    with raises(ModelError, "newer-format" if "version" in damage else "damaged-file", path):
        HDPTopicModel.load(tmp_path / "model")


# ---------------------------------------------------------------- carried on


def test_names_follow_their_topics_when_a_run_is_made_longer(model, tmp_path):
    money = int(model.find_topics("bonds")["topic"][0])
    model.set_topic_labels({money: "money"})
    model.save(tmp_path / "model")
    for longer in (model.resume(30), HDPTopicModel.load(tmp_path / "model").resume(30)):
        assert longer.named_topics_ == {int(longer.find_topics("bonds")["topic"][0]): "money"}


def test_names_on_disk_belong_to_their_terms_not_to_numbers(model, tmp_path):
    """As after a run that was killed when it had changed the chains, but not the names."""
    money = int(model.find_topics("bonds")["topic"][0])
    model.set_topic_labels({money: "money"}).save(tmp_path / "model")
    path = tmp_path / "model" / "names.json"
    facts = json.loads(path.read_text())
    facts["topics"][0]["topic"] = (money + 1) % model.n_topics_
    path.write_text(json.dumps(facts))
    assert HDPTopicModel.load(tmp_path / "model").named_topics_ == {money: "money"}


def test_names_of_topics_that_are_gone_are_dropped_with_a_warning(model, tmp_path):
    model.set_topic_labels({0: "money"}).save(tmp_path / "model")
    path = tmp_path / "model" / "names.json"
    facts = json.loads(path.read_text())
    # A topic of one term alone, of which the model has none.
    facts["topics"][0] |= {"terms": [model.corpus_.vocabulary.index("drink")], "probabilities": [1.0]}
    path.write_text(json.dumps(facts))
    with warns("names-dropped", "'money'"):
        assert HDPTopicModel.load(tmp_path / "model").named_topics_ == {}


def test_a_new_fit_drops_names_with_a_warning(model):
    model.set_topic_labels({0: "money"})
    assert clone(model).fit(TEXTS).named_topics_ == {}
    with warns("names-dropped", "1 name", "set_topic_labels"):
        model.fit(TEXTS)
    assert model.named_topics_ == {}


# ---------------------------------------------------------------- terms


@pytest.fixture
def pipeline():
    return make_pipeline(CountVectorizer(), HDPTopicModel(**QUICK)).fit(TEXTS)


def test_terms_can_be_named_once_for_all(pipeline, tmp_path):
    vectorizer, model = pipeline
    before = model.transform(vectorizer.transform(TEXTS))
    assert model.set_feature_names(pipeline[:-1]) is model
    names = vectorizer.get_feature_names_out().tolist()
    assert list(model.corpus_.vocabulary) == names
    assert set(model.topics()["terms"][0].split(", ")) <= set(names)
    assert model.find_topics("bonds")["probability"][0] > 0
    assert model.to_pyldavis()["vocab"] == names
    np.testing.assert_array_equal(model.transform(vectorizer.transform(TEXTS)), before)
    model.save(tmp_path / "model")
    assert (tmp_path / "model" / "vocabulary.txt").read_text().split() == names
    loaded = HDPTopicModel.load(tmp_path / "model")
    assert list(loaded.corpus_.vocabulary) == names
    loaded.resume(5)
    assert list(loaded.corpus_.vocabulary) == names
    loaded.set_topic_labels({0: "money"}).save(tmp_path / "again")
    assert list(HDPTopicModel.load(tmp_path / "again").corpus_.vocabulary) == names


def test_terms_of_a_model_that_is_kept_in_its_folder(tmp_path):
    pipeline = make_pipeline(CountVectorizer(), HDPTopicModel(**QUICK))
    where = {"hdptopicmodel__checkpoint_dir": tmp_path / "model"}
    model = pipeline.fit(TEXTS, **where)[-1].set_feature_names(pipeline[0])
    names = list(model.corpus_.vocabulary)
    assert list(HDPTopicModel.load(tmp_path / "model").corpus_.vocabulary) == names
    again = pipeline.fit(TEXTS, **where)[-1]  # the same counts: it continues, and has the names
    assert list(again.corpus_.vocabulary) == names


@pytest.mark.parametrize(
    ("names", "error", "code", "facts"),
    [
        ("cats", SettingsError, "wrong-type", ["names='cats'"]),
        (7, SettingsError, "wrong-type", ["names=7"]),
        (["a", "b"], CorpusError, "vocabulary-mismatch", ["2 names", "11 terms"]),
        (["a"] * 11, CorpusError, "duplicate-term", ["'a'"]),
    ],
)
def test_names_of_terms_that_do_not_fit(names, error, code, facts, pipeline):
    with raises(error, code, *facts):
        pipeline[-1].set_feature_names(names)
    assert pipeline[-1].corpus_.vocabulary[0] == "0"


def test_terms_of_texts_have_names(model):
    with raises(SettingsError, "terms-have-names"):
        model.set_feature_names(list("abcdefg"))


def test_prevalence_has_the_names(model):
    years = [2001, 2002] * 12
    assert "label" not in model.prevalence(years)
    model.set_topic_labels({0: "money"})
    frame = model.prevalence(years, topics=[0])
    assert set(frame["label"]) == {"money"}
    assert plot_prevalence(frame).axes[0].get_legend().get_texts()[0].get_text() == "0: money"
