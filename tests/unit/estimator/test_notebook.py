"""What notebooks show of a model, and its tables and figures by a call."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn import config_context
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from franchise import HDPTopicModel, SettingsError
from franchise.report import figures
from tests.raising import raises, warns

TEXTS = [
    "cats drink <i>milk</i>",
    "dogs chase cats",
    "stocks and bonds fell",
    "bonds rose as stocks fell",
] * 6
QUICK = {"sweeps": 20, "chains": 2, "random_state": 0, "verbose": 0}
FIGURES = (
    "plot_topics",
    "plot_topic_bars",
    "plot_n_topics",
    "plot_trace",
    "plot_topic_mass",
    "plot_similarity",
)


@pytest.fixture(scope="module")
def model():
    with warns("html-in-texts"):
        return HDPTopicModel(**QUICK).fit(TEXTS).set_topic_labels({0: "money & more"})


# ---------------------------------------------------------------- shown


def test_a_fitted_model_shows_its_answer(model):
    shown = model._repr_mimebundle_()
    assert shown["text/plain"] == str(model)
    page = shown["text/html"]
    assert page == model._repr_html_()
    assert "HDPTopicModel of 24 documents" in page
    assert "money &amp; more" in page
    assert "random_state" not in page
    assert page.count("<tr>") == 1 + min(10, model.n_topics_)


def test_what_has_no_answer_is_shown_as_scikit_learn_does():
    page = HDPTopicModel()._repr_mimebundle_()["text/html"]
    assert "sk-" in page
    assert HDPTopicModel()._repr_html_().count("sk-") > 0


def test_scikit_learn_decides_whether_to_draw(model):
    with config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()
        assert not hasattr(model, "_repr_html_")


def test_pipelines_are_drawn_by_scikit_learn():
    pipeline = make_pipeline(CountVectorizer(), HDPTopicModel(**QUICK)).fit(TEXTS)
    page = pipeline._repr_mimebundle_()["text/html"]
    assert "HDPTopicModel" in page
    assert "franchise" not in page.split("HDPTopicModel")[0]


def test_a_diagnosis_and_a_score_are_tables(model):
    diagnosis = model.diagnose()
    page = diagnosis._repr_html_()
    assert diagnosis.messages[0].split(":")[0] in page
    assert page.count("<tr>") == 1 + len(diagnosis.table)
    score = model.held_out(TEXTS[:4])
    assert f"{score.per_word:.4f}" in score._repr_html_()


# ---------------------------------------------------------------- figures


@pytest.mark.parametrize("name", FIGURES)
def test_figures_of_a_model(name, model):
    figure = getattr(model, name)()
    assert isinstance(figure, Figure)
    assert figure._repr_png_().startswith(b"\x89PNG")  # a notebook shows it without pyplot
    assert isinstance(getattr(figures, name)(model), Figure)
    with pytest.raises(NotFittedError):
        getattr(HDPTopicModel(), name)()


def test_figures_have_the_names(model):
    (ax,) = model.plot_topics().axes
    assert [tick.get_text() for tick in ax.get_yticklabels()][:2] == ["0 money & more", "1"]
    bars = model.plot_topic_bars([1, 0], n_terms=3)
    assert [ax.get_title() for ax in bars.axes] == ["topic 1", "topic 0 money & more"]
    assert len(bars.axes[0].patches) == 3


def test_figures_draw_what_the_model_has(model):
    (ax,) = model.plot_trace("log_joint").axes
    rows = model.trace_[model.trace_["chain"] == 0]
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), rows["log_joint"])
    assert len([one for one in ax.patches]) == 1  # the burn-in
    with raises(SettingsError, "not-a-whole-number", "chain=2", "from 0 to 1"):
        model.plot_topic_mass(chain=2)
    with raises(SettingsError, "unknown-column", "column='topics'", "trace 0"):
        model.plot_trace("topics")


# ---------------------------------------------------------------- tables


def test_tables_by_a_call(model):
    shares = model.document_topics()
    assert shares.columns.tolist() == [*model.topic_labels_, "unlisted"]
    assert model.document_topics([0], interval=True).shape == (1, 3 * model.n_topics_ + 1)
    assert model.find_topics("bonds", 1)["label"].tolist() == ["money & more"]
    with raises(SettingsError, "unknown-term", "bonds"):
        model.find_topics("bond")


def test_similar_documents_of_a_document_and_of_a_text(model):
    by_number, by_name = model.similar_documents(2, 3), model.similar_documents("2", 3)
    assert by_number.equals(by_name)
    assert 2 not in by_number["number"].tolist()
    assert set(by_number["opening"]) <= set(TEXTS[2:4])
    assert set(model.similar_documents("stocks and bonds", 3)["opening"]) <= set(TEXTS[2:4])
    with raises(SettingsError, "not-a-whole-number", "document=99"):
        model.similar_documents(99)
    with raises(SettingsError, "wrong-type", "document=['stocks']"):
        model.similar_documents(["stocks"])
