"""Tables of counts in CSV, TSV and Parquet: which columns are what, and where bad counts are."""

import csv
import io

import numpy as np
import pandas as pd
import pytest

from franchise import HDPTopicModel, from_counts
from franchise.corpus import encode, read_corpus, read_new
from franchise.corpus.formats import count_tables
from franchise.corpus.large_arrays import Growing
from franchise.errors import CorpusError, SettingsError
from tests.raising import raises, warns

TERMS = ["ant", "bee", "cat", "dog", "eel"]
NAMES = ["s1", "s2", "s3"]
COUNTS = np.array([[3, 0, 1, 0, 2], [0, 0, 0, 0, 0], [1, 12, 0, 7, 0]])
FRAME = pd.DataFrame(COUNTS, columns=TERMS, index=NAMES)
PLAIN = from_counts(FRAME)


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a table and returns its path."""

    def write(frame, name="counts.csv", **options):
        path = tmp_path / name
        if isinstance(frame, str):
            path.write_text(frame, "utf-8")
        elif name.endswith(".parquet"):
            pytest.importorskip("pyarrow")
            frame.to_parquet(path, **options)
        else:
            frame.to_csv(path, **({"sep": "\t"} if ".tsv" in name else {}) | options)
        return path

    return write


@pytest.mark.parametrize("name", ["counts.csv", "counts.tsv", "counts.csv.gz", "counts.parquet"])
def test_a_table_is_known_by_its_numbers(write, name):
    corpus = read_corpus(write(FRAME, name))
    assert corpus == PLAIN
    assert corpus.document_names == tuple(NAMES)
    assert corpus.metadata is None


@pytest.mark.parametrize("name", ["counts.csv", "counts.tsv", "counts.parquet"])
def test_a_transposed_table(write, name):
    assert read_corpus(write(FRAME.T, name), transpose=True) == PLAIN


def test_other_ways_to_write_a_table(write):
    """Without names, with a column of names that is not the first, as R writes, and with decimals."""
    assert read_corpus(write(FRAME, index=False)) == from_counts(COUNTS, vocabulary=TERMS)
    named = FRAME.assign(name=NAMES)
    assert read_corpus(write(named, index=False), counts=True, id_column="name") == PLAIN
    assert read_corpus(write(named, "c.parquet", index=False), counts=True, id_column="name") == PLAIN
    r = FRAME.to_csv(sep=" ").removeprefix(" ").replace(" ", "\t")
    assert read_corpus(write(r, "counts.tsv")) == PLAIN
    assert read_corpus(write(FRAME.astype(float)), counts=True) == PLAIN
    assert read_corpus(write(FRAME, sep=";"), delimiter=";") == PLAIN
    assert read_corpus(write(FRAME, "counts.txt", sep="\t"), counts=True) == PLAIN
    assert read_corpus(write(FRAME, "counts.txt"), counts=True) == PLAIN


@pytest.mark.parametrize("header", ["id", "sample_id", "sampleID", "", "Sample", "patient"])
def test_numbers_can_be_names(write, header):
    frame = pd.DataFrame({header: [70, 12, 31]} | {t: FRAME[t].to_numpy() for t in TERMS})
    assert read_corpus(write(frame, index=False)).document_names == ("70", "12", "31")
    rows = pd.DataFrame({"acid": [1, 2, 3, 5, 8, 13, 21]} | {term: range(7) for term in TERMS})
    assert read_corpus(write(rows, index=False)).vocabulary[0] == "acid"
    consecutive = rows.assign(acid=range(1, 8))
    assert read_corpus(write(consecutive, index=False)).vocabulary == tuple(TERMS)


def test_columns_of_texts_are_metadata(write):
    frame = FRAME.assign(kind=["x", "y", "x"], age=[30, 40, 50])
    path = write(frame)
    corpus = read_corpus(path, counts=True)
    assert corpus.vocabulary == (*TERMS, "age")
    assert list(corpus.metadata) == ["kind"]
    corpus = read_corpus(path, counts=True, metadata=["age"])
    assert corpus == PLAIN
    assert corpus.metadata["age"].tolist() == [30, 40, 50]
    assert read_corpus(path, counts=True, metadata=[]).metadata is None
    again = read_corpus(write(frame, "counts.parquet"), counts=True, metadata=["age", "kind"])
    assert again.metadata["kind"].tolist() == ["x", "y", "x"]
    with raises(CorpusError, "unknown-column", "'agee'", "'age'"):
        read_corpus(path, counts=True, metadata=["agee"])


def test_numbers_that_are_no_counts(write):
    """Years and totals would be the largest terms by far."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.poisson(3, (30, 5)), columns=TERMS, index=[f"s{i}" for i in range(30)])
    path = write(frame.assign(year=2000 + np.arange(30) % 20))
    with warns("not-counts", "counts.csv", "'year'", "years", "metadata=['year']"):
        read_corpus(path)
    assert read_corpus(path, metadata=["year"]).vocabulary == tuple(TERMS)
    with warns("not-counts", "'total'", "sums"):
        read_corpus(write(frame.assign(total=frame.sum(axis=1)), "counts.parquet"), counts=True)
    large = pd.DataFrame(rng.integers(1950, 2050, (30, 5)), columns=TERMS)
    two = pd.DataFrame({"ant": [1, 2, 3, 4, 5, 6], "bee": [1, 2, 3, 4, 5, 6]})
    for quiet in (frame, large, two):
        assert read_corpus(write(quiet), counts=True).n_terms == quiet.shape[1]


