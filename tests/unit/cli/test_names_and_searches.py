"""Commands that name topics, find them by a term, and show documents, called in this process."""

import csv
import io
import json
import shutil

import pytest
from click.testing import CliRunner

from franchise.cli import main
from franchise.datasets import arxiv_abstracts


def call(*arguments, ending=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == ending, result.output
    assert "Traceback" not in result.output
    return result


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    (folder / "texts.txt").write_text("\n".join(arxiv_abstracts()[:60]) + "\n", "utf-8")
    options = ["--sweeps", "8", "--chains", "2", "--eta", "0.5", "--quiet"]
    call("fit", folder / "texts.txt", "-o", folder / "model", *options)
    return folder


@pytest.fixture
def model(folder, tmp_path):
    """Return a copy of the model that may be changed."""
    return shutil.copytree(folder / "model", tmp_path / "model")


# ---------------------------------------------------------------- label


def test_names_go_round(model, folder, tmp_path):
    template = call("label", model).stdout
    assert [row["name"] for row in rows(template)] == [""] * len(rows(template))
    (tmp_path / "names.csv").write_text(template.replace("\n0,,", "\n0,everything,"))
    assert call("label", model, tmp_path / "names.csv").stdout.startswith("1 topic of ")
    assert (model / "config.toml").exists()  # nothing else is touched
    assert rows(call("label", model).stdout)[0]["name"] == "everything"
    assert "everything" in call("topics", model).stdout
    assert rows(call("topics", model, "--format", "csv").stdout)[0]["label"] == "everything"
    assert "0 everything: 0." in call("documents", model).stdout
    assert "0 everything: 0." in call("infer", model, folder / "texts.txt").stdout
    call("label", model, "--clear")
    assert rows(call("label", model).stdout)[0]["name"] == ""


def test_new_documents_have_the_names_too(model, folder, tmp_path):
    (tmp_path / "names.csv").write_text("topic,name\n0,words\n1,everything else\n")
    call("label", model, tmp_path / "names.csv")
    new = rows(call("infer", model, folder / "texts.txt", "--format", "csv").stdout)
    # There is a column of that name already.
    assert list(new[0])[:5] == ["document", "words", "unknown", "words (0)", "everything else"]
    assert "topic_2" in new[0]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "names.csv: "),
        ("topic,name\n999,x\n", "'999'"),
        ("a,b\n1,2\n", "topic and name"),
        ('topic,name,terms\n0,x,"qwe, rty, uio"\n', "names.csv"),
    ],
)
def test_files_that_are_not_names(content, said, model, tmp_path):
    if content:
        (tmp_path / "names.csv").write_text(content)
    assert said in call("label", model, tmp_path / "names.csv", ending=1).stderr
    assert not (model / "names.json").exists()


def test_names_that_are_given_and_taken_away(model):
    assert "--clear" in call("label", model, "names.csv", "--clear", ending=2).stderr
    assert "nowhere: " in call("label", "nowhere", "names.csv", ending=1).stderr


# ---------------------------------------------------------------- searches


def test_topics_with_a_term(folder):
    found = json.loads(call("topics", folder / "model", "--find", "quantum", "--format", "json").stdout)
    assert found[0]["probability"] == max(row["probability"] for row in found)
    assert "quantum" in call("topics", folder / "model", "--find", "quantum", "--find", "model").stdout
    assert "quantum" in call("topics", folder / "model", "--find", "quantun", ending=2).stderr


def test_documents_are_shown_by_how_they_begin(folder):
    texts = (folder / "texts.txt").read_text("utf-8").splitlines()
    table = call("documents", folder / "model").stdout
    assert table.split("\n")[0].split() == ["document", "words", "topics", "opening"]
    beginning = " ".join(texts[0].split())[:40]
    assert beginning in table
    assert " ".join(texts[0].split())[:100] not in table
    about = call("documents", folder / "model", "--topic", "0", "-n", "2").stdout
    assert "text" not in about.split("\n")[0]
    assert max(map(len, about.splitlines())) < 130
    whole = rows(call("documents", folder / "model", "--topic", "0", "-n", "2", "--format", "csv").stdout)
    assert all(row["text"] in texts for row in whole)


def test_documents_are_printed_some_at_a_time(folder, monkeypatch):
    """What is printed is the same."""
    whole = {
        kind: call("documents", folder / "model", "--format", kind).stdout
        for kind in ("table", "csv", "json")
    }
    assert len(json.loads(whole["json"])) == len(rows(whole["csv"])) == 60
    monkeypatch.setattr("franchise.posterior.estimates._MOST_KEPT", 0)
    monkeypatch.setattr("franchise.posterior.estimates._CELLS", 200)
    for kind, text in whole.items():
        assert call("documents", folder / "model", "--format", kind).stdout == text


def test_documents_like_another(folder):
    like = rows(call("documents", folder / "model", "--like", "3", "-n", "4", "--format", "csv").stdout)
    assert len(like) == 4
    assert "3" not in [row["number"] for row in like]
    text = call("documents", folder / "model", "--like", "a new model of quantum fields and energy").stdout
    assert len(text.splitlines()) == 11


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--topic", "0", "--like", "3"], "--topic and --like"),
        (["-n", "3"], "--topic or --like"),
    ],
)
def test_options_of_documents_that_do_not_fit(options, said, folder):
    assert said in call("documents", folder / "model", *options, ending=2).stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--topic", "cosmology"], "--topic cosmology: "),
        (["--topic", "999"], "--topic 999: "),
        (["--topic", "-1"], "--topic -1: "),
        (["--like", "xyzzy plugh"], "--like 'xyzzy plugh': "),
        (["--like", "999"], "from 0 to 59"),
        (["--like", "3", "-n", "0"], "n=0"),
    ],
)
def test_documents_and_topics_that_are_not_there(options, said, folder):
    assert said in call("documents", folder / "model", *options, ending=2).stderr
