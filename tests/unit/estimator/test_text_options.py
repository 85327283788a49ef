"""How texts become words is a setting of the estimator."""

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from franchise import HDPTopicModel, SettingsError, TextOptions, from_texts, tune_eta
from tests.raising import raises

TEXTS = ["Die Katze trinkt Milch", "dogs chase the cats", "stocks and bonds fell", "bonds rose"] * 6
QUICK = {"sweeps": 6, "chains": 2, "random_state": 0, "verbose": 0}


def fitted(options, texts=TEXTS):
    return HDPTopicModel(text_options=options, **QUICK).fit(texts)


def test_they_make_the_vocabulary():
    assert "die" in fitted(None).corpus_.vocabulary
    assert "die" not in fitted({"stop_words": "german"}).corpus_.vocabulary
    assert "the" in fitted({"stop_words": None}).corpus_.vocabulary
    assert "bonds rose" in fitted({"ngram_range": (1, 2)}).corpus_.vocabulary
    assert fitted({"lowercase": False, "min_df": 1}).corpus_ == from_texts(TEXTS, lowercase=False, min_df=1)


def test_new_texts_are_split_alike():
    model = fitted({"token_pattern": r"[a-z]+", "stop_words": None})
    assert model.transform(["the dogs fell"]).shape == (1, model.n_topics_)


def test_effective_values_are_kept(tmp_path):
    given = {"ngram_range": [1, 2], "max_df": np.float64(0.9)}
    model = fitted(given)
    assert model.text_options is given
    assert model.settings_["text_options"] == {"ngram_range": [1, 2], "max_df": 0.9}
    used = model.settings_["in_use"]["text_options"]
    assert (used["min_df"], used["max_df"], used["ngram_range"], used["stop_words"]) == (
        1,
        0.9,
        [1, 2],
        "english",
    )
    model.save(tmp_path / "m")
    json.dumps(model.settings_)
    loaded = HDPTopicModel.load(tmp_path / "m")
    assert loaded.settings_ == model.settings_
    assert clone(loaded).fit(TEXTS).corpus_ == model.corpus_


def test_options_may_come_as_an_object():
    assert fitted(TextOptions(stop_words="german")).corpus_ == fitted({"stop_words": "german"}).corpus_


@pytest.mark.parametrize(
    "documents", [[["cat", "milk"]] * 4, np.ones((4, 3), int), [[1, 2], [2, 1]], from_texts(TEXTS)], ids=str
)
def test_documents_that_are_not_texts_have_none(documents):
    with raises(SettingsError, "conflicting-settings", "text_options", "words or counts"):
        fitted({"min_df": 1}, documents)
    with raises(SettingsError, "conflicting-settings", "text_options"):
        HDPTopicModel(text_options={"min_df": 1}).forecast(documents)


def test_options_that_cannot_be_are_refused_before_texts_are_read():
    def unread():
        raise AssertionError("looked at")
        yield ""

    for options, code in (
        ({"mindf": 2}, "unknown-option"),
        ({"min_df": -1}, "out-of-range"),
        (3, "wrong-type"),
    ):
        with pytest.raises(SettingsError) as error:
            fitted(options, unread())
        assert error.value.code == code


def test_a_grid_search_tunes_them():
    grid = {"text_options": [None, {"stop_words": "german"}], "eta": [0.1, (1.0, 1.0)]}
    search = GridSearchCV(HDPTopicModel(**QUICK), grid, cv=2).fit(TEXTS)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_params_["text_options"] in grid["text_options"]
    scores = cross_val_score(HDPTopicModel(text_options={"min_df": 1}, **QUICK), TEXTS, cv=2)
    assert np.isfinite(scores).all()


def test_tune_eta_takes_them():
    found = tune_eta(TEXTS, (0.1, 1.0), text_options={"stop_words": "german"}, sweeps=4, chains=1, verbose=0)
    assert len(found.found) == 2