def test_mutations_as_they_are_published(write):
    """Two columns name the rows together."""
    table = "Mutation type,Trinucleotide,SP1,SP2\nC>A,ACA,5,0\nC>A,ACC,1,2\nC>G,ACA,0,9\n"
    path = write(table)
    corpus = read_corpus(path, transpose=True)
    assert corpus.vocabulary == ("C>A ACA", "C>A ACC", "C>G ACA")
    assert corpus.document_names == ("SP1", "SP2")
    assert corpus.to_counts().toarray().tolist() == [[5, 1, 0], [0, 2, 9]]
    with raises(CorpusError, "duplicate-term", "'C>A'"):
        read_corpus(path, transpose=True, id_column="Mutation type")
    with raises(CorpusError, "texts-not-counts", "'note'", "--id-column"):
        read_corpus(write("type,SP1,note\nC>A,5,good\nC>G,1,bad\n"), transpose=True)


@pytest.mark.parametrize(
    "table",
    [
        "id,title,year,likes\n1,Ants and bees,1990,3\n2,Cats,1991,4\n",
        "title,a,b,c,d,e\n" + "Of ants and of the many bees that they meet,1,2,3,4,5\n" * 3,
        "id,a,b,c,d,e\nx,1,2,3,4,5\ny,1,2,3,4.5,5\n",
        "id,a,b\nx,1,2\ny,3,4\n",
    ],
)
def test_what_may_be_either_is_asked_for(write, table):
    path = write(table)
    with raises(CorpusError, "missing-setting", "text_column", "--text-column", "counts=True"):
        read_corpus(path)
    with raises(CorpusError, "missing-setting", "--text-column"):
        read_corpus(write("id,text\n1,Ants\n", "texts.csv"))


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        ("-1", "negative-count"),
        ("2.5", "fractional-count"),
        ("nan", "count-not-finite"),
        ("", "count-not-finite"),
        ("NA", "count-not-finite"),
        ("inf", "count-not-finite"),
        ("many", "not-a-count"),
        ("1e10", "count-too-large"),
    ],
)
def test_a_bad_cell_is_named(write, cell, code):
    rows = [["", *TERMS], *([name, *map(str, row)] for name, row in zip(NAMES, COUNTS))]
    rows[3][3] = cell
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    path = write(text.getvalue())
    with raises(CorpusError, code, f"{path}:4:", "row 's3'", "column 'cat'", repr(cell)):
        read_corpus(path, counts=True)
    turned = io.StringIO()
    csv.writer(turned).writerows(zip(*rows))
    path = write(turned.getvalue(), "turned.csv")
    with raises(CorpusError, code, f"{path}:4:", "row 'cat'", "column 's3'", repr(cell)):
        read_corpus(path, transpose=True)


def test_a_bad_cell_far_down(write):
    """A table that looks well in its first rows is still checked to its end."""
    frame = pd.DataFrame(np.ones((400, 5), int), columns=TERMS).astype(object)
    frame.loc[350, "dog"] = -2
    with raises(CorpusError, "negative-count", ":352:", "'dog'"):
        read_corpus(write(frame))


