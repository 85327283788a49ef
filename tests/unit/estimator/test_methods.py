"""The paragraphs for a paper: every effective setting is named, whatever the settings, in each format."""

import re

import numpy as np
import pytest

from franchise import HDPTopicModel, Schedule, SplitMerge, __version__, from_texts
from franchise.errors import SettingsError
from franchise.posterior.references import HDP, SPLIT_MERGE
from tests.raising import raises

QUICK = {"sweeps": 12, "chains": 2, "eta": 0.5, "init": "fitted", "random_state": 7, "verbose": 0}
ANIMALS = ["cat", "dog", "mouse", "horse", "cow", "sheep"]
MONEY = ["bank", "bond", "stock", "market", "price", "money"]


def texts(n=60):
    rng = np.random.default_rng(0)
    return [" ".join(rng.choice((ANIMALS, MONEY)[i % 2], 20)).capitalize() + " the." for i in range(n)]


def fitted(documents=None, **settings):
    return HDPTopicModel(**QUICK | settings).fit(texts() if documents is None else documents)


@pytest.fixture(scope="module")
def model():
    return fitted()


def test_what_it_says_of_the_usual_fit(model):
    text = model.methods()
    data, of_model, sampling, diagnosis, software = text.split("\n\n")[:5]
    for fact in ("60 documents", f"{model.corpus_.n_words:,} words", "12 different terms", "lower case"):
        assert fact in data
    # Effective values, although nothing was given.
    for fact in (
        "scikit-learn's list for English",
        "fewer than 2 documents",
        "more than 50% of the documents",
    ):
        assert fact in data
    for fact in ("Teh et al. 2006", "η = 0.5", "Gamma(1, 1)"):
        assert fact in of_model
    mean = float(model.diagnose().table.loc["alpha", "mean"])
    assert f"posterior mean {mean:.3g}" in of_model
    for fact in (
        "2 independent chains",
        "12 sweeps",
        "first 6",
        "12 draws",
        "Wang and Blei 2012",
        "seed was 7",
    ):
        assert fact in sampling
    assert f"franchise {__version__}" in sampling
    assert f"{len(model.diagnose().solid_topics)} topic" in diagnosis
    assert f"NumPy {np.__version__}" in software


@pytest.mark.parametrize(
    ("options", "facts", "not_said"),
    [
        ({"min_df": 3, "max_df": 40}, ["fewer than 3 documents", "more than 40 documents"], []),
        ({"min_df": 0.05, "max_df": 1.0}, ["fewer than 5% of the documents"], ["more than"]),
        ({"stop_words": None, "min_df": 1, "max_df": 1.0}, ["No word was left out"], ["stop words"]),
        ({"stop_words": ["the", "cow"]}, ["2 stop words of our own"], ["scikit-learn's"]),
        ({"stop_words": "german"}, ["German"], ["scikit-learn's list"]),
        ({"ngram_range": (1, 2), "max_features": 9}, ["1 to 2 words", "the 9 with the most words"], []),
        ({"token_pattern": r"[a-z_]+\d?", "lowercase": False}, [r"“[a-z_]+\d?”"], ["lower case"]),
    ],
)
def test_rules_by_which_words_are_left_out(options, facts, not_said):
    data = fitted(text_options=options).methods().split("\n\n")[0]
    assert all(fact in data for fact in facts)
    assert not any(fact in data for fact in not_said)


@pytest.mark.parametrize(
    ("settings", "facts"),
    [
        ({"eta": (1.0, 2.0)}, ["Gamma(1, 2)", "parameter η, which"]),
        ({"eta": "auto"}, ["η = 0.1", "the program chooses"]),
        ({"alpha": 0.7, "gamma": (2.0, 1.0)}, ["in a document is 0.7", "Gamma(2, 1)"]),
        ({"init": "apart"}, ["an empty state", "a single topic"]),
        ({"init": 3}, ["3 random topics"]),
        ({"init": {"pets": ["cat", "dog"], "funds": ["bond"]}}, ["seed words (2 topics)"]),
        ({"engine": "parallel"}, ["all documents at once"]),
        ({"schedule": Schedule(split_merge=SplitMerge(until=4))}, ["split and merged up to sweep 4"]),
        ({"chains": 1}, ["One chain", "not examined"]),
        ({"burn_in": 0, "schedule": Schedule(thin=4)}, ["first 0", "every 4th sweep", "6 draws"]),
    ],
)
def test_settings_are_named(settings, facts):
    text = fitted(**settings).methods()
    assert [fact for fact in facts if fact not in text] == []


def test_without_split_and_merge_their_paper_is_not_cited():
    one = fitted(schedule=Schedule(split_merge="off"))
    assert "Wang" not in one.methods()
    assert SPLIT_MERGE.key not in one.methods("bibtex")


def test_counts_and_what_was_left_out_of_them():
    counts = np.random.default_rng(1).poisson(3.0, (40, 8))
    counts[5] = 0
    data = fitted(counts).methods().split("\n\n")[0]
    assert "counted before" in data
    assert "1 document has no words" in data
    fewer = from_texts(texts()).downsampled(9, random_state=3)
    assert "at most 9 words per document (seed 3)" in fitted(fewer).methods()


def test_latex_cites_by_the_keys_of_the_entries(model):
    latex, entries = model.methods("latex"), model.methods("bibtex")
    keys = set(re.findall(r"\\cite\{(\w+)\}", latex))
    assert {HDP.key, SPLIT_MERGE.key, "franchise"} <= keys
    assert keys == set(re.findall(r"^@\w+\{(\w+),$", entries, re.MULTILINE))
    assert "References" not in latex
    assert r"50\%" in latex
    assert not re.search(r"(?<!\\)[%&#_]", latex)
    assert entries.count("{") == entries.count("}")


def test_characters_of_a_pattern_survive_in_every_format():
    one = fitted(text_options={"token_pattern": r"(?u)\b[a-z_#]{2,}\b"})
    assert r"“(?u)\b[a-z_#]{2,}\b”" in one.methods()
    assert r"`(?u)\b[a-z_#]{2,}\b`" in one.methods("markdown")
    assert r"\texttt{(?u)\textbackslash{}b[a-z\_\#]\{2,\}\textbackslash{}b}" in one.methods("latex")


def test_markdown_has_a_list_of_references(model):
    body, _, references = model.methods("markdown").partition("### References\n")
    assert "Teh, Yee Whye" in references
    assert "Teh et al. 2006" in body


def test_a_saved_model_says_what_it_was_fitted_with(model, tmp_path):
    model.save(tmp_path / "m")
    path = tmp_path / "m" / "model.json"
    again = HDPTopicModel.load(tmp_path / "m")
    assert again.methods() == model.methods()
    facts = path.read_text().replace(f'"numpy": "{np.__version__}"', '"numpy": "1.2.3"')
    path.write_text(facts)
    assert "NumPy 1.2.3" in again.methods()


def test_an_unfinished_run_says_so():
    one = fitted().resume(500, burn_in=400, time_budget=1e-6)
    assert "sweeps of 512 planned" in one.methods()
    assert "none yet" in one.methods()


def test_unknown_formats_are_refused(model):
    with raises(SettingsError, "unknown-choice", "'html'", "'latex'", "'bibtex'"):
        model.methods("html")
    with pytest.raises(Exception, match="not fitted"):
        HDPTopicModel().methods()
