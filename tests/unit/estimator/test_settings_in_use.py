"""What was used is shown where a setting leaves it open: in the report, the card and model.json."""

import json
import re

import pytest

from franchise import HDPTopicModel, Schedule, SettingsError, TextOptions, from_texts
from tests.raising import raises
from tests.settings import fit

TEXTS = ["cats drink milk", "dogs chase cats", "stocks and bonds fell", "bonds rose as stocks fell"] * 15
FEW, MANY = 12, 60  # documents


pytestmark = pytest.mark.filterwarnings("ignore:there are more topics")


def fitted(n_documents, **changes):
    settings = {"sweeps": 12, "chains": 1, "random_state": 0, "verbose": 0} | changes
    return fit(TEXTS[:n_documents], **settings)


@pytest.mark.parametrize(("n_documents", "min_df", "max_df"), [(FEW, 1, 1.0), (MANY, 2, 0.5)])
def test_text_options(n_documents, min_df, max_df, tmp_path):
    model = fitted(n_documents)
    model.save(tmp_path / "m")
    stored = json.loads((tmp_path / "m" / "model.json").read_text("utf-8"))["settings"]["in_use"][
        "text_options"
    ]
    assert (stored["min_df"], stored["max_df"]) == (min_df, max_df)
    card = (tmp_path / "m" / "README.md").read_text("utf-8")
    shown = json.loads(re.search(r"```json\n(.*?)```", card, re.DOTALL)[1])
    assert (shown["min_df"], shown["max_df"]) == (min_df, max_df)
    loaded = HDPTopicModel.load(tmp_path / "m")
    assert loaded.settings_ == model.settings_


def test_concentrations_and_schedule(tmp_path):
    model = fitted(FEW, alpha=(2.0, 0.5), gamma=3.0)
    in_use = dict(model.settings_["in_use"])
    assert in_use.pop("text_options")["min_df"] == 1
    trials = in_use.pop("split_merge")
    assert (trials["trials"], trials["adapt"], trials["until"]) == (10, 6, None)
    assert in_use == {
        "alpha": "estimated under Gamma(2, 0.5)",
        "gamma": 3.0,
        "eta": 0.1,
        "burn_in": 6,
        "thin": 1,
        "warm_up": 3,
        "warm_up_from": 0.3,
        "merges": (),
    }
    card = (_saved(model, tmp_path / "m") / "README.md").read_text("utf-8")
    assert '"split_merge": "at most 10 trials per sweep, of ' in card
    without = fitted(FEW, schedule=Schedule(split_merge="off"))
    assert without.settings_["in_use"]["split_merge"] == "off"
    model.resume(12)
    assert (model.settings_["in_use"]["burn_in"], model.settings_["in_use"]["warm_up"]) == (12, 3)


def _saved(model, folder):
    model.save(folder)
    return folder


WHY = {"eta": "0.1 (fewer than 100 documents)", "init": "fitted (fewer than 100 documents)"}
IN_WORDS = (
    "Chosen for these documents: eta 0.1 (fewer than 100 documents); init fitted (fewer than 100 documents)"
)


def test_what_auto_has_become_is_said_and_kept(tmp_path):
    """The settings have the values that were used, and why; a fit with these values is the same."""
    model = fitted(FEW)
    assert model.settings_["chosen"] == WHY
    assert (model.settings_["eta"], model.settings_["init"]) == (0.1, "fitted")
    assert f"  {IN_WORDS}\n" in str(model)
    model.save(tmp_path / "m")
    stored = json.loads((tmp_path / "m" / "model.json").read_text("utf-8"))["settings"]
    assert (stored["eta"], stored["init"], stored["chosen"]) == (0.1, "fitted", WHY)
    loaded = HDPTopicModel.load(tmp_path / "m")
    assert IN_WORDS in str(loaded)
    assert loaded.resume(4).settings_["chosen"] == WHY
    given = fitted(FEW, eta=0.1, init="fitted")
    assert given.settings_["chosen"] == {}
    assert "Chosen" not in str(given)
    assert (given.components_ == model.components_).all()
    half = fitted(FEW, init="fitted")
    assert list(half.settings_["chosen"]) == ["eta"]


def test_what_was_chosen_stays_known_where_a_fit_continues_in_its_folder(tmp_path):
    fitted(FEW, checkpoint_dir=tmp_path / "m")
    again = fitted(FEW, checkpoint_dir=tmp_path / "m", sweeps=16)
    assert again.settings_["chosen"] == WHY
    assert HDPTopicModel.load(tmp_path / "m").settings_["chosen"] == WHY


def test_progress_begins_with_what_was_chosen(monkeypatch, capsys):
    monkeypatch.setattr("franchise._progress._PATIENCE", 0.0)
    fitted(FEW, verbose=1)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == IN_WORDS
    assert lines.count(IN_WORDS) == 1


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_effective_counts_is_a_flag(value):
    with raises(SettingsError, "not-a-flag", f"effective_counts={value!r}", "True or False"):
        fitted(FEW, effective_counts=value)
    with raises(SettingsError, "not-a-flag", "effective_counts"):
        HDPTopicModel(effective_counts=value).forecast(TEXTS)


def test_the_report(tmp_path):
    pytest.importorskip("jinja2")
    page = fitted(MANY).report(tmp_path / "page.html").read_text("utf-8")
    settings = re.sub(r"<[^>]*>", " ", page[page.index('id="settings"') :])
    settings = " ".join(settings.split())
    assert "automatic" not in settings
    for shown in ("alpha estimated under Gamma(1, 1)", "min df 2", "max df 0.5", "burn in 6", "warm up 3"):
        assert shown in settings
    assert f"chosen {IN_WORDS.removeprefix('Chosen for these documents: ')}" in settings


def test_a_part_of_a_corpus_has_the_terms_of_the_whole():
    part = from_texts(TEXTS).select(range(FEW))
    assert (part.text_options.min_df, part.text_options.max_df) == (2, 0.5)
    assert TextOptions(min_df=3).resolved(FEW) == TextOptions(min_df=3, max_df=1.0)
