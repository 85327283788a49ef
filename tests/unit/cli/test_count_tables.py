"""Tables of counts on the command line, and hints about documents."""

import json
import tomllib

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from franchise import HDPTopicModel
from franchise.cli import main
from franchise.datasets import arxiv_abstracts

# Warnings are printed, as to users.
pytestmark = pytest.mark.filterwarnings("default::franchise.errors.FranchiseWarning")

QUICK = ["--sweeps", "6", "--chains", "1", "--init", "one", "--quiet"]
CLASSES = [f"{a}[{change}]{b}" for change in ("C>A", "C>G", "T>A") for a in "ACGT" for b in "ACGT"]


def call(*arguments, ending=0, **options):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], **options)
    assert result.exit_code == ending, result.output
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Mutations of tumours, both ways round, and what is known of tumours."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    signatures = rng.dirichlet(np.full(len(CLASSES), 0.3), 3)
    counts = rng.poisson(rng.gamma(0.5, 300, (60, 3)) @ signatures)
    frame = pd.DataFrame(counts, columns=CLASSES, index=[f"SP{i}" for i in range(60)])
    frame.to_csv(folder / "mutations.csv")
    frame.T.to_csv(folder / "published.tsv", sep="\t")
    about = pd.DataFrame({"sample": frame.index, "type": ["skin", "lung", "liver"] * 20, "age": range(60)})
    about[::-1].to_csv(folder / "tumours.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def model(folder):
    about = ["--metadata-file", folder / "tumours.csv"]
    call("fit", folder / "mutations.csv", "-o", folder / "model", "--all-counts", *about, *QUICK)
    return folder / "model"


def test_a_table_is_fitted_with_names_and_metadata(folder, model):
    corpus = HDPTopicModel.load(model).corpus_
    assert corpus.vocabulary == tuple(CLASSES)
    assert corpus.document_names == tuple(f"SP{i}" for i in range(60))
    assert corpus.metadata["age"].tolist() == list(range(60))
    by_type = call("prevalence", model, "--by", "type", "--format", "csv").stdout
    assert {"skin", "lung", "liver"} <= {word for line in by_type.splitlines() for word in line.split(",")}
    shown = json.loads(call("infer", model, folder / "mutations.csv", "--format", "json").stdout)
    assert [row["document"] for row in shown] == list(corpus.document_names)
    assert {row["unknown"] for row in shown} == {0}
    turned = call("infer", model, folder / "published.tsv", "--transpose", "--format", "json").stdout
    assert json.loads(turned) == shown


def test_a_file_of_options_reads_the_same_table(folder, tmp_path):
    fit = ["fit", folder / "published.tsv", "--transpose", "--counts", "--all-counts"]
    call(*fit, "-o", tmp_path / "m", "--metadata-file", folder / "tumours.csv", *QUICK)
    config = tomllib.loads((tmp_path / "m" / "config.toml").read_text("utf-8"))
    assert (config["transpose"], config["counts"]) == (True, True)
    again = ["--config", tmp_path / "m" / "config.toml", "--quiet"]
    call("fit", folder / "published.tsv", "-o", tmp_path / "n", *again)
    ours, theirs = (HDPTopicModel.load(tmp_path / name).corpus_ for name in "mn")
    assert ours == theirs
    assert theirs.metadata["type"].tolist() == ours.metadata["type"].tolist()


def test_a_table_that_looks_transposed(folder):
    said = call("inspect", folder / "published.tsv").stderr
    assert "[transposed-counts]" in said
    assert "--transpose" in said
    assert call("inspect", folder / "published.tsv", "--transpose").stderr == ""
    assert call("inspect", folder / "published.tsv", "--ignore", "transposed-counts").stderr == ""


def test_what_the_messages_say_helps(folder, tmp_path):
    frame = pd.read_csv(folder / "mutations.csv", index_col=0)
    frame.assign(note="ok").to_csv(tmp_path / "notes.csv")
    said = call("inspect", tmp_path / "notes.csv", ending=1).stderr
    assert "--counts" in said
    assert "--text-column" in said
    assert "note (text, 1 value)" in call("inspect", tmp_path / "notes.csv", "--counts").stdout
    frame = frame.astype(object)
    frame.iloc[3, 2] = "n.a."
    frame.to_csv(tmp_path / "bad.csv")
    said = call("inspect", tmp_path / "bad.csv", "--counts", ending=1).stderr
    assert all(part in said for part in (":5:", "'SP3'", repr(CLASSES[2]), "'n.a.'"))
    said = call("inspect", folder / "mutations.csv", "--counts", "--text-column", "x", ending=2).stderr
    assert "--text-column" in said
    said = call("fit", folder / "mutations.csv", "--dry-run", "--metadata-file", "nowhere.csv", ending=1)
    assert "nowhere.csv" in said.stderr


# ---------------------------------------------------------------- hints


@pytest.fixture
def html(tmp_path):
    path = tmp_path / "html.txt"
    texts = [f"Q&amp;A {text}" for text in arxiv_abstracts()[:60]]
    path.write_text("\n".join(texts + texts[:20]) + "\n", "utf-8")
    return path


def test_hints_come_once_and_name_options(html, tmp_path):
    said = call("fit", html, "-o", tmp_path / "m", *QUICK).stderr
    assert said.count("[html-in-texts]") == said.count("[duplicate-documents]") == 1
    assert "--strip-html" in said
    assert "with --drop-duplicates" in said
    options = ["--strip-html", "--drop-duplicates"]
    said = call("fit", html, "-o", tmp_path / "n", *options, *QUICK).stderr
    assert "20 duplicate documents left out" in said
    assert "[" not in said
    corpus = HDPTopicModel.load(tmp_path / "n").corpus_
    assert corpus.n_documents == 60
    assert corpus.text_options.strip_html
    assert "amp" not in corpus.vocabulary


@pytest.mark.parametrize(
    ("codes", "left"),
    [
        ("html-in-texts", ["duplicate-documents"]),
        ("html-in-texts, duplicate-documents", []),
        ("all", []),
        ("few-documents", ["html-in-texts", "duplicate-documents"]),
    ],
)
def test_hints_can_be_left_out(html, codes, left):
    said = call("inspect", html, "--ignore", codes).stderr
    assert [line.rpartition("[")[2].rstrip("]") for line in said.splitlines()] == left
    assert "[html-in-texts]" in call("inspect", html).stderr  # nothing is left of it


def test_a_hint_of_words_that_may_be_options(tmp_path):
    path = tmp_path / "german.txt"
    words = "der die das und nicht mit von ist Hund Katze Vogel Haus Wald Baum Wiese Fluss Berg Stadt"
    rng = np.random.default_rng(0)
    path.write_text("\n".join(" ".join(rng.choice(words.split(" "), 30)) for _ in range(60)) + "\n", "utf-8")
    assert "--stop-words german [other-language]" in call("inspect", path, "--max-df", "1.0").stderr
    assert call("inspect", path, "--max-df", "1.0", "--stop-words", "german").stderr == ""
