"""Documents in shards on the command line: written from many files, and read where a file would be."""

import gzip
import json

import pytest
from click.testing import CliRunner

from franchise import HDPTopicModel
from franchise.cli import main
from franchise.corpus import ShardedCorpus, open_shards, read_corpus
from franchise.datasets import arxiv_abstracts

QUICK = ["--sweeps", "6", "--chains", "1", "--eta", "0.5", "--quiet"]
TEXTS = arxiv_abstracts()[:90]
READING = ["--text-column", "body", "--id-column", "nr"]


def call(*arguments, ending=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == ending, result.output
    return result


def lines(numbers):
    rows = [{"nr": f"doc {i}", "body": TEXTS[i], "year": 2000 + i % 5} for i in numbers]
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def parts(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "part-0.jsonl").write_text(lines(range(40)), "utf-8")
    (folder / "part-1.jsonl.gz").write_bytes(gzip.compress(lines(range(40, 70)).encode()))
    (folder / "part-2.jsonl").write_text("", "utf-8")
    (folder / "part-3.jsonl").write_text(lines(range(70, 90)), "utf-8")
    (folder / "_SUCCESS").touch()
    (tmp_path / "all.jsonl").write_text(lines(range(90)), "utf-8")
    return folder


def test_many_files_are_one_corpus(parts, tmp_path):
    said = call("shard", parts, *READING, "--shards", 6, "-o", tmp_path / "s").stdout
    corpus, expected = (
        open_shards(tmp_path / "s"),
        read_corpus(tmp_path / "all.jsonl", text_column="body", id_column="nr"),
    )
    assert corpus == expected
    assert corpus.fingerprint() == expected.fingerprint()
    assert corpus.texts == expected.texts
    assert corpus.metadata.equals(expected.metadata)
    assert said == (
        f"90 documents, {corpus.n_terms:,} terms, {corpus.n_words:,} words in 6 shards: {tmp_path / 's'}\n"
    )
    files = [parts / f"part-{name}" for name in ("0.jsonl", "1.jsonl.gz", "2.jsonl", "3.jsonl")]
    call("shard", *files, *READING, "--max-features", 50, "--metadata", "none", "-o", tmp_path / "t")
    few = open_shards(tmp_path / "t")
    assert few.n_terms == 50
    assert few.metadata is None


def test_where_a_file_would_be(parts, tmp_path):
    call("shard", parts, *READING, "-o", tmp_path / "s")
    facts = json.loads(call("inspect", tmp_path / "s", "--format", "json").stdout)
    one = json.loads(call("inspect", tmp_path / "all.jsonl", *READING, "--format", "json").stdout)
    assert facts == one
    call("fit", tmp_path / "s", "-o", tmp_path / "m", *QUICK)
    call("fit", tmp_path / "all.jsonl", *READING, "-o", tmp_path / "m1", *QUICK)
    ours, theirs = (HDPTopicModel.load(tmp_path / name) for name in ("m", "m1"))
    assert isinstance(ours.corpus_, ShardedCorpus)
    assert ours.chains_[0].trace["log_joint"].tolist() == theirs.chains_[0].trace["log_joint"].tolist()
    rows = call("infer", tmp_path / "m", tmp_path / "s", "--format", "csv").stdout
    assert rows.count("\n") == 91
    call("convert", tmp_path / "s", tmp_path / "s.ldac")
    assert read_corpus(tmp_path / "s.ldac").n_words == ours.corpus_.n_words


def test_counts_and_shards_again(tmp_path):
    (tmp_path / "a.ldac").write_text("2 0:1 3:2\n1 3:1\n")
    (tmp_path / "b.ldac").write_text("0\n1 5:4\n")
    call("shard", tmp_path / "a.ldac", tmp_path / "b.ldac", "-o", tmp_path / "s")
    corpus = open_shards(tmp_path / "s")
    assert corpus.vocabulary == tuple("012345")
    assert corpus.document_lengths.tolist() == [3, 1, 0, 4]
    call("shard", tmp_path / "s", "--shards", 1, "-o", tmp_path / "t")
    assert open_shards(tmp_path / "t") == corpus
    assert len(open_shards(tmp_path / "t").shards) == 1


def test_lists_of_words_in_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    words = [["b", "a", "b"], [], ["c"]]
    write_table(pa.table({"words": words, "name": ["x", "y", "z"]}), tmp_path / "part-0.parquet")
    write_table(pa.table({"words": [["d", "a"]], "name": ["w"]}), tmp_path / "part-1.parquet")
    folder = ["--text-column", "words", "--id-column", "name"]
    call("shard", tmp_path, *folder, "-o", tmp_path / "s")
    corpus = open_shards(tmp_path / "s")
    assert corpus.document_names == ("x", "y", "z", "w")
    assert [corpus.vocabulary[v] for v in corpus.x] == ["b", "a", "b", "c", "d", "a"]
    one = read_corpus(tmp_path / "part-0.parquet", text_column="words")
    assert [one.vocabulary[v] for v in one.x] == ["b", "a", "b", "c"]
    told = call("inspect", tmp_path / "part-0.parquet", "--text-column", "words", "--min-df", 2, ending=2)
    assert "--min-df" in told.stderr


def test_lists_of_term_ids_in_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    path = tmp_path / "ids.parquet"
    write_table(pa.table({"ids": [[0, 2, 2], [1]], "text": ["a", "b"]}), path)
    (tmp_path / "terms.txt").write_text("ant\nbee\ncat\n")
    given = ["--vocabulary", tmp_path / "terms.txt"]
    call("shard", path, "--text-column", "ids", *given, "-o", tmp_path / "s")
    corpus = open_shards(tmp_path / "s")
    assert corpus.vocabulary == ("ant", "bee", "cat")
    assert corpus.x.tolist() == [0, 2, 2, 1]
    told = call("shard", path, "--text-column", "ids", "-o", tmp_path / "t", ending=1).stderr
    assert f"{path}: document 0, word 0 is 0 (int)" in told
    (tmp_path / "two.txt").write_text("ant\nbee\n")
    two = ["--text-column", "ids", "--vocabulary", tmp_path / "two.txt", "-o", tmp_path / "t"]
    told = call("shard", path, *two, ending=1).stderr
    assert f"{path}: " in told
    assert "2 terms" in told
    told = call("inspect", path, "--text-column", "text", *given, ending=2).stderr
    assert "--vocabulary" in told
    assert "parquet" in told


def test_wrong_inputs_leave_nothing(parts, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    wrong = [
        ([parts / "part-9.jsonl"], 1, "part-9.jsonl: "),
        ([parts], 1, "--text-column"),
        ([parts, "--text-column", "bodi"], 1, "'bodi'"),
        ([parts, *READING, "--metadata", "month"], 1, "'month'"),
        ([parts, *READING, "--min-df", "89"], 2, "--min-df 89"),
    ]
    for given, ending, words in wrong:
        assert words in call("shard", *given, "-o", tmp_path / "s", ending=ending).stderr
    (tmp_path / "c.ldac").write_text("1 0:1\n")
    before.append(tmp_path / "c.ldac")
    told = call("shard", tmp_path / "c.ldac", tmp_path / "all.jsonl", "-o", tmp_path / "s", ending=1).stderr
    assert "all.jsonl: " in told
    assert "--text-column" in told
    told = call("shard", parts, *READING, "-o", parts, ending=1).stderr
    assert f"{parts}: " in told
    call("shard", "-o", tmp_path / "s", ending=2)
    call("shard", parts, ending=2)
    assert sorted(tmp_path.rglob("*")) == sorted(before)


def test_texts_and_counts_do_not_mix(tmp_path):
    (tmp_path / "a.ldac").write_text("1 0:1\n")
    (tmp_path / "b.txt").write_text("ant bee\n")
    told = call("shard", tmp_path / "a.ldac", tmp_path / "b.txt", "-o", tmp_path / "s", ending=1).stderr
    assert "texts or counts" in told


def test_shards_are_replaced_on_request(parts, tmp_path):
    call("shard", parts, *READING, "-o", tmp_path / "s")
    given = ["shard", parts / "part-3.jsonl", *READING, "-o", tmp_path / "s"]
    told = call(*given, ending=1).stderr
    assert f"{tmp_path / 's'}: " in told
    assert "--overwrite" in told
    call(*given, "--overwrite")
    assert open_shards(tmp_path / "s").n_documents == 20
