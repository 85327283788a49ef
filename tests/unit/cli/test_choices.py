"""Commands that help to choose: compare, tune, and starts that are given."""

import csv
import io
import json

import numpy as np
import pytest
from click.testing import CliRunner

from franchise import HDPTopicModel
from franchise.cli import main
from franchise.cli._seeds import read_seed_words
from franchise.datasets import arxiv_abstracts
from franchise.errors import CorpusError
from tests.raising import raises
from tests.unit.estimator.test_count_tables import planted as planted_table

QUICK = ["--sweeps", "8", "--chains", "2", "--quiet"]


def call(*arguments, ending=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == ending, result.output
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Texts, new texts, and two models of the same terms."""
    folder = tmp_path_factory.mktemp("choices")
    abstracts = arxiv_abstracts()
    (folder / "texts.txt").write_text("\n".join(abstracts[:80]) + "\n", "utf-8")
    (folder / "new.txt").write_text("\n".join(abstracts[80:90]) + "\n", "utf-8")
    for eta in ("0.1", "2"):
        call("fit", folder / "texts.txt", "-o", folder / eta, "--eta", eta, *QUICK)
    return folder


# ---------------------------------------------------------------- compare


def test_compare(folder):
    models = [folder / "0.1", folder / "2"]
    said = call("compare", *models, folder / "new.txt").stdout
    assert said.splitlines()[0].split() == [
        *("model", "n_topics", "per_word", "standard_error", "perplexity", "behind", "behind_error")
    ]
    assert f"{folder / '0.1'} predicts better than {folder / '2'}: " in said
    rows = list(
        csv.DictReader(io.StringIO(call("compare", *models, folder / "new.txt", "--format", "csv").stdout))
    )
    assert [row["model"] for row in rows] == list(map(str, models))
    by_document = call("compare", *models, folder / "new.txt", "--by-document", "--format", "json").stdout
    assert len(json.loads(by_document)) == 10


@pytest.mark.parametrize(
    ("arguments", "ending", "message"),
    [
        ([], 2, "model folders"),
        (["new.txt"], 2, "model folders"),
        (["0.1", "new.txt"], 2, "model folders"),
        (["0.1", "0.1", "new.txt"], 2, "twice"),
        (["0.1", "nowhere", "new.txt"], 1, "nowhere"),
        (["0.1", "2", "nowhere.txt"], 1, "nowhere.txt"),
        (["0.1", "new.txt", "2"], 1, "2"),
    ],
)
def test_compare_refuses(folder, arguments, ending, message):
    result = call("compare", *(folder / argument for argument in arguments), ending=ending)
    assert message in result.stderr


# ---------------------------------------------------------------- tune


def test_tune(folder, tmp_path):
    options = ["--etas", "0.1, 2", "--sweeps", "8", "--figure", tmp_path / "eta.svg"]
    result = call("tune", folder / "texts.txt", *options)
    assert "Best prediction: eta=" in result.stdout
    assert result.stderr.startswith("eta 2: ")
    assert (tmp_path / "eta.svg").read_text("utf-8").startswith("<?xml")
    rows = json.loads(call("tune", folder / "texts.txt", *options[:4], "--quiet", "--format", "json").stdout)
    assert [row["eta"] for row in rows] == [0.1, 2.0]


@pytest.mark.filterwarnings("default::franchise.errors.FranchiseWarning")
def test_tune_uses_as_many_counts_as_a_fit(tmp_path):
    table, _ = planted_table(4, noise=200.0)
    cells = [[f"{v}:{row[v]}" for v in np.flatnonzero(row)] for row in table]
    lines = [" ".join([str(len(row)), *row]) for row in cells]
    (tmp_path / "counts.ldac").write_text("\n".join(lines) + "\n")
    options = [
        "tune",
        tmp_path / "counts.ldac",
        "--etas",
        "1,2",
        "--sweeps",
        "8",
        "--quiet",
        "--format",
        "json",
    ]
    some, everything = call(*options), call(*options, "--all-counts")
    assert f"of {table.sum():,} counts are used" in some.stderr
    assert "counts are used" not in everything.stderr
    n_topics = [[row["n_topics"] for row in json.loads(one.stdout)] for one in (some, everything)]
    assert n_topics[0][0] < n_topics[1][0]


@pytest.mark.parametrize(
    ("arguments", "ending", "message"),
    [
        (["nowhere.txt"], 1, "nowhere.txt"),
        (["texts.txt", "--etas", "a,b"], 2, "a,b"),
        (["texts.txt", "--etas", "0.1"], 2, "--etas"),
        (["texts.txt", "--etas", "0.1,-2"], 2, "-2.0"),
        (["texts.txt", "--folds", "0"], 2, "--folds 0"),
        (["texts.txt", "--folds", "60"], 1, "one in 60"),
        (["texts.txt", "--figure", "eta.xyz"], 2, ".svg, .png or .pdf"),
        (["texts.txt", "--figure", "nowhere/eta.svg"], 1, "nowhere"),
    ],
)
def test_tune_refuses(folder, arguments, ending, message):
    first, *rest = arguments
    result = call("tune", folder / first, *rest, "--quiet", ending=ending)
    assert message in result.stderr


# ---------------------------------------------------------------- starts


def test_fit_from_an_earlier_model(folder, tmp_path):
    call("fit", folder / "new.txt", "-o", tmp_path / "m", "--init", folder / "0.1", *QUICK)
    model = HDPTopicModel.load(tmp_path / "m")
    assert model.settings_["init"]["given"] == "topics"
    assert f'init = "{folder / "0.1"}"' in (tmp_path / "m" / "config.toml").read_text("utf-8")
    call("resume", tmp_path / "m", "--sweeps", "2", "--quiet")
    again = ["fit", folder / "new.txt", "-o", tmp_path / "n", "--config", tmp_path / "m" / "config.toml"]
    call(*again, "--quiet")
    assert HDPTopicModel.load(tmp_path / "n").settings_["init"] == model.settings_["init"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("seeds.json", '{"sky": ["galaxy", "star"], "theory": ["quantum"]}'),
        ("seeds.csv", "sky,galaxy,star\ntheory,quantum,\n"),
        ("seeds.csv", "Topic,word\nsky,galaxy\nsky,star\n\ntheory,quantum\n"),
    ],
)
def test_fit_from_seed_words(folder, tmp_path, name, content):
    (tmp_path / name).write_text(content, "utf-8")
    options = ["--seed-words", tmp_path / name, "--min-df", "1", *QUICK]
    call("fit", folder / "texts.txt", "-o", tmp_path / "m", *options)
    model = HDPTopicModel.load(tmp_path / "m")
    assert model.init.terms == ("galaxy", "star", "quantum")
    assert model.init.phi.tolist() == [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]


@pytest.mark.parametrize(
    ("content", "code", "fact"),
    [
        (None, "cannot-read", "seeds.txt: "),
        ("", "no-seed-words", "seeds.txt: "),
        ("sky\n", "bad-line", "seeds.txt:1: "),
        (",galaxy\n", "bad-line", "seeds.txt:1: "),
        ("{", "not-json", "JSON"),
        ("[1]", "wrong-type", '{"cosmology": ["galaxy", "redshift"]}'),
        ("{}", "wrong-type", '{"cosmology": ["galaxy", "redshift"]}'),
        ('{"a": "galaxy"}', "wrong-type", "topic 'a'"),
        ('{"a": []}', "no-seed-words", "topic 'a'"),
        ('{"a": ["galaxy"], "a": ["star"]}', "duplicate-name", "topic 'a'"),
        ("sky,galaxy\n".encode("utf-16"), "cannot-read", "UTF-8"),
        ("sky,galaxi\n", None, "'galaxi' (there is 'galax"),  # the model does not know it
    ],
)
def test_seed_words_that_are_none(folder, tmp_path, content, code, fact):
    path = tmp_path / "seeds.txt"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    if code is not None:
        with raises(CorpusError, code, fact):
            read_seed_words(str(path))
    options = ["--seed-words", path, "--min-df", "1", *QUICK]
    result = call("fit", folder / "texts.txt", "-o", tmp_path / "m", *options, ending=1)
    assert fact in result.stderr
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("options", "ending", "message"),
    [
        (["--init", "nowhere"], 2, "nowhere"),
        (["--init", "."], 1, "model.json"),
        (["--init", "one", "--seed-words", "seeds.csv"], 2, "--seed-words and --init"),
    ],
)
def test_starts_that_are_none(folder, tmp_path, options, ending, message):
    result = call("fit", folder / "texts.txt", "-o", tmp_path / "m", *options, *QUICK, ending=ending)
    assert message in result.stderr