@pytest.mark.parametrize(("value", "code"), [(np.nan, "count-not-finite"), (0.5, "fractional-count")])
def test_a_bad_cell_of_parquet(write, value, code):
    frame = FRAME.astype(float)
    frame.loc["s3", "cat"] = value
    with raises(CorpusError, code, "counts.parquet:3:", "'s3'", "'cat'"):
        read_corpus(write(frame, "counts.parquet"), counts=True)


@pytest.mark.parametrize(
    ("table", "options", "code"),
    [
        ("", {}, "missing-header"),
        ("id,a,b\n", {}, "empty-corpus"),
        ("id,a,b\nx,0,0\n", {}, "empty-corpus"),
        ("id,a,a\nx,1,0\n", {}, "duplicate-term"),
        ("id,a,b\nx,1\n", {}, "bad-line"),
        ("id,kind\nx,y\n", {}, "no-counts"),
        ("id,a,b\nx,1,2\n", {"id_column": "name"}, "unknown-column"),
        ("id,a,b\nx,1,2\n", {"text_column": "a"}, "conflicting-settings"),
        ("id,a,b\nx,1,2\n", {"vocabulary": ["a", "b"]}, "does-not-apply"),
        ("id,a,b\nx,1,2\n", {"format": "txt"}, None),
    ],
)
def test_tables_that_cannot_be_read(write, table, options, code):
    path = write(table)
    if code is None:
        assert read_corpus(path, counts=True, **options).n_terms == 2
        return
    with raises((CorpusError, SettingsError), code):
        read_corpus(path, counts=True, **options)


def test_counts_belong_to_tables(write):
    path = write("2 0:1 3:2\n1 3:1\n", "docs.ldac")
    with raises(SettingsError, "does-not-apply", "counts", "ldac"):
        read_corpus(path, counts=True)
    turned = read_corpus(path, transpose=True)
    assert turned.to_counts().toarray().tolist() == [[1, 0], [0, 0], [0, 0], [2, 1]]
    with raises(SettingsError, "does-not-apply", "transpose"):
        read_corpus(write("ant\nbee\n", "docs.franchise"), format="franchise", transpose=True)


def test_a_turned_matrix_has_the_names_of_its_rows(write, tmp_path):
    """As genes by cells, in Matrix Market."""
    path = write("%%MatrixMarket matrix coordinate integer general\n3 2 2\n1 1 4\n3 2 5\n", "matrix.mtx")
    corpus = read_corpus(path, transpose=True, vocabulary=["g1", "g2", "g3"])
    assert corpus.vocabulary == ("g1", "g2", "g3")
    assert corpus.to_counts().toarray().tolist() == [[4, 0, 0], [0, 0, 5]]


def test_new_documents_have_columns_by_name(write):
    """In another order, with columns that are not known."""
    frame = FRAME[TERMS[::-1]].assign(fox=1)
    new = read_new(write(frame), PLAIN)
    assert new.unknown.tolist() == [1, 1, 1]
    assert new.document_names == tuple(NAMES)
    words = [new.arrays.x[a:b] for a, b in zip(new.arrays.doc_ptr, new.arrays.doc_ptr[1:])]
    assert [np.bincount(x, minlength=5).tolist() for x in words] == COUNTS.tolist()


def test_zeros_take_no_memory(write, monkeypatch):
    """Entries are handed over in blocks, and are only those that are not 0."""
    rng = np.random.default_rng(0)
    counts = rng.binomial(3, 0.02, (300, 400))
    frame = pd.DataFrame(counts, columns=[f"t{v}" for v in range(400)])
    handed = []

    class Watched(Growing):
        def extend(self, values):
            handed.append(len(values))
            super().extend(values)

    monkeypatch.setattr(count_tables, "_AT_ONCE", 500)
    monkeypatch.setattr(count_tables, "Growing", Watched)
    corpus = read_corpus(write(frame))
    assert (corpus.to_counts().toarray() == counts).all()
    assert sum(handed) == 3 * np.count_nonzero(counts)  # documents, terms, counts
    assert max(handed) < 550


def test_a_frame_keeps_its_index():
    """The same table given in Python has the same names of documents."""
    settings = {"sweeps": 4, "chains": 1, "random_state": 0, "verbose": 0, "init": "one"}
    model = HDPTopicModel(**settings, effective_counts=False).fit(FRAME)
    assert model.corpus_.document_names == tuple(NAMES)
    assert model.corpus_ == PLAIN
    assert encode(FRAME, PLAIN).document_names == tuple(NAMES)
