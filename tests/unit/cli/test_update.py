"""``franchise update``, called in this process."""

import csv
import shutil
import tomllib

import pytest
from click.testing import CliRunner

from franchise import HDPTopicModel
from franchise.cli import main
from franchise.datasets import arxiv_abstracts

pytestmark = pytest.mark.filterwarnings("default::franchise.errors.FranchiseWarning")


def call(*arguments, ending=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == ending, result.output
    assert "Traceback" not in result.output
    return result


def write(path, numbers, columns=("id", "year", "text")):
    abstracts = arxiv_abstracts()
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(columns)
        for j in numbers:
            values = {"id": f"d{j}", "year": 2000 + j % 3, "text": abstracts[j], "other": j}
            lines.writerow([values[name] for name in columns])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    write(folder / "old.csv", range(60))
    write(folder / "new.csv", range(60, 80))
    options = ["--text-column", "text", "--id-column", "id", "--metadata", "year", "--eta", "0.5"]
    quick = ["--sweeps", "12", "--chains", "2", "--quiet", "--random-state", "1"]
    call("fit", folder / "old.csv", "-o", folder / "model", *options, *quick)
    (folder / "names.csv").write_text("topic,name\n0,everything\n")
    call("label", folder / "model", folder / "names.csv")
    return folder


@pytest.fixture
def model(folder, tmp_path):
    """Return a copy of the model that may be changed."""
    return shutil.copytree(folder / "model", tmp_path / "model")


def test_columns_are_those_of_the_fit(folder, tmp_path):
    said = call(
        "update", folder / "model", folder / "new.csv", "-o", tmp_path / "m", "--sweeps", "6", "--quiet"
    )
    assert "HDPTopicModel of 80 documents" in said.stdout
    assert "earlier topic" in said.stdout
    assert f"The model is in {tmp_path / 'm'}" in said.stdout
    updated = HDPTopicModel.load(tmp_path / "m")
    assert updated.corpus_.document_names[-1] == "d79"
    assert updated.corpus_.metadata["year"].tolist() == [2000 + j % 3 for j in range(80)]
    assert "everything" in updated.named_topics_.values()
    rows = list(csv.DictReader((tmp_path / "m" / "topic_map.csv").read_text("utf-8").splitlines()))
    assert {"earlier", "topic", "change", "similarity"} <= rows[0].keys()
    assert len([row for row in rows if row["topic"]]) == updated.n_topics_
    config = tomllib.loads((tmp_path / "m" / "config.toml").read_text("utf-8"))
    assert (config["text-column"], config["sweeps"], config["eta"]) == ("text", 6, 0.5)
    # And so is the next update.
    write(tmp_path / "newer.csv", range(80, 90), ("text", "id", "year"))
    call("update", tmp_path / "m", tmp_path / "newer.csv", "-o", tmp_path / "n", "--sweeps", "4", "--quiet")
    assert HDPTopicModel.load(tmp_path / "n").corpus_.n_documents == 90


def test_it_makes_what_python_makes(folder, tmp_path):
    from franchise.corpus import ReadOptions, read_corpus
    from franchise.corpus.more_documents import splitting

    call("update", folder / "model", folder / "new.csv", "-o", tmp_path / "m", "--sweeps", "6", "--quiet")
    model = HDPTopicModel.load(folder / "model").set_params(verbose=0)
    options = ReadOptions(
        text_column="text", id_column="id", metadata=["year"], text_options=splitting(model.corpus_)
    )
    model.update(read_corpus(folder / "new.csv", options), sweeps=6)
    updated = HDPTopicModel.load(tmp_path / "m")
    assert (updated.components_ == model.components_).all()
    assert updated.corpus_ == model.corpus_
    texts = [arxiv_abstracts()[j] for j in range(60, 80)]
    again = HDPTopicModel.load(folder / "model").set_params(verbose=0)
    with pytest.warns(match="year"):
        again.update(texts, sweeps=6)
    assert (again.components_ == model.components_).all()


def test_metadata_that_are_not_there(folder, tmp_path):
    write(tmp_path / "new.csv", range(60, 70), ("id", "text", "other"))
    update = (
        "update",
        folder / "model",
        tmp_path / "new.csv",
        "-o",
        tmp_path / "m",
        "--sweeps",
        "4",
        "--quiet",
    )
    assert "'year'" in call(*update, ending=1).stderr
    assert not (tmp_path / "m").exists()
    assert "'year'" in call(*update, "--metadata", "other").stderr
    assert list(HDPTopicModel.load(tmp_path / "m").corpus_.metadata) == ["year", "other"]


def test_a_model_is_replaced_only_if_asked(folder, model, tmp_path):
    update = ("update", model, folder / "new.csv", "--sweeps", "4", "--quiet")
    assert "-o" in call(*update, ending=2).stderr
    assert "--overwrite" in call(*update, "-o", model, ending=2).stderr
    assert HDPTopicModel.load(model).corpus_.n_documents == 60
    call(*update, "-o", model, "--overwrite")
    assert HDPTopicModel.load(model).corpus_.n_documents == 80
    again = call("update", folder / "model", folder / "new.csv", "-o", model, "--quiet", ending=1)
    assert f"franchise resume {model}" in again.stderr


def test_documents_that_are_there_already(folder, tmp_path):
    update = ("update", folder / "model", folder / "old.csv", "-o", tmp_path / "m", "--quiet")
    assert "'d0', 'd1', 'd2' and 57 more" in call(*update, ending=1).stderr


def test_texts_for_a_model_of_words(tmp_path):
    (tmp_path / "a.ldac").write_text("2 0:3 1:1\n1 1:2\n")
    call("fit", tmp_path / "a.ldac", "-o", tmp_path / "m", "--sweeps", "4", "--chains", "1", "--quiet")
    (tmp_path / "b.txt").write_text("a text\n")
    update = ("update", tmp_path / "m", "-o", tmp_path / "n", "--sweeps", "4", "--quiet")
    assert "texts" in call(*update, tmp_path / "b.txt", ending=1).stderr
    call(*update, tmp_path / "a.ldac")
    assert HDPTopicModel.load(tmp_path / "n").corpus_.n_documents == 4


def test_more_sweeps_can_follow(folder, tmp_path):
    call("update", folder / "model", folder / "new.csv", "-o", tmp_path / "m", "--sweeps", "6", "--quiet")
    call("resume", tmp_path / "m", "--sweeps", "4", "--quiet")
    resumed = HDPTopicModel.load(tmp_path / "m")
    assert {chain.sweeps_done for chain in resumed.chains_} == {10}
    assert "everything" in resumed.named_topics_.values()


def test_names_follow_init(folder, tmp_path):
    options = ["--text-column", "text", "--eta", "0.5", "--sweeps", "8", "--chains", "1", "--quiet"]
    call("fit", folder / "old.csv", "-o", tmp_path / "m", "--init", folder / "model", *options)
    assert "everything" in HDPTopicModel.load(tmp_path / "m").named_topics_.values()
    assert (tmp_path / "m" / "topic_map.csv").exists()
