"""``franchise infer``: what it prints and writes, in what memory, and how it ends."""

import csv
import gzip
import io
import json
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.sparse import load_npz

from franchise import HDPTopicModel
from franchise.cli import infer, main
from franchise.datasets import arxiv_abstracts

pytestmark = pytest.mark.filterwarnings("default::franchise.errors.FranchiseWarning")


def call(*arguments, ending=0, **options):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], **options)
    assert result.exit_code == ending, result.output
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model, and new documents in several forms."""
    folder = tmp_path_factory.mktemp("infer")
    abstracts = arxiv_abstracts()
    new = [*abstracts[80:110], "", "zzzz"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # many topics
        model = HDPTopicModel(sweeps=10, chains=2, eta=0.5, random_state=0, verbose=0).fit(abstracts[:80])
    model.save(folder / "model")
    (folder / "new.txt").write_text("\n".join(new) + "\n", "utf-8")
    with (folder / "new.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("id", "body"), *((f"d{j}", text) for j, text in enumerate(new))])
    (folder / "new.jsonl").write_text(
        "".join(json.dumps({"id": f"d{j}", "body": text}) + "\n" for j, text in enumerate(new)), "utf-8"
    )
    call("shard", folder / "new.txt", "-o", folder / "shards", "--shards", "3", "--min-df", "1")
    return folder


@pytest.fixture(scope="module")
def theta(folder):
    texts = (folder / "new.txt").read_text("utf-8").split("\n")[:-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # unknown words
        return HDPTopicModel.load(folder / "model").transform(texts)


COLUMNS = ["--text-column", "body", "--id-column", "id"]


@pytest.mark.parametrize(
    ("name", "reading"),
    [("new.txt", []), ("new.csv", COLUMNS), ("new.jsonl", COLUMNS), ("shards", [])],
)
@pytest.mark.parametrize(("block", "jobs"), [(3, 1), (10_000, 2)])
def test_the_same_bits_whatever_is_read_and_the_blocks(
    folder, theta, monkeypatch, name, reading, block, jobs
):
    monkeypatch.setattr(infer, "_MOST_DOCUMENTS", block)
    told = call(
        "infer", folder / "model", folder / name, *reading, "--format", "csv", "--n-jobs", jobs
    ).stdout
    rows = list(csv.DictReader(io.StringIO(told)))
    found = [[float(row[f"topic_{k}"]) for k in range(theta.shape[1])] for row in rows]
    assert np.array_equal(found, theta)
    assert [row["document"] for row in rows] == [f"{'d' if reading else ''}{j}" for j in range(32)]
    assert [row["words"] for row in rows[-2:]] == ["0", "0"]
    assert [row["unknown"] for row in rows[-2:]] == ["0", "1"]


def test_from_standard_input(folder, theta, tmp_path):
    content = gzip.compress((folder / "new.csv").read_bytes())
    told = call(
        "infer",
        folder / "model",
        "-",
        "--input-format",
        "csv",
        *COLUMNS,
        "-o",
        tmp_path / "m.npz",
        input=content,
    ).stderr
    assert "32 documents" in told
    assert str(tmp_path / "m.npz") in told
    assert np.array_equal(load_npz(tmp_path / "m.npz").toarray(), theta)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".npz"])
def test_the_largest_topics_in_a_file(folder, theta, tmp_path, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"m{suffix}"
    options = ["--top", "2", "--digits", "4", "--quiet"]
    result = call("infer", folder / "model", folder / "new.csv", *COLUMNS, "-o", path, *options)
    assert result.stdout == ""
    assert "documents are in" not in result.stderr
    chosen = np.argsort(-theta, axis=1, kind="stable")[:, :2]
    shares = np.round(np.take_along_axis(theta, chosen, axis=1), 4)
    if suffix == ".npz":
        rows = load_npz(path)
        assert np.array_equal(np.take_along_axis(rows.toarray(), chosen, axis=1), shares)
        assert rows.nnz == 64
        return
    frame = pd.read_parquet(path) if suffix == ".parquet" else pd.read_csv(path)
    assert list(frame) == ["document", "words", "unknown", "top_1", "share_1", "top_2", "share_2"]
    assert np.array_equal(frame[["top_1", "top_2"]].to_numpy(), chosen)
    assert np.array_equal(frame[["share_1", "share_2"]].to_numpy(), shares)


def test_printed(folder, theta):
    arguments = ["infer", folder / "model", folder / "new.txt", "--top", "1"]
    lines = call(*arguments).stdout.splitlines()
    assert len(lines) == 33
    assert all(line.count(": 0.") + line.count(": 1.") == 1 for line in lines[1:])
    rows = json.loads(
        call("infer", folder / "model", folder / "new.txt", "--format", "json", "--top", "1").stdout
    )
    assert [row["top_1"] for row in rows] == theta.argmax(axis=1).tolist()
    assert "topic_0" not in rows[0]


def test_names_of_topics_are_beside_their_numbers(folder, tmp_path):
    model = HDPTopicModel.load(folder / "model").set_topic_labels({0: "everything"})
    model.save(tmp_path / "m")
    told = call("infer", tmp_path / "m", folder / "new.txt", "--format", "csv", "--top", "1").stdout
    assert {(row["top_1"], row["label_1"]) for row in csv.DictReader(io.StringIO(told))} >= {
        ("0", "everything")
    }


# ---------------------------------------------------------------- what ends badly


@pytest.mark.parametrize(
    ("name", "content", "fact"),
    [
        ("nothing.txt", "", "no documents"),
        ("blank.txt", "\n\n\n", "no words in the 3 documents"),
        ("other.txt", "zzzz qqqq\nxxxx\n", "none of its 3 words"),
    ],
)
@pytest.mark.parametrize("form", [["--format", "csv"], ["--format", "json"], [], ["-o", "m.csv"]])
def test_input_without_a_known_word(folder, tmp_path, monkeypatch, name, content, fact, form):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(content)
    result = call("infer", folder / "model", name, *form, ending=1)
    assert result.stdout == ""
    assert f"{name}: " in result.stderr
    assert fact in result.stderr
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_a_known_word_may_come_late(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(infer, "_MOST_DOCUMENTS", 2)
    (tmp_path / "late.txt").write_text("zzzz qqqq\n" * 9 + "model data\n")
    result = call("infer", folder / "model", tmp_path / "late.txt", "--format", "csv", "--top", "1")
    assert [line.split(",")[0] for line in result.stdout.splitlines()[1:]] == [str(j) for j in range(10)]
    assert "18 of 20 words are not in the model's vocabulary" in result.stderr


def test_a_bad_line_leaves_no_file(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(infer, "_MOST_DOCUMENTS", 2)
    (tmp_path / "bad.jsonl").write_text('{"body": "model data"}\n' * 9 + '{"body": \n')
    arguments = ["infer", folder / "model", tmp_path / "bad.jsonl", "--text-column", "body"]
    assert "bad.jsonl:10: " in call(*arguments, "-o", tmp_path / "m.csv", ending=1).stderr
    assert not (tmp_path / "m.csv").exists()
    result = call(*arguments, "--format", "csv", "--top", "1", ending=1)
    assert len(result.stdout.splitlines()) >= 8  # what was printed before it came up


def test_files_are_replaced_only_if_asked(folder, tmp_path):
    (tmp_path / "m.csv").write_text("earlier")
    arguments = ["infer", folder / "model", folder / "new.txt", "-o", tmp_path / "m.csv"]
    assert "--overwrite" in call(*arguments, ending=1).stderr
    assert (tmp_path / "m.csv").read_text() == "earlier"
    call(*arguments, "--overwrite")
    assert (tmp_path / "m.csv").read_text().startswith("document,words,unknown,topic_0,")


def test_memory_does_not_grow_with_the_documents(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(infer, "_MOST_DOCUMENTS", 100)
    lines = ["model data galaxy", "a graph of groups", ""] * 100
    peaks = []
    for name, times in (("warm", 1), ("few", 2), ("many", 20)):
        (tmp_path / f"{name}.txt").write_text("\n".join(lines * times) + "\n")
        tracemalloc.start()
        call(
            "infer", folder / "model", tmp_path / f"{name}.txt", "-o", tmp_path / f"{name}.npz", "--top", "1"
        )
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert load_npz(tmp_path / "many.npz").shape[0] == 6000
    assert peaks[2] < 1.1 * peaks[1], peaks
