"""HDPTopicModel keeps scikit-learn's conventions."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

from franchise import CorpusError, HDPTopicModel, Schedule
from tests.raising import raises

TEXTS = ["cats drink milk", "dogs chase cats", "stocks and bonds fell", "bonds rose as stocks fell"] * 6
QUICK = {"sweeps": 6, "chains": 2, "random_state": 0, "verbose": 0}


def expected_failures(_):
    """Return the checks that compare `fit_transform` with `transform`."""
    why = "fit_transform returns what the chains know of the documents, transform infers it"
    return dict.fromkeys(["check_transformer_general", "check_transformer_data_not_an_array"], why)


@parametrize_with_checks([HDPTopicModel(**QUICK)], expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("ignore:there are more topics")  # some have two columns
def test_checks_of_scikit_learn(estimator, check):
    is_old = parse_version(sklearn.__version__) < parse_version("1.7.2")
    if is_old and check.func.__name__ == "check_positive_only_tag_during_fit":
        pytest.skip("this check subtracts a fraction from whole numbers, in place")
    check(estimator)


def test_in_a_pipeline():
    pipeline = make_pipeline(CountVectorizer(), HDPTopicModel(**QUICK)).fit(TEXTS)
    theta = pipeline.transform(["cats and dogs", ""])
    assert theta.shape == (2, pipeline[-1].n_topics_)
    assert np.allclose(theta.sum(axis=1), 1.0)
    names = pipeline[0].get_feature_names_out()
    model = pipeline[-1].set_feature_names(pipeline[:-1])
    assert model.topics()["terms"][0].split(", ")[0] in names
    assert model.find_topics("cats")["probability"][0] > 0
    assert pipeline.score(TEXTS[:4]) < 0.0


def test_in_a_grid_search():
    counts = CountVectorizer().fit_transform(TEXTS)
    search = GridSearchCV(HDPTopicModel(**QUICK), {"eta": [0.05, 0.5]}, cv=2).fit(counts)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("output", ["default", "pandas"])
def test_output_as_a_frame(output):
    model = HDPTopicModel(**QUICK).set_output(transform=output)
    counts = pd.DataFrame([[3, 0], [1, 2]], index=["one", "two"], columns=["ant", "bee"])
    for theta in (model.fit_transform(counts), model.transform(counts)):
        assert isinstance(theta, pd.DataFrame) == (output == "pandas")
        assert theta.shape == (2, len(model.get_feature_names_out()))
        if output == "pandas":
            assert list(theta.columns) == list(model.get_feature_names_out())
            assert list(theta.index) == ["one", "two"]
    assert list(model.feature_names_in_) == ["ant", "bee"]


def test_what_calls_transform_works_with_frames():
    model = HDPTopicModel(**QUICK).set_output(transform="pandas").fit(TEXTS)
    assert len(model.similar_documents("cats and dogs")) == 5
    assert model.to_topicwizard()["transform"](["cats"]).shape == (1, model.n_topics_)


def test_a_clone_has_the_settings_and_nothing_else():
    model = HDPTopicModel(**QUICK, eta=0.3).fit(TEXTS)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "posterior_")


@pytest.mark.parametrize(
    "question",
    ["transform", "score", "perplexity", "topics", "documents", "diagnose", "coherence", "save", "to_lda"],
)
def test_an_unfitted_model_says_so(question, tmp_path):
    arguments = {"transform": [TEXTS], "score": [TEXTS], "perplexity": [TEXTS], "save": [tmp_path / "m"]}
    with pytest.raises(NotFittedError):
        getattr(HDPTopicModel(), question)(*arguments.get(question, []))
    assert not hasattr(HDPTopicModel(), "components_")
    assert not hasattr(HDPTopicModel(), "topic_weights_")


BAD = [
    (np.nan, "count-not-finite"),
    (np.inf, "count-not-finite"),
    (-1.0, "negative-count"),
    (0.5, "fractional-count"),
]


@pytest.mark.parametrize(("bad", "code"), BAD)
@pytest.mark.filterwarnings("ignore:there are more topics")
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.coo_array, pd.DataFrame])
def test_what_is_not_a_count_is_refused_with_its_place(bad, code, kind):
    counts = np.ones((3, 4))
    model = HDPTopicModel(**QUICK, init="one").fit(kind(counts))
    counts[2, 1] = bad
    wrong = kind(counts)
    for call in (model.fit, model.transform):
        with raises(CorpusError, code, "row 2", "column 1"):
            call(wrong)


def test_a_frame_names_the_document_and_the_term():
    counts = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], index=["first", "second"], columns=["ant", "bee"])
    model = HDPTopicModel(**QUICK).fit(counts)
    counts.loc["second", "ant"] = -2.0
    for call in (model.fit, model.transform):
        with raises(CorpusError, "negative-count", "document 'second'", "term 'ant'"):
            call(counts)


def test_fit_transform_returns_what_the_chains_know():
    counts = CountVectorizer().fit_transform(TEXTS)
    for documents in (TEXTS, counts):
        model = HDPTopicModel(**QUICK)
        theta = model.fit_transform(documents)
        frame = model.document_topics().drop(columns="unlisted")
        assert np.array_equal(theta, frame.to_numpy())
        theta[:] = 0  # which does not change the model
        assert model.document_topics().drop(columns="unlisted").equals(frame)


@pytest.mark.parametrize("has_folder", [False, True])
def test_pickled_and_copied(tmp_path, has_folder):
    model = HDPTopicModel(schedule=Schedule(thin=1), **QUICK)
    model.fit(TEXTS, checkpoint_dir=tmp_path / "m" if has_folder else None)
    again = pickle.loads(pickle.dumps(model))
    assert again.topics().equals(model.topics())
    assert again.settings_ == model.settings_
    assert np.array_equal(again.transform(TEXTS[:4]), model.transform(TEXTS[:4]))
    assert again.resume(4).chains_[0].sweeps_done == 10
    if has_folder:  # the copy continues in the folder of the fit
        assert HDPTopicModel.load(tmp_path / "m").chains_[0].sweeps_done == 10
    bare = clone(model).fit(TEXTS)
    assert not bare.settings_["in_place"]
    assert bare.topics().equals(model.topics())
