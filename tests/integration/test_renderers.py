"""What other libraries draw of a fitted model: really drawn, where they are installed."""

import warnings
from pathlib import Path

import pytest

from franchise import HDPTopicModel
from franchise.datasets import arxiv_abstracts


@pytest.fixture(scope="module")
def model():
    texts = [*arxiv_abstracts()[:120], ""]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # many topics after few sweeps
        return HDPTopicModel(eta=0.5, sweeps=20, chains=2, random_state=0, verbose=0).fit(texts)


@pytest.mark.filterwarnings("ignore")  # theirs
def test_pyldavis(model, tmp_path):
    pyldavis = pytest.importorskip("pyLDAvis", reason="pyLDAvis is not installed")
    prepared = pyldavis.prepare(**model.to_pyldavis(), sort_topics=False, start_index=0, n_jobs=1)
    assert prepared.topic_coordinates.index.tolist() == list(range(model.n_topics_))
    pyldavis.save_html(prepared, str(tmp_path / "topics.html"))
    page = (tmp_path / "topics.html").read_text("utf-8")
    assert "LDAvis" in page
    largest = model.topics(1)["terms"].iloc[0]
    assert f'"{largest}"' in page


@pytest.mark.filterwarnings("ignore")  # theirs
def test_topicwizard(model, monkeypatch):
    topicwizard = pytest.importorskip("topicwizard", reason="topicwizard is not installed")
    from matplotlib import font_manager
    from topicwizard import figures

    data = model.to_topicwizard()
    assert len(data["corpus"]) == 120
    for draw in (figures.topic_map, figures.topic_barcharts, figures.document_map):
        page = draw(data).to_html()
        assert "plotly" in page
        assert data["topic_names"][0].split()[1] in page
    font = Path(font_manager.findfont("DejaVu Sans"))  # or it would fetch one
    for module in ("topics", "documents"):
        monkeypatch.setattr(f"topicwizard.plots.{module}.get_default_font_path", lambda: font)
    client = topicwizard.get_dash_app(data).server.test_client()
    assert client.get("/").status_code == 200
    layout = client.get("/_dash-layout").get_data(as_text=True)
    assert data["topic_names"][0] in layout


def test_topicwizard_s_data(model):
    data = model.to_topicwizard()
    n_documents, n_terms = data["document_term_matrix"].shape
    assert data["document_topic_matrix"].shape == (n_documents, model.n_topics_)
    assert data["topic_term_matrix"].shape == (model.n_topics_, n_terms)
    assert data["document_topic_matrix"].sum(axis=1) == pytest.approx(1.0)
    assert len(data["topic_names"]) == model.n_topics_
    assert data["transform"](["A new star"]).shape == (1, model.n_topics_)
