"""Metadata from a file of their own, joined by the names of documents or by row."""

import warnings

import numpy as np
import pandas as pd
import pytest

from franchise import from_counts
from franchise.corpus import ReadOptions, read_corpus, write_corpus
from franchise.errors import CorpusError, SettingsError
from tests.raising import raises, warns

COUNTS = pd.DataFrame(np.eye(4, 5, dtype=int) + 1, columns=list("abcde"), index=["s1", "s2", "s3", "s4"])
ABOUT = pd.DataFrame({"sample": ["s4", "s2", "s1", "s3"], "age": [40, 20, 10, 30], "kind": list("wxyz")})


@pytest.fixture
def folder(tmp_path):
    """A table of counts, the same counts without names, texts, and metadata in other orders."""
    COUNTS.to_csv(tmp_path / "counts.csv")
    ABOUT.to_csv(tmp_path / "about.csv", index=False)
    ABOUT.to_csv(tmp_path / "about.tsv", index=False, sep="\t")
    ABOUT.to_csv(tmp_path / "semicolons.txt", index=False, sep=";")
    write_corpus(from_counts(COUNTS.to_numpy()), tmp_path / "counts.ldac")
    write_corpus(from_counts(COUNTS.to_numpy()), tmp_path / "counts.mtx")
    write_corpus(from_counts(COUNTS), tmp_path / "counts.npz")
    texts = pd.DataFrame(
        {"id": COUNTS.index, "text": ["ant bee", "bee cat", "cat", "ant"], "age": [1, 2, 3, 4]}
    )
    texts.to_csv(tmp_path / "texts.csv", index=False)
    return tmp_path


@pytest.mark.parametrize(
    "about", ["about.csv", "about.tsv", "semicolons.txt", "about.parquet", "about.csv.gz"]
)
@pytest.mark.parametrize("counts", ["counts.csv", "counts.npz"])
def test_rows_are_found_by_name(folder, counts, about):
    if about.endswith("parquet"):
        pytest.importorskip("pyarrow")
        ABOUT.to_parquet(folder / about)
    elif about.endswith("gz"):
        ABOUT.to_csv(folder / about, index=False)
    corpus = read_corpus(folder / counts, metadata_file=folder / about)
    assert corpus.metadata.to_dict("list") == {"age": [10, 20, 30, 40], "kind": list("yxzw")}
    assert corpus.document_names == ("s1", "s2", "s3", "s4")


@pytest.mark.parametrize("counts", ["counts.ldac", "counts.mtx"])
def test_without_names_rows_are_in_order(folder, counts):
    corpus = read_corpus(folder / counts, metadata_file=folder / "about.csv")
    assert corpus.metadata["age"].tolist() == [40, 20, 10, 30]
    assert corpus.document_names == ("0", "1", "2", "3")
    named = read_corpus(folder / counts, metadata_file=folder / "about.csv", id_column="sample")
    assert named.document_names == ("s4", "s2", "s1", "s3")
    assert list(named.metadata) == ["age", "kind"]
    ABOUT.assign(sample=[3, 1, 0, 2]).to_csv(folder / "numbers.csv", index=False)
    numbered = read_corpus(folder / counts, metadata_file=folder / "numbers.csv")
    assert numbered.metadata["age"].tolist() == [10, 20, 30, 40]


def test_columns_of_both(folder):
    """The file has its columns, also where the table has some of the same name."""
    options = {"text_column": "text", "id_column": "id", "metadata_file": folder / "about.csv"}
    corpus = read_corpus(folder / "texts.csv", **options)
    assert corpus.metadata.to_dict("list") == {"age": [10, 20, 30, 40], "kind": list("yxzw")}
    assert list(read_corpus(folder / "texts.csv", **options, metadata=["kind"]).metadata) == ["kind"]
    both = COUNTS.assign(site=list("pqpq"), year=[1, 2, 3, 4])
    both.to_csv(folder / "both.csv")
    asked = {"metadata_file": folder / "about.csv", "metadata": ["year", "age"]}
    corpus = read_corpus(folder / "both.csv", **asked, counts=True)
    assert corpus.metadata.to_dict("list") == {"year": [1, 2, 3, 4], "age": [10, 20, 30, 40]}
    assert corpus.vocabulary == tuple("abcde")


def test_documents_without_a_row(folder):
    ABOUT[ABOUT["sample"] != "s3"].to_csv(folder / "fewer.csv", index=False)
    with warns("missing-metadata", "1 of 4 documents", "'sample'", "'s3'"):
        corpus = read_corpus(folder / "counts.csv", metadata_file=folder / "fewer.csv")
    assert corpus.metadata["age"].tolist()[:2] == [10, 20]
    assert corpus.metadata["age"].isna().tolist() == [False, False, True, False]
    pd.concat([ABOUT, ABOUT.assign(sample="t" + ABOUT["sample"])]).to_csv(folder / "more.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_corpus(folder / "counts.csv", metadata_file=folder / "more.csv").n_documents == 4


@pytest.mark.parametrize(
    ("counts", "about", "options", "code", "facts"),
    [
        ("counts.csv", ABOUT.assign(sample=list("pqrs")), {}, "unknown-document", ("'s1'",)),
        ("counts.csv", pd.concat([ABOUT, ABOUT]), {}, "duplicate-document", ("'s4'", "rows 1 and 5")),
        ("counts.csv", ABOUT, {"metadata": ["agee"]}, "unknown-column", ("'agee'",)),
        ("counts.ldac", ABOUT[:3], {}, "wrong-length", ("3 rows", "4 documents")),
        ("counts.ldac", ABOUT, {"id_column": "name"}, "unknown-column", ("'name'",)),
        ("counts.ldac", ABOUT, {"metadata": ["agee"]}, "unknown-column", ("'age'",)),
    ],
)
def test_files_that_do_not_fit(folder, counts, about, options, code, facts):
    about.to_csv(folder / "wrong.csv", index=False)
    with raises(CorpusError, code, *facts):
        read_corpus(folder / counts, metadata_file=folder / "wrong.csv", **options)


def test_options_that_have_no_effect(folder):
    with raises(SettingsError, "conflicting-settings", "metadata_file='about.csv'"):
        ReadOptions(metadata=[], metadata_file="about.csv")
    with raises(SettingsError, "does-not-apply", "metadata", "ldac"):
        read_corpus(folder / "counts.ldac", metadata=["age"])
    with raises(SettingsError, "conflicting-settings", "'age'", "metadata_file"):
        ReadOptions(metadata=["age"], transpose=True)
    (folder / "about.xlsx").write_bytes(b"PK\x03\x04 a workbook")
    with raises(CorpusError, "unsupported-format", "about.xlsx", "CSV"):
        read_corpus(folder / "counts.ldac", metadata_file=folder / "about.xlsx")
    with raises(CorpusError, "wrong-format", "counts.mtx", "csv"):
        read_corpus(folder / "counts.ldac", metadata_file=folder / "counts.mtx")
    with raises(CorpusError, "no-such-file", "nowhere.csv"):
        read_corpus(folder / "counts.ldac", metadata_file=folder / "nowhere.csv")
