"""Columns stay with the documents on the command line, and topics are shown by them."""

import csv
import io
import json

import pytest
from click.testing import CliRunner

from franchise import HDPTopicModel
from franchise.cli import main
from franchise.corpus import read_corpus
from franchise.corpus.metadata import kind_of
from franchise.datasets import arxiv_months

QUICK = ["--text-column", "words", "--sweeps", "6", "--chains", "1", "--eta", "0.5", "--quiet"]


def call(*arguments, ending=0, **options):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], **options)
    assert result.exit_code == ending, result.output
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of abstracts and a model of them."""
    folder = tmp_path_factory.mktemp("prevalence")
    arxiv_months().iloc[::16].to_csv(folder / "papers.csv", index=False)
    call("fit", folder / "papers.csv", "--id-column", "id", "-o", folder / "model", *QUICK)
    return folder


def rows(*arguments):
    return list(csv.DictReader(io.StringIO(call("prevalence", *arguments, "--format", "csv").stdout)))


def test_small_columns_are_kept(folder):
    assert list(HDPTopicModel.load(folder / "model").corpus_.metadata) == ["month", "category"]
    facts = json.loads(call("inspect", folder / "model", "--format", "json").stdout)
    assert facts["metadata"].startswith("month (date, 16 values), category (text, ")
    options = ["--text-column", "words", "--dry-run"]
    lines = call("fit", folder / "papers.csv", *options).stdout.splitlines()
    assert any(line.split() == ["metadata", "id,", "month,", "category"] for line in lines)


def test_columns_can_be_chosen(folder, tmp_path):
    for chosen, kept in (
        ("category", ["category"]),
        ("month, category", ["month", "category"]),
        ("none", None),
    ):
        call("fit", folder / "papers.csv", "-o", tmp_path / "m", *QUICK, "--metadata", chosen, "--overwrite")
        metadata = HDPTopicModel.load(tmp_path / "m").corpus_.metadata
        assert (None if metadata is None else list(metadata)) == kept
    # The options that are kept with the model give the same model again.
    again = ["-o", tmp_path / "n", "--config", tmp_path / "m" / "config.toml", "--quiet"]
    call("fit", folder / "papers.csv", *again)
    assert HDPTopicModel.load(tmp_path / "n").corpus_.metadata is None


def test_wrong_columns(folder, tmp_path):
    bad = ["fit", folder / "papers.csv", "-o", tmp_path / "m", *QUICK, "--metadata"]
    told = call(*bad, "mnth", ending=1).stderr
    assert "'mnth'" in told
    assert "'month'" in told
    assert "--metadata" in call(*bad, "a,,b", ending=2).stderr
    assert not (tmp_path / "m").exists()
    (tmp_path / "texts.txt").write_text("bee ant\n")
    plain = ["fit", tmp_path / "texts.txt", "-o", tmp_path / "m", "--metadata", "year"]
    told = call(*plain, ending=2).stderr
    assert "--metadata" in told
    assert "txt" in told


def test_convert_keeps_columns(folder, tmp_path):
    reading = ["--text-column", "words", "--id-column", "id", "--metadata", "month"]
    call("convert", folder / "papers.csv", tmp_path / "a.jsonl", *reading)
    again = read_corpus(tmp_path / "a.jsonl", text_column="text", id_column="id")
    assert list(again.metadata) == ["month"]
    assert kind_of(again.metadata["month"]) == "date"


def test_tables(folder):
    found = rows(folder / "model", "--by", "month", "--step", "quarter", "--topics", "0,1")
    assert list(found[0]) == ["group", "topic", "terms", "share", "low", "high", "n_documents"]
    assert [row["group"] for row in found[:6]] == [
        "2025-Q1", "2025-Q2", "2025-Q3", "2025-Q4", "2026-Q1", "2026-Q2",
    ]  # fmt: skip
    assert [row["topic"] for row in found] == ["0"] * 6 + ["1"] * 6
    assert all(float(row["low"]) <= float(row["share"]) <= float(row["high"]) for row in found)
    assert sum(int(row["n_documents"]) for row in found[:6]) == 80
    assert len(rows(folder / "model", "--by", "month", "--topics", "0")) == 16
    shown = call("prevalence", folder / "model", "--by", "month", "--step", "year", "--per", "document")
    assert shown.stdout.split()[:3] == ["group", "topic", "terms"]
    parsed = json.loads(call("prevalence", folder / "model", "--by", "category", "--format", "json").stdout)
    assert {"cs.CV", "cs.CL"} <= {row["group"] for row in parsed}


def test_the_same_seed_prints_the_same(folder):
    by = [folder / "model", "--by", "month", "--step", "year"]
    assert rows(*by) == rows(*by)
    assert rows(*by) != rows(*by, "--random-state", "1")


def test_a_figure(folder, tmp_path):
    drawn = ["prevalence", folder / "model", "--by", "month", "--figure"]
    assert str(tmp_path / "a.pdf") in call(*drawn, tmp_path / "a.pdf").stderr
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    told = call(*drawn, tmp_path / "a.pdf", ending=1).stderr
    assert f"{tmp_path / 'a.pdf'}: " in told
    assert "--overwrite" in told
    call(*drawn, tmp_path / "a.pdf", "--overwrite")
    assert ".svg, .png or .pdf" in call(*drawn, tmp_path / "a.doc", ending=2).stderr
    assert not (tmp_path / "a.doc").exists()
    assert f"{tmp_path / 'none' / 'a.png'}: " in call(*drawn, tmp_path / "none" / "a.png", ending=1).stderr


@pytest.mark.parametrize(
    ("options", "ending", "message"),
    [
        (["--by", "mnoth"], 1, "'month'"),
        (["--by", "zzz"], 1, "'month', 'category'"),
        (["--by", "month", "--step", "5"], 2, "day, week, month"),
        (["--by", "category", "--step", "5"], 2, "--step 5"),
        (["--by", "month", "--topics", "1;2"], 2, "--topics '1;2': "),
        (["--by", "month", "--topics", "1,,2"], 2, "--topics"),
        (["--by", "month", "--topics", ""], 2, "--topics"),
        (["--by", "month", "--topics", "999"], 2, "--topics 999"),
        (["--by", "month", "--interval", "95"], 2, "--interval 95.0"),
        ([], 2, "--by"),
    ],
)
def test_misuse(folder, options, ending, message):
    stderr = call("prevalence", folder / "model", *options, ending=ending).stderr
    assert message in stderr
    assert "Traceback" not in stderr


def test_topics_are_chosen_by_name(folder, tmp_path):
    named = HDPTopicModel.load(folder / "model").set_topic_labels({1: "agents, tools", 2: "Images"})
    named.save(tmp_path / "named")
    found = rows(tmp_path / "named", "--by", "month", "--topics", '"agents, tools", images, 0')
    assert list(dict.fromkeys((row["topic"], row["label"]) for row in found))[:2] == [
        ("1", "agents, tools"),
        ("2", "Images"),
    ]
    assert {row["topic"] for row in found} == {"0", "1", "2"}
    wrong = call("prevalence", tmp_path / "named", "--by", "month", "--topics", "imags", ending=2)
    assert "--topics imags: " in wrong.stderr
    assert "'Images'" in wrong.stderr


def test_a_model_without_metadata(tmp_path):
    (tmp_path / "texts.txt").write_text("bee ant\nant cow\n")
    quick = ["--sweeps", "4", "--chains", "1", "--quiet"]
    call("fit", tmp_path / "texts.txt", "-o", tmp_path / "m", *quick)
    stderr = call("prevalence", tmp_path / "m", "--by", "year", ending=1).stderr
    assert "--metadata year" in stderr


# ---------------------------------------------------------------- two groups, two columns


def test_differences_on_the_command_line(folder):
    model, two = folder / "model", ["--by", "category", "--of", "cs.CV,cs.CL"]
    call("label", model, "--clear")
    found = rows(model, *two)
    expected = HDPTopicModel.load(model).prevalence_difference("category", ("cs.CV", "cs.CL"))
    assert list(found[0]) == list(expected.columns)
    assert [float(row["difference"]) for row in found] == pytest.approx(expected["difference"].tolist())
    alone = rows(model, "--by", "category", "--of", "cs.CV", "--topics", "0")
    assert [(row["first"], row["second"]) for row in alone] == [("cs.CV", "(others)")]
    lines = call("prevalence", model, *two, "--format", "markdown", "--topics", "0,1").stdout.splitlines()
    assert lines[0] == "| Topic | Terms | cs.CV | cs.CL | Difference | Low | High | Probability |"
    assert len(lines) == 4


def test_two_columns_on_the_command_line(folder, tmp_path):
    by = [folder / "model", "--by", "category, month", "--step", "year"]
    shares = rows(*by, "--topics", "0")
    assert {row["within"] for row in shares} == {"2025", "2026"}
    two = [*by, "--of", "cs.CV,cs.CL"]
    assert {row["within"] for row in rows(*two)} == {"2025", "2026", "(all)"}
    # A table for people has single groups only of topics that are asked for.
    assert "2025" not in call("prevalence", *two).stdout
    assert "2025" in call("prevalence", *two, "--topics", "0").stdout
    for name, options in (("a.png", by), ("b.png", two)):
        call("prevalence", *options, "--figure", tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "ending", "message"),
    [
        (["--by", "category", "--of", "cs.CV,cs.XY"], 2, "--of cs.XY"),
        (["--by", "month", "--of", "2025-03,2025-03"], 2, "--of"),
        (["--by", "category,mnth"], 1, "'month'"),
        (["--by", "category,month", "--step", "year,"], 2, "--step year"),
        (["--by", ","], 2, "--by"),
    ],
)
def test_misuse_of_two(folder, options, ending, message):
    stderr = call("prevalence", folder / "model", *options, ending=ending).stderr
    assert message in stderr
    assert "Traceback" not in stderr


def test_methods_and_tables_for_a_paper(folder):
    call("label", folder / "model", "--clear")
    model = HDPTopicModel.load(folder / "model")
    for kind in ("text", "latex", "bibtex"):
        assert (
            call("methods", folder / "model", "--format", kind).stdout.strip() == model.methods(kind).strip()
        )
    latex = call("topics", folder / "model", "-n", "3", "--format", "latex").stdout
    assert "Topic & Weight & Found by & Terms \\\\" in latex
    assert latex.count("\\\\\n") == len(model.topics()) + 1
    chosen = call("topics", folder / "model", "--columns", "terms,topic", "--format", "csv").stdout
    assert chosen.splitlines()[0] == "terms,topic"
    assert list(model.topics(columns=["topic", "weight"]).columns) == ["topic", "weight"]
    assert "'weight'" in call("topics", folder / "model", "--columns", "wieght", ending=2).stderr
    with pytest.raises(Exception, match="empty"):
        model.topics(columns=[])
