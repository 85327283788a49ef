"""Metadata and prevalence of a fitted model: planted shares are found, and nothing else changes."""

import numpy as np
import pandas as pd
import pytest

from franchise import HDPTopicModel, from_tokens
from franchise.errors import CorpusError, SettingsError
from tests.raising import raises

YEARS = range(2010, 2016)
QUICK = {"init": "fitted", "sweeps": 40, "chains": 2, "eta": 1.0, "random_state": 0, "verbose": 0}


def planted(seed=0, per_year=25, length=40):
    """Return documents, years and the expected share of the words a0, a1, ... that rises with the years."""
    rng = np.random.default_rng(seed)
    rising = dict(zip(YEARS, np.linspace(0.15, 0.75, len(YEARS))))
    documents, years = [], []
    for year, mean in rising.items():
        for share in rng.beta(mean, 1 - mean, per_year):
            kinds = np.where(rng.random(length) < share, "a", "b")
            documents.append([f"{kind}{v}" for kind, v in zip(kinds, rng.integers(0, 8, length))])
            years.append(year)
    return documents, years, rising


@pytest.fixture(scope="module")
def model():
    documents, years, _ = planted()
    known = pd.DataFrame({"year": years, "when": [f"{year}-07-01" for year in years]})
    return HDPTopicModel(**QUICK).fit(documents, metadata=known)


def test_planted_shares_are_covered(model):
    frame = model.prevalence("year", n_terms=1)
    rising = planted()[2]
    topic = next(k for k, terms in zip(frame["topic"], frame["terms"]) if terms.startswith("a"))
    found = frame[frame["topic"] == topic]
    assert found["group"].tolist() == list(YEARS)
    assert found["share"].is_monotonic_increasing
    # Two chains of 40 sweeps: one year in six may be missed.
    covered = (found["low"] <= list(rising.values())) & (found["high"] >= list(rising.values()))
    assert covered.sum() >= 5
    assert ((found["high"] - found["low"]) < 0.4).all()


def test_a_column_an_array_and_dates_give_the_same(model):
    by_name = model.prevalence("year")
    years = planted()[1]
    for by, step in ((years, None), (pd.Series(years), None), ("when", "year")):
        pd.testing.assert_frame_equal(model.prevalence(by, step=step), by_name)
    assert set(model.prevalence("when")["group"]) == {f"{year}-07" for year in YEARS}
    assert set(model.prevalence("year", step=3)["group"]) == {2010, 2013}


def test_the_old_name_of_the_random_state_is_refused(model):
    with raises(SettingsError, "moved-setting", "seed", "random_state"):
        model.prevalence("year", seed=1)


def test_the_figure_is_that_of_the_table(model):
    (ax,) = model.plot_prevalence("year", topics=[0]).axes
    assert ax.get_xlabel() == "year"
    shares = model.prevalence("year", topics=[0])["share"]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), shares)
    (ax,) = model.plot_prevalence(list(model.corpus_.metadata["year"].values), name="when").axes
    assert ax.get_xlabel() == "when"


def test_metadata_are_saved_with_the_model(model, tmp_path):
    model.save(tmp_path / "m")
    again = HDPTopicModel.load(tmp_path / "m")
    pd.testing.assert_frame_equal(again.corpus_.metadata, model.corpus_.metadata)
    pd.testing.assert_frame_equal(again.prevalence("year"), model.prevalence("year"))


def test_metadata_do_not_change_the_chains(model):
    documents, years, _ = planted()
    without = HDPTopicModel(**QUICK).fit(documents)
    assert without.trace_.drop(columns="seconds").equals(model.trace_.drop(columns="seconds"))
    assert without.prevalence(years).equals(model.prevalence(years))
    with raises(CorpusError, "no-metadata"):
        without.prevalence("year")


def test_topics_by_name_and_alone(model):
    by_number = model.prevalence("year", topics=[1])
    model.set_topic_labels({1: "rising"})
    try:
        by_name = model.prevalence("year", topics="rising")
        pd.testing.assert_frame_equal(by_name.drop(columns="label"), by_number)
        both = model.prevalence("year", topics=["rising", 0])
        assert both["topic"].unique().tolist() == [1, 0]
        for topics in ("rising", 1, ["rising"]):
            assert len(model.plot_prevalence("year", topics=topics).axes[0].lines) == 1
        with raises(SettingsError, "unknown-topic", "topics='risng'", "'rising'"):
            model.prevalence("year", topics=["risng"])
    finally:
        model.set_topic_labels(None)


def test_a_corpus_brings_its_own():
    documents, years, _ = planted(per_year=2)
    corpus = from_tokens(documents, metadata={"year": years})
    fitted = HDPTopicModel(**{**QUICK, "sweeps": 4}).fit(corpus)
    assert fitted.corpus_.metadata["year"].tolist() == years
    other = HDPTopicModel(**{**QUICK, "sweeps": 4}).fit(corpus, metadata={"half": ["x"] * len(years)})
    assert list(other.corpus_.metadata) == ["half"]


def test_wrong_lengths_are_refused_before_anything_is_made(tmp_path):
    folder = tmp_path / "m"
    with raises(CorpusError, "wrong-length", "metadata['year']", "1 values", "2 documents"):
        HDPTopicModel(**QUICK).fit([["a"], ["b"]], metadata={"year": [1]}, checkpoint_dir=folder)
    assert not folder.exists()
